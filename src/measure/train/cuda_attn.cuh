/* Code that the attention kernels share. A block owns 64 rows, in four warps of 16. An accumulator is [columns / 8][4] in mma layout: a lane
 * holds columns 2·(lane mod 4) and the next, of rows lane / 4 and lane / 4 + 8. The files multiply differently but treat the results alike. */
#pragma once

#include "train/cuda_common.cuh"

#define LOG2E   1.4426950408889634f
#define N_ROWS  64 /* rows of a block's own tile */
#define THREADS 128
#define ALL     0xffffffffu

template <typename T> struct attn_args {
	const T *qkv, *out, *d_out;
	T *o;       /* forward: result */
	T *d_qkv;   /* backward */
	float *lse; /* [n_samples × n_heads × seq], natural logarithm */
	float *delta;
	int seq, n_heads, n_kv;
	float scale;
};

__device__ inline float ex2(float x)
{
	float y;
	asm("ex2.approx.ftz.f32 %0, %1;\n" : "=f"(y) : "f"(x));
	return y;
}

/* Maps a block to its head and sample: x counts the heads of several samples, y the tiles, z the remaining samples. So the longest rows run
 * first, the shortest fill the tail, and data that heads share stays in the cache. */
__device__ inline int own_head(int n_heads)
{
	return blockIdx.x % n_heads;
}
__device__ inline int own_sample(int n_heads)
{
	return blockIdx.z * (gridDim.x / n_heads) + blockIdx.x / n_heads;
}

/* Addresses for a block that owns queries. `last`: the tile of keys that needs masking, with a causal mask the one on the diagonal, otherwise
 * the final, possibly partial one. */
template <typename T, int D, bool CAUSAL> struct own_queries {
	int tile = gridDim.y - 1 - blockIdx.y, last = CAUSAL ? tile : gridDim.y - 1, q0 = tile * N_ROWS, head, n;
	int row0 = threadIdx.x / 32 * 16; /* first row of this warp */
	size_t pitch, sample;
	const T *q, *k, *v;

	__device__ explicit own_queries(const attn_args<T> &a) : head(own_head(a.n_heads)), n(own_sample(a.n_heads))
	{
		int kv_head = head / (a.n_heads / a.n_kv);
		pitch = (size_t)(a.n_heads + 2 * a.n_kv) * D, sample = (size_t)n * a.seq;
		q = a.qkv + sample * pitch + (size_t)head * D;
		k = a.qkv + sample * pitch + (size_t)(a.n_heads + kv_head) * D, v = k + (size_t)a.n_kv * D;
	}
	__device__ int n_keys(const attn_args<T> &a) const
	{
		return CAUSAL ? min(q0 + N_ROWS, a.seq) : a.seq;
	}
	/* Offsets of its output rows and its per-row numbers; recomputed at each use to save registers. */
	__device__ size_t out_at(const attn_args<T> &a) const
	{
		return (sample + q0) * a.n_heads * D + (size_t)head * D;
	}
	__device__ size_t row_at(const attn_args<T> &a) const
	{
		return ((size_t)n * a.n_heads + head) * a.seq + q0;
	}
};

/* Addresses for a block that owns keys and values; it streams queries in tiles of C, for each head of the group. */
template <typename T, int D, int C, bool CAUSAL> struct own_keys {
	int k0 = blockIdx.y * N_ROWS, begin = CAUSAL ? k0 : 0, kv_head, n, group, row0 = threadIdx.x / 32 * 16;
	int first = begin / C, n_tiles, n_all;
	size_t pitch, out_pitch, sample;
	const T *k, *v;

	__device__ explicit own_keys(const attn_args<T> &a) : kv_head(own_head(a.n_kv)), n(own_sample(a.n_kv))
	{
		group = a.n_heads / a.n_kv;
		n_tiles = (a.seq + C - 1) / C - first, n_all = n_tiles * group;
		pitch = (size_t)(a.n_heads + 2 * a.n_kv) * D, out_pitch = (size_t)a.n_heads * D;
		sample = (size_t)n * a.seq;
		k = a.qkv + sample * pitch + (size_t)(a.n_heads + kv_head) * D, v = k + (size_t)a.n_kv * D;
	}
	__device__ int head(int it) const
	{
		return kv_head * group + it / n_tiles;
	}
	__device__ int query(int it) const /* first query of tile `it` */
	{
		return (first + it % n_tiles) * C;
	}
};

