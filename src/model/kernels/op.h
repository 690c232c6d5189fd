/* How long one operator takes on one device. Pure functions: no I/O, no allocation, no globals. */
#pragma once

#include "kernels/device.h"

/* Whose kernel it is: how freely tiles are chosen and whether k may be divided over several SMs. */
enum jl_gemm_kernel {
	JL_KERNEL_LIBRARY, /* the vendor's library: any tile, split k */
	JL_KERNEL_PLAIN,   /* serving frameworks' own: any tile, k in one piece */
	JL_KERNEL_BLOCK    /* block-scaled: the scales' block is the tile, k in one piece */
};

struct jl_gemm { /* C[m,n] = A[m,k] B[k,n], `batch` times */
	double m, n, k, batch;
	enum jl_dtype dtype; /* of the operands */
	double out_B;        /* bytes of one output element */
	double weight_B; /* bytes of one element of B where it is stored narrower than it is computed; 0: as dtype */
	enum jl_gemm_kernel kernel;
	double reuse_frac; /* of A that comes out of memory, the rest being windows that overlap (convolutions); 0: all */
	int turned; /* both operands lie across, as in weight gradients: units that read 32 bits along k only turn them first */
	int alone; /* a benchmark of this product only: small operands stay in L2, short runs stay cool */
};

/* Seconds on the device, host launch not included. */
double jl_gemm_s(const struct jl_device *dev, const struct jl_gemm *gemm);

/* Kernels beside the product's own: one that sums up its parts where the library cuts it along k. */
double jl_gemm_sums(const struct jl_device *dev, const struct jl_gemm *gemm);

/* A kernel that streams moved_B through device memory and does flop vector operations on the way. */
struct jl_stream {
	double moved_B;
	double flop;
	double clocks; /* of one SM, all its work together: reductions and transcendentals are bound by issue, not by memory */
	double most_sm; /* no more SMs' worth of it runs at a time; 0: all */
	double reuse_B; /* a chain of kernels goes over this much again and again: in L2 if it fits; 0: once */
};
double jl_stream_s(const struct jl_device *dev, const struct jl_stream *stream);

struct jl_attention { /* one layer's attention core, forward */
	double batch, heads, kv_heads, seq_q, seq_kv, head_dim;
	enum jl_dtype dtype;
	int causal, flash, dropout;
	double seen_frac; /* of the pairs that the mask leaves, those inside the layers' windows; 0: all */
	/* not flash, of each score: bytes of the kernels that only move it (scale, mask, casts), forward and backward; bytes and SM clocks of
	 * softmax and dropout, which issue bounds as well */
	double score_B, score_back_B, soft_B, soft_back_B, soft_clocks, soft_back_clocks;
};
double jl_attention_flop(const struct jl_attention *att);   /* of the pairs that count */
double jl_attention_scores(const struct jl_attention *att); /* elements of the map */
double jl_attention_fwd_s(const struct jl_device *dev, const struct jl_attention *att);
double jl_attention_bwd_s(const struct jl_device *dev, const struct jl_attention *att);
