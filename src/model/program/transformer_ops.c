/* Operators of a transformer: products and streams of one micro-batch under a given sharding. */
#include "program/transformer.h"

#include <math.h>

#include "base/msg.h"
#include "program/tune.h"

struct builder {
	struct jl_op_list *list;
	const struct jl_transformer *m;
	const struct jl_shard *s;
	double act_B;      /* bytes per activation element */
	double kept_B;     /* bytes per element kept for a weight gradient, in the format that the product reads */
	double wide_B;     /* bytes per element of norms and residuals: 4 under autocast */
	double tokens;     /* tokens of one device's micro-batch */
	double seq_tokens; /* the same, divided by sequence parallelism */
	int frozen;        /* no weight gradients of products */
	int still;         /* no gradients of embedding and logits */
};

/* SM clocks per element of kernels limited by issue: row reductions, transcendentals, widening casts. Measured on an H200 with PyTorch 2.11
 * (data/validation/ops_h200.csv); used for other GPUs too. */
static const struct {
	double norm, norm_row[2], weight_sum, gelu, gelu_back, widen, softmax, softmax_long, softmax_back, loss,
		loss_back, dropout, sum, turn;
} clocks = {
	.norm = 0.45,
	.norm_row = { [JL_NORM_LAYER] = 330.0, [JL_NORM_RMS] = 150.0 }, /* per row of any width */
	.weight_sum = 0.75,
	.gelu = 0.34,
	.gelu_back = 0.46,
	.widen = 0.75,
	.softmax = 0.42, /* rows up to 1,024, which stay in registers */
	.softmax_long = 0.72,
	.softmax_back = 0.4,
	.loss = 0.36,
	.loss_back = 0.48,
	.dropout = 0.46,
	.sum = 0.25,
	.turn = 0.85, /* copies to and from heads-contiguous layout */
};

static struct jl_op *add_op(struct builder *b, const char *name, enum jl_op_kind kind)
{
	/* a test checks that no list exceeds the limit; beyond it the last entry would be overwritten */
	struct jl_op *op = &b->list->op[b->list->n_op < JL_MAX_OPS ? b->list->n_op++ : JL_MAX_OPS - 1];

	*op = (struct jl_op){ .name = name, .kind = kind, .n_kernels = 1.0, .n_back = 1.0 };
	return op;
}

/* Adds a kernel that moves fwd_B and back_B bytes per element, forward and backward. */
static struct jl_op *add_stream(struct builder *b, const char *name, double elements, double fwd_B, double back_B)
{
	struct jl_op *op = add_op(b, name, JL_OP_STREAM);

	op->u.stream = (struct jl_stream){ .moved_B = elements * fwd_B };
	op->back = (struct jl_stream){ .moved_B = elements * back_B };
	op->n_kernels = fwd_B > 0.0;
	op->n_back = back_B > 0.0;
	return op;
}

static void set_clocks(struct jl_op *op, double elements, double fwd, double back)
{
	op->u.stream.clocks = elements * fwd;
	op->back.clocks = elements * back;
}

static int unfused(const struct builder *b)
{
	return b->s->fusion == JL_FUSION_NONE;
}

static int compiled(const struct builder *b)
{
	return b->s->fusion == JL_FUSION_COMPILER;
}

static int own(const struct builder *b)
{
	return b->s->fusion == JL_FUSION_OWN;
}

/* Autocast narrows a product's input and widens its gradient. A compiler narrows activations where they are computed, but casts weights like the
 * others. */
static void add_cast(struct builder *b, const char *name, double elements)
{
	struct jl_op *op;

	if (!b->s->autocast)
		return;
	op = add_stream(b, name, elements, 4.0 + b->act_B, 4.0 + b->act_B);
	set_clocks(op, elements, 0.0, unfused(b) ? clocks.widen : 0.0);
	op->light = 1;
}

