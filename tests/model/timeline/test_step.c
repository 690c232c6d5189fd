/* Training steps: monotonicity over random plans, published runs, pipelines. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../a100.h"
#include "timeline/step.h"
#include "program/train.h"

static const struct jl_transformer gpt = {
	.n_layers = 96,
	.hidden = 12288,
	.heads = 96,
	.kv_heads = 96,
	.head_dim = 128,
	.ffn = 49152,
	.vocab = 51200,
	.n_positions = 2048,
	.tied = 1,
	.bias = 1,
	.final_norm = 1,
	.causal = 1,
	.dropout = 1,
	.head_tokens_frac = 1.0,
};

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

static const struct jl_transformer mixtral = {
	.n_layers = 32,
	.hidden = 4096,
	.heads = 32,
	.kv_heads = 8,
	.head_dim = 128,
	.ffn = 14336,
	.vocab = 32000,
	.gated = 1,
	.final_norm = 1,
	.causal = 1,
	.norm = JL_NORM_RMS,
	.head_tokens_frac = 1.0,
	.moe = { .n_experts = 8, .top_k = 2, .expert_ffn = 14336 },
};

/* Numerical Recipes' generator: the same plans on every machine. */
static uint32_t draw(uint32_t *seed, uint32_t n)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (*seed >> 8) % n;
}

static double power(uint32_t *seed, uint32_t n)
{
	return (double)(1u << draw(seed, n));
}

struct scene {
	struct jl_device dev;
	struct jl_fabric fabric;
	struct jl_profile profile;
	struct jl_train train;
};

static void random_scene(uint32_t *seed, struct scene *s)
{
	static const struct jl_transformer *const models[] = { &llama, &gpt, &mixtral };
	const struct jl_transformer *model = models[draw(seed, 3)];
	struct jl_plan plan = { .tp = power(seed, 4),
				.pp = power(seed, 4),
				.cp = power(seed, 2),
				.dp = power(seed, 6),
				.ep = 1.0,
				.n_chunks = 1.0,
				.n_micro = power(seed, 6),
				.trained_frac = 1.0 };

	if (model->moe.n_experts > 0.0)
		plan.ep = fmin(power(seed, 4), plan.dp);
	if (plan.pp > 1.0 && draw(seed, 2))
		plan.n_chunks = 2.0;
	plan.sp = (int)draw(seed, 2);
	plan.zero = (int)draw(seed, 4);
	if (plan.zero == 3 && draw(seed, 3) == 0)
		plan.shard = 8.0;
	plan.recompute = (enum jl_recompute)draw(seed, JL_N_RECOMPUTE);
	plan.offload = draw(seed, 8) == 0 ? 1u << draw(seed, 3) : 0u;
	jl_plan_set_states(&plan, (enum jl_states)draw(seed, JL_N_STATES));
	s->dev = a100();
	s->fabric = a100_nodes((int)fmax(1.0, plan.dp * plan.tp * plan.pp * plan.cp / 8.0));
	s->profile = jl_profile_default((enum jl_framework)draw(seed, JL_N_FRAMEWORK));
	s->train = (struct jl_train){
		.model = model,
		.plan = plan,
		.host_mem_Bps = 200e9,
		.shard = { .micro_batch = power(seed, 3),
			   .seq = 1024.0 * power(seed, 4),
			   .tp = plan.tp,
			   .cp = plan.cp,
			   .ep = plan.ep,
			   .sp = plan.sp,
			   .flash = (int)draw(seed, 2),
			   .dtype = JL_BF16,
			   .act_dtype = JL_BF16 },
	};
}

static struct jl_step_cost run(struct scene *s)
{
	struct jl_train_blocks blocks;

	s->train.dev = &s->dev;
	s->train.fabric = &s->fabric;
	s->train.profile = &s->profile;
	jl_train_blocks(&s->train, &blocks);
	return jl_train_step(&s->train, &blocks);
}

static double parts(const struct jl_step_cost *c)
{
	return c->compute_s + c->host_s + c->tp_s + c->cp_s + c->ep_s + c->bubble_s + c->send_s + c->dp_s +
	       c->contention_s + c->optimizer_s + c->offload_s + c->input_s;
}

enum { N_PLANS = 3000 };

