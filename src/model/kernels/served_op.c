/* Time of serving engines' operators. Knows no engine by name. */
#include "kernels/served_op.h"

#include <math.h>

#include "kernels/op.h"

static const struct {
	enum jl_dtype dtype;
	double weight_B; /* bytes per weight, scales included */
	bool narrowed;   /* activations are quantised first */
} formats[JL_N_OP_FORMAT] = {
	[JL_OP_FP32] = { JL_FP32, 4.0, false },      [JL_OP_BF16] = { JL_BF16, 2.0, false },
	[JL_OP_MX16] = { JL_BF16, 0.53, false },     [JL_OP_INT8_WO] = { JL_BF16, 1.0, false },
	[JL_OP_INT4_WO] = { JL_BF16, 0.52, false },  [JL_OP_FP8] = { JL_FP8, 1.0, true },
	[JL_OP_FP8_STATIC] = { JL_FP8, 1.0, false }, [JL_OP_FP8_BLOCK] = { JL_FP8, 1.0, true },
	[JL_OP_MX8] = { JL_FP8, 0.53, true },        [JL_OP_INT8] = { JL_INT8, 1.0, true },
	[JL_OP_NVFP4] = { JL_FP4, 0.5625, true },
};

double jl_op_weight_B(enum jl_op_format format)
{
	return formats[format].weight_B;
}

enum jl_dtype jl_op_dtype(const struct jl_device *dev, enum jl_op_format format)
{
	const enum jl_dtype dtype = formats[format].dtype;

	if (!isnan(dev->peak_flopps[dtype]) || dtype == JL_FP32)
		return dtype;
	if (dtype != JL_BF16 && !isnan(dev->peak_flopps[JL_BF16]))
		return JL_BF16;
	return isnan(dev->peak_flopps[JL_FP16]) ? JL_FP32 : JL_FP16;
}

/* The device with the engine's rates. FP4 products do not reach the listed FP4 rate: limited to twice the FP8 rate. */
static void tune(struct jl_device *ret, const struct jl_device *dev, enum jl_dtype dtype, double rate, double mem)
{
	*ret = *dev;
	if (dtype == JL_FP4)
		ret->peak_flopps[JL_FP4] = fmin(dev->peak_flopps[JL_FP4], 2.0 * dev->peak_flopps[JL_FP8]);
	ret->fit.gemm_frac[dtype] *= rate;
	ret->fit.mem_frac *= mem;
	ret->fit.l2_Bps *= mem;
	ret->fit.kernel_s = 0.0;
}

static double stream_Bps(const struct jl_device *dev, const struct jl_op_fit *fit)
{
	return dev->mem_Bps * dev->fit.mem_frac * fit->v[JL_TERM_STREAM];
}

double jl_served_gemm_s(const struct jl_device *dev, const struct jl_op_fit *fit, const struct jl_served_gemm *g)
{
	const enum jl_dtype dtype = jl_op_dtype(dev, g->format);
	const struct jl_gemm gemm = { .m = g->m,
				      .n = g->n,
				      .k = g->k,
				      .batch = g->batch,
				      .dtype = dtype,
				      .out_B = 2.0,
				      .weight_B = g->weight_B > 0.0 ? g->weight_B : formats[g->format].weight_B,
				      .alone = g->alone };
	struct jl_device tuned;
	double s = fit->v[JL_TERM_FIXED_S + g->format];

	tune(&tuned, dev, dtype, fit->v[JL_TERM_RATE + g->format], fit->v[JL_TERM_MEM + g->format]);
	s += fmax(jl_gemm_s(&tuned, &gemm), g->k * fit->v[JL_TERM_K_S + g->format]);
	if (formats[g->format].narrowed && dtype != JL_BF16)
		s += g->batch * g->m * g->k * (2.0 + jl_dtype_B(dtype)) /
		     (stream_Bps(dev, fit) * fit->v[JL_TERM_QUANT]);
	return s;
}

/* True if the 16-bit rate is more than twice the fp32 vector rate, or the 8-bit rate more than four times. */
bool jl_matrix_units(const struct jl_device *dev)
{
	const double vector = 1.01 * dev->peak_flopps[JL_FP32];

	return !isnan(dev->peak_flopps[JL_FP16]) &&
	       (!(dev->peak_flopps[JL_FP16] <= 2.0 * vector) || dev->peak_flopps[JL_INT8] > 4.0 * vector);
}

/* Instructions to dequantise one weight: extract, convert, scale, shift. With 4-byte dot products (dp4a) four weights are extracted together; all
 * GPUs with matrix units and all CPUs have them. */
#define WIDEN       6.0
#define WIDEN_BYTES 1.0

