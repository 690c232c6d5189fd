/* CSV reader and writer: quoting, positions in errors, formula protection. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/csv.h"
#include "base/mem.h"

static struct jl_csv open_text(const char *text)
{
	struct jl_csv csv = { .file = NULL };
	struct jl_err err;

	if (jl_csv_open(&csv, text, strlen(text), "t.csv", &err))
		fail_msg("%s", err.en);
	return csv;
}

static bool next(struct jl_csv *csv)
{
	struct jl_err err;
	bool more = false;

	if (jl_csv_next(csv, &more, &err))
		fail_msg("%s", err.en);
	return more;
}

static void test_plain(void **state)
{
	struct jl_csv csv = open_text("gpu, n ,note\nH100,8,\nA100,4,x y\n");

	(void)state;
	assert_int_equal(csv.n_columns, 3);
	assert_int_equal(jl_csv_find(&csv, "n"), 1);
	assert_int_equal(jl_csv_find(&csv, "N"), JL_CSV_NO_COLUMN);
	assert_string_equal(jl_csv_text(&csv, 0), "");
	assert_true(next(&csv));
	assert_string_equal(jl_csv_text(&csv, 0), "H100");
	assert_string_equal(jl_csv_text(&csv, 2), "");
	assert_string_equal(jl_csv_text(&csv, JL_CSV_NO_COLUMN), "");
	assert_int_equal(csv.fields[1].line, 2);
	assert_int_equal(csv.fields[1].column, 6);
	assert_true(next(&csv));
	assert_string_equal(jl_csv_text(&csv, 2), "x y");
	assert_false(next(&csv));
	assert_false(next(&csv));
	assert_int_equal(csv.n_rows, 2);
	jl_csv_release(&csv);
}

static void test_quoting(void **state)
{
	struct jl_csv csv = open_text(
		"\xef\xbb\xbf\"a\",\"b \"\"x\"\"\"\r\n\"1,2\",\"line 1\r\nline 2\"\r\n\r\n\n저울,\"\"\r\n\"\",끝");
	const char *first;

	(void)state;
	assert_string_equal(csv.header[0].text, "a");
	assert_string_equal(csv.header[1].text, "b \"x\"");
	assert_true(next(&csv));
	first = jl_csv_text(&csv, 0);
	assert_string_equal(first, "1,2");
	assert_string_equal(jl_csv_text(&csv, 1), "line 1\r\nline 2");
	assert_true(next(&csv));
	assert_string_equal(jl_csv_text(&csv, 0), "저울");
	assert_string_equal(jl_csv_text(&csv, 1), "");
	assert_int_equal(csv.fields[1].line, 6);
	assert_int_equal(csv.fields[1].column, 4); /* characters, not bytes */
	assert_true(next(&csv));
	assert_string_equal(jl_csv_text(&csv, 1), "끝");
	assert_false(next(&csv));
	assert_string_equal(first, "1,2"); /* fields stay valid after the next row is read */
	jl_csv_release(&csv);
}

static void test_numbers(void **state)
{
	struct jl_csv csv = open_text("a,b,c,d\n1.5e3, ,\"19,252\",12 GB\n");
	struct jl_err err;
	double value = 0;

	(void)state;
	assert_true(next(&csv));
	assert_int_equal(jl_csv_number(&csv, 0, &value, &err), JL_OK);
	assert_true(value == 1500);
	assert_int_equal(jl_csv_number(&csv, 1, &value, &err), JL_OK);
	assert_true(isnan(value));
	assert_int_equal(jl_csv_number(&csv, 2, &value, &err), JL_OK);
	assert_true(value == 19252);
	assert_int_equal(jl_csv_number(&csv, 3, &value, &err), JL_E_UNIT);
	assert_true(value == 19252);
	assert_non_null(strstr(err.en, "t.csv:2:18: d: '12 GB' is"));
	assert_non_null(strstr(err.text, "t.csv:2:18: d: '12 GB'"));
	assert_int_equal(jl_csv_number(&csv, JL_CSV_NO_COLUMN, &value, &err), JL_OK);
	assert_true(isnan(value));
	jl_csv_release(&csv);
}

