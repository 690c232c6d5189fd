/* Serving: properties that hold for any fitted values. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "timeline/serve.h"

#define assert_near(a, b, within) assert_true(fabs((a) - (b)) <= (within))

/* an 8 B model with grouped keys and values, on an 80 GB device without losses */
#define PARAMS (32.0 * (6144.0 * 4096 + 4096.0 * 4096 + 3 * 14336.0 * 4096))
static const struct jl_served dense = { .n_layers = 32,
					.hidden = 4096,
					.dense_params = PARAMS,
					.table_params = 0.5e9,
					.kv_elems = 32 * 2 * 8 * 128,
					.kv_heads = 8,
					.heads = 32,
					.head_dim = 128,
					.context_frac = 1,
					.products = { { 6144, 4096, 32, JL_CUT_N, 0 },
						      { 4096, 4096, 32, JL_CUT_K, 0 },
						      { 28672, 4096, 32, JL_CUT_N, 0 },
						      { 4096, 14336, 32, JL_CUT_K, 0 } },
					.n_products = 4 };
#define ALL(value)                                                                                                     \
	{                                                                                                              \
		value, value, value, value, value, value, value                                                        \
	}
static const struct jl_device dev = { .peak_flopps = { [JL_FP32] = 67e12,
						       [JL_TF32] = 495e12,
						       [JL_FP16] = 990e12,
						       [JL_BF16] = 990e12,
						       [JL_FP8] = 1979e12,
						       [JL_FP4] = NAN,
						       [JL_INT8] = 1979e12 },
				      .mem_B = 80e9,
				      .mem_Bps = 3.35e12,
				      .link_Bps = 450e9,
				      .n_sm = 128,
				      .boost_Hz = 1.5e9,
				      .fit = { .gemm_frac = ALL(1),
					       .mem_frac = 1,
					       .read_frac = 1,
					       .sm_Bps = 1e18,
					       .sm_mem_Bps = 1e18,
					       .align_frac = 1,
					       .wide_B = INFINITY,
					       .wide_frac = 1,
					       .dequant_frac = 1,
					       .flash_frac = 1 } };
static const struct jl_serve_fit plain = { .mem_gain = 1,
					   .kv_gain = 1,
					   .math_gain = ALL(1),
					   .portable_frac = 1,
					   .flash_gain = 1,
					   .expert_gain = 1,
					   .hop_gain = 1,
					   .few_frac = 1,
					   .kernel_gain = 1 };
static const struct jl_serve_format bf16 = { .dtype = JL_BF16,
					     .weight_B = 2,
					     .expert_B = 2,
					     .kv_B = 2,
					     .dense = JL_OP_BF16,
					     .experts = JL_OP_BF16 },
				    int4 = { .dtype = JL_BF16,
					     .weight_B = 0.5,
					     .expert_B = 0.5,
					     .kv_B = 2,
					     .weight_only = 1,
					     .dense = JL_OP_INT4_WO,
					     .experts = JL_OP_INT4_WO },
				    fp4 = { .dtype = JL_FP4,
					    .weight_B = 0.5,
					    .expert_B = 0.5,
					    .kv_B = 1,
					    .dense = JL_OP_NVFP4,
					    .experts = JL_OP_NVFP4 };
static const struct jl_serve_place alone = { .n_gpus = 1, .n_stages = 1, .link_Bps = 450e9, .hop_gain = 1 };

/* Operators without losses and start-up times. */
static struct jl_op_fit lossless;

static int set_up(void **state)
{
	static const enum jl_op_term times[] = { JL_TERM_FLASH_FIXED_S,  JL_TERM_FLASH_BLOCK_S,   JL_TERM_KV_FIXED_S,
						 JL_TERM_LATENT_FIXED_S, JL_TERM_LATENT_MODULE_S, JL_TERM_ONE_S,
						 JL_TERM_ONE_RANK_S,     JL_TERM_TWO_S,           JL_TERM_LIB_S,
						 JL_TERM_LIB_RANK_S,     JL_TERM_EXCHANGE_S };

	(void)state;
	for (int i = 0; i < JL_N_TERM; i++)
		lossless.v[i] = 1;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		lossless.v[times[i]] = 0;
	for (int f = 0; f < JL_N_OP_FORMAT; f++)
		lossless.v[JL_TERM_FIXED_S + f] = lossless.v[JL_TERM_EXPERT_FIXED_S + f] = lossless.v[JL_TERM_K_S + f] =
			0;
	lossless.v[JL_TERM_EXPERT_MOVE] = 0;
	return 0;
}

