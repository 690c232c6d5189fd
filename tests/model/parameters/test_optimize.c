/* Solver: known solutions, bounds, priors, outliers, determinism. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "parameters/optimize.h"

enum { N_LINE = 24 };

/* y = a + b t in ln space: ln(a + b t) against data. */
struct line {
	double t[N_LINE], y[N_LINE];
	int kink; /* lower bound of the line, as a kernel's minimum time */
};

static void line_residuals(void *ctx, const double *x, double *ret_r)
{
	const struct line *l = ctx;
	for (int i = 0; i < N_LINE; i++) {
		double v = x[0] + x[1] * l->t[i];
		if (l->kink)
			v = fmax(x[0], x[1] * l->t[i]);
		ret_r[i] = log(v / l->y[i]);
	}
}

static struct line make_line(double a, double b, int kink)
{
	struct line l = { .kink = kink };
	for (int i = 0; i < N_LINE; i++) {
		l.t[i] = pow(2.0, i);
		l.y[i] = kink ? fmax(a, b * l.t[i]) : a + b * l.t[i];
	}
	return l;
}

static const double lo2[2] = { 1e-9, 1e-9 }, hi2[2] = { 1e9, 1e9 };

static struct jl_fit_problem line_problem(struct line *l)
{
	return (struct jl_fit_problem){
		.n_param = 2, .n_resid = N_LINE, .lo = lo2, .hi = hi2, .residuals = line_residuals, .ctx = l
	};
}

static void finds_latency_and_rate(void **state)
{
	(void)state;
	struct line l = make_line(7.5, 0.003, 0);
	struct jl_fit_problem p = line_problem(&l);
	double x[2] = { 1.0, 1.0 }, cost;
	struct jl_err err;
	assert_int_equal(jl_fit_solve(&p, x, &cost, &err), JL_OK);
	assert_true(fabs(x[0] / 7.5 - 1.0) < 1e-4);
	assert_true(fabs(x[1] / 0.003 - 1.0) < 1e-4);
	assert_true(cost < 1e-8);
}

static void finds_a_kinked_floor(void **state)
{
	(void)state;
	struct line l = make_line(50.0, 0.02, 1);
	struct jl_fit_problem p = line_problem(&l);
	double x[2] = { 3.0, 0.5 };
	struct jl_err err;
	assert_int_equal(jl_fit_solve(&p, x, NULL, &err), JL_OK);
	assert_true(fabs(x[0] / 50.0 - 1.0) < 1e-3);
	assert_true(fabs(x[1] / 0.02 - 1.0) < 1e-3);
}

static void robust_loss_ignores_a_wild_row(void **state)
{
	(void)state;
	struct line l = make_line(7.5, 0.003, 0);
	l.y[20] *= 10.0;
	struct jl_fit_problem p = line_problem(&l);
	double plain[2] = { 1.0, 1.0 }, robust[2] = { 1.0, 1.0 };
	struct jl_err err;
	assert_int_equal(jl_fit_solve(&p, plain, NULL, &err), JL_OK);
	p.huber = 0.02;
	assert_int_equal(jl_fit_solve(&p, robust, NULL, &err), JL_OK);
	assert_true(fabs(log(plain[1] / 0.003)) > 0.1);
	assert_true(fabs(log(robust[1] / 0.003)) < 0.01);
}

/* An outlier with weight 0 has no effect. */
static void weights_count(void **state)
{
	(void)state;
	struct line l = make_line(7.5, 0.003, 0);
	double weight[64], x[2] = { 1.0, 1.0 };
	struct jl_err err;

	l.y[20] *= 10.0;
	struct jl_fit_problem p = line_problem(&l);
	for (size_t i = 0; i < sizeof(weight) / sizeof(*weight); i++)
		weight[i] = i == 20 ? 0.0 : 2.0;
	assert_true(p.n_resid <= sizeof(weight) / sizeof(*weight));
	p.weight = weight;
	assert_int_equal(jl_fit_solve(&p, x, NULL, &err), JL_OK);
	assert_true(fabs(log(x[0] / 7.5)) < 1e-4 && fabs(log(x[1] / 0.003)) < 1e-4);
}

static void stays_inside_bounds(void **state)
{
	(void)state;
	struct line l = make_line(7.5, 0.003, 0);
	struct jl_fit_problem p = line_problem(&l);
	const double lo[2] = { 9.0, 1e-9 }, hi[2] = { 20.0, 0.002 };
	p.lo = lo;
	p.hi = hi;
	double x[2] = { 1.0, 1.0 }; /* outside the bounds: clamped */
	struct jl_err err;
	assert_int_equal(jl_fit_solve(&p, x, NULL, &err), JL_OK);
	assert_true(x[0] >= 9.0 && x[0] <= 20.0);
	assert_true(fabs(x[1] - 0.002) < 1e-9);
}

