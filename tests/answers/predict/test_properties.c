/* What must hold whatever the physics: over thousands of random plans. */
#include "plans.h"

#define SLACK 1e-9
/* The parts of a sum in another order. */
#define ROUNDING 1e-12

static void each_case(void (*check)(const struct jl_case *c))
{
	struct jl_arena arena;
	struct jl_case c;
	int n = 0;

	plan_seed = 1;
	for (int i = 0; i < N_PLANS; i++) {
		jl_arena_init(&arena, JL_ARENA_LIMIT_B);
		if (random_case(&c, &arena)) {
			check(&c);
			n++;
		}
		jl_arena_release(&arena);
	}
	assert_true(n > N_PLANS / 5);
}

static void describe(const struct jl_case *c, char out[256])
{
	snprintf(out, 256,
		 "%s on %s, dp %g tp %g pp %g(%g) cp %g zero %d, %g x %g, seq %g, recompute %d, %s %s, offload %u",
		 c->subject.id, c->machine.sys.text, c->plan.dp, c->plan.tp, c->plan.pp, c->plan.n_chunks, c->plan.cp,
		 c->plan.zero, c->plan.n_micro, c->shard.micro_batch, c->shard.seq, (int)c->plan.recompute,
		 jl_framework_name(c->framework), jl_dtype_name(c->shard.dtype), c->plan.offload);
}

#define HOLDS(c, condition, ...)                                                                                       \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			char text[256];                                                                                \
			describe(c, text);                                                                             \
			print_error("%s: ", text);                                                                     \
			fail_msg(__VA_ARGS__);                                                                         \
		}                                                                                                      \
	} while (0)

static void check_sums(const struct jl_case *c)
{
	struct jl_prediction p;
	double sum_s = 0, sum_B;

	jl_predict(&p, NULL, c);
	for (size_t i = 0; i < JL_N_PART; i++) {
		const double part = jl_part_s(&p.step, i);

		HOLDS(c, part >= 0, "%s is %g", jl_parts[i].key, part);
		sum_s += part;
	}
	HOLDS(c, isfinite(p.step.step_s) && p.step.step_s > 0, "step %g", p.step.step_s);
	HOLDS(c, fabs(sum_s / p.step.step_s - 1) < SLACK, "parts sum to %g, not %g", sum_s, p.step.step_s);
	sum_B = p.memory.weights_B + p.memory.gradients_B + p.memory.optimizer_B + p.memory.activations_B +
		p.memory.buffers_B + p.memory.context_B;
	HOLDS(c, fabs(sum_B / p.memory.total_B - 1) < SLACK, "memory sums to %g, not %g", sum_B, p.memory.total_B);
	HOLDS(c, p.step_s.lo < p.step_s.value && p.step_s.value < p.step_s.hi, "interval");
	HOLDS(c, fabs(p.samples_per_s.value * p.step_s.value / c->global_batch - 1) < SLACK, "rate and time disagree");
	HOLDS(c, p.mfu_frac > 0 && p.mfu_frac < 1, "MFU %g", p.mfu_frac);
	HOLDS(c, p.power_W > 0 && p.power_W <= 1.01 * c->n_gpus * c->machine.dev.tdp_W + 1e5 * c->machine.sys.n_nodes,
	      "power %g", p.power_W);
	if (p.max_micro_batch >= 1 && p.room == JL_ROOM_NONE)
		HOLDS(c, c->shard.micro_batch > p.max_micro_batch, "micro-batch %g does not fit, but %g would",
		      c->shard.micro_batch, p.max_micro_batch);
}

static void slow_link(struct jl_link *link, double times)
{
	link->rate_Bps /= times;
	link->alpha_s *= times;
	link->ll_alpha_s *= times;
}

static void check_slower_link(const struct jl_case *c)
{
	const double before = jl_case_price(c).step.step_s;
	struct jl_case slow = *c;

	slow_link(&slow.machine.fabric.intra, 2);
	HOLDS(c, jl_case_price(&slow).step.step_s >= before * (1 - SLACK), "faster with half the link inside: %g < %g",
	      jl_case_price(&slow).step.step_s, before);
	slow = *c;
	slow_link(&slow.machine.fabric.inter, 2);
	HOLDS(c, jl_case_price(&slow).step.step_s >= before * (1 - SLACK), "faster with half the network: %g < %g",
	      jl_case_price(&slow).step.step_s, before);
	slow = *c;
	slow.machine.dev.host_Bps /= 2;
	HOLDS(c, jl_case_price(&slow).step.step_s >= before * (1 - SLACK), "faster with half the host link");
}

