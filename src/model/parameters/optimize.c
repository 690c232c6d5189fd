/* Bounded least squares: Levenberg-Marquardt with Broyden-type updates, and pattern search. Knows no parameter by name. */
#include "parameters/optimize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"

enum { MAX_ITER_DEFAULT = 60, MAX_DAMPING_TRIES = 12 };

static const double step_ln = 1e-4;       /* step of the numeric Jacobian, wide enough to bridge the steps of ceil() */
static const double gain_min_frac = 1e-5; /* stop if an iteration lowers the cost by less than this share */
static const double damping_max = 1e10;
/* A Jacobian costs one evaluation of all residuals per parameter. After a step it is updated from that step (Schubert's sparse Broyden update), and
 * recomputed once a step gains less than this share of the cost. */
static const double mend_gain_frac = 0.02;

struct work {
	const struct jl_fit_problem *p;
	double *u; /* ln x of the best point so far */
	double *u_try;
	double *x_try; /* exp(u_try), input of the residual function */
	double *lo_ln, *hi_ln;
	double *r, *r_try, *r_old;
	double *u_old;
	double *jac;    /* [param][resid]: each residual call fills one column */
	double *normal; /* J'WJ + ridge, n_param x n_param */
	double *damped; /* damped copy of `normal`, overwritten by its Cholesky factor */
	double *grad, *step;
	char *frozen; /* fixed, or at a bound with the gradient pointing outwards */
};

