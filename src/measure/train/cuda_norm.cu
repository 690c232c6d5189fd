/* LayerNorm and RMSNorm with the residual stream, forward and backward. N > 0: one warp per row, held in registers; the row's width is 256·N.
 * Otherwise one block per row; a thread holds P groups of eight columns. */
#include "train/cuda_args.h"
#include "train/cuda_common.cuh"

template <typename T, int N> __device__ static void norm_warp(const norm_args &a)
{
	int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
	if (row >= a.n_rows)
		return;
	size_t base = (size_t)row * a.width + lane * 8;
	float x[N][8], sum = 0.0f, sq = 0.0f;
#pragma unroll
	for (int i = 0; i < N; i++)
		load8((const T *)a.residual + base + i * 256, x[i]);
	if (a.branch) {
#pragma unroll
		for (int i = 0; i < N; i++) {
			float y[8];
			load8((const T *)a.branch + base + i * 256, y);
#pragma unroll
			for (int j = 0; j < 8; j++)
				x[i][j] = rounded(x[i][j] + y[j], (const T *)0);
			store8((T *)a.residual_out + base + i * 256, x[i]);
		}
	}
#pragma unroll
	for (int i = 0; i < N; i++)
#pragma unroll
		for (int j = 0; j < 8; j++)
			sum += x[i][j];
	float mean = a.rms ? 0.0f : warp_sum(sum) / a.width;
#pragma unroll
	for (int i = 0; i < N; i++)
#pragma unroll
		for (int j = 0; j < 8; j++)
			sq += (x[i][j] - mean) * (x[i][j] - mean);
	float rstd = rsqrtf(warp_sum(sq) / a.width + a.eps);
	if (lane == 0) {
		a.rstd[row] = rstd;
		if (a.mean)
			a.mean[row] = mean;
	}
#pragma unroll
	for (int i = 0; i < N; i++) {
		float w[8], b[8] = { 0 };
		load8((const T *)a.weight + lane * 8 + i * 256, w);
		if (a.bias)
			load8((const T *)a.bias + lane * 8 + i * 256, b);
#pragma unroll
		for (int j = 0; j < 8; j++)
			x[i][j] = (x[i][j] - mean) * rstd * w[j] + b[j];
		store8((T *)a.out + base + i * 256, x[i]);
	}
}

/* The block holds a row in registers; width is a multiple of 8, at most 8·256·P. */
template <typename T, int P> __device__ static void norm_block(const norm_args &a)
{
	__shared__ float room[33];
	size_t base = (size_t)blockIdx.x * a.width;
	float x[P][8], sum = 0.0f, sq = 0.0f;
#pragma unroll
	for (int i = 0; i < P; i++) {
		int col = (i * 256 + threadIdx.x) * 8;
		if (col >= a.width)
			break;
		load8((const T *)a.residual + base + col, x[i]);
		if (a.branch) {
			float y[8];
			load8((const T *)a.branch + base + col, y);
#pragma unroll
			for (int j = 0; j < 8; j++)
				x[i][j] = rounded(x[i][j] + y[j], (const T *)0);
			store8((T *)a.residual_out + base + col, x[i]);
		}
#pragma unroll
		for (int j = 0; j < 8; j++)
			sum += x[i][j];
	}
	float mean = a.rms ? 0.0f : block_sum(sum, room) / a.width;
#pragma unroll
	for (int i = 0; i < P; i++)
#pragma unroll
		for (int j = 0; j < 8; j++)
			if ((i * 256 + threadIdx.x) * 8 < a.width)
				sq += (x[i][j] - mean) * (x[i][j] - mean);
	float rstd = rsqrtf(block_sum(sq, room) / a.width + a.eps);
	if (threadIdx.x == 0) {
		a.rstd[blockIdx.x] = rstd;
		if (a.mean)
			a.mean[blockIdx.x] = mean;
	}
#pragma unroll
	for (int i = 0; i < P; i++) {
		int col = (i * 256 + threadIdx.x) * 8;
		float w[8], b[8] = { 0 };
		if (col >= a.width)
			break;
		load8((const T *)a.weight + col, w);
		if (a.bias)
			load8((const T *)a.bias + col, b);
#pragma unroll
		for (int j = 0; j < 8; j++)
			x[i][j] = (x[i][j] - mean) * rstd * w[j] + b[j];
		store8((T *)a.out + base + col, x[i]);
	}
}

/* dx = rstd·(g − mean(g) − x̂·mean(g·x̂)), g = d_out·weight; RMSNorm has no mean(g). The sums for weight, bias and residual are formed per block
 * here and added over blocks by jl_sum_rows, always in the same order. */