static struct jl_serve_job job_of(const struct jl_served *model, struct jl_serve_format format)
{
	return (struct jl_serve_job){
		.dev = &dev, .fit = &plain, .ops = &lossless, .model = model, .format = format, .place = alone
	};
}

static struct jl_serve_step decode(const struct jl_serve_job *job, double n, double context)
{
	const struct jl_pass pass = jl_pass_decode(n, context);

	return jl_serve_pass(job, &pass);
}

static struct jl_serve_step prefill(const struct jl_serve_job *job, double n, double prompt)
{
	const struct jl_pass pass = jl_pass_prefill(n, prompt);

	return jl_serve_pass(job, &pass);
}

static void test_one_token_reads_the_weights_once(void **state)
{
	const struct jl_serve_job job = job_of(&dense, bf16);
	const double weights_s = PARAMS * 2 / 3.35e12;

	(void)state;
	assert_near(decode(&job, 1, 0).weights_s, weights_s, 0.01 * weights_s);
	/* plus its context's keys and values */
	assert_near(decode(&job, 4, 2000).step_s - decode(&job, 4, 1000).step_s,
		    4 * 1000 * dense.kv_elems * 2 / 3.35e12, 1e-9);
}

/* Kernels with few loads in flight lose more on a fast memory than on a slow one. */
static void test_few_requests_do_not_fill_a_fast_memory(void **state)
{
	struct jl_device slow = dev;
	struct jl_serve_fit few = plain;
	struct jl_serve_job job = job_of(&dense, bf16);
	const struct jl_device *const devices[] = { &dev, &slow };
	double lost[2];

	(void)state;
	slow.mem_Bps = 0.9e12;
	few.sm_B = 64;
	for (int i = 0; i < 2; i++) {
		job.dev = devices[i];
		job.fit = &plain;
		const double all_s = decode(&job, 1, 0).weights_s;

		job.fit = &few;
		lost[i] = decode(&job, 1, 0).weights_s / all_s;
	}
	assert_near(lost[0], 1 + 3.35e12 / (64 * 128 * 1.5e9), 0.01);
	assert_true(lost[0] > lost[1] && lost[1] > 1);
}

static void test_narrow_weights_are_faster_alone(void **state)
{
	const struct jl_serve_job wide = job_of(&dense, bf16), narrow = job_of(&dense, int4);

	(void)state;
	assert_near(decode(&wide, 1, 0).weights_s / decode(&narrow, 1, 0).weights_s, 4, 0.05);
	assert_true(jl_serve_room(&narrow, 2048, 0.9) > jl_serve_room(&wide, 2048, 0.9));
}

static void test_a_long_prompt_is_arithmetic(void **state)
{
	const struct jl_serve_job job = job_of(&dense, bf16);
	const struct jl_serve_step s = prefill(&job, 1, 8192);
	const double math_s = 2 * 8192 * PARAMS / 990e12;

	(void)state;
	assert_true(s.math_s > 10 * s.weights_s);
	assert_near(s.math_s + s.weights_s, math_s, 0.05 * math_s);
	assert_true(prefill(&job, 1, 16384).step_s > 2 * s.step_s); /* attention grows quadratically */
}

static void test_a_format_that_is_missing_is_computed_in_16_bit(void **state)
{
	const struct jl_serve_job job = job_of(&dense, fp4);
	const struct jl_serve_step s = prefill(&job, 1, 8192);
	const double math_s = 2 * 8192 * PARAMS / 990e12;

	(void)state;
	assert_near(s.math_s + s.weights_s, math_s, 0.05 * math_s);
}

/* A mixed pass of prompts and decoding takes less than the two separately, and at least as long as either. */
static void test_mixed_passes_share_the_weights(void **state)
{
	const struct jl_serve_job job = job_of(&dense, bf16);
	const struct jl_pass mixed = { .n_seqs = 32,
				       .n_drafted = 1,
				       .context = 1000,
				       .n_prompts = 1,
				       .prompt_tokens = 512,
				       .prompt_pairs = 512 * 256 };
	const double both_s = jl_serve_pass(&job, &mixed).step_s, d = decode(&job, 32, 1000).step_s,
		     p = prefill(&job, 1, 512).step_s;

	(void)state;
	assert_true(both_s < d + p);
	assert_true(both_s >= d && both_s >= p);
}

