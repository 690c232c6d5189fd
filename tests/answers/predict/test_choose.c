/* Cuts that nobody asked for: which are taken, and that their reasons are true. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "predict/kernels.h"
#include "predict/technique.h"

static struct jl_arena arena;
static struct jl_err err;

static int setup(void **state)
{
	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	err = (struct jl_err){ 0 };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	jl_arena_release(&arena);
	return 0;
}

static struct jl_request ask(const char *model, enum jl_tune_kind tune, const char *system)
{
	struct jl_request req = jl_request_empty();

	req.model = model;
	req.tune = (int)tune;
	req.system = system;
	req.seq = 2048;
	return req;
}

static struct jl_job weigh(const struct jl_request *req)
{
	struct jl_job job;

	if (jl_job_make(&job, jl_catalog_embedded(), req, &arena, &err))
		fail_msg("%s on %s: %s", req->model, req->system, err.en);
	return job;
}

static const char *note(const struct jl_job *job, const char *key)
{
	for (size_t i = 0; i < job->how.notes.n; i++)
		if (strcmp(job->how.notes.items[i].key, key) == 0)
			return job->how.notes.items[i].en;
	return "";
}

/* The same samples on more GPUs of the same kind. */
static void test_more_gpus_are_not_slower(void **state)
{
	static const struct {
		const char *model, *gpu;
		enum jl_tune_kind tune;
		enum jl_base base;
	} jobs[] = {
		{ "gpt-oss-120b", "h100-sxm5", JL_TUNE_LORA, JL_BASE_SAME },
		{ "deepseek-v3", "b200-sxm", JL_TUNE_LORA, JL_BASE_NF4 },
		{ "mixtral-8x7b", "a100-sxm4-80gb", JL_TUNE_LORA, JL_BASE_SAME },
		{ "qwen3-30b-a3b", "h100-sxm5", JL_TUNE_LORA, JL_BASE_SAME },
		{ "qwen3-30b-a3b", "h100-sxm5", JL_TUNE_FULL, JL_BASE_SAME },
		{ "gpt-oss-20b", "rtx-4090", JL_TUNE_LORA, JL_BASE_NF4 },
		{ "llama-3-8b", "a100-sxm4-80gb", JL_TUNE_FULL, JL_BASE_SAME },
		{ "llama-3-8b", "rtx-4090", JL_TUNE_LORA, JL_BASE_SAME },
		{ "llama-3-70b", "h100-sxm5", JL_TUNE_LORA, JL_BASE_SAME },
	};
	int n = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(jobs) / sizeof(*jobs); i++) {
		double before_s = INFINITY;

		for (int gpus = 1; gpus <= 8; gpus *= 2) {
			char system[64];
			struct jl_request req = ask(jobs[i].model, jobs[i].tune, system);

			snprintf(system, sizeof(system), "%dx %s", gpus, jobs[i].gpu);
			req.base = (int)jobs[i].base;
			req.global_batch = 32;
			const struct jl_job job = weigh(&req);

			if (job.prediction.room == JL_ROOM_NONE)
				continue;
			if (job.prediction.step_s.value > before_s)
				fail_msg("%s: %s takes %g s, half of it %g s", req.model, system,
					 job.prediction.step_s.value, before_s);
			before_s = job.prediction.step_s.value;
			n++;
		}
	}
	assert_true(n >= 20);
}

/* The libraries that train adapters spread no experts and cut no layers; who asks for Megatron has it done, and trains all weights so. */
static void test_experts_are_spread_by_who_can(void **state)
{
	struct jl_request req = ask("gpt-oss-120b", JL_TUNE_LORA, "8x h100-sxm5");
	struct jl_technique rows[JL_TECHNIQUES_MAX];
	size_t n;

	(void)state;
	req.global_batch = 32;
	const struct jl_job whole = weigh(&req);

	assert_true(whole.how.plan.ep == 1 && whole.how.framework == JL_FW_EAGER);
	assert_int_equal(
		jl_techniques(rows, &n, jl_catalog_embedded(), &whole.how.subject, &whole.how.machine, &req, &err),
		JL_OK);
	for (size_t i = 0; i < n; i++)
		assert_true(!rows[i].possible || rows[i].how.plan.tp * rows[i].how.plan.pp * rows[i].how.plan.ep == 1);
	req.framework = JL_FW_MEGATRON;
	const struct jl_job spread = weigh(&req);

	assert_true(spread.how.plan.ep == 8 && spread.how.framework == JL_FW_MEGATRON);
	assert_non_null(strstr(note(&spread, "parallel"), "ep=8"));
	req = ask("mixtral-8x7b", JL_TUNE_LORA, "8x h100-sxm5");
	req.base = JL_BASE_NF4;
	assert_true(weigh(&req).how.plan.ep == 1);
}

