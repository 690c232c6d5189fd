/* The operators of a transformer: which products and streams one micro-batch makes of it, cut by the plan. */
#include "workload/transformer.h"

#include <math.h>

struct builder {
	struct jl_op_list *list;
	const struct jl_transformer *m;
	const struct jl_shard *s;
	double act_B;      /* bytes of an activation */
	double tokens;     /* of one device's micro-batch */
	double seq_tokens; /* the same where sequence parallelism cuts as well */
};

static struct jl_op *add_op(struct builder *b, const char *name, enum jl_op_kind kind)
{
	/* No list of ours is longer: see the tests. One that was would lose its last operator, not memory. */
	struct jl_op *op = &b->list->op[b->list->n_op < JL_MAX_OPS ? b->list->n_op++ : JL_MAX_OPS - 1];

	*op = (struct jl_op){ .name = name, .kind = kind, .n_kernels = 1.0 };
	return op;
}

static struct jl_op *add_stream(struct builder *b, const char *name, double moved_B, double flop)
{
	struct jl_op *op = add_op(b, name, JL_OP_STREAM);

	op->u.stream = (struct jl_stream){ .moved_B = moved_B, .flop = flop };
	op->bwd_moved_frac = 1.5;
	return op;
}

/* A linear layer: the product, and what the number format or frozen weights add to it. */
static struct jl_op *add_linear(struct builder *b, const char *name, double m, double n, double k, double batch)
{
	const struct jl_shard *s = b->s;
	struct jl_op *op = add_op(b, name, JL_OP_GEMM);

	op->u.gemm = (struct jl_gemm){ .m = m, .n = n, .k = k, .batch = batch, .dtype = s->dtype, .out_B = b->act_B };
	op->trained = !s->frozen;
	op->needs_dgrad = 1;
	if (s->dtype == JL_FP8) {
		/* The kernel before writes a byte instead of 16 bits, and a transposed copy is made for the weight
		 * gradient; the output's gradient is read once and written twice. */
		struct jl_op *cast = add_stream(b, "fp8 cast", m * k * batch * 2.0, 0.0);

		cast->bwd_moved_frac = n * (b->act_B + 2.0) / (2.0 * k);
	}
	if (s->frozen && s->quantized) {
		struct jl_op *unpack = add_stream(b, "unpack weights", n * k * batch * 2.5, n * k * batch * 8.0);

		unpack->bwd_moved_frac = 1.0;
	}
	return op;
}

/* Adapters beside a frozen product: two thin products and a sum, bound by the activations they read and write. */
static void add_adapter(struct builder *b, double m, double n, double k)
{
	if (!b->s->frozen || b->s->lora_rank <= 0.0)
		return;
	add_stream(b, "adapter", m * (k + 2.0 * n + 4.0 * b->s->lora_rank) * b->act_B, 0.0)->n_kernels = 4.0;
}

static void add_norm(struct builder *b, const char *name)
{
	const double elements = b->seq_tokens * b->m->hidden;
	struct jl_op *op = add_stream(b, name, 2.0 * elements * b->act_B, 8.0 * elements);

	/* Input, and output for the product after it. Recomputing by operator keeps the layer's input, the attention's
	 * keys, values and output, and one of the feed-forward products: everything else is made again from them. */
	op->saved_B = 2.0 * elements * b->act_B;
	op->selective = b->s->flash;
	op->dropped_B = elements * b->act_B * (b->list->n_op > 1 ? 2.0 : 1.0);
	op->n_kernels = b->m->norm == JL_NORM_RMS ? 2.0 : 1.0;
}

static void add_residual(struct builder *b, const char *name)
{
	const double elements = b->seq_tokens * b->m->hidden;
	struct jl_op *op = add_stream(b, name, elements * (3.0 * b->act_B + b->m->dropout), 2.0 * elements);

	op->saved_B = b->m->dropout ? elements : 0.0;
	op->bwd_moved_frac = 1.0;
	op->n_kernels = b->m->dropout ? 2.0 : 1.0;
}