static double clamp(double v, double lo, double hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

static int has_prior(const struct jl_fit_problem *p, size_t j)
{
	return p->prior_ln && p->prior_sd_ln && isfinite(p->prior_ln[j]) && isfinite(p->prior_sd_ln[j]) &&
	       p->prior_sd_ln[j] > 0.0;
}

static double loss(double huber, double r)
{
	if (!(huber > 0.0))
		return 0.5 * r * r;
	double q = r / huber;
	return huber * huber * (sqrt(1.0 + q * q) - 1.0);
}

/* rho'(r)/r: weight of a residual in the next least-squares step. */
static double loss_weight(double huber, double r)
{
	if (!(huber > 0.0))
		return 1.0;
	double q = r / huber;
	return 1.0 / sqrt(1.0 + q * q);
}

static void eval(const struct work *w, const double *u, double *r)
{
	bool cut = jl_budget_spend(1 + (unsigned)w->p->n_resid);

	for (size_t j = 0; j < w->p->n_param; j++)
		w->x_try[j] = exp(u[j]);
	if (!cut) {
		w->p->residuals(w->p->ctx, w->x_try, r);
		cut = jl_budget_over();
	}
	for (size_t i = 0; cut && i < w->p->n_resid; i++) /* budget exhausted: reject further points */
		r[i] = NAN;
}

/* INFINITY if a residual is not finite. */
static double cost_of(const struct work *w, const double *u, const double *r)
{
	const struct jl_fit_problem *p = w->p;
	double sum = 0.0;
	for (size_t i = 0; i < p->n_resid; i++)
		sum += (p->weight ? p->weight[i] : 1.0) * loss(p->huber, r[i]);
	for (size_t j = 0; j < p->n_param; j++) {
		if (!has_prior(p, j))
			continue;
		double d = (u[j] - p->prior_ln[j]) / p->prior_sd_ln[j];
		sum += 0.5 * d * d;
	}
	return isfinite(sum) ? sum : INFINITY;
}

/* Forward differences, backward at the upper bound. A non-finite column counts as zero slope. */
static void fill_jacobian(struct work *w)
{
	const struct jl_fit_problem *p = w->p;
	memcpy(w->u_try, w->u, p->n_param * sizeof(*w->u));
	for (size_t j = 0; j < p->n_param && !jl_budget_spend(1); j++) {
		double *col = w->jac + j * p->n_resid;
		double h = w->u[j] + step_ln <= w->hi_ln[j] ? step_ln : -step_ln;
		if (w->hi_ln[j] - w->lo_ln[j] < step_ln) {
			memset(col, 0, p->n_resid * sizeof(*col));
			continue;
		}
		w->u_try[j] = w->u[j] + h;
		eval(w, w->u_try, col);
		w->u_try[j] = w->u[j];
		for (size_t i = 0; i < p->n_resid; i++) {
			double slope = (col[i] - w->r[i]) / h;
			col[i] = isfinite(slope) ? slope : 0.0;
		}
	}
}

static void fill_normal(struct work *w)
{
	const struct jl_fit_problem *p = w->p;
	size_t n = p->n_param;
	for (size_t i = 0; i < p->n_resid; i++)
		w->r_try[i] = (p->weight ? p->weight[i] : 1.0) * loss_weight(p->huber, w->r[i]);
	for (size_t a = 0; a < n; a++) {
		const double *ja = w->jac + a * p->n_resid;
		double g = 0.0;
		for (size_t i = 0; i < p->n_resid; i++)
			g += ja[i] * w->r_try[i] * w->r[i];
		for (size_t b = 0; b <= a; b++) {
			const double *jb = w->jac + b * p->n_resid;
			double s = 0.0;
			for (size_t i = 0; i < p->n_resid; i++)
				s += ja[i] * w->r_try[i] * jb[i];
			w->normal[a * n + b] = w->normal[b * n + a] = s;
		}
		if (has_prior(p, a)) {
			double inv = 1.0 / (p->prior_sd_ln[a] * p->prior_sd_ln[a]);
			g += (w->u[a] - p->prior_ln[a]) * inv;
			w->normal[a * n + a] += inv;
		}
		w->grad[a] = g;
		w->frozen[a] = w->hi_ln[a] - w->lo_ln[a] < step_ln || (w->u[a] <= w->lo_ln[a] && g > 0.0) ||
			       (w->u[a] >= w->hi_ln[a] && g < 0.0);
	}
}

/* Cholesky factorisation of the damped normal matrix, and the step; false: not positive definite. */
static int solve_step(struct work *w, double damping)
{
	size_t n = w->p->n_param;
	for (size_t a = 0; a < n; a++) {
		for (size_t b = 0; b < n; b++)
			w->damped[a * n + b] = w->frozen[a] || w->frozen[b] ? 0.0 : w->normal[a * n + b];
		/* the small constant keeps a parameter without any influence where it is */
		w->damped[a * n + a] = w->frozen[a] ? 1.0 : w->normal[a * n + a] * (1.0 + damping) + 1e-9;
		w->step[a] = w->frozen[a] ? 0.0 : -w->grad[a];
	}
	for (size_t a = 0; a < n; a++) {
		double *row = w->damped + a * n;
		for (size_t b = 0; b <= a; b++) {
			const double *other = w->damped + b * n;
			double s = row[b];
			for (size_t k = 0; k < b; k++)
				s -= row[k] * other[k];
			if (a == b) {
				if (!(s > 0.0))
					return 0;
				row[a] = sqrt(s);
			} else {
				row[b] = s / other[b];
			}
		}
		for (size_t k = 0; k < a; k++)
			w->step[a] -= row[k] * w->step[k];
		w->step[a] /= row[a];
	}
	for (size_t a = n; a-- > 0;) {
		for (size_t k = a + 1; k < n; k++)
			w->step[a] -= w->damped[k * n + a] * w->step[k];
		w->step[a] /= w->damped[a * n + a];
	}
	return 1;
}

/* Update after a step from u_old to u: minimal change of each residual's slopes that explains the residual. Zero slopes stay zero: the residual
 * does not depend on that parameter. */
static void mend_jacobian(struct work *w)
{
	const struct jl_fit_problem *p = w->p;

	for (size_t i = 0; i < p->n_resid; i++) {
		double miss = w->r[i] - w->r_old[i], norm = 0.0;

		for (size_t j = 0; j < p->n_param; j++) {
			const double slope = w->jac[j * p->n_resid + i], d = w->u[j] - w->u_old[j];

			miss -= slope * d;
			norm += slope != 0.0 ? d * d : 0.0;
		}
		for (size_t j = 0; norm > 0.0 && j < p->n_param; j++) {
			double *slope = &w->jac[j * p->n_resid + i];

			if (*slope != 0.0)
				*slope += miss * (w->u[j] - w->u_old[j]) / norm;
		}
	}
}

/* Evaluates u_try and accepts it if the cost falls. */
static int take_if_better(struct work *w, double *cost)
{
	eval(w, w->u_try, w->r_try);
	double c = cost_of(w, w->u_try, w->r_try);
	if (!(c < *cost))
		return 0;
	double *t = w->r;
	w->r = w->r_try;
	w->r_try = t;
	memcpy(w->u, w->u_try, w->p->n_param * sizeof(*w->u));
	*cost = c;
	return 1;
}

/* fresh: recompute the Jacobian; otherwise update the last one. */
static int gradient_step(struct work *w, int fresh, double *damping, double *cost)
{
	if (fresh)
		fill_jacobian(w);
	else
		mend_jacobian(w);
	fill_normal(w);
	memcpy(w->u_old, w->u, w->p->n_param * sizeof(*w->u));
	memcpy(w->r_old, w->r, w->p->n_resid * sizeof(*w->r));
	for (int k = 0; k < MAX_DAMPING_TRIES && *damping <= damping_max; k++) {
		if (solve_step(w, *damping)) {
			for (size_t j = 0; j < w->p->n_param; j++) {
				/* at most a factor e per step: farther away the linearisation is invalid */
				double d = clamp(w->step[j], -1.0, 1.0);
				w->u_try[j] = clamp(w->u[j] + d, w->lo_ln[j], w->hi_ln[j]);
			}
			if (take_if_better(w, cost)) {
				*damping = fmax(*damping * 0.2, 1e-9);
				return 1;
			}
		}
		*damping *= 4.0;
	}
	*damping = 1e-2;
	return 0;
}

static int pattern_step(struct work *w, double *cost)
{
	static const double moves_ln[] = { 0.1, -0.1, 0.02, -0.02, 0.004, -0.004 };
	int any = 0;
	for (size_t j = 0; j < w->p->n_param; j++) {
		for (size_t k = 0; k < JL_LEN(moves_ln); k++) {
			memcpy(w->u_try, w->u, w->p->n_param * sizeof(*w->u));
			w->u_try[j] = clamp(w->u[j] + moves_ln[k], w->lo_ln[j], w->hi_ln[j]);
			if (w->u_try[j] != w->u[j] && take_if_better(w, cost)) {
				any = 1;
				break;
			}
		}
	}
	return any;
}

static enum jl_status check(const struct jl_fit_problem *p, const double *x, struct jl_err *err)
{
	if (!p->n_param || !p->n_resid || !p->lo || !p->hi || !p->residuals)
		return jl_fail(err, JL_E_USAGE, "fit: parameters, residuals and bounds are all needed");
	for (size_t j = 0; j < p->n_param; j++) {
		if (!(p->lo[j] > 0.0) || !(p->hi[j] >= p->lo[j]) || !isfinite(p->hi[j]))
			return jl_fail(err, JL_E_RANGE, "fit: parameter %zu: bounds %g..%g; must be 0 < lo <= hi", j,
				       p->lo[j], p->hi[j]);
		if (!(x[j] > 0.0) || !isfinite(x[j]))
			return jl_fail(err, JL_E_RANGE, "fit: parameter %zu starts at %g; must be positive", j, x[j]);
	}
	return JL_OK;
}

static double *carve(double **at, size_t n)
{
	double *p = *at;
	*at += n;
	return p;
}

static enum jl_status run(struct work *w, double *ret_cost, struct jl_err *err)
{
	const struct jl_fit_problem *p = w->p;
	eval(w, w->u, w->r);
	if (jl_budget_over())
		return jl_budget_fail(err);
	for (size_t i = 0; i < p->n_resid; i++)
		if (!isfinite(w->r[i]))
			return jl_fail(err, JL_E_DATA, "fit: residual %zu is not finite at the start", i);
	double cost = cost_of(w, w->u, w->r), damping = 1e-2;
	int max_iter = p->max_iter > 0 ? p->max_iter : MAX_ITER_DEFAULT;
	for (int it = 0, fresh = 1; it < max_iter; it++) {
		double before = cost;
		if (jl_budget_over())
			return jl_budget_fail(err);
		gradient_step(w, fresh, &damping, &cost);
		const int was_fresh = fresh;
		fresh = !(before - cost > mend_gain_frac * before);
		if (before - cost > gain_min_frac * before || !was_fresh)
			continue;
		pattern_step(w, &cost);
		if (!(before - cost > gain_min_frac * before))
			break;
	}
	*ret_cost = cost;
	return JL_OK;
}

enum jl_status jl_fit_solve(const struct jl_fit_problem *p, double *x, double *ret_cost, struct jl_err *err)
{
	enum jl_status status = JL_OK;
	JL_TRY(check(p, x, err));
	size_t n = p->n_param, m = p->n_resid;
	if (n > 10000 || m > 100000000 / n)
		return jl_fail(err, JL_E_LIMIT, "fit: %zu parameters by %zu residuals is more than this solver takes",
			       n, m);
	struct work w = { .p = p };
	double *block = calloc(8 * n + 3 * m + n * m + 2 * n * n, sizeof(*block));
	w.frozen = calloc(n, 1);
	if (!block || !w.frozen) {
		status = jl_fail_nomem(err);
		goto out;
	}
	double *at = block, cost = NAN;
	double **const vectors[] = { &w.u, &w.u_try, &w.u_old, &w.x_try, &w.lo_ln, &w.hi_ln, &w.grad, &w.step };
	for (size_t i = 0; i < JL_LEN(vectors); i++)
		*vectors[i] = carve(&at, n);
	w.r = carve(&at, m);
	w.r_try = carve(&at, m);
	w.r_old = carve(&at, m);
	w.jac = carve(&at, n * m);
	w.normal = carve(&at, n * n);
	w.damped = carve(&at, n * n);
	for (size_t j = 0; j < n; j++) {
		w.lo_ln[j] = log(p->lo[j]);
		w.hi_ln[j] = log(p->hi[j]);
		w.u[j] = clamp(log(x[j]), w.lo_ln[j], w.hi_ln[j]);
	}
	status = run(&w, &cost, err);
	if (status)
		goto out;
	for (size_t j = 0; j < n; j++)
		x[j] = clamp(exp(w.u[j]), p->lo[j], p->hi[j]);
	if (ret_cost)
		*ret_cost = cost;
out:
	free(block);
	free(w.frozen);
	return status;
}

enum jl_status jl_fit_params(const struct jl_param_list *params, double prior_ln, struct jl_fit_problem p, double *x,
			     double *ret_cost, struct jl_err *err)
{
	const size_t n = params->n;
	double *lo = calloc(4 * n + 1, sizeof(*lo)), *hi = lo + n, *prior = hi + n, *sd = prior + n;

	JL_TRY(jl_got(lo, err));
	for (size_t j = 0; j < n; j++) {
		struct jl_param param;

		jl_param_of(params, j, &param);
		lo[j] = param.lo;
		hi[j] = param.hi;
		prior[j] = log(param.prior);
		sd[j] = param.prior_sd_ln / prior_ln;
	}
	p.n_param = n;
	p.lo = lo;
	p.hi = hi;
	p.prior_ln = prior;
	p.prior_sd_ln = sd;
	const enum jl_status status = jl_fit_solve(&p, x, ret_cost, err);

	free(lo);
	return status;
}
