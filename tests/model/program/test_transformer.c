/* Transformers: parameters, FLOP, activations, kernels against published values. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "program/transformer.h"

#define LLAMA .gated = 1, .final_norm = 1, .causal = 1, .norm = JL_NORM_RMS, .head_tokens_frac = 1.0
#define GPT   .tied = 1, .bias = 1, .final_norm = 1, .causal = 1, .head_tokens_frac = 1.0

struct published {
	const char *name;
	struct jl_transformer model;
	double params;
};

/* Parameter counts as in the models' checkpoints. */
static const struct published models[] = {
	{ "bert-base",
	  { .n_layers = 12,
	    .hidden = 768,
	    .heads = 12,
	    .kv_heads = 12,
	    .head_dim = 64,
	    .ffn = 3072,
	    .vocab = 30522,
	    .n_positions = 512,
	    .n_types = 2,
	    .tied = 1,
	    .bias = 1,
	    .embed_norm = 1,
	    .pooler = 1 },
	  109482240 },
	{ "bert-large",
	  { .n_layers = 24,
	    .hidden = 1024,
	    .heads = 16,
	    .kv_heads = 16,
	    .head_dim = 64,
	    .ffn = 4096,
	    .vocab = 30522,
	    .n_positions = 512,
	    .n_types = 2,
	    .tied = 1,
	    .bias = 1,
	    .embed_norm = 1,
	    .pooler = 1 },
	  335141888 },
	{ "gpt2",
	  { .n_layers = 12,
	    .hidden = 768,
	    .heads = 12,
	    .kv_heads = 12,
	    .head_dim = 64,
	    .ffn = 3072,
	    .vocab = 50257,
	    .n_positions = 1024,
	    GPT },
	  124439808 },
	{ "gpt3-175b",
	  { .n_layers = 96,
	    .hidden = 12288,
	    .heads = 96,
	    .kv_heads = 96,
	    .head_dim = 128,
	    .ffn = 49152,
	    .vocab = 50257,
	    .n_positions = 2048,
	    GPT },
	  174604259328 },
	{ "llama-2-7b",
	  { .n_layers = 32,
	    .hidden = 4096,
	    .heads = 32,
	    .kv_heads = 32,
	    .head_dim = 128,
	    .ffn = 11008,
	    .vocab = 32000,
	    LLAMA },
	  6738415616 },
	{ "llama-3-8b",
	  { .n_layers = 32,
	    .hidden = 4096,
	    .heads = 32,
	    .kv_heads = 8,
	    .head_dim = 128,
	    .ffn = 14336,
	    .vocab = 128256,
	    LLAMA },
	  8030261248 },
	{ "llama-3-70b",
	  { .n_layers = 80,
	    .hidden = 8192,
	    .heads = 64,
	    .kv_heads = 8,
	    .head_dim = 128,
	    .ffn = 28672,
	    .vocab = 128256,
	    LLAMA },
	  70553706496 },
	{ "qwen2-7b",
	  { .n_layers = 28,
	    .hidden = 3584,
	    .heads = 28,
	    .kv_heads = 4,
	    .head_dim = 128,
	    .ffn = 18944,
	    .vocab = 152064,
	    .qkv_bias = 1,
	    LLAMA },
	  7615616512 },
	{ "qwen3-8b",
	  { .n_layers = 36,
	    .hidden = 4096,
	    .heads = 32,
	    .kv_heads = 8,
	    .head_dim = 128,
	    .ffn = 12288,
	    .vocab = 151936,
	    .qk_norm = 1,
	    LLAMA },
	  8190735360 },
	{ "mixtral-8x7b",
	  { .n_layers = 32,
	    .hidden = 4096,
	    .heads = 32,
	    .kv_heads = 8,
	    .head_dim = 128,
	    .ffn = 14336,
	    .vocab = 32000,
	    .moe = { .n_experts = 8, .top_k = 2, .expert_ffn = 14336 },
	    LLAMA },
	  46702792704 },
	{ "deepseek-v3",
	  { .n_layers = 61,
	    .hidden = 7168,
	    .heads = 128,
	    .kv_heads = 128,
	    .head_dim = 128,
	    .ffn = 18432,
	    .vocab = 129280,
	    .moe = { .n_experts = 256, .top_k = 8, .expert_ffn = 2048, .n_shared = 1, .n_dense_layers = 3 },
	    .mla = { .q_lora = 1536, .kv_lora = 512, .rope_dim = 64, .nope_dim = 128, .v_dim = 128 },
	    LLAMA },
	  671026404352 },
};

