/* Predicts single figures of a device and their uncertainty. */
#include "predict/device_case.h"

#include <math.h>
#include <stdio.h>

#include "kernels/op.h"

/* Shapes of the layer measurements: batch and sequence of the best figure, FLOP as counted by the source (hidden 1024). */
static const struct layer_shape {
	double batch, seq, n_attention;
} layer_shapes[] = {
	[JL_LAYER_BERT] = { 128, 128, 1 },
	[JL_LAYER_GPT2] = { 64, 512, 1 },
	[JL_LAYER_T5_ENCODER] = { 128, 512, 1 },
	[JL_LAYER_T5_DECODER] = { 64, 512, 2 },
};
static const double layer_hidden = 1024.0;

double jl_device_layer_flop(const struct jl_device_case *c)
{
	const struct layer_shape *s = &layer_shapes[c->layer];
	double h = layer_hidden, tokens = s->batch * s->seq;
	double flop = 16.0 * tokens * h * h + s->n_attention * (4.0 * tokens * s->seq * h + 8.0 * tokens * h * h);
	return c->backward ? 3.0 * flop : flop;
}

static double product_s(const struct jl_device *dev, const struct jl_gemm_shared *sh, const struct jl_device_case *c)
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
		/* one kernel arranges the scales; without it each tensor operation becomes several */
		if (c->block_scaled)
			n_kernels = c->quant == JL_QUANT_FUSED ? n_kernels + 1.0 : n_kernels * sh->block_kernels;
		t += sh->quant_flop[c->quant] * elems / dev->peak_flopps[JL_FP32];
		t += jl_stream_s(dev, &quant) + (n_kernels - 1.0) * dev->fit.kernel_s;
	}
	return t;
}

/* Seconds per byte. */
static double link_s(const struct jl_device *dev, const struct jl_gemm_shared *sh, const struct jl_device_case *c)
{
	double link_Bps = dev->host_Bps, both = c->both_ways ? 2.0 : 1.0;
	switch (c->path) {
	case JL_PATH_NVLINK: return 1.0 / (dev->link_Bps * sh->nvlink_frac * both);
	case JL_PATH_PCIE: return 1.0 / (link_Bps * sh->pcie_frac * both);
	case JL_PATH_PCIE_CROSS: return 1.0 / (link_Bps * sh->pcie_frac * sh->cross_frac * both);
	case JL_PATH_VIA_HOST:
		return 1.0 / (link_Bps * sh->via_host_frac * (c->both_ways ? 2.0 * sh->via_host_both_frac : 1.0));
	case JL_PATH_HOST:
		/* reported per direction while both are in use */
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

/* Bytes moved by these layers' tensor operations in 16 bit, forward: per token and hidden element (`token_B`), and per attention score
 * (`score_B`). Counted from the operations that each layer runs one by one. */
static const struct layer_moves {
	double token_B, score_B;
} layer_moves[] = {
	[JL_LAYER_BERT] = { 62.0, 13.0 },
	[JL_LAYER_GPT2] = { 190.0, 17.0 },
	[JL_LAYER_T5_ENCODER] = { 90.0, 29.0 },
	[JL_LAYER_T5_DECODER] = { 125.0, 29.0 },
};

static double layer_s(const struct jl_device *dev, const struct jl_device_case *c)
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
					  .soft_B = mv->score_B };
	for (int i = 0; i < (int)s->n_attention; i++) {
		t += 4.0 * linear_s(dev, tokens, h, h, c->backward) + jl_attention_fwd_s(dev, &att);
		t += c->backward ? jl_attention_bwd_s(dev, &att) : 0.0;
	}
	t += linear_s(dev, tokens, 4.0 * h, h, c->backward) + linear_s(dev, tokens, h, 4.0 * h, c->backward);
	const struct jl_stream rest = { .moved_B = mv->token_B * tokens * h * (c->backward ? 2.3 : 1.0) };
	return t + jl_stream_s(dev, &rest);
}

double jl_device_case_s(const struct jl_device *dev, const struct jl_gemm_shared *sh, const struct jl_device_case *c)
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
	case JL_N_DEVICE_KIND: break;
	}
	return NAN;
}

const char *jl_device_case_id(char out[JL_DEVICE_ID_MAX], const struct jl_device_case *c)
{
	static const char *const ids[JL_N_DEVICE_KIND] = {
		[JL_GEMM_STREAM] = "stream",        [JL_GEMM_COPY] = "copy",   [JL_GEMM_LINK] = "link",
		[JL_GEMM_LINK_LATENCY] = "latency", [JL_GEMM_LAYER] = "layer",
	};
	static const char *const quants[] = {
		[JL_QUANT_NONE] = "", [JL_QUANT_FUSED] = "-fused", [JL_QUANT_UNFUSED] = "-unfused"
	};
	const struct jl_gemm *g = &c->gemm;

	if (ids[c->kind])
		(void)snprintf(out, JL_DEVICE_ID_MAX, "%s", ids[c->kind]);
	else
		(void)snprintf(out, JL_DEVICE_ID_MAX, "%s%s%s%s", jl_dtype_name(g->dtype),
			       g->weight_B > 0.0 && g->weight_B < jl_dtype_B(g->dtype) ? "-narrow" : "",
			       quants[c->quant], c->block_scaled ? "-block" : "");
	return out;
}

struct jl_device_answer jl_device_of(const struct jl_machine *machine, const struct jl_gemm_shared *shared,
				     const struct jl_device_case *c)
{
	const bool product = c->kind == JL_GEMM_PRODUCT || c->kind == JL_GEMM_BEST;
	const struct jl_gemm *g = &c->gemm;
	const double extent_ln[JL_N_EXTENT] = { product ? log(2.0 * g->m * g->n * g->k * g->batch) : NAN, NAN, NAN };
	struct jl_device_answer a = { .answer = product ? JL_ASKED_PRODUCT : JL_ASKED_RATE,
				      .time_s = jl_device_case_s(&machine->dev, shared, c) };

	char id[JL_DEVICE_ID_MAX];

	jl_machine_doubt(&a.doubt, machine, a.answer, (struct jl_axes){ .kind = jl_device_case_id(id, c) });
	a.doubt.x[JL_DOUBT_FAR] = jl_far_ln(&machine->widths, a.answer, extent_ln);
	if (product) /* share of launch time */
		a.doubt.x[JL_DOUBT_LAUNCH] = fmin(1.0, machine->dev.fit.kernel_s / a.time_s);
	a.half_ln = jl_half_ln(&machine->widths, a.answer, &a.doubt);
	return a;
}
