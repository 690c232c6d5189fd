/* Operators as serving engines run them: products in narrow formats, attention of prompts and answers, routed experts,
 * exchanges between devices. Pure functions: no I/O, no allocation, no globals. */
#pragma once

#include <stdbool.h>

#include "kernels/device.h"

/* How products are kept and computed. The order matters: factors of the physics hold for stretches of it. */
enum jl_op_format {
	JL_OP_FP32,
	JL_OP_BF16, /* or fp16 */
	JL_OP_MX16, /* 4-bit weights widened on the way, block scales */
	JL_OP_INT8_WO,
	JL_OP_INT4_WO,
	JL_OP_FP8,        /* activations narrowed on the way in */
	JL_OP_FP8_STATIC, /* ... with a scale that is known */
	JL_OP_FP8_BLOCK,  /* a scale for each 128 */
	JL_OP_MX8,        /* 4-bit weights, 8-bit activations */
	JL_OP_INT8,
	JL_OP_NVFP4,
	JL_N_OP_FORMAT
};

/* The physics of a device's family with an engine: factors on what the device's single operators reach, and times. */
enum jl_op_term {
	JL_TERM_RATE,                                  /* of products, by format */
	JL_TERM_MEM = JL_TERM_RATE + JL_N_OP_FORMAT,   /* reading them, by format */
	JL_TERM_STREAM = JL_TERM_MEM + JL_N_OP_FORMAT, /* keys, values and whatever else is no weight */
	JL_TERM_FIXED_S,                               /* kernels beside the product, by format */
	JL_TERM_K_S = JL_TERM_FIXED_S +
		      JL_N_OP_FORMAT,                 /* each step of a sum that one SM adds up by itself, by format */
	JL_TERM_QUANT = JL_TERM_K_S + JL_N_OP_FORMAT, /* rate of narrowing activations, of a stream */
	JL_TERM_FLASH,                                /* attention of prompts */
	JL_TERM_FLASH8,                               /* ... in 8 bit, in addition */
	JL_TERM_FLASH_FIXED_S,
	JL_TERM_FLASH_BLOCK_S, /* each tile's beginning and end */
	JL_TERM_WIDE_HEAD,     /* rate at each doubling of heads beyond 128 */
	JL_TERM_HEAD,          /* rate at heads of 64, of those of 128 */
	JL_TERM_KV,            /* attention of answers: reading keys and values, of a stream */
	JL_TERM_KV8,           /* ... kept in 8 bit, in addition */
	JL_TERM_KV_MATH,
	JL_TERM_KV_FIXED_S,
	JL_TERM_KV_PART, /* tokens that a part of a divided context has at least */
	JL_TERM_LATENT,  /* latent attention: prompts, of other attention */
	JL_TERM_LATENT_MATH,
	JL_TERM_LATENT_KV,
	JL_TERM_LATENT_FIXED_S,
	JL_TERM_LATENT_MODULE_S, /* beside the products of the whole module */
	JL_TERM_EXPERT,          /* routed experts: rate, of single products, by format */
	JL_TERM_EXPERT_MEM = JL_TERM_EXPERT + JL_N_OP_FORMAT,
	JL_TERM_EXPERT_FIXED_S = JL_TERM_EXPERT_MEM + JL_N_OP_FORMAT,
	JL_TERM_EXPERT_MOVE = JL_TERM_EXPERT_FIXED_S + JL_N_OP_FORMAT, /* times a routed token is moved */
	JL_TERM_SKEW,  /* busiest rank's tokens where routing is skewed */
	JL_TERM_ONE_S, /* all-reduce in one exchange */
	JL_TERM_ONE_RANK_S,
	JL_TERM_TWO_S, /* in two */
	JL_TERM_LIB_S, /* by the library */
	JL_TERM_LIB_RANK_S,
	JL_TERM_LINK,       /* rate, of the listed one */
	JL_TERM_SWITCH,     /* sums inside the switch */
	JL_TERM_EXCHANGE_S, /* of experts' tokens */
	JL_TERM_EXCHANGE,
	JL_N_TERM
};
struct jl_op_fit {
	double v[JL_N_TERM];
};

