/* Laws that serving must keep, whatever the fitted values are. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/serve.h"

#define assert_near(a, b, within) assert_true(fabs((a) - (b)) <= (within))

/* an 8 B model with grouped keys and values, on an 80 GB device */
static const struct jl_served dense = { .n_layers = 32,
					.hidden = 4096,
					.dense_params = 7.5e9,
					.table_params = 0.5e9,
					.kv_elems = 32 * 2 * 8 * 128,
					.kv_heads = 8,
					.pair_flop = 32 * 4 * 32 * 128,
					.context_frac = 1 };
static const struct jl_device dev = { .peak_flopps = { [JL_FP32] = 67e12,
						       [JL_TF32] = 495e12,
						       [JL_FP16] = 990e12,
						       [JL_BF16] = 990e12,
						       [JL_FP8] = 1979e12,
						       [JL_FP4] = NAN,
						       [JL_INT8] = 1979e12 },
				      .mem_B = 80e9,
				      .mem_Bps = 3.35e12,
				      .link_Bps = 450e9 };
static const struct jl_serve_fit plain = { .mem_frac = 1,
					   .kv_frac = 1,
					   .math_frac = { 1, 1, 1, 1, 1, 1, 1 },
					   .flash_frac = 1,
					   .narrow_mem_frac = 1,
					   .narrow_math_frac = 1,
					   .expert_frac = 1,
					   .link_frac = 1,
					   .mix_frac = 1 };
static const struct jl_serve_format bf16 = { JL_BF16, 2, 2, 2, 0, 0 }, int4 = { JL_BF16, 0.5, 0.5, 2, 0, 1 },
				    fp4 = { JL_FP4, 0.5, 0.5, 1, 0, 0 };
static const struct jl_serve_place alone = { .n_gpus = 1, .n_stages = 1, .link_Bps = 450e9, .hop_gain = 1 };

static struct jl_serve_job job_of(const struct jl_served *model, struct jl_serve_format format)
{
	return (struct jl_serve_job){ .dev = &dev, .fit = &plain, .model = model, .format = format, .place = alone };
}

static void test_one_token_reads_the_weights_once(void **state)
{
	const struct jl_serve_job job = job_of(&dense, bf16);

	(void)state;
	assert_near(jl_serve_decode(&job, 1, 0).step_s, 7.5e9 * 2 / 3.35e12, 1e-9);
	/* and its context's keys and values */
	assert_near(jl_serve_decode(&job, 4, 1000).step_s - jl_serve_decode(&job, 4, 0).step_s,
		    4 * 1000 * dense.kv_elems * 2 / 3.35e12, 1e-9);
}

/* Kernels that keep little on the way lose more of a fast memory than of a slow one. */
static void test_few_requests_do_not_fill_a_fast_memory(void **state)
{
	struct jl_device fast = dev, slow = dev;
	struct jl_serve_fit few = plain;
	struct jl_serve_job job = job_of(&dense, bf16);

	(void)state;
	fast.n_sm = slow.n_sm = 100;
	fast.boost_Hz = slow.boost_Hz = 1.5e9;
	slow.mem_Bps = 0.9e12;
	few.sm_B = 64;
	const struct jl_device *const devices[] = { &fast, &slow };
	double lost[2];

	for (int i = 0; i < 2; i++) {
		job.dev = devices[i];
		job.fit = &plain;
		const double all_s = jl_serve_decode(&job, 1, 0).step_s;

		job.fit = &few;
		lost[i] = jl_serve_decode(&job, 1, 0).step_s / all_s;
	}
	assert_near(lost[0], 1 + 3.35e12 / (64 * 100 * 1.5e9), 1e-9);
	assert_true(lost[0] > lost[1] && lost[1] > 1);
}

static void test_narrow_weights_are_faster_alone(void **state)
{
	const struct jl_serve_job wide = job_of(&dense, bf16), narrow = job_of(&dense, int4);

	(void)state;
	assert_near(jl_serve_decode(&wide, 1, 0).step_s / jl_serve_decode(&narrow, 1, 0).step_s, 4, 1e-6);
	assert_true(jl_serve_room(&narrow, 2048) > jl_serve_room(&wide, 2048));
}

