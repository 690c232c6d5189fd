/* Shape, parameter count and FLOP of a transformer. */
#include "program/transformer.h"

#include <math.h>
#include <string.h>

static int is_count(double x, double max)
{
	return x >= 1.0 && x <= max && floor(x) == x;
}

struct limit {
	const char *name;
	double value, max;
};

enum jl_status jl_transformer_check(const struct jl_transformer *m, struct jl_err *err)
{
	/* far above existing models, and low enough for exact doubles */
	const struct limit limits[] = {
		{ "layers", m->n_layers, 1e5 },   { "hidden", m->hidden, 1e6 },     { "heads", m->heads, 1e5 },
		{ "kv_heads", m->kv_heads, 1e5 }, { "head_dim", m->head_dim, 1e5 }, { "ffn", m->ffn, 1e7 },
		{ "vocab", m->vocab, 1e8 },
	};

	for (size_t i = 0; i < JL_LEN(limits); i++)
		if (!is_count(limits[i].value, limits[i].max))
			return jl_fail(err, JL_E_RANGE, "%s is %g; it must be a whole number from 1 to %g",
				       limits[i].name, limits[i].value, limits[i].max);
	if (fmod(m->heads, m->kv_heads) != 0.0)
		return jl_fail(err, JL_E_RANGE, "kv_heads %g does not divide heads %g", m->kv_heads, m->heads);
	if (m->moe.n_experts > 0.0 && (!is_count(m->moe.n_experts, 1e6) || !is_count(m->moe.top_k, m->moe.n_experts) ||
				       !is_count(m->moe.expert_ffn, 1e7) || m->moe.n_dense_layers > m->n_layers))
		return jl_fail(err, JL_E_RANGE,
			       "mixture of %g experts, %g a token, %g wide is not possible: 1 <= top_k <= experts",
			       m->moe.n_experts, m->moe.top_k, m->moe.expert_ffn);
	return JL_OK;
}

static double norm_params(const struct jl_transformer *m)
{
	return m->norm == JL_NORM_LAYER ? 2.0 * m->hidden : m->hidden;
}

static double attention_params(const struct jl_transformer *m)
{
	const double h = m->hidden, q = m->heads * m->head_dim, kv = m->kv_heads * m->head_dim;

	if (m->mla.kv_lora > 0.0) {
		const struct jl_mla *a = &m->mla;
		const double q_dim = m->heads * (a->nope_dim + a->rope_dim);
		const double q_part = a->q_lora > 0.0 ? h * a->q_lora + a->q_lora + a->q_lora * q_dim : h * q_dim;

		return q_part + h * (a->kv_lora + a->rope_dim) + a->kv_lora +
		       a->kv_lora * m->heads * (a->nope_dim + a->v_dim) + m->heads * a->v_dim * h;
	}
	return h * (2.0 * q + 2.0 * kv) +
	       (m->bias       ? q + 2.0 * kv + h
		: m->qkv_bias ? q + 2.0 * kv
			      : 0.0) +
	       (m->qk_norm ? 2.0 * m->head_dim : 0.0);
}

static double ffn_params(const struct jl_transformer *m, double ffn)
{
	const double n_up = m->gated ? 2.0 : 1.0;

	return (n_up + 1.0) * m->hidden * ffn + (m->bias ? n_up * ffn + m->hidden : 0.0);
}

struct jl_transformer_params jl_transformer_params(const struct jl_transformer *m)
{
	const double h = m->hidden, norms = (m->post_norm ? 4.0 : 2.0) * norm_params(m);
	const double common = attention_params(m) + norms;
	struct jl_transformer_params p = { .n_dense_layers = m->n_layers };

	p.dense_layer = common + ffn_params(m, m->ffn);
	p.embed = h * (m->vocab + m->n_positions + m->n_types) + (m->embed_norm ? norm_params(m) : 0.0);
	p.head = (m->final_norm ? norm_params(m) : 0.0) + (m->tied ? 0.0 : m->vocab * h) +
		 (m->pooler ? h * h + h : 0.0) + (m->mlm_transform ? h * h + h + norm_params(m) + m->vocab : 0.0);
	if (m->moe.n_experts > 0.0) {
		p.n_dense_layers = m->moe.n_dense_layers;
		p.n_moe_layers = m->n_layers - p.n_dense_layers;
		p.moe_expert = m->moe.n_experts * ffn_params(m, m->moe.expert_ffn);
		p.moe_layer = common + p.moe_expert + m->moe.n_experts * h +
			      m->moe.n_shared * ffn_params(m, m->moe.expert_ffn);
	}
	p.total = p.n_dense_layers * p.dense_layer + p.n_moe_layers * p.moe_layer + p.embed + p.head;
	p.active = p.total;
	if (p.n_moe_layers > 0.0)
		p.active -= p.n_moe_layers * p.moe_expert * (1.0 - m->moe.top_k / m->moe.n_experts);
	return p;
}

double jl_local_frac(double window, double global_every)
{
	return window > 0.0 ? 1.0 - (global_every > 0.0 ? 1.0 / global_every : 0.0) : 0.0;
}

double jl_transformer_seen_frac(const struct jl_transformer *m, double seq)
{
	const double share = m->window > 0.0 && m->causal ? fmin(1.0, m->window / seq) : 1.0;

	return 1.0 - m->local_frac + m->local_frac * share * (2.0 - share);
}

