/* What a command prints is a document: labels in line, figures with their units, Korean in two columns, nothing wider than the terminal. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "document/chart.h"
#include "document/wrap.h"

static struct jl_arena arena;

static int set_up(void **state)
{
	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	jl_arena_release(&arena);
	return 0;
}

static void check_wrap(const char *text, struct jl_wrap how, const char *expected)
{
	struct jl_buf out;

	jl_buf_init(&out, 4096);
	jl_wrap(&out, text, &how);
	assert_string_equal(jl_buf_text(&out), expected);
	jl_buf_release(&out);
}

static void lines_break_at_blanks(void **state)
{
	const struct jl_wrap narrow = { .width = 12, .at = 0, .indent = 2 };

	(void)state;
	check_wrap("one two three four", narrow, "one two\n  three four\n");
	check_wrap("one two", (struct jl_wrap){ .width = 12, .at = 8, .indent = 2 }, "one\n  two\n");
	check_wrap("eins\nzwei", narrow, "eins\n  zwei\n");
	check_wrap("a   b", narrow, "a   b\n");
	check_wrap("", narrow, "\n");
	check_wrap("longerthantheline so", narrow, "longerthantheline\n  so\n");
	check_wrap("한국어로 쓴 글", narrow, "한국어로 쓴\n  글\n");
}

static void a_number_keeps_its_unit(void **state)
{
	const struct jl_wrap narrow = { .width = 12, .at = 0, .indent = 0 };

	(void)state;
	check_wrap("it draws 22 kW here", narrow, "it draws\n22 kW here\n");
	check_wrap("it took 1,049 days.", narrow, "it took\n1,049 days.\n");
	check_wrap("the part is 17 %,", narrow, "the part is\n17 %,\n");
	check_wrap("전력은 0.14 kW로 봄", narrow, "전력은\n0.14 kW로 봄\n"); /* also with what Korean adds to it */
	check_wrap("여유가 +30 %면", narrow, "여유가\n+30 %면\n");
	check_wrap("there are 22 machines", narrow, "there are 22\nmachines\n");
	check_wrap("held\xc2\xa0together so", narrow, "held together\nso\n");
}

static void pieces_stay_whole(void **state)
{
	const struct jl_wrap narrow = { .width = 20, .at = 0, .indent = 0 };

	(void)state;
	check_wrap("GPT-2" JL_WRAP_DOT "batch 4 a GPU" JL_WRAP_DOT "fp16", narrow, "GPT-2\nbatch 4 a GPU · fp16\n");
}

static void colour_takes_no_width(void **state)
{
	(void)state;
	check_wrap("\033[1mone two\033[0m three", (struct jl_wrap){ .width = 13, .at = 0, .indent = 0 },
		   "\033[1mone two\033[0m three\n");
}

static void check_page(const struct jl_doc *doc, const char *expected)
{
	struct jl_buf out;
	struct jl_err err;

	jl_buf_init(&out, 1 << 16);
	assert_int_equal(jl_doc_to_terminal(doc, 60, false, &out, &err), JL_OK);
	assert_string_equal(jl_buf_text(&out), expected);
	jl_buf_release(&out);
}

static void a_page_has_its_shape(void **state)
{
	static const struct jl_doc_column columns[] = { { .head = NULL }, { .head = NULL, .right = true } };
	const struct jl_num time = { .value = 0.86, .lo = 0.62, .hi = 1.2, .kind = JL_K_TIME, .show_interval = true };
	struct jl_doc doc;

	(void)state;
	jl_doc_init(&doc, &arena, NULL);
	jl_doc_lead(&doc);
	jl_doc_name(&doc, "GPT-2");
	jl_doc_dot(&doc);
	jl_doc_name(&doc, "rtx-4090");
	jl_doc_entry(&doc, "Step");
	jl_doc_num(&doc, &time);
	jl_doc_entry(&doc, "");
	jl_doc_bar(&doc, 0.5, 4);
	jl_doc_text(&doc, " half of it");
	jl_doc_gap(&doc);
	jl_doc_entry(&doc, "Bound by");
	jl_doc_text(&doc, "the exchange of gradients through the memory of the host, twice");
	jl_doc_entry_table(&doc, "Try", columns, 2);
	jl_doc_cell_text(&doc, "a larger batch");
	jl_doc_cell_text(&doc, "3x");
	jl_doc_end_row(&doc, false);
	jl_doc_cell_text(&doc, "a bridge");
	jl_doc_cell_text(&doc, "1.5x");
	jl_doc_end_row(&doc, false);
	jl_doc_note(&doc, JL_MARK_NONE, "Assumed");
	jl_doc_text(&doc, "a thing that nobody said and that another thing follows from");
	jl_doc_lines(&doc, "--tp 8\n--pp 2");
	check_page(&doc, "GPT-2 · rtx-4090\n"
			 "\n"
			 "  Step      860 ms (620–1,200)\n"
			 "            ██░░ half of it\n"
			 "\n"
			 "  Bound by  the exchange of gradients through the memory of\n"
			 "            the host, twice\n"
			 "  Try       a larger batch    3x\n"
			 "            a bridge        1.5x\n"
			 "  Assumed: a thing that nobody said and that another thing\n"
			 "      follows from\n"
			 "\n"
			 "            --tp 8\n"
			 "            --pp 2\n");
}

