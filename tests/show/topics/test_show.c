/* One builder, several forms: what the terminal shows, the page has with its origin, and the JSON has under stable keys. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "predict/fields.h"
#include "topics/compare.h"
#include "topics/schemas.h"

static struct jl_arena arena;
static struct jl_compare compare;

static const struct jl_estimate none = { NAN, NAN, NAN };

static struct jl_compare_at at(double step_s, double lo, double hi, double speedup)
{
	return (struct jl_compare_at){ .possible = true,
				       .fits = true,
				       .batch = 128,
				       .micro_batch = 128,
				       .n_passes = 1,
				       .batches = 1000,
				       .step_s = { step_s, lo, hi },
				       .epoch_s = { 1000 * step_s, 1000 * lo, 1000 * hi },
				       .run_s = { 1000 * step_s, 1000 * lo, 1000 * hi },
				       .repeat_s = none,
				       .tune_s = none,
				       .speedup = { speedup, speedup * lo / step_s, speedup * hi / step_s },
				       .energy_J = { 3.6e6, 3e6, 5e6 },
				       .part_s = { NAN, NAN, NAN, NAN } };
}

static int set_up(void **state)
{
	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	compare = (struct jl_compare){ .epochs = 1, .repeat = NAN, .tune = NAN, .pue = 1, .n_rows = 3 };
	compare.seen.run = (struct jl_observed){ .step_s = 1.06, .batch = 128, .batches = 1000, .dtype = JL_UNSET };
	compare.rows[0] = (struct jl_compare_row){ .system = "base", .baseline = true, .observed = true, .limit = 128 };
	compare.rows[0].at[0] = compare.rows[0].at[1] = at(1.06, 1.06, 1.06, 1);
	compare.rows[1] = (struct jl_compare_row){ .system = "other-7", .limit = 128 };
	compare.rows[1].at[0] = compare.rows[1].at[1] = at(0.5, 0.4, 0.7, 2.12);
	compare.rows[2] = (struct jl_compare_row){ .system = "none", .limit = NAN };
	jl_fail(&compare.rows[2].at[0].why, JL_E_RANGE, "it cannot");
	compare.notes.n = 1;
	compare.notes.items[0].key = "precision";
	strcpy(compare.notes.items[0].en, "fp16 it is");
	strcpy(compare.notes.items[0].text, "fp16 it is");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	jl_arena_release(&arena);
	return 0;
}

static void check(const struct jl_buf *out, const char *const *wants, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strstr(jl_buf_text(out), wants[i]))
			fail_msg("no '%s' in %s", wants[i], jl_buf_text(out));
}

static void the_terminal_shows_it(void **state)
{
	static const char *const options[] = { "on", "precision", NULL };
	static const char *const wants[] = {
		"1.06 s a batch of 128 on base  ● observed\n1,000 batches an epoch: 17.7 min an epoch\n",
		"  base          1  1.06 s           1.00x          17.7 min\n",
		"  other-7       1  500 ms  2.1x (1.7–3.0)  8.3 min (6.7–12)\n",
		"  none: it cannot\n",
		"  Assumed: fp16 it is (--precision)\n",
	};
	struct jl_doc doc;
	struct jl_buf out;
	struct jl_err err;

	(void)state;
	jl_doc_init(&doc, &arena, NULL);
	jl_show_compare(&doc, &(struct jl_show_compare){ .compare = &compare, .options = options });
	jl_buf_init(&out, 1 << 16);
	assert_int_equal(jl_doc_to_terminal(&doc, 80, false, &out, &err), JL_OK);
	check(&out, wants, sizeof wants / sizeof wants[0]);
	jl_buf_release(&out);
}

static void a_sentence_has_the_order_of_its_language(void **state)
{
	static const char *const wants[] = {
		"1.06 s / 배치 128, base  ● 실측\n에폭당 배치 1,000개: 에폭당 17.7 min\n"
	};
	struct jl_doc doc;
	struct jl_buf out;
	struct jl_err err;

	(void)state;
	jl_lang_set(jl_lang_find("ko"));
	jl_doc_init(&doc, &arena, NULL);
	jl_show_compare(&doc, &(struct jl_show_compare){ .compare = &compare });
	jl_lang_set(NULL);
	jl_buf_init(&out, 1 << 16);
	assert_int_equal(jl_doc_to_terminal(&doc, 80, false, &out, &err), JL_OK);
	check(&out, wants, 1);
	jl_buf_release(&out);
}

static void a_page_has_names_origins_and_the_chart(void **state)
{
	static const char *const names[] = { "Our station", "New card", "Old card" };
	static const char *const wants[] = {
		"Our station",
		"New card",
		"<svg",
		"data-origin=\"measured\" data-unit=\"s\" data-value=\"1.06\"",
		"data-origin=\"estimated\" data-unit=\"s\" data-value=\"0.5\" data-source=\"docs/METHOD.md\"",
	};
	struct jl_doc doc;
	struct jl_buf out;
	struct jl_err err;

	(void)state;
	jl_doc_init(&doc, &arena, "t");
	jl_show_compare(&doc, &(struct jl_show_compare){ .compare = &compare, .names = names });
	jl_buf_init(&out, 1 << 20);
	assert_int_equal(jl_doc_to_html(&doc, &out, &err), JL_OK);
	check(&out, wants, sizeof wants / sizeof wants[0]);
	assert_null(strstr(jl_buf_text(&out), "--precision")); /* no command, no options */
	jl_buf_release(&out);
}

