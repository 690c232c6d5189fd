/* Put in front of every test file by the build, which also gives `main` there a name of the file's own (main_of_mem): so each file is a
 * whole cmocka program to its reader, and one program per module to the linker. */
#ifndef JL_TESTS_MAIN_OF_H
#define JL_TESTS_MAIN_OF_H

#ifdef main
int main(void);
#endif

/* Part of a file cannot be tested here (no server): ctest shall say skipped. A single test says so with cmocka's skip(). */
void jl_test_skipped(void);

/* Built with a sanitizer? Then what only computes the same thing many times over may be left to the other build. */
#ifdef __has_feature
#define JL_TEST_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define JL_TEST_SANITIZED 0
#endif

#endif