static void sections_lists_and_pictures(void **state)
{
	const struct jl_chart chart = { .kind = JL_CHART_BARS, .title = "not here" };
	struct jl_doc doc;

	(void)state;
	jl_doc_init(&doc, &arena, NULL);
	jl_doc_section(&doc, "a", "제목");
	jl_doc_picture(&doc, &chart);
	jl_doc_step(&doc);
	jl_doc_text(&doc, "first");
	jl_doc_step(&doc);
	jl_doc_text(&doc, "second");
	jl_doc_section(&doc, "b", "끝");
	jl_doc_para(&doc);
	jl_doc_link(&doc, "source", "https://example.org/x");
	check_page(&doc, "제목\n  1  first\n  2  second\n\n끝\nsource https://example.org/x\n");
}

static void a_ruler_shows_where_it_lies(void **state)
{
	struct jl_doc doc;

	(void)state;
	jl_doc_init(&doc, &arena, NULL);
	jl_doc_entry(&doc, "Verdict");
	jl_doc_text(&doc, "normal");
	jl_doc_ruler(&doc, &(struct jl_ruler){ .value = JL_NUM(156e9, JL_K_BYTE_RATE, JL_MEASURED),
					       .lo = 112e9,
					       .middle = 150.4e9,
					       .hi = 202e9,
					       .bound = JL_NUM(202e9, JL_K_BYTE_RATE, JL_ESTIMATED) });
	check_page(&doc, "  Verdict   normal\n"
			 "            ────┤▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒┼▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒┃ 202 GB/s\n"
			 "                                        ▲ 156 GB/s\n");
}

static void a_tree_has_branches(void **state)
{
	const struct jl_tree_node gpus[] = { { .name = "GPU0", .detail = "24 GiB", .place = "4f:00.0" },
					     { .name = "GPU1" } },
				  nodes[] = { { .name = "NUMA 0", .children = gpus, .n_children = 2 },
					      { .name = "NUMA 1" } },
				  root = { .name = "", .children = nodes, .n_children = 2 };
	const struct jl_chart chart = { .kind = JL_CHART_TREE, .tree = &root };
	struct jl_buf out;
	struct jl_err err;

	(void)state;
	jl_buf_init(&out, 4096);
	assert_int_equal(jl_chart_to_text(&chart, 80, &out, &err), JL_OK);
	assert_non_null(strstr(jl_buf_text(&out), "├─ NUMA 0\n"
						  "│  ├─ GPU0 · 24 GiB                                 4f:00.0\n"
						  "│  └─ GPU1\n"
						  "└─ NUMA 1\n"));
	jl_buf_release(&out);
}

/* What the terminal shows, the page has too: lists, entries, notes, folds, links that lead out. */
static void the_page_has_it_too(void **state)
{
	static const char *const wants[] = { "<details><summary><h2 id=\"a\">",
					     "</details>",
					     "<dl>\n<dt>Step</dt><dd>",
					     "</dl>",
					     "<ol>\n<li>first</li>\n</ol>",
					     "<p class=\"note\"><b>Assumed</b> that</p>",
					     "<pre><code>a &lt; b</code></pre>",
					     "rel=\"noreferrer\" href=\"https://example.org/\"",
					     "<rect width=\"50.0\" height=\"8\"/>" };
	struct jl_doc doc;
	struct jl_buf out;
	struct jl_err err;

	(void)state;
	jl_doc_init(&doc, &arena, "t");
	jl_doc_section(&doc, "a", "Evidence");
	jl_doc_fold(&doc);
	jl_doc_entry(&doc, "Step");
	jl_doc_bar(&doc, 0.5, 10);
	jl_doc_step(&doc);
	jl_doc_text(&doc, "first");
	jl_doc_note(&doc, JL_MARK_NONE, "Assumed");
	jl_doc_text(&doc, "that");
	jl_doc_lines(&doc, "a < b");
	jl_doc_section(&doc, "b", "More");
	jl_doc_para(&doc);
	jl_doc_link(&doc, "source", "https://example.org/");
	jl_doc_link(&doc, "none", "javascript:x");
	jl_buf_init(&out, 1 << 16);
	assert_int_equal(jl_doc_to_html(&doc, &out, &err), JL_OK);
	for (size_t i = 0; i < sizeof wants / sizeof wants[0]; i++)
		if (!strstr(jl_buf_text(&out), wants[i]))
			fail_msg("no %s in %s", wants[i], strstr(jl_buf_text(&out), "<main>"));
	assert_null(strstr(jl_buf_text(&out), "javascript"));
	jl_buf_reset(&out);
	assert_int_equal(jl_doc_to_markdown(&doc, &out, &err), JL_OK);
	assert_non_null(strstr(jl_buf_text(&out), "- **Assumed**: that"));
	assert_non_null(strstr(jl_buf_text(&out), "[source](https://example.org/)"));
	jl_buf_release(&out);
}