struct jl_read_through jl_read_through(const struct jl_device *dev, const struct jl_op_fit *fit,
				       const struct jl_served_gemm *g)
{
	const double weights = g->batch * g->n * g->k,
		     weight_B = g->weight_B > 0.0 ? g->weight_B : formats[g->format].weight_B;
	const bool bytes = jl_matrix_units(dev) || dev->peak_flopps[JL_INT8] > 0.0 || isnan(dev->peak_flopps[JL_FP16]);
	const double widen = weight_B >= 2.0 ? 0.0 : bytes ? WIDEN_BYTES : WIDEN;

	return (struct jl_read_through){
		.read_s = weights * weight_B /
			  (dev->mem_Bps * dev->fit.mem_frac * dev->fit.read_frac * fit->v[JL_TERM_MEM + g->format]),
		.math_s = 2.0 * weights * (g->m + widen) / (dev->peak_flopps[JL_FP32] * dev->fit.gemm_frac[JL_FP32]),
	};
}

static double flash_flopps(const struct jl_device *dev, bool math8)
{
	const enum jl_dtype half = isnan(dev->peak_flopps[JL_BF16]) ? JL_FP16 : JL_BF16;
	const double rate = dev->peak_flopps[half] * dev->fit.gemm_frac[half] * dev->fit.flash_frac;

	return isnan(rate)                                 ? dev->peak_flopps[JL_FP32] * 0.5
	       : math8 && !isnan(dev->peak_flopps[JL_FP8]) ? 2.0 * rate
							   : rate;
}

#define ROWS 128.0 /* prompt rows per SM tile */
#define PAGE 64.0  /* keys and values per kernel step */

/* Kernels are tuned for head size 128. */
static double head_gain(const struct jl_op_fit *fit, double head_dim)
{
	const double octaves = log2(head_dim / 128.0);

	return octaves < 0.0 ? pow(fit->v[JL_TERM_HEAD], -octaves) : pow(fit->v[JL_TERM_WIDE_HEAD], octaves);
}

double jl_served_prompt_s(const struct jl_device *dev, const struct jl_op_fit *fit, const struct jl_served_attention *a)
{
	const bool math8 = a->math8 && !isnan(dev->peak_flopps[JL_FP8]);
	const double dims = a->latent ? 2.0 * (192.0 + 128.0) : 4.0 * a->head_dim;
	const double rate = flash_flopps(dev, math8) * fit->v[JL_TERM_FLASH] * (math8 ? fit->v[JL_TERM_FLASH8] : 1.0) *
			    (a->latent ? fit->v[JL_TERM_LATENT] : head_gain(fit, a->head_dim));
	/* whole tiles, also where the diagonal or the window's edge cuts them */
	const double blocks = a->batch * a->heads * ceil(a->tokens / ROWS),
		     edge = a->context < a->tokens ? ROWS : 0.5 * ROWS;
	const double flop = a->heads * dims * (a->pairs + a->batch * a->tokens * fmin(edge, a->tokens));
	/* with few tile rows the longest one ends last */
	const double last = blocks < 2.0 * dev->n_sm ? fmin(a->tokens, ROWS) * a->context * dims / (rate / dev->n_sm)
						     : 0.0;
	const double elems = a->latent ? a->heads * (192.0 + 192.0 + 128.0 + 128.0)
				       : a->head_dim * (2.0 * a->heads + 2.0 * a->kv_heads);
	const double mem_s = a->batch * a->tokens * elems * 2.0 / stream_Bps(dev, fit);

	return fit->v[a->latent ? JL_TERM_LATENT_FIXED_S : JL_TERM_FLASH_FIXED_S] + fmax(flop / rate, last) + mem_s +
	       blocks / dev->n_sm * fit->v[JL_TERM_FLASH_BLOCK_S];
}

double jl_served_answer_s(const struct jl_device *dev, const struct jl_op_fit *fit, const struct jl_served_attention *a)
{
	const double elems = a->latent ? 576.0 : 2.0 * a->kv_heads * a->head_dim;
	const double dims = a->latent ? 576.0 + 512.0 : 2.0 * a->head_dim;
	const double flop = a->batch * a->tokens * a->context * a->heads * 2.0 * dims;
	const double Bps = stream_Bps(dev, fit) * fit->v[a->latent ? JL_TERM_LATENT_KV : JL_TERM_KV];
	const double bytes = a->batch * fmax(a->context, PAGE) * elems * a->kv_B /
			     (a->kv_B < 1.5 ? fit->v[JL_TERM_KV8] : 1.0);
	/* time to read queries and write results */
	const double around_s = a->batch * a->tokens * a->heads * dims * 2.0 / stream_Bps(dev, fit);
	/* the context is split over SMs; few short contexts do not fill the device */
	const double parts = a->batch * (a->latent ? ceil(a->heads / 64.0) : a->kv_heads) *
			     fmax(a->context / fit->v[JL_TERM_KV_PART], 1.0);
	const double math_s = flop /
			      (flash_flopps(dev, false) * fit->v[a->latent ? JL_TERM_LATENT_MATH : JL_TERM_KV_MATH]);

	return fit->v[a->latent ? JL_TERM_LATENT_FIXED_S : JL_TERM_KV_FIXED_S] + around_s +
	       fmax(bytes / Bps, math_s) / fmin(parts / dev->n_sm, 1.0);
}

