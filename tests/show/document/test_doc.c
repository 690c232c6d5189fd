/* The document: numbers keep what is known of them in every rendering, and text stays text. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "document/chart.h"
#include "document/escape.h"

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

static void check_num(struct jl_num num, const char *expected)
{
	struct jl_buf out;

	jl_buf_init(&out, 4096);
	jl_num_print(&out, &num);
	assert_string_equal(jl_buf_text(&out), expected);
	jl_buf_release(&out);
}

static void numbers_read_well(void **state)
{
	(void)state;
	check_num(JL_NUM(1.91, JL_K_NUMBER, JL_MEASURED), "1.91");
	check_num((struct jl_num){ .value = 1.91, .unit = "x" }, "1.91x");
	check_num(
		(struct jl_num){
			.value = 7.43, .unit = "x", .n_digits = 2, .lo = 5.71, .hi = 9.65, .show_interval = true },
		"7.4x (5.7–9.7)");
	check_num((struct jl_num){ .value = 27.4, .unit = "samples/s" }, "27.4 samples/s");
	check_num((struct jl_num){ .value = 1, .unit = "x", .n_decimals = 2 }, "1.00x");
	check_num((struct jl_num){ .value = 24.0 * (1 << 30), .kind = JL_K_BYTES, .binary = true }, "24 GiB");
	check_num((struct jl_num){ .value = 0.147, .kind = JL_K_TIME }, "147 ms");
	check_num((struct jl_num){ .value = NAN, .kind = JL_K_TIME }, "—");
}

static void a_number_tells_all_that_is_known(void **state)
{
	const struct jl_num num = { .value = 0.147,
				    .kind = JL_K_TIME,
				    .lo = 0.13,
				    .hi = 0.16,
				    .origin = JL_ESTIMATED,
				    .source = "docs/METHOD.md",
				    .date = "2026-11" };
	struct jl_buf out;

	(void)state;
	jl_buf_init(&out, 4096);
	jl_num_tell(&out, &num);
	assert_string_equal(jl_buf_text(&out),
			    "147 ms, 80 % interval 130 ms–160 ms, estimated, docs/METHOD.md, 2026-11");
	jl_buf_reset(&out);
	jl_lang_set(jl_lang_find("ko"));
	jl_num_tell(&out, &num);
	jl_lang_set(NULL);
	assert_non_null(strstr(jl_buf_text(&out), "추정"));
	jl_buf_release(&out);
}

static void text_is_made_harmless(void **state)
{
	struct jl_buf out;

	(void)state;
	jl_buf_init(&out, 4096);
	jl_html_escape(&out, "<script>\"'&\x1b[31m");
	assert_string_equal(jl_buf_text(&out), "&lt;script&gt;&quot;&#39;&amp; [31m");
	jl_buf_release(&out);
}

/* A document with one of everything that a writer may get wrong. */
static void make(struct jl_doc *doc)
{
	static const struct jl_doc_column columns[] = { { .head = "<th>" }, { .head = "n", .right = true } };
	const struct jl_num num = { .value = 42, .unit = "\"><x", .origin = JL_MEASURED, .source = "<src>" };

	jl_doc_init(doc, &arena, "</title><script>x</script>");
	jl_doc_section(doc, "one", "First & last");
	jl_doc_para(doc);
	jl_doc_text(doc, "<b>bold</b> ");
	jl_doc_num(doc, &num);
	jl_doc_sourced(doc, " at 31 GB/s on 4x rtx-3090, 17 % slower", JL_ESTIMATED, "here");
	jl_doc_finding(doc, JL_MARK_WARN, "<i>");
	jl_doc_code(doc, "a<b");
	jl_doc_table(doc, "t", columns, 2);
	jl_doc_cell_name(doc, "|bar|");
	jl_doc_cell_num(doc, &num);
	jl_doc_end_row(doc, true);
	assert_int_equal(doc->failed, JL_OK);
}

static void html_carries_origin_unit_value(void **state)
{
	struct jl_doc doc;
	struct jl_buf out;
	struct jl_err err;

	(void)state;
	make(&doc);
	jl_buf_init(&out, 1 << 20);
	assert_int_equal(jl_doc_to_html(&doc, &out, &err), JL_OK);
	assert_null(strstr(jl_buf_text(&out), "<script"));
	assert_null(strstr(jl_buf_text(&out), "<b>"));
	assert_null(strstr(jl_buf_text(&out), "\"><x"));
	assert_non_null(
		strstr(jl_buf_text(&out), "data-origin=\"measured\" data-unit=\"&quot;&gt;&lt;x\" data-value=\"42\""));
	assert_non_null(strstr(jl_buf_text(&out), "data-origin=\"estimated\" data-unit=\"GB/s\" data-value=\"31\""));
	assert_non_null(strstr(jl_buf_text(&out), "data-unit=\"%\" data-value=\"17\""));
	assert_non_null(strstr(jl_buf_text(&out), "<span data-name=\"\">4x rtx-3090,</span>"));
	assert_non_null(strstr(jl_buf_text(&out), "scope=\"row\""));
	jl_buf_release(&out);
}

