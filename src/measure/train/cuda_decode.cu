/* Kernels that decode one token per sample: products of a few rows, and attention over the KV cache. */
#include "train/cuda_args.h"
#include "train/cuda_common.cuh"

/* True in the last of n blocks to finish; that block sees the writes of the others. */
__device__ inline bool last_of(int *n_done, int n, bool &is_last)
{
	__threadfence();
	__syncthreads();
	if (threadIdx.x == 0) {
		is_last = atomicAdd(n_done, 1) == n - 1;
		if (is_last)
			*n_done = 0;
	}
	__syncthreads();
	__threadfence();
	return is_last;
}

template <typename T> __device__ inline void finish(const gemv_args &a, float y, int row, int col)
{
	const size_t at = (size_t)row * a.ldc + col;
	if (a.bias)
		y += to_float(((const T *)a.bias)[col]);
	if (a.gelu) {
		y = rounded(y, (const T *)0);
		((T *)a.aux)[at] = from_float<T>(y);
		y = gelu(y);
	}
	((T *)a.y)[at] = from_float<T>(y);
}

/* y[m × n] = x[m × k]·wᵀ (+ bias, gelu), m <= M. `parts` warps share a row of w to keep enough loads in flight; x comes from the cache. */
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
	finish<T>(a, y, lane, row);
}

/* Converts four e4m3, subnormals too, to bf16 scaled by 2^-120: `even` has bytes 0 and 2, `odd` bytes 1 and 3. */
__device__ inline void widen(uint32_t four, uint32_t &even, uint32_t &odd)
{
	even = (four << 4 & 0x07f007f0u) | (four << 8 & 0x80008000u);
	odd = (four >> 4 & 0x07f007f0u) | (four & 0x80008000u);
}

/* The matching operand: of four bf16, `even` gets the first and third, `odd` the second and fourth, times 2^96. */
__device__ inline void beside(uint32_t low, uint32_t high, uint32_t &even, uint32_t &odd)
{
	uint32_t pairs[2] = { __byte_perm(low, high, 0x5410), __byte_perm(low, high, 0x7632) };
#pragma unroll
	for (int i = 0; i < 2; i++) {
		__nv_bfloat162 x = __hmul2(*reinterpret_cast<__nv_bfloat162 *>(&pairs[i]), __float2bfloat162_rn(0x1p96f));
		pairs[i] = *reinterpret_cast<uint32_t *>(&x);
	}
	even = pairs[0];
	odd = pairs[1];
}

#define OF_SUM 0x1p24f /* 2^120 / 2^96: removes the remaining scale from the sum */

__device__ inline uint4 load_once(const unsigned char *from)
{
	uint4 v;
	asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];"
		     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
		     : "l"(from));
	return v;
}

/* Products with e4m3 weights that have one scale; n and k are multiples of 16. A lane loads 16 numbers from each of two rows of w; since the
 * order of a sum is free, it uses them as its operands of four products of 16. Handles up to 8·N rows of x; the warps share 16 rows of w and
 * split k. */
