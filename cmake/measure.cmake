# What the benchmarks need beyond plain C.

# Loops over memory want the vectoriser.
set_source_files_properties(src/measure/comm/reduce.c src/measure/bench/cpu_mem.c PROPERTIES COMPILE_OPTIONS "$<$<NOT:$<CONFIG:Debug>>:-O3>")
target_compile_definitions(jeoul_comm PRIVATE JEOUL_LIBDIR="${CMAKE_INSTALL_LIBDIR}")

# MPI is a module of its own, loaded when mpirun or srun started the program; the program is never linked with it.
if(JEOUL_MPI_FOUND)
	add_library(jeoul_mpi MODULE src/measure/comm/mpi/module.c src/measure/comm/mpi/rollcall.c src/measure/comm/comm.c src/measure/comm/queue.c src/measure/comm/reduce.c)
	target_link_libraries(jeoul_mpi PRIVATE jeoul_flags jeoul_base PkgConfig::JEOUL_MPI m)
	target_link_options(jeoul_mpi PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/mpi_module.map)
	set_target_properties(jeoul_mpi PROPERTIES PREFIX "" OUTPUT_NAME jeoul-mpi INSTALL_RPATH_USE_LINK_PATH ON LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/mpi_module.map)
	if(CMAKE_SKIP_RPATH) # in a package the system's MPI is where the loader looks anyway
		set_target_properties(jeoul_mpi PROPERTIES INSTALL_RPATH_USE_LINK_PATH OFF)
	endif()
	install(TARGETS jeoul_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/jeoul)
endif()
