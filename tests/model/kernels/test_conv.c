/* Step times of operator lists: layouts, formats, old software. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernels/conv.h"

static const struct jl_priors ampere, turing = { .no_tf32 = true }, pascal = { .no_tf32 = true, .no_tensor = true };

static struct jl_device device(void)
{
	struct jl_device dev = { .mem_B = 80e9,
				 .mem_Bps = 2e12,
				 .l2_B = 40e6,
				 .n_sm = 108,
				 .boost_Hz = 1.41e9,
				 .tdp_W = 400,
				 .host_Bps = 31.5e9,
				 .link_Bps = 300e9,
				 .priors = &ampere };

	for (int i = 0; i < JL_N_DTYPE; i++)
		dev.peak_flopps[i] = NAN;
	dev.peak_flopps[JL_FP32] = 19.5e12;
	dev.peak_flopps[JL_TF32] = 156e12;
	dev.peak_flopps[JL_FP16] = dev.peak_flopps[JL_BF16] = 312e12;
	return dev;
}

static struct jl_conv_fit fit(void)
{
	return (struct jl_conv_fit){
		.conv_frac = { 0.5, 0.4, 0.5 },
		.linear_frac = { 0.7, 0.8, 0.8 },
		.rnn_frac = 0.4,
		.bmm_frac = 0.4,
		.attn_frac = 0.7,
		.dw_frac = { 0.05, 0.08 },
		.dw_grad_gain = 3,
		.group_half = 10,
		.grad_turns = 2,
		.group_last_gain = 4,
		.fused_frac = 0.4,
		.winograd_gain = 2.25,
		.layout_frac = 0.5,
		.feed_flop = 3000,
		.odd_feed_flop = 500,
		.odd_vector_frac = 1,
		.dilated_frac = 0.6,
		.slow_tf32_frac = 0.5,
		.wave_frac = 0.5,
		.k_half = 30,
		.mem_frac = 0.85,
		.sm_B = 50,
		.kernel_s = 4e-6,
		.device_frac = 1,
		.launch_s = 1e-5,
		.slow_host_gain = 1.4,
		.amp_calls_gain = 1.3,
		.cast_calls = { 3.5, 5.8 },
		.worker_gain = 0.04,
		.overlap_frac = 0.7,
		.exposed_frac = 0.2,
	};
}

static const struct jl_conv_op conv3 = { .kind = JL_CONV_CONV,
					 .count = 1,
					 .c_in = 256,
					 .h = 28,
					 .w = 28,
					 .c_out = 256,
					 .kh = 3,
					 .kw = 3,
					 .stride = 1,
					 .groups = 1 };
static const struct jl_conv_op conv1 = { .kind = JL_CONV_CONV,
					 .count = 1,
					 .c_in = 256,
					 .h = 28,
					 .w = 28,
					 .c_out = 1024,
					 .kh = 1,
					 .kw = 1,
					 .stride = 1,
					 .groups = 1 };

static struct jl_conv_in input(const struct jl_conv_op *ops, size_t n_ops, enum jl_dtype dtype)
{
	return (struct jl_conv_in){
		.ops = ops, .n_ops = n_ops, .batch = 64, .dtype = dtype, .n_params = 1e6, .update_B = 48, .n_workers = 1
	};
}

static void test_counts_multiply_accumulates(void **state)
{
	(void)state;
	struct jl_conv_op op = conv3;

	assert_true(jl_conv_op_mac(&op) == 28.0 * 28 * 256 * 256 * 9);
	assert_true(jl_conv_op_weights(&op) == 256.0 * 256 * 9);
	op.stride = 2;
	assert_true(jl_conv_op_mac(&op) == 14.0 * 14 * 256 * 256 * 9);
	op.groups = 256;
	assert_true(jl_conv_op_mac(&op) == 14.0 * 14 * 256 * 9);
	op.h = op.w = 7; /* 7 / 2 rounds up, because of padding */
	assert_true(jl_conv_op_mac(&op) == 4.0 * 4 * 256 * 9);

	const struct jl_conv_op rnn = {
		.kind = JL_CONV_RNN, .count = 2, .rows = 1, .k = 1024, .n = 4096, .steps = 30, .heads = 1
	};

	assert_true(jl_conv_op_mac(&rnn) == 2.0 * 30 * 1024 * 4096);
	assert_true(jl_conv_op_weights(&rnn) == 2.0 * 1024 * 4096);
}

static void test_step_has_three_passes(void **state)
{
	(void)state;
	const struct jl_device dev = device();
	const struct jl_conv_fit f = fit();
	struct jl_conv_op op = conv1;
	struct jl_conv_in in = input(&op, 1, JL_FP16);
	const double full = jl_conv_step(&dev, &f, &in).flop;

	assert_true(fabs(full / (6 * 64 * jl_conv_op_mac(&op)) - 1) < 1e-12);
	op.train = JL_CONV_FIRST;
	assert_true(fabs(jl_conv_step(&dev, &f, &in).flop / full - 2.0 / 3) < 1e-12);
	op.train = JL_CONV_FROZEN;
	assert_true(fabs(jl_conv_step(&dev, &f, &in).flop / full - 1.0 / 3) < 1e-12);
}

