#include "model/layer.h"

#include <math.h>

/* What the power limit takes of a product's arithmetic. */
static double hot_s(const struct jl_device *dev, const struct jl_gemm *g)
{
	const enum jl_dtype dtype = isnan(dev->peak_flopps[g->dtype]) ? JL_FP32 : g->dtype;
	const double rate = dev->peak_flopps[dtype] * dev->fit.gemm_frac[dtype], burst = dev->fit.burst_frac[dtype];

	return burst > 1.0 ? 2.0 * g->m * g->n * g->k * g->batch / rate * (1.0 - 1.0 / burst) : 0.0;
}

static void add_gemm(const struct jl_device *dev, const struct jl_op *op, double wgrad_B, struct jl_block_cost *cost)
{
	const struct jl_gemm *g = &op->u.gemm;
	const struct jl_gemm dgrad = {
		.m = g->m, .n = g->k, .k = g->n, .batch = g->batch, .dtype = g->dtype, .out_B = g->out_B
	};
	const struct jl_gemm wgrad = { .m = g->k,
				       .n = g->n,
				       .k = g->m,
				       .batch = g->batch,
				       .dtype = g->dtype,
				       .out_B = wgrad_B > 0.0 ? wgrad_B : g->out_B };

	const double per_product_s = hot_s(dev, g); /* all three are as large */

	cost->fwd.gemm_s += jl_gemm_s(dev, g);
	cost->fwd.hot_s += per_product_s;
	cost->bwd.hot_s += per_product_s * (op->needs_dgrad + op->trained);
	cost->fwd_flop += 2.0 * g->m * g->n * g->k * g->batch;
	if (op->needs_dgrad)
		cost->bwd.gemm_s += jl_gemm_s(dev, &dgrad);
	if (op->trained)
		cost->bwd.gemm_s += jl_gemm_s(dev, &wgrad);
	cost->bwd.n_kernels += op->n_kernels * (op->needs_dgrad + op->trained);
}

static void add_stream(const struct jl_device *dev, const struct jl_op *op, struct jl_block_cost *cost)
{
	const struct jl_stream *s = &op->u.stream;
	const struct jl_stream back = { .moved_B = s->moved_B * op->bwd_moved_frac, .flop = s->flop * 2.0 };

	cost->fwd.stream_s += jl_stream_s(dev, s);
	if (op->bwd_moved_frac > 0.0) {
		cost->bwd.stream_s += jl_stream_s(dev, &back);
		cost->bwd.n_kernels += 2.0 * op->n_kernels;
	}
}

static void add_attention(const struct jl_device *dev, const struct jl_op *op, struct jl_block_cost *cost)
{
	const struct jl_attention *a = &op->u.attention;

	if (a->flash && dev->fit.portable_frac > 0.0)
		cost->portable_gain = 1.0 / dev->fit.portable_frac;
	cost->fwd.attention_s += jl_attention_fwd_s(dev, a);
	cost->bwd.attention_s += jl_attention_bwd_s(dev, a);
	cost->bwd.n_kernels += 2.0 * op->n_kernels;
	cost->fwd_flop += 4.0 * a->batch * a->heads * a->seq_q * a->seq_kv * a->head_dim * (a->causal ? 0.5 : 1.0);
}

struct jl_block_cost jl_block_price(const struct jl_device *dev, const struct jl_op_list *list,
				    enum jl_recompute recompute)
{
	struct jl_block_cost cost = { 0 };
	struct jl_phase_cost selective = { 0 };
	double all_B = 0.0, dropped_B = 0.0;

	for (size_t i = 0; i < list->n_op; i++) {
		const struct jl_op *op = &list->op[i];
		const struct jl_phase_cost before = cost.fwd;

		if (op->kind == JL_OP_GEMM)
			add_gemm(dev, op, list->wgrad_B, &cost);
		else if (op->kind == JL_OP_STREAM)
			add_stream(dev, op, &cost);
		else
			add_attention(dev, op, &cost);
		cost.fwd.n_kernels += op->n_kernels;
		all_B += op->saved_B;
		if (op->selective) {
			selective.hot_s += cost.fwd.hot_s - before.hot_s;
			selective.gemm_s += cost.fwd.gemm_s - before.gemm_s;
			selective.attention_s += cost.fwd.attention_s - before.attention_s;
			selective.stream_s += cost.fwd.stream_s - before.stream_s;
			selective.n_kernels += op->n_kernels;
			dropped_B += op->dropped_B;
		}
	}
	cost.saved_B = all_B;
	if (recompute == JL_RECOMPUTE_FULL) {
		cost.re = cost.fwd;
		cost.saved_B = list->input_B;
		cost.work_B = all_B;
	} else if (recompute == JL_RECOMPUTE_SELECTIVE) {
		cost.re = selective;
		cost.saved_B = all_B - dropped_B;
		cost.work_B = dropped_B;
	}
	return cost;
}