static void test_parts_sum_to_the_whole(void **state)
{
	(void)state;
	uint32_t seed = 1;

	for (int i = 0; i < N_PLANS; i++) {
		struct scene s;

		random_scene(&seed, &s);
		const struct jl_step_cost c = run(&s);

		assert_true(isfinite(c.step_s) && c.step_s > 0.0);
		assert_true(fabs(parts(&c) / c.step_s - 1.0) < 1e-9);
		assert_true(c.compute_s > 0.0 && c.host_s >= 0.0 && c.tp_s >= 0.0 && c.dp_s >= 0.0 &&
			    c.bubble_s >= -1e-12);
	}
}

static void slow_compute(struct scene *s)
{
	for (int d = 0; d < JL_N_DTYPE; d++)
		s->dev.peak_flopps[d] *= 0.7;
}

static void slow_memory(struct scene *s)
{
	s->dev.mem_Bps *= 0.7;
}

static void slow_intra(struct scene *s)
{
	s->fabric.intra.rate_Bps *= 0.5;
}

static void slow_inter(struct scene *s)
{
	s->fabric.inter.rate_Bps *= 0.5;
}

static void slow_start(struct scene *s)
{
	s->fabric.inter.alpha_s *= 2.0;
	s->fabric.intra.alpha_s *= 2.0;
}

static void slow_host(struct scene *s)
{
	s->profile.launch_s *= 2.0;
	s->dev.host_Bps *= 0.5;
}

static void test_slower_parts_never_make_it_faster(void **state)
{
	(void)state;
	void (*const changes[])(struct scene *) = { slow_compute, slow_memory, slow_intra,
						    slow_inter,   slow_start,  slow_host };
	uint32_t seed = 7;

	for (int i = 0; i < N_PLANS; i++) {
		struct scene s;

		random_scene(&seed, &s);
		const double before = run(&s).step_s;

		for (size_t k = 0; k < sizeof(changes) / sizeof(changes[0]); k++) {
			struct scene slow = s;

			changes[k](&slow);
			const double after = run(&slow).step_s;

			if (after < before * (1.0 - 1e-9))
				fail_msg("plan %d, change %zu: %.9g s became %.9g s", i, k, before, after);
		}
	}
}

/* With a slow host, a slower device must not hide more of the exchange than it costs. */
static void test_slower_gpus_never_help_a_slow_host(void **state)
{
	(void)state;
	uint32_t seed = 13;

	for (int i = 0; i < N_PLANS; i++) {
		struct scene s;

		random_scene(&seed, &s);
		s.train.shard.seq = 128.0;
		s.profile.launch_s *= power(&seed, 8);
		s.profile.dp_overlap_frac = s.profile.fsdp_overlap_frac = 1.0;
		s.profile.contention_frac = 0.0;
		const double before = run(&s).step_s;

		for (int k = 0; k < 2; k++) {
			struct scene slow = s;

			(k ? slow_memory : slow_compute)(&slow);
			if (run(&slow).step_s < before * (1.0 - 1e-12))
				fail_msg("plan %d, change %d: %.12g s became %.12g s", i, k, before, run(&slow).step_s);
		}
	}
}

static struct scene llama_data_parallel(double dp, int zero, enum jl_framework framework)
{
	struct scene s = { .dev = a100(),
			   .fabric = a100_nodes((int)fmax(1.0, dp / 8.0)),
			   .profile = jl_profile_default(framework) };

	s.train = (struct jl_train){
		.model = &llama,
		.plan = { .dp = dp,
			  .tp = 1,
			  .pp = 1,
			  .cp = 1,
			  .ep = 1,
			  .n_chunks = 1,
			  .n_micro = 1,
			  .zero = zero,
			  .trained_frac = 1.0 },
		.shard = { .micro_batch = 1,
			   .seq = 4096,
			   .tp = 1,
			   .cp = 1,
			   .ep = 1,
			   .flash = 1,
			   .dtype = JL_BF16,
			   .act_dtype = JL_BF16 },
	};
	jl_plan_set_states(&s.train.plan, JL_STATES_MIXED);
	return s;
}

/* Buckets grow with the ranks for sharded states, and are the frameworks' otherwise: on 1,024 ranks the exchange takes at most three times the
 * bandwidth bound, for any requested bucket. */
