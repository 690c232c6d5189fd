# The program and the library once more, linked to look for their libraries beside themselves: for the archive that is unpacked anywhere and
# for the wheel. `ninja portable` puts both, with the libraries that a bare machine may lack, into portable/{bin,lib}.
add_executable(jeoul_portable EXCLUDE_FROM_ALL src/show/cli/jeoul_main.c)
target_link_libraries(jeoul_portable PRIVATE jeoul_static ${program_objects})
set_target_properties(jeoul_portable PROPERTIES OUTPUT_NAME jeoul INSTALL_RPATH "$ORIGIN/../lib"
	RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/portable/bin)
add_library(jeoul_portable_library SHARED EXCLUDE_FROM_ALL src/api.c)
target_link_libraries(jeoul_portable_library PRIVATE ${library_objects} ${program_objects} jeoul_embedded jeoul_texts PkgConfig::YAML PkgConfig::JANSSON m)
target_link_options(jeoul_portable_library PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/src/api.map)
set_target_properties(jeoul_portable_library PROPERTIES OUTPUT_NAME jeoul SOVERSION 0 INSTALL_RPATH "$ORIGIN"
	LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/portable/lib LINK_DEPENDS ${PROJECT_SOURCE_DIR}/src/api.map)
set(bundled ${PROJECT_BINARY_DIR}/portable/bundled)
# opened when a store is, so no dependency that a linker would see
get_target_property(sqlite PkgConfig::SQLITE INTERFACE_LINK_LIBRARIES)
get_filename_component(sqlite_dir "${sqlite}" DIRECTORY)
add_custom_command(OUTPUT ${bundled} COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:jeoul_portable> -DLIBRARY=$<TARGET_FILE:jeoul_portable_library>
	-DOPENED=${sqlite_dir}/libsqlite3.so.0
	-P ${PROJECT_SOURCE_DIR}/cmake/bundle.cmake COMMAND ${CMAKE_COMMAND} -E touch ${bundled}
	DEPENDS jeoul_portable jeoul_portable_library cmake/bundle.cmake COMMENT "Libraries beside the program" VERBATIM)
if(JEOUL_TESTS AND NOT JEOUL_SANITIZE)
	add_custom_target(portable ALL DEPENDS ${bundled})
else()
	add_custom_target(portable DEPENDS ${bundled})
endif()