/* What nobody asked for is as fast as what somebody would have asked for; plain data parallel that fits and whole layers are left for a third more. */
static void test_nothing_plain_is_faster(void **state)
{
	static const char *const models[] = { "gpt2-355m",   "gpt2-1.5b",   "llama-3-8b", "llama-2-7b",
					      "llama-2-13b", "llama-3-70b", "gpt-3-175b", "deepseek-v3" };
	static const char *const systems[] = { "2x rtx-4090",          "dgx-h100",
					       "2x dgx-h100",          "8x dgx-h100",
					       "8x dgx-a100-80gb",     "8x rtx-4090",
					       "16x aws:p4d.24xlarge", "32x dgx-h100",
					       "256x dgx-h100",        "8x(8x rtx-4090) over 10gbe" };
	static const struct {
		double tp, pp, ep;
		int zero;
	} others[] = { { 1, 1, NAN, 0 }, { 1, 1, NAN, 2 }, { 1, 1, NAN, 3 },  { 1, 1, 256, 3 },  { 8, 1, NAN, 1 },
		       { 8, 2, NAN, 1 }, { 1, 2, NAN, 1 }, { 1, 16, NAN, 1 }, { 2, 16, NAN, 1 }, { 4, 4, NAN, 1 } };
	int n = 0;

	(void)state;
	for (size_t i = 0; i < JL_LEN(models) * JL_LEN(systems); i++) {
		for (size_t k = 0; k < 2 * JL_LEN(others); k++) { /* with an open batch, then with one that is stated */
			const size_t at = k % JL_LEN(others);
			struct jl_request req = jl_request_empty();

			req.model = models[i % JL_LEN(models)];
			req.system = systems[i / JL_LEN(models)];
			req.global_batch = k < JL_LEN(others) ? NAN : 2048;
			const struct jl_job open = weigh(&req);
			const bool whole = open.how.plan.tp * open.how.plan.pp == 1;
			struct jl_job job;

			req.plan.tp = others[at].tp;
			req.plan.pp = others[at].pp;
			req.plan.ep = others[at].ep;
			req.plan.zero = others[at].zero;
			if (open.how.n_gpus > 512 && others[at].zero >= 2 && isnan(others[at].ep))
				continue; /* wider than anybody has measured it */
			if (jl_job_make(&job, jl_catalog_embedded(), &req, &arena, NULL) ||
			    job.prediction.room != JL_ROOM_FITS)
				continue;
			if (open.prediction.samples_per_s.value * (whole ? 1.34 : 1.1) <
			    job.prediction.samples_per_s.value)
				fail_msg("%s on %s: %g samples/s, tp=%g pp=%g ep=%g zero=%d has %g", req.model,
					 req.system, open.prediction.samples_per_s.value, req.plan.tp, req.plan.pp,
					 req.plan.ep, req.plan.zero, job.prediction.samples_per_s.value);
			n++;
		}
	}
	assert_true(n > 300);
}

/* ZeRO that was asked for is ZeRO; and what needs the least does. */
static void test_zero_that_is_asked_for_keeps_layers(void **state)
{
	static const struct {
		const char *model, *system;
		int zero;
	} asked[] = { { "llama-3-8b", "5x rtx-4090", 3 },
		      { "llama-3-8b", "4x rtx-4090", 2 },
		      { "mistral-7b", "5x rtx-4090", 3 },
		      { "mistral-7b", "7x rtx-4090", 3 },
		      { "qwen2.5-7b", "5x rtx-4090", 3 } };

	(void)state;
	for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
		struct jl_request req = ask(asked[i].model, JL_TUNE_FULL, asked[i].system);

		req.seq = 1024;
		const struct jl_job open = weigh(&req);

		req.plan.zero = asked[i].zero;
		const struct jl_job job = weigh(&req);

		assert_true(job.how.plan.zero == asked[i].zero && job.how.plan.dp == job.how.n_gpus);
		if (open.prediction.room == JL_ROOM_NONE)
			assert_true(open.prediction.memory.total_B <= 1.001 * job.prediction.memory.total_B);
	}
	struct jl_request req = ask("llama-3-8b", JL_TUNE_FULL, "4x rtx-4090");
	struct jl_job job;

	req.plan.pp = 2;
	req.plan.zero = 2;
	assert_int_equal(jl_job_make(&job, jl_catalog_embedded(), &req, &arena, &err), JL_E_USAGE);
	assert_non_null(strstr(err.en, "zero=1"));
}

