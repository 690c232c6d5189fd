/* Copies over a day: fixed and autoscaled. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "serve/day.h"
#include "serve/load.h"

/* Holds 10 requests a second, answers 14 at most, each in two seconds. */
static const struct jl_day_copy copy = { .n = 3,
					 .hz = { 1, 5, 10 },
					 .within_frac = { 1, 1, 0.95 },
					 .in_flight = { 2, 10, 20 },
					 .held_hz = 10,
					 .most_hz = 14,
					 .most_within_frac = 0,
					 .most_in_flight = 40,
					 .wait_max_s = 0.2 };

static struct jl_day_load read(const char *shape, const char *text, double peak_hz)
{
	struct jl_day_load load;
	struct jl_err err;

	assert_int_equal(jl_day_read(&load, shape, text, text ? strlen(text) : 0, peak_hz, &err), JL_OK);
	return load;
}

static void test_read(void **state)
{
	const struct jl_day_load a = read("f.csv", "hour,rate\n6,10\n18,30\n", NAN), b = read("office", NULL, 50);
	static const char *const wrong[] = { "hour,rate\n",       "hour,rate\n24,1\n", "hour,rate\n3,1\n2,1\n",
					     "hour,rate\n1,-1\n", "hour,rate\n0,0\n",  "hour\n1\n" };
	struct jl_day_load load;
	struct jl_err err;

	(void)state;
	assert_true(fabs(a.hz[12 * 60] - 20) < 1e-9 && fabs(a.hz[0] - 20) < 1e-9); /* around the clock, too */
	assert_true(fabs(a.peak_hz - 30) < 1e-9 && fabs(a.mean_hz - 20) < 0.1);
	assert_true(fabs(b.peak_hz - 50) < 1e-9 && b.mean_hz < 25);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_not_equal(jl_day_read(&load, "f.csv", wrong[i], strlen(wrong[i]), NAN, &err), JL_OK);
	assert_int_equal(jl_day_read(&load, "office", NULL, 0, NAN, &err), JL_E_USAGE);
	assert_int_equal(jl_day_read(&load, "noon", NULL, 0, 5, &err), JL_E_USAGE);
}

static void test_fixed(void **state)
{
	const struct jl_day_load flat = read("flat", NULL, 20);
	const struct jl_day_size two = jl_day_run(&flat, &copy, 2, 60, 1, NULL),
				 one = jl_day_run(&flat, &copy, 1, 60, 1, NULL);

	(void)state;
	assert_true(fabs(two.within_frac - 0.95) < 1e-9 && two.least == 2 && two.most == 2 &&
		    fabs(two.mean - 2) < 1e-9);
	assert_true(one.within_frac < 1e-9); /* 14 of 20 are answered: the line only grows */
}

/* A slower start misses more where it is given no more room; and the weighing gives it that room. */
static void test_scaled(void **state)
{
	const struct jl_day_load load = read("office", NULL, 100);
	struct jl_day_hour hours[JL_DAY_HOURS];
	double last = 2, requests = 0;

	(void)state;
	for (double start_s = 15; start_s < 4000; start_s *= 4) {
		const struct jl_day_size s = jl_day_run(&load, &copy, 0, start_s, 18, hours);

		assert_true(s.within_frac <= last + 1e-9);
		last = s.within_frac;
	}
	assert_true(last < 0.9);
	for (int h = 0; h < JL_DAY_HOURS; h++)
		requests += hours[h].rate_hz / JL_DAY_HOURS;
	assert_true(fabs(requests / load.mean_hz - 1) < 1e-6);

	struct jl_day quick = { .start_s = 60 }, slow = { .start_s = 1800 };

	jl_day_weigh(&quick, &load, &copy);
	jl_day_weigh(&slow, &load, &copy);
	assert_int_equal(quick.fixed.most, 10);
	assert_true(quick.scaled.worst_frac >= 0.9 && quick.scaled.mean < 0.7 * quick.fixed.mean);
	assert_true(slow.target <= quick.target && slow.scaled.mean > quick.scaled.mean);
	assert_true(quick.same.within_frac < quick.scaled.within_frac);
}

