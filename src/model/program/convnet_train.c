/* Step time and memory of networks given as operator lists. */
#include "program/convnet_train.h"

#include <math.h>

#include "program/convnet.h"
#include "program/transformer.h"

bool jl_convnet_has_blocks(const struct jl_convnet *net)
{
	bool has = false;

	for (size_t i = 0; i < net->n_ops && !has; i++)
		has = net->ops[i].kind == JL_CONV_BLOCK;
	return has;
}

/* Weights of products inside blocks. */
static double block_weights(const struct jl_convnet *net)
{
	double n = 0;

	for (size_t i = 0; i < net->n_ops; i++)
		n += net->ops[i].inside ? jl_conv_op_weights(&net->ops[i]) : 0;
	return n;
}

struct jl_conv_in jl_convnet_input(const struct jl_convnet_train *t, double comm_s)
{
	const bool spelled = t->spelled || !t->profile;

	return (struct jl_conv_in){
		.ops = t->net->ops,
		.n_ops = t->net->n_ops,
		.batch = t->micro_batch,
		.dtype = t->dtype,
		.n_params = t->net->n_params - t->net->n_still,
		.spelled = spelled,
		.n_cast = t->net->n_params - t->net->n_still - (spelled ? 0 : block_weights(t->net)),
		.update_B = t->update_B > 0 ? t->update_B : jl_convnet_update_B(t->net->optimizer),
		.software = t->software,
		.n_workers = t->n_per_host,
		.comm_s = comm_s,
		.launch_s = t->launch_s,
	};
}

double jl_convnet_comm_s(const struct jl_convnet_train *t)
{
	const double grad_B = jl_convnet_grad_B(t->net, t->dtype), n = t->n_per_host;
	/* ring: every byte is sent and received 2 (n - 1) / n times */
	const double ring_s = t->n_per_host > 1 ? 2 * (n - 1) / n * grad_B / t->bus_Bps : 0;
	const struct jl_collective coll = { .kind = JL_ALLREDUCE, .size_B = grad_B, .n_ranks = t->n_ranks };

	if (t->n_ranks <= 1)
		return 0;
	return t->fabric ? fmax(ring_s, jl_collective_cost(t->fabric, &coll).time_s) : ring_s;
}

/* Cost of all transformer blocks in one pass. */
struct blocks {
	double device_s, host_s;
	double update_s;           /* host time of the step itself and of the optimizer's tensor lists */
	double matrix_s, stream_s; /* parts of device_s, before the power limit */
	double saved_B;            /* bytes kept, all layers */
	double work_B;             /* largest temporary of one block */
};

static struct jl_block_cost block_price(const struct jl_convnet_train *t, const struct jl_conv_op *op)
{
	const bool half = jl_dtype_B(t->dtype) < 4;
	const struct jl_transformer model = { .n_layers = op->count,
					      .hidden = op->k,
					      .heads = op->heads,
					      .kv_heads = op->heads,
					      .head_dim = op->k / op->heads,
					      .ffn = op->n,
					      .n_positions = op->rows,
					      .bias = 1 };
	const struct jl_shard shard = { .micro_batch = t->micro_batch,
					.seq = op->rows,
					.tp = 1,
					.cp = 1,
					.ep = 1,
					.flash = !(t->software & JL_SW_PLAIN_ATTENTION),
					.dtype = t->dtype,
					.act_dtype = half ? t->dtype : JL_FP32,
					.fusion = t->profile->fusion,
					.padded = t->profile->pads,
					.autocast = half && !(t->software & JL_SW_PURE) };
	struct jl_op_list list;
	struct jl_block_cost cost;

	jl_transformer_ops(&model, &shard, JL_BLOCK_DENSE, &list);
	cost = jl_block_price(t->dev, &list, JL_RECOMPUTE_NONE);
	if (t->software & JL_SW_FORWARD || op->train == JL_CONV_FROZEN) {
		cost.bwd = (struct jl_phase_cost){ 0 };
		cost.saved_B = 0;
	}
	return cost;
}

static double update_kernels(const struct jl_convnet_train *t, double usual)
{
	return t->asked && t->asked->optimizer_kernels > 0 ? t->asked->optimizer_kernels : usual;
}

static struct blocks blocks_of(const struct jl_convnet_train *t)
{
	static const struct jl_plan alone = {
		.dp = 1, .tp = 1, .pp = 1, .cp = 1, .ep = 1, .n_chunks = 1, .n_micro = 1
	};
	static const struct jl_layer_comm none = { 0 };
	struct blocks b = { 0 };

