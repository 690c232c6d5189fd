/* Reads rows of gemm_membw, and fits device parameters to them. */
#include "rows/set_gemm.h"
#include "parameters/optimize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* State of the fit to gemm_membw. */

struct fit_work {
	const struct jl_gemm_set *set;
	const unsigned char *use;
	struct jl_device *devices;
};

static void predict_all(const struct jl_gemm_set *set, struct jl_device *devices, const unsigned char *use,
			const double *x, double *ret_ln)
{
	struct jl_gemm_shared shared;
	jl_gemm_shared_at(x, &shared);
	for (size_t g = 0; g < set->n_gpu; g++) {
		devices[g] = set->devices[g];
		jl_gemm_resolve(x, (int)g, &devices[g]);
	}
	size_t at = 0;
	for (size_t i = 0; i < set->n_case; i++) {
		const struct jl_gemm_case *c = &set->cases[i];
		if (use && !use[i])
			continue;
		ret_ln[at++] = log(jl_device_case_s(&devices[c->gpu], &shared, &c->of) / c->meas_s);
	}
}

static void residuals(void *ctx, const double *x, double *ret_r)
{
	const struct fit_work *w = ctx;
	const size_t n = jl_fit_used(w->use, w->set->n_case);

	predict_all(w->set, w->devices, w->use, x, ret_r);
	/* unit of residuals: 10 %, the typical scatter; the priors use the same unit */
	for (size_t i = 0; i < n; i++)
		ret_r[i] *= 10.0;
}

enum jl_status jl_gemm_fit(const struct jl_gemm_set *set, const unsigned char *use, double *x, double *ret_cost,
			   struct jl_err *err)
{
	const struct jl_param_list params = jl_gemm_params(set->n_gpu, NULL);
	struct fit_work work = { .set = set, .use = use };

	work.devices = calloc(set->n_gpu ? set->n_gpu : 1, sizeof(*work.devices));
	JL_TRY(jl_got(work.devices, err));
	const enum jl_status status = jl_fit_params(
		&params, 1.0,
		(struct jl_fit_problem){
			.n_resid = jl_fit_used(use, set->n_case), .residuals = residuals, .ctx = &work, .huber = 1.0 },
		x, ret_cost, err);

	free(work.devices);
	return status;
}

