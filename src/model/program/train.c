/* Step and memory of transformer training: prices blocks, sets optimizer states, checks plans. */
#include "program/train.h"

#include <math.h>
#include <string.h>

#include "program/tune.h"

struct state_bytes {
	double weight_B, grad_B, optimizer_B, moved_B;
};

/* moved_B: one read of gradient, states and master copy, one write of states, master and working copy. */
static const struct state_bytes state_table[JL_N_STATES] = {
	[JL_STATES_MIXED] = { .weight_B = 2.0, .grad_B = 2.0, .optimizer_B = 12.0, .moved_B = 28.0 },
	[JL_STATES_MEGATRON] = { .weight_B = 2.0, .grad_B = 4.0, .optimizer_B = 12.0, .moved_B = 30.0 },
	[JL_STATES_FP32] = { .weight_B = 4.0, .grad_B = 4.0, .optimizer_B = 8.0, .moved_B = 28.0 },
	[JL_STATES_BF16] = { .weight_B = 2.0, .grad_B = 2.0, .optimizer_B = 4.0, .moved_B = 14.0 },
	[JL_STATES_BF16_8BIT] = { .weight_B = 2.0, .grad_B = 2.0, .optimizer_B = 2.0, .moved_B = 10.0 },
};

void jl_plan_set_states(struct jl_plan *plan, enum jl_states states)
{
	const struct state_bytes *s = &state_table[states];

	plan->weight_B = s->weight_B;
	plan->grad_B = s->grad_B;
	plan->optimizer_B = s->optimizer_B;
	plan->optimizer_moved_B = s->moved_B;
	plan->update_copies = 0;
}

void jl_plan_set_foreach(struct jl_plan *plan)
{
	/* elements read and written: decay 2, first moment 3, second 2 + 3, root 2, correction 2 + 2, update 4 */
	const double n_moved = 20.0, wide_B = plan->weight_B < 4.0 && plan->optimizer_B <= 4.0 ? 2.0 : 4.0;

	plan->optimizer_moved_B = n_moved * wide_B;
	plan->update_copies = 1;
}

void jl_plan_set_unfused(struct jl_plan *plan)
{
	const double n_ops = 13.0, n_tensors = 16.0; /* operations, and tensors per layer with biases */

	/* per operation on average 2.5 fp32 elements: two inputs and an output, or one of each */
	plan->optimizer_moved_B = n_ops * 2.5 * 4.0;
	plan->optimizer_kernels = n_ops * n_tensors;
	plan->update_copies = 1;
}

void jl_plan_set_clipped(struct jl_plan *plan)
{
	/* gradients are added to zeroed ones, converted and unscaled if narrow, read for the norm, scaled; masters are copied back */
	const bool narrow = plan->weight_B < 4.0;

	plan->optimizer_moved_B += narrow ? 8.0 + 6.0 + 4.0 + 8.0 + 6.0 : 16.0 + 4.0 + 8.0;
	plan->update_copies = 1; /* the update copies the fp32 gradients */
}

enum jl_loss jl_loss_of(enum jl_framework framework)
{
	static const enum jl_loss loss[JL_N_FRAMEWORK] = { [JL_FW_COMPILED] = JL_LOSS_COMPILED,
							   [JL_FW_NATIVE] = JL_LOSS_COMPILED,
							   [JL_FW_MEGATRON] = JL_LOSS_IN_PLACE,
							   [JL_FW_FUSED] = JL_LOSS_IN_PLACE };

	return loss[framework];
}

static int divides(double part, double whole)
{
	return part >= 1.0 && whole >= part && fmod(whole, part) == 0.0;
}

enum jl_status jl_train_check(const struct jl_train *train, double n_gpus, double global_batch, struct jl_err *err)
{
	const struct jl_transformer *m = train->model;
	const struct jl_plan *p = &train->plan;
	const double product = p->dp * p->tp * p->pp * p->cp, local = global_batch / p->dp;

	if (!(product == n_gpus))
		return jl_fail(err, JL_E_USAGE, "dp %g x tp %g x pp %g x cp %g is %g, but there are %g GPUs", p->dp,
			       p->tp, p->pp, p->cp, product, n_gpus);
	if (!divides(p->tp, m->heads))
		return jl_fail(err, JL_E_USAGE, "tp %g does not divide the %g heads; take a divisor of %g", p->tp,
			       m->heads, m->heads);
	/* with interleaving, the first and last stage may hold only embedding or head */
	const double ends = p->n_chunks > 1.0 ? 2.0 : 0.0;