double jl_served_experts_hit(const struct jl_op_fit *fit, const struct jl_served_experts *e, double *ret_routed)
{
	const double even = e->top_k / e->n_experts;
	const double hot = e->skew > 0.0 ? fit->v[JL_TERM_SKEW] : 1.0;
	/* expected number of this rank's experts that get a token; skewed routing reaches fewer */
	const double hit = 1.0 - pow(1.0 - even, e->tokens / (e->skew > 0.0 ? hot : 1.0));
	const double ranks_hot = e->skew > 0.0 ? fmin(pow(hot, log2(fmax(e->n_ranks, 1.0))), e->n_ranks) : 1.0;

	*ret_routed = fmax(e->tokens * e->top_k / e->n_ranks * ranks_hot, fmin(1.0, e->tokens));
	return fmax(e->n_experts / e->n_ranks * hit, fmin(1.0, e->tokens * e->top_k));
}

double jl_served_experts_s(const struct jl_device *dev, const struct jl_op_fit *fit, const struct jl_served_experts *e)
{
	double routed;
	const double n = jl_served_experts_hit(fit, e, &routed);
	const enum jl_dtype dtype = jl_op_dtype(dev, e->format);
	struct jl_gemm g = { .m = fmax(routed / n, 1.0),
			     .n = (e->n_matrices - 1.0) * e->inter,
			     .k = e->hidden,
			     .batch = n,
			     .dtype = dtype,
			     .out_B = 2.0,
			     .weight_B = e->weight_B > 0.0 ? e->weight_B : formats[e->format].weight_B,
			     .kernel = JL_KERNEL_PLAIN };
	struct jl_device tuned;
	double s = fit->v[JL_TERM_EXPERT_FIXED_S + e->format];

	tune(&tuned, dev, dtype, fit->v[JL_TERM_EXPERT + e->format], fit->v[JL_TERM_EXPERT_MEM + e->format]);
	s += jl_gemm_s(&tuned, &g);
	g.n = e->hidden;
	g.k = e->inter;
	s += jl_gemm_s(&tuned, &g);
	return s + routed * (e->hidden + e->inter) * 2.0 * fit->v[JL_TERM_EXPERT_MOVE] / stream_Bps(dev, fit);
}

double jl_served_thin_B(const struct jl_served_thin *t)
{
	return 2.0 * t->rank * (t->parts * t->in + t->out);
}

#define THIN_ROWS 16.0 /* fewest rows of a matrix unit's product */

/* Memory-bound: each adapter once; inputs; the fp32 intermediate written and read; the output it is added to, read and written. */
double jl_served_thin_s(const struct jl_device *dev, const struct jl_op_fit *fit, const struct jl_served_thin *t)
{
	const enum jl_dtype dtype = jl_op_dtype(dev, JL_OP_BF16);
	const double one_B = jl_served_thin_B(t), rows = fmax(t->tokens, THIN_ROWS * t->distinct);
	const double bytes = t->distinct * one_B + t->tokens * (2.0 * t->in + 8.0 * t->rank * t->parts + 4.0 * t->out);

	return fmax(bytes / stream_Bps(dev, fit), rows * one_B / (dev->peak_flopps[dtype] * dev->fit.gemm_frac[dtype]));
}

double jl_served_exchange_s(const struct jl_op_fit *fit, const struct jl_served_exchange *ex)
{
	const double *v = fit->v, n = ex->n, share = (n - 1.0) / n;
	const double Bps = ex->link_Bps * v[JL_TERM_LINK];
	const double hop = ex->hop_gain > 0.0 ? ex->hop_gain : 1.0;
	const double lib_s = v[JL_TERM_LIB_S] + v[JL_TERM_LIB_RANK_S] * (n - 1.0);
	const double lib_sum = lib_s +
			       2.0 * ex->bytes * share / (Bps * (ex->switched && n > 2.0 ? v[JL_TERM_SWITCH] : 1.0));

	if (n < 2.0)
		return 0.0;
	switch (ex->how) {
	case JL_SUM_LIBRARY: return lib_sum;
	case JL_SUM_GATHER:
	case JL_SUM_SCATTER: return lib_s + ex->bytes * share / Bps;
	case JL_SUM_ALLTOALL:
		return v[JL_TERM_EXCHANGE_S] + v[JL_TERM_LIB_RANK_S] * (n - 1.0) +
		       ex->bytes * share / (ex->link_Bps * v[JL_TERM_EXCHANGE]);
	default: break;
	}
	const double one = hop * (v[JL_TERM_ONE_S] + v[JL_TERM_ONE_RANK_S] * n) + ex->bytes * (n - 1.0) / Bps;
	const double two = hop * (v[JL_TERM_TWO_S] + v[JL_TERM_ONE_RANK_S] * n) + 2.0 * ex->bytes * share / Bps;

	return fmin(fmin(one, two), lib_sum);
}