static void test_buckets_are_not_bound_by_latency(void **state)
{
	(void)state;
	for (int i = 0; i < 16; i++) { /* 8 to 1,024 ranks, all-reduce and sharded states */
		const double dp = 8.0 * (double)(1u << i / 2);
		struct scene s = llama_data_parallel(dp, i % 2, JL_FW_EAGER);
		const double size_B = jl_transformer_params(&llama).total * 2.0, wire_Bps = dp > 8.0 ? 160e9 : 240e9;

		s.profile.dp_overlap_frac = 0.0;
		s.profile.bucket_B = 5e6;
		const double dp_s = run(&s).dp_s; /* all-reduce, or reduce-scatter and all-gather */

		if (dp_s > 3.0 * 2.0 * size_B / wire_Bps)
			fail_msg("%g ranks: %.3f s, bandwidth needs %.3f s", dp, dp_s, 2.0 * size_B / wire_Bps);
		s.profile.bucket_B = 1e12;
		assert_true(run(&s).dp_s <= dp_s);
	}
}

/* DeepSpeed ZeRO-2: all-reduce after every micro-batch, all-gather after the optimizer, nothing hidden. */
static void test_zero_2_is_in_the_open(void **state)
{
	(void)state;
	struct scene s = llama_data_parallel(8.0, 2, JL_FW_EAGER);
	const struct jl_step_cost one = run(&s);
	const double size_B = jl_transformer_params(&llama).total * 2.0;

	assert_true(one.contention_s == 0.0);
	assert_true(one.dp_s > 3.0 * 7.0 / 8.0 * size_B / 240e9 && one.dp_s < 1.2 * 3.0 * 7.0 / 8.0 * size_B / 240e9);
	s.train.plan.n_micro = 4.0;
	const double more_s = run(&s).dp_s - one.dp_s;

	assert_true(fabs(more_s / (3.0 * 2.0 / 3.0 * one.dp_s) - 1.0) < 0.05);
	s.train.plan.zero = 1;
	assert_true(run(&s).dp_s < one.dp_s);
}

static void random_fabric(uint32_t *seed, struct jl_fabric *f)
{
	*f = a100_nodes(1 + (int)draw(seed, 40));
	f->intra_kind = (enum jl_intra_kind)(1 + draw(seed, 5));
	f->n_per_node = 1 + (int)draw(seed, 10);
	f->intra.in_switch = (int)draw(seed, 2);
	f->inter.in_switch = (int)draw(seed, 2);
	f->intra.mid_frac = 0.4 * draw(seed, 3);
	f->inter.mid_frac = f->intra.mid_frac;
	f->inter.segment_s = 1e-6 * draw(seed, 3);
	f->intra.eff_frac = 0.5 + 0.1 * draw(seed, 8); /* some above the listed rate: the bound applies */
	f->root_Bps = draw(seed, 2) ? 20e9 : 0.0;
	f->pair = f->intra;
	f->n_nics = (int)draw(seed, 9);
}

/* jl_collective_times equals jl_collective_cost. */
static void test_times_are_those_of_the_whole_answer(void **state)
{
	(void)state;
	uint32_t seed = 17;

	for (int i = 0; i < 10 * N_PLANS; i++) {
		struct jl_fabric f;
		struct jl_collective coll[3];
		double time_s[3];

		random_fabric(&seed, &f);
		for (int k = 0; k < 3; k++)
			coll[k] = (struct jl_collective){ .kind = (enum jl_collective_kind)draw(&seed, JL_N_COLLECTIVE),
							  .size_B = power(&seed, 31),
							  .n_ranks = k ? coll[0].n_ranks : (int)power(&seed, 9),
							  .n_groups_per_node = 1 };
		jl_collective_times(&f, coll, 3, time_s);
		for (int k = 0; k < 3; k++)
			assert_true(time_s[k] == jl_collective_cost(&f, &coll[k]).time_s);
	}
}

/* Twice the nodes at the same global batch: half the micro-batches, or smaller ones, per device. */
static void test_more_nodes_never_compute_longer(void **state)
{
	(void)state;
	uint32_t seed = 3;

	for (int i = 0; i < N_PLANS; i++) {
		struct scene s;

		random_scene(&seed, &s);
		struct scene wide = s;

		wide.train.plan.dp *= 2.0;
		if (s.train.plan.n_micro > 1.0)
			wide.train.plan.n_micro /= 2.0;
		else if (s.train.shard.micro_batch > 1.0)
			wide.train.shard.micro_batch /= 2.0;
		else
			continue;
		wide.fabric.n_nodes *= 2;
		assert_true(run(&wide).compute_s <= run(&s).compute_s * (1.0 + 1e-9));
	}
}

