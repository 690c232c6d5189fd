/* Step times by tracks, and peak memory, against values computed by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "program/peak.h"
#include "program/read.h"
#include "program/timeline.h"

static struct jl_arena arena;

static int begin(void **state)
{
	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	return 0;
}

static int end(void **state)
{
	(void)state;
	jl_arena_release(&arena);
	return 0;
}

static void read_lines(struct jl_program *p, const char *lines)
{
	const char *text = jl_arena_printf(
		&arena, "jeoul-program 1\nm 1 0 a A\nt 1 f32 8\no 1 aten.relu 1 1\no 2 aten.exp 1 1\n%s", lines);
	struct jl_err err = { 0 };

	if (jl_program_read(p, text, strlen(text), "a.jprog", &arena, &err))
		fail_msg("%s", err.en);
}

static void assert_s(double is, double expected)
{
	if (!(fabs(is - expected) < 1e-12))
		fail_msg("%.6f us, not %.6f us", 1e6 * is, 1e6 * expected);
}

/* Kind 1: 10 us on the device; kind 2: 100 us; each call costs the host 30 us forward, 20 us backward. */
static struct jl_timeline weigh(const char *lines)
{
	static const struct jl_call_cost costs[] = {
		{ .device_s = 10e-6,
		  .host_s = { 30e-6, 30e-6, 20e-6 },
		  .n_kernels = 1,
		  .moved_B = 64,
		  .class = JL_CLASS_POINTWISE },
		{ .device_s = 100e-6,
		  .host_s = { 30e-6, 30e-6, 20e-6 },
		  .n_kernels = 2,
		  .flop = 7,
		  .class = JL_CLASS_PRODUCT },
	};
	static const double collective_s[] = { 200e-6, 50e-6 };
	static double scratch[2 * JL_N_TRACK];
	struct jl_program p;
	struct jl_timeline t;

	read_lines(&p, lines);
	const struct jl_timeline_in in = { .p = &p,
					   .costs = costs,
					   .collective_s = collective_s,
					   .view_s = { 2e-6, 2e-6, 1e-6 },
					   .module_s = 5e-6,
					   .wait_s = 3e-6,
					   .comm_launch_s = 1e-6,
					   .device_ratio = 1,
					   .scratch = scratch };

	jl_timeline(&t, &in);
	return t;
}

static void test_device_bound(void **state)
{
	(void)state;
	/* host 60 us, device 200 us: the device limits */
	const struct jl_timeline t = weigh("p forward\nk 2 0 0\nk 2 0 0\nend 2\n");

	assert_s(t.step_s, 200e-6);
	assert_s(t.track_s[JL_TRACK_HOST], 60e-6);
	assert_s(t.latency_s, 30e-6 + 200e-6);
	assert_true(t.n_kernels == 4 && t.flop == 14);
}

static void test_host_bound(void **state)
{
	(void)state;
	/* three calls, four views and one module: 3 x 30 + 4 x 2 + 5 us host; 30 us device */
	const struct jl_timeline t = weigh("p forward\nk 1 1 4\nk 1 1 0\nk 1 1 0\nend 3\n");

	assert_s(t.step_s, 103e-6);
	assert_s(t.track_s[JL_TRACK_DEVICE], 30e-6);
	assert_s(t.latency_s, 113e-6);
	assert_true(t.moved_B == 192);
	assert_s(t.class_s[JL_CLASS_POINTWISE], 30e-6);
	/* backward: views half as long, calls 20 us */
	assert_s(weigh("p backward\nk 1 0 4\nk 1 0 0\nend 2\n").step_s, 44e-6);
	/* a captured graph has no host time */
	assert_s(weigh("graph 1\np forward\nk 1 0 4\nk 1 0 0\nend 2\n").step_s, 20e-6);
}

