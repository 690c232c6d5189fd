/* Sets of training runs: reading of rows, plans for unstated values, command lines. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "row_cells.h"
#include "../../model/a100.h"
#include "rows/set_llm.h"
#include "catalog/find.h"
#include "rows/set_rows.h"
#include "score/validate.h"
#include "catalog/catalog.h"

static double ln_time(const struct jl_llm_row *row, const double *x)
{
	struct jl_llm_prediction p;

	if (row->unscored || isnan(row->meas_s))
		return NAN;
	jl_llm_predict(row, x, NULL, &p);
	return log(p.step_s / row->meas_s);
}

/* An unknown GPU is named in the error. */
static enum jl_status find_in_catalog(void *ctx, const char *text, struct jl_llm_gpu *ret_gpu, struct jl_err *err)
{
	const struct jl_catalog *cat = ctx;
	const struct jl_gpu *gpu = jl_find_spelt_gpu(cat, text, err);

	if (!gpu)
		return JL_E_NOTFOUND;
	jl_llm_gpu_of(ret_gpu, cat, gpu);
	return JL_OK;
}

static enum jl_status find_gpu(void *ctx, const char *text, struct jl_llm_gpu *ret_gpu, struct jl_err *err)
{
	(void)ctx;
	if (strcmp(text, "A100 SXM 80GB") != 0 && strcmp(text, "H100 SXM 80GB") != 0)
		return jl_fail(err, JL_E_NOTFOUND, "no GPU '%s'", text);
	*ret_gpu = (struct jl_llm_gpu){ .index = -1, .dev = a100(), .p2p = 1 };
	if (text[0] == 'H') { /* approximate values suffice for reading rows */
		ret_gpu->dev.arch = jl_arch_by_id("hopper");
		ret_gpu->dev.priors = &jl_arch_family(ret_gpu->dev.arch)->priors;
		ret_gpu->dev.peak_flopps[JL_FP8] = 1979e12;
		ret_gpu->dev.peak_flopps[JL_BF16] = 989e12;
	}
	return JL_OK;
}

static const struct jl_llm_find find = { .gpu = find_gpu };

/* A row as written in its source. */
#define ROW_CELLS                                                                                                      \
	gpu, n_gpus, nodes, intra_link, inter_link, framework, task, model, params_b, layers, hidden, heads, kv_heads, \
		ffn, seq_len, vocab, tp, pp, vp, dp, cp, ep, zero_or_fsdp, micro_batch, global_batch, precision,       \
		recompute, flash_attn, mem_gib_per_gpu, primary_metric, primary_value, remark, split_group, codebase
struct row_cells {
	jl_cell ROW_CELLS;
};

static enum jl_status read_cells(const struct row_cells *cells, const struct jl_llm_find *how,
				 struct jl_llm_row *ret_row, struct jl_err *err)
{
	const struct row_cells_of row = { CELL_NAMES(ROW_CELLS), (const jl_cell *)(const void *)cells };
	const struct jl_row_cells at = { .at = row_cell_at, .ctx = &row };
	struct jl_llm_cells own;
	struct jl_llm_text said;
	struct jl_phrases phrases;
	struct jl_arena arena;

	jl_arena_init(&arena, 1 << 20);
	enum jl_status status = row_cells_fill((jl_cell *)(void *)&own, CELL_NAMES(JL_LLM_CELLS), &row, "train_llm",
					       &arena, err);

	if (!status)
		status = jl_phrases_of(&phrases, "train_llm", &arena, err);
	if (!status)
		status = jl_llm_text_read(&said, &phrases, &at, &arena, err);
	if (!status)
		status = jl_llm_row_read(&own, &said, how, ret_row, err);
	jl_arena_release(&arena);
	return status;
}

