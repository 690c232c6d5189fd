/* Recipes of transformers' code against captures of it: counts of every operator in every phase. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "program/hf.h"
#include "program/read.h"
#include "program/tune.h"

#define FIXTURE JL_SOURCE_DIR "/tests/fixtures/programs/transformers.txt"

/* Value of `key` in a row, or `fallback`. */
static const char *word(const char *row, const char *key, const char *fallback)
{
	static char out[64];
	char want[40];
	const char *at;

	snprintf(want, sizeof(want), " %s=", key);
	at = strstr(row, want);
	if (!at)
		return fallback;
	snprintf(out, sizeof(out), "%.*s", (int)strcspn(at + strlen(want), " \n"), at + strlen(want));
	return out;
}

static double number(const char *row, const char *key, double fallback)
{
	const char *text = word(row, key, NULL);

	return text ? atof(text) : fallback;
}

static bool one_of(const char *list, const char *family)
{
	char want[40];

	snprintf(want, sizeof(want), " %s ", family);
	return strstr(list, want) != NULL;
}

static struct jl_transformer model_of(const char *row, const char *family)
{
	const double hidden = number(row, "hidden", 0), heads = number(row, "heads", 1), seq = number(row, "seq", 0);
	struct jl_transformer m = { .n_layers = number(row, "layers", 0),
				    .hidden = hidden,
				    .heads = heads,
				    .kv_heads = number(row, "kv_heads", heads),
				    .head_dim = number(row, "head_dim", hidden / heads),
				    .ffn = number(row, "ffn", 4 * hidden),
				    .vocab = number(row, "vocab", 0),
				    .causal = number(row, "causal", 1) > 0,
				    .qk_norm = number(row, "qk_norm", 0) > 0,
				    .tied = number(row, "tied", 0) > 0,
				    .window = number(row, "window", 0),
				    .local_frac = number(row, "local", 1) };

	m.bias = one_of(" gpt2 opt bert gpt_neox phi starcoder2 roberta electra distilbert ", family);
	m.n_positions = one_of(" gpt2 ", family) ? fmax(1024, seq) : one_of(" opt ", family) ? 2050 : 514;
	m.moe = (struct jl_moe){ .n_experts = number(row, "experts", 0),
				 .top_k = number(row, "top", 0),
				 .expert_ffn = m.ffn };
	return m;
}

static enum jl_dtype dtype_of(const char *precision)
{
	return strstr(precision, "bf16")        ? JL_BF16
	       : strstr(precision, "fp16")      ? JL_FP16
	       : strcmp(precision, "tf32") == 0 ? JL_TF32
						: JL_FP32;
}

static struct jl_hf_run run_of(const char *row)
{
	struct jl_hf_run run = { .batch = number(row, "batch", 1),
				 .seq = number(row, "seq", 1),
				 .accumulate = number(row, "accumulate", 1),
				 .checkpoint = number(row, "checkpoint", 0) > 0,
				 .clip = number(row, "clip", 0) > 0,
				 .cache = number(row, "use_cache", 1) > 0 };

	run.mask = strcmp(word(row, "mask", ""), "ones") == 0     ? JL_HF_MASK_ONES
		   : strcmp(word(row, "mask", ""), "padded") == 0 ? JL_HF_MASK_PADDED
								  : JL_HF_MASK_NONE;
	run.dtype = dtype_of(word(row, "precision", "fp32"));
	run.autocast = strncmp(word(row, "precision", ""), "amp", 3) == 0;
	run.forward = strcmp(word(row, "mode", "train"), "forward") == 0;
	run.eager_attention = strcmp(word(row, "attention", ""), "eager") == 0;
	run.fused = strcmp(word(row, "optimizer", ""), "adamw-fused") == 0;
	run.expert_loop = strcmp(word(row, "experts_code", ""), "eager") == 0;
	run.classes = strcmp(word(row, "task", ""), "classes") == 0;
	return run;
}

/* "aten.mul_.Tensor" is "mul". */
static void plain_name(char out[64], const char *name)
{
	const bool aten = strncmp(name, "aten.", 5) == 0;
	size_t len;

	snprintf(out, 64, "%s", aten ? name + 5 : name);
	len = aten ? strcspn(out, ".") : strlen(out);
	while (len > 1 && out[len - 1] == '_')
		len--;
	out[len] = '\0';
}