static void test_unsloth_cuts_no_layers(void **state)
{
	struct jl_request req = ask("llama-3-8b", JL_TUNE_LORA, "2x rtx-4090");
	struct jl_job job;

	(void)state;
	req.framework = JL_FW_FUSED;
	req.plan.tp = 2;
	assert_int_equal(jl_job_make(&job, jl_catalog_embedded(), &req, &arena, &err), JL_E_USAGE);
	req.plan.tp = NAN;
	req.plan.pp = 2;
	assert_int_equal(jl_job_make(&job, jl_catalog_embedded(), &req, &arena, &err), JL_E_USAGE);
	assert_non_null(strstr(err.en, "unsloth"));
	req = ask("llama-3-70b", JL_TUNE_FULL, "8x rtx-4090"); /* nor where it does not fit otherwise */
	req.framework = JL_FW_FUSED;
	assert_true(weigh(&req).how.plan.tp * weigh(&req).how.plan.pp == 1);
}

/* Libraries of adapters make layers again or nothing: no reason, advice or row speaks of something between. */
static void test_adapters_recompute_layers_or_nothing(void **state)
{
	struct jl_request req = ask("llama-3-8b", JL_TUNE_LORA, "rtx-4090");
	struct jl_technique rows[JL_TECHNIQUES_MAX];
	size_t n;

	(void)state;
	req.base = JL_BASE_NF4;
	req.batch = 1;
	const struct jl_job job = weigh(&req);

	assert_int_equal(job.how.plan.recompute, JL_RECOMPUTE_FULL);
	req.recompute = JL_RECOMPUTE_NONE;
	const bool none_fits = weigh(&req).prediction.memory.total_B <= job.prediction.capacity_B;

	assert_true((strstr(note(&job, "recompute"), "does not fit") == NULL) == none_fits);
	req.recompute = JL_UNSET;
	assert_int_equal(jl_techniques(rows, &n, jl_catalog_embedded(), &job.how.subject, &job.how.machine, &req, &err),
			 JL_OK);
	for (size_t i = 0; i < n; i++)
		assert_string_not_equal(rows[i].key, "recompute_selective");
}

/* Nothing goes back through frozen layers: neither time nor FLOP. */
static void test_trained_layers_count_their_own_flop(void **state)
{
	struct jl_request req = ask("exaone-3.5-7.8b", JL_TUNE_LAYERS, "a100-sxm4-80gb");

	(void)state;
	const struct jl_job few = weigh(&req);

	req.tuned_layers = few.how.subject.model.n_layers;
	const struct jl_job all = weigh(&req);

	assert_true(few.prediction.mfu_frac > 0.2 && few.prediction.mfu_frac < 1);
	assert_true(few.prediction.flop / few.how.global_batch < 0.6 * all.prediction.flop / all.how.global_batch);
}

/* The list of operations sums to the work of the step, whatever is made again. */
static void test_kernels_are_what_the_step_is_made_of(void **state)
{
	struct jl_request req = ask("llama-3-8b", JL_TUNE_LORA, "rtx-4090");
	double before_s = 0, before = 0;

	(void)state;
	req.base = JL_BASE_NF4;
	req.batch = 1;
	for (int r = JL_RECOMPUTE_NONE; r <= JL_RECOMPUTE_FULL; r++) {
		struct jl_kernels kernels;
		struct jl_train_blocks blocks;
		double listed_s = 0, blocks_s = 0;

		req.recompute = r;
		const struct jl_job job = weigh(&req);
		const struct jl_train train = jl_case_train(&job.how);

		assert_int_equal(jl_kernels_make(&kernels, &job.how, &arena, &err), JL_OK);
		for (size_t i = 0; i < kernels.n; i++)
			listed_s += strcmp(kernels.items[i].block, "optimizer") ? kernels.items[i].device_s : 0;
		jl_train_blocks(&train, &blocks);
		for (int k = 0; k < JL_N_BLOCK; k++) {
			const struct jl_phase_cost *p[] = { &blocks.cost[k].fwd, &blocks.cost[k].bwd,
							    &blocks.cost[k].re };

			for (size_t i = 0; i < 3; i++)
				blocks_s += (k == JL_BLOCK_DENSE ? 32
					     : k == JL_BLOCK_MOE ? 0
								 : 1) *
					    (p[i]->gemm_s + p[i]->attention_s + p[i]->stream_s);
		}
		assert_true(fabs(listed_s / blocks_s - 1) < 1e-9);
		assert_true(listed_s > before_s && kernels.launches > before);
		before_s = listed_s;
		before = kernels.launches;
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_more_gpus_are_not_slower),
		TEST(test_experts_are_spread_by_who_can),
		TEST(test_nothing_plain_is_faster),
		TEST(test_zero_that_is_asked_for_keeps_layers),
		TEST(test_unsloth_cuts_no_layers),
		TEST(test_adapters_recompute_layers_or_nothing),
		TEST(test_trained_layers_count_their_own_flop),
		TEST(test_kernels_are_what_the_step_is_made_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