/* Bias gradient. Hand-written code fuses it into the previous product; a compiler uses two kernels with partial sums. */
static void add_bias_gradient(struct builder *b, double m, double n)
{
	struct jl_op *op;

	if (jl_fusion_by_hand(b->s->fusion) || !b->m->bias || b->frozen)
		return;
	op = add_stream(b, JL_N("bias gradient"), m * n, 0.0, b->act_B);
	set_clocks(op, m * n, 0.0, unfused(b) ? clocks.sum : 0.0);
	op->n_back = unfused(b) ? 1.0 : 2.0;
	if (b->s->autocast) { /* casts of the bias and of its gradient */
		op = add_stream(b, JL_N("bias casts"), n, 4.0 + b->act_B, unfused(b) ? 4.0 + b->act_B : 0.0);
		op->light = 1;
	}
}

/* Launches of experts: Transformer Engine and plain loops launch each expert's kernels, compiled code one for all. A launch in the library's loop
 * is cheaper; it is counted here as a share of a framework launch. */
static void launch_each(const struct builder *b, struct jl_op *op, double n_experts)
{
	const double times = compiled(b) ? 1.0 : 1.0 + b->s->expert_call_frac * (n_experts - 1.0);

	op->n_kernels *= times;
	op->n_back *= times;
}

/* A linear layer: the product, and kernels added by the number format or frozen weights. */
static struct jl_op *add_linear(struct builder *b, const char *name, double m, double n, double k, double batch)
{
	const struct jl_shard *s = b->s;
	struct jl_op *op;

	if (!b->frozen)
		add_cast(b, JL_N("weight casts"), n * k * batch);
	if (s->dtype == JL_FP8) {
		/* the previous kernel writes one byte instead of 16 bits, a transposed copy is made for the weight gradient, and the output's
		 * gradient is read once and written twice */
		launch_each(b, add_stream(b, JL_N("fp8 cast"), m * k * batch, 2.0, n * (b->act_B + 2.0) / k), batch);
	}
	if (b->frozen && s->tune.base != JL_BASE_SAME) {
		const double act_B = jl_dtype_B(s->act_dtype), each_B = jl_base_B(s->tune.base, act_B) + act_B,
			     each = jl_base_clocks(s->tune.base) *
				    (s->tune.unpack_ratio > 0.0 ? s->tune.unpack_ratio : 1.0);

		set_clocks(add_stream(b, JL_N("unpack weights"), n * k * batch, each_B, each_B), n * k * batch, each,
			   each);
		b->list->beside_B = fmax(b->list->beside_B, n * k * act_B);
	}
	add_bias_gradient(b, m * batch, n);
	op = add_op(b, name, JL_OP_GEMM);
	op->u.gemm = (struct jl_gemm){ .m = m, .n = n, .k = k, .batch = batch, .dtype = s->dtype, .out_B = b->act_B };
	op->trained = !b->frozen;
	op->needs_dgrad = 1;
	launch_each(b, op, batch);
	/* PyTorch's selective recompute repeats every second product: the second, fourth and sixth of a layer's seven */
	if (s->flash && !jl_fusion_by_hand(s->fusion))
		op->selective = 3.0 / 7.0;
	return op;
}

/* Number of `targets` that have adapters. */
static double n_aimed(const struct builder *b, unsigned targets)
{
	return b->frozen && b->s->tune.rank > 0.0 ? __builtin_popcount(b->s->tune.targets & targets) : 0.0;
}

/* Number of products for `targets`; a fused q, k and v product counts once. */
static double n_linear(const struct builder *b, unsigned targets)
{
	return targets & JL_TARGET_QKV ? 1.0 : n_aimed(b, targets);
}

/* True if the products' input is kept: for weight gradients, adapters, or dequantised weights. */
static int keeps_input(const struct builder *b, unsigned targets)
{
	return !b->frozen || n_aimed(b, targets) > 0.0 || b->s->tune.base != JL_BASE_SAME;
}

/* DoRA row lengths: computes the adapters' product and its sum with the weights, and repeats the frozen product. */
static void add_lengths(struct builder *b, double m, double n, double k)
{
	struct jl_op *op = add_stream(b, JL_N("weight lengths"), n * k, 6.0 * b->act_B, 0.0);

	op->n_kernels = 5.0;
	add_linear(b, JL_N("frozen product again"), m, n, k, 1.0);
}

/* Adapters beside frozen products of `n` outputs from `k` inputs: two thin products each, limited by reading and writing activations. Unfused:
 * separate scaling, addition and dropout. */
