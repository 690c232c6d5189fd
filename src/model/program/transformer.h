/* A transformer as a workload: shape, exact parameter count, operators. Pure. */
#pragma once

#include "base/err.h"
#include "catalog/catalog.h"
#include "kernels/layer.h"
#include "timeline/profile.h"

enum jl_norm { JL_NORM_LAYER, JL_NORM_RMS }; /* LayerNorm has a bias, RMSNorm has none */

/* What follows the last layer. */
enum jl_head {
	JL_HEAD_LM,  /* logits for every token */
	JL_HEAD_MLM, /* logits for masked tokens only (BERT pre-training) */
	JL_HEAD_SPAN /* two outputs per token (question answering) or a vector per sequence; no vocabulary product */
};

struct jl_moe { /* mixture of experts; all zero: dense model */
	double n_experts, top_k, expert_ffn;
	double n_shared;       /* shared experts, each of width expert_ffn */
	double n_dense_layers; /* first layers with a dense feed-forward part */
};

struct jl_mla { /* multi-head latent attention; kv_lora 0: standard attention */
	double q_lora, kv_lora, rope_dim, nope_dim, v_dim; /* q_lora 0: queries are not compressed */
};

struct jl_transformer {
	double n_layers, hidden, heads, kv_heads, head_dim, ffn, vocab;
	double n_positions; /* rows of the learned position table; 0: rotary, ALiBi or none */
	double n_types;     /* token types (BERT: 2) */
	int gated;          /* three feed-forward matrices instead of two */
	int tied;           /* the logits use the embedding */
	int bias;           /* linear layers have a bias */
	int qkv_bias;       /* bias of the q, k and v products only (Qwen2) */
	int qk_norm;        /* norm over each head's q and k (Qwen3) */
	int post_norm;      /* four norms per layer instead of two (Gemma 2) */
	int final_norm;     /* norm before the logits */
	int embed_norm;     /* norm after the embedding (BERT, BLOOM) */
	int pooler;         /* BERT's dense layer on the first token */
	int mlm_transform;  /* BERT's dense layer and norm before the logits, and the logits' bias */
	int causal;
	double window;     /* sliding window of local layers, tokens; 0: all layers are global */
	double local_frac; /* share of layers that are local */
	int alibi;
	int dropout; /* dropout; kept masks take one byte per element */
	enum jl_norm norm;
	enum jl_head head;
	double head_tokens_frac; /* share of the tokens that reach the logits; 1 for JL_HEAD_LM */
	struct jl_moe moe;
	struct jl_mla mla;
};

struct jl_transformer_params {
	double dense_layer; /* one dense layer */
	double moe_layer;   /* one MoE layer with all its experts */
	double moe_expert;  /* of moe_layer: routed experts */
	double embed;       /* token, position and type tables, and their norm */
	double head;        /* final norm, logits (0 if tied), pooler, transform */
	double total;
	double active; /* parameters used per token */
	double n_dense_layers, n_moe_layers;
};

/* Checks the shape; the error says what would be right. */
enum jl_status jl_transformer_check(const struct jl_transformer *model, struct jl_err *err);

/* Share of local layers if every global_every-th layer is global; 0 if there is no window. */
double jl_local_frac(double window, double global_every);

/* Mean share of the unmasked token pairs that a layer computes. */
double jl_transformer_seen_frac(const struct jl_transformer *model, double seq);

struct jl_transformer_params jl_transformer_params(const struct jl_transformer *model);

/* Forward FLOP per token (2 per multiply-add), attention over `seq` positions included (halved if causal and `count_causal`). */
double jl_transformer_fwd_flop(const struct jl_transformer *model, double seq, int count_causal);

/* Trained part of a model; the rest is frozen. */
enum jl_tune_kind {
	JL_TUNE_FULL,
	JL_TUNE_LORA,    /* two thin products beside each target product */
	JL_TUNE_DORA,    /* the same, with normalised row lengths of the sum */
	JL_TUNE_ADAPTER, /* bottleneck layer after attention and after the feed-forward part */
	JL_TUNE_LAYERS,  /* trains the last layers, whole */
	JL_N_TUNE
};

