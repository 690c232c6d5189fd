/* Facts: names and marks of origins. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/dtype.h"
#include "base/fact.h"
#include "base/units.h"

static void test_origin(void **state)
{
	struct jl_fact fact = JL_FACT_UNKNOWN;

	(void)state;
	assert_false(jl_fact_known(&fact));
	fact.value = 0;
	assert_true(jl_fact_known(&fact));
	assert_string_equal(jl_origin_name(JL_MEASURED), "measured");
	assert_string_equal(jl_origin_name(JL_PUBLISHED), "published");
	assert_string_equal(jl_origin_name(JL_LISTED), "listed");
	assert_string_equal(jl_origin_name(JL_ESTIMATED), "estimated");
	assert_string_equal(jl_origin_name(JL_ORIGIN_NONE), "unknown");
	assert_string_equal(jl_origin_mark(JL_MEASURED), "●");
	assert_string_equal(jl_origin_mark(JL_PUBLISHED), "◆");
	assert_string_equal(jl_origin_mark(JL_LISTED), "◇");
	assert_string_equal(jl_origin_mark(JL_ESTIMATED), "○");
	assert_string_equal(jl_origin_name((enum jl_origin)77), "unknown");
}

static void test_dtype(void **state)
{
	(void)state;
	assert_true(jl_dtype_B(JL_FP32) == 4 && jl_dtype_B(JL_TF32) == 4 && jl_dtype_B(JL_BF16) == 2 &&
		    jl_dtype_B(JL_FP16) == 2);
	assert_true(jl_dtype_B(JL_FP8) == 1 && jl_dtype_B(JL_FP4) == 0.5 && jl_dtype_B(JL_INT8) == 1);
	assert_string_equal(jl_dtype_name(JL_BF16), "bf16");
	for (int i = 0; i < JL_N_DTYPE; i++)
		assert_non_null(jl_dtype_name((enum jl_dtype)i));
	assert_true(isnan(jl_dtype_B(JL_N_DTYPE)));
	assert_string_equal(jl_dtype_name(JL_N_DTYPE), "?");
}

static void test_dates(void **state)
{
	static const struct {
		const char *text;
		enum jl_status status;
		long day;
	} cases[] = {
		{ "1970-01-01", JL_OK, 0 },       { "1970", JL_OK, 0 },
		{ "1969-12-31", JL_OK, -1 },      { "2000-02-29", JL_OK, 11016 },
		{ "2026-08-22", JL_OK, 20687 },   { "2026-01", JL_OK, 20454 },
		{ "2025-Q1", JL_OK, 20089 },      { "2025-Q4", JL_OK, 20362 },
		{ "2024", JL_OK, 19723 },         { "2023-02-29", JL_E_RANGE, -7 },
		{ "2024-13", JL_E_RANGE, -7 },    { "2024-00-10", JL_E_RANGE, -7 },
		{ "2024-04-31", JL_E_RANGE, -7 }, { "2024-Q5", JL_E_RANGE, -7 },
		{ "1812", JL_E_RANGE, -7 },       { "2024-1-2", JL_E_PARSE, -7 },
		{ "24-01-02", JL_E_PARSE, -7 },   { "2024-01-02T00:00", JL_E_PARSE, -7 },
		{ "yesterday", JL_E_PARSE, -7 },  { "", JL_E_PARSE, -7 },
		{ "2024-", JL_E_PARSE, -7 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct jl_err err;
		long day = -7;
		assert_int_equal(jl_date_parse(&day, cases[i].text, &err), cases[i].status);
		assert_int_equal(day, cases[i].day);
	}
}

static void test_date_round_trip(void **state)
{
	char text[JL_DATE_TEXT_MAX];

	(void)state;
	for (long day = -25567; day < 100000; day++) {
		long back = 0;
		assert_int_equal(jl_date_parse(&back, jl_date_text(text, day), NULL), JL_OK);
		assert_int_equal(back, day);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_origin),
		cmocka_unit_test(test_dtype),
		cmocka_unit_test(test_dates),
		cmocka_unit_test(test_date_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
