/* Counts a model's parameters, FLOP and activations by kind of layer. */
#include "predict/count.h"

#include <math.h>
#include <string.h>

#include "program/convnet.h"

enum group { PROJECTIONS, CORE, FFN, EXPERTS, ROUTER, NORMS, RESIDUALS, EMBEDDING, LOGITS, N_GROUP };

static const struct {
	const char *key, *en;
} groups[N_GROUP] = {
	[PROJECTIONS] = { "attention_projections", JL_N("attention projections") },
	[CORE] = { "attention_core", JL_N("attention core") },
	[FFN] = { "feed_forward", JL_N("feed-forward") },
	[EXPERTS] = { "experts", JL_N("experts") },
	[ROUTER] = { "router", JL_N("router and dispatch") },
	[NORMS] = { "norms", JL_N("norms") },
	[RESIDUALS] = { "residuals", JL_N("residual adds") },
	[EMBEDDING] = { "embedding", JL_N("embedding") },
	[LOGITS] = { "logits", JL_N("logits and loss") },
};

static enum group group_of(const char *op, enum jl_block_kind block)
{
	static const struct {
		const char *op;
		enum group group;
	} names[] = {
		{ "attention", CORE },     { "rotary", CORE },         { "ffn up", FFN },      { "ffn down", FFN },
		{ "activation", FFN },     { "router", ROUTER },       { "dispatch", ROUTER }, { "norm", NORMS },
		{ "residual", RESIDUALS }, { "embedding", EMBEDDING }, { "logits", LOGITS },   { "loss", LOGITS },
	};

	for (size_t i = 0; i < JL_LEN(names); i++)
		if (strcmp(names[i].op, op) == 0)
			return names[i].group == FFN && block == JL_BLOCK_MOE ? EXPERTS : names[i].group;
	return PROJECTIONS;
}

static double norm_size(const struct jl_transformer *m)
{
	return m->norm == JL_NORM_LAYER ? 2 * m->hidden : m->hidden;
}

static double ffn_size(const struct jl_transformer *m, double ffn)
{
	const double n_up = m->gated ? 2 : 1;

	return (n_up + 1) * m->hidden * ffn + (m->bias ? n_up * ffn + m->hidden : 0);
}

/* Attention is what remains of a layer without norms and feed-forward. */
static void count_params(struct jl_count *rows, const struct jl_transformer *m)
{
	const struct jl_transformer_params p = jl_transformer_params(m);
	const double norms = (m->post_norm ? 4 : 2) * norm_size(m),
		     attention = p.dense_layer - norms - ffn_size(m, m->ffn);
	const double shared = m->moe.n_shared * ffn_size(m, m->moe.expert_ffn);
	const double end_norms = (m->final_norm ? norm_size(m) : 0) + (m->embed_norm ? norm_size(m) : 0);

	rows[PROJECTIONS].params = m->n_layers * attention;
	rows[NORMS].params = m->n_layers * norms + end_norms;
	rows[FFN].params = p.n_dense_layers * ffn_size(m, m->ffn);
	rows[EXPERTS].params = p.n_moe_layers * (p.moe_expert + shared);
	rows[ROUTER].params = p.n_moe_layers * m->moe.n_experts * m->hidden;
	rows[EMBEDDING].params = p.embed - (m->embed_norm ? norm_size(m) : 0);
	rows[LOGITS].params = p.head - (m->final_norm ? norm_size(m) : 0);
}

static double op_flop(const struct jl_op *op)
{
	const struct jl_gemm *g = &op->u.gemm;
	const struct jl_attention *a = &op->u.attention;

	if (op->kind == JL_OP_GEMM)
		return 2 * g->m * g->n * g->k * g->batch;
	if (op->kind == JL_OP_ATTENTION)
		return jl_attention_flop(a);
	return 0;
}

static void finish(struct jl_counts *counts, const struct jl_count *rows, size_t n)
{
	counts->n = 0;
	counts->total = (struct jl_count){ .key = "total", .en = JL_N("total") };
	for (size_t i = 0; i < n; i++) {
		if (!(rows[i].params > 0 || rows[i].fwd_flop > 0 || rows[i].saved_B > 0))
			continue;
		counts->rows[counts->n++] = rows[i];
		counts->total.params += rows[i].params;
		counts->total.fwd_flop += rows[i].fwd_flop;
		counts->total.saved_B += rows[i].saved_B;
	}
	counts->train_flop = 3 * counts->total.fwd_flop;
	counts->still_params = NAN;
}

