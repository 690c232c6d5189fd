/* gemm_membw as a set: single operators and links of one device. */
#include <math.h>
#include <stdlib.h>

#include "belief/baseline.h"
#include "belief/set_gemm.h"
#include "belief/set_ops.h"
#include "belief/set_rows.h"
#include "system/resolve.h"

struct jl_set_data {
	struct jl_labels labels;
	struct jl_set_gpus gpus;
	const char *gpu_ids[JL_SET_GPUS_MAX];
	struct jl_device devices[JL_SET_GPUS_MAX];
	unsigned char seen[JL_SET_GPUS_MAX]; /* shipped parameters know them */
	struct jl_gemm_case *cases;
	size_t n;
};

/* Half widths, as ln, that held four fifths of the rows of each kind when their group was left out of the fit: of a
 * device that was seen, and of one that was not. */
static const double width_ln[JL_GEMM_N_KIND][2] = {
	[JL_GEMM_PRODUCT] = { 0.16, 0.17 }, [JL_GEMM_BEST] = { 0.07, 0.12 }, [JL_GEMM_STREAM] = { 0.05, 0.08 },
	[JL_GEMM_COPY] = { 0.10, 0.14 },    [JL_GEMM_LINK] = { 0.15, 0.20 }, [JL_GEMM_LINK_LATENCY] = { 0.20, 0.25 },
	[JL_GEMM_LAYER] = { 0.10, 0.12 },
};

static enum jl_status find_gpu(struct jl_set_data *data, const char *text, int *ret_gpu, struct jl_err *err)
{
	const size_t n_before = data->gpus.n;
	size_t g;
	const enum jl_status status = jl_set_gpu(&data->gpus, text, &g, err);

	if (status)
		return status;
	if (data->gpus.n > n_before) {
		double x[JL_GEMM_MAX_PARAMS];

		data->seen[g] = jl_gemm_read(data->gpus.cat, data->gpus.gpus[g]->id, x);
		data->gpu_ids[g] = data->gpus.gpus[g]->id;
		jl_resolve_device(&data->devices[g], data->gpus.cat, data->gpus.gpus[g]);
	}
	*ret_gpu = (int)g;
	return JL_OK;
}

/* Listed rates at one share: products and layers by a roofline, copies and links by their bytes. */
static double naive_s(const struct jl_device *dev, const struct jl_gemm_case *c, double layer_flop, double frac)
{
	const struct jl_gemm *g = &c->gemm;
	const double in_B = jl_dtype_B(g->dtype), weight_B = g->weight_B > 0.0 ? g->weight_B : in_B;

	switch (c->kind) {
	case JL_GEMM_PRODUCT:
	case JL_GEMM_BEST:
		return jl_baseline_roofline_s(
			dev, g->dtype, 2.0 * g->m * g->n * g->k * g->batch,
			g->batch * (in_B * g->m * g->k + weight_B * g->k * g->n + g->out_B * g->m * g->n), frac);
	case JL_GEMM_STREAM: return c->moved_B / (frac * dev->mem_Bps);
	case JL_GEMM_COPY: return 1.0 / (frac * dev->mem_Bps);
	case JL_GEMM_LINK:
		return (c->both_ways && c->path != JL_PATH_HOST ? 0.5 : 1.0) /
		       (frac * (c->path == JL_PATH_NVLINK ? dev->link_Bps : dev->host_Bps));
	case JL_GEMM_LAYER: return layer_flop / (frac * jl_baseline_peak_flopps(dev, JL_FP16));
	default: return NAN;
	}
}

static const char *describe(const struct jl_set_reader *in, const struct jl_gemm_case *c)
{
	const char *text;

	if (c->kind == JL_GEMM_PRODUCT || (c->kind == JL_GEMM_BEST && c->gemm.m > 0.0))
		text = jl_arena_printf(in->arena, "%s %gx%gx%g %s", jl_set_cell(in, "kind"), c->gemm.m, c->gemm.n,
				       c->gemm.k, jl_set_cell(in, "dtype"));
	else
		text = jl_arena_printf(in->arena, "%s %s", jl_set_cell(in, "kind"), jl_set_cell(in, "bytes"));
	return text ? text : "";
}

static enum jl_status read_row(struct jl_set_data *data, const struct jl_set_reader *in, struct jl_gemm_case *ret_case,
			       struct jl_err *err)
{
	const struct jl_gemm_cells cells = {
		.kind = jl_set_cell(in, "kind"),
		.gpu = jl_set_cell(in, "gpu"),
		.dtype = jl_set_cell(in, "dtype"),
		.batch = jl_set_cell(in, "batch"),
		.m = jl_set_cell(in, "m"),
		.n = jl_set_cell(in, "n"),
		.k = jl_set_cell(in, "k"),
		.bytes = jl_set_cell(in, "bytes"),
		.value = jl_set_cell(in, "value"),
		.unit = jl_set_cell(in, "unit"),
		.latency_us = jl_set_cell(in, "latency_us"),
		.software = jl_set_cell(in, "software"),
	};
	enum jl_status status = jl_set_check_measures(in, err);

	if (!status)
		status = jl_gemm_case_read(ret_case, &cells, err);
	if (!status)
		status = find_gpu(data, jl_label(in->labels, in->arena, cells.gpu), &ret_case->gpu, err);
	return status;
}