static int starts(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static double number(const char *text)
{
	if (!text || !*text)
		return NAN;
	char *end;
	double v = strtod(text, &end);
	return *end ? NAN : v;
}

static const struct kind_row {
	const char *prefix; /* a prefix comes after longer ones that begin with it */
	struct jl_device_case to;
} kind_rows[] = {
	{ "gemm_best_shape", { .kind = JL_GEMM_BEST } },
	{ "gemm_square_best", { .kind = JL_GEMM_BEST } },
	{ "gemm_turned", { .kind = JL_GEMM_PRODUCT, .gemm.turned = 1 } },
	{ "gemm", { .kind = JL_GEMM_PRODUCT } },
	{ "elementwise_", { .kind = JL_GEMM_STREAM } },
	{ "membw_local_copy", { .kind = JL_GEMM_COPY } },
	{ "host_device_h2d bidirectional", { .kind = JL_GEMM_LINK, .path = JL_PATH_HOST, .both_ways = 1 } },
	{ "host_device_d2h bidirectional", { .kind = JL_GEMM_LINK, .path = JL_PATH_HOST, .both_ways = 1 } },
	{ "host_device_", { .kind = JL_GEMM_LINK, .path = JL_PATH_HOST } },
	{ "p2p_latency (no P2P)", { .kind = JL_GEMM_LINK_LATENCY, .path = JL_PATH_VIA_HOST } },
	{ "p2p_latency", { .kind = JL_GEMM_LINK_LATENCY, .path = JL_PATH_PCIE } },
	{ "p2p_bidirectional (no P2P", { .kind = JL_GEMM_LINK, .path = JL_PATH_VIA_HOST, .both_ways = 1 } },
	{ "p2p_bidirectional (P2P driver, cross",
	  { .kind = JL_GEMM_LINK, .path = JL_PATH_PCIE_CROSS, .both_ways = 1 } },
	{ "p2p_bidirectional (P2P driver", { .kind = JL_GEMM_LINK, .path = JL_PATH_PCIE, .both_ways = 1 } },
	{ "p2p_bidirectional PCIe5 cross", { .kind = JL_GEMM_LINK, .path = JL_PATH_PCIE_CROSS, .both_ways = 1 } },
	{ "p2p_bidirectional PCIe", { .kind = JL_GEMM_LINK, .path = JL_PATH_PCIE, .both_ways = 1 } },
	{ "p2p_bidirectional", { .kind = JL_GEMM_LINK, .path = JL_PATH_NVLINK, .both_ways = 1 } },
	{ "p2p_unidirectional (no P2P", { .kind = JL_GEMM_LINK, .path = JL_PATH_VIA_HOST } },
	{ "p2p_unidirectional (P2P driver, cross", { .kind = JL_GEMM_LINK, .path = JL_PATH_PCIE_CROSS } },
	{ "p2p_unidirectional (P2P driver", { .kind = JL_GEMM_LINK, .path = JL_PATH_PCIE } },
	{ "p2p_unidirectional PCIe5 cross", { .kind = JL_GEMM_LINK, .path = JL_PATH_PCIE_CROSS } },
	{ "p2p_unidirectional PCIe", { .kind = JL_GEMM_LINK, .path = JL_PATH_PCIE } },
	{ "p2p_unidirectional", { .kind = JL_GEMM_LINK, .path = JL_PATH_NVLINK } },
	{ "layer_forward Bert", { .kind = JL_GEMM_LAYER, .layer = JL_LAYER_BERT } },
	{ "layer_forward GPT-2", { .kind = JL_GEMM_LAYER, .layer = JL_LAYER_GPT2 } },
	{ "layer_forward T5 Decoder", { .kind = JL_GEMM_LAYER, .layer = JL_LAYER_T5_DECODER } },
	{ "layer_forward T5", { .kind = JL_GEMM_LAYER, .layer = JL_LAYER_T5_ENCODER } },
	{ "layer_forward+backward Bert", { .kind = JL_GEMM_LAYER, .layer = JL_LAYER_BERT, .backward = 1 } },
	{ "layer_forward+backward GPT-2", { .kind = JL_GEMM_LAYER, .layer = JL_LAYER_GPT2, .backward = 1 } },
	{ "layer_forward+backward T5 Decoder", { .kind = JL_GEMM_LAYER, .layer = JL_LAYER_T5_DECODER, .backward = 1 } },
	{ "layer_forward+backward T5", { .kind = JL_GEMM_LAYER, .layer = JL_LAYER_T5_ENCODER, .backward = 1 } },
};

static const struct dtype_row {
	const char *text;
	enum jl_dtype dtype;
	double weight_B;
	int narrow, block_scaled;
} dtype_rows[] = {
	{ "bf16", JL_BF16, 0, 0, 0 },      { "bfloat16", JL_BF16, 0, 0, 0 }, { "fp16", JL_FP16, 0, 0, 0 },
	{ "fp16 amp", JL_FP16, 0, 0, 0 },  { "fp32", JL_FP32, 0, 0, 0 },     { "fp32 (TF32 off)", JL_FP32, 0, 0, 0 },
	{ "fp32/tf32", JL_TF32, 0, 0, 0 }, { "tf32", JL_TF32, 0, 0, 0 },     { "fp8", JL_FP8, 0, 1, 0 },
	{ "fp8 e4m3", JL_FP8, 0, 1, 0 },   { "fp8_block", JL_FP8, 0, 1, 1 }, { "int8_wo", JL_BF16, 1.0, 0, 0 },
	{ "int4_wo", JL_BF16, 0.5, 0, 0 }, { "int8", JL_INT8, 0, 1, 0 },     { "float", JL_FP32, 0, 0, 0 },
	{ "half", JL_FP16, 0, 0, 0 },
};

/* How a framework quantises activations. vLLM up to 0.14 uses plain tensor operations, later versions and TensorRT-LLM one kernel; a plain torch
 * product gets quantised inputs. */
static const struct software_row {
	const char *prefix;
	enum jl_gemm_quant quant;
} software_rows[] = {
	{ "vllm/0.14", JL_QUANT_UNFUSED }, { "vllm", JL_QUANT_FUSED }, { "trtllm", JL_QUANT_FUSED },
	{ "sglang", JL_QUANT_FUSED },      { "torch", JL_QUANT_NONE }, { "cuda", JL_QUANT_NONE },
};

static enum jl_status read_kind(struct jl_gemm_case *c, const char *kind, struct jl_err *err)
{
	for (size_t i = 0; i < JL_LEN(kind_rows); i++) {
		if (starts(kind, kind_rows[i].prefix)) {
			c->of = kind_rows[i].to;
			return JL_OK;
		}
	}
	return jl_fail(err, JL_E_DATA, "kind '%s' is not known; see SPELLINGS.md", kind);
}

static enum jl_status read_dtype(struct jl_gemm_case *c, const struct jl_gemm_cells *cells, struct jl_err *err)
{
	const char *text = cells->dtype && *cells->dtype ? cells->dtype : "fp32";
	for (size_t i = 0; i < JL_LEN(dtype_rows); i++) {
		const struct dtype_row *d = &dtype_rows[i];
		if (strcmp(text, d->text) != 0)
			continue;
		c->of.gemm.dtype = d->dtype;
		c->of.gemm.weight_B = d->weight_B;
		c->of.block_scaled = d->block_scaled;
		c->of.gemm.out_B = d->dtype == JL_FP32 || d->dtype == JL_TF32 ? 4.0 : 2.0;
		for (size_t s = 0; d->narrow && cells->software && s < JL_LEN(software_rows); s++) {
			if (starts(cells->software, software_rows[s].prefix)) {
				c->of.quant = software_rows[s].quant;
				if (c->of.quant != JL_QUANT_NONE)
					c->of.gemm.kernel = d->block_scaled ? JL_KERNEL_BLOCK : JL_KERNEL_PLAIN;
				break;
			}
		}
		return JL_OK;
	}
	return jl_fail(err, JL_E_DATA, "dtype '%s' is not known; see SPELLINGS.md", text);
}

/* Work unit of the row's rate: FLOP, bytes, or 1 for a time. */
static double counted_work(struct jl_gemm_case *c, const struct jl_gemm_cells *cells)
{
	struct jl_gemm *g = &c->of.gemm;
	switch (c->of.kind) {
	case JL_GEMM_BEST:
		if (isnan(g->m)) /* square search: the largest size is the best */
			g->m = g->n = g->k = 8192.0;
		return 2.0 * g->m * g->n * g->k * g->batch;
	case JL_GEMM_PRODUCT: return 2.0 * g->m * g->n * g->k * g->batch;
	case JL_GEMM_STREAM:
		if (cells->unit &&
		    starts(cells->unit, "TFLOP")) { /* a * 1.2 over 4 Mi numbers: one FLOP and 8 bytes each */
			c->of.moved_B = 8.0 * 4194304.0;
			return 4194304.0;
		}
		c->of.moved_B = isnan(c->of.moved_B) ? 1e9 : c->of.moved_B;
		return c->of.moved_B;
	case JL_GEMM_LAYER: return jl_device_layer_flop(&c->of);
	default: return 1.0;
	}
}

enum jl_status jl_gemm_case_read(struct jl_gemm_case *ret_case, const struct jl_gemm_cells *cells, struct jl_err *err)
{
	static const struct {
		const char *text;
		double factor;
	} units[] = { { "TFLOP/s", 1e12 }, { "GB/s", 1e9 }, { "us", -1e-6 } }; /* negative: a time, not a rate */
	struct jl_gemm_case c = { 0 };
	JL_TRY(read_kind(&c, cells->kind ? cells->kind : "", err));
	JL_TRY(read_dtype(&c, cells, err));
	c.of.gemm.alone = 1; /* all sources repeat one product in a loop */
	double batch = number(cells->batch), value = number(cells->value), factor = NAN;
	c.of.gemm.m = number(cells->m);
	c.of.gemm.n = number(cells->n);
	c.of.gemm.k = number(cells->k);
	c.of.gemm.batch = isnan(batch) ? 1.0 : batch;
	c.of.moved_B = number(cells->bytes);
	for (size_t i = 0; cells->unit && i < JL_LEN(units); i++)
		if (strcmp(cells->unit, units[i].text) == 0)
			factor = units[i].factor;
	if (isnan(factor))
		return jl_fail(err, JL_E_UNIT, "unit '%s' is not known; TFLOP/s, GB/s or us",
			       cells->unit ? cells->unit : "");
	if (!(value > 0.0) || !isfinite(value))
		return jl_fail(err, JL_E_RANGE, "value '%s' is not a positive number",
			       cells->value ? cells->value : "");
	double work = counted_work(&c, cells);
	if (!(work > 0.0))
		return jl_fail(err, JL_E_DATA, "m, n, k must be positive numbers");
	c.meas_s = factor < 0.0 ? -factor * value : work / (factor * value);
	*ret_case = c;
	return JL_OK;
}
