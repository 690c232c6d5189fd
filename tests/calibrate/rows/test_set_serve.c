/* Readers of infer_llm and serve_silicon: spellings, and defaults for unstated values. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rows/set_rows.h"
#include "rows/set_serve.h"
#include "catalog/find.h"
#include "parameters/device_params.h"
#include "system/resolve.h"
#include "program/served.h"

#define assert_near(a, b, within) assert_true(fabs((a) - (b)) <= (within))

struct cell {
	const char *column, *text;
};

static const char *own_at(const void *ctx, const char *column)
{
	for (const struct cell *cell = ctx; cell->column; cell++)
		if (strcmp(cell->column, column) == 0)
			return cell->text;
	return NULL;
}

/* Derived cell, as for a file without derived columns. */
static const char *made_at(const char *set, const void *ctx, const char *column)
{
	const struct jl_row_cells own = { .at = own_at, .ctx = ctx };
	static struct jl_arena arena = { .limit_B = JL_ARENA_LIMIT_B };
	static struct jl_phrases phrases;
	static const char *of = "";
	struct jl_err err;

	if (strcmp(of, set) != 0)
		assert_int_equal(jl_phrases_of(&phrases, set, &arena, &err), JL_OK);
	of = set;
	return jl_phrase_cell(&phrases, column, &own, &arena);
}

static const char *infer_at(const void *ctx, const char *column)
{
	return made_at("infer_llm", ctx, column);
}

static const char *silicon_at(const void *ctx, const char *column)
{
	return made_at("serve_silicon", ctx, column);
}

static enum jl_status find_gpu(void *ctx, const char *text, struct jl_serve_row *row, bool *ret_p2p, bool *ret_nvlink,
			       struct jl_err *err)
{
	(void)ctx;
	row->gpu = jl_find_spelt_gpu(jl_catalog_embedded(), text, err);
	if (!row->gpu)
		return JL_E_NOTFOUND;
	jl_resolve_device(&row->dev, jl_catalog_embedded(), row->gpu);
	*ret_p2p = *ret_nvlink = true;
	return JL_OK;
}

static struct jl_serve_find find(void)
{
	return (struct jl_serve_find){ .gpu = find_gpu, .cat = jl_catalog_embedded() };
}