/* Days and copies by dice: shares are shares, hours add up to the day, and what may follow the load never has fewer copies than its least hour. */
static void test_any_day(void **state)
{
	struct jl_dice dice = { 5 };

	(void)state;
	for (int i = 0; i < 200; i++) {
		char text[512] = "hour,rate\n";
		struct jl_day_copy c = copy;
		struct jl_day day = { .start_s = 2000 * jl_dice_unit(&dice) };
		size_t used = strlen(text);

		for (int h = i % 3; h < 24; h += 1 + i % 11)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%d,%.3f\n", h,
						 0.1 + 300 * jl_dice_unit(&dice) * jl_dice_unit(&dice));
		c.wait_max_s = i % 4 ? jl_dice_unit(&dice) : INFINITY;
		c.most_hz = 10 + 10 * jl_dice_unit(&dice);
		const struct jl_day_load load = read("f.csv", text, i % 2 ? NAN : 0.01 + 1000 * jl_dice_unit(&dice));

		jl_day_weigh(&day, &load, &c);
		const struct jl_day_size *const sizes[] = { &day.fixed, &day.scaled, &day.same };

		for (size_t k = 0; k < 3; k++) {
			assert_true(sizes[k]->worst_frac >= 0 && sizes[k]->worst_frac <= sizes[k]->within_frac + 1e-9);
			assert_true(sizes[k]->within_frac <= 1 + 1e-9 && sizes[k]->least >= 1);
			assert_true(sizes[k]->least <= sizes[k]->mean + 1e-9);
		}
		double copies = 0, requests = 0;

		for (int h = 0; h < JL_DAY_HOURS; h++) {
			copies += day.hours[h].copies / JL_DAY_HOURS;
			requests += day.hours[h].rate_hz / JL_DAY_HOURS;
		}
		assert_true(fabs(copies / day.scaled.mean - 1) < 1e-6);
		assert_true(fabs(requests / load.mean_hz - 1) < 1e-6);
		assert_true(day.same.mean <= day.scaled.mean + 1e-9 || day.same.most == 1);
		assert_true(day.fixed.most >= load.peak_hz / c.held_hz - 1e-6);
	}
}

/* More fixed copies never answer fewer requests in time. */
static void test_more_is_not_worse(void **state)
{
	const struct jl_day_load load = read("evening", NULL, 80);
	double last = 0;

	(void)state;
	for (int n = 1; n < 20; n++) {
		const struct jl_day_size s = jl_day_run(&load, &copy, n, 60, 1, NULL);

		assert_true(s.within_frac >= last - 1e-9);
		last = s.within_frac;
	}
	assert_true(last > 0.99);
}

/* A file of more points than minutes, one of none, and text that is no table. */
static void test_hostile_files(void **state)
{
	static char text[64000];
	struct jl_day_load load;
	struct jl_err err;
	size_t used = (size_t)snprintf(text, sizeof(text), "hour,rate\n");

	(void)state;
	for (int i = 0; i < 1441; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%.6f,1\n", i * 0.0166);
	assert_int_equal(jl_day_read(&load, "f.csv", text, used, NAN, &err), JL_E_LIMIT);
	assert_int_not_equal(jl_day_read(&load, "f.csv", "", 0, NAN, &err), JL_OK);
	memset(text, 0xff, sizeof(text));
	assert_int_not_equal(jl_day_read(&load, "f.csv", text, sizeof(text), NAN, &err), JL_OK);
	assert_int_not_equal(jl_day_read(&load, "f.csv", "hour,rate\n1,1e300\n", 18, NAN, &err), JL_OK);
	assert_int_not_equal(jl_day_read(&load, "f.csv", "hour,rate\n1,inf\n", 16, NAN, &err), JL_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_read),
					    cmocka_unit_test(test_fixed),
					    cmocka_unit_test(test_scaled),
					    cmocka_unit_test(test_any_day),
					    cmocka_unit_test(test_more_is_not_worse),
					    cmocka_unit_test(test_hostile_files) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
