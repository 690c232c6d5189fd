/* A pass of one token a sample: products of a few rows, attention over what is kept. */
#include "train/cuda_args.h"
#include "train/cuda_common.cuh"

/* y[m × n] = x[m × k]·wᵀ (+ bias, gelu), m <= M. Some warps a row of w: as much of w is on its way as the memory can deliver, and x comes from
 * the cache. */
template <typename T, int M> __device__ static void gemv(const gemv_args &a)
{
	constexpr int AHEAD = M <= 2 ? 4 : 2;
	__shared__ float sums[8][M];
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32, part = warp % a.parts;
	int row = blockIdx.x * (8 / a.parts) + warp / a.parts, step = a.parts * 256;
	const T *w = (const T *)a.w + (size_t)(row < a.n ? row : a.n - 1) * a.ldb;
	const T *x[M];
	float sum[M] = {};
#pragma unroll
	for (int i = 0; i < M; i++)
		x[i] = (const T *)a.x + (size_t)(i < a.m ? i : a.m - 1) * a.lda;
	for (int k = (part * 32 + lane) * 8; k < a.k; k += step * AHEAD) {
		float v[AHEAD][8] = {};
#pragma unroll
		for (int u = 0; u < AHEAD; u++)
			if (k + u * step < a.k)
				load8(w + k + u * step, v[u]);
#pragma unroll
		for (int u = 0; u < AHEAD; u++)
			if (k + u * step < a.k)
#pragma unroll
				for (int i = 0; i < M; i++) {
					float y[8];
					load8(x[i] + k + u * step, y);
#pragma unroll
					for (int j = 0; j < 8; j++)
						sum[i] += v[u][j] * y[j];
				}
	}
#pragma unroll
	for (int i = 0; i < M; i++)
		sum[i] = warp_sum(sum[i]);
	if (lane == 0)
#pragma unroll
		for (int i = 0; i < M; i++)
			sums[warp][i] = sum[i];
	__syncthreads();
	if (part != 0 || lane >= a.m || row >= a.n)
		return;
	float y = 0.0f;
	for (int p = 0; p < a.parts; p++)
		y += sums[warp + p][lane];
	size_t at = (size_t)lane * a.ldc + row;
	if (a.bias)
		y += to_float(((const T *)a.bias)[row]);
	if (a.gelu) {
		y = rounded(y, (const T *)0);
		((T *)a.aux)[at] = from_float<T>(y);
		y = gelu(y);
	}
	((T *)a.y)[at] = from_float<T>(y);
}

/* Up to Q heads that share keys and values, over one stretch of them. Eight lanes a key: 16 keys at a time. The block that is done last puts
 * the stretches together. Scores are powers of two. */
template <typename T, int D, int Q> __device__ static void attn_next(const next_args &a)
{
	constexpr int N = D / 8, NONE = -1000000;
	__shared__ float q[Q][D], turn[2][D / 2], parts[4][Q][D + 2];
	__shared__ bool is_last;
	int group = a.n_heads / a.n_kv, n_chunks = (group + Q - 1) / Q, kv = blockIdx.y / n_chunks;
	int first = blockIdx.y % n_chunks * Q, n_q = min(Q, group - first), head = kv * group + first;
	int at = *a.at, each = (at + a.n_splits) / a.n_splits, begin = blockIdx.x * each,
	    end = min(at + 1, begin + each);
	const T *row = (const T *)a.qkv + (size_t)blockIdx.z * (a.n_heads + 2 * a.n_kv) * D;
	size_t kept = ((size_t)blockIdx.z * a.n_kv + kv) * a.max * D;
	T *keys = (T *)a.keys + kept, *values = (T *)a.values + kept;
	for (int j = threadIdx.x; j < D / 2; j += blockDim.x) {
		float angle = a.theta > 0.0f ? (float)at * powf(a.theta, -2.0f * (float)j / (float)D) : 0.0f;
		sincosf(angle, &turn[1][j], &turn[0][j]);
	}
	__syncthreads();
	auto turned = [&](const T *from, int j, float *low, float *high) {
		float x = to_float(from[j]), y = to_float(from[j + D / 2]);
		*low = rounded(x * turn[0][j] - y * turn[1][j], (const T *)0);
		*high = rounded(x * turn[1][j] + y * turn[0][j], (const T *)0);
	};
	for (int i = threadIdx.x; i < Q * D / 2; i += blockDim.x) {
		int h = i / (D / 2), j = i % (D / 2);
		float low = 0.0f, high = 0.0f;
		if (h < n_q)
			turned(row + (head + h) * D, j, &low, &high);
		q[h][j] = low * a.scale * 1.44269504f;
		q[h][j + D / 2] = high * a.scale * 1.44269504f;
	}
	if (begin <= at && at < end)
		for (int j = threadIdx.x; j < D / 2; j += blockDim.x) {
			const T *v = row + (a.n_heads + a.n_kv + kv) * D;
			float low, high;
			turned(row + (a.n_heads + kv) * D, j, &low, &high);
			keys[(size_t)at * D + j] = from_float<T>(low);
			keys[(size_t)at * D + j + D / 2] = from_float<T>(high);
			values[(size_t)at * D + j] = v[j];
			values[(size_t)at * D + j + D / 2] = v[j + D / 2];
		}
	__syncthreads();
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32, mine = lane % 8 * 8;
	float most[Q], sum[Q] = {}, out[Q][N] = {};
#pragma unroll
	for (int h = 0; h < Q; h++)
		most[h] = NONE;
	for (int base = begin; base < end; base += 16) {
		int i = base + threadIdx.x / 8;
		bool is_key = i < end;
		size_t from = (size_t)(is_key ? i : at) * D + mine;
		float k[N], v[N];
#pragma unroll
		for (int c = 0; c < N; c += 8) {
			load8(keys + from + c * 8, k + c);
			load8(values + from + c * 8, v + c);
		}
#pragma unroll
		for (int h = 0; h < Q; h++) {
			float s = 0.0f;
#pragma unroll
			for (int c = 0; c < N; c++)
				s += k[c] * q[h][c / 8 * 64 + mine + c % 8];
#pragma unroll
			for (int x = 1; x < 8; x *= 2)
				s += __shfl_xor_sync(0xffffffffu, s, x);
			float more = fmaxf(most[h], is_key ? s : NONE), less = exp2f(most[h] - more);
			float p = is_key ? exp2f(s - more) : 0.0f;
			most[h] = more;
			sum[h] = sum[h] * less + p;
#pragma unroll
			for (int c = 0; c < N; c++)
				out[h][c] = out[h][c] * less + p * v[c];
		}
	}
#pragma unroll
	for (int h = 0; h < Q; h++) {
		float m = fmaxf(most[h], __shfl_xor_sync(0xffffffffu, most[h], 8));
		m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 16));
		auto over_keys = [&](float x) {
			x *= exp2f(most[h] - m);
			x += __shfl_xor_sync(0xffffffffu, x, 8);
			return x + __shfl_xor_sync(0xffffffffu, x, 16);
		};
