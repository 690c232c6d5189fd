/* Text tables: widths, wrapping, colours, Markdown. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/table.h"
#include "base/utf8.h"

static const struct jl_table_column gpu_columns[] = {
	{ .head = "이름", .align = JL_LEFT, .flexible = true },
	{ .head = "GPUs", .align = JL_RIGHT },
	{ .head = "note", .align = JL_LEFT, .flexible = true },
};

static void fill(struct jl_table *table)
{
	jl_table_cell(table, "저울 하나");
	jl_table_cell(table, "8");
	jl_table_cell(table, "plain");
	jl_table_end_row(table);
	jl_table_cell(table, "H100");
	jl_table_cell(table, "1,024");
	jl_table_end_row(table);
	jl_table_cell(table, "tab\there\nand \x1b]0;evil\x07");
	jl_table_cell(table, "1");
	jl_table_cell(table, JL_TABLE_RED "빨강" JL_TABLE_RESET " ✅");
	jl_table_end_row(table);
}

static void check(const struct jl_table_style *style, const char *want)
{
	struct jl_arena arena;
	struct jl_table table;
	struct jl_buf out;
	struct jl_err err;

	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	jl_buf_init(&out, 100000);
	jl_table_init(&table, &arena, gpu_columns, 3);
	fill(&table);
	assert_int_equal(jl_table_print(&table, style, &out, &err), JL_OK);
	assert_string_equal(jl_buf_text(&out), want);
	jl_buf_release(&out);
	jl_arena_release(&arena);
}

static void test_text(void **state)
{
	(void)state;
	check(&(struct jl_table_style){ .indent = 2 }, "  이름                     GPUs  note\n"
						       "  ──────────────────────  ─────  ───────\n"
						       "  저울 하나                   8  plain\n"
						       "  H100                    1,024\n"
						       "  tab here and ?]0;evil?      1  빨강 ✅\n");
}

static void test_shrunk(void **state)
{
	(void)state;
	check(&(struct jl_table_style){ .width = 24 }, "이름       GPUs  note\n"
						       "────────  ─────  ───────\n"
						       "저울          8  plain\n"
						       "하나\n"
						       "H100      1,024\n"
						       "tab here      1  빨강 ✅\n"
						       "and\n"
						       "?]0;evil\n"
						       "?\n");
}

/* A colour is reset at the end of a line and continued on the next. */
static void test_colour(void **state)
{
	(void)state;
	check(&(struct jl_table_style){ .width = 17, .colour = true }, "이름   GPUs  note\n"
								       "────  ─────  ────\n"
								       "저울      8  plai\n"
								       "하나         n\n"
								       "H100  1,024\n"
								       "tab       1  \033[31m빨강\033[0m\n"
								       "here         ✅\n"
								       "and\n"
								       "?]0;\n"
								       "evil\n"
								       "?\n");
}

static void test_markdown(void **state)
{
	(void)state;
	check(&(struct jl_table_style){ .flavour = JL_TABLE_MARKDOWN, .width = 20, .indent = 4, .colour = true },
	      "| 이름                   |  GPUs | note    |\n"
	      "| ---------------------- | ----: | ------- |\n"
	      "| 저울 하나              |     8 | plain   |\n"
	      "| H100                   | 1,024 |         |\n"
	      "| tab here and ?]0;evil? |     1 | 빨강 ✅ |\n");
}

static void test_markdown_escapes(void **state)
{
	static const struct jl_table_column columns[] = { { .head = "a|b" } };
	struct jl_arena arena;
	struct jl_table table;
	struct jl_buf out;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	jl_buf_init(&out, 1000);
	jl_table_init(&table, &arena, columns, 1);
	jl_table_cell(&table, "*<b>|");
	jl_table_end_row(&table);
	assert_int_equal(jl_table_print(&table, &(struct jl_table_style){ .flavour = JL_TABLE_MARKDOWN }, &out, NULL),
			 JL_OK);
	assert_string_equal(jl_buf_text(&out), "| a\\|b   |\n| ------ |\n| *<b>\\| |\n");
	jl_buf_release(&out);
	jl_arena_release(&arena);
}