struct jl_served_gemm { /* of each of `batch`: [m,k] x [k,n] */
	double m, n, k, batch;
	enum jl_op_format format;
	bool alone;      /* measured by itself: small operands stay in L2 */
	double weight_B; /* bytes of a weight, where it is not the format's own; 0: it is */
};
/* Bytes of a weight; of what is computed with, an enum jl_dtype that the device has. */
double jl_op_weight_B(enum jl_op_format format);
enum jl_dtype jl_op_dtype(const struct jl_device *dev, enum jl_op_format format);
double jl_served_gemm_s(const struct jl_device *dev, const struct jl_op_fit *fit, const struct jl_served_gemm *gemm);

struct jl_served_attention {  /* one layer on one device */
	double batch, tokens; /* of each prompt; answers: 1, more where some are drafted */
	double pairs;         /* of all prompts: tokens that a token looks at, summed */
	double context;       /* that an answer's token looks at; longest of a prompt */
	double heads, kv_heads, head_dim, kv_B;
	bool math8;  /* computed in 8 bit */
	bool latent; /* 512 + 64 numbers a token; prompts unpack them to heads of 192 and 128 */
};
double jl_served_prompt_s(const struct jl_device *dev, const struct jl_op_fit *fit,
			  const struct jl_served_attention *att);
double jl_served_answer_s(const struct jl_device *dev, const struct jl_op_fit *fit,
			  const struct jl_served_attention *att);

struct jl_served_experts {                                  /* one layer on one rank */
	double tokens;                                      /* of all ranks that share the experts */
	double hidden, inter, top_k, n_experts, n_matrices; /* inter: on this rank; matrices: 3 where gated */
	double n_ranks;                                     /* that share the experts */
	double skew;                                        /* exponent of the routing's power law; 0: even */
	enum jl_op_format format;
	double weight_B; /* as above */
};
double jl_served_experts_s(const struct jl_device *dev, const struct jl_op_fit *fit,
			   const struct jl_served_experts *experts);

struct jl_served_thin { /* adapters of one product on one device: each [in, rank] of each of its parts, then [rank, out] */
	double in, out, rank, parts;
	double tokens, distinct; /* of a pass; adapters that these have */
};
double jl_served_thin_B(const struct jl_served_thin *thin); /* of one adapter */
/* Without the launches of its two kernels. */
double jl_served_thin_s(const struct jl_device *dev, const struct jl_op_fit *fit, const struct jl_served_thin *thin);

/* Products of few rows read their matrix once. Kernels for them multiply while they read, each weight by each row, and widen it once: seconds of
 * both. */
#define JL_FEW_ROWS 8.0
struct jl_read_through {
	double read_s, math_s;
};
struct jl_read_through jl_read_through(const struct jl_device *dev, const struct jl_op_fit *fit,
				       const struct jl_served_gemm *gemm);
bool jl_matrix_units(const struct jl_device *dev); /* or vector units alone */
/* Experts of a rank that are asked, and the tokens that they get all together. */
double jl_served_experts_hit(const struct jl_op_fit *fit, const struct jl_served_experts *experts, double *ret_routed);

enum jl_served_sum { JL_SUM_ENGINE, JL_SUM_LIBRARY, JL_SUM_GATHER, JL_SUM_SCATTER, JL_SUM_ALLTOALL };
struct jl_served_exchange {
	double n, bytes; /* of the whole buffer */
	double link_Bps; /* one way, listed */
	bool switched;   /* all links meet in a switch that can add */
	double hop_gain; /* how much longer an exchange takes to begin than over NVLink */
	enum jl_served_sum how;
};
double jl_served_exchange_s(const struct jl_op_fit *fit, const struct jl_served_exchange *ex);