/* Korthikanti et al. 2022. */
static struct row_cells megatron_175b(void)
{
	return (struct row_cells){
		.gpu = "A100 SXM 80GB",
		.n_gpus = "64",
		.nodes = "8",
		.intra_link = "NVSwitch",
		.inter_link = "not stated",
		.framework = "Megatron-LM",
		.task = "pretrain",
		.model = "gpt3-175B",
		.params_b = "",
		.layers = "96",
		.hidden = "12288",
		.heads = "96",
		.kv_heads = "96",
		.ffn = "49152",
		.seq_len = "2048",
		.vocab = "51200",
		.tp = "8",
		.pp = "8",
		.vp = "3",
		.dp = "1",
		.cp = "1",
		.ep = "",
		.zero_or_fsdp = "",
		.micro_batch = "1",
		.global_batch = "64",
		.precision = "fp16",
		.recompute = "selective+seqpar",
		.flash_attn = "n",
		.mem_gib_per_gpu = "",
		.primary_metric = "s_per_iter",
		.primary_value = "13.75",
		.remark = "mode seqsel",
		.split_group = "korthikanti2022|A100",
	};
}

static struct jl_llm_row read_row(const struct row_cells *cells)
{
	struct jl_llm_row row;
	struct jl_err err = { 0 };

	if (read_cells(cells, &find, &row, &err) != JL_OK)
		fail_msg("%s", err.en);
	return row;
}

static void test_a_row_becomes_a_plan(void **state)
{
	(void)state;
	const struct row_cells cells = megatron_175b();
	const struct jl_llm_row row = read_row(&cells);

	assert_true(row.plan.tp == 8.0 && row.plan.pp == 8.0 && row.plan.n_chunks == 3.0 && row.plan.n_micro == 64.0);
	assert_true(row.plan.sp == 1 && row.plan.recompute == JL_RECOMPUTE_SELECTIVE && row.shard.dtype == JL_FP16);
	assert_int_equal(row.framework, JL_FW_MEGATRON);
	assert_true(row.meas_s == 13.75 && isnan(row.meas_mem_B));
	assert_true(row.assumed & JL_ASSUMED_NETWORK);
}

static void test_the_start_is_near_a_known_run(void **state)
{
	(void)state;
	enum { MAX_PARAMS = 1000 };
	static double x[MAX_PARAMS];
	const struct row_cells cells = megatron_175b();
	const struct jl_llm_row row = read_row(&cells);

	assert_true(jl_llm_params(0, NULL).n < MAX_PARAMS);
	jl_llm_start(0, x);
	const double ln = ln_time(&row, x);

	if (!(fabs(ln) < 0.2))
		fail_msg("ln(pred/meas) is %g", ln);
}

static void test_metrics_agree_with_each_other(void **state)
{
	(void)state;
	struct row_cells cells = megatron_175b();

	/* NeMo's table gives both for Llama 2 7B on eight H100: 16,847 tokens/s and 776 TFLOP/s per GPU. */
	cells.gpu = "H100 SXM 80GB";
	cells.framework = "NeMo";
	cells.model = "LLAMA2-7B";
	cells.params_b = "6.738";
	cells.layers = "32", cells.hidden = "4096", cells.heads = "32", cells.kv_heads = "32", cells.ffn = "11008";
	cells.vocab = "32000", cells.seq_len = "4096", cells.n_gpus = "8", cells.nodes = "1", cells.split_group = "x";
	cells.tp = cells.pp = cells.vp = "1", cells.dp = "8", cells.global_batch = "128", cells.precision = "fp8";
	cells.recompute = "not stated", cells.flash_attn = "y";
	cells.primary_metric = "tokens_per_s_per_gpu", cells.primary_value = "16847";
	const double by_tokens = read_row(&cells).meas_s;

	cells.primary_metric = "tflops_per_gpu", cells.primary_value = "776";
	const double by_flop = read_row(&cells).meas_s;

	assert_true(fabs(by_tokens / by_flop - 1.0) < 0.01);
	cells.primary_metric = "samples_per_s", cells.primary_value = "-1";
	assert_non_null(read_row(&cells).unscored);
}

