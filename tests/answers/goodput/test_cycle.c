/* The closed forms against the simulation and against what others derived; what they say at the ends of their ranges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <time.h>

#include "goodput/cycle.h"

#define assert_near(a, b, eps) assert_true(fabs((a) - (b)) <= (eps))
#define MONTH_S                (30 * 86400.0)
#define SETTINGS               1000

static double between(struct jl_draws *draws, double lo, double hi) /* log-uniform */
{
	return lo * pow(hi / lo, jl_draw_uniform(draws));
}

/* Failures every minutes to weeks, checkpoints of milliseconds to half an hour, any interval near the best. */
static struct jl_cycle some_cycle(struct jl_draws *draws, bool copies)
{
	const double mttf_s = between(draws, 600, 14 * 86400);
	struct jl_cycle c = { .rate_hz = 1 / mttf_s,
			      .down_s = between(draws, 1, 0.5 * mttf_s),
			      .store = { .stall_s = between(draws, 1e-3, fmin(1800, 0.3 * mttf_s)),
					 .restart_s = between(draws, 1, 0.7 * mttf_s) } };

	jl_cycle_tune(&c, 0.5, MONTH_S);
	c.store.work_s *= between(draws, 0.5, 2);
	c.store.lag_s = jl_draw_uniform(draws) < 0.5 ? 0 : jl_draw_uniform(draws) * c.store.work_s;
	if (!copies)
		return c;
	c.memory_frac = 0.3 + 0.65 * jl_draw_uniform(draws);
	c.memory = (struct jl_level){ .stall_s = 0.01 * c.store.stall_s,
				      .restart_s = 0.5 * c.store.restart_s,
				      .work_s = c.store.work_s / ceil(1 + 20 * jl_draw_uniform(draws)) };
	c.store.lag_s = 0;
	return c;
}

/* Long enough for 60,000 failures and 150,000 checkpoints: chance alone is then below 0.3 %. */
static double worst_of(bool copies)
{
	struct jl_draws draws = { copies ? 7 : 5 };
	double worst = 0;

	for (int i = 0; i < SETTINGS; i++) {
		const struct jl_cycle c = some_cycle(&draws, copies);
		const struct jl_spent expected = jl_cycle_spent(&c);
		const double work_s = fmax(expected.useful * 60000 / c.rate_hz, 150000 * c.store.work_s);
		struct jl_run_out run;

		jl_cycle_run(&run, &(struct jl_run_in){ .cycle = c, .work_s = work_s, .most_s = INFINITY }, &draws);
		assert_true(run.done);
		worst = fmax(worst, fabs(run.spent.useful / jl_spent_sum(&run.spent) / expected.useful - 1));
	}
	return worst;
}

static void the_simulation_equals_the_closed_form(void **state)
{
	(void)state;
	const double one = worst_of(false), two = worst_of(true);

	print_message("largest difference of %d settings: %.2f %% (store), %.2f %% (copies in memory)\n", SETTINGS,
		      100 * one, 100 * two);
	assert_true(one < 0.01);
	assert_true(two < 0.01);
}

static void every_part_of_the_time_is_the_same(void **state)
{
	struct jl_draws draws = { 11 };

	(void)state;
	for (int copies = 0; copies < 2; copies++) {
		struct jl_cycle c = {
			.rate_hz = 8 / 86400.0,
			.down_s = 240,
			.memory_frac = copies ? 0.8 : 0,
			.memory = { .work_s = 60, .stall_s = 0.5, .restart_s = 400 },
			.store = { .work_s = 1800, .stall_s = 20, .lag_s = copies ? 0 : 60, .restart_s = 700 }
		};
		const struct jl_spent e = jl_cycle_spent(&c);
		struct jl_run_out run;

		jl_cycle_run(&run, &(struct jl_run_in){ c, 3e9, INFINITY, NULL }, &draws);
		const double sum = jl_spent_sum(&run.spent);

		assert_near(jl_spent_sum(&e), 1, 1e-9);
		assert_near(run.spent.useful / sum, e.useful, 0.005);
		assert_near(run.spent.checkpoint / sum, e.checkpoint, 0.002);
		assert_near(run.spent.lost / sum, e.lost, 0.004);
		assert_near(run.spent.down / sum, e.down, 0.002);
		assert_near(run.spent.restart / sum, e.restart, 0.003);
	}
}

