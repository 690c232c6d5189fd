/* train_other as a set: vision, speech and translation. */
#include <math.h>
#include <string.h>

#include "belief/baseline.h"
#include "belief/set_ops.h"
#include "belief/set_other.h"
#include "belief/set_rows.h"
#include "system/resolve.h"

struct jl_set_data {
	double priors[JL_CONV_MAX_PARAMS]; /* FLOP and bytes of a row do not depend on the fit */
	struct jl_labels labels;
	struct jl_set_gpus gpus;
	const char *gpu_ids[JL_SET_GPUS_MAX];
	struct jl_convnet_list nets;
	struct jl_other_row *cases;
	size_t n;
};

/* Half widths, as ln, that held four fifths of the rows when their group, mostly all rows of one GPU, was left out of
 * the fit: one device, several, and what an assumed batch adds. */
static const double width_one_ln = 0.17, width_host_ln = 0.20, width_batch_ln = 0.10;

/* Parameters of their own have only so many GPUs; further ones are predicted by their family. */
static size_t n_own(const struct jl_set_data *data)
{
	return data->gpus.n < JL_CONV_MAX_GPUS ? data->gpus.n : JL_CONV_MAX_GPUS;
}

static enum jl_status find_gpu(void *ctx, const char *text, struct jl_other_gpu *ret_gpu, struct jl_err *err)
{
	struct jl_set_data *data = ctx;
	size_t g;
	const enum jl_status status = jl_set_gpu(&data->gpus, text, &g, err);

	if (status)
		return status;
	const struct jl_gpu *gpu = data->gpus.gpus[g];

	data->gpu_ids[g] = gpu->id;
	*ret_gpu = (struct jl_other_gpu){ .index = g < JL_CONV_MAX_GPUS ? (int)g : -1, .p2p = jl_set_p2p(gpu) };
	jl_resolve_device(&ret_gpu->dev, data->gpus.cat, gpu);
	ret_gpu->nvlink = gpu->form_factor &&
			  (strstr(gpu->form_factor, "SXM") || strstr(gpu->form_factor, "superchip"));
	return JL_OK;
}

static enum jl_status read_row(struct jl_set_data *data, const struct jl_set_reader *in, struct jl_other_row *ret_row,
			       struct jl_err *err)
{
	const struct jl_other_cells cells = {
		.gpu = jl_label(in->labels, in->arena, jl_set_cell(in, "gpu")),
		.n_gpus = jl_set_cell(in, "n_gpus"),
		.model = jl_set_cell(in, "model"),
		.precision = jl_set_cell(in, "precision"),
		.micro_batch = jl_set_cell(in, "micro_batch"),
		.throughput = jl_set_cell(in, "throughput"),
		.remark = jl_set_cell(in, "remark"),
	};
	const struct jl_other_find find = { .gpu = find_gpu, .ctx = data };
	const enum jl_status status = jl_set_check_measures(in, err);

	return status ? status : jl_other_row_read(ret_row, &cells, &data->nets, &find, err);
}

/* Throughput as the time of a step. */
static double step_s(const struct jl_other_row *c, double units_per_s)
{
	return c->net->units_per_item * c->batch * c->n_gpus / units_per_s;
}

static enum jl_status add_row(struct jl_set_data *data, const struct jl_set_reader *in, struct jl_err *err)
{
	struct jl_other_row *c = &data->cases[data->n];
	struct jl_err why;

	if (read_row(data, in, c, &why) != JL_OK)
		return jl_set_add_unscored(in, &why, err);
	const char *link = c->n_gpus < 2   ? ""
			   : c->gpu.nvlink ? "NVLink"
			   : c->gpu.p2p    ? "PCIe, peer to peer"
					   : "PCIe, via the host";
	struct jl_set_row *row = jl_set_add(in, jl_set_cell(in, "framework"), link);
	const char *what = jl_arena_printf(in->arena, "%s %s, %d GPU%s, batch %g each", c->net->id,
					   jl_dtype_name(c->dtype), c->n_gpus, c->n_gpus > 1 ? "s" : "", c->batch);
	struct jl_other_row plain = *c;

	if (!row || !what)
		return jl_fail_nomem(err);
	plain.gpu.index = -1;
	const struct jl_conv_cost cost = jl_other_cost(&plain, data->priors);

