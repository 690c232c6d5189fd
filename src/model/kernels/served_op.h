/* Operators of serving engines: products in narrow formats, attention of prompts and decoding, routed experts, exchanges between devices. Pure: no
 * I/O, no allocation, no globals. */
#pragma once

#include <stdbool.h>

#include "kernels/device.h"

/* Storage and compute formats of products. The order matters: fitted factors apply to ranges of it. */
enum jl_op_format {
	JL_OP_FP32,
	JL_OP_BF16, /* bf16 or fp16 */
	JL_OP_MX16, /* 4-bit weights with block scales, dequantised in the kernel */
	JL_OP_INT8_WO,
	JL_OP_INT4_WO,
	JL_OP_FP8,        /* activations quantised with dynamic scales */
	JL_OP_FP8_STATIC, /* activations quantised with a known (static) scale */
	JL_OP_FP8_BLOCK,  /* FP8 with one scale per 128 elements */
	JL_OP_MX8,        /* 4-bit weights, 8-bit activations */
	JL_OP_INT8,
	JL_OP_NVFP4,
	JL_N_OP_FORMAT
};

/* Fitted parameters of a device family with an engine: factors on the rates of single operators, and times. */
enum jl_op_term {
	JL_TERM_RATE,                                   /* factor on product rates, by format */
	JL_TERM_MEM = JL_TERM_RATE + JL_N_OP_FORMAT,    /* factor on reading weights, by format */
	JL_TERM_STREAM = JL_TERM_MEM + JL_N_OP_FORMAT,  /* factor on other reads: keys, values, activations */
	JL_TERM_FIXED_S,                                /* kernels besides the product, seconds, by format */
	JL_TERM_K_S = JL_TERM_FIXED_S + JL_N_OP_FORMAT, /* each step of a sum done by one SM, seconds, by format */
	JL_TERM_QUANT = JL_TERM_K_S + JL_N_OP_FORMAT,   /* rate of quantising activations / stream rate */
	JL_TERM_FLASH,                                  /* rate of prompt attention */
	JL_TERM_FLASH8,                                 /* additional factor for prompt attention in 8 bit */
	JL_TERM_FLASH_FIXED_S,
	JL_TERM_FLASH_BLOCK_S, /* start and end of each attention tile, seconds */
	JL_TERM_WIDE_HEAD,     /* factor per doubling of the head size beyond 128 */
	JL_TERM_HEAD,          /* factor for head size 64 relative to 128 */
	JL_TERM_KV,            /* decode attention: reading keys and values / stream rate */
	JL_TERM_KV8,           /* additional factor for an 8-bit KV cache */
	JL_TERM_KV_MATH,
	JL_TERM_KV_FIXED_S,
	JL_TERM_KV_PART, /* fewest tokens per part of a split context */
	JL_TERM_LATENT,  /* latent attention (MLA): prompts / other attention */
	JL_TERM_LATENT_MATH,
	JL_TERM_LATENT_KV,
	JL_TERM_LATENT_FIXED_S,
	JL_TERM_LATENT_MODULE_S, /* fixed time besides the products of the module */
	JL_TERM_EXPERT,          /* routed experts: rate / single products, by format */
	JL_TERM_EXPERT_MEM = JL_TERM_EXPERT + JL_N_OP_FORMAT,
	JL_TERM_EXPERT_FIXED_S = JL_TERM_EXPERT_MEM + JL_N_OP_FORMAT,
	JL_TERM_EXPERT_MOVE = JL_TERM_EXPERT_FIXED_S + JL_N_OP_FORMAT, /* number of times a routed token is copied */
	JL_TERM_SKEW,  /* tokens of the busiest rank under skewed routing */
	JL_TERM_ONE_S, /* one-shot all-reduce, seconds */
	JL_TERM_ONE_RANK_S,
	JL_TERM_TWO_S, /* two-shot all-reduce, seconds */
	JL_TERM_LIB_S, /* library all-reduce, seconds */
	JL_TERM_LIB_RANK_S,
	JL_TERM_LINK,       /* reached share of the listed rate */
	JL_TERM_SWITCH,     /* factor for in-switch reduction */
	JL_TERM_EXCHANGE_S, /* all-to-all of experts' tokens, seconds */
	JL_TERM_EXCHANGE,
	JL_N_TERM
};
struct jl_op_fit {
	double v[JL_N_TERM];
};