/* Nothing nearby is better than the interval that is called the best; Daly's is within 2 % of it, Young's within 5 % where checkpoints
 * are short beside failures. */
static void the_best_interval_is_the_best(void **state)
{
	struct jl_draws draws = { 3 };

	(void)state;
	for (int i = 0; i < 200; i++) {
		struct jl_cycle c = some_cycle(&draws, false), other;

		c.store.lag_s = 0;
		c.store.work_s = jl_interval_best_s(c.rate_hz, c.store.stall_s);
		other = c;
		for (double by = 0.7; by < 1.4; by += 0.05) {
			other.store.work_s = c.store.work_s * by;
			assert_true(jl_cycle_spent(&other).useful <= jl_cycle_spent(&c).useful * (1 + 1e-12));
		}
		assert_near(jl_interval_daly_s(c.rate_hz, c.store.stall_s) / c.store.work_s, 1, 0.02);
		if (c.rate_hz * c.store.stall_s < 0.004)
			assert_near(jl_interval_young_s(c.rate_hz, c.store.stall_s) / c.store.work_s, 1, 0.05);
	}
}

/* Kokolis et al. 2024 (arXiv 2410.21680): (1 - N r (u0 + dt/2)) / (1 + w/dt), for small losses. */
static void small_losses_are_as_others_derive_them(void **state)
{
	const double rate_hz = 256 * 6.5e-3 / 86400, u0_s = 600, dt_s = 3600, w_s = 60;
	const struct jl_cycle c = { .rate_hz = rate_hz,
				    .store = { .work_s = dt_s, .stall_s = w_s, .restart_s = u0_s } };

	(void)state;
	assert_near(jl_cycle_spent(&c).useful, (1 - rate_hz * (u0_s + dt_s / 2)) / (1 + w_s / dt_s), 0.005);
}

static void the_ends_of_the_ranges(void **state)
{
	struct jl_cycle c = { .store = { .work_s = 3600, .stall_s = 36, .restart_s = 600 } };
	struct jl_draws draws = { 1 };
	struct jl_run_out run;

	(void)state;
	assert_near(jl_cycle_spent(&c).useful, 3600 / 3636.0, 1e-12); /* nothing fails */
	assert_true(isinf(jl_interval_best_s(0, 60)));
	jl_cycle_run(&run, &(struct jl_run_in){ c, 86400, INFINITY, NULL }, &draws);
	assert_true(run.done && run.n_failures == 0);
	c.rate_hz = 1e9 / 86400; /* 11,574 a second */
	assert_near(jl_cycle_spent(&c).useful, 0, 0);
	assert_near(jl_spent_sum(&(struct jl_spent){ .lost = jl_cycle_spent(&c).lost }), 1, 1e-12);
	jl_cycle_run(&run, &(struct jl_run_in){ c, 86400, 10, NULL }, &draws);
	assert_false(run.done);
	c.rate_hz = 1 / 100.0; /* a checkpoint takes longer than failures leave */
	c.store.stall_s = 300;
	jl_cycle_tune(&c, 1, MONTH_S);
	assert_true(jl_cycle_spent(&c).useful < 0.01);
}

static void spares_and_stragglers(void **state)
{
	(void)state;
	assert_near(jl_spares_wait_s(0, 0.5, 1000), 1000, 1e-9); /* none: each failure waits for the repair */
	assert_near(jl_spares_wait_s(1, 0.5, 1000), 0.5 / 1.5 * 500, 1e-9);
	assert_true(jl_spares_wait_s(20, 2, 1000) < 1e-6);
	assert_near(jl_slowest_of(1), 0, 0);
	assert_near(jl_slowest_of(2), 0.5642, 0.05);
	assert_near(jl_slowest_of(1000), 3.2414, 0.02);
	assert_near(jl_slowest_of(131072), 4.43, 0.05);
}

