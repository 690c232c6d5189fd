/* Messages in both languages, and who is to blame: the caller, a file, or nobody knows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/err.h"

static void places(void **state)
{
	const struct jl_where where = { .file = "a.yaml", .line = 3, .column = 7 };
	struct jl_err err = { 0 };

	(void)state;
	assert_int_equal(jl_fail_at(&err, JL_E_UNIT, &where, "no unit in '%s'", "'%s'에 단위가 없습니다", "5"),
			 JL_E_UNIT);
	assert_string_equal(err.en, "a.yaml:3:7: no unit in '5'");
	assert_string_equal(err.ko, "a.yaml:3:7: '5'에 단위가 없습니다");
	assert_string_equal(jl_err_text(&err, JL_KO), err.ko);
	/* arguments may point into the old message */
	assert_int_equal(jl_fail(&err, err.status, "again: %s", "다시: %s", err.en), JL_E_UNIT);
	assert_string_equal(err.en, "again: a.yaml:3:7: no unit in '5'");
	assert_int_equal(jl_fail(NULL, JL_E_IO, "nobody listens", "듣는 이 없음"), JL_E_IO);
}

static void blame(void **state)
{
	static const struct {
		enum jl_status status;
		bool is_usage;
	} rows[] = { { JL_E_USAGE, true },     { JL_E_PARSE, true },      { JL_E_UNIT, true },  { JL_E_RANGE, true },
		     { JL_E_NOTFOUND, false }, { JL_E_AMBIGUOUS, false }, { JL_E_DATA, false }, { JL_E_IO, false },
		     { JL_E_LIMIT, false },    { JL_E_ABSENT, false } };
	const struct jl_where where = { .file = "a.csv" }, nowhere = { .line = 2 };
	struct jl_err err = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		jl_fail(&err, rows[i].status, "x", "x");
		assert_int_equal(jl_err_is_usage(&err), rows[i].is_usage);
		jl_fail_at(&err, rows[i].status, &nowhere, "x", "x");
		assert_int_equal(jl_err_is_usage(&err), rows[i].is_usage);
		jl_fail_at(&err, rows[i].status, &where, "x", "x"); /* in a file nobody typed it */
		assert_false(jl_err_is_usage(&err));
		jl_fail(&err, rows[i].status, "x", "x");
		assert_int_equal(jl_fail_in_file(&err, rows[i].status), rows[i].status);
		assert_false(jl_err_is_usage(&err));
	}
	assert_int_equal(jl_fail_in_file(NULL, JL_OK), JL_OK);
	jl_fail_at(&err, JL_E_USAGE, &where, "x", "x");
	assert_int_equal(jl_fail_nomem(&err), JL_E_NOMEM);
	assert_false(jl_err_is_usage(&err));
	assert_true(strlen(err.en) > 0 && strlen(err.ko) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(places), cmocka_unit_test(blame) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