static void add_adapter(struct builder *b, unsigned targets, double m, double n, double k)
{
	const struct jl_tune *t = &b->s->tune;
	const double a = b->act_B, times = n_aimed(b, targets), drop = t->dropout;
	const int fused = jl_fusion_by_hand(b->s->fusion);
	const double all = times > 0.0 ? n_aimed(b, targets) / __builtin_popcount(targets & ~(unsigned)JL_TARGET_QKV)
				       : 0.0;
	/* number of outputs of all of them together */
	const double out = t->targets & targets & JL_TARGET_QKV ? n : n * all;
	struct jl_op *op;

	if (times <= 0.0)
		return;
	if (t->scales) { /* shift and scale forward; backward a product for each, and sums over the tokens */
		op = add_stream(b, JL_N("adapters"), m * out, 4.0 * a, 7.0 * a);
		op->n_kernels = 2.0 * n_linear(b, targets);
		op->n_back = 4.0 * n_linear(b, targets);
		op->saved_B = m * out * a;
		return;
	}
	op = add_stream(b, JL_N("adapters"), m,
			a * (times * (k + 2.0 * t->rank) + (fused ? 2.0 : 6.0) * out) +
				drop * times * (2.0 * a + 1.0) * k,
			a * (times * ((fused ? 2.0 : 5.0) * k + 4.0 * t->rank) + (fused ? 2.0 : 4.0) * out) +
				drop * times * (2.0 * a + 1.0) * k);
	op->n_kernels = times * (fused ? 2.0 : 4.0 + drop);
	op->n_back = times * (fused ? 4.0 : 7.0 + drop);
	op->saved_B = m * times * (t->rank * a + drop * k * (a + 1.0));
	if (t->kind == JL_TUNE_DORA)
		add_lengths(b, m, out, k);
}

/* Bottleneck adapter on the branch; its output is added to its input. */
static void add_bottleneck(struct builder *b)
{
	const double a = b->act_B, h = b->m->hidden, rank = b->s->tune.rank;
	struct jl_op *op;

	if (b->s->tune.kind != JL_TUNE_ADAPTER)
		return;
	op = add_stream(b, JL_N("adapters"), b->tokens, a * (5.0 * h + 4.0 * rank), a * (9.0 * h + 8.0 * rank));
	op->n_kernels = 4.0;
	op->n_back = 8.0;
	op->saved_B = b->tokens * a * (h + 2.0 * rank);
}

/* Gradients of a norm's scale and shift: sums over all rows, one thread block per 32 columns, so narrow layers leave most SMs idle. (A block issues
 * as much as three SMs can: memory latency limits wide layers sooner.) Compilers compute them inside the norm. */
static void add_norm_sums(struct builder *b, double elements)
{
	struct jl_op *op;

	if (!unfused(b) || b->frozen)
		return;
	op = add_op(b, JL_N("norm weight gradient"), JL_OP_STREAM);
	op->n_kernels = 0.0;
	op->back = (struct jl_stream){ .clocks = elements * clocks.weight_sum, .most_sm = 3.0 / 32.0 * b->m->hidden };
}