static void test_spellings(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		enum jl_framework want;
	} frameworks[] = {
		{ "2 OneFlow W/O clip", JL_FW_NATIVE },     { "ColossalAI", JL_FW_GENERAL },
		{ "Composer/FSDP", JL_FW_EAGER },           { "InternEvo", JL_FW_MEGATRON },
		{ "NGC PyTorch bsz=48", JL_FW_NATIVE },     { "NGC TensorFlow 1.x w/XLA bsz=96", JL_FW_COMPILED },
		{ "NGC TensorFlow 1.x", JL_FW_EAGER },      { "NeMo/Megatron-Core", JL_FW_MEGATRON },
		{ "PyTorch FSDP+compile", JL_FW_COMPILED }, { "PyTorch 2.1 eager (HF)", JL_FW_EAGER },
		{ "never heard of", JL_FW_GENERAL },
	};
	static const struct {
		const char *text;
		int zero;
		double shard;
	} zeros[] = {
		{ "DDP", 0, 0 },
		{ "FSDP SHARD_GRAD_OP", 3, 0 },
		{ "FSDP2", 3, 0 },
		{ "HSDP", 3, 8 },
		{ "ZeRO-0", 0, 0 },
		{ "ZeRO-1 (zero1=-1)", 1, 0 },
		{ "ZeRO-1 (zero1=4)", 1, 4 },
		{ "zero2(dp8)", 2, 0 },
		{ "none", 0, 0 },
		{ "distributed optimizer (not stated)", 1, 0 },
	};
	struct row_cells cells = megatron_175b();

	for (size_t i = 0; i < sizeof(frameworks) / sizeof(frameworks[0]); i++) {
		cells.framework = frameworks[i].text;
		if (read_row(&cells).framework != frameworks[i].want)
			fail_msg("framework '%s'", frameworks[i].text);
	}
	for (size_t i = 0; i < sizeof(zeros) / sizeof(zeros[0]); i++) {
		cells.zero_or_fsdp = zeros[i].text;
		const struct jl_llm_row row = read_row(&cells);

		if (row.plan.zero != zeros[i].zero || row.plan.shard != zeros[i].shard)
			fail_msg("'%s' is ZeRO-%d over %g", zeros[i].text, row.plan.zero, row.plan.shard);
	}
}

/* No sharding beyond the source's: a single device, or a named form of data parallelism. */
static void test_named_data_parallelism_cuts_nothing_else(void **state)
{
	static const char *const ways[] = { "FSDP FULL_SHARD", "FSDP SHARD_GRAD_OP", "DDP", "zero2", "HSDP" };
	struct row_cells cells = megatron_175b();

	(void)state;
	cells.framework = "Composer/FSDP";
	cells.tp = cells.pp = cells.vp = cells.dp = "";
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		cells.zero_or_fsdp = ways[i];
		const struct jl_llm_row row = read_row(&cells);

		assert_true(row.plan.tp == 1.0 && row.plan.pp == 1.0 && row.plan.dp == 64.0);
		assert_false(row.assumed & JL_ASSUMED_PLAN);
		assert_true(row.assumed & JL_ASSUMED_FRAMEWORK); /* parameters fitted to similar frameworks */
	}
	cells.zero_or_fsdp = "";
	assert_true(read_row(&cells).assumed & JL_ASSUMED_PLAN);
	cells.n_gpus = cells.nodes = "1";
	assert_false(read_row(&cells).assumed & JL_ASSUMED_PLAN);
}