#pragma unroll
		for (int c = 0; c < N; c++) {
			float x = over_keys(out[h][c]);
			if (lane < 8)
				parts[warp][h][c / 8 * 64 + mine + c % 8] = x;
		}
		parts[warp][h][D] = m;
		parts[warp][h][D + 1] = over_keys(sum[h]);
	}
	__syncthreads();
	/* several sums of D values, `stride` apart, with their largest scores and weights behind them */
	auto together = [&](const float *from, int n, size_t stride, int d, float *ret_most, float *ret_weight) {
		float m = NONE, x = 0.0f, w = 0.0f;
		for (int i = 0; i < n; i++)
			m = fmaxf(m, from[i * stride + D]);
		for (int i = 0; i < n; i++) {
			float f = exp2f(from[i * stride + D] - m);
			x += from[i * stride + d] * f;
			w += from[i * stride + D + 1] * f;
		}
		*ret_most = m;
		*ret_weight = w;
		return x;
	};
	T *to = (T *)a.out + ((size_t)blockIdx.z * a.n_heads + head) * D;
	float *partial = a.partial + ((size_t)blockIdx.z * a.n_heads + head) * a.n_splits * (D + 2), m, w;
	for (int i = threadIdx.x; i < n_q * D; i += blockDim.x) {
		int h = i / D, d = i % D;
		float x = together(parts[0][h], 4, Q * (D + 2), d, &m, &w);
		float *p = partial + ((size_t)h * a.n_splits + blockIdx.x) * (D + 2);
		if (a.n_splits == 1) {
			to[i] = from_float<T>(x / w);
			continue;
		}
		p[d] = x;
		if (d == 0)
			p[D] = m, p[D + 1] = w;
	}
	if (a.n_splits == 1)
		return;
	__threadfence();
	__syncthreads();
	int *n_done = a.n_done + blockIdx.z * gridDim.y + blockIdx.y;
	if (threadIdx.x == 0) {
		is_last = atomicAdd(n_done, 1) == a.n_splits - 1;
		if (is_last)
			*n_done = 0;
	}
	__syncthreads();
	if (!is_last)
		return;
	__threadfence();
	for (int i = threadIdx.x; i < n_q * D; i += blockDim.x) {
		float x = together(partial + (size_t)(i / D) * a.n_splits * (D + 2), a.n_splits, D + 2, i % D, &m, &w);
		to[i] = from_float<T>(x / w);
	}
}

#define GEMV(T, kind, M)                                                                                               \
	extern "C" __global__ void __launch_bounds__(256) jl_gemv_##kind##M(gemv_args a)                               \
	{                                                                                                              \
		gemv<T, M>(a);                                                                                         \
	}
#define NEXT(T, kind, D, Q)                                                                                            \
	extern "C" __global__ void __launch_bounds__(128) jl_attn_next_##kind##D##_##Q(next_args a)                    \
	{                                                                                                              \
		attn_next<T, D, Q>(a);                                                                                 \
	}
#define NEXTS(T, kind, D) NEXT(T, kind, D, 1) NEXT(T, kind, D, 4) NEXT(T, kind, D, 8)
#define GEMVS(T, kind)    GEMV(T, kind, 1) GEMV(T, kind, 2) GEMV(T, kind, 4) GEMV(T, kind, 8)
GEMVS(bf16, b) GEMVS(float, f) NEXTS(bf16, b, 64) NEXTS(bf16, b, 128) NEXTS(float, f, 64) NEXTS(float, f, 128)