static const struct jl_transformer *find(const char *name)
{
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++)
		if (strcmp(models[i].name, name) == 0)
			return &models[i].model;
	fail_msg("no model %s", name);
	return NULL;
}

static void test_counts_are_the_published_ones(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		const double got = jl_transformer_params(&models[i].model).total;

		assert_int_equal(jl_transformer_check(&models[i].model, NULL), JL_OK);
		if (fabs(got - models[i].params) > 0.5)
			fail_msg("%s has %.0f parameters, not %.0f", models[i].name, got, models[i].params);
	}
}

static void test_mixtures_touch_few_parameters(void **state)
{
	(void)state;
	const struct jl_transformer_params mixtral = jl_transformer_params(find("mixtral-8x7b"));
	const struct jl_transformer_params deepseek = jl_transformer_params(find("deepseek-v3"));

	assert_true(fabs(mixtral.active / 12.88e9 - 1.0) < 0.01); /* published: 12.9 B */
	assert_true(fabs(deepseek.active / 37.5e9 - 1.0) < 0.02); /* published: 37 B, without the embedding */
	assert_true(deepseek.n_moe_layers == 58.0 && deepseek.n_dense_layers == 3.0);
}

/* 2 FLOP per parameter and token in layers and logits, plus 4 s h per layer for attention. */
static void test_flop_of_a_token(void **state)
{
	(void)state;
	const struct jl_transformer *m = find("llama-2-7b");
	const double layers = 32.0 * (4.0 * 4096.0 * 4096.0 + 3.0 * 4096.0 * 11008.0 + 2.0 * 4096.0);
	const double want = 2.0 * layers + 2.0 * 32000.0 * 4096.0 + 32.0 * 4.0 * 4096.0 * 4096.0;

	assert_true(fabs(jl_transformer_fwd_flop(m, 4096.0, 0) / want - 1.0) < 1e-12);
	assert_true(jl_transformer_fwd_flop(m, 4096.0, 1) < want);
}

static double list_gemm_flop(const struct jl_op_list *list)
{
	double flop = 0.0;

	for (size_t i = 0; i < list->n_op; i++)
		if (list->op[i].kind == JL_OP_GEMM)
			flop += 2.0 * list->op[i].u.gemm.m * list->op[i].u.gemm.n * list->op[i].u.gemm.k *
				list->op[i].u.gemm.batch;
	return flop;
}

static struct jl_shard shard_of(double tp)
{
	return (struct jl_shard){ .micro_batch = 2,
				  .seq = 1024,
				  .tp = tp,
				  .cp = 1,
				  .ep = 1,
				  .flash = 1,
				  .dtype = JL_BF16,
				  .act_dtype = JL_BF16 };
}

static void test_operators_do_the_parameters_work(void **state)
{
	(void)state;
	const struct jl_transformer *m = find("llama-3-8b");
	const struct jl_transformer_params p = jl_transformer_params(m);
	struct jl_op_list list;
	double whole = 0.0;

	for (double tp = 1.0; tp <= 8.0; tp *= 2.0) {
		const struct jl_shard shard = shard_of(tp);

		jl_transformer_ops(m, &shard, JL_BLOCK_DENSE, &list);
		assert_true(list.n_op < JL_MAX_OPS);
		if (tp == 1.0)
			whole = list_gemm_flop(&list);
		assert_true(fabs(list_gemm_flop(&list) * tp / whole - 1.0) < 1e-12);
	}
	/* norms have parameters but no products */
	assert_true(fabs(whole / (2.0 * 2048.0 * (p.dense_layer - 2.0 * 4096.0)) - 1.0) < 1e-12);
}

static void test_longest_lists_fit(void **state)
{
	(void)state;
	const char *const names[] = { "deepseek-v3", "mixtral-8x7b", "bert-large", "gpt3-175b" };
	struct jl_op_list list;

	for (size_t i = 0; i < 4; i++)
		for (int k = 0; k < JL_N_BLOCK; k++) {
			struct jl_shard shard = shard_of(1.0);

			shard.dtype = JL_FP8;
			shard.tune = (struct jl_tune){ .kind = JL_TUNE_DORA,
						       .base = JL_BASE_NF4,
						       .rank = 16.0,
						       .targets = JL_TARGETS_ALL,
						       .dropout = 1 };
			if (k == JL_BLOCK_MOE && !(find(names[i])->moe.n_experts > 0.0))
				continue;
			jl_transformer_ops(find(names[i]), &shard, (enum jl_block_kind)k, &list);
			assert_true(list.n_op < JL_MAX_OPS);
		}
}