template <int N, int WARPS> __device__ static void narrow(const gemv_args &a)
{
	constexpr int AHEAD = N == 1 ? 2 : 1, STEP = WARPS * 64;
	__shared__ float sums[WARPS][8 * N][17];
	const int warp = threadIdx.x / 32, group = threadIdx.x % 32 / 4, quad = threadIdx.x % 4, row0 = blockIdx.x * 16;
	const unsigned char *w = (const unsigned char *)a.w + (size_t)(row0 + group) * a.ldb;
	const bf16 *x[N];
	float c[N][4] = {};
#pragma unroll
	for (int n = 0; n < N; n++)
		x[n] = (const bf16 *)a.x + (size_t)min(n * 8 + group, a.m - 1) * a.lda;
	for (int base = warp * 64; base < a.k; base += STEP * AHEAD) { /* uniform over a warp: mma needs all lanes */
		const int k = base + quad * 16;
		uint4 v[AHEAD][2] = {};
#pragma unroll
		for (int i = 0; i < AHEAD * 2; i++)
			if (k + i / 2 * STEP < a.k)
				v[i / 2][i % 2] = load_once(w + (size_t)(i % 2 * 8) * a.ldb + k + i / 2 * STEP);
#pragma unroll
		for (int i = 0; i < AHEAD * N; i++) {
			const int u = i / N, n = i % N;
			uint32_t y[8] = {};
			if (k + u * STEP < a.k)
#pragma unroll
				for (int h = 0; h < 2; h++)
					*reinterpret_cast<uint4 *>(&y[h * 4]) =
						*reinterpret_cast<const uint4 *>(x[n] + k + u * STEP + h * 8);
#pragma unroll
			for (int j = 0; j < 4; j++) {
				uint32_t f[4], even, odd;
				widen((&v[u][0].x)[j], f[0], f[2]);
				widen((&v[u][1].x)[j], f[1], f[3]);
				beside(y[2 * j], y[2 * j + 1], even, odd);
				mma(c[n], f, even, odd);
			}
		}
	}
#pragma unroll
	for (int i = 0; i < N * 4; i++)
		sums[warp][i / 4 * 8 + quad * 2 + i % 2][i / 2 % 2 * 8 + group] = c[i / 4][i % 4];
	__syncthreads();
	for (int i = threadIdx.x; i < 16 * a.m; i += WARPS * 32) {
		float all = 0.0f;
#pragma unroll
		for (int part = 0; part < WARPS; part++)
			all += sums[part][i / 16][i % 16];
		finish<bf16>(a, all * a.scale->inverse * OF_SUM, i / 16, row0 + i % 16);
	}
}

/* The same for more rows of x and w. Four of the eight warps take 32 rows of w each and half of k; the other four take the same rows and the
 * other half. x is staged in shared memory in operand order. Blocks that split k further write `partial`; the last block adds these in order. */