static double calls_of(const struct jl_program *p, enum jl_step_phase phase, const char *operator)
{
	double n = 0;
	char name[64];

	for (size_t k = 0; k < p->n_kinds; k++) {
		plain_name(name, p->kinds[k].name);
		n += strcmp(name, operator) == 0 ? p->uses[k].n[phase] : 0;
	}
	return n;
}

/* Calls in a line of the fixture that differ from the program's, missing or additional. */
static double differences(const struct jl_program *p, enum jl_step_phase phase, const char *line, double *n_calls)
{
	double wrong = 0, known = 0, all = 0;

	for (const char *at = strchr(line, ' '); at && *at == ' ';) {
		char name[64];
		const size_t len = strcspn(at + 1, "=");

		snprintf(name, sizeof(name), "%.*s", (int)len, at + 1);
		const double want = atof(at + 2 + len), is = calls_of(p, phase, name);

		wrong += fabs(want - is);
		known += is;
		*n_calls += want;
		at = strpbrk(at + 1, " \n");
	}
	for (size_t k = 0; k < p->n_kinds; k++)
		all += p->uses[k].n[phase];
	return wrong + all - known;
}

static void check_row(const char *row)
{
	static const enum jl_step_phase phases[] = { JL_PHASE_FORWARD, JL_PHASE_BACKWARD, JL_PHASE_UPDATE };
	char family[40], shown[60];
	struct jl_transformer model;
	struct jl_hf_run run = run_of(row);
	struct jl_program p;
	struct jl_arena arena;
	struct jl_err err = { 0 };
	struct jl_buf text;
	double wrong = 0, n_calls = 0;

	snprintf(family, sizeof(family), "%s", word(row, "family", ""));
	snprintf(shown, sizeof(shown), "%.*s", (int)strcspn(row + 4, " "), row + 4);
	model = model_of(row, family);
	run.type = family;
	jl_buf_init(&text, JL_PROGRAM_MAX_B);
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	if (jl_hf_program(&text, &model, &run, &err) ||
	    jl_program_read(&p, jl_buf_text(&text), text.len, shown, &arena, &err))
		fail_msg("%s: %s", shown, err.en);
	const char *line = strchr(row, '\n') + 1;

	for (size_t i = 0; i < JL_LEN(phases); i++)
		if (strncmp(line, jl_phase_names[phases[i]], strlen(jl_phase_names[phases[i]])) == 0) {
			wrong += differences(&p, phases[i], line, &n_calls);
			line = strchr(line, '\n') + 1;
		}
	assert_true(n_calls > 50);
	if (wrong > fmax(0.03 * n_calls, 12))
		fail_msg("%s: %.0f of %.0f calls differ", shown, wrong, n_calls);
	jl_arena_release(&arena);
	jl_buf_release(&text);
}

static void test_captures(void **state)
{
	struct jl_buf text;
	struct jl_err err = { 0 };
	int n = 0;

	(void)state;
	assert_int_equal(jl_buf_read_file(&text, FIXTURE, 8 << 20, &err), JL_OK);
	for (const char *at = strstr(text.data, "\nrow "); at; at = strstr(at + 1, "\nrow ")) {
		const char *end = strstr(at + 1, "\nrow ");
		char *row = strndup(at + 1, end ? (size_t)(end - at) : strlen(at + 1));

		assert_non_null(row);
		check_row(row);
		free(row);
		n++;
	}
	assert_true(n >= 50);
	jl_buf_release(&text);
}

