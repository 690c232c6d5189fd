/* Runs that were published, as an expert would ask about them: each inside the interval that is answered. And what no choice may do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "predict/collective_case.h"
#include "predict/predict.h"

static struct jl_arena arena;

static int set_up(void **state)
{
	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	jl_arena_release(&arena);
	return 0;
}

static const struct anchor {
	const char *model, *system, *parallel;
	double global_batch, seq;
	int dtype, framework, recompute;
	double tokens_per_s_per_gpu; /* published; or */
	double flopps;               /* of the model, each GPU */
} anchors[] = {
	/* 2.664 M H800 hours for 14.8 T tokens: DeepSeek-V3 technical report, arXiv:2412.19437, table 1 */
	{ "deepseek-v3", "256x(8x h800-sxm5)", "pp=16,ep=64,tp=1", 15360, 4096, JL_FP8, JL_UNSET, JL_UNSET,
	  14.8e12 / (2.664e6 * 3600), NAN },
	/* 400 TFLOP/s on 16,384 H100, TP 8, PP 16, DP 128, interleaved: The Llama 3 Herd of Models, arXiv:2407.21783, table 4 */
	{ "llama-3-405b", "2048x dgx-h100", "tp=8,pp=16,vpp=7,dp=128,zero=1", 2048, 8192, JL_BF16, JL_UNSET, JL_UNSET,
	  NAN, 400e12 },
	/* FSDP and FSDP + torch.compile on 128 H100 with HBM2e at 500 W: torchtitan, llama3_h100_202412_torchtitan.md, table 3 */
	{ "llama-3-8b", "16x(8x h100-sxm5-96gb-hbm2e)", "zero=3", 256, 8192, JL_BF16, JL_FW_COMPILED,
	  JL_RECOMPUTE_SELECTIVE, 6514, NAN },
	{ "llama-3-8b", "16x(8x h100-sxm5-96gb-hbm2e)", "zero=3", 256, 8192, JL_BF16, JL_FW_EAGER,
	  JL_RECOMPUTE_SELECTIVE, 5605, NAN },
	/* 468 TFLOP/s a GPU, bf16, PP 4, EP 8: Megatron-LM, megatron/core/transformer/moe/README.md */
	{ "mixtral-8x7b", "8x dgx-h100", "tp=1,pp=4,vpp=8,ep=8", 256, 4096, JL_BF16, JL_FW_MEGATRON, JL_UNSET, NAN,
	  468e12 },
};

static struct jl_job ask(const struct anchor *a)
{
	struct jl_request req = jl_request_empty();
	static struct jl_job job;
	struct jl_err err;

	req.model = a->model;
	req.system = a->system;
	req.global_batch = a->global_batch;
	req.seq = a->seq;
	req.dtype = a->dtype;
	req.framework = a->framework;
	req.recompute = a->recompute;
	assert_int_equal(jl_request_parallel(&req.plan, a->parallel, &err), JL_OK);
	if (jl_job_make(&job, jl_catalog_embedded(), &req, &arena, &err))
		fail_msg("%s on %s: %s", a->model, a->system, err.en);
	return job;
}

static void published_runs_are_inside(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof anchors / sizeof *anchors; i++) {
		const struct anchor *a = &anchors[i];
		const struct jl_job job = ask(a);
		const struct jl_prediction *p = &job.prediction;
		const double flop = p->flop / job.how.n_gpus;
		const double took_s = isnan(a->flopps)
					      ? a->global_batch * a->seq / job.how.n_gpus / a->tokens_per_s_per_gpu
					      : flop / a->flopps;

		assert_int_equal(p->room, JL_ROOM_FITS);
		if (!(took_s >= p->step_s.lo && took_s <= p->step_s.hi))
			fail_msg("%s on %s: published %.3g s, answered %.3g s (%.3g to %.3g)", a->model, a->system,
				 took_s, p->step_s.value, p->step_s.lo, p->step_s.hi);
	}
}