/* Korthikanti et al. 2022, table 2: a layer keeps s b h (34 + 5 a s / h) bytes; with tensor parallelism s b h (10 + 24/t + 5 a s / (h t)); with
 * sequence parallelism all of it divided by t. */
static void test_activations_of_a_layer(void **state)
{
	(void)state;
	struct jl_transformer m = *find("gpt3-175b");
	const double s = 2048.0, b = 1.0, h = 12288.0, a = 96.0;
	struct jl_op_list list;

	m.dropout = 1;
	for (double t = 1.0; t <= 8.0; t *= 2.0)
		for (int sp = 0; sp <= 1; sp++) {
			struct jl_shard shard = { .micro_batch = b,
						  .seq = s,
						  .tp = t,
						  .cp = 1,
						  .ep = 1,
						  .sp = sp,
						  .dtype = JL_FP16,
						  .act_dtype = JL_FP16 };
			double saved_B = 0.0;
			const double want = s * b * h * ((sp ? 10.0 / t : 10.0) + 24.0 / t + 5.0 * a * s / (h * t));

			jl_transformer_ops(&m, &shard, JL_BLOCK_DENSE, &list);
			for (size_t i = 0; i < list.n_op; i++)
				saved_B += list.op[i].saved_B;
			if (fabs(saved_B / want - 1.0) > 1e-9)
				fail_msg("t %g sp %d: %g bytes, not %g", t, sp, saved_B, want);
		}
}

/* jeoul's own engine: the same products, no separate kernels for residuals and activations, nothing limited by instruction issue. */
static void test_own_kernels(void **state)
{
	struct jl_shard shard = { .micro_batch = 4,
				  .seq = 512,
				  .tp = 1,
				  .cp = 1,
				  .ep = 1,
				  .flash = 1,
				  .dtype = JL_BF16,
				  .act_dtype = JL_BF16 };
	double products[2] = { 0 }, launches[2] = { 0 }, moved[2] = { 0 };

	(void)state;
	for (int own = 0; own < 2; own++) {
		struct jl_op_list list;

		shard.fusion = own ? JL_FUSION_OWN : JL_FUSION_HAND;
		jl_transformer_ops(find("gpt2"), &shard, JL_BLOCK_DENSE, &list);
		for (size_t i = 0; i < list.n_op; i++) {
			const struct jl_op *op = &list.op[i];

			launches[own] += op->n_kernels + op->n_back;
			products[own] += op->kind == JL_OP_GEMM;
			moved[own] += op->kind == JL_OP_STREAM ? op->u.stream.moved_B + op->back.moved_B : 0;
			assert_true(!own || op->kind != JL_OP_STREAM ||
				    (op->u.stream.clocks == 0 && op->back.clocks == 0));
		}
	}
	assert_true(products[0] == 4 && products[1] == 4);
	assert_true(launches[1] == launches[0] - 6); /* two residuals and an activation, forward and backward */
	assert_true(moved[1] < 0.6 * moved[0]);
}

static void test_impossible_shapes_are_refused(void **state)
{
	(void)state;
	struct jl_transformer m = *find("llama-3-8b");
	struct jl_err err = { 0 };

	m.n_layers = 1e18;
	assert_int_equal(jl_transformer_check(&m, &err), JL_E_RANGE);
	assert_non_null(strstr(err.en, "layers"));
	m = *find("llama-3-8b");
	m.hidden = NAN;
	assert_int_equal(jl_transformer_check(&m, &err), JL_E_RANGE);
	m = *find("llama-3-8b");
	m.kv_heads = 7;
	assert_int_equal(jl_transformer_check(&m, &err), JL_E_RANGE);
	m = *find("mixtral-8x7b");
	m.moe.top_k = 9;
	assert_int_equal(jl_transformer_check(&m, &err), JL_E_RANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts_are_the_published_ones),
		cmocka_unit_test(test_mixtures_touch_few_parameters),
		cmocka_unit_test(test_flop_of_a_token),
		cmocka_unit_test(test_operators_do_the_parameters_work),
		cmocka_unit_test(test_longest_lists_fit),
		cmocka_unit_test(test_activations_of_a_layer),
		cmocka_unit_test(test_own_kernels),
		cmocka_unit_test(test_impossible_shapes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