static void test_cells_that_are_missing_or_say_more(void **state)
{
	struct row_cells cells = megatron_175b();

	(void)state;
	cells.framework = "OneFlow bsz=160", cells.micro_batch = cells.global_batch = "";
	assert_true(read_row(&cells).shard.micro_batch == 160.0);
	cells = megatron_175b();
	cells.heads = "", cells.hidden = "1024", cells.kv_heads = "16"; /* heads of 64: whole groups */
	assert_true(read_row(&cells).model.heads == 16.0);
	/* a corrected width need not be a multiple of the heads */
	cells = megatron_175b();
	cells.params_b = "203", cells.layers = "94", cells.hidden = "13312", cells.heads = "104",
	cells.kv_heads = "104";
	assert_true(read_row(&cells).model.head_dim >= 100.0);
	/* the compiler includes the loss in PyTorch, but not in torchtitan, which compiles layers */
	cells = megatron_175b();
	cells.framework = "PyTorch FSDP+compile";
	assert_int_equal(read_row(&cells).loss, JL_LOSS_COMPILED);
	cells.framework = "torchtitan", cells.remark = "FSDP+compile";
	assert_int_equal(read_row(&cells).loss, JL_LOSS_FUSED);
}

static void test_mixtures_are_the_catalogs(void **state)
{
	struct row_cells cells = megatron_175b();

	(void)state;
	cells.model = "mixtral-8x7b truncated", cells.params_b = "46.7", cells.layers = "4", cells.vocab = "";
	const struct jl_transformer m = read_row(&cells).model;

	assert_true(m.n_layers == 4.0 && m.hidden == 4096.0 && m.moe.n_experts == 8.0 && m.moe.top_k == 2.0);
}

/* If a stated width contradicts the size in the model's name, the name is used. */
static void test_contradicting_shapes_are_mended(void **state)
{
	(void)state;
	struct row_cells cells = megatron_175b();

	cells.model = "GPT-195B", cells.params_b = "195", cells.layers = "106", cells.hidden = "13824",
	cells.ffn = "55296";
	cells.vocab = "250000";
	assert_true(read_row(&cells).model.hidden == 12288.0);
	cells.layers = "", cells.params_b = "183", cells.hidden = "14400", cells.ffn = "57600";
	assert_true(read_row(&cells).model.n_layers == 72.0);
}

static void test_an_unknown_gpu_is_named(void **state)
{
	(void)state;
	struct row_cells cells = megatron_175b();
	struct jl_llm_row row;
	struct jl_err err = { 0 };

	cells.gpu = "RTX 9999";
	assert_int_equal(read_cells(&cells, &find, &row, &err), JL_E_NOTFOUND);
	assert_non_null(strstr(err.en, "RTX 9999"));
}

/* Every spelling of a GPU in the sets, and in further rows of their kind. */
static void test_every_gpu_is_known(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"A10",
		"A100 40GB",
		"A100 80GB",
		"A100 PCIe 40GB",
		"A100 PCIe 80GB",
		"A100 SXM 40GB",
		"A100 SXM 80GB",
		"A40",
		"A800 80GB",
		"B200 SXM",
		"GH200",
		"GTX 1080 Ti",
		"H100 PCIe 80GB",
		"H100 SXM 80GB",
		"H100 SXM 96GB HBM2e 500W",
		"H200 SXM 141GB",
		"L4",
		"Quadro RTX 5000",
		"Quadro RTX 6000",
		"Quadro RTX 8000",
		"RTX 2080 Ti",
		"RTX 3070",
		"RTX 3080",
		"RTX 3090",
		"RTX 4090",
		"RTX 6000 Ada",
		"RTX A4000",
		"RTX A4500",
		"RTX A5000",
		"RTX A5500",
		"RTX A6000",
		"Titan RTX",
		"V100 32GB",
		"V100 PCIe 32GB",
		"V100 SXM2 16GB",
		"V100 SXM2 32GB",
	};
	union {
		const struct jl_catalog *cat;
		void *ctx;
	} u = { .cat = jl_catalog_embedded() };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct jl_llm_gpu gpu;
		struct jl_err err = { 0 };

		if (find_in_catalog(u.ctx, texts[i], &gpu, &err) != JL_OK)
			fail_msg("%s", err.en);
		assert_true(gpu.dev.fit.gemm_frac[JL_FP32] > 0.0 && gpu.dev.mem_B > 0.0);
	}
}

