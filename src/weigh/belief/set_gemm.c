#include "belief/set_gemm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
	const char *prefix; /* longest first where one is the start of another */
	struct jl_gemm_case to;
} kind_rows[] = {
	{ "gemm_best_shape", { .kind = JL_GEMM_BEST } },
	{ "gemm_square_best", { .kind = JL_GEMM_BEST } },
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

/* How a framework's narrow products take their activations. vLLM up to 0.14 quantises them by plain tensor
 * operations, later versions and TensorRT-LLM by one kernel; a bare torch product gets them ready-made. */
static const struct software_row {
	const char *prefix;
	enum jl_gemm_quant quant;
} software_rows[] = {
	{ "vllm/0.14", JL_QUANT_UNFUSED }, { "vllm", JL_QUANT_FUSED }, { "trtllm", JL_QUANT_FUSED },
	{ "sglang", JL_QUANT_FUSED },      { "torch", JL_QUANT_NONE }, { "cuda", JL_QUANT_NONE },
};

static enum jl_status read_kind(struct jl_gemm_case *c, const char *kind, struct jl_err *err)
{
	for (size_t i = 0; i < sizeof(kind_rows) / sizeof(*kind_rows); i++) {
		if (starts(kind, kind_rows[i].prefix)) {
			*c = kind_rows[i].to;
			return JL_OK;
		}
	}
	return jl_fail(err, JL_E_DATA, "kind '%s' is not known; see SPELLINGS.md",
		       "kind '%s'을(를) 모릅니다; SPELLINGS.md 참고", kind);
}

static enum jl_status read_dtype(struct jl_gemm_case *c, const struct jl_gemm_cells *cells, struct jl_err *err)
{
	const char *text = cells->dtype && *cells->dtype ? cells->dtype : "fp32";
	for (size_t i = 0; i < sizeof(dtype_rows) / sizeof(*dtype_rows); i++) {
		const struct dtype_row *d = &dtype_rows[i];
		if (strcmp(text, d->text) != 0)
			continue;
		c->gemm.dtype = d->dtype;
		c->gemm.weight_B = d->weight_B;
		c->block_scaled = d->block_scaled;
		c->gemm.out_B = d->dtype == JL_FP32 || d->dtype == JL_TF32 ? 4.0 : 2.0;
		for (size_t s = 0; d->narrow && cells->software && s < sizeof(software_rows) / sizeof(*software_rows);
		     s++) {
			if (starts(cells->software, software_rows[s].prefix)) {
				c->quant = software_rows[s].quant;
				if (c->quant != JL_QUANT_NONE)
					c->gemm.kernel = d->block_scaled ? JL_KERNEL_BLOCK : JL_KERNEL_PLAIN;
				break;
			}
		}
		return JL_OK;
	}
	return jl_fail(err, JL_E_DATA, "dtype '%s' is not known; see SPELLINGS.md",
		       "dtype '%s'을(를) 모릅니다; SPELLINGS.md 참고", text);
}

/* Shapes of the layer rows: batch and sequence of the best figure, FLOP as its source counts them (hidden 1024). */
static const struct layer_shape {
	double batch, seq, n_attention;
} layer_shapes[] = {
	[JL_LAYER_BERT] = { 128, 128, 1 },
	[JL_LAYER_GPT2] = { 64, 512, 1 },
	[JL_LAYER_T5_ENCODER] = { 128, 512, 1 },
	[JL_LAYER_T5_DECODER] = { 64, 512, 2 },
};
static const double layer_hidden = 1024.0;

static double layer_flop(const struct jl_gemm_case *c)
{
	const struct layer_shape *s = &layer_shapes[c->layer];
	double h = layer_hidden, tokens = s->batch * s->seq;
	double flop = 16.0 * tokens * h * h + s->n_attention * (4.0 * tokens * s->seq * h + 8.0 * tokens * h * h);
	return c->backward ? 3.0 * flop : flop;
}

/* The work that the row's rate is counted in: FLOP, bytes, or 1 for a time. */
static double counted_work(struct jl_gemm_case *c, const struct jl_gemm_cells *cells)
{
	struct jl_gemm *g = &c->gemm;
	switch (c->kind) {
	case JL_GEMM_BEST:
		if (isnan(g->m)) /* square search: its largest size is the best one */
			g->m = g->n = g->k = 8192.0;
		return 2.0 * g->m * g->n * g->k * g->batch;
	case JL_GEMM_PRODUCT: return 2.0 * g->m * g->n * g->k * g->batch;
	case JL_GEMM_STREAM:
		if (cells->unit &&
		    starts(cells->unit, "TFLOP")) { /* a * 1.2 over 4 Mi numbers: one FLOP, 8 bytes each */
			c->moved_B = 8.0 * 4194304.0;
			return 4194304.0;
		}
		c->moved_B = isnan(c->moved_B) ? 1e9 : c->moved_B;
		return c->moved_B;
	case JL_GEMM_LAYER: return layer_flop(c);
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
	enum jl_status status = read_kind(&c, cells->kind ? cells->kind : "", err);
	if (status == JL_OK)
		status = read_dtype(&c, cells, err);
	if (status != JL_OK)
		return status;
	c.gemm.alone = 1; /* all sources repeat one product in a loop */
	double batch = number(cells->batch), value = number(cells->value), factor = NAN;
	c.gemm.m = number(cells->m);
	c.gemm.n = number(cells->n);
	c.gemm.k = number(cells->k);
	c.gemm.batch = isnan(batch) ? 1.0 : batch;
	c.moved_B = number(cells->bytes);
	for (size_t i = 0; cells->unit && i < sizeof(units) / sizeof(*units); i++)
		if (strcmp(cells->unit, units[i].text) == 0)
			factor = units[i].factor;
	if (isnan(factor))
		return jl_fail(err, JL_E_UNIT, "unit '%s' is not known; TFLOP/s, GB/s or us",
			       "단위 '%s'을(를) 모릅니다; TFLOP/s, GB/s, us", cells->unit ? cells->unit : "");
	if (!(value > 0.0) || !isfinite(value))
		return jl_fail(err, JL_E_RANGE, "value '%s' is not a positive number",
			       "value '%s'은(는) 양수가 아닙니다", cells->value ? cells->value : "");
	double work = counted_work(&c, cells);
	if (!(work > 0.0))
		return jl_fail(err, JL_E_DATA, "m, n, k must be positive numbers", "m, n, k는 양수여야 합니다");
	c.meas_s = factor < 0.0 ? -factor * value : work / (factor * value);
	*ret_case = c;
	return JL_OK;
}

static double product_s(const struct jl_device *dev, const struct jl_gemm_shared *sh, const struct jl_gemm_case *c)
{
	struct jl_device scaled;
	if (c->quant != JL_QUANT_NONE) {
		scaled = *dev;
		int blackwell = dev->priors->slow_fp8;
		if (c->block_scaled)
			scaled.fit.gemm_frac[JL_FP8] *= blackwell ? sh->block_blackwell_frac : sh->block_frac;
		else if (blackwell)
			scaled.fit.gemm_frac[JL_FP8] *= sh->narrow_frac;
		dev = &scaled;
	}
	double t = jl_gemm_s(dev, &c->gemm);
	if (c->quant != JL_QUANT_NONE) {
		double elems = c->gemm.m * c->gemm.k * c->gemm.batch;
		const struct jl_stream quant = { .moved_B = sh->quant_B[c->quant] * elems *
							    (c->block_scaled ? sh->block_quant : 1.0),
						 .reuse_B = 4.5 * elems };
		double n_kernels = sh->quant_kernels[c->quant];
		if (c->block_scaled) /* one kernel lays out the scales, or every tensor operation becomes several */
			n_kernels = c->quant == JL_QUANT_FUSED ? n_kernels + 1.0 : n_kernels * sh->block_kernels;
		t += sh->quant_flop[c->quant] * elems / dev->peak_flopps[JL_FP32];
		t += jl_stream_s(dev, &quant) + (n_kernels - 1.0) * dev->fit.kernel_s;
	}
	return t;
}

/* Seconds per byte. */
static double link_s(const struct jl_device *dev, const struct jl_gemm_shared *sh, const struct jl_gemm_case *c)
{
	double link_Bps = dev->host_Bps, both = c->both_ways ? 2.0 : 1.0;
	switch (c->path) {
	case JL_PATH_NVLINK: return 1.0 / (dev->link_Bps * sh->nvlink_frac * both);
	case JL_PATH_PCIE: return 1.0 / (link_Bps * sh->pcie_frac * both);
	case JL_PATH_PCIE_CROSS: return 1.0 / (link_Bps * sh->pcie_frac * sh->cross_frac * both);
	case JL_PATH_VIA_HOST:
		return 1.0 / (link_Bps * sh->via_host_frac * (c->both_ways ? 2.0 * sh->via_host_both_frac : 1.0));
	case JL_PATH_HOST:
		/* Reported per direction while both are busy. */
		return 1.0 / (link_Bps * sh->host_frac * (c->both_ways ? sh->host_both_frac : 1.0));
	}
	return NAN;
}

static double linear_s(const struct jl_device *dev, double tokens, double n, double k, int backward)
{
	const struct jl_gemm fwd = { .m = tokens, .n = n, .k = k, .batch = 1, .dtype = JL_FP16, .out_B = 2 };
	const struct jl_gemm dgrad = { .m = tokens, .n = k, .k = n, .batch = 1, .dtype = JL_FP16, .out_B = 2 };
	const struct jl_gemm wgrad = { .m = k, .n = n, .k = tokens, .batch = 1, .dtype = JL_FP16, .out_B = 2 };
	double t = jl_gemm_s(dev, &fwd);
	return backward ? t + jl_gemm_s(dev, &dgrad) + jl_gemm_s(dev, &wgrad) : t;
}

/* Bytes that the plain tensor operations of these layers move in 16 bit, per token and hidden element (`token_B`) and
 * per attention score (`score_B`), forward, counted from the operations each layer runs one by one. */
static const struct layer_moves {
	double token_B, score_B;
} layer_moves[] = {
	[JL_LAYER_BERT] = { 62.0, 13.0 },
	[JL_LAYER_GPT2] = { 190.0, 17.0 },
	[JL_LAYER_T5_ENCODER] = { 90.0, 29.0 },
	[JL_LAYER_T5_DECODER] = { 125.0, 29.0 },
};

static double layer_s(const struct jl_device *dev, const struct jl_gemm_case *c)
{
	const struct layer_shape *s = &layer_shapes[c->layer];
	const struct layer_moves *mv = &layer_moves[c->layer];
	double h = layer_hidden, tokens = s->batch * s->seq, t = 0.0;
	const struct jl_attention att = { .batch = s->batch,
					  .heads = 16,
					  .kv_heads = 16,
					  .seq_q = s->seq,
					  .seq_kv = s->seq,
					  .head_dim = 64,
					  .dtype = JL_FP16,
					  .score_B = mv->score_B };
	for (int i = 0; i < (int)s->n_attention; i++) {
		t += 4.0 * linear_s(dev, tokens, h, h, c->backward) + jl_attention_fwd_s(dev, &att);
		t += c->backward ? jl_attention_bwd_s(dev, &att) : 0.0;
	}
	t += linear_s(dev, tokens, 4.0 * h, h, c->backward) + linear_s(dev, tokens, h, 4.0 * h, c->backward);
	const struct jl_stream rest = { .moved_B = mv->token_B * tokens * h * (c->backward ? 2.3 : 1.0) };
	return t + jl_stream_s(dev, &rest);
}

double jl_gemm_case_s(const struct jl_device *dev, const struct jl_gemm_shared *sh, const struct jl_gemm_case *c)
{
	const struct jl_stream stream = { .moved_B = c->moved_B };
	switch (c->kind) {
	case JL_GEMM_PRODUCT: return product_s(dev, sh, c);
	case JL_GEMM_BEST: return product_s(dev, sh, c) / sh->best_frac;
	case JL_GEMM_STREAM: return jl_stream_s(dev, &stream);
	case JL_GEMM_COPY: return 1.0 / (dev->mem_Bps * dev->fit.mem_frac * sh->copy_frac);
	case JL_GEMM_LINK: return link_s(dev, sh, c);
	case JL_GEMM_LINK_LATENCY: return c->path == JL_PATH_VIA_HOST ? sh->host_latency_s : sh->p2p_latency_s;
	case JL_GEMM_LAYER: return layer_s(dev, c);
	case JL_GEMM_N_KIND: break;
	}
	return NAN;
}
