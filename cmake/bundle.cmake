# -DPROGRAM=bin/jeoul -DLIBRARY=lib/libjeoul.so.0: copies what they need, and no C library brings, beside the library;
# -DOPENED=...: what they open by themselves.
get_filename_component(lib ${LIBRARY} DIRECTORY)
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${PROGRAM} LIBRARIES ${LIBRARY} RESOLVED_DEPENDENCIES_VAR found UNRESOLVED_DEPENDENCIES_VAR lost
	PRE_EXCLUDE_REGEXES "^lib(c|m|dl|rt|pthread|gcc_s)\\.so" "^ld-linux" "^linux-vdso")
if(lost)
	message(FATAL_ERROR "not found: ${lost}")
endif()
foreach(file IN LISTS found OPENED)
	if(NOT file MATCHES "^${lib}/")
		file(COPY ${file} DESTINATION ${lib} FOLLOW_SYMLINK_CHAIN)
	endif()
endforeach()
