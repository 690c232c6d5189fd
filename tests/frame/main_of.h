/* Put in front of every test file by the build, which also gives `main` there a name of the file's own (main_of_mem): so each file is a
 * whole cmocka program to its reader, and one program per room to the linker. */
#ifndef JL_TESTS_MAIN_OF_H
#define JL_TESTS_MAIN_OF_H

#ifdef main
int main(void);
#endif

/* Part of a file cannot be tested here (no server): ctest shall say skipped. A single test says so with cmocka's skip(). */
void jl_test_skipped(void);

#endif