static void test_one_device_needs_no_fabric(void **state)
{
	(void)state;
	uint32_t seed = 5;

	for (int i = 0; i < 300; i++) {
		struct scene s;

		random_scene(&seed, &s);
		s.train.plan.dp = s.train.plan.tp = s.train.plan.pp = s.train.plan.cp = s.train.plan.ep = 1.0;
		s.train.shard.tp = s.train.shard.cp = s.train.shard.ep = 1.0;
		s.train.plan.n_chunks = 1.0;
		s.train.plan.shard = 0.0;
		struct scene alone = s;

		alone.fabric = (struct jl_fabric){ .intra_kind = JL_INTRA_NONE, .n_per_node = 1, .n_nodes = 1 };
		s.fabric.n_per_node = 1; /* devices of a host share its offloaded optimizer */
		const struct jl_step_cost one = run(&alone), same = run(&s);

		assert_true(one.step_s == same.step_s);
		assert_true(one.dp_s == 0.0 && one.tp_s == 0.0 && one.bubble_s == 0.0 && one.send_s == 0.0);
		for (int zero = 0; zero <= 3; zero++) {
			s.train.plan.zero = zero;
			assert_true(run(&s).step_s == one.step_s);
		}
	}
}

/* Narayanan et al. 2021: the bubble is (p - 1) / m of the work, divided by v with interleaving. */
static void test_bubble_of_equal_stages(void **state)
{
	(void)state;
	struct jl_pipeline pipe = {
		.n_stages = 8, .n_micro = 64, .n_chunks = 1, .first_s = 1, .middle_s = 1, .last_s = 1
	};
	struct jl_pipeline_cost cost = jl_pipeline_cost(&pipe);

	assert_true(fabs(cost.bubble_s / cost.busy_s - 7.0 / 64.0) < 1e-12);
	pipe.n_chunks = 3;
	cost = jl_pipeline_cost(&pipe);
	assert_true(fabs(cost.bubble_s / cost.busy_s - 7.0 / 64.0 / 3.0) < 1e-12);
	pipe.last_s = 1.5; /* all stages wait for the slowest */
	assert_true(jl_pipeline_cost(&pipe).busy_s == 96.0);
}

/* Korthikanti et al. 2022, table 5: GPT-3 175B on 64 A100 took 13.75 s per step. */
static void test_megatron_175b(void **state)
{
	(void)state;
	struct scene s = { .dev = a100(), .fabric = a100_nodes(8), .profile = jl_profile_default(JL_FW_MEGATRON) };

	s.train = (struct jl_train){
		.model = &gpt,
		.plan = { .dp = 1,
			  .tp = 8,
			  .pp = 8,
			  .cp = 1,
			  .ep = 1,
			  .n_chunks = 3,
			  .n_micro = 64,
			  .sp = 1,
			  .recompute = JL_RECOMPUTE_SELECTIVE,
			  .trained_frac = 1.0 },
		.shard = { .micro_batch = 1,
			   .seq = 2048,
			   .tp = 8,
			   .cp = 1,
			   .ep = 1,
			   .sp = 1,
			   .dtype = JL_FP16,
			   .act_dtype = JL_FP16 },
	};
	jl_plan_set_states(&s.train.plan, JL_STATES_MEGATRON);
	const double step_s = run(&s).step_s;

	if (fabs(step_s / 13.75 - 1.0) > 0.2)
		fail_msg("%.2f s, measured 13.75 s", step_s);
}