/* A norm, and the copies of its output that products take. `n_uses`: number of readers; `targets`: readers with adapters. */
static void add_norm(struct builder *b, const char *name, double n_uses, unsigned targets)
{
	const double elements = b->seq_tokens * b->m->hidden, w = b->wide_B, a = b->act_B;
	const double drop = compiled(b) ? b->m->dropout : 0.0; /* dropout mask of the branch before it */
	const int spelled = b->s->written_out & JL_WRITTEN_NORM && unfused(b) && b->m->norm == JL_NORM_RMS;
	struct jl_op *op;

	if (spelled) /* Hugging Face RMSNorm: convert, square, sum, scale, convert, multiply by the weights */
		op = add_stream(b, name, elements, 28.0 + 4.0 * a, 36.0 + 6.0 * a);
	else if (compiled(b) || own(b)) /* includes the residual before and the cast behind it, in both directions */
		op = add_stream(b, name, elements, 2.0 * w + 2.0 * a + drop, 3.0 * w + 2.0 * a + drop);
	else
		op = add_stream(b, name, elements, 2.0 * w, 3.0 * w);
	if (!spelled)
		set_clocks(op, elements,
			   clocks.norm + clocks.norm_row[b->m->norm] / b->m->hidden + drop * clocks.dropout,
			   unfused(b)    ? 0.0
			   : compiled(b) ? 1.05
					 : 1.75);
	/* a compiler sums scale and shift gradients in two stages, the second in separate kernels */
	op->n_back = !compiled(b) ? 1.0 : b->m->norm == JL_NORM_LAYER ? 4.0 : 3.0;
	/* keeps the input, and the output for the next product; selective recompute keeps the layer's input, the attention's keys, values and
	 * output and one feed-forward product, and recomputes the rest */
	op->saved_B = elements * (w + b->kept_B + drop);
	op->selective = b->s->flash;
	op->dropped_B = elements * (b->list->n_op > 1 ? w + b->kept_B : b->kept_B);
	if (spelled) {
		op->n_kernels = 6.0;
		op->n_back = b->frozen ? 9.0 : 11.0;
		op->saved_B = elements * (4.0 + (b->frozen ? a : 2.0 * a));
	}
	if (!keeps_input(b, targets))
		op->saved_B -= elements * b->kept_B;
	if (!spelled)
		add_norm_sums(b, elements);
	if (!unfused(b))
		return;
	for (double i = 0.0; i < n_uses; i++)
		add_cast(b, JL_N("activation cast"), elements);
	if (n_uses > 1.0)
		add_stream(b, JL_N("sum of gradients"), elements * (n_uses - 1.0), 0.0, 3.0 * w);
}

/* Residual addition: a separate kernel, or inside the next norm with a compiler. */
static void add_residual(struct builder *b, const char *name)
{
	const double elements = b->seq_tokens * b->m->hidden, a = b->act_B, w = b->wide_B, drop = b->m->dropout;
	struct jl_op *op;

	if (own(b) || compiled(b)) /* part of the next norm */
		return;
	if (b->s->fusion == JL_FUSION_HAND) {
		op = add_stream(b, name, elements, 3.0 * a + drop, 3.0 * a + drop);
		op->saved_B = drop * elements;
		return;
	}
	if (drop > 0.0) {
		op = add_stream(b, JL_N("dropout"), elements, 2.0 * a + 1.0, 2.0 * a + 1.0);
		set_clocks(op, elements, clocks.dropout, 0.0);
		op->saved_B = elements;
	}
	add_stream(b, name, elements, a + 2.0 * w, 3.0 * w);
	if (b->s->autocast)
		add_stream(b, JL_N("gradient cast"), elements, 0.0, 4.0 + a)->light = 1;
}

/* Rotary position embedding of q and k; unfused: products, a negation, a concatenation and a sum. */
static void add_rotary(struct builder *b, double elements)
{
	const double a = b->act_B;
	struct jl_op *op;

	if (!unfused(b)) {
		add_stream(b, JL_N("rotary"), elements, 2.0 * a, 2.0 * a)->n_kernels = compiled(b) ? 1.0 : 2.0;
		return;
	}
	/* cos and sin are fp32: under autocast the sum is fp32 too, and is cast for the attention */
	op = b->s->autocast ? add_stream(b, JL_N("rotary"), elements, 3.0 * a + 28.0, 3.0 * a + 34.0)
			    : add_stream(b, JL_N("rotary"), elements, 10.0 * a, 11.0 * a);
	op->n_kernels = b->s->autocast ? 12.0 : 10.0;
	op->n_back = b->s->autocast ? 16.0 : 10.0;
}

/* Copies to and from the layout of batched products. PyTorch's unfused attention also repeats keys and values for their group and scales queries
 * and keys. */
static void add_head_copies(struct builder *b, double heads, double kv_heads, double qk_dim, int spelled)
{
	const double elements = b->tokens * heads * qk_dim, share = kv_heads / heads;
	struct jl_op *op;

	if (spelled) {
		op = add_stream(b, JL_N("head copies"), elements, (8.0 + 2.0 * share) * b->act_B,
				(12.0 + 2.0 * share) * b->act_B);
		op->n_kernels = unfused(b) ? 5.0 : 4.0;
		op->n_back = unfused(b) ? 10.0 : 3.0;
		return;
	}
	op = add_stream(b, JL_N("head copies"), 4.0 * elements, 2.0 * b->act_B, 1.5 * b->act_B);
	set_clocks(op, 4.0 * elements, clocks.turn, 0.75 * clocks.turn);
	op->n_kernels = 4.0;
	op->n_back = 3.0;
}