static void check_slower_gpu(const struct jl_case *c)
{
	const double before = jl_case_price(c).step.step_s;
	struct jl_case slow = *c;

	for (int d = 0; d < JL_N_DTYPE; d++)
		slow.machine.dev.peak_flopps[d] /= 2;
	HOLDS(c, jl_case_price(&slow).step.step_s >= before * (1 - SLACK), "faster with half the arithmetic: %g < %g",
	      jl_case_price(&slow).step.step_s, before);
	slow = *c;
	slow.machine.dev.mem_Bps /= 2;
	HOLDS(c, jl_case_price(&slow).step.step_s >= before * (1 - SLACK),
	      "faster with half the memory bandwidth: %g < %g", jl_case_price(&slow).step.step_s, before);
}

static void check_zero_memory(const struct jl_case *c)
{
	struct jl_case higher = *c;
	double before = INFINITY;

	/* Of one rank nothing is cut. Experts that no other rank holds cannot be cut, and with weights on the host the device is left with the
	 * optimizer's share of the format, which is the larger one under ZeRO. */
	if ((c->plan.ep > 1 && c->plan.offload) || c->plan.dp * c->plan.cp <= 1)
		return;
	for (int zero = 0; zero <= 3; zero++) {
		double now;

		higher.plan.zero = zero;
		jl_case_set_states(&higher);
		now = jl_case_price(&higher).memory.total_B;
		HOLDS(c, now <= before * (1 + ROUNDING), "ZeRO-%d needs %g, the stage below %g", zero, now, before);
		before = now;
	}
}

static void check_more_nodes(const struct jl_case *c)
{
	struct jl_case twice = *c;

	if (fmod(c->plan.n_micro, 2) != 0)
		return;
	twice.machine.sys.n_nodes *= 2;
	twice.machine.fabric.n_nodes *= 2;
	if (!(twice.machine.fabric.inter.rate_Bps > 0))
		return; /* a system that was never joined to another */
	twice.n_gpus *= 2;
	twice.plan.dp *= 2;
	twice.plan.n_micro /= 2;
	HOLDS(c, jl_case_price(&twice).step.compute_s <= jl_case_price(c).step.compute_s * (1 + SLACK),
	      "compute grows with twice the hosts");
}

static void test_parts_sum_to_the_whole(void **state)
{
	(void)state;
	each_case(check_sums);
}

static void test_slower_links_never_help(void **state)
{
	(void)state;
	each_case(check_slower_link);
}

static void test_slower_gpus_never_help(void **state)
{
	(void)state;
	each_case(check_slower_gpu);
}

static void test_zero_never_needs_more_memory(void **state)
{
	(void)state;
	each_case(check_zero_memory);
}

static void test_more_nodes_never_compute_longer(void **state)
{
	(void)state;
	each_case(check_more_nodes);
}

/* The first GPU of a large system is one GPU. */
static void test_one_gpu_is_dp_1(void **state)
{
	static const char *const pairs[][2] = { { "10x rtx-3090 via pcie4-no-p2p", "rtx-3090" },
						{ "dgx-h100", "h100-sxm5" },
						{ "4x dgx-a100-80gb", "a100-sxm4-80gb" } };
	const struct jl_catalog *cat = jl_catalog_embedded();
	struct jl_arena arena;
	struct jl_err err = { 0 };

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		struct jl_request req = jl_request_empty();
		struct jl_case whole, one, alone;
		struct jl_prediction a, b;

		req.model = "gpt-305m";
		req.batch = 4;
		req.system = pairs[i][1];
		assert_int_equal(jl_case_make(&alone, cat, &req, &arena, &err), JL_OK);
		req.system = pairs[i][0];
		assert_int_equal(jl_case_make(&whole, cat, &req, &arena, &err), JL_OK);
		assert_int_equal(jl_machine_take(&one.machine, &whole.machine, 1, &err), JL_OK);
		assert_int_equal(jl_case_choose(&one, cat, &whole.subject, &one.machine, &req, &err), JL_OK);
		assert_true(one.plan.dp == 1 && one.n_gpus == 1);
		jl_predict(&a, cat, &one);
		jl_predict(&b, cat, &alone);
		assert_true(a.step.dp_s == 0 && a.step.step_s == b.step.step_s && a.memory.total_B == b.memory.total_B);
	}
	jl_arena_release(&arena);
}