/* Loads lse and delta of C queries from c0 of sample n: [2][C]. */
template <int C, typename T>
__device__ inline void load_rows(const attn_args<T> &a, float *rows, int n, int head, int c0)
{
	if (threadIdx.x < C) {
		size_t at = ((size_t)n * a.n_heads + head) * a.seq + c0 + threadIdx.x;
		bool there = c0 + (int)threadIdx.x < a.seq;
		rows[threadIdx.x] = there ? a.lse[at] * LOG2E : INFINITY;
		rows[C + threadIdx.x] = there ? a.delta[at] : 0.0f;
	}
}

__device__ inline void store2(bf16 *to, float x, float y)
{
	*(uint32_t *)to = pack_bf16(x, y);
}
__device__ inline void store2(float *to, float x, float y)
{
	*(float2 *)to = make_float2(x, y);
}

/* Stores rows row0 + lane/4 and row0 + lane/4 + 8 of an accumulator, multiplied by mul0 and mul1. */
template <typename T, int N>
__device__ inline void store_rows(T *to, size_t pitch, int row0, int n_there, const float (&o)[N][4], float mul0,
				  float mul1)
{
	int lane = threadIdx.x % 32, r0 = row0 + lane / 4, r1 = r0 + 8;
#pragma unroll
	for (int n = 0; n < N; n++) {
		int col = n * 8 + lane % 4 * 2;
		if (r0 < n_there)
			store2(to + (size_t)r0 * pitch + col, o[n][0] * mul0, o[n][1] * mul0);
		if (r1 < n_there)
			store2(to + (size_t)r1 * pitch + col, o[n][2] * mul1, o[n][3] * mul1);
	}
}

/* True if a query must not attend to the key: later keys where CAUSAL, and keys beyond the last one. */
template <bool CAUSAL> __device__ inline bool is_hidden(int col, int row, int seq)
{
	return CAUSAL ? col > row : col >= seq;
}

/* Masks the scores of such keys; columns start at col0, rows at row0. */
template <bool CAUSAL, int N> __device__ inline void hide(float (&s)[N][4], int col0, int row0, int seq)
{
	int lane = threadIdx.x % 32;
#pragma unroll
	for (int n = 0; n < N; n++)
#pragma unroll
		for (int i = 0; i < 4; i++)
			if (is_hidden<CAUSAL>(col0 + n * 8 + lane % 4 * 2 + (i & 1), row0 + lane / 4 + (i >> 1) * 8, seq))
				s[n][i] = -INFINITY;
}

/* Online softmax: turns scores into exponentials; `shrink` is the factor for the earlier sums when the maximum grows. EXACT: subtracts the
 * maximum before scaling. */
template <bool EXACT, int N>
__device__ inline void exponentials(float (&s)[N][4], float (&top)[2], float (&sum)[2], float (&shrink)[2],
				    float scale2)
{
#pragma unroll
	for (int r = 0; r < 2; r++) {
		float most = top[r], part = 0.0f;
#pragma unroll
		for (int n = 0; n < N; n++)
			most = fmaxf(most, fmaxf(s[n][2 * r], s[n][2 * r + 1]));
		most = fmaxf(most, __shfl_xor_sync(ALL, most, 1));
		most = fmaxf(most, __shfl_xor_sync(ALL, most, 2));
		shrink[r] = ex2((top[r] - most) * scale2);
		top[r] = most;
#pragma unroll
		for (int n = 0; n < N; n++)
#pragma unroll
			for (int i = 2 * r; i < 2 * r + 2; i++) {
				s[n][i] = ex2(EXACT ? (s[n][i] - most) * scale2 : s[n][i] * scale2 - most * scale2);
				part += s[n][i];
			}
		sum[r] = sum[r] * shrink[r] + part;
	}
}
template <int M> __device__ inline void shrink_rows(float (&o)[M][4], const float (&shrink)[2])
{
	if (!__any_sync(ALL, shrink[0] != 1.0f || shrink[1] != 1.0f))
		return; /* the maximum rarely grows after the first keys */
#pragma unroll
	for (int n = 0; n < M; n++)
#pragma unroll
		for (int i = 0; i < 4; i++)
			o[n][i] *= shrink[i >> 1];
}
template <bool EXACT, int N, int M>
__device__ inline void softmax_step(float (&s)[N][4], float (&o)[M][4], float (&top)[2], float (&sum)[2], float scale2)
{
	float shrink[2];
	exponentials<EXACT>(s, top, sum, shrink, scale2);
	shrink_rows(o, shrink);
}