/* Kernels on the score matrix of unfused attention. PyTorch's softmax backward has a separate product of gradient and output; under autocast
 * softmax is fp32, with casts around it. */
static void set_scores(const struct builder *b, struct jl_attention *att, int spelled)
{
	const double a = b->act_B, drop = b->m->dropout, w = b->s->autocast ? 4.0 : a,
		     cast = b->s->autocast ? a + 4.0 : 0.0;

	att->soft_clocks = (att->seq_kv > 1024.0 ? clocks.softmax_long : clocks.softmax);
	att->soft_back_clocks = clocks.softmax_back;
	if (spelled) { /* addition of the mask, and a search for fully masked rows; a compiler fuses all into softmax */
		att->score_B = unfused(b) ? 5.0 * a + 3.0 : 0.0;
		att->soft_B = 2.0 * a;
		att->soft_back_B = 3.0 * a;
		return;
	}
	if (!unfused(b)) { /* scale, mask, softmax and dropout fused */
		att->soft_B = 6.5 * a;
		att->soft_back_B = 7.5 * a;
		return;
	}
	att->score_B = 4.0 * a + 2.0 * cast; /* kernels for scale and mask */
	att->soft_B = 2.0 * w + drop * (2.0 * w + 1.0);
	att->soft_clocks += drop * clocks.dropout;
	att->score_back_B = 2.0 * a + 2.0 * cast + 3.0 * w + drop * (2.0 * w + 1.0);
	att->soft_back_B = 3.0 * w;
}

static void add_core(struct builder *b, double heads, double kv_heads, double qk_dim, double v_dim)
{
	const struct jl_shard *s = b->s;
	const double seq_q = s->seq / s->cp, map = jl_shard_sequences(s) * heads * seq_q * s->seq;
	const int turned = b->m->n_positions <= 0.0 && !b->m->alibi;
	const int spelled = s->flash && jl_transformer_spells_attention(b->m, s->dtype, s->fusion);
	const int fused = s->flash && !spelled;
	struct jl_op *op;

	if (turned)
		add_rotary(b, b->tokens * (heads + kv_heads) * qk_dim);
	/* gradients of q, k and v are concatenated for the fused product; a compiler does so in the rotary kernel */
	if (unfused(b) || (compiled(b) && !turned)) {
		const double elements = b->tokens * ((heads + kv_heads) * qk_dim + kv_heads * v_dim);

		op = add_stream(b, JL_N("join gradients"), elements, 0.0, 2.0 * b->act_B);
		set_clocks(op, elements, 0.0, fused || spelled ? 0.0 : clocks.turn);
	}
	if (spelled || (unfused(b) && !fused))
		add_head_copies(b, heads, kv_heads, qk_dim, spelled);
	op = add_op(b, JL_N("attention"), JL_OP_ATTENTION);
	op->u.attention = (struct jl_attention){
		.batch = jl_shard_sequences(s),
		.heads = heads,
		.kv_heads = kv_heads,
		.seq_q = seq_q,
		.seq_kv = s->seq,
		.head_dim = 0.5 * (qk_dim + v_dim),
		.dtype = s->dtype == JL_FP8 ? s->act_dtype : s->dtype,
		.causal = b->m->causal,
		.flash = fused,
		.dropout = b->m->dropout,
		.seen_frac = jl_transformer_seen_frac(b->m, s->seq),
	};
	set_scores(b, &op->u.attention, spelled);
	/* batched products with unaligned rows (16 bytes) do not use tensor cores */
	if (!fused && fmod(qk_dim * b->act_B, 16.0) > 0.0 && b->act_B < 4.0)
		op->u.attention.dtype = JL_FP32;
	op->n_kernels = fused ? 1.0 : spelled ? (unfused(b) ? 13.0 : 3.0) : unfused(b) ? 6.0 : 4.0;
	/* fused fp32: PyTorch's own kernel, with sums and fills around it */
	op->n_back = fused ? (b->act_B < 4.0 ? 3.0 : 5.0) : spelled ? 5.0 : unfused(b) ? 9.0 : 6.0;
	if (fused && b->act_B < 4.0 &&
	    !jl_fusion_by_hand(s->fusion)) { /* cuDNN: unpacks the seed, sums gradients of a group */
		op->n_kernels += b->m->dropout > 0.0;
		op->n_back += kv_heads < heads ? 2.0 : 0.0;
	}
	op->saved_B = b->tokens * ((heads + kv_heads) * qk_dim + kv_heads * v_dim) * b->act_B;
	if (fused) {
		op->dropped_B = b->tokens * heads * qk_dim * b->act_B;
		op->saved_B += b->tokens * heads * 4.0; /* row sums of softmax */
	} else {
		op->dropped_B = map * (b->act_B + (b->m->dropout ? b->act_B + 1.0 : 0.0));
		if (s->written_out & JL_WRITTEN_SCORES) { /* fp32 softmax; two more copies in the backward pass */
			op->dropped_B += map * 4.0;
			b->list->beside_B = fmax(b->list->beside_B, map * 8.0);
		}
		if (spelled || unfused(b)) /* gradients of the scores before and after softmax */
			b->list->beside_B = fmax(b->list->beside_B, map * 2.0 * b->act_B);
		op->saved_B += op->dropped_B;
		op->selective = 1;
	}
}