/* States that lie on one host are as many, whichever of its devices they come from: experts that EP has spread are not cut again. */
static void test_experts_on_a_host_are_counted_once(void **state)
{
	static const char *const models[] = { "gpt-oss-120b", "deepseek-v3", "mixtral-8x7b" };
	const struct jl_catalog *cat = jl_catalog_embedded();
	struct jl_arena arena;
	struct jl_err err = { 0 };

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	for (size_t i = 0; i < sizeof(models) / sizeof(*models); i++) {
		struct jl_request req = jl_request_empty();
		double host_B[2], params = 0;

		req.model = models[i];
		req.system = "8x h200";
		req.offload = JL_OFFLOAD_OPTIMIZER | JL_OFFLOAD_PARAMS;
		req.plan.zero = 3;
		for (int spread = 0; spread < 2; spread++) {
			struct jl_case c;

			req.plan.ep = spread ? 8 : 1;
			assert_int_equal(jl_case_make(&c, cat, &req, &arena, &err), JL_OK);
			host_B[spread] = jl_case_price(&c).host_B;
			params = jl_subject_params(&c.subject);
		}
		/* EP is Megatron's, which keeps fp32 gradients */
		assert_true(host_B[0] > 14 * params && host_B[0] < 20 * params);
		assert_true(host_B[1] > 0.98 * host_B[0] && host_B[1] < 24 * params);
	}
	jl_arena_release(&arena);
}

/* Everything that is listed of `b` is listed of `a` too, and not less; nor is it older. */
static bool has_more_of_everything(const struct jl_gpu *a, const struct jl_gpu *b)
{
	const struct {
		double a, b;
	} facts[] = { { a->mem_Bps.value, b->mem_Bps.value },
		      { a->mem_B.value, b->mem_B.value },
		      { a->fp32_flopps.value, b->fp32_flopps.value },
		      { a->tf32_dense_flopps.value, b->tf32_dense_flopps.value },
		      { a->fp16_dense_flopps.value, b->fp16_dense_flopps.value },
		      { a->fp16_fp32acc_dense_flopps.value, b->fp16_fp32acc_dense_flopps.value },
		      { a->bf16_dense_flopps.value, b->bf16_dense_flopps.value },
		      { a->n_sm.value, b->n_sm.value },
		      { a->tdp_W.value, b->tdp_W.value } };

	if (a == b || a->year < b->year || strcmp(a->vendor, b->vendor) != 0)
		return false;
	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++)
		if (!isnan(facts[i].b) && !(facts[i].a >= facts[i].b))
			return false;
	return a->mem_Bps.value > 0 && a->fp32_flopps.value > 0;
}

/* A run that every GPU is asked for. */
struct asked_of_all {
	const char *model;
	int framework, dtype; /* enum jl_framework, enum jl_dtype */
	double batch, seq;
	double launch_s; /* NAN: as the host of such a GPU does it */
	int tune, base;
	size_t least_pairs;
};

static double step_of(const struct asked_of_all *run, const char *gpu, enum jl_asked *ret_answer)
{
	struct jl_request req = jl_request_empty();
	struct jl_arena arena;
	struct jl_err err;
	struct jl_job job;
	double step_s = NAN;

	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	req.model = run->model;
	req.system = gpu;
	req.framework = run->framework;
	req.dtype = run->dtype;
	req.batch = run->batch;
	req.seq = run->seq;
	req.launch_s = run->launch_s;
	req.tune = run->tune;
	req.base = run->base;
	req.input = JL_INPUT_SYNTHETIC;
	if (jl_job_make(&job, jl_catalog_embedded(), &req, &arena, &err) == JL_OK) {
		step_s = job.prediction.step_s.value;
		*ret_answer = jl_case_answer(&job.how);
	}
	jl_arena_release(&arena);
	return step_s;
}

#define MOST_GPUS 256

/* Of language models no GPU may be, measured or not. Networks of pictures that were run on it may say that a GPU is slower than its listing;
 * they are asked with the same host under each GPU: hosts of boards launch more slowly than those of cards. */