/* Finishes the row sums and stores lse. */
template <typename T, int D, bool CAUSAL>
__device__ inline void end_rows(const attn_args<T> &a, const own_queries<T, D, CAUSAL> &w, const float (&top)[2],
				float (&sum)[2])
{
	int lane = threadIdx.x % 32;
#pragma unroll
	for (int r = 0; r < 2; r++) {
		sum[r] += __shfl_xor_sync(ALL, sum[r], 1);
		sum[r] += __shfl_xor_sync(ALL, sum[r], 2);
		int row = w.row0 + lane / 4 + r * 8;
		if (lane % 4 == 0 && w.q0 + row < a.seq)
			a.lse[w.row_at(a) + row] = top[r] * a.scale + logf(sum[r]);
	}
}
template <typename T, int D, bool CAUSAL>
__device__ inline void store_forward(const attn_args<T> &a, const own_queries<T, D, CAUSAL> &w,
				     const float (&o)[D / 8][4], const float (&top)[2], float (&sum)[2])
{
	end_rows(a, w, top, sum);
	store_rows(a.o + w.out_at(a), (size_t)a.n_heads * D, w.row0, a.seq - w.q0, o, 1.0f / sum[0], 1.0f / sum[1]);
}

/* delta = rowsum(dO∘O), two lanes per row; stored, because the kernel that owns keys needs it too. */
template <typename T, int D, bool CAUSAL>
__device__ inline void row_figures(const attn_args<T> &a, const own_queries<T, D, CAUSAL> &w, float (&delta)[2],
				   float (&lse2)[2])
{
	int lane = threadIdx.x % 32, own = w.row0 + lane / 2;
	float sum = 0.0f, lse = w.q0 + own < a.seq ? a.lse[w.row_at(a) + own] * LOG2E : INFINITY;
	if (w.q0 + own < a.seq)
#pragma unroll
		for (int i = 0; i < D / 16; i++) {
			float x[8], y[8];
			size_t at = w.out_at(a) + (size_t)own * a.n_heads * D + (lane % 2) * (D / 2) + i * 8;
			load8(a.out + at, x);
			load8(a.d_out + at, y);
#pragma unroll
			for (int j = 0; j < 8; j++)
				sum += x[j] * y[j];
		}
	sum += __shfl_xor_sync(ALL, sum, 1);
	if (lane % 2 == 0 && w.q0 + own < a.seq)
		a.delta[w.row_at(a) + own] = sum;
#pragma unroll
	for (int r = 0; r < 2; r++) {
		delta[r] = __shfl_sync(ALL, sum, (lane / 4 + r * 8) * 2);
		lse2[r] = __shfl_sync(ALL, lse, (lane / 4 + r * 8) * 2);
	}
}

/* Recomputes P from the scores of queries (rows from row0) and keys (columns from col0). `edge`: the tile needs masking. */
template <bool CAUSAL, int N>
__device__ inline void probabilities(float (&s)[N][4], const float (&lse2)[2], float scale2, bool edge, int col0,
				     int row0, int seq)
{
	int lane = threadIdx.x % 32;
#pragma unroll
	for (int n = 0; n < N; n++)
#pragma unroll
		for (int i = 0; i < 4; i++)
			s[n][i] = ex2(s[n][i] * scale2 - lse2[i >> 1]);
	if (edge)
#pragma unroll
		for (int i = 0; i < 4 * N; i++)
			if (is_hidden<CAUSAL>(col0 + i / 4 * 8 + lane % 4 * 2 + (i & 1),
					      row0 + lane / 4 + (i % 4 >> 1) * 8, seq))
				s[i / 4][i % 4] = 0.0f;
}
/* dS = P∘(dP − delta) */
template <int N>
__device__ inline void through_softmax(float (&s)[N][4], const float (&dp)[N][4], const float (&delta)[2])
{
#pragma unroll
	for (int n = 0; n < N; n++)
#pragma unroll
		for (int i = 0; i < 4; i++)
			s[n][i] *= dp[n][i] - delta[i >> 1];
}

/* The two functions above, transposed: rows are keys; lse (times `mul`, which converts to base 2) and delta belong to columns. `edge` is for the
 * causal mask only: rows beyond the last key are not stored, and queries beyond the last one contribute 0. */
template <int N>
__device__ inline void probabilities(float (&s)[N][4], const float *lse, float mul, float scale2, bool edge, int col0,
				     int row0)
{
	int lane = threadIdx.x % 32;
#pragma unroll
	for (int n = 0; n < N; n++) {
		float2 l = *(const float2 *)(lse + n * 8 + lane % 4 * 2);
#pragma unroll
		for (int i = 0; i < 4; i++)
			s[n][i] = ex2(s[n][i] * scale2 - (i & 1 ? l.y : l.x) * mul);
	}
	if (edge)
#pragma unroll
		for (int i = 0; i < 4 * N; i++)
			if (row0 + lane / 4 + (i % 4 >> 1) * 8 > col0 + i / 4 * 8 + lane % 4 * 2 + (i & 1))
				s[i / 4][i % 4] = 0.0f;
}
template <int N> __device__ inline void through_softmax(float (&s)[N][4], const float (&dp)[N][4], const float *delta)
{
	int lane = threadIdx.x % 32;
#pragma unroll
	for (int n = 0; n < N; n++) {
		float2 d = *(const float2 *)(delta + n * 8 + lane % 4 * 2);
#pragma unroll
		for (int i = 0; i < 4; i++)
			s[n][i] *= dp[n][i] - (i & 1 ? d.y : d.x);
	}
}

