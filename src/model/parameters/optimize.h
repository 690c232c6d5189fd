/* Least squares with bounds, priors and a robust loss: how fitted parameters are found. Deterministic. */
#pragma once

#include <stddef.h>

#include "base/err.h"
#include "parameters/params.h"

/* Parameters are positive and fitted as ln x, so that a step means the same for a latency and for a bandwidth and
 * the ridge towards the prior is a ratio. Residuals are usually ln(pred/meas), weighted as the caller likes.
 *
 * cost = sum_i weight_i rho(r_i) + 1/2 sum_j ((ln x_j - prior_ln_j) / prior_sd_ln_j)^2
 * rho(r) = r^2/2 for huber <= 0, else huber^2 (sqrt(1 + (r/huber)^2) - 1): square near zero, |r| far out. */
struct jl_fit_problem {
	size_t n_param, n_resid;
	const double *lo, *hi;     /* per parameter, 0 < lo <= hi; lo == hi keeps the parameter fixed */
	const double *prior_ln;    /* NULL: no ridge; per parameter, NAN: none for this one */
	const double *prior_sd_ln; /* NULL together with prior_ln; > 0 */
	void (*residuals)(void *ctx, const double *x, double *ret_r);
	void *ctx;
	const double *weight; /* per residual; NULL: 1 each */
	double huber;
	int max_iter; /* 0: the default, 60 */
};

/* Bounded Levenberg-Marquardt with a numeric Jacobian; where the model has kinks and the gradient step fails, a pattern search over single
 * parameters takes over. `x`: start in, best out (untouched on failure); a start outside the bounds is moved onto them. The residuals must
 * be finite at the start; a trial point where they are not is refused, not an error. ret_cost may be NULL. */
enum jl_status jl_fit_solve(const struct jl_fit_problem *p, double *x, double *ret_cost, struct jl_err *err);

/* How many of n rows take part; use NULL: all. */
static inline size_t jl_fit_used(const unsigned char *use, size_t n)
{
	size_t n_used = 0;

	for (size_t i = 0; i < n; i++)
		n_used += !use || use[i];
	return n_used;
}

/* The same with the bounds and priors of a list: one prior standard deviation weighs as much as a residual of `prior_ln`. */
enum jl_status jl_fit_params(const struct jl_param_list *params, double prior_ln, struct jl_fit_problem p, double *x,
			     double *ret_cost, struct jl_err *err);
