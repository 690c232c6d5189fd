/* Predictions of the rows of set_collectives, how sure they are, and the fit over them. */
#include <math.h>

#include "parameters/optimize.h"
#include "rows/set_collectives.h"

/* Residuals are weighed as if a measurement were good to this, as ln; beyond it the loss grows only linearly. */
static const double noise_ln = 0.1;

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
	return jl_collective_of(&m, &c->coll, jl_coll_tool_s(x, c), __builtin_popcount(c->assumed));
}

/* More than two cards of unknown topology: a rate says nothing about any path. */
static bool tells(const struct jl_coll_case *c)
{
	return !(c->assumed & JL_COLL_PATH) || c->coll.n_ranks_per_node <= 2;
}

struct fit {
	const struct jl_coll_case *cases;
	size_t n;
	const unsigned char *use;
};

static void residuals(void *ctx, const double *x, double *ret_r)
{
	const struct fit *fit = ctx;

	for (size_t i = 0; i < fit->n; i++)
		if (!fit->use || fit->use[i])
			*ret_r++ = tells(&fit->cases[i])
					   ? log(jl_coll_predict_s(x, &fit->cases[i], NULL) / fit->cases[i].meas_s) /
						     noise_ln
					   : 0.0;
}

enum jl_status jl_coll_fit(const struct jl_coll_case *cases, size_t n, const unsigned char *use, double *x,
			   double *ret_cost, struct jl_err *err)
{
	struct fit fit = { .cases = cases, .n = n, .use = use };

	return jl_fit_params(
		&jl_coll_params, 1.0,
		(struct jl_fit_problem){
			.n_resid = jl_fit_used(use, n), .residuals = residuals, .ctx = &fit, .huber = 1.0 },
		x, ret_cost, err);
}
