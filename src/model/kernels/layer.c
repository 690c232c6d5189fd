/* Cost of a block: sums the prices of its operators. Knows no model. */
#include "kernels/layer.h"

#include <math.h>

/* Slow-down of a product by the power limit: affects its arithmetic, not the part bound by memory. */
static double hot_s(const struct jl_device *dev, const struct jl_gemm *g, double time_s)
{
	const enum jl_dtype dtype = isnan(dev->peak_flopps[g->dtype]) ? JL_FP32 : g->dtype;
	const double rate = dev->peak_flopps[dtype] * dev->fit.gemm_frac[dtype], burst = dev->fit.burst_frac[dtype];

	if (!(burst > 1.0))
		return 0.0;
	const double elem_B = jl_dtype_B(g->dtype),
		     hot = 2.0 * g->m * g->n * g->k * g->batch / rate * (1.0 - 1.0 / burst);
	const double moved_B = g->batch * ((g->m + g->n) * g->k * elem_B + g->m * g->n * g->out_B);
	const double rest = time_s - moved_B / (dev->mem_Bps * dev->fit.mem_frac * dev->fit.read_frac);

	return hot < rest ? hot : rest > 0.0 ? rest : 0.0;
}

static void add_calls(struct jl_phase_cost *phase, double n_kernels, int light)
{
	phase->n_kernels += n_kernels;
	phase->n_calls += n_kernels * (light ? JL_LIGHT_FRAC : 1.0);
}

static void add_product(const struct jl_device *dev, const struct jl_gemm *g, struct jl_phase_cost *phase)
{
	const double time_s = jl_gemm_s(dev, g);

	phase->gemm_s += time_s;
	phase->hot_s += hot_s(dev, g, time_s);
}

static struct jl_gemm dgrad_of(const struct jl_gemm *g)
{
	return (struct jl_gemm){
		.m = g->m, .n = g->k, .k = g->n, .batch = g->batch, .dtype = g->dtype, .out_B = g->out_B
	};
}

static struct jl_gemm wgrad_of(const struct jl_gemm *g, double wgrad_B)
{
	return (struct jl_gemm){ .m = g->k,
				 .n = g->n,
				 .k = g->m,
				 .batch = g->batch,
				 .dtype = g->dtype,
				 .out_B = wgrad_B > 0.0 ? wgrad_B : g->out_B,
				 .turned = 1 };
}

/* Adds kernels that the library launches inside its calls. Calls share the output's width (gate and up), or there is one per expert. */
static void add_sums(const struct jl_device *dev, const struct jl_op *op, struct jl_block_cost *cost)
{
	struct jl_gemm call = op->u.gemm;

	if (call.batch > 1.0)
		call.batch = 1.0;
	else if (op->n_kernels > 1.0)
		call.n /= op->n_kernels;
	const struct jl_gemm dgrad = dgrad_of(&call), wgrad = wgrad_of(&call, 0.0);

	add_calls(&cost->fwd, op->n_kernels * jl_gemm_sums(dev, &call), 1);
	if (op->needs_dgrad)
		add_calls(&cost->bwd, op->n_kernels * jl_gemm_sums(dev, &dgrad), 1);
	if (op->trained)
		add_calls(&cost->bwd, op->n_kernels * jl_gemm_sums(dev, &wgrad), 1);
}

static void add_gemm(const struct jl_device *dev, const struct jl_op *op, double wgrad_B, struct jl_block_cost *cost)
{
	const struct jl_gemm *g = &op->u.gemm;
	const struct jl_gemm dgrad = dgrad_of(g), wgrad = wgrad_of(g, wgrad_B);

	add_product(dev, g, &cost->fwd);
	if (op->needs_dgrad)
		add_product(dev, &dgrad, &cost->bwd);
	if (op->trained)
		add_product(dev, &wgrad, &cost->bwd);
	cost->fwd_flop += 2.0 * g->m * g->n * g->k * g->batch;
	add_calls(&cost->bwd, op->n_kernels * (op->needs_dgrad + op->trained), op->light);
	add_sums(dev, op, cost);
}

static void add_stream(const struct jl_device *dev, const struct jl_op *op, struct jl_block_cost *cost)
{
	if (op->n_kernels > 0.0)
		cost->fwd.stream_s += jl_stream_s(dev, &op->u.stream) + (op->n_kernels - 1.0) * dev->fit.kernel_s;
	if (op->n_back > 0.0) {
		cost->bwd.stream_s += jl_stream_s(dev, &op->back) + (op->n_back - 1.0) * dev->fit.kernel_s;
		add_calls(&cost->bwd, op->n_back, op->light);
	}
}

static void add_attention(const struct jl_device *dev, const struct jl_op *op, struct jl_block_cost *cost)
{
	const struct jl_attention *a = &op->u.attention;

	if (a->flash && dev->fit.portable_frac > 0.0)
		cost->portable_gain = 1.0 / dev->fit.portable_frac;
	cost->fwd.attention_s += jl_attention_fwd_s(dev, a);
	cost->bwd.attention_s += jl_attention_bwd_s(dev, a);
	add_calls(&cost->bwd, op->n_back, 0);
	cost->fwd_flop += jl_attention_flop(a);
}

/* Times and launches of a block, and of the share of its forward pass that selective recompute repeats. */
static void price_times(const struct jl_device *dev, const struct jl_op_list *list, struct jl_block_cost *cost,
			struct jl_phase_cost *selective)
{
	for (size_t i = 0; i < list->n_op; i++) {
		const struct jl_op *op = &list->op[i];
		const struct jl_phase_cost before = cost->fwd;

		if (op->kind == JL_OP_GEMM)
			add_gemm(dev, op, list->wgrad_B, cost);
		else if (op->kind == JL_OP_STREAM)
			add_stream(dev, op, cost);
		else
			add_attention(dev, op, cost);
		add_calls(&cost->fwd, op->n_kernels, op->light);
		if (op->selective > 0.0) {
			selective->hot_s += op->selective * (cost->fwd.hot_s - before.hot_s);
			selective->gemm_s += op->selective * (cost->fwd.gemm_s - before.gemm_s);
			selective->attention_s += op->selective * (cost->fwd.attention_s - before.attention_s);
			selective->stream_s += op->selective * (cost->fwd.stream_s - before.stream_s);
			add_calls(selective, op->selective * op->n_kernels, op->light);
		}
	}
}

struct jl_block_cost jl_block_price(const struct jl_device *dev, const struct jl_op_list *list,
				    enum jl_recompute recompute)
{
	struct jl_block_cost cost = { 0 };
	struct jl_phase_cost selective = { 0 };
	double all_B = 0.0, dropped_B = 0.0;

	if (dev)
		price_times(dev, list, &cost, &selective);
	for (size_t i = 0; i < list->n_op; i++) {
		all_B += list->op[i].saved_B;
		dropped_B += list->op[i].selective > 0.0 ? list->op[i].dropped_B : 0.0;
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
	cost.work_B += list->beside_B;
	return cost;
}