	row->item = data->n++;
	row->what = what;
	row->meas = step_s(c, c->meas);
	row->naive[0] = cost.flop / (JL_BASELINE_MFU_FRAC * jl_baseline_peak_flopps(&c->gpu.dev, c->dtype));
	row->naive[1] = jl_baseline_roofline_s(&c->gpu.dev, c->dtype, cost.flop, cost.moved_B,
					       JL_BASELINE_ROOFLINE_FRAC);
	return JL_OK;
}

static enum jl_status load(struct jl_set_data **io_data, struct jl_set_rows *io_rows, const struct jl_catalog *cat,
			   struct jl_csv *csv, struct jl_arena *arena, struct jl_err *err)
{
	struct jl_set_data *data = *io_data ? *io_data : jl_arena_alloc(arena, sizeof(*data));
	const size_t n_left = jl_set_rows_left(csv);
	enum jl_status status = JL_OK;

	if (!data)
		return jl_fail_nomem(err);
	if (!*io_data)
		status = jl_convnets(&data->nets, cat, arena, err);
	jl_other_start(0, data->priors);
	data->gpus.cat = cat;
	data->cases = jl_set_grow(arena, data->cases, data->n, data->n + n_left, sizeof(*data->cases));
	if (!data->cases)
		return jl_fail_nomem(err);
	const struct jl_set_reader in = {
		.ops = &jl_other_ops, .csv = csv, .arena = arena, .labels = &data->labels, .rows = io_rows
	};

	if (!status)
		status = jl_set_read(&in, data, add_row, 1, err);
	if (!status)
		*io_data = data;
	return status;
}

static size_t n_param(const struct jl_set_data *data)
{
	return jl_conv_n_param(n_own(data));
}

static void param(const struct jl_set_data *data, size_t i, struct jl_param *ret_param)
{
	jl_conv_param_at(i, data->gpu_ids, ret_param);
}

static enum jl_status fit(const struct jl_set_data *data, const unsigned char *use, int max_iter, double *x,
			  struct jl_err *err)
{
	const struct jl_other_set set = { .rows = data->cases, .n_rows = data->n, .n_gpus = n_own(data) };
	double cost;

	return jl_other_fit(&set, use, max_iter, x, &cost, err);
}

static void predict(const struct jl_set_data *data, const double *x, const unsigned char *use,
		    const unsigned char *only, struct jl_set_row *rows, size_t n)
{
	(void)use;
	for (size_t i = 0; i < n; i++) {
		struct jl_set_row *row = &rows[i];

		if (row->item == JL_NO_ITEM || (only && !only[row->item]))
			continue;
		const struct jl_other_row *c = &data->cases[row->item];
		const double width = c->n_gpus > 1 ? width_host_ln : width_one_ln;
		const double batch = c->assumed & JL_OTHER_ASSUMED_BATCH ? width_batch_ln : 0.0;

		row->pred = jl_other_cost(c, x).step_s;
		row->half_ln = sqrt(width * width + batch * batch);
	}
}

static void explain(const struct jl_set_data *data, const double *x, const struct jl_set_row *row, enum jl_lang lang,
		    struct jl_buf *out)
{
	const struct jl_conv_cost cost = jl_other_cost(&data->cases[row->item], x);
	const struct jl_set_part parts[] = {
		{ "kernels", "커널", fmin(cost.device_s, cost.step_s) },
		{ "host ahead of the device", "호스트가 앞섬", fmax(0.0, cost.host_s - cost.device_s) },
		{ "launches waited for", "런치 대기", cost.sync_s },
		{ "gradient traffic", "그래디언트 통신", cost.exposed_s },
	};

	jl_set_parts(out, parts, sizeof(parts) / sizeof(*parts), cost.step_s, lang);
	if (data->cases[row->item].assumed & JL_OTHER_ASSUMED_BATCH)
		jl_buf_puts(out, JL_T(lang, "; batch assumed", "; 배치는 가정"));
}

static size_t n_items(const struct jl_set_data *data)
{
	return data->n;
}

static const char *const files[] = { "train_other", NULL };
static const char *const columns[] = { "gpu", "n_gpus", "model", "precision", "throughput", "throughput_unit", NULL };
static const char *const measures[] = { "throughput", NULL };

const struct jl_set_ops jl_other_ops = {
	.name = "train_other",
	.files = files,
	.unit = "s",
	.columns = columns,
	.measures = measures,
	.baselines = { "40 % MFU", "roofline at 0.7 of the listed rates" },
	.load = load,
	.n_param = n_param,
	.param = param,
	.fit = fit,
	.predict = predict,
	.explain = explain,
	.n_items = n_items,
};
