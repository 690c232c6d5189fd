/* Memory of training steps: ZeRO, offload, recompute, published values. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../a100.h"
#include "timeline/step.h"
#include "program/train.h"

static const struct jl_transformer llama = {
	.n_layers = 32,
	.hidden = 4096,
	.heads = 32,
	.kv_heads = 8,
	.head_dim = 128,
	.ffn = 14336,
	.vocab = 128256,
	.gated = 1,
	.final_norm = 1,
	.causal = 1,
	.norm = JL_NORM_RMS,
	.head_tokens_frac = 1.0,
};

static struct jl_train train_of(const struct jl_device *dev, const struct jl_fabric *fabric,
				const struct jl_profile *profile)
{
	struct jl_train t = {
		.model = &llama,
		.dev = dev,
		.fabric = fabric,
		.profile = profile,
		.plan = { .dp = 8,
			  .tp = 1,
			  .pp = 1,
			  .cp = 1,
			  .ep = 1,
			  .n_chunks = 1,
			  .n_micro = 4,
			  .trained_frac = 1.0 },
		.shard = { .micro_batch = 1,
			   .seq = 4096,
			   .tp = 1,
			   .cp = 1,
			   .ep = 1,
			   .flash = 1,
			   .dtype = JL_BF16,
			   .act_dtype = JL_BF16 },
		.memory = { .context_B = 1e9, .comm_B = 0.5e9, .waste_frac = 0.05, .buffer_frac = 0.05 },
	};

	jl_plan_set_states(&t.plan, JL_STATES_MIXED);
	return t;
}

static struct jl_memory memory_of(const struct jl_train *train)
{
	struct jl_train_blocks blocks;

	jl_train_blocks(train, &blocks);
	return jl_train_memory(train, &blocks);
}

static uint32_t draw(uint32_t *seed, uint32_t n)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (*seed >> 8) % n;
}

static void random_plan(uint32_t *seed, struct jl_train *t)
{
	t->plan.dp = (double)(1u << draw(seed, 6));
	t->plan.tp = t->shard.tp = (double)(1u << draw(seed, 4));
	t->plan.pp = (double)(1u << draw(seed, 4));
	t->plan.n_chunks = t->plan.pp > 1.0 && draw(seed, 2) ? 2.0 : 1.0;
	t->plan.n_micro = (double)(1u << draw(seed, 5));
	t->plan.sp = t->shard.sp = (int)draw(seed, 2);
	t->plan.recompute = (enum jl_recompute)draw(seed, JL_N_RECOMPUTE);
	t->plan.offload = draw(seed, 8);
	t->plan.shard = draw(seed, 4) ? 0.0 : 2.0;
	t->plan.keep_gathered = draw(seed, 4) == 0;
	t->plan.hold_step = draw(seed, 4) == 0;
	t->plan.trained_frac = draw(seed, 4) ? 1.0 : 0.01;
	t->memory.waste_frac = 0.1 * draw(seed, 5);
	t->shard.micro_batch = (double)(1u << draw(seed, 4));
	t->shard.flash = (int)draw(seed, 2);
	jl_plan_set_states(&t->plan, (enum jl_states)draw(seed, JL_N_STATES));
}

static void test_parts_sum_and_zero_never_costs_memory(void **state)
{
	(void)state;
	const struct jl_device dev = a100();
	const struct jl_fabric fabric = a100_nodes(8);
	const struct jl_profile profile = jl_profile_default(JL_FW_EAGER);
	struct jl_transformer model = llama;
	uint32_t seed = 1;

	for (int i = 0; i < 3000; i++) {
		struct jl_train t = train_of(&dev, &fabric, &profile);
		double before = INFINITY;

		random_plan(&seed, &t);
		model.n_layers = t.plan.pp * (1.0 + draw(&seed, 8)); /* few layers per stage: all are gathered */
		t.model = &model;
		for (int zero = 0; zero <= 3; zero++) {
			t.plan.zero = zero;
			const struct jl_memory m = memory_of(&t);
			const double sum = m.weights_B + m.gradients_B + m.optimizer_B + m.activations_B + m.buffers_B +
					   m.context_B;

			assert_true(fabs(sum / m.total_B - 1.0) < 1e-12);
			if (m.total_B > before * (1.0 + 1e-12))
				fail_msg("plan %d: ZeRO-%d needs %.6g bytes, the stage below %.6g", i, zero, m.total_B,
					 before);
			before = m.total_B;
		}
	}
}

