/* Fine-tuning: trained parameters, memory of optimizers and packed weights. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "catalog/find.h"
#include "program/transformer.h"
#include "program/train.h"
#include "program/tune.h"

static struct jl_transformer model_of(const char *id)
{
	const struct jl_model_info *info;
	struct jl_transformer m;
	struct jl_err err;

	assert_int_equal(jl_find_model(&info, jl_catalog_embedded(), id, &err), JL_OK);
	jl_transformer_from_catalog(&m, info);
	return m;
}

/* As printed by peft and LitGPT. */
static void test_trained_parameters(void **state)
{
	(void)state;
	static const struct {
		const char *model;
		struct jl_tune tune;
		double params;
	} runs[] = {
		{ "llama-3-8b", { .kind = JL_TUNE_LORA, .rank = 16, .targets = JL_TARGETS_ALL }, 41943040 },
		{ "llama-2-7b", { .kind = JL_TUNE_LORA, .rank = 8, .targets = JL_TARGET_Q | JL_TARGET_V }, 4194304 },
		{ "llama-2-13b", { .kind = JL_TUNE_LORA, .rank = 8, .targets = JL_TARGET_Q | JL_TARGET_V }, 6553600 },
		{ "llama-3.2-3b", { .kind = JL_TUNE_LORA, .rank = 32, .targets = JL_TARGET_Q | JL_TARGET_V }, 9175040 },
		{ "llama-3.2-3b", { .kind = JL_TUNE_DORA, .rank = 32, .targets = JL_TARGET_Q | JL_TARGET_V }, 9289728 },
	};

	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
		const struct jl_transformer m = model_of(runs[i].model);
		const double got = jl_tune_params(&m, &runs[i].tune);

		if (got != runs[i].params)
			fail_msg("%s: %.0f, not %.0f", runs[i].model, got, runs[i].params);
	}
	const struct jl_transformer m = model_of("llama-3-8b");
	const struct jl_transformer_params p = jl_transformer_params(&m);

	assert_true(jl_tune_params(&m, &(struct jl_tune){ .kind = JL_TUNE_FULL }) == p.total);
	assert_true(jl_tune_params(&m, &(struct jl_tune){ .kind = JL_TUNE_LAYERS, .n_layers = 4 }) ==
		    4 * p.dense_layer);
}

static void test_packed_bases(void **state)
{
	(void)state;
	const struct jl_transformer m = model_of("llama-3-8b");
	const struct jl_transformer_params p = jl_transformer_params(&m);
	struct jl_tune tune = { .kind = JL_TUNE_LORA, .base = JL_BASE_NF4, .rank = 16, .targets = JL_TARGETS_ALL };
	struct jl_plan plan = { .weight_B = 4 };

	assert_true(fabs(8 * jl_base_B(JL_BASE_NF4, 2) - 4.127) < 1e-9 && 8 * jl_base_B(JL_BASE_NF4_1, 2) == 4.5);
	jl_tune_plan(&plan, &m, &tune, 2, 2);
	/* packed layers, both tables of 128,256 x 4,096 unpacked; adapters in fp32 */
	assert_true(fabs(p.total * jl_plan_held_B(&plan) -
			 ((p.total - p.embed - p.head) * 4.127 / 8 + (p.embed + p.head) * 2 + 41943040.0 * 4)) < 1.0);
	assert_true(plan.frozen_frac == 1.0);
	tune.ends = 1; /* tables trained whole */
	jl_tune_plan(&plan, &m, &tune, 2, 2);
	assert_true(fabs(plan.frozen_frac - (1 - (p.embed + p.head) / p.total)) < 1e-12);
	jl_tune_plan(&plan, &m, &(struct jl_tune){ .kind = JL_TUNE_FULL }, 2, 2);
	assert_true(plan.trained_frac == 1.0 && plan.frozen_frac == 0.0 && jl_plan_held_B(&plan) == 4.0);
}

