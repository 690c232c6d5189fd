/* Time of streams and attention on one device. Matrix products are in gemm.c. */
#include "kernels/op.h"

#include <math.h>

/* Seconds for `clocks` of SM work on at most `most_sm` SMs; without SM data, from the device's vector rate. */
static double issue_s(const struct jl_device *dev, double clocks, double most_sm)
{
	const double flop_per_clock = 256.0; /* FLOP per clock of an SM with 128 lanes */
	double n_sm = most_sm > 0.0 && most_sm < dev->n_sm ? most_sm : dev->n_sm, per_s = n_sm * dev->boost_Hz;

	if (!(clocks > 0.0))
		return 0.0;
	return clocks / (per_s > 0.0 ? per_s : dev->peak_flopps[JL_FP32] / flop_per_clock);
}

double jl_stream_s(const struct jl_device *dev, const struct jl_stream *stream)
{
	double mem_s = stream->moved_B / (dev->mem_Bps * dev->fit.mem_frac);
	if (stream->reuse_B > 0.0 && dev->fit.l2_Bps > dev->mem_Bps * dev->fit.mem_frac) {
		/* up to a fifth of L2 always hits; at the size of L2 nothing does */
		double hit = (1.0 - stream->reuse_B / dev->l2_B) / 0.8;
		hit = hit < 0.0 ? 0.0 : hit > 1.0 ? 1.0 : hit;
		mem_s = (1.0 - hit) * mem_s + hit * stream->moved_B / dev->fit.l2_Bps;
	}
	double math_s = stream->flop > 0.0 ? stream->flop / dev->peak_flopps[JL_FP32] : 0.0;
	return dev->fit.kernel_s + fmax(mem_s, math_s + issue_s(dev, stream->clocks, stream->most_sm));
}

static double seen_of(const struct jl_attention *att)
{
	return att->seen_frac > 0.0 ? att->seen_frac : 1.0;
}

double jl_attention_flop(const struct jl_attention *att)
{
	return 4.0 * att->batch * att->heads * att->seq_q * att->seq_kv * att->head_dim * (att->causal ? 0.5 : 1.0) *
	       seen_of(att);
}

double jl_attention_scores(const struct jl_attention *att)
{
	return att->batch * att->heads * att->seq_q * att->seq_kv;
}

/* Pipeline fill of a query tile in blocks of 64 keys, forward and backward. From an H200 with PyTorch 2.11 (data/validation/ops_h200.csv): the same
 * for head sizes 64 and 128 and sequences of 128 to 8,192; not visible on vector units. */
static const double fill_fwd = 3.2, fill_bwd = 6.0;

/* Fused attention. Short sequences do not fill the device; head size 64 reaches a lower rate than 128. */
static double flash_s(const struct jl_device *dev, const struct jl_attention *att, double flop, double fill,
		      double drop_clocks)
{
	/* fused fp32 attention runs on vector units even if products may use TF32 */
	enum jl_dtype dtype = isnan(dev->peak_flopps[att->dtype]) || att->dtype == JL_TF32 ? JL_FP32 : att->dtype;
	const bool tensor = jl_unit_of(dtype) != JL_UNIT_VECTOR;
	double rate = dev->peak_flopps[dtype] * dev->fit.gemm_frac[dtype] *
		      (tensor ? dev->fit.flash_frac : dev->fit.flash_vector_frac);
	/* PyTorch's fp32 kernels compute each product as three TF32 products where TF32 exists */
	if (!tensor && dev->priors && !dev->priors->no_tf32 && dev->peak_flopps[JL_TF32] > 0.0)
		rate = fmin(rate, dev->peak_flopps[JL_TF32] / 3.0 * dev->fit.gemm_frac[JL_TF32] *
					  fmin(dev->fit.flash_frac, 1.0));
	if (att->head_dim < 128.0 && tensor) {
		const double dim = dev->fit.flash_step * ceil(att->head_dim / dev->fit.flash_step);

		rate *= att->head_dim / dim * pow(dev->fit.flash_half_frac, log2(128.0 / dim));
	}
	/* blocks of 128 rows and 64 columns are computed whole; single queries have special kernels */
	if (att->seq_q >= 64.0)
		flop *= ceil(att->seq_q / 128.0) * 128.0 / att->seq_q * (ceil(att->seq_kv / 64.0) * 64.0 / att->seq_kv);
	double n_tile = att->batch * att->heads * ceil(att->seq_q / 128.0);
	double wave = n_tile / dev->n_sm;
	/* blocks on the diagonal are computed whole and masked */
	double kept = (att->causal ? 0.5 + 0.5 * fmin(1.0, 128.0 / att->seq_kv) : 1.0) * seen_of(att);
	double full = wave <= 1.0 ? 1.0 : wave + dev->fit.tail_frac[JL_UNIT_TENSOR16] * (ceil(wave) - wave);
	/* with a causal mask the longest tile starts late and the others wait (H200: 4 heads of 8,192 tokens reach 0.67 of the rate of 16 heads) */
	if (att->causal && tensor)
		full = fmax(1.0, wave) + fmax(0.0, seen_of(att) / kept - 1.0);
	if (att->seq_q >= 64.0 && tensor) {
		const double n_blocks = ceil(att->seq_kv / 64.0) * kept;

		rate *= n_blocks / (n_blocks + fill);
	}
	const double drop_s = att->dropout && tensor ? issue_s(dev, drop_clocks * jl_attention_scores(att) * kept, 0.0)
						     : 0.0;

	return flop * kept / rate * (full / wave) + drop_s;
}