/* Target products of adapters. */
enum jl_target {
	JL_TARGET_Q = 1,
	JL_TARGET_K = 2,
	JL_TARGET_V = 4,
	JL_TARGET_O = 8,
	JL_TARGET_GATE = 16,
	JL_TARGET_UP = 32,
	JL_TARGET_DOWN = 64,
	JL_TARGET_QKV = 128, /* one adapter on a fused q, k and v product */
	JL_TARGETS_ALL = 127
};

/* Format of frozen layer weights, dequantised to 16 bits before each product. */
enum jl_base {
	JL_BASE_SAME,  /* in the format of the activations */
	JL_BASE_NF4,   /* 4 bits, blocks of 64 with quantised scales (bitsandbytes, QLoRA) */
	JL_BASE_NF4_1, /* NF4 with fp32 scales */
	JL_BASE_INT8,  /* 8 bits, one scale per row (bitsandbytes LLM.int8) */
	JL_BASE_GPTQ4, /* 4 or 8 bits, one scale per group of 128 */
	JL_BASE_GPTQ8,
	JL_N_BASE
};

struct jl_tune {
	enum jl_tune_kind kind;
	enum jl_base base;
	double rank;
	unsigned targets; /* bits of enum jl_target */
	double n_layers;  /* JL_TUNE_LAYERS: number of layers */
	int ends;         /* embedding and logits are trained too */
	int dropout;      /* dropout on the adapters' input */
	int scales;       /* no thin products: each output is shifted and scaled by its own number (LLaMA-Adapter v2) */
	double unpack_ratio; /* factor on the base's clocks for dequantising; 0: 1 */
};

enum jl_written { JL_WRITTEN_LOSS = 1, JL_WRITTEN_NORM = 2, JL_WRITTEN_SCORES = 4, JL_WRITTEN_ALL = 7 };

/* Sharding and execution of a layer: everything that the operators of one micro-batch depend on. */
struct jl_shard {
	double micro_batch, seq;
	double expert_load; /* tokens of the most loaded expert / mean: 1: balanced; 0: unset, 1 */
	/* host time to launch one expert in a library's loop / one framework launch; 0: one launch for all experts */
	double expert_call_frac;
	double copies; /* sequences per sample: a pair (DPO), a group (GRPO); 0: 1 */
	double tp, cp, ep;
	int sp; /* sequence parallel: norms and residuals are sharded by tp too */
	int flash;
	enum jl_dtype dtype;     /* format of matrix products */
	enum jl_dtype act_dtype; /* format of activations in memory */
	struct jl_tune tune;
	int wide_rest; /* frozen weights outside packed products are fp32, and so are norms and residuals */
	/* bits of enum jl_written: parts implemented operation by operation in fp32, as in Hugging Face models */
	unsigned written_out;
	int padded;            /* products are padded to 16-byte rows */
	int thin_loss;         /* the loss reads the logits and writes their gradient, without an fp32 copy */
	enum jl_fusion fusion; /* operations that are separate kernels */
	int autocast;          /* autocast: weights, norms and residuals in fp32, products in 16 bits, casts between */
	double wgrad_B;        /* bytes moved per element of a weight gradient; 0: as activations */
};

/* PyTorch has no fused fp32 attention for grouped heads and uses products and a softmax. */
int jl_transformer_spells_attention(const struct jl_transformer *model, enum jl_dtype dtype, enum jl_fusion fusion);

/* Sequences per pass. */
double jl_shard_sequences(const struct jl_shard *shard);

/* Bytes per logit that the loss keeps for the backward pass. */
double jl_loss_kept_B(const struct jl_shard *shard);

/* Operators of one layer, the embedding or the head, for one micro-batch on one device, forward. */
void jl_transformer_ops(const struct jl_transformer *model, const struct jl_shard *shard, enum jl_block_kind block,
			struct jl_op_list *ret_list);

/* Converts a catalog record to the shape used by the model. Properties missing from the record (norms after each part, ALiBi, dropout of the
 * original recipe) come from its family. */
void jl_transformer_from_catalog(struct jl_transformer *ret_model, const struct jl_model_info *info);