/* The shipped values on a well-known run: 13.75 s, within 10 %. */
static void test_the_shipped_fit(void **state)
{
	(void)state;
	enum { MAX_PARAMS = 1000 };
	static double x[MAX_PARAMS];
	union {
		const struct jl_catalog *cat;
		void *ctx;
	} u = { .cat = jl_catalog_embedded() };
	const struct jl_llm_find catalog = { .gpu = find_in_catalog, .ctx = u.ctx };
	const struct row_cells cells = megatron_175b();
	struct jl_llm_row row;
	struct jl_err err = { 0 };

	assert_true(jl_llm_params(1, NULL).n < MAX_PARAMS);
	if (read_cells(&cells, &catalog, &row, &err) != JL_OK)
		fail_msg("%s", err.en);
	assert_true(jl_llm_read(u.cat, jl_gpu_chip(u.cat, jl_gpu_by_id(u.cat, row.gpu.id))->id, x));
	row.gpu.index = 0;
	assert_true(fabs(ln_time(&row, x)) < 0.095);
	const struct jl_known known = jl_known_of(u.cat);
	struct jl_prediction p;
	struct jl_case c;

	jl_llm_case(&c, &row, x, &known);
	jl_predict(&p, NULL, &c);
	assert_true(fabs(log(p.step_s.value / row.meas_s) - ln_time(&row, x)) < 1e-12);
	assert_true(p.half_ln > 0.1 && p.half_ln < 0.5);
}

static void test_a_fit_comes_nearer(void **state)
{
	(void)state;
	enum { MAX_PARAMS = 1000 };
	static double x[MAX_PARAMS], y[MAX_PARAMS];
	struct row_cells cells = megatron_175b();
	struct jl_llm_row rows[2];
	struct jl_err err = { 0 };

	rows[0] = read_row(&cells);
	cells.recompute = "full", cells.primary_value = "18.13";
	rows[1] = read_row(&cells);
	rows[0].meas_s *= 1.3; /* gives the fit an error to correct */
	rows[1].meas_s *= 1.3;
	const struct jl_llm_set set = { .n_row = 2, .rows = rows, .memory_weight = 1.0 };

	jl_llm_start(0, x);
	jl_llm_start(0, y);
	const double before = fabs(ln_time(&rows[0], x));

	assert_int_equal(jl_llm_fit(&set, NULL, 5, x, NULL, &err), JL_OK);
	assert_true(fabs(ln_time(&rows[0], x)) < before);
	assert_int_equal(jl_llm_fit(&set, NULL, 5, y, NULL, &err), JL_OK);
	assert_memory_equal(x, y, jl_llm_params(0, NULL).n * sizeof(double));
}

/* 100 steps of 2,560 samples exceed two passes over SQuAD, but the script counts all of them. */
static void test_samples_that_were_never_run(void **state)
{
	(void)state;
	struct row_cells cells = megatron_175b();

	cells.framework = "NVIDIA DeepLearningExamples PyTorch";
	cells.task = "BERT SQuAD finetune";
	cells.model = "BERT-base";
	cells.layers = cells.hidden = cells.heads = cells.kv_heads = cells.ffn = cells.tp = cells.pp = cells.vp = "";
	cells.n_gpus = "8";
	cells.nodes = "1";
	cells.seq_len = "384";
	cells.micro_batch = "1280";
	cells.global_batch = cells.recompute = "";
	cells.primary_metric = "samples_per_s";
	cells.primary_value = "1000";
	assert_true(fabs(read_row(&cells).meas_s - 1.28) < 1e-9);
	cells.micro_batch = "2560";
	assert_true(fabs(read_row(&cells).meas_s - 2.56 * 256000.0 / 177282.0) < 1e-9);
}