static void test_faster_device_is_never_slower(void **state)
{
	(void)state;
	static const enum jl_dtype dtypes[] = { JL_FP32, JL_TF32, JL_FP16 };
	const struct jl_conv_op ops[] = {
		conv1,
		conv3,
		{ .kind = JL_CONV_RNN, .count = 4, .rows = 1, .k = 1024, .n = 4096, .steps = 30, .heads = 1 },
		{ .kind = JL_CONV_STREAM, .elems = 1e6, .passes = 8, .calls = 4 }
	};
	const struct jl_conv_fit f = fit();

	for (size_t d = 0; d < sizeof(dtypes) / sizeof(dtypes[0]); d++) {
		const struct jl_conv_in in = input(ops, 4, dtypes[d]);
		double last_s = INFINITY;

		for (int speed = 1; speed <= 8; speed *= 2) {
			struct jl_device dev = device();

			for (int i = 0; i < JL_N_DTYPE; i++)
				dev.peak_flopps[i] *= speed;
			const double peak_s = jl_conv_step(&dev, &f, &in).step_s;

			assert_true(peak_s <= last_s);
			dev.mem_Bps *= 2;
			assert_true(jl_conv_step(&dev, &f, &in).step_s <= peak_s);
			dev.boost_Hz *= 2;
			assert_true(jl_conv_step(&dev, &f, &in).step_s <= peak_s);
			last_s = peak_s;
		}
	}
}

static void test_time_grows_with_batch(void **state)
{
	(void)state;
	const struct jl_device dev = device();
	const struct jl_conv_fit f = fit();
	double last_s = 0;

	for (double batch = 1; batch <= 1024; batch *= 2) {
		struct jl_conv_in in = input(&conv1, 1, JL_FP16);

		in.batch = batch;
		const double step_s = jl_conv_step(&dev, &f, &in).step_s;

		assert_true(step_s >= last_s && isfinite(step_s));
		last_s = step_s;
	}
}

static void test_half_without_tensor_cores_is_vector(void **state)
{
	(void)state;
	struct jl_device dev = device();

	assert_int_equal(jl_conv_path(&dev, JL_FP16), JL_CONV_HALF);
	assert_int_equal(jl_conv_path(&dev, JL_TF32), JL_CONV_TF32);
	dev.priors = &turing; /* a listed TF32 rate without TF32 units */
	assert_int_equal(jl_conv_path(&dev, JL_TF32), JL_CONV_VECTOR);
	assert_int_equal(jl_conv_path(&dev, JL_FP16), JL_CONV_HALF);
	dev.priors = &pascal;
	assert_int_equal(jl_conv_path(&dev, JL_FP16), JL_CONV_VECTOR);
	dev.priors = &ampere;
	dev.peak_flopps[JL_FP16] = dev.peak_flopps[JL_TF32] = NAN;
	assert_int_equal(jl_conv_path(&dev, JL_FP16), JL_CONV_VECTOR);
	assert_int_equal(jl_conv_path(&dev, JL_TF32), JL_CONV_VECTOR);

	const struct jl_conv_fit f = fit();
	struct jl_conv_in half = input(&conv1, 1, JL_FP16), full = input(&conv1, 1, JL_FP32);

	/* half the bytes, the same arithmetic; updates are excluded, because mixed precision moves more */
	half.n_params = full.n_params = 0;
	assert_true(jl_conv_step(&dev, &f, &half).step_s <= jl_conv_step(&dev, &f, &full).step_s);
}

static void test_unlisted_clocks_are_derived(void **state)
{
	(void)state;
	struct jl_device dev = device();
	const struct jl_conv_fit f = fit();
	const struct jl_conv_in in = input(&conv1, 1, JL_FP16);

	dev.n_sm = dev.boost_Hz = NAN;
	const double step_s = jl_conv_step(&dev, &f, &in).step_s;

	assert_true(isfinite(step_s) && step_s > 0);
}

static void test_old_libraries_cost_time(void **state)
{
	(void)state;
	const struct jl_device dev = device();
	const struct jl_conv_fit f = fit();
	const struct jl_conv_op odd = {
		.kind = JL_CONV_LINEAR, .count = 1, .rows = 192, .k = 512, .n = 267735, .steps = 1, .heads = 1
	};
	struct jl_conv_op even = odd, dilated = conv1;
	struct jl_conv_in in = input(&odd, 1, JL_FP16), in_even = input(&even, 1, JL_FP16);

	even.n = 267736;
	assert_true(jl_conv_step(&dev, &f, &in).device_s > 1.5 * jl_conv_step(&dev, &f, &in_even).device_s);
	const double odd_s = jl_conv_step(&dev, &f, &in).device_s;

	in.software = JL_SW_ALIGNED_ONLY;
	in_even.software = JL_SW_ALIGNED_ONLY;
	assert_true(jl_conv_step(&dev, &f, &in).device_s > odd_s);
	assert_true(jl_conv_step(&dev, &f, &in_even).device_s < odd_s);

	struct jl_conv_in in_dilated = input(&dilated, 1, JL_FP16);

	dilated.dilated = 1;
	const double dilated_s = jl_conv_step(&dev, &f, &in_dilated).device_s;

	in_dilated.software = JL_SW_UNDILATED_ONLY;
	assert_true(jl_conv_step(&dev, &f, &in_dilated).device_s > dilated_s);
}

