/* Rules of data/phrases.csv: order, derived columns, unknown words. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/csv.h"
#include "rows/phrases.h"
#include "rows/set_llm.h"

extern const unsigned char jl_phrases_text[];
extern const size_t jl_phrases_text_len;

struct cell {
	const char *column, *text;
};

static const char *cell_at(const void *ctx, const char *column)
{
	for (const struct cell *cell = ctx; cell->column; cell++)
		if (strcmp(cell->column, column) == 0)
			return cell->text;
	return NULL;
}

static const char *made(const struct cell *cells, const char *set, const char *column, struct jl_arena *arena)
{
	const struct jl_row_cells row = { .at = cell_at, .ctx = cells };
	struct jl_phrases phrases;
	struct jl_err err = { 0 };

	if (jl_phrases_of(&phrases, set, arena, &err) != JL_OK)
		fail_msg("%s", err.en);
	return jl_phrase_cell(&phrases, column, &row, arena);
}

/* The first matching rule applies; a column in the file takes precedence. */
static void test_rules(void **state)
{
	static const struct {
		const char *set, *column, *want;
		struct cell cells[4];
	} rows[] = {
		{ "train_llm", "zero", "3", { { "zero_or_fsdp", "FSDP2" } } },
		{ "train_llm", "zero", "1", { { "zero_or_fsdp", "" }, { "tp", "" } } },
		{ "train_llm", "zero", "0", { { "zero_or_fsdp", "" }, { "tp", "4" } } },
		{ "train_llm", "zero", "2", { { "zero_or_fsdp", "FSDP2" }, { "zero", "2" } } },
		{ "train_llm", "zero", "3", { { "zero_or_fsdp", "FSDP2" }, { "zero", "" } } }, /* stated as empty */
		{ "train_llm", "shard", "4", { { "zero_or_fsdp", "ZeRO-1 (zero1=4)" } } },
		{ "train_llm", "shard", "", { { "zero_or_fsdp", "ZeRO-1 (zero1=-1)" } } },
		{ "train_llm", "accumulate", "64", { { "remark", "accum 64 and 32" }, { "precision", "fp32" } } },
		{ "train_llm", "accumulate", "32", { { "remark", "accum 64 and 32" }, { "precision", "amp fp16" } } },
		{ "train_llm", "accumulate", "16", { { "remark", "grad accum 16" }, { "precision", "amp fp16" } } },
		/* a derived column based on another */
		{ "train_llm", "loss_fused", "y", { { "framework", "torchtitan" }, { "remark", "compile on" } } },
		{ "train_llm", "loss_fused", "", { { "framework", "torchtitan" }, { "remark", "" } } },
		{ "finetune", "targets_as", "+q+v", { { "targets", "q_proj,v_proj" } } },
		{ "finetune", "targets_as", "", { { "targets", "" }, { "remark", "" } } },
		{ "finetune",
		  "tp_as",
		  "2",
		  { { "framework", "Megatron-SWIFT" }, { "remark", "tensor_model_parallel_size=2" } } },
		{ "infer_llm", "zero", "", { { "zero_or_fsdp", "FSDP2" } } },
	};
	struct jl_arena arena;

	(void)state;
	jl_arena_init(&arena, 1 << 22);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *text = made(rows[i].cells, rows[i].set, rows[i].column, &arena);

		if (strcmp(text, rows[i].want) != 0)
			fail_msg("row %zu: %s is '%s', not '%s'", i, rows[i].column, text, rows[i].want);
	}
	jl_arena_release(&arena);
}

/* Unknown words and numbers are refused with the column's name. */
static void test_unknown_words(void **state)
{
	static const struct {
		const char *column, *text;
	} bad[] = { { "format", "fp12" }, { "zero", "three" }, { "offload", "+optimizer+disk" },
		    { "foreach", "yes" }, { "reject", "no" },  { "memory_counted", "Reserved" } };
	struct jl_llm_text said;
	struct jl_arena arena;

	(void)state;
	jl_arena_init(&arena, 1 << 22);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct cell cells[] = { { bad[i].column, bad[i].text }, { NULL, NULL } };
		const struct jl_row_cells row = { .at = cell_at, .ctx = cells };
		struct jl_phrases phrases;
		struct jl_err err = { 0 };

		assert_int_equal(jl_phrases_of(&phrases, "train_llm", &arena, &err), JL_OK);
		assert_int_equal(jl_llm_text_read(&said, &phrases, &row, &arena, &err), JL_E_DATA);
		assert_non_null(strstr(err.en, bad[i].column));
	}
	jl_arena_release(&arena);
}

/* Every value written by a rule is a known word of its column. */
static void test_every_rule_is_known(void **state)
{
	struct jl_arena arena;
	struct jl_err err = { 0 };
	struct jl_csv csv;
	bool more = true;
	size_t n = 0;

	(void)state;
	jl_arena_init(&arena, 1 << 22);
	assert_int_equal(jl_csv_open(&csv, (const char *)jl_phrases_text, jl_phrases_text_len, "phrases.csv", &err),
			 JL_OK);
	while (jl_csv_next(&csv, &more, &err) == JL_OK && more) {
		const char *value = jl_csv_text(&csv, 2), *sets = jl_csv_text(&csv, 0);
		const struct cell cells[] = { { jl_csv_text(&csv, 1), *value == '#' ? "1" : value }, { NULL, NULL } };
		const struct jl_row_cells row = { .at = cell_at, .ctx = cells };
		struct jl_phrases none = { 0 };
		struct jl_llm_text said;

		if (!strstr(sets, "train_llm") && !strstr(sets, "finetune") && !strstr(sets, "moe_and_large"))
			continue;
		if (jl_llm_text_read(&said, &none, &row, &arena, &err) != JL_OK)
			fail_msg("phrases.csv:%zu: %s", jl_csv_where(&csv, 0).line, err.en);
		n++;
	}
	assert_true(n > 200);
	jl_csv_release(&csv);
	jl_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_unknown_words),
		cmocka_unit_test(test_every_rule_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