static void test_states_of_a_whole_copy(void **state)
{
	(void)state;
	const struct jl_device dev = a100();
	const struct jl_fabric fabric = a100_nodes(1);
	const struct jl_profile profile = jl_profile_default(JL_FW_EAGER);
	struct jl_train t = train_of(&dev, &fabric, &profile);
	const double n = jl_transformer_params(&llama).total;
	struct jl_memory m = memory_of(&t);

	assert_true(fabs(m.weights_B / (2.0 * n) - 1.0) < 1e-9);
	assert_true(fabs((m.weights_B + m.gradients_B + m.optimizer_B) / (16.0 * n) - 1.0) < 1e-9);
	t.plan.zero = 1;
	m = memory_of(&t);
	assert_true(fabs(m.optimizer_B / (12.0 * n / 8.0) - 1.0) < 1e-9);
	t.plan.zero = 3;
	m = memory_of(&t);
	assert_true(fabs(m.weights_B / (2.0 * n / 8.0) - 1.0) < 1e-9);
}

/* A fully compiled step holds logits and gradient in 16 bits; others add fp32 copies. */
static void test_a_compiled_loss_makes_no_copies(void **state)
{
	(void)state;
	const struct jl_device dev = a100();
	const struct jl_fabric fabric = a100_nodes(1);
	const struct jl_profile profile = jl_profile_default(JL_FW_COMPILED);
	struct jl_train t = train_of(&dev, &fabric, &profile);
	const double logits = t.shard.micro_batch * t.shard.seq * llama.vocab;

	t.fused_loss = JL_LOSS_FUSED;
	const double copies_B = memory_of(&t).activations_B;

	t.fused_loss = JL_LOSS_COMPILED;
	const double thin_B = memory_of(&t).activations_B;

	/* 2 + 2 bytes per logit instead of 2 + 2 + 4 and the 4 kept */
	assert_true(fabs((copies_B - thin_B) / (8.0 * logits) - 1.0) < 1e-9);
	assert_int_equal(jl_loss_of(JL_FW_COMPILED), JL_LOSS_COMPILED);
}

/* Offloaded parameters: two whole layers and one layer's gradients are on the device, for any sharding. */
static void test_offloaded_parameters_are_counted_once(void **state)
{
	(void)state;
	const struct jl_device dev = a100();
	const struct jl_fabric fabric = a100_nodes(1);
	const struct jl_profile profile = jl_profile_default(JL_FW_EAGER);
	const double layer = jl_transformer_params(&llama).dense_layer;
	struct jl_train t = train_of(&dev, &fabric, &profile);

	t.plan.offload = JL_OFFLOAD_PARAMS | JL_OFFLOAD_OPTIMIZER;
	t.memory = (struct jl_memory_fit){ 0 };
	for (int zero = 0; zero <= 3; zero++) {
		t.plan.zero = zero;
		const struct jl_memory m = memory_of(&t);

		assert_true(fabs(m.weights_B / (2.0 * layer * 2.0) - 1.0) < 1e-12);
		assert_true(fabs(m.gradients_B / (layer * 2.0) - 1.0) < 1e-12);
		assert_true(m.optimizer_B == 0.0 && m.buffers_B == 0.0);
	}
}

/* Parameters that stay gathered are not freed in between, so the allocator wastes nothing on them. */
static void test_everything_gathered_is_a_whole_copy(void **state)
{
	(void)state;
	const struct jl_device dev = a100();
	const struct jl_fabric fabric = a100_nodes(1);
	const struct jl_profile profile = jl_profile_default(JL_FW_EAGER);
	struct jl_train t = train_of(&dev, &fabric, &profile);
	struct jl_memory whole, cut;

	t.memory = (struct jl_memory_fit){ .waste_frac = 0.2 };
	jl_plan_set_states(&t.plan, JL_STATES_FP32); /* no separate buckets, one format for all */
	t.plan.zero = 2;
	whole = memory_of(&t);
	t.plan.zero = 3;
	t.plan.keep_gathered = 1;
	cut = memory_of(&t);
	assert_true(fabs(cut.total_B / whole.total_B - 1.0) < 1e-12);
	t.plan.keep_gathered = 0;
	assert_true(memory_of(&t).total_B < whole.total_B);
}

