/* Set "power": power of boards and whole nodes. */
#include <math.h>

#include "rows/set_power.h"
#include "rows/set_rows.h"
#include "system/resolve.h"
#include "parameters/arch.h"

JL_SET_CASES(jl_power_row);

static enum jl_status find_device(void *ctx, const char *text, struct jl_power_row *row, struct jl_err *err)
{
	struct jl_set_data *data = ctx;
	size_t g;

	JL_TRY(jl_set_gpu(data, text, &g, err));
	row->gpu = data->gpus.gpus[g];
	jl_resolve_device(&row->dev, data->cat, row->gpu);
	return JL_OK;
}

static enum jl_status add(struct jl_set_data *data, const struct jl_set_reader *in, struct jl_err *err)
{
	const struct jl_power_find find = { .device = find_device, .ctx = data, .cat = data->cat };
	struct jl_power_row *c = (struct jl_power_row *)data->cases + data->n;
	struct jl_power_cells cells;

	JL_SET_READ_CELLS(in, &cells, JL_POWER_CELLS);

	JL_TRY(jl_power_row_read(c, &cells, &find, err));
	struct jl_set_row *row = jl_set_add(
		data, in,
		&(struct jl_set_kind){
			.framework = cells.workload,
			.link = "",
			.what = jl_arena_printf(in->arena, "%s, %d GPUs, batch %s", cells.model, c->n_gpus,
						cells.batch),
			.model = cells.model,
			.answer = JL_ASKED_POWER,
			.kind = { [JL_LABEL_GPU] = c->gpu->id, [JL_LABEL_FAMILY] = jl_arch_id(c->dev.arch) },
			.extent_ln = { NAN, NAN, log(c->n_gpus) },
			.meas = c->meas_W });

	return jl_set_added(
		data, row,
		(double[]){ c->n_gpus * c->dev.tdp_W + c->ask.host_W, 0.7 * c->n_gpus * c->dev.tdp_W + c->ask.host_W },
		err);
}

static struct jl_param_list params(const struct jl_set_data *data)
{
	(void)data;
	return jl_power_params;
}

static enum jl_status fit(const struct jl_set_data *data, const unsigned char *use, int max_iter, double *x,
			  struct jl_err *err)
{
	(void)max_iter;
	return jl_power_solve(data->cases, data->n, use, x, NULL, err);
}

static void predict(const struct jl_set_data *data, const double *x, const struct jl_known *known,
		    struct jl_set_row *row)
{
	const struct jl_power_row *c = case_at(data, row->item);
	const struct jl_machine machine = { .cat = known->cat,
					    .widths = known->widths,
					    .sys = { .gpu = c->gpu },
					    .dev = c->dev,
					    .power = jl_power_fit_of(x) };
	const struct jl_power_answer a = jl_power_of(&machine, &c->ask);

	jl_set_answer(row, a.power_W, a.half_ln, a.doubt);
}

static void explain(const struct jl_set_data *data, const double *x, const struct jl_set_row *row, struct jl_buf *out)
{
	const struct jl_power_row *c = case_at(data, row->item);
	const struct jl_power_fit power = jl_power_fit_of(x);

	jl_buf_printf(out, JL_("idle %.0f %% of it; %.0f %% of TDP predicted, %.0f %% measured"),
		      100.0 * c->n_gpus * jl_power_idle_W(&c->dev, &power) / row->pred,
		      100.0 * (row->pred - c->ask.host_W) / (c->n_gpus * c->dev.tdp_W),
		      100.0 * (row->meas - c->ask.host_W) / (c->n_gpus * c->dev.tdp_W));
}

const struct jl_set_ops jl_power_ops = {
	.name = "power",
	.files = (const char *const[]){ "power", NULL },
	.unit = "W",
	.columns = (const char *const[]){ "gpu", "n_gpus", "workload", "model", "scope", NULL },
	.measures = (const char *const[]){ "avg_power_w_total", "avg_power_w_per_gpu", NULL },
	.baselines = { "TDP", JL_N("0.7 of TDP") },
	.case_B = sizeof(struct jl_power_row),
	.rows_a_line = 1,
	JL_SET_FUNCTIONS,
};
