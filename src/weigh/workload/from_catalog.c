#include "workload/from_catalog.h"

#include <string.h>

enum trait {
	POST_NORM = 1 << 0,  /* a norm after each part as well */
	EMBED_NORM = 1 << 1, /* a norm after the embedding */
	ALIBI = 1 << 2,      /* no position table and no rotation */
	ENCODER = 1 << 3,    /* no causal mask; trained on masked tokens */
	DROPOUT = 1 << 4     /* the original recipe trains with it */
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
};

#define MASKED_FRAC 0.15 /* of the tokens, in BERT's pre-training */

static unsigned traits_of(const char *family)
{
	for (size_t i = 0; family && i < sizeof(families) / sizeof(*families); i++)
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
		.alibi = (traits & ALIBI) != 0,
		.dropout = (traits & DROPOUT) != 0,
		.norm = info->rms_norm ? JL_NORM_RMS : JL_NORM_LAYER,
		.head = encoder ? JL_HEAD_MLM : JL_HEAD_LM,
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
