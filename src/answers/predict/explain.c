/* Compares estimates made by hand with the full model. */
#include "predict/answer.h"
#include "predict/kind.h"

#include <math.h>

#define SIDE 32.0 /* matrix size of the worked example */

const char *const jl_explain_parts[JL_N_EX] = {
	[JL_EX_MATRIX] = JL_N("products, attention"), [JL_EX_MEMORY] = JL_N("memory streams"),
	[JL_EX_HOST] = JL_N("host launches"),         [JL_EX_LINKS] = JL_N("communication"),
	[JL_EX_OTHER] = JL_N("bubbles, input"),
};

struct jl_cycles jl_explain_cycles(double n)
{
	const double side = n / SIDE, loads = ceil(side * side), rounds = side * side * side;
	struct jl_cycles c = { .n = n,
			       .n_load = loads,
			       .n_shared = ceil(8 * rounds),
			       .n_ffma = ceil(8 * rounds),
			       .n_tensor_load = loads,
			       .n_tensor_shared = ceil(rounds),
			       .n_tensor = ceil(rounds) };

	c.without_cycles = c.n_load * JL_CYCLES_GLOBAL + c.n_shared * JL_CYCLES_SHARED + c.n_ffma * JL_CYCLES_FFMA;
	c.with_cycles = c.n_tensor_load * JL_CYCLES_GLOBAL + c.n_tensor_shared * JL_CYCLES_SHARED +
			c.n_tensor * JL_CYCLES_TENSOR;
	return c;
}

struct jl_product_time jl_explain_product(const struct jl_device *dev, double n)
{
	const enum jl_dtype half = isnan(dev->peak_flopps[JL_BF16]) ? JL_FP16 : JL_BF16;
	struct jl_gemm gemm = { .m = n, .n = n, .k = n, .batch = 1, .dtype = JL_FP32, .out_B = 4 };
	struct jl_product_time t = { .n = n, .vector_s = jl_gemm_s(dev, &gemm), .tensor_s = NAN };

	if (dev->peak_flopps[half] > 0) {
		gemm.dtype = half;
		gemm.out_B = 2;
		t.tensor_s = jl_gemm_s(dev, &gemm);
	}
	t.vector_cycles = t.vector_s * dev->boost_Hz;
	t.tensor_cycles = t.tensor_s * dev->boost_Hz;
	return t;
}

static double split(const struct jl_case *c, double part_s[JL_N_EX])
{
	const struct jl_step_cost step = jl_case_price(c).step;
	const double share = c->subject.kind->matrix_share(c), samples = c->global_batch / c->n_gpus;

	part_s[JL_EX_MATRIX] = share * step.compute_s;
	part_s[JL_EX_MEMORY] = (1 - share) * step.compute_s + step.optimizer_s;
	part_s[JL_EX_HOST] = step.host_s;
	part_s[JL_EX_LINKS] = step.tp_s + step.cp_s + step.ep_s + step.send_s + step.dp_s + step.contention_s +
			      step.offload_s;
	part_s[JL_EX_OTHER] = step.bubble_s + step.input_s;
	for (int i = 0; i < JL_N_EX; i++)
		part_s[i] /= samples;
	return c->global_batch / step.step_s;
}

void jl_explain(struct jl_explain *ret_explain, const struct jl_case *c, const struct jl_case *base)
{
	struct jl_explain e = {
		.bandwidth_ratio = c->machine.dev.mem_Bps / base->machine.dev.mem_Bps,
		.device_ratio = (double)c->n_gpus / base->n_gpus,
		.rate_ratio = c->machine.dev.peak_flopps[c->shard.dtype] /
			      base->machine.dev.peak_flopps[base->shard.dtype],
	};
	const double rate = split(c, e.part_s), base_rate = split(base, e.base_part_s);

	e.model_ratio = rate / base_rate;
	e.model_device_ratio = e.model_ratio / e.device_ratio;
	for (int i = 1; i < JL_N_EX; i++)
		if (e.base_part_s[i] > e.base_part_s[e.largest])
			e.largest = (enum jl_explain_part)i;
	*ret_explain = e;
}
