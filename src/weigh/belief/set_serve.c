/* What the rows of both sets share: formats, prediction, fit. */
#include "belief/set_serve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "belief/optimize.h"
#include "physics/arch.h"

enum jl_status jl_serve_number(const struct jl_serve_cells *cells, const char *column, double *ret_value,
			       struct jl_err *err)
{
	const char *text = cells->at(cells->ctx, column);
	size_t used = 0;
	double value = NAN;

	if (*text && (jl_num_parse(text, &value, &used) != JL_NUM_OK || text[used] != '\0' || !(value >= 0)))
		return jl_fail(err, JL_E_PARSE, "%s: '%.40s' is not a number from 0", column, text);
	*ret_value = value;
	return JL_OK;
}

double jl_serve_naive_s(const struct jl_serve_row *row, double frac)
{
	struct jl_serve_fit fit = { .mem_frac = frac,
				    .kv_frac = 1,
				    .flash_frac = 1,
				    .narrow_mem_frac = 1,
				    .narrow_math_frac = 1,
				    .expert_frac = 1,
				    .link_frac = frac,
				    .mix_frac = 1 };

	for (int d = 0; d < JL_N_DTYPE; d++)
		fit.math_frac[d] = frac;
	return jl_serve_run_s(&row->dev, &fit, &row->run, NULL);
}

/* One prior standard deviation weighs as much as a row that is wrong by this much. */
#define PRIOR_LN 0.6
#define HUBER_LN 0.15

struct fit_ctx {
	const struct jl_serve_row *rows;
	const size_t *used;
	size_t n_used;
};

static void residuals(void *ctx, const double *x, double *ret_r)
{
	const struct fit_ctx *fit = ctx;
	struct jl_serve_fit physics[JL_ARCHS_MAX][JL_N_ENGINE];
	unsigned char known[JL_ARCHS_MAX][JL_N_ENGINE] = { { 0 } };

	for (size_t i = 0; i < fit->n_used; i++) {
		const struct jl_serve_row *row = &fit->rows[fit->used[i]];
		const int arch = row->dev.arch;

		if (!known[arch][row->run.engine]) {
			physics[arch][row->run.engine] = jl_serve_fit_of(x, arch, row->run.engine);
			known[arch][row->run.engine] = 1;
		}
		ret_r[i] = log(jl_serve_run_s(&row->dev, &physics[arch][row->run.engine], &row->run, NULL) /
			       row->meas_s);
	}
}

/* A parameter that no row knows stays where it is: the fit is not asked for it. */
static bool is_known(const struct fit_ctx *fit, double *x, size_t param, const double *r, double *room)
{
	const double kept = x[param];
	bool known = false;

	x[param] *= 0.97;
	residuals((void *)fit, x, room);
	x[param] *= 1.06;
	residuals((void *)fit, x, room + fit->n_used);
	x[param] = kept;
	for (size_t i = 0; i < fit->n_used && !known; i++)
		known = r[i] != room[i] || r[i] != room[fit->n_used + i];
	return known;
}

static enum jl_status solve(const struct fit_ctx *fit, enum jl_serve_scope scope, int max_iter, double *room, double *x,
			    struct jl_err *err)
{
	const size_t n = jl_serve_n_param();
	double lo[JL_SERVE_MAX_PARAMS], hi[JL_SERVE_MAX_PARAMS];
	double prior[JL_SERVE_MAX_PARAMS], sd[JL_SERVE_MAX_PARAMS];

	residuals((void *)fit, x, room);
	for (size_t i = 0; i < n; i++) {
		struct jl_param param;

		jl_serve_param_at(scope, i, &param);
		const bool known = is_known(fit, x, i, room, room + fit->n_used);

		lo[i] = known ? param.lo : x[i];
		hi[i] = known ? param.hi : x[i];
		prior[i] = log(param.prior);
		sd[i] = param.prior_sd_ln / PRIOR_LN;
	}
	return jl_fit_solve(&(struct jl_fit_problem){ .n_param = n,
						      .n_resid = fit->n_used,
						      .lo = lo,
						      .hi = hi,
						      .prior_ln = prior,
						      .prior_sd_ln = sd,
						      .residuals = residuals,
						      .ctx = (void *)fit,
						      .huber = HUBER_LN,
						      .max_iter = max_iter },
			    x, NULL, err);
}

enum jl_status jl_serve_solve(enum jl_serve_scope scope, const struct jl_serve_row *rows, size_t n_rows,
			      const unsigned char *use, int max_iter, double *x, struct jl_err *err)
{
	size_t *used = jl_realloc(NULL, (n_rows + 1) * sizeof(*used)), n_used = 0;
	double *room = jl_realloc(NULL, (3 * n_rows + 1) * sizeof(*room));
	enum jl_status status = JL_OK;

	if (!used || !room) {
		status = jl_fail_nomem(err);
		goto out;
	}
	for (size_t i = 0; i < n_rows; i++)
		if (!use || use[i])
			used[n_used++] = i;
	status = solve(&(struct fit_ctx){ .rows = rows, .used = used, .n_used = n_used }, scope, max_iter, room, x,
		       err);
out:
	jl_free(used);
	jl_free(room);
	return status;
}