/* Whatever somebody calls a thing: in Markdown it is text, in code it stays inside, and no terminal or page takes it for an order. */
static void names_are_only_names(void **state)
{
	static const char evil[] =
		"![t](https://evil/p.png) [x](javascript:y) <img src=x> &lt; *b* _i_ `c` ~~s~~ | a_b\n# h";
	static const char *const wants[] = {
		("# !\\[t\\](https://evil/p.png) \\[x\\](javascript:y) &lt;img src=x> &amp;lt; \\*b\\* \\_i\\_ \\`c\\` "
		 "~\\~s\\~\\~ | a_b # h\n"),
		"| a\\|b\\[x\\](y) |",
		"````\n```\nrm -rf\n````\n",
		"`` a`b ``",
		"\\# heading",
		"\\- item",
		"1\\. first",
		"[\\]\\[](https://example.org/%28a%29%20b)",
	};
	struct jl_doc doc;
	struct jl_buf out;
	struct jl_err err;

	(void)state;
	jl_doc_init(&doc, &arena, evil);
	jl_doc_table(&doc, NULL, &(struct jl_doc_column){ .head = "a|b[x](y)" }, 1);
	jl_doc_cell_name(&doc, "[c](d)");
	jl_doc_end_row(&doc, false);
	jl_doc_lines(&doc, "```\nrm -rf");
	jl_doc_para(&doc);
	jl_doc_code(&doc, "a`b");
	jl_doc_para(&doc);
	jl_doc_text(&doc, "# heading");
	jl_doc_item(&doc);
	jl_doc_text(&doc, "- item");
	jl_doc_para(&doc);
	jl_doc_text(&doc, "1. first");
	jl_doc_para(&doc);
	jl_doc_link(&doc, "][", "https://example.org/(a) b");
	jl_doc_para(&doc);
	jl_doc_text(&doc, "a\u202eb\xc2\x85"
			  "c\033[31md");
	jl_buf_init(&out, 1 << 16);
	assert_int_equal(jl_doc_to_markdown(&doc, &out, &err), JL_OK);
	for (size_t i = 0; i < sizeof wants / sizeof wants[0]; i++)
		if (!strstr(jl_buf_text(&out), wants[i]))
			fail_msg("no %s in %s", wants[i], jl_buf_text(&out));
	assert_null(strstr(jl_buf_text(&out), "\u202e"));
	jl_buf_reset(&out);
	assert_int_equal(jl_doc_to_text(&doc, 80, false, &out, &err), JL_OK);
	assert_non_null(strstr(jl_buf_text(&out), "a b c [31md"));
	jl_buf_reset(&out);
	assert_int_equal(jl_doc_to_html(&doc, &out, &err), JL_OK);
	assert_null(strstr(jl_buf_text(&out), "\u202e"));
	jl_buf_release(&out);
}

static void a_brief_has_what_is_for_it(void **state)
{
	struct jl_doc doc;

	(void)state;
	jl_doc_init(&doc, &arena, NULL);
	jl_doc_lead(&doc);
	jl_doc_text(&doc, "answer");
	jl_doc_section(&doc, "a", "Evidence");
	jl_doc_para(&doc);
	jl_doc_text(&doc, "long");
	jl_doc_section(&doc, "b", "More");
	jl_doc_shorten(&doc);
	check_page(&doc, "answer\n");
	assert_int_equal(doc.n_blocks, 1);
	jl_doc_para(&doc);
	jl_doc_text(&doc, "end");
	check_page(&doc, "answer\n\nend\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_break_at_blanks),       cmocka_unit_test(a_number_keeps_its_unit),
		cmocka_unit_test(pieces_stay_whole),           cmocka_unit_test(colour_takes_no_width),
		cmocka_unit_test(a_page_has_its_shape),        cmocka_unit_test(sections_lists_and_pictures),
		cmocka_unit_test(a_ruler_shows_where_it_lies), cmocka_unit_test(a_tree_has_branches),
		cmocka_unit_test(the_page_has_it_too),         cmocka_unit_test(names_are_only_names),
		cmocka_unit_test(a_brief_has_what_is_for_it),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