/* Mean and variance of gamma draws; a seed gives the same numbers everywhere. */
static void draws_are_what_they_say(void **state)
{
	struct jl_draws draws = { 9 };

	(void)state;
	for (double shape = 0.5; shape < 40; shape *= 4) {
		double sum = 0, squares = 0;

		for (int i = 0; i < 40000; i++) {
			const double x = jl_draw_gamma(&draws, shape);

			sum += x;
			squares += x * x;
		}
		assert_near(sum / 40000 / shape, 1, 0.03);
		assert_near((squares / 40000 - pow(sum / 40000, 2)) / shape, 1, 0.08);
	}
	draws.state = 1;
	assert_near(jl_draw_uniform(&draws), 0.566562, 1e-6);
}

/* A calendar holds every second of the run, cause by cause, whatever is lost after it was counted. */
static void a_calendar_holds_the_run(void **state)
{
	struct jl_draws draws = { 21 };

	(void)state;
	for (int i = 0; i < 200; i++) {
		struct jl_calendar cal = { 0 };
		struct jl_run_out run;
		struct jl_run_in in = { some_cycle(&draws, i % 2), 0, INFINITY, &cal };
		struct jl_spent sum = { 0 };

		in.work_s = 50 / in.cycle.rate_hz * jl_cycle_spent(&in.cycle).useful;
		cal.slot_s = 20 / in.cycle.rate_hz;
		jl_cycle_run(&run, &in, &draws);
		for (size_t k = 0; k < cal.n; k++) {
			const struct jl_spent *s = &cal.slots[k];

			assert_true(s->useful > -1e-6 && s->checkpoint > -1e-6 && s->lost > -1e-6);
			if (k + 1 < cal.n)
				assert_near(jl_spent_sum(s) / cal.slot_s, 1, 1e-6);
			sum.useful += s->useful;
			sum.checkpoint += s->checkpoint;
			sum.lost += s->lost;
			sum.down += s->down;
			sum.restart += s->restart;
		}
		if (cal.n == JL_CALENDAR_MAX) /* the run goes on behind it */
			continue;
		const double all_s = jl_spent_sum(&run.spent);

		assert_near(jl_spent_sum(&sum) / all_s, 1, 1e-6);
		assert_near(sum.useful / all_s, run.spent.useful / all_s, 1e-6);
		assert_near(sum.lost / all_s, run.spent.lost / all_s, 1e-6);
		assert_near(sum.restart / all_s, run.spent.restart / all_s, 1e-6);
		assert_near(sum.down / all_s, run.spent.down / all_s, 1e-6);
	}
}

/* 10^5 months of a job of 16,384 GPUs a second and core; the bound is low because a test machine is busy. */
static void months_are_simulated_fast(void **state)
{
	const struct jl_cycle c = { .rate_hz = 7.8 / 86400,
				    .down_s = 300,
				    .store = { .work_s = 900, .stall_s = 1, .lag_s = 30, .restart_s = 700 } };
	struct jl_draws draws = { 2 };
	const clock_t begun = clock();
	double useful_s = 0;
	const int n = 20000;

	(void)state;
	for (int i = 0; i < n; i++) {
		struct jl_run_out run;

		jl_cycle_run(&run, &(struct jl_run_in){ c, INFINITY, MONTH_S, NULL }, &draws);
		useful_s += run.spent.useful;
	}
	const double per_s = n / ((double)(clock() - begun) / CLOCKS_PER_SEC);

	print_message("%.0f simulated months a second and core, %.1f %% useful\n", per_s, 100 * useful_s / n / MONTH_S);
	assert_true(per_s > 2e4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_simulation_equals_the_closed_form),
		cmocka_unit_test(every_part_of_the_time_is_the_same),
		cmocka_unit_test(the_best_interval_is_the_best),
		cmocka_unit_test(small_losses_are_as_others_derive_them),
		cmocka_unit_test(the_ends_of_the_ranges),
		cmocka_unit_test(spares_and_stragglers),
		cmocka_unit_test(draws_are_what_they_say),
		cmocka_unit_test(a_calendar_holds_the_run),
		cmocka_unit_test(months_are_simulated_fast),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
