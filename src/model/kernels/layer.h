/* A block (one layer, embedding or head) as a list of operators, and its cost on one device. Pure. */
#pragma once

#include <stddef.h>

#include "kernels/op.h"

#define JL_MAX_OPS 64

enum jl_op_kind { JL_OP_GEMM, JL_OP_STREAM, JL_OP_ATTENTION };

struct jl_op {
	const char *name;
	enum jl_op_kind kind;
	union {
		struct jl_gemm gemm;
		struct jl_stream stream;
		struct jl_attention attention;
	} u;
	double n_kernels, n_back; /* launches in the forward and backward pass; products: besides their own */
	int light;        /* launched inside another operation's call (casts): costs the host JL_LIGHT_FRAC of a call */
	double saved_B;   /* bytes kept for the backward pass */
	int trained;      /* gemm: has a weight gradient */
	int needs_dgrad;  /* gemm: has an input gradient */
	double selective; /* share that selective recompute repeats; it drops dropped_B of saved_B */
	double dropped_B;
	struct jl_stream back; /* stream of the backward pass; all zero: none */
};

#define JL_LIGHT_FRAC 0.25

/* Kinds of blocks of a model. */
enum jl_block_kind { JL_BLOCK_DENSE, JL_BLOCK_MOE, JL_BLOCK_EMBED, JL_BLOCK_HEAD, JL_N_BLOCK };

struct jl_op_list {
	size_t n_op;
	struct jl_op op[JL_MAX_OPS];
	double input_B;  /* input of the block, kept by full recompute */
	double wgrad_B;  /* bytes moved per element of a weight gradient; 0: as outputs of other products */
	double beside_B; /* largest temporary of a single operation: an unpacked weight, copies of scores */
};

enum jl_recompute { JL_RECOMPUTE_NONE, JL_RECOMPUTE_SELECTIVE, JL_RECOMPUTE_FULL, JL_N_RECOMPUTE };

/* Device seconds by kind of work, and launches. Host time and collectives are excluded. */
struct jl_phase_cost {
	double gemm_s, attention_s, stream_s;
	double hot_s;     /* of gemm_s: slow-down by the power limit; recovered if the device was idle before */
	double n_kernels; /* kernel launches */
	double n_calls;   /* host cost of the launches, in units of a full operation's launch */
};

struct jl_block_cost {
	struct jl_phase_cost fwd, bwd, re; /* re: additional work of recompute in the backward pass */
	double saved_B;                    /* activations kept per micro-batch in flight */
	double work_B;                     /* peak bytes beyond saved_B during the block's backward pass */
	double fwd_flop;                   /* FLOP of matrix products and attention */
	double portable_gain;              /* time of the framework's fused attention / the vendor's; 0: 1 */
};

/* `dev` NULL: computes only the bytes kept. */
struct jl_block_cost jl_block_price(const struct jl_device *dev, const struct jl_op_list *list,
				    enum jl_recompute recompute);
