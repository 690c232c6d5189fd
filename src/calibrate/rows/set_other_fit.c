/* The fit over train_other. Transformer blocks give the rates of linear layers and attention in other networks, operator by operator; whole
 * transformers are predicted with the parameters of transformer runs. */
#include <math.h>
#include <string.h>

#include "base/budget.h"
#include "base/mem.h"
#include "parameters/optimize.h"
#include "rows/set_other.h"

/* Ridge of the fit: one prior standard deviation weighs as much as a row that is wrong by this much. */
#define PRIOR_LN 0.15
#define HUBER_LN 0.1

void jl_other_start(size_t n_gpus, double *ret_x)
{
	const struct jl_param_list params = jl_conv_params(n_gpus, NULL);

	jl_params_start(&params, ret_x);
}

void jl_other_resolve(const double *x, const struct jl_other_gpu *gpu, struct jl_conv_fit *ret_fit, double *ret_bus_Bps)
{
	jl_conv_resolve(x, gpu->index, &gpu->dev, ret_fit);
	*ret_bus_Bps = jl_conv_bus_Bps(x, &gpu->dev, gpu->nvlink);
}

/* Device times that a fit needs again and again: rows of the same GPU, model, format and batch share one, and it is
 * priced again only when the parameters of its GPU have changed. */
struct priced {
	size_t row; /* that stands for it */
	struct jl_conv_cost cost;
};

struct fit_ctx {
	const struct jl_other_set *set;
	const size_t *used; /* rows of the fit */
	size_t n_used;
	size_t *config; /* per used row: index into `priced` */
	struct priced *priced;
	size_t n_priced;
	struct jl_conv_fit last[JL_CONV_MAX_GPUS];
};

static int same_config(const struct jl_other_row *a, const struct jl_other_row *b)
{
	return a->gpu.index == b->gpu.index && a->net == b->net && a->dtype == b->dtype && a->software == b->software &&
	       a->batch == b->batch;
}

static void group_configs(struct fit_ctx *fit)
{
	for (size_t i = 0; i < fit->n_used; i++) {
		size_t c = 0;

		while (c < fit->n_priced &&
		       !same_config(&fit->set->rows[fit->priced[c].row], &fit->set->rows[fit->used[i]]))
			c++;
		if (c == fit->n_priced)
			fit->priced[fit->n_priced++] = (struct priced){ .row = fit->used[i] };
		fit->config[i] = c;
	}
}

static void residuals(void *ctx, const double *x, double *ret_r)
{
	struct fit_ctx *fit = ctx;
	struct jl_conv_fit now[JL_CONV_MAX_GPUS];
	double bus_Bps[JL_CONV_MAX_GPUS];
	unsigned char changed[JL_CONV_MAX_GPUS], known[JL_CONV_MAX_GPUS] = { 0 };

	for (size_t c = 0; c < fit->n_priced; c++) {
		const struct jl_other_row *row = &fit->set->rows[fit->priced[c].row];
		const int g = row->gpu.index;

		if (!known[g]) {
			jl_other_resolve(x, &row->gpu, &now[g], &bus_Bps[g]);
			/* all members are doubles: no padding. NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
			changed[g] = memcmp(&now[g], &fit->last[g], sizeof(now[g])) != 0;
			fit->last[g] = now[g];
			known[g] = 1;
		}
		if (jl_budget_spend(20))
			return;
		if (changed[g]) {
			const struct jl_conv_in in = jl_other_input(row, &now[g], bus_Bps[g]);

			fit->priced[c].cost = jl_conv_device(&row->gpu.dev, &now[g], &in);
		}
	}
	for (size_t i = 0; i < fit->n_used; i++) {
		const struct jl_other_row *row = &fit->set->rows[fit->used[i]];
		const int g = row->gpu.index;
		const struct jl_conv_in in = jl_other_input(row, &now[g], bus_Bps[g]);
		const struct jl_conv_cost cost = jl_conv_finish(&now[g], &in, fit->priced[fit->config[i]].cost);

		ret_r[i] = log(row->net->units_per_item * row->batch * row->n_gpus / cost.step_s / row->meas);
	}
}

enum jl_status jl_other_fit(const struct jl_other_set *set, const unsigned char *use, int max_iter, double *x,
			    double *ret_cost, struct jl_err *err)
{
	enum jl_status status;
	size_t *used = jl_realloc(NULL, (2 * set->n_rows + 1) * sizeof(*used)), n_used = 0;
	struct priced *priced = jl_realloc(NULL, (set->n_rows + 1) * sizeof(*priced));

	if (!used || !priced) {
		status = jl_fail_nomem(err);
		goto out;
	}
	if (set->n_gpus > JL_CONV_MAX_GPUS) {
		status = jl_fail(err, JL_E_LIMIT, "more than %d GPU models in one fit", JL_CONV_MAX_GPUS);
		goto out;
	}
	for (size_t i = 0; i < set->n_rows; i++) {
		if ((use ? use[i] : !set->rows[i].aside) && set->rows[i].gpu.index >= 0)
			used[n_used++] = i;
	}
	struct fit_ctx fit = {
		.set = set, .used = used, .n_used = n_used, .config = used + set->n_rows, .priced = priced
	};

	const struct jl_param_list params = jl_conv_params(set->n_gpus, NULL);

	group_configs(&fit);
	status = jl_fit_params(&params, PRIOR_LN,
			       (struct jl_fit_problem){ .n_resid = n_used,
							.residuals = residuals,
							.ctx = &fit,
							.huber = HUBER_LN,
							.max_iter = max_iter },
			       x, ret_cost, err);
out:
	jl_free(used);
	jl_free(priced);
	return status;
}