/* Four samples on 1,024 devices without context parallelism: the remaining factor is tensor and pipeline parallelism, at any cost. */
static void test_no_rank_without_a_sample(void **state)
{
	(void)state;
	struct row_cells cells = megatron_175b();

	cells.framework = "NeMo";
	cells.model = "LLAMA2-7B";
	cells.layers = "32";
	cells.hidden = "4096";
	cells.heads = cells.kv_heads = "32";
	cells.ffn = "11008";
	cells.vocab = "32000";
	cells.n_gpus = "1024";
	cells.nodes = "128";
	cells.seq_len = "131072";
	cells.flash_attn = "y";
	cells.tp = cells.pp = cells.vp = cells.dp = cells.micro_batch = "";
	cells.recompute = "unknown";
	cells.global_batch = "4";
	const struct jl_llm_row row = read_row(&cells);

	assert_true(row.assumed & JL_ASSUMED_PLAN);
	assert_true(row.plan.dp <= 4.0 && row.plan.dp * row.plan.tp * row.plan.pp == 1024.0);
	assert_true(row.plan.n_micro * row.plan.dp * row.shard.micro_batch == 4.0 && row.shard.tp == row.plan.tp);
}

/* A row as a jeoul command: only stated options, and its codebase's name if known. */
static void test_a_row_becomes_a_command(void **state)
{
	struct row_cells cells = megatron_175b();
	struct jl_llm_row row = read_row(&cells);
	struct jl_buf text;

	(void)state;
	jl_buf_init(&text, 1 << 12);
	row.gpu.id = "a100-sxm4-80gb";
	jl_llm_command(&text, &row, false);
	assert_string_equal(
		jl_buf_text(&text),
		"jeoul predict --layers 96 --hidden 12288 --heads 96 --kv-heads 96 --ffn 49152 --vocab 51200"
		" --on \"8x(8x a100-sxm4-80gb)\" --micro-batch 1 --global-batch 64 --seq 2048 --precision fp16"
		" --framework megatron-lm --recompute selective --flash no"
		" --parallel dp=1,tp=8,sp=1,pp=8,vpp=3,zero=0");
	/* predict has no option for 4-bit products: no command instead of a wrong one */
	jl_buf_reset(&text);
	row.fp8_gain = 1.5;
	jl_llm_command(&text, &row, false);
	assert_string_equal(jl_buf_text(&text), "");
	jl_buf_release(&text);
}

/* The codebase column takes precedence over the framework's name; CUDA graphs have no launches. */
static void test_codebases_of_rows(void **state)
{
	static double x[1000];
	struct row_cells cells = megatron_175b();
	struct jl_llm_prediction launched, replayed;
	struct jl_llm_row row = read_row(&cells);

	(void)state;
	assert_string_equal(jl_codebases[row.codebase].id, "megatron-lm");
	cells.codebase = "nemo";
	assert_string_equal(jl_codebases[read_row(&cells).codebase].id, "nemo");
	cells.codebase = "", cells.framework = "PyTorch FSDP";
	assert_int_equal(read_row(&cells).codebase, -1);
	jl_llm_start(0, x);
	jl_llm_predict(&row, x, NULL, &launched);
	row.graphs = 1;
	jl_llm_predict(&row, x, NULL, &replayed);
	assert_true(replayed.step.host_s < launched.step.host_s && replayed.step_s < launched.step_s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_row_becomes_a_plan),
		cmocka_unit_test(test_the_start_is_near_a_known_run),
		cmocka_unit_test(test_metrics_agree_with_each_other),
		cmocka_unit_test(test_spellings),
		cmocka_unit_test(test_named_data_parallelism_cuts_nothing_else),
		cmocka_unit_test(test_cells_that_are_missing_or_say_more),
		cmocka_unit_test(test_mixtures_are_the_catalogs),
		cmocka_unit_test(test_samples_that_were_never_run),
		cmocka_unit_test(test_no_rank_without_a_sample),
		cmocka_unit_test(test_contradicting_shapes_are_mended),
		cmocka_unit_test(test_an_unknown_gpu_is_named),
		cmocka_unit_test(test_every_gpu_is_known),
		cmocka_unit_test(test_the_shipped_fit),
		cmocka_unit_test(test_a_fit_comes_nearer),
		cmocka_unit_test(test_a_row_becomes_a_command),
		cmocka_unit_test(test_codebases_of_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