/* Every allocation is freed, and all gradients exist. */
static void test_memory(void **state)
{
	static const char *const rows[] = {
		"row a family=llama layers=80 hidden=256 heads=4 kv_heads=2 ffn=640 checkpoint=1 "
		"vocab=1000 seq=64 batch=2 precision=amp-bf16",
		"row b family=mixtral layers=2 hidden=256 heads=4 kv_heads=2 ffn=640 "
		"vocab=1000 seq=64 batch=2 precision=bf16 experts=8 top=2",
		"row c family=gpt2 layers=2 hidden=256 heads=4 vocab=1000 seq=64 batch=2 "
		"precision=bf16 checkpoint=1 tied=1"
	};

	(void)state;
	for (size_t i = 0; i < JL_LEN(rows); i++) {
		char family[40];
		struct jl_hf_run run = run_of(rows[i]);
		struct jl_transformer model;
		struct jl_program p;
		struct jl_arena arena;
		struct jl_err err = { 0 };
		struct jl_buf text;
		double live_B = 0, params_B = 0;

		snprintf(family, sizeof(family), "%s", word(rows[i], "family", ""));
		model = model_of(rows[i], family);
		run.type = family;
		jl_buf_init(&text, JL_PROGRAM_MAX_B);
		jl_arena_init(&arena, JL_ARENA_LIMIT_B);
		assert_int_equal(jl_hf_program(&text, &model, &run, &err), JL_OK);
		assert_int_equal(jl_program_read(&p, jl_buf_text(&text), text.len, "a", &arena, &err), JL_OK);
		for (size_t a = 0; a < p.n_allocs; a++)
			live_B += p.allocs[a].freed ? -p.storages[p.allocs[a].storage].size_B
						    : p.storages[p.allocs[a].storage].size_B;
		params_B = jl_program_initial_B(&p, JL_STORAGE_PARAM);
		assert_true(fabs(live_B) < 0.001 * params_B);
		assert_true(jl_program_initial_B(&p, JL_STORAGE_STATE) == 2 * params_B);
		jl_arena_release(&arena);
		jl_buf_release(&text);
	}
}

/* Adapters beside frozen weights: trained parameters, their format, and the remaining gradients. */
static void test_lora(void **state)
{
	const char *row = "row a family=llama layers=3 hidden=256 heads=4 kv_heads=2 ffn=640 vocab=1000 seq=64 batch=2 "
			  "precision=bf16";
	static const struct {
		unsigned targets;
		double n; /* products per layer with an adapter */
	} cases[] = { { JL_TARGETS_ALL, 7 }, { JL_TARGET_Q | JL_TARGET_V, 2 } };

	(void)state;
	for (size_t i = 0; i < JL_LEN(cases); i++) {
		struct jl_transformer model = model_of(row, "llama");
		const struct jl_tune tune = { .kind = JL_TUNE_LORA, .rank = 8, .targets = cases[i].targets };
		struct jl_hf_run run = run_of(row);
		struct jl_program p;
		struct jl_arena arena;
		struct jl_err err = { 0 };
		struct jl_buf text;
		const double n = 3 * cases[i].n;

		model.gated = true;
		const double trained = jl_tune_params(&model, &tune);

		run.type = "llama";
		run.lora_rank = tune.rank;
		run.lora_targets = tune.targets;
		jl_buf_init(&text, JL_PROGRAM_MAX_B);
		jl_arena_init(&arena, JL_ARENA_LIMIT_B);
		assert_int_equal(jl_hf_program(&text, &model, &run, &err), JL_OK);
		assert_int_equal(jl_program_read(&p, jl_buf_text(&text), text.len, "a", &arena, &err), JL_OK);
		/* two fp32 moments, each rounded up to 512 bytes */
		assert_true(jl_program_initial_B(&p, JL_STORAGE_STATE) == 2 * 4 * trained);
		assert_true(calls_of(&p, JL_PHASE_FORWARD, "mm") == 3 * 7 + 1 + 2 * n);
		/* adapter: gradients of both weights and inputs; frozen product: gradient of its input, except in the first layer, whose input has
		 * none */
		assert_true(calls_of(&p, JL_PHASE_BACKWARD, "mm") == 4 * n - (cases[i].n > 2 ? 3 : 2) + 3 * 7 + 1 - 3);
		assert_true(calls_of(&p, JL_PHASE_BACKWARD, "embedding_dense_backward") == 0);
		jl_arena_release(&arena);
		jl_buf_release(&text);
	}
}

static void test_refusals(void **state)
{
	const struct jl_transformer model = { .n_layers = 1,
					      .hidden = 64,
					      .heads = 4,
					      .kv_heads = 4,
					      .head_dim = 16,
					      .ffn = 64,
					      .vocab = 100,
					      .causal = 1 };
	const struct jl_hf_run run = { .type = "mamba", .batch = 1, .seq = 8 };
	struct jl_buf text;
	struct jl_err err = { 0 };

	(void)state;
	jl_buf_init(&text, 1 << 20);
	assert_int_equal(jl_hf_program(&text, &model, &run, &err), JL_E_NOTFOUND);
	assert_non_null(strstr(err.en, "mamba"));
	assert_false(jl_hf_known("mamba"));
	assert_false(jl_hf_known(NULL));
	assert_true(jl_hf_known("qwen3"));
	jl_buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_captures),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_lora),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