static void json_has_stable_keys(void **state)
{
	static const char *const wants[] = {
		"\"observed\": {",           "\"batches_per_epoch\": 1000", "\"systems\": [",
		"\"reason\": \"it cannot\"", "\"option\": \"precision\"",   "\"why\": \"fp16 it is\"",
		"\"precision\": null",
	};
	struct jl_buf out;

	(void)state;
	jl_buf_init(&out, 1 << 16);
	jl_fields_print(&out, &jl_compare_fields, &compare, NULL, NULL);
	check(&out, wants, sizeof wants / sizeof wants[0]);
	assert_null(strstr(jl_buf_text(&out), "\"tune"));
	jl_buf_release(&out);
}

/* Slots in the order of the language, endings by what fills them, ranges in one unit, times in the unit of the longer. */
static void sentences_are_filled_in(void **state)
{
	const struct jl_num gpus = jl_num_given(10, JL_K_NUMBER, NULL),
			    lo = jl_num_plain(98.2e9, JL_K_BYTE_RATE, NULL, JL_ESTIMATED, JL_METHOD),
			    day = jl_num_plain(0.4 * 86400, JL_K_TIME, NULL, JL_ESTIMATED, JL_METHOD);
	struct jl_doc doc;
	struct jl_buf out;
	struct jl_err err;

	(void)state;
	jl_doc_init(&doc, &arena, NULL);
	jl_doc_para(&doc);
	JL_SENTENCE(&doc, "|2{은/는} GPU |1장, |3.", JL_FIG(gpus), JL_NAMED("RTX 4090"),
		    JL_FIG(jl_show_span(&doc, lo, 202e9)));
	jl_doc_para(&doc);
	JL_SENTENCE(&doc, "|1 → |2; |9", JL_FIG(jl_num_time_like(day, 3 * 86400.0)), JL_WORD("A"));
	jl_buf_init(&out, 1 << 16);
	assert_int_equal(jl_doc_to_terminal(&doc, 80, false, &out, &err), JL_OK);
	assert_string_equal(jl_buf_text(&out), "RTX 4090은 GPU 10장, 98–200 GB/s.\n\n0.4 d → A;\n");
	jl_buf_release(&out);
}

/* In the schema of a command two structs of one name would be one. */
static void names_in_a_schema_are_apart(void **state)
{
	(void)state;
	for (const struct jl_output_schema *told = jl_output_schemas; told->name; told++) {
		struct jl_buf out;
		const char *defs;

		jl_buf_init(&out, 1 << 20);
		jl_fields_schema(&out, told->schema, NULL, told->name);
		assert_int_equal(out.failed, JL_OK);
		defs = strstr(jl_buf_text(&out), "\"$defs\"");
		for (const char *name = defs ? strstr(defs, "\n    \"") : NULL; name;
		     name = strstr(name + 1, "\n    \"")) {
			char key[128];

			snprintf(key, sizeof key, "%.*s {", (int)strcspn(name, "{") - 1, name);
			assert_null(strstr(name + 1, key));
		}
		jl_buf_release(&out);
	}
}

/* A part of time or memory looks the same in every chart, and as no other; bars stand by their length beside the line of the baseline. */
static void parts_and_bars_can_be_told_apart(void **state)
{
	static const char *const memory[] = {
		"weights", "gradients", "optimizer", "activations", "buffers", "context"
	};
	struct jl_doc doc;
	struct jl_buf out;
	const char *fast, *slow;

	(void)state;
	for (size_t i = 0; i < JL_N_PART; i++) {
		assert_true(jl_part_look(jl_parts[i].en) > 0);
		for (size_t k = 0; k < i; k++)
			assert_int_not_equal(jl_part_look(jl_parts[i].en), jl_part_look(jl_parts[k].en));
		for (size_t k = 0; k < sizeof memory / sizeof *memory; k++)
			assert_int_equal(jl_part_look(jl_parts[i].en) == jl_part_look(memory[k]),
					 strcmp(jl_parts[i].en, memory[k]) == 0);
	}
	jl_doc_init(&doc, &arena, "test");
	jl_show_compare_chart(&doc, &(struct jl_show_compare){ .compare = &compare });
	jl_buf_init(&out, 1 << 20);
	assert_int_equal(jl_doc_to_html(&doc, &out, NULL), JL_OK);
	fast = strstr(jl_buf_text(&out), ">other-7<");
	slow = strstr(jl_buf_text(&out), ">base<");
	assert_true(fast && slow && fast < slow);
	assert_non_null(strstr(jl_buf_text(&out), "class=\"mark\""));
	jl_buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_terminal_shows_it),
		cmocka_unit_test(a_sentence_has_the_order_of_its_language),
		cmocka_unit_test(a_page_has_names_origins_and_the_chart),
		cmocka_unit_test(json_has_stable_keys),
		cmocka_unit_test(sentences_are_filled_in),
		cmocka_unit_test(names_in_a_schema_are_apart),
		cmocka_unit_test(parts_and_bars_can_be_told_apart),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
