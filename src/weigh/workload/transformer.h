/* A transformer as a workload: its shape, its exact number of parameters, and its operators. Pure functions. */
#pragma once

#include "base/err.h"
#include "model/layer.h"
#include "model/profile.h"

enum jl_norm { JL_NORM_LAYER, JL_NORM_RMS }; /* LayerNorm has a bias, RMSNorm has none */

/* What sits on top of the last layer. */
enum jl_head {
	JL_HEAD_LM,  /* every token is projected onto the vocabulary */
	JL_HEAD_MLM, /* only the masked tokens are (BERT pre-training) */
	JL_HEAD_SPAN /* two outputs a token (question answering): no vocabulary product */
};

struct jl_moe { /* all zero: a dense model */
	double n_experts, top_k, expert_ffn;
	double n_shared;       /* shared experts, each expert_ffn wide */
	double n_dense_layers; /* the first layers that keep the dense feed-forward part */
};

struct jl_mla {                                            /* multi-head latent attention; kv_lora 0: plain attention */
	double q_lora, kv_lora, rope_dim, nope_dim, v_dim; /* q_lora 0: queries are not compressed */
};

struct jl_transformer {
	double n_layers, hidden, heads, kv_heads, head_dim, ffn, vocab;
	double n_positions; /* learned positions; 0: rotary, ALiBi or none */
	double n_types;     /* token types (BERT: 2) */
	int gated;          /* three feed-forward matrices instead of two */
	int tied;           /* the logits use the embedding */
	int bias;           /* linear layers have a bias */
	int qkv_bias;       /* only the q, k and v products have one (Qwen2) */
	int qk_norm;        /* a norm over each head's q and k (Qwen3) */
	int post_norm;      /* four norms a layer instead of two (Gemma 2) */
	int final_norm;     /* a norm before the logits */
	int embed_norm;     /* a norm after the embedding (BERT, BLOOM) */
	int pooler;         /* BERT's dense layer on the first token */
	int mlm_transform;  /* BERT's dense layer and norm before the logits, and the logits' bias */
	int causal;
	int alibi;
	int dropout; /* kept masks cost a byte an element */
	enum jl_norm norm;
	enum jl_head head;
	double head_tokens_frac; /* share of the tokens that reach the logits; 1 for JL_HEAD_LM */
	struct jl_moe moe;
	struct jl_mla mla;
};

/* Parameters by part. */
struct jl_transformer_params {
	double dense_layer; /* one dense layer */
	double moe_layer;   /* one mixture layer, all its experts */
	double moe_expert;  /* of which: the routed experts */
	double embed;       /* token, position and type tables, their norm */
	double head;        /* final norm, logits (0 where tied), pooler, transform */
	double total;
	double active; /* touched by one token */
	double n_dense_layers, n_moe_layers;
};

/* Is the shape possible? Says what would be right. */
enum jl_status jl_transformer_check(const struct jl_transformer *model, struct jl_err *err);

struct jl_transformer_params jl_transformer_params(const struct jl_transformer *model);

/* Multiply-adds times two that one token costs forward, attention over `seq` positions included (halved where causal
 * and `count_causal`). */
double jl_transformer_fwd_flop(const struct jl_transformer *model, double seq, int count_causal);

/* How a layer is cut and run; what the operators of one micro-batch depend on. */
struct jl_shard {
	double micro_batch, seq;
	double tp, cp, ep;
	int sp; /* sequence parallel: norms and residuals are cut by tp as well */
	int flash;
	enum jl_dtype dtype;     /* of matrix products */
	enum jl_dtype act_dtype; /* of activations in memory */
	int frozen;              /* adapters only: no weight gradients (LoRA) */
	double lora_rank;        /* with frozen: width of the adapters */
	int quantized;           /* with frozen: weights are unpacked from 4 bits before each product */
	int padded;              /* products are padded until their rows start on 16 bytes */
	int thin_loss;           /* the loss reads the logits and writes their gradient, and makes no fp32 copy */
	enum jl_fusion fusion;   /* which operations are kernels of their own */
	int autocast;            /* weights, norms and residuals in fp32, products in 16 bits, casts between them */
	double wgrad_B;          /* bytes that a weight gradient moves per element; 0: as activations */
};

/* Bytes a logit that the loss keeps for its backward pass. */
double jl_loss_kept_B(const struct jl_shard *shard);

/* The operators of one layer, the embedding or the head for one micro-batch on one device, forward. */
void jl_transformer_ops(const struct jl_transformer *model, const struct jl_shard *shard, enum jl_block_kind block,
			struct jl_op_list *ret_list);