static void test_a_long_prompt_is_arithmetic(void **state)
{
	const struct jl_serve_job job = job_of(&dense, bf16);
	const struct jl_serve_step s = jl_serve_prefill(&job, 1, 8192);

	(void)state;
	assert_true(s.math_s > 10 * s.weights_s);
	assert_near(s.math_s, 2 * 8192 * 7.5e9 / 990e12, 1e-6);
	assert_true(jl_serve_prefill(&job, 1, 16384).step_s > 2 * s.step_s); /* attention grows with the square */
}

static void test_a_format_that_is_missing_is_computed_in_the_next_wider(void **state)
{
	const struct jl_serve_job job = job_of(&dense, fp4);

	(void)state;
	assert_near(jl_serve_prefill(&job, 1, 8192).math_s, 2 * 8192 * 7.5e9 / 1979e12, 1e-6);
}

static void test_experts_are_read_as_far_as_tokens_go_there(void **state)
{
	struct jl_served mixture = dense;

	(void)state;
	mixture.expert_params = 40e9;
	mixture.n_experts = 64;
	mixture.top_k = 4;
	const struct jl_serve_job job = job_of(&mixture, int4);
	const double few = jl_serve_decode(&job, 1, 0).weights_s, many = jl_serve_decode(&job, 1000, 0).weights_s;

	assert_near(few, (7.5e9 + 40e9 * 4 / 64) * 0.5 / 3.35e12, 1e-9);
	assert_near(many, 47.5e9 * 0.5 / 3.35e12, 1e-6);
}

static void test_devices_share_weights_but_not_what_cannot_be_cut(void **state)
{
	struct jl_serve_job job = job_of(&dense, bf16);
	const double one_B = jl_serve_weights_B(&job), kv_B = jl_serve_context_B(&job, 1000);

	(void)state;
	job.place.n_gpus = 16;
	assert_near(jl_serve_weights_B(&job), one_B / 16, 1);
	assert_near(jl_serve_context_B(&job, 1000), kv_B / 8, 1); /* eight heads */
	job.place.split_batch = 1;
	assert_near(jl_serve_context_B(&job, 1000), kv_B / 16, 1);
	assert_true(jl_serve_decode(&job, 16, 0).exchange_s > 0);
}

static void test_more_requests_deliver_more_and_wait_longer(void **state)
{
	struct jl_serve_fit fit = plain;
	struct jl_serve_job job = job_of(&dense, bf16);
	double total = 0, tpot = 0, ttft = 0;

	(void)state;
	fit.burst_frac = 0.1;
	fit.seq_s = 1e-6;
	job.fit = &fit;
	for (double n = 1; n <= 64; n *= 2) {
		const struct jl_serve_rate r = jl_serve_rate(
			&job, &(struct jl_serve_load){ .n_requests = n, .prompt = 1024, .output = 256 });

		assert_near(r.batch, n, 0);
		assert_true(r.total_tps > total && r.tpot_s > tpot && r.ttft_s > ttft);
		assert_true(r.total_tps <= n / r.tpot_s * 1.01);
		total = r.total_tps;
		tpot = r.tpot_s;
		ttft = r.ttft_s;
	}
}

static void test_what_has_no_room_waits(void **state)
{
	const struct jl_serve_job job = job_of(&dense, bf16);
	const double room = jl_serve_room(&job, 8192 + 512);
	const struct jl_serve_rate r = jl_serve_rate(
		&job, &(struct jl_serve_load){ .n_requests = 4 * room, .prompt = 8192, .output = 1024 });

	(void)state;
	assert_near(r.batch, room, 1e-9);
	assert_near(r.queue_s, 3 * 1024 * r.tpot_s, 1e-6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_token_reads_the_weights_once),
		cmocka_unit_test(test_few_requests_do_not_fill_a_fast_memory),
		cmocka_unit_test(test_narrow_weights_are_faster_alone),
		cmocka_unit_test(test_a_long_prompt_is_arithmetic),
		cmocka_unit_test(test_a_format_that_is_missing_is_computed_in_the_next_wider),
		cmocka_unit_test(test_experts_are_read_as_far_as_tokens_go_there),
		cmocka_unit_test(test_devices_share_weights_but_not_what_cannot_be_cut),
		cmocka_unit_test(test_more_requests_deliver_more_and_wait_longer),
		cmocka_unit_test(test_what_has_no_room_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