void jl_count_transformer(struct jl_counts *ret_counts, const struct jl_transformer *m, double batch, double seq)
{
	const struct jl_shard shard = { .micro_batch = batch,
					.seq = seq,
					.tp = 1,
					.cp = 1,
					.ep = 1,
					.flash = 1,
					.dtype = JL_BF16,
					.act_dtype = JL_BF16 };
	const struct jl_transformer_params p = jl_transformer_params(m);
	const double n_blocks[JL_N_BLOCK] = { [JL_BLOCK_DENSE] = p.n_dense_layers,
					      [JL_BLOCK_MOE] = p.n_moe_layers,
					      [JL_BLOCK_EMBED] = 1,
					      [JL_BLOCK_HEAD] = 1 };
	struct jl_count rows[N_GROUP] = { 0 };
	struct jl_op_list list;

	for (size_t g = 0; g < N_GROUP; g++)
		rows[g] = (struct jl_count){ .key = groups[g].key,
					     .en = groups[g].en,
					     .n = g == FFN                        ? p.n_dense_layers
						  : g == EXPERTS || g == ROUTER   ? p.n_moe_layers
						  : g == EMBEDDING || g == LOGITS ? 1
										  : m->n_layers };
	for (int k = 0; k < JL_N_BLOCK; k++) {
		if (n_blocks[k] <= 0)
			continue;
		jl_transformer_ops(m, &shard, (enum jl_block_kind)k, &list);
		for (size_t i = 0; i < list.n_op; i++) {
			struct jl_count *row = &rows[group_of(list.op[i].name, (enum jl_block_kind)k)];

			row->fwd_flop += n_blocks[k] * op_flop(&list.op[i]);
			row->saved_B += n_blocks[k] * list.op[i].saved_B;
		}
	}
	count_params(rows, m);
	finish(ret_counts, rows, N_GROUP);
	ret_counts->active_params = p.active;
}

static const struct {
	const char *en;
} kinds[JL_N_CONV_KIND] = {
	[JL_CONV_CONV] = { JL_N("convolutions") },
	[JL_CONV_LINEAR] = { JL_N("linear layers") },
	[JL_CONV_RNN] = { JL_N("recurrent products") },
	[JL_CONV_CELL] = { JL_N("recurrent cells") },
	[JL_CONV_BMM] = { JL_N("products of activations") },
	[JL_CONV_ATTENTION] = { JL_N("attention products") },
	[JL_CONV_STREAM] = { JL_N("norms, activations, sums") },
	[JL_CONV_HOST] = { JL_N("host calls") },
	[JL_CONV_BLOCK] = { JL_N("blocks") },
};

void jl_count_convnet(struct jl_counts *ret_counts, const struct jl_convnet *net, double batch)
{
	struct jl_count rows[JL_N_CONV_KIND + 1] = { 0 };
	double weights = 0, frozen_flop = 0;

	for (int k = 0; k < JL_N_CONV_KIND; k++)
		rows[k] = (struct jl_count){ .key = jl_layers_kind_name((enum jl_conv_kind)k), .en = kinds[k].en };
	for (size_t i = 0; i < net->n_ops; i++) {
		const struct jl_conv_op *op = &net->ops[i];
		struct jl_count *row = &rows[op->kind];

		row->n += op->count > 0 ? op->count : 1;
		row->params += jl_conv_op_weights(op);
		const double flop = 2 * jl_conv_op_mac(op) * (op->per_step ? 1 : batch);

		row->fwd_flop += flop;
		frozen_flop += op->train == JL_CONV_FROZEN ? flop : 0;
		row->saved_B += 2 * jl_conv_op_saved(op) * (op->per_step ? 1 : batch);
		weights += jl_conv_op_weights(op);
	}
	/* the list of operators has no norms, biases and embeddings */
	rows[JL_N_CONV_KIND] = (struct jl_count){ .key = "other",
						  .en = JL_N("norms, biases, embeddings"),
						  .params = net->n_params > weights ? net->n_params - weights : 0 };
	finish(ret_counts, rows, JL_N_CONV_KIND + 1);
	ret_counts->total.params = net->n_params;
	ret_counts->active_params = net->n_params;
	ret_counts->train_flop -= 2 * frozen_flop;
	if (net->n_still > 0)
		ret_counts->still_params = net->n_still;
}
