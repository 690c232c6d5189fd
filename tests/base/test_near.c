/* Edit distance and nearest names. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/near.h"

static void test_distance(void **state)
{
	static const struct {
		const char *a, *b;
		size_t limit, want;
	} cases[] = {
		{ "", "", 5, 0 },        { "abc", "abc", 5, 0 },        { "abc", "ABC", 5, 0 },
		{ "abc", "abd", 5, 1 },  { "abc", "acb", 5, 1 },        { "abc", "ab", 5, 1 },
		{ "abc", "xabc", 5, 1 }, { "kitten", "sitting", 5, 3 }, { "kitten", "sitting", 2, 3 },
		{ "", "abcd", 9, 4 },    { "저울", "저을", 5, 1 },      { "a\xff", "a\xfe", 5, 0 },
		{ "ca", "abc", 5, 3 },   { "abcdef", "uvwxyz", 2, 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(jl_near_distance(cases[i].a, cases[i].b, cases[i].limit), cases[i].want);
		assert_int_equal(jl_near_distance(cases[i].b, cases[i].a, cases[i].limit), cases[i].want);
	}
}

/* The limit only truncates: distances below it are unaffected. */
static void test_limit_property(void **state)
{
	static const char *const words[] = { "rtx-3090", "rtx-3080", "rtx-4090", "h100-sxm5", "h100-pcie",
					     "a100",     "v100",     "rxt-3009", "tr-x3900",  "" };
	const size_t n = sizeof(words) / sizeof(words[0]);

	(void)state;
	for (size_t i = 0; i < n * n; i++) {
		size_t whole = jl_near_distance(words[i / n], words[i % n], 99);
		for (size_t limit = 0; limit < 10; limit++)
			assert_int_equal(jl_near_distance(words[i / n], words[i % n], limit),
					 whole <= limit ? whole : limit + 1);
	}
}

static void test_rank(void **state)
{
	static const char *const names[] = { "predict", "catalog", "compare", "cost",
					     "check",   "probe",   "bench",   "catalogue-of-everything" };
	const size_t n = sizeof(names) / sizeof(names[0]);
	size_t found[16];

	(void)state;
	assert_int_equal(jl_near_rank("pridect", names, n, found, 3), 1);
	assert_int_equal(found[0], 0);
	assert_int_equal(jl_near_rank("catlog", names, n, found, 3), 1);
	assert_int_equal(found[0], 1);
	/* two begin with "cat"; "cost" is two edits away */
	assert_int_equal(jl_near_rank("cat", names, n, found, 3), 3);
	assert_int_equal(jl_near_rank("chekc", names, n, found, 3), 1);
	assert_int_equal(found[0], 4);
	assert_int_equal(jl_near_rank("xyzzy", names, n, found, 3), 0);
	assert_int_equal(jl_near_rank("", names, n, found, 3), 0);
	assert_int_equal(jl_near_rank("cost", names, n, found, 0), 0);
	assert_int_equal(jl_near_rank("cost", names, 0, found, 3), 0);
	assert_int_equal(jl_near_rank("cost", names, n, found, 1), 1);
	assert_int_equal(found[0], 3);
}

static void test_order_is_kept(void **state)
{
	static const char *const names[] = { "b1", "b2", "b3", "b" };
	size_t found[16];

	(void)state;
	assert_int_equal(jl_near_rank("b", names, 4, found, 2), 2);
	assert_int_equal(found[0], 3);
	assert_int_equal(found[1], 0);
	assert_int_equal(jl_near_rank("b", names, 4, found, 99), 4);
	assert_int_equal(found[3], 2);
}

static void test_long_names(void **state)
{
	char a[5000], b[5000];

	(void)state;
	memset(a, 'a', sizeof(a));
	memset(b, 'a', sizeof(b));
	a[sizeof(a) - 1] = b[sizeof(b) - 1] = '\0';
	b[10] = 'x';
	assert_int_equal(jl_near_distance(a, b, 5), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_distance),   cmocka_unit_test(test_limit_property),
		cmocka_unit_test(test_rank),       cmocka_unit_test(test_order_is_kept),
		cmocka_unit_test(test_long_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