	for (size_t i = 0; i < t->net->n_ops; i++) {
		const struct jl_conv_op *op = &t->net->ops[i];
		struct jl_profile profile;

		if (op->kind != JL_CONV_BLOCK || !t->profile)
			continue;
		profile = *t->profile;
		profile.launch_s = t->launch_s > 0 ? t->launch_s : t->fit->launch_s;
		const struct jl_block_cost cost = block_price(t, op);
		const struct jl_block_time time = jl_block_time(&profile, &alone, &cost, &none);

		b.device_s += op->count * time.compute_s;
		b.host_s += op->count * time.need_s;
		if (cost.bwd.n_calls > 0)
			b.update_s = fmax(b.update_s, profile.step_s) +
				     op->count * update_kernels(t, profile.optimizer_kernels) * profile.launch_s;
		b.matrix_s += op->count *
			      (cost.fwd.gemm_s + cost.fwd.attention_s + cost.bwd.gemm_s + cost.bwd.attention_s);
		b.stream_s += op->count * (cost.fwd.stream_s + cost.bwd.stream_s) * profile.stream_frac;
		b.saved_B += op->count * cost.saved_B;
		b.work_B = fmax(b.work_B, cost.work_B);
	}
	return b;
}

/* Number of weights outside blocks, one per operator. */
static double n_weighted(const struct jl_convnet *net, bool spelled)
{
	double n = 0;

	for (size_t i = 0; i < net->n_ops; i++)
		if ((spelled || !net->ops[i].inside) && jl_conv_op_weights(&net->ops[i]) > 0)
			n += net->ops[i].count > 0 ? net->ops[i].count : 1;
	return n;
}

static const double layer_tensors = 7; /* tensors per transformer layer, the unit in which launches are counted */

/* Kernels of one pass and of the update, the device's own factor included. */
static struct jl_conv_cost pass_cost(const struct jl_convnet_train *t, bool update, double comm_s)
{
	struct jl_conv_in in = jl_convnet_input(t, comm_s);
	const struct blocks blocks = blocks_of(t);
	struct jl_conv_cost cost;

	if (!update)
		in.n_params = in.n_cast = 0;
	cost = jl_conv_device(t->dev, t->fit, &in);
	if (update) /* per tensor, unless the optimizer uses tensor lists */
		cost.host_s += update_kernels(t, 0) / layer_tensors * n_weighted(t->net, in.spelled) *
			       (t->launch_s > 0 ? t->launch_s : t->fit->launch_s);
	if (!in.spelled) {
		cost.device_s += blocks.device_s;
		cost.host_s += blocks.host_s + (update ? blocks.update_s : 0);
	}
	return jl_conv_finish(t->fit, &in, cost);
}

struct jl_step_cost jl_convnet_step(const struct jl_convnet_train *t)
{
	const double comm_s = jl_convnet_comm_s(t);
	const struct jl_conv_cost last = pass_cost(t, true, comm_s), plain = pass_cost(t, false, 0);
	const double more = t->n_micro - 1;
	struct jl_step_cost cost = { .compute_s = plain.device_s * t->n_micro,
				     .optimizer_s = last.device_s - plain.device_s,
				     .dp_s = last.exposed_s,
				     .hidden_s = fmax(0, comm_s - last.exposed_s) };

	if (t->software & JL_SW_FORWARD) { /* inference: no update; only casts of weights remain */
		cost.compute_s += cost.optimizer_s;
		cost.optimizer_s = 0;
	}
	cost.step_s = last.step_s + more * plain.step_s;
	cost.host_s = cost.step_s - cost.compute_s - cost.optimizer_s - cost.dp_s;
	cost.input_s = fmax(0, t->input_s - cost.step_s);
	cost.step_s += cost.input_s;
	return cost;
}

struct jl_convnet_work jl_convnet_work(const struct jl_convnet_train *t)
{
	struct jl_conv_in in = jl_convnet_input(t, 0);
	const struct jl_conv_cost whole = jl_conv_device(t->dev, t->fit, &in);
	const struct blocks blocks = blocks_of(t);
	struct jl_convnet_work work = { .flop = whole.flop * t->n_micro, .moved_B = whole.moved_B * t->n_micro };
	const double own = in.spelled ? 0 : 1;
	double kind_s[3] = { [1] = own * blocks.matrix_s, [2] = own * blocks.stream_s }, all_s = kind_s[1] + kind_s[2];