/* Experts over hosts are exchanged behind other work; inside a host nothing is assumed. */
static void experts_overlap_between_hosts(void **state)
{
	struct jl_job job;

	(void)state;
	job = ask(&anchors[0]);
	assert_true(job.how.plan.ep_async);
	assert_true(job.prediction.step.ep_s < 0.2 * job.prediction.step.compute_s);
	job.how.plan.ep_async = 0;
	jl_predict(&job.prediction, NULL, &job.how);
	assert_true(job.prediction.step.ep_s > job.prediction.step.compute_s);
}

/* What fits without is not faster with something in host memory, whatever is put there, but for the launches of an optimizer that the host runs
 * itself: 5 % of a step of small tensors. */
static void offload_never_speeds_up_what_fits(void **state)
{
	static const char *const models[] = { "gpt2-355m", "gpt3-1.3b", "llama-2-7b" };
	static const char *const systems[] = { "rtx-4090", "10x rtx-3090", "dgx-a100-80gb", "2x aws:p5.48xlarge" };
	int n = 0;

	(void)state;
	for (size_t m = 0; m < 3; m++)
		for (size_t s = 0; s < 4; s++)
			for (int zero = 0; zero <= 3; zero++)
				for (int offload = 1; offload < 8; offload++) {
					struct jl_request req = jl_request_empty();
					static struct jl_job plain, moved;

					req.model = models[m];
					req.system = systems[s];
					req.batch = 1;
					req.plan.zero = zero;
					req.plan.tp = req.plan.pp = 1;
					req.recompute = JL_RECOMPUTE_FULL;
					if (jl_job_make(&plain, jl_catalog_embedded(), &req, &arena, NULL) ||
					    plain.prediction.room != JL_ROOM_FITS)
						continue;
					req.offload = offload;
					if (jl_job_make(&moved, jl_catalog_embedded(), &req, &arena, NULL))
						continue;
					n++;
					if (moved.prediction.step_s.value < plain.prediction.step_s.value * 0.95)
						fail_msg("%s on %s, zero %d, offload %d: %.4g s, without %.4g s",
							 models[m], systems[s], zero, offload,
							 moved.prediction.step_s.value, plain.prediction.step_s.value);
				}
	assert_true(n > 50);
}

/* Hosts joined by a network that does not reduce are not faster than one of them alone. */
static void hosts_are_not_faster_than_one(void **state)
{
	static const char *const hosts[] = { "aws:p5.48xlarge", "aws:p4d.24xlarge", "dgx-h100" };
	static const double sizes[] = { 1e6, 1e8, 1e9, 16e9 };

	(void)state;
	for (size_t h = 0; h < 3; h++)
		for (size_t k = 0; k < 4; k++) {
			const struct jl_collective_ask ask_all = { .kind = JL_ALLREDUCE, .size_B = sizes[k] };
			struct jl_collective_case one, two;
			struct jl_machine machine;
			struct jl_sys sys;
			struct jl_err err;
			const char *text = jl_arena_printf(&arena, "2x %s", hosts[h]);

			assert_int_equal(jl_sys_parse(&sys, jl_catalog_embedded(), hosts[h], &arena, &err), JL_OK);
			assert_int_equal(jl_machine_make(&machine, jl_catalog_embedded(), &sys, &err), JL_OK);
			assert_int_equal(jl_collective_case(&one, &machine, &ask_all, &err), JL_OK);
			assert_int_equal(jl_sys_parse(&sys, jl_catalog_embedded(), text, &arena, &err), JL_OK);
			assert_int_equal(jl_machine_make(&machine, jl_catalog_embedded(), &sys, &err), JL_OK);
			assert_int_equal(jl_collective_case(&two, &machine, &ask_all, &err), JL_OK);
			if (two.in_network)
				continue;
			assert_true(two.algbw_Bps.value <= one.algbw_Bps.value * (1 + 1e-9));
			assert_true(two.algbw_Bps.hi <= one.algbw_Bps.hi * (1 + 1e-9));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(published_runs_are_inside, set_up, tear_down),
		cmocka_unit_test_setup_teardown(experts_overlap_between_hosts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(offload_never_speeds_up_what_fits, set_up, tear_down),
		cmocka_unit_test_setup_teardown(hosts_are_not_faster_than_one, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
