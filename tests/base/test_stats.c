/* Statistics: medians, coverage of intervals, steady state, Mann-Whitney test. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/stats.h"

static uint64_t seed = 12345;

static double uniform(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

/* Simulated times: a lower bound with a long tail. */
static double timing(void)
{
	return 1 - 0.1 * log(uniform());
}

static void small_sets(void **state)
{
	const double x[] = { 5, 1, 3, 2, 4 };
	double scratch[5];
	struct jl_stats s;

	(void)state;
	jl_stats_of(&s, x, 5, scratch);
	assert_true(s.median == 3 && s.min == 1 && s.max == 5 && fabs(s.mean - 3) < 1e-12);
	assert_true(s.lo95 == 1 && s.hi95 == 5); /* five samples cannot give 95 % */
	assert_true(fabs(s.p95 - 4.8) < 1e-12);
	jl_stats_of(&s, x, 1, scratch);
	assert_true(s.median == 5 && s.lo95 == 5 && s.hi95 == 5);
	jl_stats_of(&s, x, 0, scratch);
	assert_true(s.n == 0 && isnan(s.median) && isnan(s.lo95));
}

static void interval_covers(void **state)
{
	static const size_t sizes[] = { 6, 20, 100, 1500 };
	const double truth = 1 + 0.1 * log(2);

	(void)state;
	for (size_t k = 0; k < 4; k++) {
		int inside = 0, n_runs = k == 3 ? 300 : 2000;

		for (int run = 0; run < n_runs; run++) {
			static double x[1500], scratch[1500];
			struct jl_stats s;

			for (size_t i = 0; i < sizes[k]; i++)
				x[i] = timing();
			jl_stats_of(&s, x, sizes[k], scratch);
			inside += s.lo95 <= truth && truth <= s.hi95;
		}
		assert_true(inside >= 0.93 * n_runs);
		assert_true(inside <= 0.995 * n_runs);
	}
}

static void interval_widens_when_samples_drift(void **state)
{
	double plain[200], slow[200], scratch[200], level = 0;
	struct jl_stats a, b;

	(void)state;
	for (size_t i = 0; i < 200; i++) {
		plain[i] = timing();
		level = 0.95 * level + (uniform() - 0.5) * 0.1;
		slow[i] = 1 + level;
	}
	jl_stats_of(&a, plain, 200, scratch);
	jl_stats_of(&b, slow, 200, scratch);
	assert_true((b.hi95 - b.lo95) / (b.max - b.min) > 2 * (a.hi95 - a.lo95) / (a.p95 - a.min));
}

static void warm_up_is_found(void **state)
{
	double x[100], scratch[100];
	size_t from;

	(void)state;
	for (size_t i = 0; i < 100; i++)
		x[i] = timing() + (i < 12 ? 3.0 * (12 - (double)i) / 12 : 0);
	from = jl_stats_steady_from(x, 100, scratch);
	assert_true(from >= 8 && from <= 25);
	for (size_t i = 0; i < 100; i++)
		x[i] = timing();
	assert_true(jl_stats_steady_from(x, 100, scratch) <= 50);
	for (size_t i = 0; i < 100; i++)
		x[i] = 2;
	assert_int_equal(jl_stats_steady_from(x, 100, scratch), 0);
	x[60] = 90; /* robust against one outlier */
	assert_int_equal(jl_stats_steady_from(x, 100, scratch), 0);
	for (size_t i = 0; i < 100; i++)
		x[i] = 2 + 0.01 * uniform();
	x[60] = 90;
	assert_int_equal(jl_stats_outliers(x, 100, scratch), 1);
}

static void two_sets(void **state)
{
	int false_alarms = 0, found = 0;

	(void)state;
	for (int run = 0; run < 1000; run++) {
		double a[30], b[30], c[30], scratch[120];

		for (size_t i = 0; i < 30; i++) {
			a[i] = timing();
			b[i] = timing();
			c[i] = 1.1 * timing();
		}
		false_alarms += jl_stats_same_p(a, 30, b, 30, scratch) < 0.01;
		found += jl_stats_same_p(a, 30, c, 30, scratch) < 0.01;
	}
	assert_true(false_alarms <= 25);
	assert_true(found > 900);
	assert_true(isnan(jl_stats_same_p(NULL, 0, NULL, 0, NULL)));
}

/* Published quantiles of Student's t. */
static void t_quantiles(void **state)
{
	static const struct {
		double p;
		size_t dof;
		double t;
	} table[] = { { 0.975, 1, 12.706 }, { 0.975, 2, 4.3027 },  { 0.975, 3, 3.1824 },   { 0.975, 4, 2.7764 },
		      { 0.995, 7, 3.4995 }, { 0.9995, 8, 5.0413 }, { 0.9995, 12, 4.3178 }, { 0.95, 30, 1.6973 } };

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		assert_true(fabs(jl_stats_t_quantile(table[i].p, table[i].dof) / table[i].t - 1) < 1e-4);
	assert_true(fabs(jl_stats_t_quantile(0.975, 100000) - 1.95996) < 1e-3);
	assert_true(jl_stats_t_quantile(0.5, 5) < 1e-9);
	assert_true(isnan(jl_stats_t_quantile(0.4, 5)) && isnan(jl_stats_t_quantile(0.9, 0)) &&
		    isnan(jl_stats_t_quantile(1, 3)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_sets),
		cmocka_unit_test(interval_covers),
		cmocka_unit_test(interval_widens_when_samples_drift),
		cmocka_unit_test(warm_up_is_found),
		cmocka_unit_test(two_sets),
		cmocka_unit_test(t_quantiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