static void test_experts_are_read_as_far_as_tokens_go_there(void **state)
{
	struct jl_served mixture = dense;

	(void)state;
	mixture.n_experts = 64;
	mixture.top_k = 4;
	mixture.n_moe_layers = 32;
	mixture.expert_up = 2 * 1536;
	mixture.expert_down = 1536;
	mixture.expert_params = 32.0 * 64 * 3 * 1536 * 4096;
	const struct jl_serve_job job = job_of(&mixture, int4);
	const struct jl_serve_step one = decode(&job, 1, 0), all = decode(&job, 1000, 0);
	const double few = one.weights_s + one.math_s, many = all.weights_s + all.math_s;

	assert_near(few, (PARAMS + mixture.expert_params * 4 / 64) * 0.5 / 3.35e12, 0.03 * few);
	assert_true(many > (PARAMS + mixture.expert_params) * 0.5 / 3.35e12 * 0.97);
}

static void test_devices_share_weights_but_not_what_cannot_be_cut(void **state)
{
	struct jl_serve_job job = job_of(&dense, bf16);
	const double one_B = jl_serve_weights_B(&job), kv_B = jl_serve_context_B(&job, 1000);

	(void)state;
	job.place.n_gpus = 16;
	assert_near(jl_serve_weights_B(&job), one_B / 16, 1);
	assert_near(jl_serve_context_B(&job, 1000), kv_B / 8, 1); /* eight heads */
	assert_true(decode(&job, 16, 0).weights_s < PARAMS * 2 / 3.35e12 / 15);
	assert_true(decode(&job, 16, 0).exchange_s > 0);
	job.place.split_batch = 1; /* data-parallel attention: every device has everything but the experts */
	assert_near(jl_serve_context_B(&job, 1000), kv_B / 16, 1);
	assert_true(jl_serve_weights_B(&job) > PARAMS * 2);
}

/* A pass launched kernel by kernel takes at least the host's time; a captured one does not. */
static void test_prompts_wait_for_the_host(void **state)
{
	struct jl_serve_fit slow = plain;
	struct jl_serve_job job = job_of(&dense, bf16);

	(void)state;
	slow.host_layer_s = 1e-2;
	job.fit = &slow;
	assert_true(prefill(&job, 1, 64).step_s >= 32 * 1e-2);
	assert_true(decode(&job, 1, 64).step_s < 32 * 1e-3);
}

/* All-reduce: time grows with devices and bytes; small ones use one-shot, large ones two-shot. */
static void test_exchanges_grow(void **state)
{
	struct jl_op_fit fit = lossless;
	double last = 0;

	(void)state;
	fit.v[JL_TERM_ONE_S] = 4e-6;
	fit.v[JL_TERM_TWO_S] = 8e-6;
	fit.v[JL_TERM_LIB_S] = 1e-5;
	for (double bytes = 1024; bytes < 1e9; bytes *= 4) {
		struct jl_served_exchange ex = { .n = 8, .bytes = bytes, .link_Bps = 450e9, .how = JL_SUM_ENGINE };
		const double s = jl_served_exchange_s(&fit, &ex);

		assert_true(s > last);
		last = s;
		ex.how = JL_SUM_LIBRARY;
		assert_true(s <= jl_served_exchange_s(&fit, &ex));
		ex.n = 1;
		assert_true(jl_served_exchange_s(&fit, &ex) == 0);
	}
	const struct jl_served_exchange small = { .n = 8, .bytes = 1024, .link_Bps = 450e9 };

	assert_near(jl_served_exchange_s(&fit, &small), 4e-6 + 7 * 1024 / 450e9, 1e-9);
}

/* Pipeline stages: enough requests halve the pass time, a single prompt passes the stages in turn. */
static void test_stages_overlap_where_there_is_enough_to_do(void **state)
{
	struct jl_serve_job whole = job_of(&dense, bf16), halves = whole;
	const double piece = 4096;
	struct jl_pass one = jl_pass_prefill(1, piece), busy = jl_pass_prefill(2, piece),
		       half = { .n_seqs = 32, .n_drafted = 1, .context = 100 };

	(void)state;
	halves.place.n_stages = 2;
	halves.place.chunk = piece;
	assert_near(jl_serve_pass(&halves, &one).math_s, jl_serve_pass(&whole, &one).math_s, 1e-9);
	half.n_prompts = 1;
	half.prompt_tokens = piece;
	half.prompt_pairs = one.prompt_pairs;
	busy.n_seqs = 64;
	busy.n_drafted = 1;
	busy.context = 100;
	assert_near(jl_serve_pass(&halves, &busy).step_s / jl_serve_pass(&whole, &half).step_s, 1, 0.01);
}

