/* A block (one layer, the embedding, the head) as a list of operators, and what the list costs on one device. Pure. */
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
	double n_kernels, n_back; /* launches of the forward and of the backward pass; of a product: those beside it */
	int light;        /* launched inside another operation's call (casts): costs the host JL_LIGHT_FRAC of a call */
	double saved_B;   /* kept for the backward pass */
	int trained;      /* gemm: has a weight gradient */
	int needs_dgrad;  /* gemm: has an input gradient */
	double selective; /* share of it that selective recompute runs again; dropped_B of saved_B is not kept then */
	double dropped_B;
	struct jl_stream back; /* stream: the backward pass; all zero: there is none */
};

#define JL_LIGHT_FRAC 0.25

/* Kinds of block that a model is made of. */
enum jl_block_kind { JL_BLOCK_DENSE, JL_BLOCK_MOE, JL_BLOCK_EMBED, JL_BLOCK_HEAD, JL_N_BLOCK };

struct jl_op_list {
	size_t n_op;
	struct jl_op op[JL_MAX_OPS];
	double input_B;  /* the block's input: what full recompute keeps */
	double wgrad_B;  /* bytes that a weight gradient moves per element; 0: as the other products' outputs */
	double beside_B; /* most of what is there only while one operation runs: an unpacked weight, copies of scores */
};

enum jl_recompute { JL_RECOMPUTE_NONE, JL_RECOMPUTE_SELECTIVE, JL_RECOMPUTE_FULL, JL_N_RECOMPUTE };

/* Seconds on the device by kind of work, and launches; host time and collectives are not in it. */
struct jl_phase_cost {
	double gemm_s, attention_s, stream_s;
	double hot_s;     /* of gemm_s: what the power limit takes; a device that was idle before gives it back */
	double n_kernels; /* launches */
	double n_calls;   /* what they cost the host, in launches that are operations of their own */
};

struct jl_block_cost {
	struct jl_phase_cost fwd, bwd, re; /* re: what recompute adds to the backward pass */
	double saved_B;                    /* activations kept per micro-batch in flight */
	double work_B;                     /* most bytes alive while the block runs backward, beyond saved_B */
	double fwd_flop;                   /* of matrix products and attention */
	double portable_gain; /* time of fused attention that is not the vendor's own, of that one's; 0: 1 */
};

/* Without a device only what is kept is counted. */
struct jl_block_cost jl_block_price(const struct jl_device *dev, const struct jl_op_list *list,
				    enum jl_recompute recompute);