static void test_recompute_and_batch(void **state)
{
	(void)state;
	const struct jl_device dev = a100();
	const struct jl_fabric fabric = a100_nodes(1);
	const struct jl_profile profile = jl_profile_default(JL_FW_EAGER);
	struct jl_train t = train_of(&dev, &fabric, &profile);
	double kept[JL_N_RECOMPUTE];

	for (int r = 0; r < JL_N_RECOMPUTE; r++) {
		t.plan.recompute = (enum jl_recompute)r;
		kept[r] = memory_of(&t).activations_B;
	}
	assert_true(kept[JL_RECOMPUTE_FULL] < kept[JL_RECOMPUTE_SELECTIVE]);
	assert_true(kept[JL_RECOMPUTE_SELECTIVE] < kept[JL_RECOMPUTE_NONE]);
	t.plan.recompute = JL_RECOMPUTE_NONE;
	t.shard.micro_batch = 2.0;
	assert_true(fabs(memory_of(&t).activations_B / (2.0 * kept[JL_RECOMPUTE_NONE]) - 1.0) < 1e-9);
}

static void test_in_flight(void **state)
{
	(void)state;
	assert_true(jl_pipeline_in_flight(8, 64, 1, 0) == 8.0);
	assert_true(jl_pipeline_in_flight(8, 64, 1, 7) == 1.0);
	assert_true(jl_pipeline_in_flight(8, 4, 1, 0) == 4.0);
	/* Korthikanti et al. 2022: the first stage of an interleaved pipeline keeps 1 + (p - 1)/(p v) times as much */
	assert_true(fabs(jl_pipeline_in_flight(8, 64, 3, 0) / (8.0 * (1.0 + 7.0 / 24.0)) - 1.0) < 0.01);
}

/* Eight experts over eight ranks: each rank alone holds its expert, so ZeRO has nothing to shard. */
static void test_experts_are_cut_over_those_who_hold_them(void **state)
{
	(void)state;
	const struct jl_device dev = a100();
	const struct jl_fabric fabric = a100_nodes(1);
	const struct jl_profile profile = jl_profile_default(JL_FW_MEGATRON);
	struct jl_transformer mixture = llama;
	struct jl_train t = train_of(&dev, &fabric, &profile);

	mixture.moe = (struct jl_moe){ .n_experts = 8, .top_k = 2, .expert_ffn = 14336 };
	t.model = &mixture;
	t.plan.zero = 1;
	t.plan.ep = t.shard.ep = 8;
	const struct jl_transformer_params p = jl_transformer_params(&mixture);
	const double experts = p.n_moe_layers * p.moe_expert / 8.0, rest = p.total - p.n_moe_layers * p.moe_expert;

	assert_true(fabs(memory_of(&t).optimizer_B / (12.0 * (experts + rest / 8.0)) - 1.0) < 1e-9);
	t.plan.dp = 16; /* two ranks hold each expert */
	assert_true(fabs(memory_of(&t).optimizer_B / (12.0 * (experts / 2.0 + rest / 16.0)) - 1.0) < 1e-9);
}

/* Communicators inside a host need less memory than over a network; a sharded model has one more for all its parts. */
static void test_communicators(void **state)
{
	(void)state;
	const struct jl_device dev = a100();
	const struct jl_fabric host = a100_nodes(1), net = a100_nodes(2);
	const struct jl_profile profile = jl_profile_default(JL_FW_EAGER);
	struct jl_train t = train_of(&dev, &host, &profile);
	const double in_host_B = memory_of(&t).context_B;

	t.fabric = &net;
	const double over_net_B = memory_of(&t).context_B;

	assert_true(in_host_B > 1e9 && in_host_B < over_net_B && over_net_B == 1.5e9);
	t.plan.tp = t.shard.tp = 2;
	assert_true(memory_of(&t).context_B == 1e9 + 3 * 0.5e9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts_sum_and_zero_never_costs_memory),
		cmocka_unit_test(test_states_of_a_whole_copy),
		cmocka_unit_test(test_a_compiled_loss_makes_no_copies),
		cmocka_unit_test(test_offloaded_parameters_are_counted_once),
		cmocka_unit_test(test_everything_gathered_is_a_whole_copy),
		cmocka_unit_test(test_recompute_and_batch),
		cmocka_unit_test(test_in_flight),
		cmocka_unit_test(test_experts_are_cut_over_those_who_hold_them),
		cmocka_unit_test(test_communicators),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
