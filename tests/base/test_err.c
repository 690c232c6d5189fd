/* Error messages in both languages, and their classification: the caller's input, a file, or neither. */
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
	assert_int_equal(jl_fail_at(&err, JL_E_UNIT, &where, "'%s' is not a command; 'jeoul help' lists them", "5"),
			 JL_E_UNIT);
	assert_string_equal(err.en, "a.yaml:3:7: '5' is not a command; 'jeoul help' lists them");
	assert_string_equal(err.text, "a.yaml:3:7: '5' 명령은 없습니다. 목록: 'jeoul help'");
	/* nested error */
	assert_int_equal(jl_fail_from(&err, JL_E_IO, NULL, &err, "system, column %zu: {}", (size_t)4), JL_E_IO);
	assert_string_equal(err.en, "system, column 4: a.yaml:3:7: '5' is not a command; 'jeoul help' lists them");
	assert_string_equal(err.text, "시스템 표기 4번째 글자: a.yaml:3:7: '5' 명령은 없습니다. 목록: 'jeoul help'");
	assert_int_equal(jl_fail_from(NULL, JL_E_IO, &where, &err, "{}"), JL_E_IO);
	jl_fail(&err, JL_E_UNIT, "no unit in '%s'", "5");
	/* arguments may point into the old message */
	assert_int_equal(jl_fail(&err, err.status, "again: %s", err.en), JL_E_UNIT);
	assert_string_equal(err.en, "again: no unit in '5'");
	assert_int_equal(jl_fail(NULL, JL_E_IO, "nobody listens"), JL_E_IO);
}

/* Foreign text is quoted in one line without control characters. */
static void one_line(void **state)
{
	struct jl_err err = { 0 };

	(void)state;
	jl_fail(&err, JL_E_DATA, "%s: %s", "a.db", "malformed schema (x\n\ty\033[31m\xe2\x80\xae)");
	assert_string_equal(err.en, "a.db: malformed schema (x  y?[31m?)");
	assert_null(strpbrk(err.text, "\n\t\033"));
	/* an error in a file stays one when context is added */
	jl_fail_at(&err, JL_E_RANGE, &(struct jl_where){ .file = "a.yaml", .line = 1, .column = 1 }, "%s", "x");
	jl_fail_from(&err, JL_E_RANGE, NULL, &err, "{}");
	assert_false(jl_err_is_usage(&err));
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
		jl_fail(&err, rows[i].status, "x");
		assert_int_equal(jl_err_is_usage(&err), rows[i].is_usage);
		jl_fail_at(&err, rows[i].status, &nowhere, "x");
		assert_int_equal(jl_err_is_usage(&err), rows[i].is_usage);
		jl_fail_at(&err, rows[i].status, &where, "x"); /* an error in a file is not a usage error */
		assert_false(jl_err_is_usage(&err));
		jl_fail(&err, rows[i].status, "x");
		assert_int_equal(jl_fail_in_file(&err, rows[i].status), rows[i].status);
		assert_false(jl_err_is_usage(&err));
	}
	assert_int_equal(jl_fail_in_file(NULL, JL_OK), JL_OK);
	jl_fail_at(&err, JL_E_USAGE, &where, "x");
	assert_int_equal(jl_fail_nomem(&err), JL_E_NOMEM);
	assert_false(jl_err_is_usage(&err));
	assert_true(strlen(err.en) > 0 && strlen(err.text) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(places), cmocka_unit_test(one_line),
					    cmocka_unit_test(blame) };

	jl_lang_set_default(jl_lang_find("ko"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
