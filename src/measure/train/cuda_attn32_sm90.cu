/* Attention over floats for Hopper (sm_90a), causal or full, heads of 64, with tf32 wgmma products. wgmma needs the inner index contiguous in
 * both operands, so tiles that are summed over rows are also stored transposed. Values are rounded on the way to shared memory; the next tiles
 * are loaded into registers in advance to hide latency. */
#include "train/cuda_attn.cuh"
#include "train/cuda_wgmma.cuh"

#define D      64
#define HALF_B (N_ROWS * 128) /* a half tile: 32 columns */
#define TILE_B (2 * HALF_B)
#define TILE   (TILE_B / 16)

/* c[64×64] (+)= A·Tᵀ, inner dimension 8; both operands in shared memory. */
__device__ static void wgmma_ss(float c[8][4], uint64_t a, uint64_t b, int add)
{
	asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
		     "wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 " ACC ", %32, %33, p, 1, 1;\n}\n"
		     : ACC32(c)
		     : "l"(a), "l"(b), "r"(add));
}
/* c += P·T, P in registers, T transposed in shared memory. */
__device__ static void wgmma_rs(float c[8][4], const uint32_t a[4], uint64_t b)
{
	asm volatile("wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 " ACC ", {%32,%33,%34,%35}, %36, 1, 1, 1;\n"
		     : ACC32(c)
		     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

/* Rounds to the nearest tf32 (19 bits). cvt.rna would compile to four instructions, a third of the whole kernel. Unlike cvt.rna, this turns the
 * largest NaN into zero; such a NaN is still visible in the residual stream or in the gradient that produced it. */
__device__ static uint32_t nearest(float x)
{
	return __float_as_uint(x) + 0x1000;
}

/* Offset of eight columns in a tile, in units of 16 bytes. */
__device__ constexpr uint32_t at_columns(int k)
{
	return (k / 4 * HALF_B + k % 4 * 32) / 16;
}

/* c = A·Tᵀ, asynchronous. */
__device__ static void product_t(float c[8][4], uint32_t a_tile, uint32_t tile)
{
#pragma unroll
	for (int k = 0; k < D / 8; k++)
		wgmma_ss(c, describe(a_tile + at_columns(k)), describe(tile + at_columns(k)), k > 0);
	wgmma_commit();
}

/* c += P·T, asynchronous. A lane has columns 2t and 2t + 1 of P where the operand needs t and t + 4; `mover` stores the rows of T in the
 * matching order. */
__device__ static void product(float (&c)[8][4], const float (&p)[8][4], uint32_t transposed)
{
	uint32_t a[8][4];
#pragma unroll
	for (int k = 0; k < 8; k++)
#pragma unroll
		for (int i = 0; i < 4; i++)
			a[k][i] = nearest(p[k][i >> 1 | (i & 1) << 1]);
	wgmma_fence();
#pragma unroll
	for (int k = 0; k < 8; k++)
		wgmma_rs(c, a[k], describe(transposed + at_columns(k)));
	wgmma_commit();
}

/* Copies tiles from global memory: a warp copies 16 rows, a thread four floats of every second one of them. */
struct mover {
	int row;
	uint32_t to, from, to_transposed;
	uint8_t *base;

	__device__ mover() : row(threadIdx.x / 32 * 16 + threadIdx.x % 32 / 16)
	{
		const int piece = threadIdx.x % 16, odd = threadIdx.x % 32 / 16, own = threadIdx.x / 32 * 16 + piece;
		const int order = (own & 56) | (own & 7) >> 1 | (own & 1) << 2; /* row order in tiles that are summed over rows */
		to = piece / 8 * HALF_B + row * 128 + ((piece % 8 ^ odd) << 4);
		from = own * 128 + ((odd ^ (own & 7)) << 4);
		to_transposed = order / 32 * HALF_B + odd * 512 + ((order % 32 / 4 ^ odd << 2) << 4) + order % 4 * 4;
		base = shared_any + (shared_begin() - (uint32_t)__cvta_generic_to_shared(shared_any));
	}
	/* Rows beyond the last repeat it; their results are masked or not stored. */
	__device__ void load(float4 (&x)[8], const float *from, size_t pitch, int n_there) const
	{
		const uint32_t pitch_B = (uint32_t)pitch * 4, column_B = threadIdx.x % 16 * 16;
#pragma unroll
		for (int i = 0; i < 8; i++)
			x[i] = *(const float4 *)((const char *)from +
						 (min(row + 2 * i, n_there - 1) * pitch_B + column_B));
	}
	__device__ void store(int tile, const float4 (&x)[8]) const
	{
#pragma unroll
		for (int i = 0; i < 8; i++)
			*(uint4 *)(base + tile * TILE_B + i * 256 + (to ^ i % 4 * 32)) = make_uint4(
				nearest(x[i].x), nearest(x[i].y), nearest(x[i].z), nearest(x[i].w));
	}
	/* Stores the warp's own rows transposed. A thread handles one of 16 rows and every second piece, which avoids bank conflicts. It reads
	 * all pieces before it writes, so that the reads overlap. */
	__device__ void transpose(int tile, int transposed) const
	{
		float4 x[8];
#pragma unroll
		for (int i = 0; i < 8; i++)
			x[i] = *(float4 *)(base + tile * TILE_B + i / 4 * HALF_B + (from ^ i % 4 * 32));
#pragma unroll
		for (int i = 0; i < 8; i++) {
			uint8_t *at = base + transposed * TILE_B + i * 1024;
			*(float *)(at + to_transposed) = x[i].x;
			*(float *)(at + (to_transposed ^ 16) + 128) = x[i].y;
			*(float *)(at + (to_transposed ^ 32) + 256) = x[i].z;
			*(float *)(at + (to_transposed ^ 48) + 384) = x[i].w;
		}
	}
};

/* Makes all threads' stores to shared memory visible to wgmma. */
__device__ static void stored()
{
	asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory");
	__syncthreads();
}

/* All three kernels: store tiles, start the products that need no transposed tile, and meanwhile transpose and load the next tiles. Two `stored`
 * barriers per step, one after each group of products, keep warps from overwriting tiles in use. */
template <bool CAUSAL> __device__ static void attn_fwd(const attn_args<float> &a)
{
	enum { Q, K, V, V_T };
	const own_queries<float, D, CAUSAL> w(a);
	const mover m;
	const uint32_t tiles = place(shared_begin());
	float4 k[8], v[8];
	float o[8][4] = {}, top[2] = { -INFINITY, -INFINITY }, sum[2] = { 0.0f, 0.0f };
	const float scale2 = a.scale * LOG2E;

	m.load(v, w.q + w.q0 * w.pitch, w.pitch, a.seq - w.q0);
	m.load(k, w.k, w.pitch, a.seq);
	m.store(Q, v);
	m.load(v, w.v, w.pitch, a.seq);
	for (int j = 0; j <= w.last; j++) {
		float s[8][4];
		m.store(K, k);
		m.store(V, v);
		stored();
		wgmma_fence();
		product_t(s, tiles + Q * TILE, tiles + K * TILE);
		m.transpose(V, V_T);
		if (j < w.last) {
			const size_t next = (j + 1) * N_ROWS * w.pitch;
			m.load(k, w.k + next, w.pitch, a.seq - (j + 1) * N_ROWS);
			m.load(v, w.v + next, w.pitch, a.seq - (j + 1) * N_ROWS);
		}
		wgmma_wait<0>();
		if (j == w.last)
			hide<CAUSAL>(s, 0, w.row0, a.seq - j * N_ROWS);
		softmax_step<true>(s, o, top, sum, scale2);
		stored();
		product(o, s, tiles + V_T * TILE);
		wgmma_wait<0>();
	}
	store_forward(a, w, o, top, sum);
}

template <bool CAUSAL> __device__ static void attn_bwd_q(const attn_args<float> &a)
{
	enum { Q, DO, K, V, K_T };
	const own_queries<float, D, CAUSAL> w(a);
	const mover m;
	const uint32_t tiles = place(shared_begin());
	float4 k[8], v[8];
	float delta[2], lse2[2], dq[8][4] = {}, scale2 = a.scale * LOG2E;

	m.load(k, w.q + w.q0 * w.pitch, w.pitch, a.seq - w.q0);
	m.load(v, a.d_out + w.out_at(a), (size_t)a.n_heads * D, a.seq - w.q0);
	m.store(Q, k);
	m.store(DO, v);
	m.load(k, w.k, w.pitch, a.seq);
	m.load(v, w.v, w.pitch, a.seq);
	row_figures(a, w, delta, lse2);
	for (int j = 0; j <= w.last; j++) {
		float s[8][4], dp[8][4];
		m.store(K, k);
		m.store(V, v);
		stored();
		wgmma_fence();
		product_t(s, tiles + Q * TILE, tiles + K * TILE);
		product_t(dp, tiles + DO * TILE, tiles + V * TILE);
		m.transpose(K, K_T);
		if (j < w.last) {
			const size_t next = (j + 1) * N_ROWS * w.pitch;
			m.load(k, w.k + next, w.pitch, a.seq - (j + 1) * N_ROWS);
			m.load(v, w.v + next, w.pitch, a.seq - (j + 1) * N_ROWS);
		}
		wgmma_wait<1>();
		probabilities<CAUSAL>(s, lse2, scale2, j == w.last, 0, w.row0, a.seq - j * N_ROWS);
		wgmma_wait<0>();
		through_softmax(s, dp, delta);
		stored();
		product(dq, s, tiles + K_T * TILE);
		wgmma_wait<0>();
	}
	store_rows(a.d_qkv + (w.sample + w.q0) * w.pitch + (size_t)w.head * D, w.pitch, w.row0, a.seq - w.q0, dq,
		   a.scale, a.scale);
}

template <bool CAUSAL> __device__ static void attn_bwd_kv(const attn_args<float> &a)
{
	enum { K, V, Q, DO, Q_T, DO_T, NUMBERS };
	const own_keys<float, D, N_ROWS, CAUSAL> w(a);
	const mover m;
	const uint32_t tiles = place(shared_begin());
	float *numbers = (float *)(m.base + NUMBERS * TILE_B), number; /* lse and delta, of this step and the next */
	float4 q[8], d_o[8];
	float dk[8][4] = {}, dv[8][4] = {}, scale2 = a.scale * LOG2E;
	const auto load = [&](int it) {
		const int head = w.head(it), c0 = w.query(it), n_there = a.seq - c0;
		const size_t at = w.sample + c0, col = (size_t)head * D;
		const bool is_lse = threadIdx.x < N_ROWS, there = (int)threadIdx.x % N_ROWS < n_there;
		const float *from = (is_lse ? a.lse : a.delta) + ((size_t)w.n * a.n_heads + head) * a.seq + c0;
		m.load(q, a.qkv + at * w.pitch + col, w.pitch, n_there);
		m.load(d_o, a.d_out + at * w.out_pitch + col, w.out_pitch, n_there);
		number = there ? from[threadIdx.x % N_ROWS] : is_lse ? INFINITY : 0.0f;
	};

	m.load(q, w.k + w.k0 * w.pitch, w.pitch, a.seq - w.k0);
	m.load(d_o, w.v + w.k0 * w.pitch, w.pitch, a.seq - w.k0);
	m.store(K, q);
	m.store(V, d_o);
	load(0);
	for (int it = 0; it < w.n_all; it++) {
		float s[8][4], dp[8][4], *lse = numbers + it % 2 * 2 * N_ROWS, *delta = lse + N_ROWS;
		m.store(Q, q);
		m.store(DO, d_o);
		lse[threadIdx.x] = number;
		stored();
		wgmma_fence();
		product_t(s, tiles + K * TILE, tiles + Q * TILE);
		product_t(dp, tiles + V * TILE, tiles + DO * TILE);
		m.transpose(DO, DO_T);
		m.transpose(Q, Q_T);
		if (it + 1 < w.n_all)
			load(it + 1);
		wgmma_wait<1>();
		probabilities(s, lse, LOG2E, scale2, CAUSAL && w.query(it) == w.k0, 0, w.row0);
		wgmma_wait<0>();
		stored();
		product(dv, s, tiles + DO_T * TILE);
		through_softmax(s, dp, delta);
		product(dk, s, tiles + Q_T * TILE);
		wgmma_wait<0>();
	}
	store_backward(a, w, dk, dv);
}

#define KERNEL(name, FIT)                                                                                              \
	extern "C" __global__ void __launch_bounds__(THREADS, FIT) jl_attn_##name##_t64(attn_args<float> a)            \
	{                                                                                                              \
		attn_##name<true>(a);                                                                                  \
	}                                                                                                              \
	extern "C" __global__ void __launch_bounds__(THREADS, FIT) jl_attn_##name##_t64_all(attn_args<float> a)        \
	{                                                                                                              \
		attn_##name<false>(a);                                                                                 \
	}

KERNEL(fwd, 3)
KERNEL(bwd_q, 2)
KERNEL(bwd_kv, 2)