/* Latent attention: selective recompute repeats queries, keys and values, because they are large and cheap to compute from their latents. */
static void add_latent(struct builder *b, const char *name, double n, double k)
{
	struct jl_op *op = add_linear(b, name, b->tokens, n, k, 1.0);

	op->selective = b->s->flash;
	op->dropped_B = op->selective * b->tokens * n * b->act_B; /* of what the attention keeps, this is dropped */
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
			add_linear(b, JL_N("q down"), t, a->q_lora, h, 1.0);
		add_latent(b, JL_N("q"), heads * qk, a->q_lora > 0.0 ? a->q_lora : h);
		add_linear(b, JL_N("kv down"), t, a->kv_lora + a->rope_dim, h, 1.0);
		add_latent(b, JL_N("kv"), heads * (a->nope_dim + a->v_dim), a->kv_lora);
		add_core(b, heads, heads, qk, a->v_dim);
		add_linear(b, JL_N("attention out"), t, h, heads * a->v_dim, 1.0)->saved_B = t * heads * a->v_dim *
											     b->act_B;
		return;
	}
	add_linear(b, JL_N("qkv"), t, (heads + 2.0 * kv_heads) * m->head_dim, h, 1.0);
	add_adapter(b, JL_TARGET_Q | JL_TARGET_K | JL_TARGET_V | JL_TARGET_QKV, t,
		    (heads + 2.0 * kv_heads) * m->head_dim, h);
	add_core(b, heads, kv_heads, m->head_dim, m->head_dim);
	add_linear(b, JL_N("attention out"), t, h, heads * m->head_dim, 1.0)->saved_B = t * heads * m->head_dim *
											b->act_B;
	add_adapter(b, JL_TARGET_O, t, h, heads * m->head_dim);
	add_bottleneck(b);
}