struct jl_served_gemm { /* `batch` products [m,k] x [k,n] */
	double m, n, k, batch;
	enum jl_op_format format;
	bool alone;      /* benchmarked alone: small operands stay in L2 */
	double weight_B; /* bytes per weight; 0: the format's */
};
/* Bytes per weight; and the enum jl_dtype used for computing, which the device supports. */
double jl_op_weight_B(enum jl_op_format format);
enum jl_dtype jl_op_dtype(const struct jl_device *dev, enum jl_op_format format);
double jl_served_gemm_s(const struct jl_device *dev, const struct jl_op_fit *fit, const struct jl_served_gemm *gemm);

struct jl_served_attention {  /* attention of one layer on one device */
	double batch, tokens; /* tokens per prompt; decoding: 1, more with speculative drafts */
	double pairs;         /* all prompts: context tokens summed over their tokens */
	double context;       /* context of a decoded token; longest context of a prompt */
	double heads, kv_heads, head_dim, kv_B;
	bool math8; /* products of the attention are computed in 8 bit */
	/* latent attention (MLA): 512 + 64 elements per token; prompts expand them to heads of 192 and 128 */
	bool latent;
};
double jl_served_prompt_s(const struct jl_device *dev, const struct jl_op_fit *fit,
			  const struct jl_served_attention *att);
double jl_served_answer_s(const struct jl_device *dev, const struct jl_op_fit *fit,
			  const struct jl_served_attention *att);

struct jl_served_experts {                                  /* routed experts of one layer on one rank */
	double tokens;                                      /* of all ranks that share the experts */
	double hidden, inter, top_k, n_experts, n_matrices; /* inter: width on this rank; matrices: 3 if gated */
	double n_ranks;                                     /* ranks that share the experts */
	double skew;                                        /* exponent of the power law of routing; 0: even */
	enum jl_op_format format;
	double weight_B; /* bytes per weight; 0: the format's */
};
double jl_served_experts_s(const struct jl_device *dev, const struct jl_op_fit *fit,
			   const struct jl_served_experts *experts);

struct jl_served_thin { /* LoRA adapters of one product on one device: [in, rank] for each of its parts, then [rank, out] */
	double in, out, rank, parts;
	double tokens, distinct; /* tokens of a pass; distinct adapters among them */
};
double jl_served_thin_B(const struct jl_served_thin *thin); /* bytes of one adapter */
/* Without the launches of its two kernels. */
double jl_served_thin_s(const struct jl_device *dev, const struct jl_op_fit *fit, const struct jl_served_thin *thin);

/* Products with few rows read their matrix once. Their kernels multiply while they read (each weight by each row) and dequantise each weight once:
 * seconds of both. */
#define JL_FEW_ROWS 8.0
struct jl_read_through {
	double read_s, math_s;
};
struct jl_read_through jl_read_through(const struct jl_device *dev, const struct jl_op_fit *fit,
				       const struct jl_served_gemm *gemm);
bool jl_matrix_units(const struct jl_device *dev); /* false: vector units only */
/* Number of a rank's experts that get tokens; *ret_routed: their tokens in total. */
double jl_served_experts_hit(const struct jl_op_fit *fit, const struct jl_served_experts *experts, double *ret_routed);

enum jl_served_sum { JL_SUM_ENGINE, JL_SUM_LIBRARY, JL_SUM_GATHER, JL_SUM_SCATTER, JL_SUM_ALLTOALL };
struct jl_served_exchange {
	double n, bytes; /* ranks; bytes of the whole buffer */
	double link_Bps; /* listed rate of the link, one direction */
	bool switched;   /* all links end in one switch that can reduce */
	double hop_gain; /* start-up time of an exchange / over NVLink */
	enum jl_served_sum how;
};
double jl_served_exchange_s(const struct jl_op_fit *fit, const struct jl_served_exchange *ex);