static void markdown_and_text_and_json(void **state)
{
	struct jl_doc doc;
	struct jl_buf out;
	struct jl_err err;

	(void)state;
	make(&doc);
	jl_buf_init(&out, 1 << 20);
	assert_int_equal(jl_doc_to_markdown(&doc, &out, &err), JL_OK);
	assert_null(strstr(jl_buf_text(&out), "<script"));
	assert_non_null(strstr(jl_buf_text(&out), "\\|bar\\|"));
	jl_buf_reset(&out);
	assert_int_equal(jl_doc_to_text(&doc, 80, false, &out, &err), JL_OK);
	assert_non_null(strstr(jl_buf_text(&out), "First & last"));
	jl_buf_reset(&out);
	assert_int_equal(jl_doc_to_json(&doc, &out, &err), JL_OK);
	assert_non_null(strstr(jl_buf_text(&out), "\"origin\": \"measured\""));
	jl_buf_release(&out);
}

static void a_full_document_says_so(void **state)
{
	struct jl_doc doc;
	struct jl_buf out;
	struct jl_err err;

	(void)state;
	jl_doc_init(&doc, &arena, "long");
	for (int i = 0; i < JL_DOC_BLOCKS_MAX + 2; i++)
		jl_doc_para(&doc);
	assert_int_equal(doc.failed, JL_E_LIMIT);
	jl_buf_init(&out, 1 << 20);
	assert_int_equal(jl_doc_to_html(&doc, &out, &err), JL_E_LIMIT);
	jl_buf_release(&out);
}

static void every_chart_is_drawn_and_told(void **state)
{
	const struct jl_chart_point points[] = { { .x = 1, .y = 10, .lo = 8, .hi = 12, .label = "a<b", .front = true },
						 { .x = 2, .y = 20, .lo = NAN, .hi = NAN, .label = "c" },
						 { .x = 4, .y = NAN, .lo = NAN, .hi = NAN, .label = "d" } };
	struct jl_chart_series series[] = { { .name = "s<1>", .origin = JL_MEASURED, .points = points, .n_points = 3 },
					    { .name = "s2", .points = points, .n_points = 3, .dashed = true } };
	const struct jl_tree_node leaf = { .name = "GPU0<" },
				  root = { .name = "host", .children = &leaf, .n_children = 1 };

	(void)state;
	for (int kind = 0; kind < JL_N_CHART_KIND; kind++) {
		const struct jl_chart chart = { .kind = (enum jl_chart_kind)kind,
						.title = "t<itle>",
						.series = series,
						.n_series = 2,
						.x = { .label = "x", .lo = NAN, .hi = NAN },
						.y = { .label = "y", .kind = JL_K_BYTE_RATE, .lo = NAN, .hi = NAN },
						.tree = &root };
		struct jl_buf out;
		struct jl_err err;

		jl_buf_init(&out, 1 << 20);
		assert_int_equal(jl_chart_to_svg(&chart, "c1", JL_SVG_WIDTH, &out, &err), JL_OK);
		assert_non_null(strstr(jl_buf_text(&out), "aria-labelledby=\"c1-t c1-d\""));
		assert_non_null(strstr(jl_buf_text(&out), "t&lt;itle&gt;"));
		assert_null(strstr(jl_buf_text(&out), "nan"));
		assert_null(strstr(jl_buf_text(&out), "s<1>"));
		jl_buf_reset(&out);
		assert_int_equal(jl_chart_to_text(&chart, 80, &out, &err), JL_OK);
		assert_true(out.len > 20);
		jl_buf_reset(&out);
		jl_chart_alt(&out, &chart);
		assert_non_null(strstr(jl_buf_text(&out), "t<itle>"));
		jl_buf_release(&out);
	}
}