static void test_impossible_plans_are_refused(void **state)
{
	(void)state;
	uint32_t seed = 11;
	struct scene s;
	struct jl_err err = { 0 };

	random_scene(&seed, &s);
	s.train.model = &llama;
	s.train.plan = (struct jl_plan){ .dp = 4, .tp = 2, .pp = 2, .cp = 1, .ep = 1, .n_chunks = 1, .n_micro = 2 };
	s.train.shard.micro_batch = 2;
	assert_int_equal(jl_train_check(&s.train, 16, 16, &err), JL_OK);
	assert_int_equal(jl_train_check(&s.train, 15, 16, &err), JL_E_USAGE);
	assert_non_null(strstr(err.en, "15 GPUs"));
	assert_int_equal(jl_train_check(&s.train, 16, 18, &err), JL_E_USAGE);
	s.train.plan.tp = 3;
	assert_int_equal(jl_train_check(&s.train, 24, 16, &err), JL_E_USAGE);
	assert_non_null(strstr(err.en, "heads"));
	s.train.plan.tp = 2;
	s.train.plan.pp = 64;
	assert_int_equal(jl_train_check(&s.train, 512, 16, &err), JL_E_USAGE);
	s.train.plan.pp = NAN;
	assert_int_equal(jl_train_check(&s.train, 16, 16, &err), JL_E_USAGE);
}

/* 126 layers over 16 stages: the ends, which hold embedding and head, have one layer less; 8 chunks of one layer each. */
static void test_uneven_stages(void **state)
{
	const struct jl_stage_layers uneven = jl_stage_layers(126, 16), even = jl_stage_layers(96, 8),
				     one = jl_stage_layers(31, 2), few = jl_stage_layers(13, 4);

	(void)state;
	assert_true(uneven.most == 8 && uneven.first == 7 && uneven.last == 7 && uneven.middle == 8);
	assert_true(even.most == 12 && even.first == 12 && even.last == 12 && even.middle == 12);
	assert_true(one.first == 16 && one.last == 15);
	assert_true(few.most == 4 && few.first == 3 && few.last == 3 && few.middle == 3.5);
	assert_true(few.first + few.last + 2 * few.middle == 13);
	assert_true(jl_chunks_divide(126, 16, 8) && jl_chunks_divide(96, 8, 4) && !jl_chunks_divide(126, 16, 3));
}

/* Equal stages: the schedule ends at the closed form's time, plain and interleaved; passes of a stage never overlap. */
static void test_turns_end_with_the_closed_form(void **state)
{
	static struct jl_turn turns[4096];
	static double work[4096];
	const struct jl_turns_in plans[] = {
		{ 4, 8, 1, 3, 3 }, { 4, 8, 2, 3, 3 }, { 8, 32, 4, 3, 3 }, { 2, 1, 1, 3, 3 }
	};

	(void)state;
	for (size_t i = 0; i < sizeof(plans) / sizeof(*plans); i++) {
		const struct jl_turns_in *in = &plans[i];
		const size_t n = jl_turns_count(in);
		const struct jl_pipeline pipe = { .n_stages = in->n_stages,
						  .n_micro = in->n_micro,
						  .n_chunks = in->n_chunks,
						  .first_s = 3,
						  .middle_s = 3,
						  .last_s = 3 };
		const struct jl_pipeline_cost cost = jl_pipeline_cost(&pipe);
		double end_s = 0;

		assert_true(n > 0 && n <= 4096);
		jl_pipeline_turns(in, turns, work);
		for (size_t k = 0; k < n; k++) {
			end_s = fmax(end_s, turns[k].end_s);
			assert_true(turns[k].end_s > turns[k].begin_s && turns[k].begin_s >= 0);
			assert_true(k == 0 || turns[k].stage != turns[k - 1].stage ||
				    turns[k].begin_s >= turns[k - 1].end_s - 1e-12);
		}
		assert_true(fabs(end_s - cost.busy_s - cost.bubble_s) < 1e-9);
	}
	assert_int_equal(jl_turns_count(&(struct jl_turns_in){ 64, 4096, 8, 1, 1 }), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_uneven_stages),
		cmocka_unit_test(test_parts_sum_to_the_whole),
		cmocka_unit_test(test_slower_parts_never_make_it_faster),
		cmocka_unit_test(test_slower_gpus_never_help_a_slow_host),
		cmocka_unit_test(test_buckets_are_not_bound_by_latency),
		cmocka_unit_test(test_zero_2_is_in_the_open),
		cmocka_unit_test(test_times_are_those_of_the_whole_answer),
		cmocka_unit_test(test_more_nodes_never_compute_longer),
		cmocka_unit_test(test_one_device_needs_no_fabric),
		cmocka_unit_test(test_bubble_of_equal_stages),
		cmocka_unit_test(test_turns_end_with_the_closed_form),
		cmocka_unit_test(test_megatron_175b),
		cmocka_unit_test(test_impossible_plans_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