	if (!(p->pp * p->n_chunks <= m->n_layers + ends))
		return jl_fail(err, JL_E_USAGE, "pp %g with %g chunks needs at least %g layers; the model has %g",
			       p->pp, p->n_chunks, p->pp * p->n_chunks - ends, m->n_layers);
	if (!divides(p->cp, train->shard.seq))
		return jl_fail(err, JL_E_USAGE, "cp %g does not divide the sequence of %g tokens", p->cp,
			       train->shard.seq);
	if (p->ep > 1.0 && !divides(p->ep, m->moe.n_experts))
		return jl_fail(err, JL_E_USAGE, "ep %g does not divide the %g experts", p->ep, m->moe.n_experts);
	if (!divides(p->dp, global_batch) || !divides(train->shard.micro_batch, local))
		return jl_fail(err, JL_E_USAGE,
			       "global batch %g does not split into dp %g x micro-batch %g; take a multiple of %g",
			       global_batch, p->dp, train->shard.micro_batch, p->dp * train->shard.micro_batch);
	if (p->zero < 0 || p->zero > 3)
		return jl_fail(err, JL_E_USAGE, "zero is %d; it is 0, 1, 2 or 3", p->zero);
	return JL_OK;
}

static struct jl_model_size model_size(const struct jl_transformer *m)
{
	const struct jl_transformer_params p = jl_transformer_params(m);

	return (struct jl_model_size){
		.n_dense_layers = p.n_dense_layers,
		.n_moe_layers = p.n_moe_layers,
		.dense_params = p.dense_layer,
		.moe_params = p.moe_layer,
		.expert_params = p.moe_expert,
		.embed_params = p.embed,
		.head_params = p.head,
		.tied = m->tied,
		.hidden = m->hidden,
	};
}

/* Framework autocast: 16-bit products over fp32 weights. */
static int is_autocast(const struct jl_train *train)
{
	return !jl_fusion_by_hand(train->profile->fusion) && jl_dtype_B(train->shard.act_dtype) < 4.0 &&
	       train->plan.weight_B >= 4.0 && !jl_tune_frozen(&train->shard.tune);
}

/* Gradients wider than activations are accumulated by the product itself (read and write); FSDP moves as many bytes to convert them before the
 * exchange. */
static int sums_in_product(const struct jl_train *train)
{
	return !is_autocast(train) && train->plan.grad_B > jl_dtype_B(train->shard.act_dtype);
}

struct jl_shard jl_train_shard(const struct jl_train *train)
{
	struct jl_shard shard = train->shard;

	shard.fusion = train->profile->fusion;
	shard.autocast = is_autocast(train) || shard.wide_rest;
	shard.padded = train->profile->pads;
	shard.thin_loss = train->fused_loss == JL_LOSS_COMPILED;
	if (sums_in_product(train))
		shard.wgrad_B = 2.0 * train->plan.grad_B;
	return shard;
}

double jl_train_back_frac(const struct jl_train *train)
{
	const struct jl_tune *tune = &train->shard.tune;

	return tune->kind == JL_TUNE_LAYERS ? fmin(tune->n_layers / train->model->n_layers, 1.0) : 1.0;
}

static void keep_above(struct jl_block_cost *cost, double frac)
{
	struct jl_phase_cost *const back[] = { &cost->bwd, &cost->re };

	for (size_t i = 0; i < 2; i++)
		*back[i] = (struct jl_phase_cost){ .gemm_s = back[i]->gemm_s * frac,
						   .attention_s = back[i]->attention_s * frac,
						   .stream_s = back[i]->stream_s * frac,
						   .hot_s = back[i]->hot_s * frac,
						   .n_kernels = back[i]->n_kernels * frac,
						   .n_calls = back[i]->n_calls * frac };
	cost->saved_B *= frac;
}

/* Prices all kinds of blocks for one micro-batch; without a device only the bytes kept. */
static void price_blocks(const struct jl_train *train, const struct jl_device *dev, const struct jl_shard *shard,
			 struct jl_block_cost *ret_cost)
{
	struct jl_op_list list;

	for (int k = 0; k < JL_N_BLOCK; k++) {
		const enum jl_block_kind kind = (enum jl_block_kind)k;
		const int is_layer = kind == JL_BLOCK_DENSE || kind == JL_BLOCK_MOE;

		ret_cost[k] = (struct jl_block_cost){ 0 };
		if (kind == JL_BLOCK_MOE && train->model->moe.n_experts <= 0.0)
			continue;
		jl_transformer_ops(train->model, shard, kind, &list);
		ret_cost[k] = jl_block_price(dev, &list, is_layer ? train->plan.recompute : JL_RECOMPUTE_NONE);
		if (is_layer && shard->tune.kind == JL_TUNE_LAYERS)
			keep_above(&ret_cost[k], jl_train_back_frac(train));
	}
}

#define N_RECALLED 8

/* The same with a small cache per thread: one case is often priced repeatedly with other launches, stages or states. Structs are compared as bytes;
 * differing padding only costs time. */