/* A wait in the middle of the step: the host cannot run ahead. */
static void test_wait(void **state)
{
	(void)state;
	/* 30 (first call) + 100 + 3 (wait) + 30 + 30 + 10. The host continues after its last call, so the next step's wait is reached 30 us after
	 * the host's end, or 100 us after the device's */
	const struct jl_timeline t = weigh("p forward\nk 2 0 0\nw item\nk 1 0 0\nk 1 0 0\nend 4\n");

	assert_s(t.step_s, 30e-6 + 100e-6 + 3e-6 + 30e-6 + 30e-6);
	/* without the wait the host limits */
	assert_s(weigh("p forward\nk 2 0 0\nk 1 0 0\nk 1 0 0\nend 3\n").step_s, 120e-6);
	/* wait at the end of a device-bound step: the next launch comes after it */
	assert_s(weigh("p forward\nk 2 0 0\nk 2 0 0\nw item\nend 3\n").step_s, 30e-6 + 200e-6 + 3e-6);
}

static void test_collectives(void **state)
{
	(void)state;
	/* sequential: 30 host, 100 device, 200 exchange, then 100 */
	const struct jl_timeline open = weigh("p forward\nk 2 0 0\nc all_reduce 4 2\nk 2 0 0\nend 3\n");

	assert_s(open.step_s, 400e-6);
	/* overlaps with the second call; only the join waits: 100 + max(200, 100) */
	const struct jl_timeline hidden = weigh("p forward\nk 2 0 0\nc all_reduce 4 2 async=1\nk 2 0 0\nx 1\nend 4\n");

	assert_s(hidden.step_s, 300e-6);
	assert_s(hidden.track_s[JL_TRACK_COMM], 200e-6);
	/* never joined: the tracks overlap across steps */
	assert_s(weigh("p forward\nk 2 0 0\nc all_reduce 4 2 async=1\nk 2 0 0\nend 3\n").step_s, 200e-6);
}

static void test_peak(void **state)
{
	struct jl_program p;
	struct jl_program_peak peak;
	struct jl_err err = { 0 };

	(void)state;
	/* 512 param, 1024 state, 100 -> 512 input; then +2048, +1000 -> 1024, -2048, +4096 -4096, and a gradient of 512 that the update frees */
	read_lines(&p,
		   "a 1 512 param t 1\na 2 1024 state\na 3 100 input\np forward\nk 1 1 0 +4:2048\nk 1 1 0 +5:1000 -4\n"
		   "p backward\nk 1 0 0 +6:4096 -6\nk 1 1 0 +7:512 -5\np update\nk 1 0 0 -7\nend 5\n");
	assert_int_equal(jl_program_peak(&peak, &p, NULL, &arena, &err), JL_OK);
	assert_true(peak.begin_B == 2048 && peak.end_B == 2048);
	assert_true(peak.peak_B == 2048 + 1024 + 4096);
	assert_int_equal(peak.event, 2);
	assert_true(peak.part_B[JL_PEAK_PARAMS] == 512 && peak.part_B[JL_PEAK_STATES] == 1024);
	assert_true(peak.part_B[JL_PEAK_INPUTS] == 512 && peak.part_B[JL_PEAK_KEPT] == 1024);
	assert_true(peak.part_B[JL_PEAK_BRIEF] == 4096 && peak.part_B[JL_PEAK_GRADS] == 0);
	assert_true(peak.grads_B == 512);
	assert_true(peak.module_B[1] == 1024 && peak.module_B[0] == 4096);
	double sum_B = 0;

	for (int i = 0; i < JL_N_PEAK; i++)
		sum_B += peak.part_B[i];
	assert_true(sum_B == peak.peak_B);

	static const double over[5] = { 4096, 5120, 7168, 3584, 2560 };
	double live_B[10];

	jl_program_live(live_B, 5, &p, NULL);
	for (size_t i = 0; i < 5; i++)
		assert_true(live_B[i] == over[i]);
	jl_program_live(live_B, 10, &p, NULL); /* fewer events than shares */
	for (size_t i = 0; i < 10; i++)
		assert_true(live_B[i] == over[i / 2]);
	jl_program_live(live_B, 1, &p, NULL);
	assert_true(live_B[0] == peak.peak_B);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_device_bound, begin, end),
		cmocka_unit_test_setup_teardown(test_host_bound, begin, end),
		cmocka_unit_test_setup_teardown(test_wait, begin, end),
		cmocka_unit_test_setup_teardown(test_collectives, begin, end),
		cmocka_unit_test_setup_teardown(test_peak, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
