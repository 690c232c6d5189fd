/* A transformer as a workload: its shape, its exact number of parameters, and its operators. Pure functions. */
#pragma once

#include "base/err.h"
#include "catalog/catalog.h"
#include "kernels/layer.h"
#include "timeline/profile.h"

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
	double window;     /* tokens that local layers look back to; 0: every layer sees all */
	double local_frac; /* layers that do so */
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

/* Every so many layers one sees all, the others a window; 0: none does. */
double jl_local_frac(double window, double global_every);

/* Of the pairs of tokens that the mask leaves: those that a layer looks at, on average. */
double jl_transformer_seen_frac(const struct jl_transformer *model, double seq);

struct jl_transformer_params jl_transformer_params(const struct jl_transformer *model);

/* Multiply-adds times two that one token costs forward, attention over `seq` positions included (halved where causal
 * and `count_causal`). */
double jl_transformer_fwd_flop(const struct jl_transformer *model, double seq, int count_causal);

/* What of a model is trained; the rest of it is frozen. */
enum jl_tune_kind {
	JL_TUNE_FULL,
	JL_TUNE_LORA,    /* two thin products beside each product that is aimed at */
	JL_TUNE_DORA,    /* ... and the length of every row of the sum of both */
	JL_TUNE_ADAPTER, /* a narrow layer behind attention and behind the feed-forward part */
	JL_TUNE_LAYERS,  /* the last layers, whole */
	JL_N_TUNE
};

/* Products that adapters stand beside. */
enum jl_target {
	JL_TARGET_Q = 1,
	JL_TARGET_K = 2,
	JL_TARGET_V = 4,
	JL_TARGET_O = 8,
	JL_TARGET_GATE = 16,
	JL_TARGET_UP = 32,
	JL_TARGET_DOWN = 64,
	JL_TARGET_QKV = 128, /* one adapter beside a product that makes q, k and v together */
	JL_TARGETS_ALL = 127
};

/* How frozen weights of the layers are kept; they are unpacked to 16 bits before each product. */
enum jl_base {
	JL_BASE_SAME,  /* as the activations */
	JL_BASE_NF4,   /* 4 bits, scales of blocks of 64 quantised again (bitsandbytes, QLoRA) */
	JL_BASE_NF4_1, /* ... scales in fp32 */
	JL_BASE_INT8,  /* a byte, a scale a row (bitsandbytes' LLM.int8) */
	JL_BASE_GPTQ4, /* 4 or 8 bits, scales of groups of 128 */
	JL_BASE_GPTQ8,
	JL_N_BASE
};

struct jl_tune {
	enum jl_tune_kind kind;
	enum jl_base base;
	double rank;
	unsigned targets; /* enum jl_target */
	double n_layers;  /* JL_TUNE_LAYERS: so many */
	int ends;         /* embedding and logits are trained whole as well */
	int dropout;      /* on what adapters read */
	int scales;       /* no thin products: each output is shifted and scaled by its own number (LLaMA-Adapter v2) */
	double unpack_ratio; /* clocks of unpacking, of what the base's table says; 0: 1 */
};

enum jl_written { JL_WRITTEN_LOSS = 1, JL_WRITTEN_NORM = 2, JL_WRITTEN_SCORES = 4, JL_WRITTEN_ALL = 7 };

/* How a layer is cut and run; what the operators of one micro-batch depend on. */
struct jl_shard {
	double micro_batch, seq;
	double expert_load; /* tokens of the fullest experts, of the mean: 1 where routing is balanced; 0: 1 */
	double expert_call_frac; /* host time of one expert's launch in its library's loop, of a launch of the framework's own; 0: one for all */
	double copies; /* sequences of one sample: a pair (DPO), a group (GRPO); 0: 1 */
	double tp, cp, ep;
	int sp; /* sequence parallel: norms and residuals are cut by tp as well */
	int flash;
	enum jl_dtype dtype;     /* of matrix products */
	enum jl_dtype act_dtype; /* of activations in memory */
	struct jl_tune tune;
	int wide_rest;         /* what is frozen and not packed was made fp32: so are norms and residuals */
	unsigned written_out;  /* enum jl_written: as Hugging Face's models have it, operation by operation, in fp32 */
	int padded;            /* products are padded until their rows start on 16 bytes */
	int thin_loss;         /* the loss reads the logits and writes their gradient, and makes no fp32 copy */
	enum jl_fusion fusion; /* which operations are kernels of their own */
	int autocast;          /* weights, norms and residuals in fp32, products in 16 bits, casts between them */
	double wgrad_B;        /* bytes that a weight gradient moves per element; 0: as activations */
};

/* PyTorch has no fused attention of 32 bits for grouped heads: it spells it out as products and a softmax. */
int jl_transformer_spells_attention(const struct jl_transformer *model, enum jl_dtype dtype, enum jl_fusion fusion);

/* Sequences of one pass. */
double jl_shard_sequences(const struct jl_shard *shard);

/* Bytes a logit that the loss keeps for its backward pass. */
double jl_loss_kept_B(const struct jl_shard *shard);

/* The operators of one layer, the embedding or the head for one micro-batch on one device, forward. */
void jl_transformer_ops(const struct jl_transformer *model, const struct jl_shard *shard, enum jl_block_kind block,
			struct jl_op_list *ret_list);

/* A transformer as the catalog lists it, as the shape that the model computes with. */
/* Shape and parts of `info`; what a record does not say (norms around each part, ALiBi, dropout of the original recipe)
 * comes from its family. */
void jl_transformer_from_catalog(struct jl_transformer *ret_model, const struct jl_model_info *info);
