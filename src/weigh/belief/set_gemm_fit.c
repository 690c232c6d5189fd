/* The fit over gemm_membw. */
#include <math.h>
#include <stdlib.h>

#include "belief/optimize.h"
#include "belief/set_gemm.h"

struct fit_work {
	const struct jl_gemm_set *set;
	const unsigned char *use;
	struct jl_device *devices;
};

static void predict_all(const struct jl_gemm_set *set, struct jl_device *devices, const unsigned char *use,
			const double *x, double *ret_ln)
{
	struct jl_gemm_shared shared;
	jl_gemm_shared_at(x, &shared);
	for (size_t g = 0; g < set->n_gpu; g++) {
		devices[g] = set->devices[g];
		jl_gemm_resolve(x, (int)g, &devices[g]);
	}
	size_t at = 0;
	for (size_t i = 0; i < set->n_case; i++) {
		const struct jl_gemm_case *c = &set->cases[i];
		if (use && !use[i])
			continue;
		ret_ln[at++] = log(jl_device_case_s(&devices[c->gpu], &shared, &c->of) / c->meas_s);
	}
}

static void residuals(void *ctx, const double *x, double *ret_r)
{
	const struct fit_work *w = ctx;
	predict_all(w->set, w->devices, w->use, x, ret_r);
	size_t n = 0;
	for (size_t i = 0; i < w->set->n_case; i++)
		n += !w->use || w->use[i];
	/* Rows agree to about a tenth: residuals in units of that, as the priors' are in theirs. */
	for (size_t i = 0; i < n; i++)
		ret_r[i] *= 10.0;
}

enum jl_status jl_gemm_fit(const struct jl_gemm_set *set, const unsigned char *use, double *x, double *ret_cost,
			   struct jl_err *err)
{
	size_t n_param = jl_gemm_n_param(set->n_gpu), n_resid = 0;
	for (size_t i = 0; i < set->n_case; i++)
		n_resid += !use || use[i];
	struct fit_work work = { .set = set, .use = use };
	double *block = calloc(4 * n_param, sizeof(*block));
	work.devices = calloc(set->n_gpu ? set->n_gpu : 1, sizeof(*work.devices));
	enum jl_status status;
	if (!block || !work.devices) {
		status = jl_fail_nomem(err);
		goto out;
	}
	double *lo = block, *hi = lo + n_param, *prior_ln = hi + n_param, *sd_ln = prior_ln + n_param;
	for (size_t i = 0; i < n_param; i++) {
		struct jl_param p;
		jl_gemm_param_at(i, NULL, &p);
		lo[i] = p.lo;
		hi[i] = p.hi;
		prior_ln[i] = log(p.prior);
		sd_ln[i] = p.prior_sd_ln;
	}
	const struct jl_fit_problem problem = {
		.n_param = n_param,
		.n_resid = n_resid,
		.lo = lo,
		.hi = hi,
		.prior_ln = prior_ln,
		.prior_sd_ln = sd_ln,
		.residuals = residuals,
		.ctx = &work,
		.huber = 1.0,
	};
	status = jl_fit_solve(&problem, x, ret_cost, err);
out:
	free(block);
	free(work.devices);
	return status;
}

void jl_gemm_ln_ratio(const struct jl_gemm_set *set, const double *x, double *ret_ln)
{
	struct jl_gemm_shared shared;
	jl_gemm_shared_at(x, &shared);
	for (size_t i = 0; i < set->n_case; i++) {
		const struct jl_gemm_case *c = &set->cases[i];
		struct jl_device dev = set->devices[c->gpu];
		jl_gemm_resolve(x, c->gpu, &dev);
		ret_ln[i] = log(jl_device_case_s(&dev, &shared, &c->of) / c->meas_s);
	}
}
