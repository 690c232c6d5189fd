# jeoul-frozen: the program with the fitted parameters and the score card of tests/fixtures in place of the shipped ones. What it prints moves when
# the program changes, not when the parameters are fitted again: golden reports, documented examples and tests that compare figures use it.
set(frozen ${PROJECT_BINARY_DIR}/generated/frozen)
add_custom_command(OUTPUT ${frozen}/catalog_embedded.c
	COMMAND ${CMAKE_COMMAND} -E rm -rf ${frozen}/catalog
	COMMAND ${CMAKE_COMMAND} -E copy_directory ${PROJECT_SOURCE_DIR}/catalog ${frozen}/catalog
	COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/tests/fixtures/params.yaml ${frozen}/catalog/params.yaml
	COMMAND jeoul-catalogc ${frozen}/catalog ${frozen}/catalog_embedded.c
	DEPENDS jeoul-catalogc ${catalog_files} tests/fixtures/params.yaml COMMENT "Compiling the catalog with frozen parameters" VERBATIM)
add_custom_command(OUTPUT ${frozen}/scorecard_embedded.c
	COMMAND ${CMAKE_COMMAND} -DIN=${PROJECT_SOURCE_DIR}/tests/fixtures/scorecard-history.csv -DOUT=${frozen}/scorecard_embedded.c
	-DNAME=jl_scorecard_text -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
	DEPENDS tests/fixtures/scorecard-history.csv cmake/embed.cmake COMMENT "Embedding the frozen score card" VERBATIM)
add_library(jeoul_frozen OBJECT EXCLUDE_FROM_ALL ${frozen}/catalog_embedded.c ${frozen}/scorecard_embedded.c)
target_link_libraries(jeoul_frozen PUBLIC jeoul_flags)
add_executable(jeoul-frozen EXCLUDE_FROM_ALL src/show/cli/jeoul_main.c)
target_link_libraries(jeoul-frozen PRIVATE ${library_objects} ${program_objects} jeoul_frozen jeoul_texts
	PkgConfig::YAML PkgConfig::JANSSON m)