static void add_core(struct builder *b, double heads, double kv_heads, double qk_dim, double v_dim)
{
	const struct jl_shard *s = b->s;
	const double seq_q = s->seq / s->cp, map = s->micro_batch * heads * seq_q * s->seq;
	struct jl_op *op;

	if (b->m->n_positions <= 0.0 && !b->m->alibi) {
		op = add_stream(b, "rotary", 2.0 * b->tokens * (heads + kv_heads) * qk_dim * b->act_B, 0.0);
		op->bwd_moved_frac = 1.0;
		op->n_kernels = 4.0;
	}
	op = add_op(b, "attention", JL_OP_ATTENTION);
	op->u.attention = (struct jl_attention){
		.batch = s->micro_batch,
		.heads = heads,
		.kv_heads = kv_heads,
		.seq_q = seq_q,
		.seq_kv = s->seq,
		.head_dim = 0.5 * (qk_dim + v_dim),
		.dtype = s->dtype == JL_FP8 ? s->act_dtype : s->dtype,
		.causal = b->m->causal,
		.flash = s->flash,
	};
	/* Batched products of heads whose rows do not start on 16 bytes leave the tensor cores. */
	if (!s->flash && fmod(qk_dim * b->act_B, 16.0) > 0.0 && b->act_B < 4.0) {
		op->u.attention.dtype = JL_FP32;
		op->u.attention.score_B = 6.5 * b->act_B;
	}
	op->n_kernels = s->flash ? 2.0 : b->m->dropout ? 7.0 : 6.0;
	op->saved_B = b->tokens * ((heads + kv_heads) * qk_dim + kv_heads * v_dim) * b->act_B;
	if (s->flash) {
		op->dropped_B = b->tokens * heads * qk_dim * b->act_B;
		op->saved_B += b->tokens * heads * 4.0; /* sums of the softmax rows */
	} else {
		op->dropped_B = map * (b->act_B + (b->m->dropout ? b->act_B + 1.0 : 0.0));
		op->saved_B += op->dropped_B;
		op->selective = 1;
	}
}

static void add_attention(struct builder *b)
{
	const struct jl_transformer *m = b->m;
	const double t = b->tokens, h = m->hidden, tp = b->s->tp, heads = m->heads / tp;
	const double kv_heads = fmax(m->kv_heads / tp, 1.0);

	if (m->mla.kv_lora > 0.0) {
		const struct jl_mla *a = &m->mla;
		const double qk = a->nope_dim + a->rope_dim;

		if (a->q_lora > 0.0)
			add_linear(b, "q down", t, a->q_lora, h, 1.0);
		add_linear(b, "q", t, heads * qk, a->q_lora > 0.0 ? a->q_lora : h, 1.0);
		add_linear(b, "kv down", t, a->kv_lora + a->rope_dim, h, 1.0);
		add_linear(b, "kv", t, heads * (a->nope_dim + a->v_dim), a->kv_lora, 1.0);
		add_core(b, heads, heads, qk, a->v_dim);
		add_linear(b, "attention out", t, h, heads * a->v_dim, 1.0)->saved_B = t * heads * a->v_dim * b->act_B;
		return;
	}
	add_linear(b, "qkv", t, (heads + 2.0 * kv_heads) * m->head_dim, h, 1.0);
	add_adapter(b, t, (heads + 2.0 * kv_heads) * m->head_dim, h);
	add_core(b, heads, kv_heads, m->head_dim, m->head_dim);
	add_linear(b, "attention out", t, h, heads * m->head_dim, 1.0)->saved_B = t * heads * m->head_dim * b->act_B;
}

static void add_ffn(struct builder *b, double tokens, double ffn, double batch)
{
	const struct jl_transformer *m = b->m;
	const double n_up = m->gated ? 2.0 : 1.0, elements = tokens * ffn * batch;
	struct jl_op *op;

	add_linear(b, "ffn up", tokens, n_up * ffn, m->hidden, batch);
	op = add_stream(b, "activation", elements * (n_up + 1.0) * b->act_B, 10.0 * elements);
	op->saved_B = elements * (n_up + 1.0) * b->act_B; /* input, and output for the product after it */
	op->dropped_B = elements * n_up * b->act_B;
	op->selective = b->s->flash;
	op->n_kernels = n_up;
	add_linear(b, "ffn down", tokens, m->hidden, ffn, batch);
}