static size_t visible(const char *line, size_t len)
{
	char copy[4096];
	size_t n = 0;

	for (size_t i = 0; i < len && n + 1 < sizeof(copy); i++) {
		if (line[i] == '\033') {
			while (line[i] != 'm')
				i++;
			continue;
		}
		copy[n++] = line[i];
	}
	copy[n] = '\0';
	return jl_utf8_width(copy);
}

/* No line exceeds the terminal while columns can shrink, and every line is valid UTF-8. */
static void test_never_too_wide(void **state)
{
	(void)state;
	for (size_t width = 0; width < 60; width++) {
		struct jl_arena arena;
		struct jl_table table;
		struct jl_buf out;
		size_t least = 2 + 4 + 2 + 5 + 2 + 4;

		jl_arena_init(&arena, JL_ARENA_LIMIT_B);
		jl_buf_init(&out, 100000);
		jl_table_init(&table, &arena, gpu_columns, 3);
		fill(&table);
		assert_int_equal(jl_table_print(&table,
						&(struct jl_table_style){ .width = width, .indent = 2, .colour = true },
						&out, NULL),
				 JL_OK);
		assert_true(jl_utf8_valid(out.data, out.len, NULL));
		for (const char *line = out.data, *end; (end = strchr(line, '\n')); line = end + 1) {
			if (width)
				assert_true(visible(line, (size_t)(end - line)) <= (width > least ? width : least));
			assert_true(end == line || end[-1] != ' ');
		}
		jl_buf_release(&out);
		jl_arena_release(&arena);
	}
}

static void test_no_head(void **state)
{
	static const struct jl_table_column columns[] = { { .flexible = true }, { .align = JL_RIGHT } };
	struct jl_arena arena;
	struct jl_table table;
	struct jl_buf out;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	jl_buf_init(&out, 1000);
	jl_table_init(&table, &arena, columns, 2);
	jl_table_cell(&table, "한글한글");
	jl_table_cell(&table, "한글");
	jl_table_end_row(&table);
	jl_table_end_row(&table);
	jl_table_cell(&table, "12345");
	jl_table_cell(&table, "1");
	jl_table_end_row(&table);
	assert_int_equal(jl_table_print(&table, &(struct jl_table_style){ .indent = 0 }, &out, NULL), JL_OK);
	assert_string_equal(jl_buf_text(&out), "한글한글  한글\n\n12345        1\n");
	jl_buf_release(&out);
	jl_arena_release(&arena);
}

static void test_long_cell_is_quick(void **state)
{
	static char text[300000];
	struct jl_arena arena;
	struct jl_table table;
	struct jl_buf out;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	jl_buf_init(&out, 1000);
	jl_table_init(&table, &arena, gpu_columns, 3);
	jl_table_cell(&table, text);
	jl_table_end_row(&table);
	assert_int_equal(jl_table_print(&table, &(struct jl_table_style){ .width = 40 }, &out, NULL), JL_OK);
	assert_true(out.len < 900);
	jl_buf_reset(&out);
	assert_int_equal(jl_table_print(&table, &(struct jl_table_style){ .width = 0 }, &out, NULL), JL_E_LIMIT);
	jl_buf_release(&out);
	jl_arena_release(&arena);
}

static void test_torture(void **state)
{
	enum jl_status status = JL_E_NOMEM;

	(void)state;
	for (size_t nth = 1; status && nth < 50; nth++) {
		struct jl_arena arena;
		struct jl_table table;
		struct jl_buf out;
		struct jl_err err;

		jl_arena_init(&arena, JL_ARENA_LIMIT_B);
		jl_buf_init(&out, (size_t)1 << 20);
		jl_mem_fail_from(nth);
		jl_table_init(&table, &arena, gpu_columns, 3);
		for (int i = 0; i < 100; i++)
			fill(&table);
		status = jl_table_print(&table, &(struct jl_table_style){ .width = 60 }, &out, &err);
		jl_mem_fail_from(0);
		assert_true(status == JL_OK || status == JL_E_NOMEM);
		jl_buf_release(&out);
		jl_arena_release(&arena);
	}
	assert_int_equal(status, JL_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_shrunk),
		cmocka_unit_test(test_colour),
		cmocka_unit_test(test_markdown),
		cmocka_unit_test(test_markdown_escapes),
		cmocka_unit_test(test_never_too_wide),
		cmocka_unit_test(test_no_head),
		cmocka_unit_test(test_long_cell_is_quick),
		cmocka_unit_test(test_torture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