template <typename T, int N> __device__ static void norm_bwd_warp(const norm_bwd_args &a)
{
	extern __shared__ float shared[];
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32, n_warps = blockDim.x / 32;
	float sums[3][N][8] = {};
	for (int row = blockIdx.x * n_warps + warp; row < a.n_rows; row += gridDim.x * n_warps) {
		size_t base = (size_t)row * a.width + lane * 8;
		float x[N][8], g[N][8], sum_g = 0.0f, sum_gx = 0.0f;
		float mean = a.rms ? 0.0f : a.mean[row], rstd = a.rstd[row];
#pragma unroll
		for (int i = 0; i < N; i++) {
			load8((const T *)a.input + base + i * 256, x[i]);
			load8((const T *)a.d_out + base + i * 256, g[i]);
		}
#pragma unroll
		for (int i = 0; i < N; i++) {
			float w[8];
			load8((const T *)a.weight + lane * 8 + i * 256, w);
#pragma unroll
			for (int j = 0; j < 8; j++) {
				x[i][j] = (x[i][j] - mean) * rstd;
				sums[0][i][j] += g[i][j] * x[i][j];
				sums[1][i][j] += g[i][j];
				g[i][j] *= w[j];
				sum_g += g[i][j];
				sum_gx += g[i][j] * x[i][j];
			}
			if (a.recompute_out) {
				float y[8], b[8] = { 0 };
				if (a.recompute_bias)
					load8((const T *)a.recompute_bias + lane * 8 + i * 256, b);
#pragma unroll
				for (int j = 0; j < 8; j++)
					y[j] = x[i][j] * w[j] + b[j];
				store8((T *)a.recompute_out + base + i * 256, y);
			}
		}
		sum_g = a.rms ? 0.0f : warp_sum(sum_g) / a.width;
		sum_gx = warp_sum(sum_gx) / a.width;
#pragma unroll
		for (int i = 0; i < N; i++) {
			float d[8] = { 0 };
			if (!a.fresh)
				load8((const T *)a.d_residual + base + i * 256, d);
#pragma unroll
			for (int j = 0; j < 8; j++) {
				d[j] += rstd * (g[i][j] - sum_g - x[i][j] * sum_gx);
				sums[2][i][j] += d[j];
			}
			store8((T *)a.d_residual + base + i * 256, d);
		}
	}
	/* one kind of sum at a time: one row of shared memory per warp, added in the order of the warps */
#pragma unroll
	for (int kind = 0; kind < 3; kind++) {
		if (!a.partial[kind])
			continue;
#pragma unroll
		for (int i = 0; i < N; i++)
#pragma unroll
			for (int j = 0; j < 8; j++)
				shared[warp * a.width + (i * 8 + j) * 32 + lane] = sums[kind][i][j];
		__syncthreads();
		for (int at = threadIdx.x; at < a.width; at += blockDim.x) {
			int from = (at / 256 * 8 + at % 8) * 32 + at % 256 / 8;
			float sum = 0.0f;
			for (int w = 0; w < n_warps; w++)
				sum += shared[w * a.width + from];
			a.partial[kind][(size_t)blockIdx.x * a.width + at] = sum;
		}
		__syncthreads();
	}
}

/* The same with one block per row: a thread keeps the sums of its columns over all rows of the block. KINDS 1 (weight only, as for RMSNorm)
 * saves registers, so that a fourth block fits on the multiprocessor. */