static void recall_priced(const struct jl_train *train, const struct jl_shard *shard, struct jl_block_cost *ret_cost)
{
	static _Thread_local struct priced {
		bool known;
		enum jl_recompute recompute;
		struct jl_shard shard;
		struct jl_transformer model;
		struct jl_device dev;
		struct jl_block_cost cost[JL_N_BLOCK];
	} recalled[N_RECALLED];
	static _Thread_local unsigned next;
	struct priced *p = recalled;

	/* NOLINTBEGIN(bugprone-suspicious-memory-comparison) */
	while (p < recalled + N_RECALLED &&
	       !(p->known && p->recompute == train->plan.recompute && memcmp(&p->shard, shard, sizeof(*shard)) == 0 &&
		 memcmp(&p->model, train->model, sizeof(p->model)) == 0 &&
		 memcmp(&p->dev, train->dev, sizeof(p->dev)) == 0))
		p++;
	/* NOLINTEND(bugprone-suspicious-memory-comparison) */
	if (p == recalled + N_RECALLED) {
		p = &recalled[next++ % N_RECALLED];
		*p = (struct priced){ true,          train->plan.recompute, *shard,
				      *train->model, *train->dev,           { { .saved_B = 0 } } };
		price_blocks(train, train->dev, shard, p->cost);
	}
	memcpy(ret_cost, p->cost, sizeof(p->cost));
}

