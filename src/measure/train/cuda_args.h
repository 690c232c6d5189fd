/* Structs that launches pass to kernels, for C and CUDA. */
#pragma once

#include "train/fp8.h"

struct norm_args {
	const void *residual, *branch;
	void *residual_out, *out;
	const void *weight, *bias;
	float *mean, *rstd;
	int n_rows, width, rms;
	float eps;
};

struct norm_bwd_args {
	const void *d_out, *input, *weight;
	const float *mean, *rstd;
	void *d_residual;
	float *partial[3]; /* [gridDim.x × width]: of weight, bias (NULL: none), d_residual (NULL: none) */
	const void *recompute_bias;
	void *recompute_out;
	int n_rows, width, rms, fresh;
};

struct sum_rows_args { /* blockIdx.y has which */
	const float *partial[3];
	void *to[3];
	int n_partials, width, accumulate;
};

/* In device memory, so that a captured step finds the values of the step it is replayed for. */
struct cuda_scalars {
	float lr, beta1, beta2, eps, weight_decay, clip, grad_mul;
	float correct1, correct2; /* 1/(1-beta1^t), 1/sqrt(1-beta2^t) */
};

struct gemv_args {
	const void *x, *w, *bias;
	void *y, *aux;
	int m, n, k, lda, ldb, ldc;
	int parts; /* warps that share a row of w */
	int gelu;
	/* where w is e4m3: its scale; numbers of k that a block sums, and where blocks that share rows leave their sums */
	const struct jl_fp8_scale *scale;
	int each;
	float *partial; /* [gridDim.y × m × n] */
	int *n_done;    /* [gridDim.x], 0 between launches */
};

struct next_args {
	const void *qkv;
	void *out, *keys, *values;
	float *partial; /* [n_samples × n_heads × n_splits × (head_dim + 2)]: sums, largest score, sum of weights */
	int *n_done;    /* [n_samples × gridDim.y], 0 between launches */
	const int *at;
	int n_heads, n_kv, max, n_splits;
	float scale, theta;
};

struct fp8_args {
	const void *from, *before;
	unsigned char *to,
		*to_t; /* [n_rows × width], [width × n_rows], width and with to_t n_rows a multiple of 16; NULL: not wanted */
	struct jl_fp8_scale *scale;
	float *partial; /* [gridDim.y × width] sums of columns; NULL: not wanted */
	int n_rows, width;
};

#define FP8_MANY 4
struct fp8_many { /* a launch: blockIdx.z has which */
	struct fp8_args of[FP8_MANY];
};
