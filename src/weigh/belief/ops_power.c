/* power as a set: what boards and whole nodes draw. */
#include <math.h>

#include "belief/set_ops.h"
#include "belief/set_power.h"
#include "belief/set_rows.h"
#include "system/resolve.h"

struct jl_set_data {
	struct jl_labels labels;
	struct jl_set_gpus gpus;
	struct jl_power_row *cases;
	size_t n;
};

/* Half widths, as ln, that held four fifths of the rows when their GPU was left out of the fit; and where what the work
 * moves and computes is a typical share of the TDP. */
static const double width_ln = 0.20, width_assumed_ln = 0.25;

static enum jl_status find_device(void *ctx, const char *text, struct jl_device *ret_dev, struct jl_err *err)
{
	struct jl_set_data *data = ctx;
	size_t g;
	const enum jl_status status = jl_set_gpu(&data->gpus, text, &g, err);

	if (!status)
		jl_resolve_device(ret_dev, data->gpus.cat, data->gpus.gpus[g]);
	return status;
}

static enum jl_status read_row(struct jl_set_data *data, const struct jl_set_reader *in, struct jl_power_row *ret_row,
			       struct jl_err *err)
{
	const struct jl_power_cells cells = {
		.gpu = jl_label(in->labels, in->arena, jl_set_cell(in, "gpu")),
		.n_gpus = jl_set_cell(in, "n_gpus"),
		.workload = jl_set_cell(in, "workload"),
		.model = jl_set_cell(in, "model"),
		.precision = jl_set_cell(in, "precision"),
		.batch = jl_set_cell(in, "batch"),
		.power_limit_w = jl_set_cell(in, "power_limit_w"),
		.avg_power_w_total = jl_set_cell(in, "avg_power_w_total"),
		.avg_power_w_per_gpu = jl_set_cell(in, "avg_power_w_per_gpu"),
		.scope = jl_set_cell(in, "scope"),
		.throughput = jl_set_cell(in, "throughput"),
		.throughput_unit = jl_set_cell(in, "throughput_unit"),
	};
	const struct jl_power_find find = { .device = find_device, .ctx = data, .cat = data->gpus.cat };
	const enum jl_status status = jl_set_check_measures(in, err);

	return status ? status : jl_power_row_read(ret_row, &cells, &find, err);
}

static enum jl_status add_row(struct jl_set_data *data, const struct jl_set_reader *in, struct jl_err *err)
{
	struct jl_power_row *c = &data->cases[data->n];
	struct jl_err why;

	if (read_row(data, in, c, &why) != JL_OK)
		return jl_set_add_unscored(in, &why, err);
	struct jl_set_row *row = jl_set_add(in, jl_set_cell(in, "workload"), "");
	const char *what = jl_arena_printf(in->arena, "%s, %d GPUs, batch %s", jl_set_cell(in, "model"), c->n_gpus,
					   jl_set_cell(in, "batch"));

	if (!row || !what)
		return jl_fail_nomem(err);
	row->item = data->n++;
	row->what = what;
	row->meas = c->meas_W;
	row->naive[0] = c->n_gpus * c->dev.tdp_W + c->host_W;
	row->naive[1] = 0.7 * c->n_gpus * c->dev.tdp_W + c->host_W;
	return JL_OK;
}

static enum jl_status load(struct jl_set_data **io_data, struct jl_set_rows *io_rows, const struct jl_catalog *cat,
			   struct jl_csv *csv, struct jl_arena *arena, struct jl_err *err)
{
	struct jl_set_data *data = *io_data ? *io_data : jl_arena_alloc(arena, sizeof(*data));
	const size_t n_left = jl_set_rows_left(csv);

	if (!data)
		return jl_fail_nomem(err);
	data->gpus.cat = cat;
	data->cases = jl_set_grow(arena, data->cases, data->n, data->n + n_left, sizeof(*data->cases));
	if (!data->cases)
		return jl_fail_nomem(err);
	const struct jl_set_reader in = {
		.ops = &jl_power_ops, .csv = csv, .arena = arena, .labels = &data->labels, .rows = io_rows
	};

	const enum jl_status status = jl_set_read(&in, data, add_row, 1, err);

	if (!status)
		*io_data = data;
	return status;
}

static size_t n_param(const struct jl_set_data *data)
{
	(void)data;
	return JL_POWER_N_PARAM;
}

static void param(const struct jl_set_data *data, size_t i, struct jl_param *ret_param)
{
	(void)data;
	*ret_param = *jl_power_param_at(i);
}

static enum jl_status fit(const struct jl_set_data *data, const unsigned char *use, int max_iter, double *x,
			  struct jl_err *err)
{
	double cost;

	(void)max_iter;
	return jl_power_solve(data->cases, data->n, use, x, &cost, err);
}

static void predict(const struct jl_set_data *data, const double *x, const unsigned char *use,
		    const unsigned char *only, struct jl_set_row *rows, size_t n)
{
	const struct jl_power_fit power = jl_power_fit_of(x);

	(void)use;
	for (size_t i = 0; i < n; i++) {
		struct jl_set_row *row = &rows[i];

		if (row->item == JL_NO_ITEM || (only && !only[row->item]))
			continue;
		row->pred = jl_power_row_W(&data->cases[row->item], &power);
		row->half_ln = data->cases[row->item].assumed ? width_assumed_ln : width_ln;
	}
}

static void explain(const struct jl_set_data *data, const double *x, const struct jl_set_row *row, enum jl_lang lang,
		    struct jl_buf *out)
{
	const struct jl_power_row *c = &data->cases[row->item];
	const struct jl_power_fit power = jl_power_fit_of(x);

	jl_buf_printf(out,
		      JL_T(lang, "idle %.0f %% of it; %.0f %% of TDP predicted, %.0f %% measured",
			   "그중 유휴 %.0f %%; TDP의 %.0f %%로 예측, 측정은 %.0f %%"),
		      100.0 * c->n_gpus * jl_power_idle_W(&c->dev, &power) / row->pred,
		      100.0 * (row->pred - c->host_W) / (c->n_gpus * c->dev.tdp_W),
		      100.0 * (row->meas - c->host_W) / (c->n_gpus * c->dev.tdp_W));
}

static size_t n_items(const struct jl_set_data *data)
{
	return data->n;
}

static const char *const files[] = { "power", NULL };
static const char *const columns[] = { "gpu", "n_gpus", "workload", "model", "scope", NULL };
static const char *const measures[] = { "avg_power_w_total", "avg_power_w_per_gpu", NULL };

const struct jl_set_ops jl_power_ops = {
	.name = "power",
	.files = files,
	.unit = "W",
	.columns = columns,
	.measures = measures,
	.baselines = { "TDP", "0.7 of TDP" },
	.load = load,
	.n_param = n_param,
	.param = param,
	.fit = fit,
	.predict = predict,
	.explain = explain,
	.n_items = n_items,
};