	in.n_params = in.n_cast = 0;
	in.n_ops = 1;
	for (size_t i = 0; i < t->net->n_ops; i++) {
		const enum jl_conv_kind kind = t->net->ops[i].kind;
		double op_s;

		in.ops = &t->net->ops[i];
		op_s = jl_conv_device(t->dev, t->fit, &in).device_s;
		kind_s[kind == JL_CONV_CONV ? 0 : kind == JL_CONV_STREAM || kind == JL_CONV_HOST ? 2 : 1] += op_s;
		all_s += op_s;
	}
	if (all_s > 0) {
		work.conv_frac = kind_s[0] / all_s;
		work.matrix_frac = kind_s[1] / all_s;
		work.stream_frac = kind_s[2] / all_s;
	}
	return work;
}

void jl_convnet_states(const struct jl_convnet *net, enum jl_dtype dtype, unsigned software, double *ret_weight_B,
		       double *ret_grad_B, double *ret_optimizer_B)
{
	const bool half = jl_dtype_B(dtype) < 4;

	*ret_weight_B = half ? software & JL_SW_PURE ? 2 : 6 : 4;
	*ret_grad_B = net->half_grads && half ? 2 : 4;
	*ret_optimizer_B = net->optimizer == JL_NET_SGD ? 4 : 8; /* bytes: SGD has momentum, Adam two moments */
}

/* Buffers of one communicator. Small: published runs keep their batch size from one GPU to eight on full cards. */
static const double comm_most_B = 0.3e9;

struct jl_memory jl_convnet_memory(const struct jl_convnet_train *t)
{
	const double elem_B = jl_dtype_B(t->dtype) < 4 ? 2 : 4, n_params = t->net->n_params - t->net->n_still,
		     still_B = t->net->n_still * elem_B;
	const struct jl_layers_total total = jl_layers_sum(t->net->ops, t->net->n_ops);
	const struct blocks blocks = blocks_of(t);
	double largest = 0, weight_B, grad_B, optimizer_B;
	struct jl_memory mem = { .context_B = t->memory.context_B +
					      (t->n_ranks > 1 ? fmin(t->memory.comm_B, comm_most_B) : 0) };

	for (size_t i = 0; i < t->net->n_ops; i++) {
		const double count = t->net->ops[i].count > 0 ? t->net->ops[i].count : 1;

		if (!t->net->ops[i].inside || t->software & JL_SW_FORWARD)
			largest = fmax(largest, jl_conv_op_saved(&t->net->ops[i]) / count);
	}
	jl_convnet_states(t->net, t->dtype, t->software, &weight_B, &grad_B, &optimizer_B);
	mem.weights_B = n_params * weight_B + still_B;
	if (t->software & JL_SW_FORWARD) {
		/* input and output of one operator and of its neighbour */
		mem.activations_B = t->micro_batch * elem_B * 3 * largest;
		mem.total_B = mem.weights_B + mem.activations_B + mem.context_B;
		return mem;
	}
	mem.gradients_B = n_params * grad_B;
	mem.optimizer_B = n_params * (t->asked ? t->asked->optimizer_B : optimizer_B);
	/* tensor sizes are the same in every step, so allocator waste is neglected */
	mem.activations_B = t->micro_batch * elem_B * (t->net->kept_per_output * total.saved + 2 * largest) +
			    blocks.saved_B + blocks.work_B;
	mem.buffers_B = t->n_ranks > 1 ? mem.gradients_B : 0;
	mem.total_B = mem.weights_B + mem.gradients_B + mem.optimizer_B + mem.activations_B + mem.buffers_B +
		      mem.context_B;
	return mem;
}

double jl_convnet_pixels(const struct jl_convnet *net)
{
	for (size_t i = 0; i < net->n_ops && net->pixels == 0; i++)
		if (net->ops[i].kind == JL_CONV_CONV && net->ops[i].c_in == 3)
			return net->ops[i].h * net->ops[i].w;
	return net->pixels;
}

bool jl_convnet_pictures(const struct jl_convnet *net)
{
	for (size_t i = 0; i < net->n_ops; i++)
		if (net->ops[i].kind == JL_CONV_HOST && net->ops[i].sync)
			return false;
	return jl_convnet_pixels(net) > 0;
}
