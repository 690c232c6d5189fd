/* The core on a backend whose times are known: statistics, warm-up, noise, checks, and staying in step over several ranks. */
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/arena.h"
#include "base/clock.h"
#include "bench/core.h"
#include "bench/pattern.h"
#include "bench/records.h"
#include "bench/sweep.h"

static struct jl_bench_result result;

static void measure(const char *fake, const struct jl_bench_plan *plan)
{
	const struct jl_bench_task task = { .kind = JL_BENCH_COPY, .size_B = 1000000 };
	struct jl_err err = { 0 };

	assert_int_equal(setenv("JEOUL_BENCH_FAKE", fake, 1), 0);
	assert_int_equal(jl_bench_measure(&jl_bench_fake, &task, plan, &result, &err), JL_OK);
}

static void times_become_rates(void **state)
{
	const struct jl_bench_plan plan = { .n_iters = 50, .check = true };
	struct jl_stats rate;

	(void)state;
	measure("rate=1e9 jitter=0.02", &plan);
	assert_int_equal(result.n_samples, 50);
	assert_true(result.checked && result.n_wrong == 0);
	assert_true(fabs(result.time_s.median / 2.02e-3 - 1) < 0.01); /* two megabytes at 1 GB/s, and 1 % of scatter */
	assert_true(result.time_s.lo95 < result.time_s.median && result.time_s.median < result.time_s.hi95);
	rate = jl_bench_rate(&result, jl_bench_work(&result.task));
	assert_true(fabs(rate.median - 2e6 / result.time_s.median) < 1);
	assert_true(rate.min <= rate.lo95 && rate.lo95 <= rate.median && rate.median <= rate.hi95 &&
		    rate.hi95 <= rate.max);
	assert_true(rate.p95 >= rate.median);
}

static void a_slow_start_is_left_out(void **state)
{
	const struct jl_bench_plan plan = { .n_iters = 200, .n_warmup = 1 };

	(void)state;
	measure("rate=1e9 jitter=0.02 start=4", &plan);
	assert_true(result.n_unsteady >= 15 && result.n_unsteady <= 100);
	assert_true(fabs(result.time_s.median / 2.02e-3 - 1) < 0.03);
}

static void drift_is_noise(void **state)
{
	const struct jl_bench_plan plan = { .n_iters = 100 };
	double plain;

	(void)state;
	measure("rate=1e9 jitter=0.01", &plan);
	plain = result.time_s.hi95 - result.time_s.lo95;
	measure("rate=1e9 jitter=0.01 drift=1", &plan);
	assert_true(result.noise.noisy);
	assert_true(result.noise.drift_frac > JL_NOISE_DRIFT_FRAC);
	assert_true(result.time_s.hi95 - result.time_s.lo95 > 3 * plain);
	assert_true(result.why[0] != '\0');
}

static void wrong_results_are_counted(void **state)
{
	const struct jl_bench_plan plan = { .n_iters = 3, .check = true };

	(void)state;
	measure("wrong=7", &plan);
	assert_true(result.n_wrong == 7);
}

static bool at_once(void *ctx)
{
	return ++*(int *)ctx > 3;
}

static void what_was_measured_is_kept_when_stopped(void **state)
{
	int n = 0;
	const struct jl_bench_plan plan = { .time_s = 60, .n_iters = 1000, .n_warmup = 1, .stop = at_once, .ctx = &n };

	(void)state;
	measure("rate=1e9", &plan);
	assert_true(result.stopped);
	assert_true(result.n_samples > 0 && result.n_samples < 1000);
	assert_true(isfinite(result.time_s.median));
}

static void noise_has_reasons(void **state)
{
	struct jl_record_noise quiet = jl_record_noise_unknown(), noise;
	char why[JL_NOISE_WHY_MAX];

	(void)state;
	jl_noise_judge(&quiet, why);
	assert_false(quiet.noisy);
	assert_string_equal(why, "");
	noise = quiet;
	noise.cpu_other_frac = 0.5;
	jl_noise_judge(&noise, why);
	assert_true(noise.noisy && strstr(why, "50 %"));
	noise = quiet;
	noise.wait_frac = 0.4;
	jl_noise_judge(&noise, why);
	assert_true(noise.noisy && strstr(why, "waited for a CPU 40 %"));
	noise = quiet;
	noise.steal_frac = 0.1;
	jl_noise_judge(&noise, why);
	assert_true(noise.noisy && strstr(why, "hypervisor"));
	noise = quiet;
	noise.thermal = true;
	jl_noise_judge(&noise, why);
	assert_true(noise.noisy && strstr(why, "heat"));
	noise = quiet;
	noise.clock_frac = 0.7;
	jl_noise_judge(&noise, why);
	assert_true(noise.noisy && strstr(why, "70 %"));
}