static enum jl_status add_row(struct jl_set_data *data, const struct jl_set_reader *in, struct jl_err *err)
{
	static const char *const paths[] = {
		[JL_PATH_NVLINK] = "NVLink",
		[JL_PATH_PCIE] = "PCIe, peer to peer",
		[JL_PATH_PCIE_CROSS] = "PCIe, across sockets",
		[JL_PATH_VIA_HOST] = "PCIe, via the host",
		[JL_PATH_HOST] = "host and device",
	};
	struct jl_gemm_case *c = &data->cases[data->n];
	struct jl_err why;

	if (read_row(data, in, c, &why) != JL_OK)
		return jl_set_add_unscored(in, &why, err);
	const bool link = c->kind == JL_GEMM_LINK || c->kind == JL_GEMM_LINK_LATENCY;
	struct jl_set_row *row = jl_set_add(in, jl_set_cell(in, "software"), link ? paths[c->path] : "");

	if (!row)
		return jl_fail_nomem(err);
	row->item = data->n++;
	row->what = describe(in, c);
	row->meas = c->meas_s;
	/* a layer's FLOP as its source counts them: its rate times the time it stands for */
	const double layer_flop = strtod(jl_set_cell(in, "value"), NULL) * 1e12 * c->meas_s;

	row->naive[0] = naive_s(&data->devices[c->gpu], c, layer_flop, JL_BASELINE_ROOFLINE_FRAC);
	row->naive[1] = naive_s(&data->devices[c->gpu], c, layer_flop, 1.0);
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
		.ops = &jl_gemm_ops, .csv = csv, .arena = arena, .labels = &data->labels, .rows = io_rows
	};

	const enum jl_status status = jl_set_read(&in, data, add_row, 1, err);

	if (!status)
		*io_data = data;
	return status;
}

static size_t n_param(const struct jl_set_data *data)
{
	return jl_gemm_n_param(data->gpus.n);
}

static void param(const struct jl_set_data *data, size_t i, struct jl_param *ret_param)
{
	jl_gemm_param_at(i, data->gpu_ids, ret_param);
}

static enum jl_status fit(const struct jl_set_data *data, const unsigned char *use, int max_iter, double *x,
			  struct jl_err *err)
{
	const struct jl_gemm_set set = {
		.n_case = data->n, .cases = data->cases, .n_gpu = data->gpus.n, .devices = data->devices
	};
	double cost;

	(void)max_iter;
	return jl_gemm_fit(&set, use, x, &cost, err);
}

static void predict(const struct jl_set_data *data, const double *x, const unsigned char *use,
		    const unsigned char *only, struct jl_set_row *rows, size_t n)
{
	unsigned char known[JL_SET_GPUS_MAX] = { 0 };
	struct jl_gemm_shared shared;

	jl_gemm_shared_at(x, &shared);
	for (size_t i = 0; i < data->n; i++)
		known[data->cases[i].gpu] |= use ? use[i] != 0 : data->seen[data->cases[i].gpu];
	for (size_t i = 0; i < n; i++) {
		struct jl_set_row *row = &rows[i];

		if (row->item == JL_NO_ITEM || (only && !only[row->item]))
			continue;
		const struct jl_gemm_case *c = &data->cases[row->item];
		struct jl_device dev = data->devices[c->gpu];

		jl_gemm_resolve(x, c->gpu, &dev);
		row->pred = jl_gemm_case_s(&dev, &shared, c);
		row->half_ln = width_ln[c->kind][!known[c->gpu]];
	}
}

/* How far the predicted rate is from the listed ones: a product is near one of them, or bound by something else. */
static void explain(const struct jl_set_data *data, const double *x, const struct jl_set_row *row, enum jl_lang lang,
		    struct jl_buf *out)
{
	const struct jl_gemm_case *c = &data->cases[row->item];
	const struct jl_device *dev = &data->devices[c->gpu];
	const struct jl_gemm *g = &c->gemm;

	(void)x;
	if (c->kind == JL_GEMM_PRODUCT || c->kind == JL_GEMM_BEST) {
		const double flop = 2.0 * g->m * g->n * g->k * g->batch, peak = jl_baseline_peak_flopps(dev, g->dtype);

		jl_buf_printf(out,
			      JL_T(lang, "%.0f %% of the listed rate predicted, %.0f %% measured",
				   "정격의 %.0f %%로 예측, 측정은 %.0f %%"),
			      100.0 * flop / row->pred / peak, 100.0 * flop / row->meas / peak);
		return;
	}
	if (!isnan(row->naive[1]))
		jl_buf_printf(out,
			      JL_T(lang, "%.0f %% of the listed rate predicted, %.0f %% measured",
				   "정격의 %.0f %%로 예측, 측정은 %.0f %%"),
			      100.0 * row->naive[1] / row->pred, 100.0 * row->naive[1] / row->meas);
}

static size_t n_items(const struct jl_set_data *data)
{
	return data->n;
}

static const char *const files[] = { "gemm_membw", NULL };
static const char *const columns[] = { "kind", "gpu", "dtype", "m", "n", "k", "value", "unit", NULL };
static const char *const measures[] = { "value", NULL };

const struct jl_set_ops jl_gemm_ops = {
	.name = "gemm_membw",
	.files = files,
	.unit = "s",
	.columns = columns,
	.measures = measures,
	.baselines = { "roofline at 0.7 of the listed rates", "listed rates" },
	.load = load,
	.n_param = n_param,
	.param = param,
	.fit = fit,
	.predict = predict,
	.explain = explain,
	.n_items = n_items,
};