template <int N> __device__ static void narrow_more(const gemv_args &a)
{
	constexpr int PIECE = 256, UNITS = N / 2, PARTS = 8; /* a unit of x is 16 numbers of a row; each thread copies UNITS of them */
	__shared__ union {
		uint4 x[2][PIECE / 64][N][2][32];
		float sums[N * 8][132];
	} room;
	__shared__ bool is_last;
	const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, group = lane / 4, quad = lane % 4, half = warp / 4;
	const int row0 = blockIdx.x * 128, own = warp % 4 * 32 + group;
	const int begin = blockIdx.y * a.each, end = min(a.k, begin + a.each);
	const unsigned char *w[4];
	float c[2][N][4] = {};
	uint4 v[2][4], x[UNITS][2];
#pragma unroll
	for (int i = 0; i < 4; i++)
		w[i] = (const unsigned char *)a.w + (size_t)min(row0 + own + i * 8, a.n - 1) * a.ldb + half * 128 + quad * 16;
	auto load = [&](int base, int s) {
#pragma unroll
		for (int i = 0; i < 4; i++) {
			v[s][i] = make_uint4(0, 0, 0, 0);
			if (base + half * 128 + s * 64 + quad * 16 < end)
				v[s][i] = load_once(w[i] + base + s * 64);
		}
	};
	auto load_x = [&](int base) {
#pragma unroll
		for (int i = 0; i < UNITS * 2; i++) {
			int unit = threadIdx.x + i / 2 * 256, k = base + unit % 16 * 16;
			x[i / 2][i % 2] = make_uint4(0, 0, 0, 0);
			if (k < end)
				x[i / 2][i % 2] = *reinterpret_cast<const uint4 *>(
					(const bf16 *)a.x + (size_t)min(unit / 16, a.m - 1) * a.lda + k + i % 2 * 8);
		}
	};
	auto keep_x = [&](int side) {
#pragma unroll
		for (int i = 0; i < UNITS * 2; i++) {
			int unit = threadIdx.x + i / 2 * 256, r = unit / 16, k = unit % 16;
			uint4 from = x[i / 2][i % 2], to;
			beside(from.x, from.y, to.x, to.y);
			beside(from.z, from.w, to.z, to.w);
			room.x[side][k / 4][r / 8][i % 2][r % 8 * 4 + k % 4] = to;
		}
	};
	load_x(begin);
	load(begin, 0);
	load(begin, 1);
	keep_x(0);
	__syncthreads();
	for (int base = begin, side = 0; base < end; base += PIECE, side ^= 1) {
		load_x(base + PIECE);
#pragma unroll
		for (int s = 0; s < 2; s++) {
#pragma unroll
			for (int h = 0; h < 2; h++) {
				uint32_t f[2][2][4]; /* rows, products */
#pragma unroll
				for (int i = 0; i < 8; i++)
					widen((&v[s][i / 2].x)[2 * h + i % 2], f[i / 4][i % 2][i / 2 % 2], f[i / 4][i % 2][i / 2 % 2 + 2]);
#pragma unroll
				for (int n = 0; n < N; n++) {
					uint4 y = room.x[side][half * 2 + s][n][h][lane];
#pragma unroll
					for (int r = 0; r < 2; r++) {
						mma(c[r][n], f[r][0], y.x, y.y);
						mma(c[r][n], f[r][1], y.z, y.w);
					}
				}
			}
			load(base + PIECE, s);
		}
		keep_x(side ^ 1);
		__syncthreads();
	}
	auto each_sum = [&](auto use) {
#pragma unroll
		for (int i = 0; i < 2 * N * 4; i++)
			use(i / 4 % N * 8 + quad * 2 + i % 2, own + i / (4 * N) * 16 + i / 2 % 2 * 8, c[i / (4 * N)][i / 4 % N][i % 4]);
	};
	if (half)
		each_sum([&](int token, int r, float sum) { room.sums[token][r] = sum; });
	__syncthreads();
	if (!half)
		each_sum([&](int token, int r, float sum) { room.sums[token][r] += sum; });
	__syncthreads();
	const float scale = a.scale->inverse * OF_SUM;
	for (int i = threadIdx.x; i < 128 * a.m; i += 256) {
		int token = i / 128, r = i % 128;
		if (row0 + r >= a.n)
			continue;
		if (gridDim.y == 1)
			finish<bf16>(a, room.sums[token][r] * scale, token, row0 + r);
		else
			a.partial[((size_t)blockIdx.y * a.m + token) * a.n + row0 + r] = room.sums[token][r] * scale;
	}
	if (gridDim.y == 1 || !last_of(a.n_done + blockIdx.x, gridDim.y, is_last))
		return;
	for (int i = threadIdx.x; i < 32 * a.m; i += 256) {
		int token = i / 32, r = row0 + i % 32 * 4;
		float4 part[PARTS] = {};
		if (r >= a.n)
			continue;
#pragma unroll
		for (int p = 0; p < PARTS; p++)
			if (p < (int)gridDim.y)
				part[p] = __ldcg(reinterpret_cast<const float4 *>(a.partial + ((size_t)p * a.m + token) * a.n + r));
#pragma unroll
		for (int j = 0; j < 4; j++) {
			float all = 0.0f;
#pragma unroll
			for (int p = 0; p < PARTS; p++)
				all += (&part[p].x)[j];
			finish<bf16>(a, all, token, r + j);
		}
	}
}

/* Attention of up to Q heads that share keys and values over one range of keys. Eight lanes handle a key, 16 keys at a time. The last block to
 * finish merges the ranges. Exponentials are powers of two. */
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
	/* merges n partial results of D sums, `stride` apart, each followed by its largest score and its sum of exponentials */
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
	if (!last_of(a.n_done + blockIdx.z * gridDim.y + blockIdx.y, a.n_splits, is_last))
		return;
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
#define NARROW(name, THREADS, BLOCKS, ...)                                                                             \
	extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) jl_narrow_##name(gemv_args a)                    \
	{                                                                                                              \
		__VA_ARGS__(a);                                                                                        \
	}
#define NEXTS(T, kind, D) NEXT(T, kind, D, 1) NEXT(T, kind, D, 4) NEXT(T, kind, D, 8)
#define GEMVS(T, kind)    GEMV(T, kind, 1) GEMV(T, kind, 2) GEMV(T, kind, 4) GEMV(T, kind, 8)
GEMVS(bf16, b) GEMVS(float, f) NEXTS(bf16, b, 64) NEXTS(bf16, b, 128) NEXTS(float, f, 64) NEXTS(float, f, 128)
NARROW(8, 512, 2, narrow<1, 16>) NARROW(16, 256, 2, narrow_more<2>) NARROW(32, 256, 2, narrow_more<4>)
NARROW(16s, 256, 3, narrow<2, 8>) NARROW(32s, 256, 3, narrow<4, 8>)
