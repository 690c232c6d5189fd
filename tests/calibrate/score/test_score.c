/* Statistics of score.h against values computed by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "score/score.h"

static void near(double got, double want)
{
	if (!(fabs(got - want) < 1e-12))
		fail_msg("got %.15g, want %.15g", got, want);
}

static void test_quantile_interpolates(void **state)
{
	(void)state;
	double x[] = { 4.0, 1.0, 3.0, 2.0 };

	near(jl_score_quantile(x, 4, 0.5), 2.5);
	near(jl_score_quantile(x, 4, 0.0), 1.0);
	near(jl_score_quantile(x, 4, 1.0), 4.0);
	near(jl_score_quantile(x, 4, 0.9), 3.7);
	near(jl_score_quantile(x, 1, 0.9), 1.0);
	assert_true(isnan(jl_score_quantile(x, 0, 0.5)));
}

static void test_medians_and_bias(void **state)
{
	(void)state;
	const double ln_ratio[] = { 0.1, -0.3, 0.2, NAN, 0.5 };
	double scratch[5];
	const struct jl_score s = jl_score_rows(&(struct jl_score_in){ .n = 5, .ln_ratio = ln_ratio }, scratch);

	assert_int_equal(s.n_rows, 5);
	assert_int_equal(s.n_scored, 4);
	assert_int_equal(s.n_groups, 1);
	near(s.median_abs_ln, 0.25);
	near(s.p90_abs_ln, 0.44);
	near(s.macro_median_abs_ln, 0.25);
	near(s.bias_ln, 0.15);
	assert_true(isnan(s.coverage_frac));
}

static void test_coverage_looks_from_the_measurement(void **state)
{
	(void)state;
	/* pred = 1.22 meas: the measurement is 0.2 (ln) below the prediction, so the lower bound matters */
	const double ln_ratio[] = { 0.2, 0.2, -0.2, -0.2 };
	const double lo[] = { -0.3, -0.1, -0.3, -0.3 };
	const double hi[] = { 0.1, 0.3, 0.1, 0.3 };
	double scratch[4];
	const struct jl_score s = jl_score_rows(
		&(struct jl_score_in){ .n = 4, .ln_ratio = ln_ratio, .lo_ln = lo, .hi_ln = hi }, scratch);

	near(s.coverage_frac, 0.5);
	assert_int_equal(s.n_groups, 1);
}

static void test_interval_width_covers(void **state)
{
	(void)state;
	double ln_ratio[101], lo[101], hi[101], scratch[101];

	for (int i = 0; i <= 100; i++)
		ln_ratio[i] = (i % 2 ? -1.0 : 1.0) * 0.01 * i;
	const double w = jl_score_interval_ln(ln_ratio, 101, 0.8, scratch);

	near(w, 0.8);
	for (int i = 0; i <= 100; i++) {
		lo[i] = -w;
		hi[i] = w;
	}
	const struct jl_score s = jl_score_rows(
		&(struct jl_score_in){ .n = 101, .ln_ratio = ln_ratio, .lo_ln = lo, .hi_ln = hi }, scratch);

	near(s.coverage_frac, 81.0 / 101.0);
}

static void test_no_rows(void **state)
{
	(void)state;
	double scratch[1];
	const struct jl_score s = jl_score_rows(&(struct jl_score_in){ .n = 0 }, scratch);

	assert_int_equal(s.n_scored, 0);
	assert_true(isnan(s.median_abs_ln) && isnan(s.p90_abs_ln) && isnan(s.bias_ln) && isnan(s.coverage_frac));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantile_interpolates),
		cmocka_unit_test(test_medians_and_bias),
		cmocka_unit_test(test_coverage_looks_from_the_measurement),
		cmocka_unit_test(test_interval_width_covers),
		cmocka_unit_test(test_no_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
