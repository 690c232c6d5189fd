/* Fit to train_llm and train_vtrain. */
#include <math.h>
#include <string.h>

#include "base/budget.h"
#include "base/mem.h"
#include "parameters/optimize.h"
#include "rows/set_llm.h"

struct work {
	const struct jl_llm_set *set;
	const unsigned char *use;
	size_t n_param, n_resid;
	double *base_x, *base_r;
	int has_base;
	struct jl_train_prices *prices; /* price cache per row */
};

static double *new_doubles(size_t n)
{
	return jl_realloc(NULL, (n ? n : 1) * sizeof(double));
}

static int used(const struct work *w, size_t i)
{
	const struct jl_llm_row *row = &w->set->rows[i];

	return (!w->use || w->use[i]) && !row->unscored;
}

/* Residuals of one row: time, then memory, if present. */
static size_t row_residuals(const struct work *w, size_t i, const double *x, double *ret_r)
{
	const struct jl_llm_row *row = &w->set->rows[i];
	struct jl_llm_prediction p;
	size_t n = 0;

	jl_llm_predict(row, x, &w->prices[i], &p);
	if (!isnan(row->meas_s))
		ret_r[n++] = log(p.step_s / row->meas_s);
	if (!isnan(row->meas_mem_B))
		ret_r[n++] = w->set->memory_weight * log(p.mem_B / row->meas_mem_B);
	return n;
}

static size_t row_count(const struct jl_llm_row *row)
{
	return (size_t)(!isnan(row->meas_s)) + (size_t)(!isnan(row->meas_mem_B));
}

enum { MAX_MOVED = 8 };

static int uses_any(const struct jl_llm_row *row, const size_t *moved, size_t n_moved)
{
	for (size_t k = 0; k < n_moved; k++)
		if (jl_llm_uses(row, moved[k]))
			return 1;
	return 0;
}

/* The optimiser mostly moves one parameter at a time, and most rows do not depend on it: those keep their residuals. A point far from the last full
 * evaluation becomes the new base. */
static void residuals(void *ctx, const double *x, double *ret_r)
{
	struct work *w = ctx;
	size_t moved[MAX_MOVED], n_moved = 0, at = 0;

	for (size_t j = 0; j < w->n_param; j++)
		if (!w->has_base || x[j] != w->base_x[j]) {
			if (n_moved < MAX_MOVED)
				moved[n_moved] = j;
			n_moved++;
		}
	const int whole = n_moved > MAX_MOVED;

	for (size_t i = 0; i < w->set->n_row; i++) {
		const struct jl_llm_row *row = &w->set->rows[i];

		if (!used(w, i))
			continue;
		if (jl_budget_spend(20))
			return;
		if (whole || uses_any(row, moved, n_moved)) {
			at += row_residuals(w, i, x, ret_r + at);
		} else {
			const size_t n = row_count(row);

			memcpy(ret_r + at, w->base_r + at, n * sizeof(double));
			at += n;
		}
	}
	if (whole) {
		memcpy(w->base_x, x, w->n_param * sizeof(double));
		memcpy(w->base_r, ret_r, w->n_resid * sizeof(double));
		w->has_base = 1;
	}
}

void jl_llm_start(size_t n_gpu, double *ret_x)
{
	const struct jl_param_list params = jl_llm_params(n_gpu, NULL);

	jl_params_start(&params, ret_x);
}

/* Rows of a group share unknown properties of their source: n of them count as n / (1 + (n - 1) shared_frac) independent rows. */
static double row_weight(const struct work *w, size_t i)
{
	static const double shared_frac = 0.02;
	const struct jl_llm_set *set = w->set;
	size_t n = 0;

	if (!set->group)
		return 1.0;
	for (size_t k = 0; k < set->n_row; k++)
		n += used(w, k) && set->group[k] == set->group[i];
	return 1.0 / (1.0 + ((double)n - 1.0) * shared_frac);
}

static void fill_weights(const struct work *w, double *ret_weight)
{
	size_t at = 0;

	for (size_t i = 0; i < w->set->n_row; i++) {
		if (!used(w, i))
			continue;
		if (!isnan(w->set->rows[i].meas_s))
			ret_weight[at++] = row_weight(w, i);
		if (!isnan(w->set->rows[i].meas_mem_B))
			ret_weight[at++] = 1.0; /* few sources with similar values */
	}
}

enum jl_status jl_llm_fit(const struct jl_llm_set *set, const unsigned char *use, int max_iter, double *x,
			  double *ret_cost, struct jl_err *err)
{
	const struct jl_param_list params = jl_llm_params(set->n_gpu, NULL);
	struct work w = { .set = set, .use = use, .n_param = params.n };
	double *weight = NULL;
	enum jl_status status = JL_OK;

	for (size_t i = 0; i < set->n_row; i++)
		w.n_resid += used(&w, i) ? row_count(&set->rows[i]) : 0;
	w.base_x = new_doubles(params.n);
	w.base_r = new_doubles(w.n_resid);
	weight = new_doubles(w.n_resid);
	w.prices = jl_realloc(NULL, (set->n_row + 1) * sizeof(*w.prices));
	if (!w.base_x || !w.base_r || !weight || !w.prices) {
		status = jl_fail_nomem(err);
		goto out;
	}
	for (size_t i = 0; i < set->n_row; i++)
		w.prices[i].known = false;
	fill_weights(&w, weight);
	/* unit of residuals: 10 %, typical of a row */
	status = jl_fit_params(&params, 0.1,
			       (struct jl_fit_problem){ .n_resid = w.n_resid,
							.residuals = residuals,
							.weight = weight,
							.ctx = &w,
							.huber = 0.1,
							.max_iter = max_iter },
			       x, ret_cost, err);
out:
	jl_free(weight);
	jl_free(w.base_x);
	jl_free(w.base_r);
	jl_free(w.prices);
	return status;
}