template <typename T, int D, int C, bool CAUSAL>
__device__ inline void store_backward(const attn_args<T> &a, const own_keys<T, D, C, CAUSAL> &w,
				      const float (&dk)[D / 8][4], const float (&dv)[D / 8][4])
{
	T *to = a.d_qkv + (w.sample + w.k0) * w.pitch + (size_t)(a.n_heads + w.kv_head) * D;
	store_rows(to, w.pitch, w.row0, a.seq - w.k0, dk, a.scale, a.scale);
	store_rows(to + (size_t)a.n_kv * D, w.pitch, w.row0, a.seq - w.k0, dv, 1.0f, 1.0f);
}

/* --- bfloat16: a tile in shared memory has rows of D elements whose 16-byte pieces are permuted (piece ^ row mod 8), so that ldmatrix has no
 * bank conflicts. For D = 64 this is wgmma's 128-byte swizzle. */

__device__ inline void copies_end()
{
	asm volatile("cp.async.commit_group;\n");
}

/* Address of piece `piece` (8 elements) of row `row` of a tile. */
template <int D> __device__ inline uint32_t at_piece(uint32_t tile, int row, int piece)
{
	return tile + (uint32_t)(row * D * 2 + ((piece ^ (row & 7)) << 4));
}

/* Copies R rows from global memory (pitch in elements); rows from `n_there` on are set to zero. A thread copies every 8th or 16th row. These
 * rows have the same permutation, so its addresses are one base and constant steps. */
template <int D, int R> __device__ inline void load_tile(uint32_t tile, const bf16 *from, size_t pitch, int n_there)
{
	constexpr int PIECES = D / 8, STEP = THREADS / PIECES;
	static_assert(STEP % 8 == 0 && R % STEP == 0);
	const int row = threadIdx.x / PIECES, piece = threadIdx.x % PIECES;
	const bf16 *at = from + row * pitch + piece * 8;
	const uint32_t to = at_piece<D>(tile, row, piece);
#pragma unroll
	for (int i = 0; i < R / STEP; i++, at += STEP * pitch) {
		const int n = row + i * STEP < n_there ? 16 : 0; /* cp.async fills the rest with zeros */
		asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(to + i * STEP * D * 2), "l"(at),
			     "r"(n));
	}
}

/* Loads one step's two adjacent tiles: keys and values, or queries and output gradients. */
template <int D, int C>
__device__ inline void load_pair(uint32_t to, const bf16 *first, size_t pitch1, const bf16 *second, size_t pitch2,
				 int n_there)
{
	load_tile<D, C>(to, first, pitch1, n_there);
	load_tile<D, C>(to + C * D * 2, second, pitch2, n_there);
}
template <int D, int C, bool CAUSAL>
__device__ inline void load_keys(uint32_t to, const attn_args<bf16> &a, const own_queries<bf16, D, CAUSAL> &w, int j)
{
	size_t at = (size_t)(j * C) * w.pitch;
	load_pair<D, C>(to, w.k + at, w.pitch, w.v + at, w.pitch, a.seq - j * C);
}
template <int D, int C, bool CAUSAL>
__device__ inline void load_queries(uint32_t to, const attn_args<bf16> &a, const own_keys<bf16, D, C, CAUSAL> &w, int it)
{
	size_t at = w.sample + w.query(it), col = (size_t)w.head(it) * D;
	load_pair<D, C>(to, a.qkv + at * w.pitch + col, w.pitch, a.d_out + at * w.out_pitch + col, w.out_pitch,
			a.seq - w.query(it));
}

/* The A operand for columns 16·k .. of an accumulator, rounded to bf16. */
template <int N> __device__ inline void round_rows(uint32_t (&a)[4], const float (&p)[N][4], int k)
{
	a[0] = pack_bf16(p[2 * k][0], p[2 * k][1]);
	a[1] = pack_bf16(p[2 * k][2], p[2 * k][3]);
	a[2] = pack_bf16(p[2 * k + 1][0], p[2 * k + 1][1]);
	a[3] = pack_bf16(p[2 * k + 1][2], p[2 * k + 1][3]);
}