static void test_more_of_everything_is_not_slower(void **state)
{
	static double step_s[MOST_GPUS];
	static const struct asked_of_all runs[] = {
		{ "gpt-305m", JL_FW_COMPILED, JL_FP16, 4, 512, NAN, JL_UNSET, JL_UNSET, 2000 },
		{ "gpt-305m", JL_FW_EAGER, JL_FP16, 4, 512, NAN, JL_UNSET, JL_UNSET, 2000 },
		{ "bert-large", JL_FW_EAGER, JL_FP32, 4, 512, NAN, JL_UNSET, JL_UNSET, 2000 },
		{ "resnet-50", JL_FW_EAGER, JL_FP16, 32, NAN, 1e-5, JL_UNSET, JL_UNSET, 2000 },
		{ "resnet-50", JL_FW_EAGER, JL_FP32, 32, NAN, 1e-5, JL_UNSET, JL_UNSET, 2000 },
		{ "vit_base_patch16_224", JL_FW_EAGER, JL_FP16, 32, NAN, 1e-5, JL_UNSET, JL_UNSET, 2000 },
		{ "nnunet_2d", JL_FW_EAGER, JL_FP32, 8, NAN, 1e-5, JL_UNSET, JL_UNSET, 2000 },
		{ "nnunet_3d", JL_FW_EAGER, JL_FP16, 2, NAN, 1e-5, JL_UNSET, JL_UNSET, 2000 },
		{ "sd15_unet", JL_FW_EAGER, JL_FP16, 1, NAN, 1e-5, JL_UNSET, JL_UNSET, 2000 },
		{ "llama-3.2-1b", JL_FW_EAGER, JL_BF16, 1, 512, NAN, JL_TUNE_LORA, JL_BASE_SAME, 800 },
		{ "llama-3.2-1b", JL_FW_EAGER, JL_BF16, 1, 512, NAN, JL_TUNE_LORA, JL_BASE_NF4, 800 },
		{ "llama-3.2-1b", JL_FW_FUSED, JL_BF16, 1, 512, NAN, JL_TUNE_LORA, JL_BASE_NF4, 800 },
	};
	const struct jl_catalog *cat = jl_catalog_embedded();

	(void)state;
	assert_true(cat->n_gpus <= MOST_GPUS);
	for (const struct asked_of_all *run = runs; run < runs + sizeof(runs) / sizeof(*runs); run++) {
		enum jl_asked answer = JL_ASKED_STEP;
		size_t n_pairs = 0;

		for (size_t i = 0; i < cat->n_gpus; i++)
			step_s[i] = step_of(run, cat->gpus[i].id, &answer);
		for (size_t a = 0; a < cat->n_gpus; a++)
			for (size_t b = 0; b < cat->n_gpus; b++) {
				const struct jl_gpu *more = &cat->gpus[a], *less = &cat->gpus[b];

				if (isnan(step_s[a]) || isnan(step_s[b]) || !has_more_of_everything(more, less) ||
				    (answer == JL_ASKED_NETWORK && jl_seen(cat, answer, "gpu", more->id)))
					continue;
				n_pairs++;
				if (step_s[a] > 1.05 * step_s[b])
					fail_msg("%s in %s, %s: %s takes %g s, %s with less of everything %g s",
						 run->model, jl_framework_name((enum jl_framework)run->framework),
						 jl_dtype_name((enum jl_dtype)run->dtype), more->id, step_s[a],
						 less->id, step_s[b]);
			}
		if (n_pairs < run->least_pairs)
			fail_msg("%s: %zu pairs", run->model, n_pairs);
	}
}

/* Nobody ran networks on these: their measured siblings with less of everything must not be faster. */
static void test_unmeasured_siblings_are_not_slower(void **state)
{
	static const char *const pairs[][2] = { { "rtx-3090", "rtx-3090-ti" },
						{ "rtx-3080", "rtx-3080-ti" },
						{ "rtx-3070", "rtx-3070-ti" } };
	static const struct asked_of_all run = {
		"vit_base_patch16_224", JL_UNSET, JL_UNSET, 64, NAN, NAN, JL_UNSET, JL_UNSET, 0
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		enum jl_asked answer;
		const double less_s = step_of(&run, pairs[i][0], &answer), more_s = step_of(&run, pairs[i][1], &answer);

		if (!(more_s <= 1.05 * less_s))
			fail_msg("%s takes %g s, %s %g s", pairs[i][0], less_s, pairs[i][1], more_s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts_sum_to_the_whole),
		cmocka_unit_test(test_slower_links_never_help),
		cmocka_unit_test(test_slower_gpus_never_help),
		cmocka_unit_test(test_zero_never_needs_more_memory),
		cmocka_unit_test(test_more_nodes_never_compute_longer),
		cmocka_unit_test(test_one_gpu_is_dp_1),
		cmocka_unit_test(test_experts_on_a_host_are_counted_once),
		cmocka_unit_test(test_more_of_everything_is_not_slower),
		cmocka_unit_test(test_unmeasured_siblings_are_not_slower),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