/* All spellings in data/validation/SPELLINGS.md. */
static void test_engines(void **state)
{
	static const struct {
		const char *text;
		const char *engine;
	} cases[] = {
		{ "AutoAWQ 0.1.6 GEMM", "autoawq" },
		{ "AutoAWQ 0.1.6 GEMV", "autoawq-gemv" },
		{ "Exllama V2", "exllama2" },
		{ "exllamav2", "exllama2" },
		{ "exllama v1", "exllama" },
		{ "exllama", "exllama" },
		{ "FasterTransformer 5", "fastertransformer" },
		{ "Llama.cpp", "llamacpp" },
		{ "llama.cpp (May 2024, layer split)", "llamacpp-2024" },
		{ "llama.cpp (Nov 2025)", "llamacpp" },
		{ "MLC LLM", "mlc" },
		{ "MLC-LLM", "mlc" },
		{ "PyTorch 2.1 eager", "eager" },
		{ "SwissArmyTransformer", "eager" },
		{ "TensorRT-LLM 0.14 in-flight batching", "trtllm-0" },
		{ "TensorRT-LLM 1.0.0rc3", "trtllm-1.0" },
		{ "TensorRT-LLM 1.2", "trtllm" },
		{ "vLLM 0.6", "vllm-0.6" },
		{ "vllm 0.10.2", "vllm-0.8" },
		{ "vllm 0.13", "vllm-0.11" },
		{ "vllm 0.19.0", "vllm" },
		{ "sglang 0.5.10", "sglang" },
		{ "sglang nightly-dev", "sglang" },
		{ "trtllm", "trtllm" },
		{ "gpt-fast torch.compile", "gpt-fast" },
		{ "lmdeploy turbomind 0.2.0", "lmdeploy" },
		{ "vLLM", "vllm" },
		{ "sglang", "sglang" },
		{ "somebody's own", "general" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(jl_engine_id(jl_engine_by_text(cases[i].text)), cases[i].engine);
	/* default version for sources that state none, and backends for other vendors */
	assert_string_equal(jl_engine_id(jl_engine_of_source("Llama.cpp", "")), "llamacpp-2024");
	assert_string_equal(jl_engine_id(jl_engine_of_source("sglang", "0.5.9")), "sglang");
	assert_string_equal(jl_engine_id(jl_engine_on(jl_engine_by_text("vllm 0.6"), "AMD")), "vllm-0.6-rocm");
	assert_string_equal(jl_engine_id(jl_engine_on(jl_engine_by_text("vllm 0.6"), "NVIDIA")), "vllm-0.6");
}

/* A row inherits what it does not state, and is a separate engine otherwise. */
static void test_rows(void **state)
{
	const int old = jl_engine_by_text("vllm 0.6"), rocm = jl_engine_on(old, "AMD");

	(void)state;
	assert_true(jl_policy_of(old)->prompts_first && !jl_policy_of(jl_engine_by_text("vllm"))->prompts_first);
	assert_int_equal(jl_policy_of(rocm)->max_seqs, 256);
	assert_int_equal(jl_policy_of(rocm)->block_tokens, jl_policy_of(JL_ENGINE_GENERAL)->block_tokens);
	assert_true(jl_engine_info(rocm)->per_head && !jl_engine_info(old)->per_head);
	assert_true(jl_engine_is(rocm, "vllm") && !jl_engine_is(rocm, "sglang"));
	assert_int_equal(jl_engine_operators(rocm), jl_engine_operators(jl_engine_by_text("vllm")));
	assert_int_equal(jl_engine_operators(jl_engine_by_text("llama.cpp")), -1);
	for (int e = 0; e < jl_n_engine(); e++)
		assert_true(jl_policy_of(e)->max_seqs > 0 && jl_policy_of(e)->mem_frac > 0);
}

static void test_formats(void **state)
{
	static const struct {
		const char *text;
		double weight_B;
		int weight_only;
	} cases[] = {
		{ "4-bit", 0.55, 1 },         { "EXL2 2.5 bpw", 0.3125, 1 },
		{ "EXL2 5.0 bpw", 0.625, 1 }, { "F16", 2, 0 },
		{ "FP16 weight", 2, 0 },      { "FP8", 1, 0 },
		{ "INT4 weight", 0.52, 1 },   { "INT8 weight", 1, 1 },
		{ "Q4_K_M", 0.5995, 1 },      { "bfloat16", 2, 0 },
		{ "fp32 (TF32 off)", 4, 0 },  { "int4 AWQ", 0.53, 1 },
		{ "int4 GPTQ g-", 0.52, 1 },  { "int4 GPTQ g128", 0.52, 1 },
		{ "int4 GPTQ g32", 0.58, 1 }, { "int4 weight-only G32", 0.58, 1 },
		{ "int8 weight-only", 1, 1 }, { "fp4", 0.5625, 0 },
	};
	struct jl_serve_format format;
	struct jl_err err;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(jl_served_format(&format, cases[i].text, &err), JL_OK);
		assert_near(format.weight_B, cases[i].weight_B, 1e-9);
		assert_int_equal(format.weight_only, cases[i].weight_only);
	}
	assert_int_equal(jl_served_format(&format, "a colour", &err), JL_E_DATA);
}

static void test_a_rate_becomes_the_time_of_a_step(void **state)
{
	struct cell cells[] = { { "gpu", "RTX 3090" },
				{ "engine", "llama.cpp" },
				{ "model", "Llama-3 8B" },
				{ "dtype", "Q4_K_M" },
				{ "batch_or_concurrency", "1" },
				{ "in_len", "512" },
				{ "out_len", "0" },
				{ "n_gpus", "2" },
				{ "tp", "1" },
				{ "primary_metric", "tokens_per_s" },
				{ "tokens_per_s_kind", "prefill" },
				{ "primary_value", "1024" },
				{ NULL, NULL } };
	const struct jl_row_cells in = { .at = infer_at, .ctx = cells };
	const struct jl_serve_find with = find();
	struct jl_serve_row row;
	struct jl_err err;

	(void)state;
	assert_int_equal(jl_infer_row_read(&row, &in, &with, &err), JL_OK);
	assert_int_equal(row.run.metric, JL_METRIC_PREFILL);
	assert_near(row.meas_s, 0.5, 1e-12);
	assert_near(row.run.place.n_stages, 2, 0);
	assert_int_equal(row.run.n_assumed, 0);
	cells[10].text = "colour";
	assert_int_equal(jl_infer_row_read(&row, &in, &with, &err), JL_E_DATA);
	cells[10].text = "prefill";
	cells[0].text = "no such card";
	assert_int_not_equal(jl_infer_row_read(&row, &in, &with, &err), JL_OK);
}

static void test_requests_and_devices_of_a_server(void **state)
{
	struct cell cells[] = { { "system", "b200_sxm" },
				{ "backend", "vllm" },
				{ "model_path", "moonshotai/Kimi-K2.5" },
				{ "precision", "fp4" },
				{ "mode", "agg" },
				{ "isl", "1024" },
				{ "osl", "8192" },
				{ "batch_size", "2" },
				{ "tp_size", "4" },
				{ "attention_dp_size", "4" },
				{ "moe_ep_size", "16" },
				{ "silicon_data_source", "x; silicon_concurrency=8; y" },
				{ NULL, NULL } };
	const struct jl_row_cells in = { .at = silicon_at, .ctx = cells };
	const struct jl_serve_find with = find();
	const char *model = NULL;
	struct jl_serve_row row;
	struct jl_err err;

	(void)state;
	assert_int_equal(jl_silicon_row_read(&row, &model, &in, &with, &err), JL_OK);
	assert_string_equal(model, "kimi-k2");
	assert_near(row.run.n_requests, 8, 0);
	assert_near(row.run.place.n_gpus, 4, 0);
	assert_true(row.run.place.split_batch);
	assert_near(row.run.prefill.n_gpus, 0, 0);
	assert_near(row.run.hold + row.run.budget, 0, 0);
	/* options of the source's own launch script */
	cells[1].text = "sglang";
	cells[2].text = "deepseek-ai/DeepSeek-R1";
	assert_int_equal(jl_silicon_row_read(&row, &model, &in, &with, &err), JL_OK);
	assert_near(row.run.hold, 10, 0);
	assert_near(row.run.budget, 16384, 0);
	cells[11].text = "x; silicon_concurrency=64; y";
	assert_int_equal(jl_silicon_row_read(&row, &model, &in, &with, &err), JL_OK);
	assert_near(row.run.hold, 30, 0);
	cells[1].text = "trtllm";
	cells[11].text = "silicon_concurrency=64; measured=2025-11-01";
	assert_int_equal(jl_silicon_row_read(&row, &model, &in, &with, &err), JL_OK);
	assert_near(row.run.hold, 0, 0);
	assert_near(row.run.budget, 1024 + 64 + 64, 0);
	cells[11].text = "gap-analysis; silicon_concurrency=64"; /* other sources use the engines' defaults */
	assert_int_equal(jl_silicon_row_read(&row, &model, &in, &with, &err), JL_OK);
	assert_near(row.run.budget, 0, 0);
	cells[5].text = "0";
	assert_int_equal(jl_silicon_row_read(&row, &model, &in, &with, &err), JL_E_DATA);
}

/* The fit recovers the parameters that generated synthetic rows. */
static void test_the_fit_finds_what_made_the_rows(void **state)
{
	static struct jl_serve_row rows[400];
	struct jl_serve_row with = { .gpu = NULL };
	bool p2p, nvlink;
	double x[JL_SERVE_MAX_PARAMS], truth[JL_SERVE_MAX_PARAMS];
	struct jl_arena arena;
	struct jl_err err;
	const struct jl_model_info *info = NULL;

	(void)state;
	for (size_t i = 0; i < jl_catalog_embedded()->n_models; i++)
		if (strcmp(jl_catalog_embedded()->models[i].id, "llama-3-8b") == 0)
			info = &jl_catalog_embedded()->models[i];
	assert_non_null(info);
	assert_int_equal(find_gpu(NULL, "H100 SXM 80GB", &with, &p2p, &nvlink, &err), JL_OK);
	(void)jl_gemm_shipped(jl_catalog_embedded(), "h100-sxm5", &with.dev);
	const struct jl_op_fit ops = jl_op_shipped(jl_catalog_embedded(), with.dev.arch, JL_ENGINE_GENERAL);

	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	const struct jl_param_list params = jl_serve_params(JL_SCOPE_SERVE);

	for (size_t i = 0; i < params.n; i++) {
		struct jl_param param;

		jl_param_of(&params, i, &param);
		assert_true(param.lo <= param.prior && param.prior <= param.hi);
		x[i] = truth[i] = param.prior;
		if (strcmp(param.name, "serve.layer_s") == 0)
			truth[i] *= 3;
	}
	const struct jl_serve_fit made = jl_serve_fit_of(JL_SCOPE_SERVE, truth, with.dev.arch, JL_ENGINE_GENERAL);

	for (size_t i = 0; i < 400; i++) {
		rows[i] = with;
		rows[i].run =
			(struct jl_serve_run){ .model = jl_served_from_catalog(info),
					       .ops = &ops,
					       .format = { .dtype = JL_BF16,
							   .weight_B = 2,
							   .expert_B = 2,
							   .kv_B = 2,
							   .dense = JL_OP_BF16,
							   .experts = JL_OP_BF16 },
					       .place = { .n_gpus = 1, .n_stages = 1, .link_Bps = 1, .hop_gain = 1 },
					       .n_requests = 1 + (double)(i % 8),
					       .context = 10 * (double)i,
					       .metric = JL_METRIC_DECODE };
		assert_int_equal(jl_serve_row_plan(&rows[i], &arena, &err), JL_OK);
		rows[i].meas_s = jl_serve_plan_s(rows[i].plan, &rows[i].dev, &made, JL_METRIC_DECODE, NULL);
	}
	assert_int_equal(jl_serve_solve(JL_KNOWN_SERVE, rows, 400, NULL, 0, x, &err), JL_OK);
	const struct jl_serve_fit found = jl_serve_fit_of(JL_SCOPE_SERVE, x, with.dev.arch, JL_ENGINE_GENERAL);

	for (size_t i = 0; i < 400; i++)
		assert_true(fabs(log(jl_serve_plan_s(rows[i].plan, &rows[i].dev, &found, JL_METRIC_DECODE, NULL) /
				     rows[i].meas_s)) < 0.1);
	jl_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_engines),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_a_rate_becomes_the_time_of_a_step),
		cmocka_unit_test(test_requests_and_devices_of_a_server),
		cmocka_unit_test(test_the_fit_finds_what_made_the_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