/* No number of a drawing is bare: ticks are a scale in their unit, all others have origin, unit, value and source. */
static void drawn_numbers_carry_their_origin(void **state)
{
	const struct jl_num mem = { .value = 24.0 * (1 << 30),
				    .kind = JL_K_BYTES,
				    .binary = true,
				    .lo = NAN,
				    .hi = NAN,
				    .origin = JL_LISTED,
				    .source = "maker" };
	const struct jl_chart_point points[] = {
		{ .x = 1, .y = 1e9, .lo = 8e8, .hi = 2e9, .label = "a", .front = true },
		{ .x = 2,
		  .y = 3e9,
		  .lo = NAN,
		  .hi = NAN,
		  .label = "b",
		  .own = true,
		  .origin = JL_MEASURED,
		  .source = "log 7" }
	};
	struct jl_chart_series series[] = {
		{ .name = "s", .origin = JL_ESTIMATED, .source = "method", .points = points, .n_points = 2 }
	};
	const struct jl_tree_node root = { .name = "GPU0", .detail = "24 GiB", .num = &mem };
	static const struct {
		enum jl_chart_kind kind;
		const char *has;
	} wants[] = {
		{ JL_CHART_LINE, "data-origin=\"scale\" data-unit=\"GPU\" data-value=\"1\">1</text>" },
		{ JL_CHART_LINE, "data-origin=\"scale\" data-unit=\"Bps\" data-value=\"2e+09\">2 GB/s</text>" },
		{ JL_CHART_LINE,
		  "data-origin=\"measured\" data-unit=\"Bps\" data-value=\"3e+09\" data-source=\"log 7\"" },
		{ JL_CHART_SCATTER,
		  "data-origin=\"estimated\" data-unit=\"Bps\" data-value=\"1e+09\" data-source=\"method\"" },
		{ JL_CHART_BARS,
		  "data-origin=\"measured\" data-unit=\"Bps\" data-value=\"3e+09\" data-source=\"log 7\"" },
		{ JL_CHART_BARS, ">3 GB/s</text></g>" },
		{ JL_CHART_STACKED, "<title>b: 3 GB/s, measured, log 7</title><text" },
		{ JL_CHART_TREE,
		  "data-origin=\"listed\" data-unit=\"B\" data-value=\"2.57698038e+10\" data-source=\"maker\"" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof wants / sizeof wants[0]; i++) {
		const struct jl_chart chart = { .kind = wants[i].kind,
						.title = "t",
						.series = series,
						.n_series = 1,
						.x = { .label = "x", .of = "GPU", .lo = NAN, .hi = NAN },
						.y = { .label = "y", .kind = JL_K_BYTE_RATE, .lo = NAN, .hi = NAN },
						.tree = &root };
		struct jl_buf out;
		struct jl_err err;

		jl_buf_init(&out, 1 << 20);
		assert_int_equal(jl_chart_to_svg(&chart, "c1", JL_SVG_WIDTH, &out, &err), JL_OK);
		assert_null(strstr(jl_buf_text(&out), "data-axis"));
		if (!strstr(jl_buf_text(&out), wants[i].has))
			fail_msg("%zu: no %s in %s", i, wants[i].has, jl_buf_text(&out));
		jl_buf_release(&out);
	}
}

/* A column whose figures are all of one origin has its mark in the head; a mark leads to its source; a brief has no evidence. */
static void marks_sources_and_the_brief(void **state)
{
	static const struct jl_doc_column columns[] = { { .head = "what" }, { .head = "seen", .right = true } };
	const struct jl_num seen = {
		.value = 3, .unit = "x", .lo = NAN, .hi = NAN, .origin = JL_MEASURED, .source = "log"
	};
	struct jl_doc_source sources[JL_DOC_SOURCES_MAX];
	struct jl_doc doc;
	struct jl_buf html, text;
	struct jl_err err;

	(void)state;
	jl_doc_init(&doc, &arena, "t");
	jl_doc_para(&doc);
	jl_doc_num(&doc, &seen);
	jl_doc_ref(&doc, "evidence");
	jl_doc_section(&doc, "evidence", "Evidence");
	jl_doc_fold(&doc);
	jl_doc_table(&doc, NULL, columns, 2);
	for (int i = 0; i < 2; i++) {
		jl_doc_cell_text(&doc, "a");
		jl_doc_cell_num(&doc, &seen);
		jl_doc_end_row(&doc, false);
	}
	assert_int_equal(jl_doc_column_origin(doc.last, 1), JL_MEASURED);
	assert_int_equal(jl_doc_column_origin(doc.last, 0), JL_ORIGIN_NONE);
	assert_int_equal(jl_doc_sources(&doc, sources), 1);
	assert_int_equal(sources[0].n, 3);
	doc.sources = sources;
	doc.n_sources = 1;
	jl_doc_resolve(&doc);
	jl_buf_init(&html, 1 << 20);
	jl_buf_init(&text, 1 << 16);
	assert_int_equal(jl_doc_to_html(&doc, &html, &err), JL_OK);
	assert_non_null(strstr(jl_buf_text(&html), "seen<svg class=\"o\" role=\"img\" aria-label=\"measured\">"));
	assert_non_null(strstr(jl_buf_text(&html), "3x<a href=\"#s1\"><svg class=\"o\""));
	assert_non_null(strstr(jl_buf_text(&html), "<details><summary><h2 id=\"evidence\">"));
	assert_non_null(strstr(jl_buf_text(&html), ">3x</span></td>"));
	assert_int_equal(jl_doc_to_text(&doc, 80, false, &text, &err), JL_OK);
	assert_non_null(strstr(jl_buf_text(&text), "3x ● → Evidence"));
	assert_non_null(strstr(jl_buf_text(&text), "seen ●"));
	jl_doc_shorten(&doc);
	jl_buf_reset(&text);
	assert_int_equal(jl_doc_to_text(&doc, 80, false, &text, &err), JL_OK);
	assert_null(strstr(jl_buf_text(&text), "Evidence"));
	jl_buf_release(&html);
	jl_buf_release(&text);
}

/* A reference gets the title of its section, or vanishes; what was taken back is gone; a break is one in every form. */
static void references_breaks_and_taking_back(void **state)
{
	struct jl_doc doc;
	struct jl_buf html, md, text, json;
	struct jl_err err;

	(void)state;
	jl_doc_init(&doc, &arena, "t");
	jl_doc_section(&doc, "summary", "Summary");
	jl_doc_finding(&doc, JL_MARK_GOOD, "asked");
	jl_doc_text(&doc, "one.");
	jl_doc_break(&doc);
	jl_doc_text(&doc, "two.");
	jl_doc_ref(&doc, "memory");
	jl_doc_ref(&doc, "nowhere");
	{
		const struct jl_doc_place place = jl_doc_here(&doc);
		jl_doc_finding(&doc, JL_MARK_BAD, "taken back");
		jl_doc_text(&doc, "unsaid");
		jl_doc_back(&doc, place);
	}
	jl_doc_section(&doc, "memory", "Memory <of it>");
	jl_doc_para(&doc);
	jl_doc_text(&doc, "end");
	jl_doc_resolve(&doc);
	jl_buf_init(&html, 1 << 20);
	jl_buf_init(&md, 1 << 20);
	jl_buf_init(&text, 1 << 20);
	jl_buf_init(&json, 1 << 20);
	assert_int_equal(jl_doc_to_html(&doc, &html, &err), JL_OK);
	assert_int_equal(jl_doc_to_markdown(&doc, &md, &err), JL_OK);
	assert_int_equal(jl_doc_to_text(&doc, 80, false, &text, &err), JL_OK);
	assert_int_equal(jl_doc_to_json(&doc, &json, &err), JL_OK);
	assert_non_null(strstr(jl_buf_text(&html),
			       "one.<br>\ntwo. <a class=\"ref\" href=\"#memory\">→ Memory &lt;of it&gt;</a>"));
	assert_null(strstr(jl_buf_text(&html), "nowhere"));
	assert_null(strstr(jl_buf_text(&html), "unsaid"));
	assert_non_null(strstr(jl_buf_text(&md), "one.  \ntwo. → Memory &lt;of it>"));
	assert_non_null(strstr(jl_buf_text(&text), "  one.\n  two. → Memory <of it>\n"));
	assert_non_null(strstr(jl_buf_text(&json), "\"section\": \"memory\""));
	assert_null(strstr(jl_buf_text(&json), "nowhere"));
	jl_buf_release(&html);
	jl_buf_release(&md);
	jl_buf_release(&text);
	jl_buf_release(&json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(marks_sources_and_the_brief, set_up, tear_down),
		cmocka_unit_test_setup_teardown(numbers_read_well, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_number_tells_all_that_is_known, set_up, tear_down),
		cmocka_unit_test_setup_teardown(text_is_made_harmless, set_up, tear_down),
		cmocka_unit_test_setup_teardown(html_carries_origin_unit_value, set_up, tear_down),
		cmocka_unit_test_setup_teardown(markdown_and_text_and_json, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_full_document_says_so, set_up, tear_down),
		cmocka_unit_test_setup_teardown(every_chart_is_drawn_and_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(drawn_numbers_carry_their_origin, set_up, tear_down),
		cmocka_unit_test_setup_teardown(references_breaks_and_taking_back, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
