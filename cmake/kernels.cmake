# GPU kernels: every src/measure/*/*.cu becomes machine code for the chips below, in fat binaries that lie inside the program. Without nvcc there
# are none and what needs them says so. JEOUL_CUDA_ARCHS: compute capabilities; the lowest is also kept as PTX, which the driver compiles
# at the first start on every other chip. For a package: -DJEOUL_CUDA_ARCHS="80;90;100;120" (each adds a minute to the build).
option(JEOUL_CUDA "Build the GPU kernels where nvcc is found" ON)
set(JEOUL_CUDA_ARCHS "80;90" CACHE STRING "Compute capabilities of the GPU kernels, lowest first")
set(JEOUL_KERNEL_STORE "" CACHE PATH "Where build folders leave compiled kernels to each other; empty: nowhere")

set(fatbin_c ${PROJECT_BINARY_DIR}/generated/fatbin.c)
set(fatbin_text "/* Made by cmake/kernels.cmake. */\n#include \"gpu/cuda.h\"\n\n")
set(fatbin_rows "")
file(GLOB kernel_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/measure/*/*.cu)
if(JEOUL_CUDA AND JEOUL_NVCC)
	set(gencode "")
	foreach(arch IN LISTS JEOUL_CUDA_ARCHS)
		list(APPEND gencode -gencode arch=compute_${arch},code=sm_${arch})
	endforeach()
	list(GET JEOUL_CUDA_ARCHS 0 lowest)
	list(APPEND gencode -gencode arch=compute_${lowest},code=compute_${lowest})
	file(GLOB kernel_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/measure/*/*.cuh ${PROJECT_SOURCE_DIR}/src/measure/*/cuda_args.h
		${PROJECT_SOURCE_DIR}/src/measure/*/fp8.h)
	foreach(source IN LISTS kernel_sources)
		get_filename_component(name ${source} NAME_WE)
		set(targets ${gencode})
		if(name MATCHES "_sm([0-9]+)$") # instructions that only this chip has
			if(NOT CMAKE_MATCH_1 IN_LIST JEOUL_CUDA_ARCHS)
				continue()
			endif()
			set(targets -gencode arch=compute_${CMAKE_MATCH_1}a,code=sm_${CMAKE_MATCH_1}a)
		endif()
		set(out ${PROJECT_BINARY_DIR}/generated/${name}.fatbin)
		set(compile ${JEOUL_NVCC} -std=c++17 -O3 -lineinfo --compress-mode=size ${targets} -I ${PROJECT_SOURCE_DIR}/src -I ${PROJECT_SOURCE_DIR}/src/measure)
		add_custom_command(OUTPUT ${out} COMMAND ${CMAKE_COMMAND} "-DCOMMAND=${compile}" -DSOURCE=${source} "-DHEADERS=${kernel_headers}" -DSTORE=${JEOUL_KERNEL_STORE}
			-DOUT=${out} -P ${PROJECT_SOURCE_DIR}/cmake/fatbin.cmake DEPENDS ${source} ${kernel_headers} cmake/fatbin.cmake COMMENT "GPU kernels: ${name}.cu" VERBATIM)
		list(APPEND fatbins ${out})
		string(APPEND fatbin_text "__asm__(\".section .rodata\\n.balign 64\\njl_fatbin_${name}:\\n.incbin \\\"${out}\\\"\\n.previous\\n\");\n"
			"extern const unsigned char jl_fatbin_${name}[];\n")
		string(APPEND fatbin_rows "\t{ \"${name}\", jl_fatbin_${name} },\n")
	endforeach()
endif()
file(CONFIGURE OUTPUT ${fatbin_c} CONTENT "${fatbin_text}\nconst struct jl_fatbin jl_fatbins[] = {\n${fatbin_rows}\t{ NULL, NULL }\n};\n" @ONLY)
set_source_files_properties(${fatbin_c} PROPERTIES OBJECT_DEPENDS "${fatbins}")
target_sources(jeoul_gpu PRIVATE ${fatbin_c})
