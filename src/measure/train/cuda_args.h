/* Argument structs of the CUDA kernels, shared by C and CUDA. */
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
	float *partial[3]; /* [gridDim.x × width]: sums for weight, bias (NULL: none), d_residual (NULL: none) */
	const void *recompute_bias;
	void *recompute_out;
	int n_rows, width, rms, fresh;
};

struct sum_rows_args { /* blockIdx.y selects the entry */
	const float *partial[3];
	void *to[3];
	int n_partials, width, accumulate;
};

/* Kept in device memory, so that a replayed graph reads the current step's values. */
struct cuda_scalars {
	float lr, beta1, beta2, eps, weight_decay, clip, grad_mul;
	float correct1, correct2; /* 1/(1-beta1^t), 1/sqrt(1-beta2^t) */
};

struct gemv_args {
	const void *x, *w, *bias;
	void *y, *aux;
	int m, n, k, lda, ldb, ldc;
	int parts; /* warps that share one row of w */
	int gelu;
	/* e4m3 weights: their scale; elements of k per block; scratch for the sums of blocks that share rows */
	const struct jl_fp8_scale *scale;
	int each;
	float *partial; /* [gridDim.y × m × n] */
	int *n_done;    /* [gridDim.x], 0 between launches */
};

struct next_args {
	const void *qkv;
	void *out, *keys, *values;
	float *partial; /* [n_samples × n_heads × n_splits × (head_dim + 2)]: sums, largest score, sum of exponentials */
	int *n_done; /* [n_samples × gridDim.y], 0 between launches */
	const int *at;
	int n_heads, n_kv, max, n_splits;
	float scale, theta;
};

struct fp8_args {
	const void *from, *before;
	unsigned char *to,
		*to_t; /* [n_rows × width], [width × n_rows]; NULL: not wanted. width is a multiple of 16, with to_t also n_rows */
	struct jl_fp8_scale *scale;
	float *partial; /* [gridDim.y × width] sums of columns; NULL: not wanted */
	int n_rows, width;
};

#define FP8_MANY 4
struct fp8_many { /* one launch; blockIdx.z selects the entry */
	struct fp8_args of[FP8_MANY];
};