static void add_moe(struct builder *b)
{
	const struct jl_moe *moe = &b->m->moe;
	const double t = b->tokens, h = b->m->hidden, local = fmax(moe->n_experts / b->s->ep, 1.0);
	struct jl_op *op;

	add_linear(b, "router", t, moe->n_experts, h, 1.0);
	op = add_stream(b, "dispatch", 4.0 * t * moe->top_k * h * b->act_B, 0.0); /* permute there and back */
	op->bwd_moved_frac = 1.0;
	op->saved_B = t * moe->top_k * h * b->act_B;
	op->n_kernels = 8.0;
	add_ffn(b, t * moe->top_k / local, moe->expert_ffn / b->s->tp, local);
	if (moe->n_shared > 0.0)
		add_ffn(b, t, moe->n_shared * moe->expert_ffn / b->s->tp, 1.0);
}

static void add_layer(struct builder *b, int is_moe)
{
	add_norm(b, "norm");
	add_attention(b);
	add_residual(b, "residual");
	add_norm(b, "norm");
	if (b->m->post_norm) {
		add_norm(b, "norm");
		add_norm(b, "norm");
	}
	if (is_moe)
		add_moe(b);
	else
		add_ffn(b, b->tokens, b->m->ffn / b->s->tp, 1.0);
	add_residual(b, "residual");
}

static void add_embed(struct builder *b)
{
	struct jl_op *op = add_stream(b, "embedding", 2.0 * b->seq_tokens * b->m->hidden * b->act_B, 0.0);

	op->n_kernels = 3.0;
	op->bwd_moved_frac = b->s->frozen ? 0.0 : 2.0;
	op->saved_B = 8.0 * b->tokens;
	if (b->m->embed_norm)
		add_norm(b, "norm");
}

static void add_head(struct builder *b)
{
	const struct jl_transformer *m = b->m;
	const double t = b->tokens * (m->head == JL_HEAD_LM ? 1.0 : m->head_tokens_frac), vocab = m->vocab / b->s->tp;
	struct jl_op *op;

	if (m->final_norm)
		add_norm(b, "norm");
	if (m->head == JL_HEAD_SPAN)
		return;
	const double whole = 16.0 / b->act_B, wide = b->s->padded ? ceil(vocab / whole) * whole : vocab;

	op = add_op(b, "logits", JL_OP_GEMM); /* not in fp8: frameworks keep the last product in 16 bits */
	op->u.gemm = (struct jl_gemm){ .m = t,
				       .n = wide,
				       .k = m->hidden,
				       .batch = 1.0,
				       .dtype = b->s->dtype == JL_FP8 ? b->s->act_dtype : b->s->dtype,
				       .out_B = b->act_B };
	op->trained = !b->s->frozen;
	op->needs_dgrad = 1;
	op->saved_B = t * m->hidden * b->act_B;
	/* Read for the sums, read for the gradient and written; else an fp32 softmax and its copies. */
	op = add_stream(b, "loss", t * vocab * (b->s->thin_loss ? b->act_B : b->act_B + 4.0 + 4.0), 5.0 * t * vocab);
	op->saved_B = t * vocab * (b->s->thin_loss ? b->act_B : 4.0);
	op->bwd_moved_frac = b->s->thin_loss ? 2.0 : 1.0;
	op->n_kernels = b->s->thin_loss ? 3.0 : 6.0;
}

void jl_transformer_ops(const struct jl_transformer *model, const struct jl_shard *shard, enum jl_block_kind block,
			struct jl_op_list *ret_list)
{
	struct builder b = { .list = ret_list, .m = model, .s = shard };

	b.act_B = jl_dtype_B(shard->act_dtype);
	b.tokens = shard->micro_batch * shard->seq / shard->cp;
	b.seq_tokens = shard->sp ? b.tokens / shard->tp : b.tokens;
	ret_list->n_op = 0;
	ret_list->wgrad_B = shard->wgrad_B;
	ret_list->input_B = b.seq_tokens * model->hidden * b.act_B;
	if (block == JL_BLOCK_EMBED)
		add_embed(&b);
	else if (block == JL_BLOCK_HEAD)
		add_head(&b);
	else
		add_layer(&b, block == JL_BLOCK_MOE);
}