/* Sixteen threads on sixteen CPUs, and one process that never rests: one of ours has half a CPU, and all wait for it. */
static void a_thread_that_waits_for_a_cpu_is_seen(void **state)
{
	(void)state;
	assert_true(fabs(jl_noise_wait_frac(0.2, 6.2, 0.4, 16) - 0.5) < 1e-9);
	assert_true(fabs(jl_noise_wait_frac(0.2, 1.2, 0.4, 16) - 0.5) < 1e-9); /* the others sleep until it is done */
	assert_true(isnan(jl_noise_wait_frac(0.8, 6.4, 0.4, 16)));             /* eighteen of our own on sixteen */
	assert_true(isnan(jl_noise_wait_frac(NAN, NAN, 0.4, 16)));
}

/* This thread is held to one CPU, which a child takes as well. */
static void a_busy_neighbour_is_seen(void **state)
{
	struct jl_noise_watch watch;
	struct jl_record_noise noise;
	struct jl_err err = { 0 };
	cpu_set_t all, one;
	pid_t child;
	double end_s;
	size_t cpu = 0;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	child = fork();
	if (child == 0)
		for (;;)
			;
	assert_true(child > 0);
	jl_noise_begin(&watch);
	for (end_s = jl_clock_s() + 0.4; jl_clock_s() < end_s;)
		;
	assert_int_equal(jl_noise_end(&watch, NULL, &noise, &err), JL_OK);
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
	if (!isnan(noise.wait_frac)) /* a kernel that counts it */
		assert_true(noise.wait_frac > 0.2 && noise.wait_frac < 0.95);
}

static void records_are_complete(void **state)
{
	const struct jl_bench_plan plan = { .n_iters = 20, .check = true };
	struct jl_draft draft;
	struct jl_err err = { 0 };

	(void)state;
	measure("rate=1e9", &plan);
	struct jl_record record = jl_bench_record(&draft, &result, &jl_bench_fake);
	record.id = "01M7EW09401882YFX1MJJ8BQTW";
	record.time_s = 1;
	record.origin = "measured";
	assert_int_equal(jl_record_check(&record, &err), JL_OK);
	assert_string_equal(record.kind, "memory");
	assert_string_equal(record.metrics[0].name, "mem_Bps");
	assert_string_equal(jl_record_text(&record, "test"), "copy");
	assert_true(jl_record_number(&record, "size_B") == 1000000);
	assert_int_equal(record.n_samples, 20);
}

static void sizes_of_a_sweep(void **state)
{
	static struct jl_sweep sweep;
	struct jl_err err = { 0 };

	(void)state;
	assert_int_equal(jl_sweep_sizes(&sweep, 8, 128, 2, 0, &err), JL_OK);
	assert_int_equal(sweep.n_sizes, 5);
	assert_int_equal(sweep.sizes_B[4], 128);
	assert_int_equal(jl_sweep_sizes(&sweep, 100, 250, 0, 60, &err), JL_OK);
	assert_int_equal(sweep.n_sizes, 3);
	assert_int_equal(jl_sweep_sizes(&sweep, 8, 8, 2, 0, &err), JL_OK);
	assert_int_equal(sweep.n_sizes, 1);
	assert_int_equal(jl_sweep_sizes(&sweep, 1, 1 << 20, 0, 1, &err), JL_E_LIMIT);
}

struct seen {
	size_t n, n_wrong;
	size_t last_B;
};

static void see(void *ctx, const struct jl_sweep_row *row)
{
	struct seen *seen = ctx;

	seen->n++;
	seen->last_B = row->size_B;
	seen->n_wrong += !row->has_out || !row->has_in || row->out.n_wrong > 0 || row->in.n_wrong > 0 ||
			 !row->out.checked || row->out.n_samples != 4 || row->out.n_ranks != 3;
}

static void every_collective_between_processes(void **state)
{
	(void)state;
	for (int coll = 0; coll < JL_COLL_BARRIER; coll++) {
		static struct jl_sweep sweep;
		struct seen seen = { 0 };
		struct jl_err err = { 0 };
		int dead;

		sweep = (struct jl_sweep){ .backend = &jl_bench_shm, .n_ranks = 3, .row = see, .ctx = &seen };
		sweep.task.coll = (enum jl_coll)coll;
		sweep.task.type = coll & 1 ? JL_COMM_BF16 : JL_COMM_FLOAT;
		sweep.task.op = coll == JL_COLL_REDUCE ? JL_RED_AVG : JL_RED_SUM;
		sweep.plan = (struct jl_bench_plan){ .n_iters = 4, .n_warmup = 1, .check = true };
		assert_int_equal(jl_sweep_sizes(&sweep, 48, 200000, 60, 0, &err), JL_OK);
		if (jl_sweep_shm(&sweep, &dead, &err))
			print_error("%s\n", err.en);
		assert_int_equal(err.status, JL_OK);
		assert_int_equal(seen.n, 3);
		assert_int_equal(seen.n_wrong, 0);
	}
}

