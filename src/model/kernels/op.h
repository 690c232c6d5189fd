/* Time of one operator on one device. Pure: no I/O, no allocation, no globals. */
#pragma once

#include "kernels/device.h"

/* Origin of the kernel: decides which tiles are available and whether k may be split over SMs. */
enum jl_gemm_kernel {
	JL_KERNEL_LIBRARY, /* vendor library: any tile, split k */
	JL_KERNEL_PLAIN,   /* serving framework: any tile, k not split */
	JL_KERNEL_BLOCK    /* block-scaled: the tile is the block of scales, k not split */
};

struct jl_gemm { /* C[m,n] = A[m,k] B[k,n], `batch` times */
	double m, n, k, batch;
	enum jl_dtype dtype; /* format of the operands */
	double out_B;        /* bytes per output element */
	double weight_B;     /* bytes per element of B if stored narrower than computed; 0: as dtype */
	enum jl_gemm_kernel kernel;
	/* share of A that is read from memory; the rest are overlapping windows (convolutions); 0: all */
	double reuse_frac;
	/* both operands transposed, as in weight gradients: units that read 32 bits along k transpose them first */
	int turned;
	int alone; /* benchmark of this product alone: small operands stay in L2, short runs avoid throttling */
};

/* Device seconds without the host launch. */
double jl_gemm_s(const struct jl_device *dev, const struct jl_gemm *gemm);

/* Number of extra kernels: 1 if the library splits k and sums the parts, else 0. */
double jl_gemm_sums(const struct jl_device *dev, const struct jl_gemm *gemm);

/* A kernel that streams moved_B through device memory and does `flop` vector operations. */
struct jl_stream {
	double moved_B;
	double flop;
	/* SM clocks of all the work: reductions and transcendentals are limited by issue, not by memory */
	double clocks;
	double most_sm; /* most SMs that work at a time; 0: all */
	/* working set that a chain of kernels reads repeatedly, cached if it fits in L2; 0: read once */
	double reuse_B;
};
double jl_stream_s(const struct jl_device *dev, const struct jl_stream *stream);

struct jl_attention { /* attention core of one layer, forward */
	double batch, heads, kv_heads, seq_q, seq_kv, head_dim;
	enum jl_dtype dtype;
	int causal, flash, dropout;
	double seen_frac; /* share of the unmasked pairs that lie inside the layers' windows; 0: all */
	/* unfused attention, per score: bytes of kernels that only move it (scale, mask, casts), forward and backward; bytes and SM clocks of
	 * softmax and dropout, which are limited by issue too */
	double score_B, score_back_B, soft_B, soft_back_B, soft_clocks, soft_back_clocks;
};
double jl_attention_flop(const struct jl_attention *att);   /* FLOP over unmasked pairs */
double jl_attention_scores(const struct jl_attention *att); /* number of elements of the score matrix */
double jl_attention_fwd_s(const struct jl_device *dev, const struct jl_attention *att);
double jl_attention_bwd_s(const struct jl_device *dev, const struct jl_attention *att);