/* The same with the caller's cached prices, if they are for this device. */
static void recall_blocks(const struct jl_train *train, const struct jl_shard *shard, struct jl_block_cost *ret_cost)
{
	struct jl_train_prices *prices = train->prices;

	/* compared as bytes: differing padding only costs time. NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
	if (prices && prices->known && memcmp(&prices->dev, train->dev, sizeof(prices->dev)) == 0) {
		memcpy(ret_cost, prices->cost, sizeof(prices->cost));
		return;
	}
	if (!prices) {
		recall_priced(train, shard, ret_cost);
	} else {
		price_blocks(train, train->dev, shard, ret_cost);
		memcpy(prices->cost, ret_cost, sizeof(prices->cost));
		prices->dev = *train->dev;
		prices->known = true;
	}
}

/* Bytes of logits and gradients beyond what the loss keeps; the number of simultaneous copies depends on the implementation. Unfused: gradients of
 * the sum and of the logits coexist. Fused without fp32 copy: keeps the product's output and overwrites it with its gradient, unless unaligned rows
 * were copied for a large product (seen in compiled runs on an H200). */
static double logit_B(const struct jl_train *train, const struct jl_shard *shard)
{
	static const double copies_B[] = {
		[JL_LOSS_PLAIN] = 6.0, [JL_LOSS_FUSED] = 4.0, [JL_LOSS_IN_PLACE] = 0.0, [JL_LOSS_COMPILED] = 0.0
	};
	static const double worth_hidden = 768.0;
	const struct jl_transformer *m = train->model;
	const double act_B = jl_dtype_B(shard->act_dtype);

	if (shard->thin_loss)
		return act_B < 4.0 && fmod(m->vocab * act_B, 16.0) > 0.0 && m->hidden >= worth_hidden ? act_B : 0.0;
	if (shard->written_out & JL_WRITTEN_LOSS)
		return 8.0;
	if (shard->fusion == JL_FUSION_NONE)
		return shard->autocast ? 4.0 + act_B : 2.0 * act_B;
	return 2.0 * act_B + copies_B[train->fused_loss];
}

static double shard_tokens(const struct jl_shard *s)
{
	return jl_shard_sequences(s) * s->seq / s->cp;
}

static void weigh_bytes(const struct jl_train *train, const struct jl_shard *s, struct jl_train_blocks *ret_blocks)
{
	const struct jl_transformer *m = train->model;
	static const double table_B = 8.0;
	const double tokens = shard_tokens(s), n_logits = tokens * m->head_tokens_frac * m->vocab / s->tp;

	ret_blocks->size = model_size(m);
	ret_blocks->boundary_B = tokens * m->hidden * jl_dtype_B(s->act_dtype) / (s->sp ? s->tp : 1.0);
	ret_blocks->logits_B = m->head != JL_HEAD_SPAN ? n_logits * logit_B(train, s) : 0.0;
	if (s->thin_loss &&
	    m->head != JL_HEAD_SPAN) /* gradients of both tables, narrow and wide, at the end of the backward pass */
		ret_blocks->logits_B += fmin(n_logits * jl_dtype_B(s->act_dtype),
					     table_B * m->vocab / s->tp * m->hidden);
	if (m->head != JL_HEAD_SPAN && train->chunked_loss > 1.0) {
		ret_blocks->logits_B /= train->chunked_loss;
		ret_blocks->cost[JL_BLOCK_HEAD].saved_B -= n_logits * jl_loss_kept_B(s) *
							   (1.0 - 1.0 / train->chunked_loss);
	}
}

void jl_train_kept(const struct jl_train *train, struct jl_train_blocks *ret_blocks)
{
	const struct jl_shard shard = jl_train_shard(train);

	price_blocks(train, NULL, &shard, ret_blocks->cost);
	weigh_bytes(train, &shard, ret_blocks);
}

void jl_train_blocks(const struct jl_train *train, struct jl_train_blocks *ret_blocks)
{
	const struct jl_transformer *m = train->model;
	const struct jl_shard shard = jl_train_shard(train), *s = &shard;
	const double kv_dim = m->mla.kv_lora > 0.0 ? m->heads * (m->mla.nope_dim + m->mla.rope_dim + m->mla.v_dim)
						   : 2.0 * m->kv_heads * m->head_dim;
	const struct jl_comm_in comm_in = { .elements = shard_tokens(s) * m->hidden,
					    .kv_frac = kv_dim / m->hidden,
					    .act_B = jl_dtype_B(s->act_dtype),
					    .top_k = m->moe.n_experts > 0.0 ? m->moe.top_k * fmax(s->expert_load, 1.0)
									    : 0.0 };
	const struct jl_layer_comm layer = jl_layer_comm(train->fabric, &train->plan, &comm_in);
	const struct jl_layer_comm none = { 0 };
	struct jl_layer_comm dense = layer, ends = none;

	dense.ep_s = 0.0;
	dense.n_comm -= train->plan.ep > 1.0 && comm_in.top_k > 0.0 ? 2.0 : 0.0;
	ends.tp_s = 0.5 * layer.tp_s; /* one collective instead of two */
	ends.n_comm = s->tp > 1.0 ? 1.0 : 0.0;
	recall_blocks(train, s, ret_blocks->cost);
	for (int k = 0; k < JL_N_BLOCK; k++) {
		const enum jl_block_kind kind = (enum jl_block_kind)k;
		const struct jl_layer_comm *comm = kind == JL_BLOCK_MOE     ? &layer
						   : kind == JL_BLOCK_DENSE ? &dense
									    : &ends;

		ret_blocks->time[k] = (struct jl_block_time){ 0 };
		if (kind == JL_BLOCK_MOE && m->moe.n_experts <= 0.0)
			continue;
		ret_blocks->time[k] = jl_block_time(train->profile, &train->plan, &ret_blocks->cost[k], comm);
	}
	weigh_bytes(train, s, ret_blocks);
}

struct jl_step_cost jl_train_step(const struct jl_train *train, const struct jl_train_blocks *blocks)
{
	const struct jl_model_size *size = &blocks->size;
	const double moe_frac = size->n_moe_layers / (size->n_dense_layers + size->n_moe_layers);
	const struct jl_step_in in = {
		.dev = train->dev,
		.fabric = train->fabric,
		.profile = train->profile,
		.size = &blocks->size,
		.plan = &train->plan,
		.block = blocks->time,
		.saved_B = (1.0 - moe_frac) * blocks->cost[JL_BLOCK_DENSE].saved_B +
			   moe_frac * blocks->cost[JL_BLOCK_MOE].saved_B,
		.boundary_B = blocks->boundary_B,
		.host_mem_Bps = train->host_mem_Bps,
		.generate_s = train->generate_s,
		.input_s = train->input_s,
		.sum_B = sums_in_product(train) ? 0.0 : 3.0 * train->plan.grad_B,
	};

	return jl_step_cost(&in);
}

struct jl_memory jl_train_memory(const struct jl_train *train, const struct jl_train_blocks *blocks)
{
	/* inside a host communicators need fewer channels and no network buffers */
	const double in_host_frac = 0.3, left_free_frac = 0.06;
	struct jl_memory_fit fit = train->memory;

	if (train->fabric->n_nodes <= 1)
		fit.comm_B *= in_host_frac;
	const struct jl_memory_in in = {
		.size = &blocks->size,
		.plan = &train->plan,
		.block = blocks->cost,
		.boundary_B = blocks->boundary_B,
		.logits_B = blocks->logits_B,
		.update_B = train->plan.update_copies &&
					    !(train->plan.offload & (JL_OFFLOAD_OPTIMIZER | JL_OFFLOAD_PARAMS))
				    ? train->plan.weight_B
				    : 0.0,
		.grads_later = train->profile->frees_grads && train->plan.dp * train->plan.cp <= 1.0 &&
			       train->plan.n_micro <= 1.0,
		.room_B = (1.0 - left_free_frac) * train->dev->mem_B,
		.fit = fit
	};

	return jl_memory_peak(&in);
}