static void a_misplaced_message_shows(void **state)
{
	enum { N = 5000 };
	struct jl_bench_task task = {
		.kind = JL_BENCH_COLL, .coll = JL_COLL_BROADCAST, .type = JL_COMM_FLOAT, .size_B = (size_t)N * 4
	};
	const struct jl_pattern p = { .task = &task, .rank = 0, .n_ranks = 2, .count = N };
	static float data[N];

	(void)state;
	jl_pattern_fill(&p, data);
	assert_int_equal(jl_pattern_wrong(&p, data), 0);
	data[4321] += 1;
	assert_int_equal(jl_pattern_wrong(&p, data), 1);
	data[4321] -= 1;
	memmove(data, data + 1024, sizeof(float) * (N - 1024)); /* a piece too far */
	assert_true(jl_pattern_wrong(&p, data) > N / 2);
}

/* A backend whose times depend on where its memory lies. */
struct jl_bench_state {
	int place;
};
static struct jl_bench_state places[JL_BENCH_PLACES];
static int n_prepared, n_finished;

static bool placed_supports(const struct jl_bench_task *task)
{
	return task->kind == JL_BENCH_COPY;
}

static enum jl_status placed_prepare(const struct jl_bench_task *task, struct jl_bench_state **ret_state,
				     struct jl_err *err)
{
	(void)err;
	n_prepared++;
	places[task->place].place = task->place;
	*ret_state = &places[task->place];
	return JL_OK;
}

static enum jl_status placed_once(struct jl_bench_state *s, double *ret_s, struct jl_err *err)
{
	(void)err;
	*ret_s = 1e-4 * (1 + 0.03 * s->place);
	return JL_OK;
}

static void placed_finish(struct jl_bench_state *s)
{
	(void)s;
	n_finished++;
}

static size_t placed_B(const struct jl_bench_task *task)
{
	return 2 * task->size_B;
}

static const struct jl_bench_backend placed = { .name = "fake",
						.simulated = true,
						.supports = placed_supports,
						.prepare = placed_prepare,
						.run_once = placed_once,
						.finish = placed_finish,
						.place_B = placed_B };

static void the_interval_covers_places(void **state)
{
	struct jl_bench_task task = { .kind = JL_BENCH_COPY, .size_B = 1 << 20 };
	struct jl_bench_plan plan = { .time_s = 0.02 };

	(void)state;
	assert_int_equal(jl_bench_measure(&placed, &task, &plan, &result, NULL), JL_OK);
	assert_int_equal(result.n_places, JL_BENCH_PLACES);
	assert_int_equal(n_prepared, JL_BENCH_PLACES);
	assert_int_equal(n_finished, JL_BENCH_PLACES);
	assert_int_equal(result.n_samples % JL_BENCH_PLACES, 0);
	for (size_t i = 0; i < result.n_samples; i++) /* all places alike in every stretch */
		assert_true(fabs(result.samples_s[i] / 1e-4 - (1 + 0.03 * (double)(i % JL_BENCH_PLACES))) < 1e-9);
	assert_true(fabs(result.time_s.median / 1.06e-4 - 1) < 1e-9);
	/* half of it: t(4) = 2.776 times the standard deviation of the five over the root of 5 */
	assert_true(fabs((result.time_s.hi95 - result.time_s.median) / 1e-4 - 2.7764 * 0.03 * sqrt(2.5 / 5)) < 1e-5);
	assert_true(result.time_s.lo95 >= 1e-4 && result.time_s.lo95 < 1.005e-4);

	n_prepared = 0;
	plan.n_iters = 20; /* a given number of iterations is in one place */
	assert_int_equal(jl_bench_measure(&placed, &task, &plan, &result, NULL), JL_OK);
	assert_int_equal(n_prepared, 1);
	assert_int_equal(result.n_samples, 20);
	plan.n_iters = 0;
	task.size_B = (size_t)1 << 30; /* large arrays lie everywhere anyway */
	n_prepared = 0;
	assert_int_equal(jl_bench_measure(&placed, &task, &plan, &result, NULL), JL_OK);
	assert_int_equal(n_prepared, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_become_rates),
		cmocka_unit_test(a_slow_start_is_left_out),
		cmocka_unit_test(the_interval_covers_places),
		cmocka_unit_test(drift_is_noise),
		cmocka_unit_test(wrong_results_are_counted),
		cmocka_unit_test(what_was_measured_is_kept_when_stopped),
		cmocka_unit_test(noise_has_reasons),
		cmocka_unit_test(a_thread_that_waits_for_a_cpu_is_seen),
		cmocka_unit_test(a_busy_neighbour_is_seen),
		cmocka_unit_test(records_are_complete),
		cmocka_unit_test(sizes_of_a_sweep),
		cmocka_unit_test(a_misplaced_message_shows),
		cmocka_unit_test(every_collective_between_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