static double flash_moved_B(const struct jl_attention *att)
{
	double elem_B = jl_dtype_B(att->dtype);
	double q = att->batch * att->heads * att->seq_q * att->head_dim;
	double kv = att->batch * att->kv_heads * att->seq_kv * att->head_dim;
	return elem_B * (2.0 * q + 2.0 * kv);
}

static double gemm_pair_s(const struct jl_device *dev, const struct jl_attention *att, double n_pair)
{
	double elem_B = jl_dtype_B(att->dtype), batch = att->batch * att->heads;
	const struct jl_gemm scores = { .m = att->seq_q,
					.n = att->seq_kv,
					.k = att->head_dim,
					.batch = batch,
					.dtype = att->dtype,
					.out_B = elem_B };
	const struct jl_gemm values = { .m = att->seq_q,
					.n = att->head_dim,
					.k = att->seq_kv,
					.batch = batch,
					.dtype = att->dtype,
					.out_B = elem_B };
	return n_pair * (jl_gemm_s(dev, &scores) + jl_gemm_s(dev, &values));
}

static double scores_s(const struct jl_device *dev, const struct jl_attention *att, double moved_B, double soft_B,
		       double clocks)
{
	const double n = jl_attention_scores(att);
	const struct jl_stream moves = { .moved_B = moved_B * n },
			       soft = { .moved_B = soft_B * n, .clocks = clocks * n };

	return (moved_B > 0.0 ? jl_stream_s(dev, &moves) : 0.0) + jl_stream_s(dev, &soft);
}

double jl_attention_fwd_s(const struct jl_device *dev, const struct jl_attention *att)
{
	double flop = 4.0 * jl_attention_scores(att) * att->head_dim;
	if (att->flash) {
		double mem_s = flash_moved_B(att) / (dev->mem_Bps * dev->fit.mem_frac);
		return dev->fit.kernel_s + fmax(flash_s(dev, att, flop, fill_fwd, dev->fit.drop_clocks), mem_s);
	}
	return gemm_pair_s(dev, att, 1.0) + scores_s(dev, att, att->score_B, att->soft_B, att->soft_clocks);
}

double jl_attention_bwd_s(const struct jl_device *dev, const struct jl_attention *att)
{
	double flop = 4.0 * jl_attention_scores(att) * att->head_dim;
	if (att->flash) {
		/* the backward pass has five products instead of two: scores are recomputed */
		double mem_s = 2.0 * flash_moved_B(att) / (dev->mem_Bps * dev->fit.mem_frac);
		return dev->fit.kernel_s +
		       fmax(flash_s(dev, att, 2.5 * flop, fill_bwd, dev->fit.drop_back_clocks) / 0.95, mem_s);
	}
	return gemm_pair_s(dev, att, 2.0) +
	       scores_s(dev, att, att->score_back_B, att->soft_back_B, att->soft_back_clocks);
}
