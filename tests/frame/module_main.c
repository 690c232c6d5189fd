/* One program for the test files of a module: test_base mem runs base/test_mem.c, test_base mem NAME one test of it. The build gives
 * JL_TEST_FILES, an X(name) for each file.
 *
 * Where nothing failed but something was skipped it ends with 77, which ctest shows as skipped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "main_of.h"

enum { SKIPPED = 77 };

#define X(name) int main_of_##name(void);
JL_TEST_FILES
#undef X

static const struct {
	const char *name;
	int (*run)(void);
} files[] = {
#define X(name) { #name, main_of_##name },
	JL_TEST_FILES
#undef X
};

#define N_FILES (sizeof(files) / sizeof(files[0]))

static int n_skipped;

void jl_test_skipped(void)
{
	n_skipped++;
}

/* cmocka's skip() comes here first (the linker's --wrap): a group tells how many tests failed, not how many were left out. */
void __real__skip(const char *file, int line);
void __wrap__skip(const char *file, int line);
void __wrap__skip(const char *file, int line)
{
	n_skipped++;
	__real__skip(file, line);
}

int main(int argc, char **argv)
{
	size_t i = 0;

	while (argc > 1 && i < N_FILES && strcmp(argv[1], files[i].name) != 0)
		i++;
	if (argc < 2 || argc > 3 || i == N_FILES) {
		fprintf(stderr, "usage: %s FILE [TEST], FILE one of:", argv[0]);
		for (i = 0; i < N_FILES; i++)
			fprintf(stderr, " %s", files[i].name);
		fprintf(stderr, "\n");
		return 2;
	}
	if (argc == 3)
		cmocka_set_test_filter(argv[2]);
	return files[i].run() ? 1 : n_skipped ? SKIPPED : 0;
}