static void fixed_parameter_stays_and_prior_pulls(void **state)
{
	(void)state;
	struct line l = make_line(7.5, 0.003, 0);
	struct jl_fit_problem p = line_problem(&l);
	const double lo[2] = { 5.0, 1e-9 }, hi[2] = { 5.0, 1e9 };
	const double prior_ln[2] = { NAN, -5.0 }, weak[2] = { 1.0, 10.0 }, strong[2] = { 1.0, 1e-4 };
	p.lo = lo;
	p.hi = hi;
	p.prior_ln = prior_ln;
	struct jl_err err;
	double a[2] = { 5.0, 1.0 }, b[2] = { 5.0, 1.0 };
	p.prior_sd_ln = weak;
	assert_int_equal(jl_fit_solve(&p, a, NULL, &err), JL_OK);
	p.prior_sd_ln = strong;
	assert_int_equal(jl_fit_solve(&p, b, NULL, &err), JL_OK);
	assert_true(fabs(a[0] - 5.0) < 1e-12 && fabs(b[0] - 5.0) < 1e-12);
	assert_true(fabs(log(a[1] / 0.003)) < 0.1);
	assert_true(fabs(log(b[1]) + 5.0) < 1e-3);
}

static void unfelt_parameter_falls_back_to_its_prior(void **state)
{
	(void)state;
	struct line l = make_line(7.5, 0.003, 0);
	struct jl_fit_problem p = line_problem(&l);
	const double lo[3] = { 1e-9, 1e-9, 1e-3 }, hi[3] = { 1e9, 1e9, 1e3 };
	const double prior_ln[3] = { NAN, NAN, 0.7 }, sd[3] = { 1.0, 1.0, 0.2 };
	p.n_param = 3;
	p.lo = lo;
	p.hi = hi;
	p.prior_ln = prior_ln;
	p.prior_sd_ln = sd;
	double x[3] = { 1.0, 1.0, 1.0 };
	struct jl_err err;
	assert_int_equal(jl_fit_solve(&p, x, NULL, &err), JL_OK);
	assert_true(fabs(log(x[2]) - 0.7) < 1e-3);
	assert_true(fabs(x[0] / 7.5 - 1.0) < 1e-3);
}

static void same_start_gives_same_bits(void **state)
{
	(void)state;
	struct line l = make_line(7.5, 0.003, 0);
	for (int i = 0; i < N_LINE; i++)
		l.y[i] *= i % 3 ? 1.07 : 0.9;
	struct jl_fit_problem p = line_problem(&l);
	p.huber = 0.05;
	double a[2] = { 1.0, 1.0 }, b[2] = { 1.0, 1.0 };
	struct jl_err err;
	assert_int_equal(jl_fit_solve(&p, a, NULL, &err), JL_OK);
	assert_int_equal(jl_fit_solve(&p, b, NULL, &err), JL_OK);
	assert_memory_equal(a, b, sizeof(a));
}

static void nan_residuals(void *ctx, const double *x, double *ret_r)
{
	(void)ctx;
	(void)x;
	ret_r[0] = NAN;
}

/* Defined only near the start: trial points outside are rejected. */
static void fenced_residuals(void *ctx, const double *x, double *ret_r)
{
	(void)ctx;
	ret_r[0] = x[0] > 3.0 ? NAN : log(x[0] / 2.9);
}

static void bad_input_is_refused(void **state)
{
	(void)state;
	const double lo[1] = { 0.1 }, hi[1] = { 10.0 }, zero[1] = { 0.0 };
	struct jl_fit_problem p = { .n_param = 1, .n_resid = 1, .lo = lo, .hi = hi, .residuals = nan_residuals };
	double x[1] = { 1.0 };
	struct jl_err err;
	assert_int_equal(jl_fit_solve(&p, x, NULL, &err), JL_E_DATA);
	assert_true(fabs(x[0] - 1.0) < 1e-15);
	p.lo = zero;
	assert_int_equal(jl_fit_solve(&p, x, NULL, &err), JL_E_RANGE);
	p.lo = hi;
	p.hi = lo;
	assert_int_equal(jl_fit_solve(&p, x, NULL, &err), JL_E_RANGE);
	p.lo = lo;
	p.hi = hi;
	p.residuals = fenced_residuals;
	assert_int_equal(jl_fit_solve(&p, x, NULL, &err), JL_OK);
	assert_true(fabs(x[0] / 2.9 - 1.0) < 1e-3);
	x[0] = -1.0;
	assert_int_equal(jl_fit_solve(&p, x, NULL, &err), JL_E_RANGE);
	p.n_param = 0;
	assert_int_equal(jl_fit_solve(&p, x, NULL, &err), JL_E_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_latency_and_rate),
		cmocka_unit_test(finds_a_kinked_floor),
		cmocka_unit_test(robust_loss_ignores_a_wild_row),
		cmocka_unit_test(weights_count),
		cmocka_unit_test(stays_inside_bounds),
		cmocka_unit_test(fixed_parameter_stays_and_prior_pulls),
		cmocka_unit_test(unfelt_parameter_falls_back_to_its_prior),
		cmocka_unit_test(same_start_gives_same_bits),
		cmocka_unit_test(bad_input_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