static void test_optimizers(void **state)
{
	(void)state;
	static const double bytes[JL_N_OPTIMIZER] = {
		[JL_OPT_FOREACH] = 8,   [JL_OPT_FUSED] = 8,        [JL_OPT_ADAMW8] = 2.03,
		[JL_OPT_PAGED8] = 2.03, [JL_OPT_ADAFACTOR] = 0.01, [JL_OPT_LION] = 4,
		[JL_OPT_SGD] = 0,       [JL_OPT_MUON] = 4,         [JL_OPT_GALORE] = 12.0 / 32
	};

	for (int o = 0; o < JL_N_OPTIMIZER; o++) {
		struct jl_plan fp32 = { 0 }, mixed = { 0 };

		jl_plan_set_states(&fp32, JL_STATES_FP32);
		jl_plan_set_states(&mixed, JL_STATES_MIXED);
		jl_plan_set_optimizer(&fp32, (enum jl_optimizer)o, 128, 4096);
		jl_plan_set_optimizer(&mixed, (enum jl_optimizer)o, 128, 4096);
		if (fabs(fp32.optimizer_B - bytes[o]) > 1e-9)
			fail_msg("%s: %g bytes", jl_optimizer_name((enum jl_optimizer)o), fp32.optimizer_B);
		assert_true(fabs(mixed.optimizer_B - bytes[o] - 4) < 1e-9); /* plus a master copy */
	}
}

/* A frozen product has no weight gradient: backward costs as much as forward, plus dequantising in both. */
static void test_what_a_frozen_layer_costs(void **state)
{
	(void)state;
	const struct jl_transformer m = model_of("llama-3-8b");
	struct jl_shard shard = { .micro_batch = 1,
				  .seq = 2048,
				  .tp = 1,
				  .cp = 1,
				  .ep = 1,
				  .flash = 1,
				  .dtype = JL_BF16,
				  .act_dtype = JL_BF16,
				  .fusion = JL_FUSION_NONE };
	struct jl_op_list full, lora, bare, packed;
	double saved[4] = { 0 };

	jl_transformer_ops(&m, &shard, JL_BLOCK_DENSE, &full);
	shard.tune = (struct jl_tune){ .kind = JL_TUNE_LORA, .rank = 16, .targets = JL_TARGETS_ALL };
	jl_transformer_ops(&m, &shard, JL_BLOCK_DENSE, &lora);
	shard.tune.targets = 0;
	jl_transformer_ops(&m, &shard, JL_BLOCK_DENSE, &bare);
	shard.tune.base = JL_BASE_NF4;
	jl_transformer_ops(&m, &shard, JL_BLOCK_DENSE, &packed);
	const struct jl_op_list *const lists[] = { &full, &lora, &bare, &packed };

	for (size_t k = 0; k < 4; k++)
		for (size_t i = 0; i < lists[k]->n_op; i++) {
			const struct jl_op *op = &lists[k]->op[i];

			saved[k] += op->saved_B;
			if (op->kind == JL_OP_GEMM)
				assert_true(op->needs_dgrad && op->trained == (k == 0));
		}
	assert_true(saved[2] < saved[0] && saved[2] < saved[1] && saved[1] > saved[0]);
	assert_true(packed.beside_B == 2.0 * 14336 * 4096 * 2 && bare.beside_B == 0.0); /* gate and up, in 16 bits */
}

static void test_padding(void **state)
{
	(void)state;
	assert_true(jl_padded_seq(200, 2048, 1) == 200);
	assert_true(jl_padded_seq(200, 2048, 8) > jl_padded_seq(200, 2048, 4));
	assert_true(jl_padded_seq(200, 256, 1000) == 256);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trained_parameters),
		cmocka_unit_test(test_packed_bases),
		cmocka_unit_test(test_optimizers),
		cmocka_unit_test(test_what_a_frozen_layer_costs),
		cmocka_unit_test(test_padding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