static void test_columns(void **state)
{
	struct jl_csv csv = open_text("gpu,n_gpus,model\n");
	struct jl_err err;
	size_t column = 77;

	(void)state;
	assert_int_equal(jl_csv_need(&csv, "model", &column, &err), JL_OK);
	assert_int_equal(column, 2);
	assert_int_equal(jl_csv_need(&csv, "n_gpu", &column, &err), JL_E_NOTFOUND);
	assert_string_equal(err.en, "t.csv: no column 'n_gpu'; did you mean 'n_gpus'?");
	assert_int_equal(jl_csv_need(&csv, "wavelength", &column, &err), JL_E_NOTFOUND);
	assert_string_equal(err.en, "t.csv: no column 'wavelength'");
	assert_int_equal(column, 2);
	jl_csv_release(&csv);
}

static void test_refusals(void **state)
{
	static const struct {
		const char *text;
		size_t len; /* 0: strlen */
		enum jl_status status;
		const char *says;
	} cases[] = {
		{ "", 0, JL_E_PARSE, "t.csv:1:1: no header" },
		{ "\n\n", 0, JL_E_PARSE, "no header" },
		{ "a,b\n1\n", 0, JL_E_PARSE, "t.csv:2:1: 1 fields, but the header has 2 columns; 'b' is missing" },
		{ "a,b\n1,2\n1,2,3\n", 0, JL_E_PARSE, "t.csv:3:5: more fields" },
		{ "a,b\n1,\"2\n", 0, JL_E_PARSE, "t.csv:2:3: this quotation mark is never closed" },
		{ "a,b\n\"1\"2,3\n", 0, JL_E_PARSE, "t.csv:2:4: text after the closing" },
		{ "a,b\n1\"2,3\n", 0, JL_E_PARSE, "t.csv:2:2: a quotation mark inside" },
		{ "a,b\n1\r2,3\n", 0, JL_E_PARSE, "t.csv:2:2: a carriage return" },
		{ "a,b\n1,2\xff\n", 0, JL_E_PARSE, "t.csv:2:4: not UTF-8" },
		{ "a,b\n저,\0\n", 10, JL_E_PARSE, "t.csv:2:3: a zero byte" },
		{ "\xff\xfe"
		  "a",
		  0, JL_E_PARSE, "UTF-16" },
		{ "a,b,a\n", 0, JL_E_PARSE, "t.csv:1:5: column 'a' is there twice" },
		{ "a;b;c\n1;2;3\n", 0, JL_E_PARSE, "separated by ';'" },
		{ "a\tb\n1\t2\n", 0, JL_E_PARSE, "separated by TAB" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct jl_csv csv = { .file = NULL };
		struct jl_err err = { .status = JL_OK };
		bool more = true;
		size_t len = cases[i].len ? cases[i].len : strlen(cases[i].text);
		enum jl_status status = jl_csv_open(&csv, cases[i].text, len, "t.csv", &err);
		while (!status && more)
			status = jl_csv_next(&csv, &more, &err);
		if (status != cases[i].status || !strstr(err.en, cases[i].says))
			fail_msg("case %zu: %d '%s'", i, (int)status, err.en);
		jl_csv_release(&csv);
	}
}

static void test_delimiters(void **state)
{
	struct jl_csv csv;
	struct jl_err err;
	static const char semi[] = "\"a;b\"\nx;y";

	(void)state;
	assert_int_equal(jl_csv_open(&csv, semi, strlen(semi), "t.csv", &err), JL_OK);
	assert_true(next(&csv));
	assert_string_equal(jl_csv_text(&csv, 0), "x;y");
	jl_csv_release(&csv);
}

static void test_limits(void **state)
{
	struct jl_csv csv = { .file = NULL };
	struct jl_err err;
	struct jl_buf buf;
	bool more;

	(void)state;
	jl_buf_init(&buf, (size_t)4 << 20);
	for (int i = 0; i < JL_CSV_COLUMNS_MAX; i++)
		jl_buf_printf(&buf, "%sc%d", i ? "," : "", i);
	assert_int_equal(jl_csv_open(&csv, buf.data, buf.len, "t.csv", &err), JL_OK);
	jl_csv_release(&csv);
	jl_buf_puts(&buf, ",one more");
	assert_int_equal(jl_csv_open(&csv, buf.data, buf.len, "t.csv", &err), JL_E_LIMIT);
	for (int quoted = 0; quoted < 2; quoted++) {
		jl_buf_reset(&buf);
		jl_buf_puts(&buf, quoted ? "a\n\"" : "a\n");
		jl_buf_pad(&buf, 'x', JL_CSV_FIELD_MAX_B + 1);
		jl_buf_puts(&buf, quoted ? "\"\n" : "\n");
		assert_int_equal(jl_csv_open(&csv, buf.data, buf.len, "t.csv", &err), JL_OK);
		assert_int_equal(jl_csv_next(&csv, &more, &err), JL_E_LIMIT);
		jl_csv_release(&csv);
	}
	jl_buf_release(&buf);
}

static void test_writer(void **state)
{
	static const char *const texts[] = { "plain",      "",     " blank",     "a,b",         "say \"x\"",
					     "two\nlines", "저울", "semi;colon", "\xef\xbb\xbf" };
	struct jl_csv_writer writer;
	struct jl_csv csv;
	struct jl_buf buf;
	double value;
	const size_t n = sizeof(texts) / sizeof(texts[0]);

	(void)state;
	jl_buf_init(&buf, 10000);
	jl_csv_writer_init(&writer, &buf);
	for (size_t i = 0; i < n; i++) {
		char name[8];
		snprintf(name, sizeof(name), "c%zu", i);
		jl_csv_put_text(&writer, name);
	}
	jl_csv_put_text(&writer, "number");
	jl_csv_put_text(&writer, "none");
	jl_csv_end_row(&writer);
	for (size_t i = 0; i < n; i++)
		jl_csv_put_text(&writer, texts[i]);
	jl_csv_put_number(&writer, 0.1);
	jl_csv_put_number(&writer, NAN);
	jl_csv_end_row(&writer);
	csv = open_text(jl_buf_text(&buf));
	assert_true(next(&csv));
	for (size_t i = 0; i < n; i++)
		assert_string_equal(jl_csv_text(&csv, i), texts[i]);
	assert_int_equal(jl_csv_number(&csv, n, &value, NULL), JL_OK);
	assert_true(value == 0.1);
	assert_string_equal(jl_csv_text(&csv, n + 1), "");
	assert_false(next(&csv));
	jl_csv_release(&csv);
	jl_buf_release(&buf);
}

static void test_single_empty_field(void **state)
{
	struct jl_csv_writer writer;
	struct jl_buf buf;

	(void)state;
	jl_buf_init(&buf, 1000);
	jl_csv_writer_init(&writer, &buf);
	jl_csv_put_text(&writer, "a");
	jl_csv_end_row(&writer);
	jl_csv_put_text(&writer, "");
	jl_csv_end_row(&writer);
	assert_string_equal(jl_buf_text(&buf), "a\n\"\"\n");
	jl_buf_release(&buf);
}

/* Names and logs are untrusted, and spreadsheets open the tables: formulas must be escaped. */
static void test_formulas(void **state)
{
	static const char *const formulas[] = { "=HYPERLINK(\"http://x\")", "@SUM(1)", "-2+3+cmd|' /C calc'!A0", "+A1(",
						"\t=1" };
	static const char *const plain[] = { "-1.5", "+12 %", "-", "a=b", "x@y", "1e-5" };
	struct jl_csv_writer writer;
	struct jl_buf buf;

	(void)state;
	for (size_t i = 0; i < 11; i++) {
		const char *text = i < 5 ? formulas[i] : plain[i - 5];

		jl_buf_init(&buf, 1000);
		jl_csv_writer_init(&writer, &buf);
		jl_csv_put_text(&writer, text);
		assert_int_equal(strncmp(jl_buf_text(&buf), "\"'", 2) == 0, i < 5);
		jl_buf_release(&buf);
	}
}

static void test_torture(void **state)
{
	enum jl_status status = JL_E_NOMEM;

	(void)state;
	for (size_t nth = 1; status && nth < 20; nth++) {
		struct jl_csv csv = { .file = NULL };
		struct jl_err err;
		struct jl_csv_writer writer;
		struct jl_buf buf;

		jl_buf_init(&buf, 1000);
		jl_mem_fail_from(nth);
		jl_csv_writer_init(&writer, &buf);
		jl_csv_put_text(&writer, "a \"b\"");
		jl_csv_end_row(&writer);
		status = buf.failed ? buf.failed : jl_csv_open(&csv, buf.data, buf.len, "t.csv", &err);
		jl_mem_fail_from(0);
		assert_true(status == JL_OK || status == JL_E_NOMEM);
		if (!status)
			jl_csv_release(&csv);
		jl_buf_release(&buf);
	}
	assert_int_equal(status, JL_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_quoting),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_delimiters),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_writer),
		cmocka_unit_test(test_single_empty_field),
		cmocka_unit_test(test_formulas),
		cmocka_unit_test(test_torture),
	};

	jl_lang_set_default(jl_lang_find("ko"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