/* Portable kernels are slower than the vendor's only for narrow weights on matrix units. */
static void test_kernels_for_any_card(void **state)
{
	struct jl_serve_fit portable = plain;
	struct jl_device vector = dev;
	struct jl_serve_job wide = job_of(&dense, bf16), narrow = job_of(&dense, int4);
	const double wide_s = prefill(&wide, 1, 4096).math_s, narrow_s = prefill(&narrow, 1, 4096).math_s;

	(void)state;
	portable.portable_frac = 0.5;
	wide.fit = narrow.fit = &portable;
	assert_near(prefill(&narrow, 1, 4096).math_s, 2 * narrow_s, 0.02 * narrow_s);
	assert_near(prefill(&wide, 1, 4096).math_s, wide_s, 1e-12);
	vector.peak_flopps[JL_FP16] = vector.peak_flopps[JL_BF16] = vector.peak_flopps[JL_FP32];
	vector.peak_flopps[JL_INT8] = NAN;
	narrow.dev = &vector;
	const double portable_s = prefill(&narrow, 1, 4096).math_s;

	narrow.fit = &plain;
	assert_near(portable_s, prefill(&narrow, 1, 4096).math_s, 1e-12);
}

/* 100 adapters of rank 16, by hand: a layer's seven matrices have 16 numbers per input and output */
static void test_adapters_lie_beside_the_weights_and_are_read(void **state)
{
	(void)state;
	static const double ins_outs = 3 * 4096.0 + 6144 + 2 * 4096 + 2 * 4096 + 28672 + 14336 + 4096;
	static const double cut = 3 * 4096.0 + 3072 + 2048 + 4096 + 2 * 4096 + 14336 + 7168 + 4096;
	struct jl_served model = dense;
	struct jl_serve_job job = { .dev = &dev,
				    .fit = &plain,
				    .ops = &lossless,
				    .model = &model,
				    .format = bf16,
				    .place = { .n_gpus = 1, .n_stages = 1, .link_Bps = 450e9, .hop_gain = 1 },
				    .adapters = { 0, 16 } };
	const struct jl_pass pass = jl_pass_decode(32, 1024);
	const double without_s = jl_serve_pass(&job, &pass).step_s, room = jl_serve_room(&job, 1, 0.9);
	double last_s = without_s;

	model.products[0].parts = 3;
	model.products[2].parts = 2;
	assert_true(jl_serve_pass(&job, &pass).step_s == without_s && jl_serve_adapters_B(&job) == 0);
	for (job.adapters.n = 1; job.adapters.n <= 1000; job.adapters.n++) {
		const double s = jl_serve_pass(&job, &pass).step_s;

		assert_true(s > last_s);
		last_s = s;
	}
	job.adapters.n = 100;
	assert_near(jl_serve_adapters_B(&job), 100 * 2 * 16 * 32 * ins_outs, 1);
	assert_near(jl_serve_adapters_B(&job), 8388608000.0, 1);
	assert_near((room - jl_serve_room(&job, 1, 0.9)) * jl_serve_context_B(&job, 1), 8388608000.0, 100);
	job.place.n_gpus = 2;
	assert_near(jl_serve_adapters_B(&job), 100 * 2 * 16 * 32 * cut, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_token_reads_the_weights_once),
		cmocka_unit_test(test_few_requests_do_not_fill_a_fast_memory),
		cmocka_unit_test(test_narrow_weights_are_faster_alone),
		cmocka_unit_test(test_a_long_prompt_is_arithmetic),
		cmocka_unit_test(test_a_format_that_is_missing_is_computed_in_16_bit),
		cmocka_unit_test(test_mixed_passes_share_the_weights),
		cmocka_unit_test(test_experts_are_read_as_far_as_tokens_go_there),
		cmocka_unit_test(test_prompts_wait_for_the_host),
		cmocka_unit_test(test_exchanges_grow),
		cmocka_unit_test(test_stages_overlap_where_there_is_enough_to_do),
		cmocka_unit_test(test_kernels_for_any_card),
		cmocka_unit_test(test_adapters_lie_beside_the_weights_and_are_read),
		cmocka_unit_test(test_devices_share_weights_but_not_what_cannot_be_cut),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
