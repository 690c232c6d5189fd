/* Set "gemm_membw": single operators and links of one device. */
#include <math.h>
#include <stdlib.h>

#include "rows/set_gemm.h"
#include "rows/set_rows.h"
#include "system/resolve.h"
#include "parameters/arch.h"

struct own {
	struct jl_device devices[JL_SET_GPUS_MAX]; /* devices with listed rates */
	size_t n;
};

JL_SET_CASES(jl_gemm_case);

static enum jl_status find_gpu(struct jl_set_data *data, const char *text, int *ret_gpu, struct jl_err *err)
{
	struct own *own = data->own;
	size_t g;
	const enum jl_status status = jl_set_gpu(data, text, &g, err);

	for (; !status && own->n < data->gpus.n; own->n++)
		jl_resolve_device(&own->devices[own->n], data->cat, data->gpus.gpus[own->n]);
	if (!status)
		*ret_gpu = (int)g;
	return status;
}

/* Naive baseline, a share of the listed rates: roofline for products and layers, bytes / rate for copies and links. */
static double naive_s(const struct jl_device *dev, const struct jl_device_case *c, double layer_flop, double frac)
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

static bool is_product(const struct jl_device_case *c)
{
	return c->kind == JL_GEMM_PRODUCT || c->kind == JL_GEMM_BEST;
}

static const char *describe(const struct jl_set_reader *in, const struct jl_gemm_cells *cells,
			    const struct jl_device_case *c)
{
	if (is_product(c) && c->gemm.m > 0.0)
		return jl_arena_printf(in->arena, "%s %gx%gx%g %s", cells->kind, c->gemm.m, c->gemm.n, c->gemm.k,
				       cells->dtype);
	return jl_arena_printf(in->arena, "%s %s", cells->kind, cells->bytes);
}

static enum jl_status add(struct jl_set_data *data, const struct jl_set_reader *in, struct jl_err *err)
{
	static const char *const paths[] = {
		[JL_PATH_NVLINK] = "NVLink",
		[JL_PATH_PCIE] = "PCIe, peer to peer",
		[JL_PATH_PCIE_CROSS] = "PCIe, across sockets",
		[JL_PATH_VIA_HOST] = "PCIe, via the host",
		[JL_PATH_HOST] = "host and device",
	};
	struct jl_gemm_case *c = (struct jl_gemm_case *)data->cases + data->n;
	const struct own *own = data->own;
	char id[JL_DEVICE_ID_MAX];
	struct jl_gemm_cells cells;

	JL_SET_READ_CELLS(in, &cells, JL_GEMM_CELLS);

	JL_TRY(jl_gemm_case_read(c, &cells, err));
	JL_TRY(find_gpu(data, cells.gpu, &c->gpu, err));
	const bool product = is_product(&c->of),
		   link = c->of.kind == JL_GEMM_LINK || c->of.kind == JL_GEMM_LINK_LATENCY;
	const struct jl_gemm *g = &c->of.gemm;
	const struct jl_device *dev = &own->devices[c->gpu];
	struct jl_set_row *row = jl_set_add(
		data, in,
		&(struct jl_set_kind){
			.framework = cells.software,
			.link = link ? paths[c->of.path] : "",
			.what = describe(in, &cells, &c->of),
			.model = cells.kind,
			.answer = product ? JL_ASKED_PRODUCT : JL_ASKED_RATE,
			.kind = { [JL_LABEL_GPU] = data->gpu_ids[c->gpu],
				  [JL_LABEL_FAMILY] = jl_arch_id(dev->arch),
				  [JL_LABEL_KIND] = jl_device_case_id(id, &c->of) },
			.extent_ln = { product ? log(2.0 * g->m * g->n * g->k * g->batch) : NAN, NAN, NAN },
			.meas = c->meas_s });

	JL_TRY(jl_got(row, err));
	data->n++;
	/* a layer's FLOP as counted by its source: listed rate times time */
	const double layer_flop = strtod(cells.value, NULL) * 1e12 * c->meas_s;

	row->naive[0] = naive_s(dev, &c->of, layer_flop, JL_BASELINE_ROOFLINE_FRAC);
	row->naive[1] = naive_s(dev, &c->of, layer_flop, 1.0);
	return JL_OK;
}

static struct jl_param_list params(const struct jl_set_data *data)
{
	return jl_gemm_params(data->gpus.n, data->gpu_ids);
}

static enum jl_status fit(const struct jl_set_data *data, const unsigned char *use, int max_iter, double *x,
			  struct jl_err *err)
{
	const struct own *own = data->own;
	const struct jl_gemm_set set = {
		.n_case = data->n, .cases = data->cases, .n_gpu = data->gpus.n, .devices = own->devices
	};

	(void)max_iter;
	return jl_gemm_fit(&set, use, x, NULL, err);
}

static void predict(const struct jl_set_data *data, const double *x, const struct jl_known *known,
		    struct jl_set_row *row)
{
	const struct jl_gemm_case *c = case_at(data, row->item);
	const struct own *own = data->own;
	struct jl_machine machine = { .cat = known->cat,
				      .widths = known->widths,
				      .sys = { .gpu = data->gpus.gpus[c->gpu] },
				      .dev = own->devices[c->gpu] };
	struct jl_gemm_shared shared;

	jl_gemm_shared_at(x, &shared);
	jl_gemm_resolve(x, c->gpu, &machine.dev);
	const struct jl_device_answer a = jl_device_of(&machine, &shared, &c->of);

	jl_set_answer(row, a.time_s, a.half_ln, a.doubt);
}

/* Shows the predicted rate relative to the listed compute rate and bandwidth: a product is near one of them, or limited otherwise. */
static void explain(const struct jl_set_data *data, const double *x, const struct jl_set_row *row, struct jl_buf *out)
{
	const struct jl_gemm_case *c = case_at(data, row->item);
	const struct own *own = data->own;
	const struct jl_gemm *g = &c->of.gemm;
	const double listed_s = is_product(&c->of) ? 2.0 * g->m * g->n * g->k * g->batch /
							     jl_baseline_peak_flopps(&own->devices[c->gpu], g->dtype)
						   : row->naive[1];

	(void)x;
	if (!isnan(listed_s))
		jl_buf_printf(out, JL_("%.0f %% of the listed rate predicted, %.0f %% measured"),
			      100.0 * listed_s / row->pred, 100.0 * listed_s / row->meas);
}

const struct jl_set_ops jl_gemm_ops = {
	.name = "gemm_membw",
	.files = (const char *const[]){ "gemm_membw", "gemm_own", NULL },
	.unit = "s",
	.columns = (const char *const[]){ "kind", "gpu", "dtype", "m", "n", "k", "value", "unit", NULL },
	.measures = (const char *const[]){ "value", NULL },
	.baselines = { JL_N("roofline at 0.7 of the listed rates"), JL_N("listed rates") },
	.case_B = sizeof(struct jl_gemm_case),
	.own_B = sizeof(struct own),
	.rows_a_line = 1,
	JL_SET_FUNCTIONS,
};
