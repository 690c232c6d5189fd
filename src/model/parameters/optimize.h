/* Bounded least squares with priors and a robust loss, used for all fits. Deterministic. */
#pragma once

#include <stddef.h>

#include "base/err.h"
#include "parameters/params.h"

/* Parameters are positive and fitted as ln x: a step then means the same for latencies and bandwidths, and the prior is a ratio. Residuals are
 * usually ln(pred/meas).
 *
 * cost = sum_i weight_i rho(r_i) + 1/2 sum_j ((ln x_j - prior_ln_j) / prior_sd_ln_j)^2. rho(r) = r^2/2 for huber <= 0, else huber^2 (sqrt(1 +
 * (r/huber)^2) - 1): quadratic near zero, linear for outliers. */
struct jl_fit_problem {
	size_t n_param, n_resid;
	const double *lo, *hi;     /* per parameter, 0 < lo <= hi; lo == hi: fixed */
	const double *prior_ln;    /* NULL: no priors; NAN: none for this parameter */
	const double *prior_sd_ln; /* > 0; NULL together with prior_ln */
	void (*residuals)(void *ctx, const double *x, double *ret_r);
	void *ctx;
	const double *weight; /* per residual; NULL: all 1 */
	double huber;
	int max_iter; /* 0: 60 */
};

/* Bounded Levenberg-Marquardt with a numeric Jacobian. If the gradient step fails at a kink of the model, a pattern search over single parameters
 * continues. `x`: in: start (clamped to the bounds); out: best point, unchanged on failure. Residuals must be finite at the start; trial points
 * with non-finite residuals are rejected. ret_cost may be NULL. */
enum jl_status jl_fit_solve(const struct jl_fit_problem *p, double *x, double *ret_cost, struct jl_err *err);

/* Number of rows used of n; use NULL: all. */
static inline size_t jl_fit_used(const unsigned char *use, size_t n)
{
	size_t n_used = 0;

	for (size_t i = 0; i < n; i++)
		n_used += !use || use[i];
	return n_used;
}

/* The same with bounds and priors from a list. prior_ln: residual whose cost equals a deviation of one prior standard deviation. */
enum jl_status jl_fit_params(const struct jl_param_list *params, double prior_ln, struct jl_fit_problem p, double *x,
			     double *ret_cost, struct jl_err *err);