template <typename T, int P, int KINDS> __device__ static void norm_bwd_block(const norm_bwd_args &a)
{
	__shared__ float room[33];
	float sums[KINDS][P][8] = {};
	for (int row = blockIdx.x; row < a.n_rows; row += gridDim.x) {
		size_t base = (size_t)row * a.width;
		float x[P][8], g[P][8], mean = a.rms ? 0.0f : a.mean[row], rstd = a.rstd[row], sum_g = 0.0f,
					sum_gx = 0.0f;
#pragma unroll
		for (int i = 0; i < P; i++) {
			int col = (i * 256 + threadIdx.x) * 8;
			float w[8];
			if (col >= a.width)
				break;
			load8((const T *)a.input + base + col, x[i]);
			load8((const T *)a.d_out + base + col, g[i]);
			load8((const T *)a.weight + col, w);
#pragma unroll
			for (int j = 0; j < 8; j++) {
				x[i][j] = (x[i][j] - mean) * rstd;
				sums[0][i][j] += g[i][j] * x[i][j];
				if (KINDS > 1)
					sums[KINDS / 2][i][j] += g[i][j];
				g[i][j] *= w[j];
				sum_g += g[i][j];
				sum_gx += g[i][j] * x[i][j];
			}
			if (a.recompute_out) {
				float y[8], b[8] = { 0 };
				if (a.recompute_bias)
					load8((const T *)a.recompute_bias + col, b);
#pragma unroll
				for (int j = 0; j < 8; j++)
					y[j] = x[i][j] * w[j] + b[j];
				store8((T *)a.recompute_out + base + col, y);
			}
		}
		sum_g = a.rms ? 0.0f : block_sum(sum_g, room) / a.width;
		sum_gx = block_sum(sum_gx, room) / a.width;
#pragma unroll
		for (int i = 0; i < P; i++) {
			int col = (i * 256 + threadIdx.x) * 8;
			float d[8] = { 0 };
			if (col >= a.width)
				break;
			if (!a.fresh)
				load8((const T *)a.d_residual + base + col, d);
#pragma unroll
			for (int j = 0; j < 8; j++) {
				d[j] += rstd * (g[i][j] - sum_g - x[i][j] * sum_gx);
				if (KINDS > 1)
					sums[KINDS - 1][i][j] += d[j];
			}
			store8((T *)a.d_residual + base + col, d);
		}
	}
#pragma unroll
	for (int kind = 0; kind < KINDS; kind++)
#pragma unroll
		for (int i = 0; i < P; i++)
#pragma unroll
			for (int j = 0; j < 8; j++) {
				int col = (i * 256 + threadIdx.x) * 8 + j;
				if (a.partial[kind] && col < a.width)
					a.partial[kind][(size_t)blockIdx.x * a.width + col] = sums[kind][i][j];
			}
}

#define NORM(name, args, body)                                                                                         \
	extern "C" __global__ void __launch_bounds__(256) jl_norm_##name(args a)                                       \
	{                                                                                                              \
		body(a);                                                                                               \
	}
#define NORM_WARP(suffix, T, N)                                                                                        \
	NORM(suffix##N, norm_args, (norm_warp<T, N>))                                                                  \
	NORM(bwd_##suffix##N, norm_bwd_args, (norm_bwd_warp<T, N>))
#define NORM_BLOCK(suffix, T, P)                                                                                       \
	NORM(suffix##x##P, norm_args, (norm_block<T, P>))                                                              \
	NORM(bwd_##suffix##x##P, norm_bwd_args, (norm_bwd_block<T, P, 3>))                                         \
	NORM(bwd_##suffix##w##P, norm_bwd_args, (norm_bwd_block<T, P, 1>))
#define NORMS(suffix, T)                                                                                               \
	NORM_WARP(suffix, T, 1)                                                                                        \
	NORM_WARP(suffix, T, 2)                                                                                        \
	NORM_WARP(suffix, T, 3)                                                                                        \
	NORM_WARP(suffix, T, 4)                                                                                        \
	NORM_WARP(suffix, T, 5)                                                                                        \
	NORM_WARP(suffix, T, 6)                                                                                        \
	NORM_BLOCK(suffix, T, 1)                                                                                       \
	NORM_BLOCK(suffix, T, 2)                                                                                       \
	NORM_BLOCK(suffix, T, 4)                                                                                       \
	NORM_BLOCK(suffix, T, 12)

NORMS(b, bf16)
NORMS(f, float)

/* Sums n_partials rows of floats into a gradient; blockIdx.y selects the kind (NULL: none). 32 columns per block, 8 threads per column. */
template <typename T>
__device__ static void sum_rows(const float *partial, int n_partials, int width, T *to, int accumulate)
{
	__shared__ float room[8][33];
	if (!partial || !to)
		return;
	int col = blockIdx.x * 32 + threadIdx.x % 32, part = threadIdx.x / 32;
	float sum = 0.0f;
	if (col < width)
		for (int i = part; i < n_partials; i += 8)
			sum += partial[(size_t)i * width + col];
	room[part][threadIdx.x % 32] = sum;
	__syncthreads();
	if (part == 0 && col < width) {
		for (int i = 1; i < 8; i++)
			sum += room[i][threadIdx.x];
		to[col] = from_float<T>(accumulate ? to_float(to[col]) + sum : sum);
	}
}

#define SUM_ROWS(suffix, T)                                                                                            \
	extern "C" __global__ void __launch_bounds__(256) jl_sum_rows_##suffix(sum_rows_args a)                        \
	{                                                                                                              \
		sum_rows<T>(a.partial[blockIdx.y], a.n_partials, a.width, (T *)a.to[blockIdx.y], a.accumulate);        \
	}

SUM_ROWS(b, bf16)
SUM_ROWS(f, float)