double jl_transformer_fwd_flop(const struct jl_transformer *m, double seq, int count_causal)
{
	const struct jl_transformer_params p = jl_transformer_params(m);
	const double qk_dim = m->mla.kv_lora > 0.0 ? m->mla.nope_dim + m->mla.rope_dim : m->head_dim;
	const double v_dim = m->mla.kv_lora > 0.0 ? m->mla.v_dim : m->head_dim;
	const double core = 2.0 * m->heads * (qk_dim + v_dim) * seq * (count_causal && m->causal ? 0.5 : 1.0) *
			    jl_transformer_seen_frac(m, seq);
	const double logits = m->head == JL_HEAD_SPAN ? 0.0 : 2.0 * m->vocab * m->hidden * m->head_tokens_frac;
	const double layers = p.active - p.embed - p.head;

	return 2.0 * layers + m->n_layers * core + logits;
}

double jl_shard_sequences(const struct jl_shard *shard)
{
	return shard->micro_batch * (shard->copies > 0.0 ? shard->copies : 1.0);
}

double jl_loss_kept_B(const struct jl_shard *shard)
{
	const double act_B = jl_dtype_B(shard->act_dtype);

	if (shard->thin_loss)
		return act_B;
	if (shard->written_out & JL_WRITTEN_LOSS) /* log-softmax; the fp32 logits are returned too */
		return 8.0;
	if (shard->fusion == JL_FUSION_NONE) /* log-softmax and its fp32 copy */
		return shard->autocast ? act_B + 4.0 : act_B;
	return 4.0;
}

enum trait {
	POST_NORM = 1 << 0,  /* norms after each part too */
	EMBED_NORM = 1 << 1, /* norm after the embedding */
	ALIBI = 1 << 2,      /* no position table, no rotation */
	ENCODER = 1 << 3,    /* no causal mask; trained on masked tokens */
	DROPOUT = 1 << 4     /* dropout in the original recipe */
};

static const struct {
	const char *family;
	unsigned traits;
} families[] = {
	{ "bert", ENCODER | EMBED_NORM | DROPOUT },
	{ "gpt2", DROPOUT },
	{ "opt", DROPOUT },
	{ "bloom", ALIBI | EMBED_NORM },
	{ "mpt", ALIBI },
	{ "gemma2", POST_NORM },
	{ "gemma3", POST_NORM },
	{ "vit", ENCODER },
};

#define MASKED_FRAC 0.15 /* of the tokens, in BERT pre-training */

static unsigned traits_of(const char *family)
{
	for (size_t i = 0; family && i < JL_LEN(families); i++)
		if (strcmp(families[i].family, family) == 0)
			return families[i].traits;
	return 0;
}

void jl_transformer_from_catalog(struct jl_transformer *ret_model, const struct jl_model_info *info)
{
	const unsigned traits = traits_of(info->family);
	const bool encoder = (traits & ENCODER) != 0;

	*ret_model = (struct jl_transformer){
		.n_layers = info->n_layers,
		.hidden = info->hidden,
		.heads = info->heads,
		.kv_heads = info->kv_heads,
		.head_dim = info->head_dim,
		.ffn = info->ffn,
		.vocab = info->vocab,
		.n_positions = info->positions > 0 ? info->positions : 0,
		.n_types = info->token_types > 0 ? info->token_types : 0,
		.gated = info->gated,
		.tied = info->tied,
		.bias = info->bias,
		.qkv_bias = info->qkv_bias,
		.qk_norm = info->qk_norm,
		.post_norm = (traits & POST_NORM) != 0,
		.final_norm = info->final_norm,
		.embed_norm = (traits & EMBED_NORM) != 0,
		.pooler = info->pooler,
		.mlm_transform = info->mlm_head,
		.causal = !encoder,
		.window = info->window > 0 ? info->window : 0,
		.local_frac = jl_local_frac(info->window, info->global_every),
		.alibi = (traits & ALIBI) != 0,
		.dropout = (traits & DROPOUT) != 0,
		.norm = info->rms_norm ? JL_NORM_RMS : JL_NORM_LAYER,
		.head = info->embeds ? JL_HEAD_SPAN
			: encoder    ? JL_HEAD_MLM
				     : JL_HEAD_LM,
		.head_tokens_frac = encoder ? MASKED_FRAC : 1.0,
	};
	if (info->moe.n_experts > 0)
		ret_model->moe = (struct jl_moe){ .n_experts = info->moe.n_experts,
						  .top_k = info->moe.top_k,
						  .expert_ffn = info->moe.expert_ffn,
						  .n_shared = info->moe.n_shared,
						  .n_dense_layers = info->moe.n_dense_layers };
	if (info->mla.kv_lora > 0)
		ret_model->mla = (struct jl_mla){ .q_lora = info->mla.q_lora > 0 ? info->mla.q_lora : 0,
						  .kv_lora = info->mla.kv_lora,
						  .rope_dim = info->mla.rope_dim,
						  .nope_dim = info->mla.nope_dim,
						  .v_dim = info->mla.v_dim };
}

int jl_transformer_spells_attention(const struct jl_transformer *model, enum jl_dtype dtype, enum jl_fusion fusion)
{
	const int grouped = model->kv_heads < model->heads &&
			    model->mla.kv_lora <= 0.0; /* with latents every head has its own keys and values */

	return grouped && jl_dtype_B(dtype) >= 4.0 && !jl_fusion_by_hand(fusion);
}
