/* The fit over gemm_membw. */
#include <math.h>
#include <stdlib.h>

#include "parameters/optimize.h"
#include "rows/set_gemm.h"

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
	const size_t n = jl_fit_used(w->use, w->set->n_case);

	predict_all(w->set, w->devices, w->use, x, ret_r);
	/* Rows agree to about a tenth: residuals in units of that, as the priors' are in theirs. */
	for (size_t i = 0; i < n; i++)
		ret_r[i] *= 10.0;
}

enum jl_status jl_gemm_fit(const struct jl_gemm_set *set, const unsigned char *use, double *x, double *ret_cost,
			   struct jl_err *err)
{
	const struct jl_param_list params = jl_gemm_params(set->n_gpu, NULL);
	struct fit_work work = { .set = set, .use = use };

	work.devices = calloc(set->n_gpu ? set->n_gpu : 1, sizeof(*work.devices));
	JL_TRY(jl_got(work.devices, err));
	const enum jl_status status = jl_fit_params(
		&params, 1.0,
		(struct jl_fit_problem){
			.n_resid = jl_fit_used(use, set->n_case), .residuals = residuals, .ctx = &work, .huber = 1.0 },
		x, ret_cost, err);

	free(work.devices);
	return status;
}