static void add_ffn(struct builder *b, double tokens, double ffn, double batch)
{
	const struct jl_transformer *m = b->m;
	const double n_up = m->gated ? 2.0 : 1.0, elements = tokens * ffn * batch, a = b->act_B;
	struct jl_op *op;

	const size_t from = b->list->n_op;

	add_linear(b, JL_N("ffn up"), tokens, n_up * ffn, m->hidden, batch);
	for (size_t i = from; m->gated && !jl_fusion_by_hand(b->s->fusion) && i < b->list->n_op;
	     i++) { /* one product each for gate and up */
		b->list->op[i].n_kernels *= 2.0;
		b->list->op[i].n_back *= 2.0;
	}
	add_adapter(b, JL_TARGET_GATE | JL_TARGET_UP, tokens * batch, n_up * ffn, m->hidden);
	if (m->gated && unfused(b)) { /* kernels for activation and multiplication */
		add_stream(b, JL_N("gate"), elements, 3.0 * a, 6.0 * a)->n_back = 2.0;
		op = add_stream(b, JL_N("activation"), elements, 2.0 * a, 3.0 * a);
	} else {
		op = add_stream(b, JL_N("activation"), elements, (n_up + 1.0) * a, (2.0 * n_up + 1.0) * a);
	}
	if (!m->gated && own(b)) /* fused into the neighbouring products, which are limited by arithmetic */
		op->u.stream.moved_B = op->back.moved_B = op->n_kernels = op->n_back = 0.0;
	if (!m->gated)
		set_clocks(op, elements, clocks.gelu, clocks.gelu_back);
	/* keeps the input, and the output if the next product needs it */
	op->saved_B = elements * (n_up * a + (keeps_input(b, JL_TARGET_DOWN) ? b->kept_B : 0.0));
	if (m->gated && unfused(b))
		op->saved_B += elements * a; /* the activated gate is kept for the multiplication */
	op->dropped_B = elements * n_up * a;
	op->selective = b->s->flash;
	add_linear(b, JL_N("ffn down"), tokens, m->hidden, ffn, batch);
	add_adapter(b, JL_TARGET_DOWN, tokens * batch, m->hidden, ffn);
	add_bottleneck(b);
}

static void add_moe(struct builder *b)
{
	const struct jl_moe *moe = &b->m->moe;
	const double t = b->tokens, h = b->m->hidden, local = fmax(moe->n_experts / b->s->ep, 1.0);
	struct jl_op *op;

	add_linear(b, JL_N("router"), t, moe->n_experts, h, 1.0);
	op = add_stream(b, JL_N("dispatch"), t * moe->top_k * h, 4.0 * b->act_B,
			4.0 * b->act_B); /* permute there and back */
	op->saved_B = t * moe->top_k * h * b->kept_B;
	op->n_kernels = 8.0;
	op->n_back = 16.0;
	/* every rank waits for the one with the most loaded expert */
	add_ffn(b, t * moe->top_k / local * fmax(b->s->expert_load, 1.0), moe->expert_ffn / b->s->tp, local);
	if (moe->n_shared > 0.0)
		add_ffn(b, t, moe->n_shared * moe->expert_ffn / b->s->tp, 1.0);
}

static void add_layer(struct builder *b, int is_moe)
{
	add_norm(b, JL_N("norm"), 1.0, JL_TARGET_Q | JL_TARGET_K | JL_TARGET_V | JL_TARGET_QKV);
	add_attention(b);
	add_residual(b, JL_N("residual"));
	add_norm(b, JL_N("norm"), b->m->gated && !is_moe ? 2.0 : 1.0, JL_TARGET_GATE | JL_TARGET_UP);
	if (b->m->post_norm) {
		add_norm(b, JL_N("norm"), 1.0, 0);
		add_norm(b, JL_N("norm"), 1.0, 0);
	}
	if (is_moe)
		add_moe(b);
	else
		add_ffn(b, b->tokens, b->m->ffn / b->s->tp, 1.0);
	add_residual(b, JL_N("residual"));
}

static void add_embed(struct builder *b)
{
	const double elements = b->seq_tokens * b->m->hidden;
	struct jl_op *op = add_stream(b, JL_N("embedding"), elements, 2.0 * b->wide_B,
				      b->still ? 0.0 : 4.0 * b->wide_B);

	op->n_kernels = compiled(b) ? 1.0 : 3.0;
	/* above 3,072 tokens PyTorch accumulates the gradients by sorting: nineteen kernels, from traces */
	op->n_back = b->still ? 0.0 : unfused(b) && b->tokens > 3072.0 ? 22.0 : compiled(b) ? 2.0 : 6.0;
	op->saved_B = 8.0 * b->tokens;
	if (b->m->embed_norm)
		add_norm(b, JL_N("norm"), 1.0, 0);
}

/* Loss over the logits. Unfused: log-softmax, under autocast an fp32 copy for the sum and a narrow one of its gradient, a zero-filled gradient, and
 * the backward of log-softmax. */