static void test_launches_bound_small_steps(void **state)
{
	(void)state;
	const struct jl_device dev = device();
	const struct jl_conv_fit f = fit();
	const struct jl_conv_op ops[] = { conv1, { .kind = JL_CONV_HOST, .per_step = 1, .calls = 1e5 } };
	struct jl_conv_in in = input(ops, 2, JL_TF32);
	const struct jl_conv_cost one = jl_conv_step(&dev, &f, &in);

	assert_true(one.step_s >= one.host_s && one.step_s < 1.01 * one.host_s);
	assert_true(fabs(one.host_s - (1e5 + 3) * 1e-5) < 1e-9);
	in.n_workers = 8;
	assert_true(jl_conv_step(&dev, &f, &in).host_s > one.host_s);
	in.n_workers = 1;
	in.software = JL_SW_SLOW_HOST;
	assert_true(fabs(jl_conv_step(&dev, &f, &in).host_s / one.host_s - 1.4) < 1e-12);
}

static void test_gradient_traffic_hides_behind_the_device(void **state)
{
	(void)state;
	const struct jl_device dev = device();
	const struct jl_conv_fit f = fit();
	struct jl_conv_in in = input(&conv1, 1, JL_FP16);
	const struct jl_conv_cost alone = jl_conv_step(&dev, &f, &in);
	double last_s = alone.step_s;

	for (double comm_s = 1e-6; comm_s < 10; comm_s *= 2) {
		in.comm_s = comm_s;
		const struct jl_conv_cost cost = jl_conv_step(&dev, &f, &in);

		assert_true(cost.step_s >= last_s);
		assert_true(cost.exposed_s >= 0.2 * comm_s * (1 - 1e-12) && cost.exposed_s <= comm_s);
		last_s = cost.step_s;
	}
}

/* Channels first: 16-bit convolutions transpose inputs and outputs, gradients more often; fp32 ones do not. Channels last: a group norm is
 * transposed. */
static void test_layouts_turn_tensors(void **state)
{
	(void)state;
	const struct jl_device dev = device();
	const struct jl_conv_fit f = fit();
	struct jl_conv_op ops[] = { conv3,
				    { .kind = JL_CONV_STREAM, .count = 1, .elems = 1e6, .passes = 8, .turns = 1 } };
	const double in_and_out = 2 * 256 * 28.0 * 28 * 64;
	double moved_B[JL_N_DTYPE][2];

	for (int last = 0; last < 2; last++)
		for (int half = 0; half < 2; half++) {
			struct jl_conv_in in = input(ops, 1, half ? JL_FP16 : JL_TF32);

			in.software = (last ? JL_SW_CHANNELS_LAST : 0U) | JL_SW_PURE;
			moved_B[half][last] = jl_conv_step(&dev, &f, &in).moved_B;
		}
	assert_true(moved_B[0][0] == moved_B[0][1]);
	/* one transpose forward, two per gradient, of half the tensors, each written and read in 2 bytes */
	assert_true(fabs((moved_B[1][0] - moved_B[1][1]) / (5 * 0.5 * 2 * 2 * in_and_out) - 1) < 1e-9);

	struct jl_conv_in in = input(ops + 1, 1, JL_FP16);
	const double first_B = jl_conv_step(&dev, &f, &in).moved_B;

	in.software = JL_SW_CHANNELS_LAST;
	assert_true(fabs((jl_conv_step(&dev, &f, &in).moved_B - first_B) / (24 * 1e6 * 64) - 1) < 1e-9);
	in.software |= JL_SW_COMPILED;
	assert_true(jl_conv_step(&dev, &f, &in).moved_B < first_B);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts_multiply_accumulates),
		cmocka_unit_test(test_step_has_three_passes),
		cmocka_unit_test(test_faster_device_is_never_slower),
		cmocka_unit_test(test_time_grows_with_batch),
		cmocka_unit_test(test_half_without_tensor_cores_is_vector),
		cmocka_unit_test(test_unlisted_clocks_are_derived),
		cmocka_unit_test(test_old_libraries_cost_time),
		cmocka_unit_test(test_launches_bound_small_steps),
		cmocka_unit_test(test_gradient_traffic_hides_behind_the_device),
		cmocka_unit_test(test_layouts_turn_tensors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
