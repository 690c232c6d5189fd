/* Predictions of the rows of set_collectives, how sure they are, and the fit over them. */
#include <math.h>
#include <stdlib.h>

#include "belief/optimize.h"
#include "belief/set_collectives.h"

/* Residuals are weighed as if a measurement were good to this, as ln; beyond it the loss grows only linearly. */
static const double noise_ln = 0.1;

/* What the host of the tool adds: a loop in PyTorch always, nccl-tests inside one host. */
static double host_s(const double *x, const struct jl_coll_case *c)
{
	return c->tool == JL_TOOL_TORCH || c->listed.n_nodes == 1 ? jl_coll_host_s(x, c->tool, c->n_on_host) : 0.0;
}

double jl_coll_predict_s(const double *x, const struct jl_coll_case *c, struct jl_collective_cost *ret_cost)
{
	struct jl_fabric fabric = c->listed;

	jl_coll_fill(x, c->intra, c->inter, c->many_die, &fabric);
	const struct jl_collective_cost cost = jl_collective_cost(&fabric, &c->coll);

	if (ret_cost)
		*ret_cost = cost;
	return fmax(cost.time_s, host_s(x, c));
}

struct jl_collective_answer jl_coll_answer(const double *x, const struct jl_coll_case *c, const struct jl_known *known)
{
	struct jl_machine m = { .cat = known->cat,
				.widths = known->widths,
				.sys = { .gpu = c->gpu, .n_nodes = c->listed.n_nodes },
				.dev.arch = c->arch,
				.alone = c->listed,
				.intra = c->intra,
				.inter = c->listed.n_nodes > 1 ? c->inter : JL_WIRE_NONE };

	jl_coll_fill(x, c->intra, c->inter, c->many_die, &m.alone);
	return jl_collective_of(&m, &c->coll, host_s(x, c), __builtin_popcount(c->assumed));
}

struct fit {
	const struct jl_coll_case **cases;
	size_t n;
};

static void residuals(void *ctx, const double *x, double *ret_r)
{
	const struct fit *fit = ctx;

	for (size_t i = 0; i < fit->n; i++)
		ret_r[i] = log(jl_coll_predict_s(x, fit->cases[i], NULL) / fit->cases[i]->meas_s) / noise_ln;
}

enum jl_status jl_coll_fit(const struct jl_coll_case *cases, size_t n, const unsigned char *use, double *x,
			   double *ret_cost, struct jl_err *err)
{
	double lo[JL_COLL_MAX_PARAMS], hi[JL_COLL_MAX_PARAMS], prior_ln[JL_COLL_MAX_PARAMS],
		prior_sd_ln[JL_COLL_MAX_PARAMS];
	const size_t n_param = jl_coll_n_param();
	struct fit fit = { .n = 0 };
	enum jl_status status;

	fit.cases = calloc(n > 0 ? n : 1, sizeof(*fit.cases));
	JL_TRY(jl_got(fit.cases, err));
	for (size_t i = 0; i < n; i++)
		if (!use || use[i])
			fit.cases[fit.n++] = &cases[i];
	for (size_t i = 0; i < n_param; i++) {
		const struct jl_param *param = jl_coll_param_at(i);

		lo[i] = param->lo;
		hi[i] = param->hi;
		prior_ln[i] = log(param->prior);
		prior_sd_ln[i] = param->prior_sd_ln;
	}
	const struct jl_fit_problem problem = { .n_param = n_param,
						.n_resid = fit.n,
						.lo = lo,
						.hi = hi,
						.prior_ln = prior_ln,
						.prior_sd_ln = prior_sd_ln,
						.residuals = residuals,
						.ctx = &fit,
						.huber = 1.0,
						.max_iter = 60 };

	status = jl_fit_solve(&problem, x, ret_cost, err);
	free(fit.cases);
	return status;
}