static void add_loss(struct builder *b, double logits)
{
	const double a = b->act_B;
	struct jl_op *op;

	if (b->s->thin_loss) { /* read for the sums; read for the gradient and written */
		op = add_stream(b, JL_N("loss"), logits, a, 2.0 * a);
		op->n_kernels = compiled(b) ? 2.0 : 1.0;
	} else if (b->s->written_out & JL_WRITTEN_LOSS) { /* convert, shift by a copy, log-softmax; the same backward */
		op = add_stream(b, JL_N("loss"), logits, a + 20.0, a + 32.0);
		op->n_kernels = 4.0;
		op->n_back = 6.0;
	} else if (unfused(b)) {
		op = b->s->autocast ? add_stream(b, JL_N("loss"), logits, 3.0 * a + 4.0, 4.0 * a + 8.0)
				    : add_stream(b, JL_N("loss"), logits, 2.0 * a, 4.0 * a);
		op->n_kernels = b->s->autocast ? 3.0 : 2.0;
		op->n_back = b->s->autocast ? 4.0 : 3.0;
	} else { /* fp32 softmax with its copies */
		op = add_stream(b, JL_N("loss"), logits, a + 8.0, a + 8.0);
		op->n_kernels = 6.0;
		op->n_back = 6.0;
	}
	set_clocks(op, logits, clocks.loss, clocks.loss_back);
	op->saved_B = logits * jl_loss_kept_B(b->s);
}

static void add_head(struct builder *b)
{
	const struct jl_transformer *m = b->m;
	const double t = b->tokens * (m->head == JL_HEAD_LM ? 1.0 : m->head_tokens_frac), vocab = m->vocab / b->s->tp;
	struct jl_op *op;

	if (m->final_norm)
		add_norm(b, JL_N("norm"), 1.0, 0);
	if (m->head == JL_HEAD_SPAN)
		return;
	const double whole = 16.0 / b->act_B, wide = b->s->padded ? ceil(vocab / whole) * whole : vocab;

	if (!b->still)
		add_cast(b, JL_N("weight casts"), vocab * m->hidden);
	op = add_op(b, JL_N("logits"), JL_OP_GEMM); /* not fp8: frameworks keep the last product in 16 bits */
	op->u.gemm = (struct jl_gemm){ .m = t,
				       .n = wide,
				       .k = m->hidden,
				       .batch = 1.0,
				       .dtype = b->s->dtype == JL_FP8 ? b->s->act_dtype : b->s->dtype,
				       .out_B = b->act_B };
	op->trained = !b->still;
	op->needs_dgrad = 1;
	op->saved_B = t * m->hidden * b->act_B;
	add_loss(b, t * vocab);
}

void jl_transformer_ops(const struct jl_transformer *model, const struct jl_shard *shard, enum jl_block_kind block,
			struct jl_op_list *ret_list)
{
	struct builder b = { .list = ret_list, .m = model, .s = shard, .frozen = jl_tune_frozen(&shard->tune) };

	b.still = shard->tune.kind != JL_TUNE_FULL && !shard->tune.ends;
	/* products over packed weights return their input's format: fp32 behind fp32 norms */
	b.act_B = shard->wide_rest && shard->tune.base != JL_BASE_SAME ? 4.0 : jl_dtype_B(shard->act_dtype);
	b.wide_B = shard->autocast ? 4.0 : b.act_B;
	b.kept_B = shard->dtype == JL_FP8 ? 1.0 : jl_dtype_B(shard->act_dtype);
	b.tokens = jl_shard_sequences(shard) * shard->seq / shard->cp;
	b.seq_tokens = shard->sp ? b.tokens / shard->tp : b.tokens;
	ret_list->n_op = 0;
	ret_list->beside_B = 0.0;
	ret_list->wgrad_B = shard->wgrad_B;
	ret_list->input_B = b.seq_tokens * model->hidden * b.wide_B;
	if (block == JL_BLOCK_EMBED)
		add_embed(&b);
	else if (block == JL_BLOCK_HEAD)
		add_head(&b);
	else
		add_layer(&b, block == JL_BLOCK_MOE);
	for (size_t i = 0; own(&b) && i < ret_list->n_op; i++) {
		struct jl_op *op = &ret_list->op[i];

		op->back.clocks = 0.0;
		if (op->kind == JL_OP_STREAM)
			op->u.stream.clocks = 0.0;
	}
}
