/* Attention in bfloat16 for Hopper (sm_90a), causal or full, heads of 64 and, forward only, 128. Products are wgmma, which reads operands
 * directly from shared memory. Structure, tiles and per-row numbers as in cuda_attn.cu: a block is one warpgroup (four warps) and owns 64 rows.
 * Tiles are 64 columns wide; a head of 128 has two. */
#include "train/cuda_attn.cuh"
#include "train/cuda_wgmma.cuh"

#define D      64
#define TILE_B (N_ROWS * D * 2)

/* Waits until at most the newest N copy groups are pending, in every thread, and makes the data visible to wgmma. */
template <int N> __device__ static void copies_wait()
{
	asm volatile("cp.async.wait_group %0;\n" ::"n"(N) : "memory");
	asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory");
	__syncthreads();
}

/* c[64×64] (+)= A·Tᵀ, inner dimension 16; both operands in shared memory with a contiguous inner dimension. */
__device__ static void wgmma_ss(float c[8][4], uint64_t a, uint64_t b, int add)
{
	asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
		     "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " ACC ", %32, %33, p, 1, 1, 0, 0;\n}\n"
		     : ACC32(c)
		     : "l"(a), "l"(b), "r"(add));
}
/* c += P·T, P in registers, T in shared memory with its columns contiguous. */
__device__ static void wgmma_rs(float c[8][4], const uint32_t a[4], uint64_t b)
{
	asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " ACC
		     ", {%32,%33,%34,%35}, %36, 1, 1, 1, 1;\n"
		     : ACC32(c)
		     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

/* c[64×64] = A·Tᵀ over H tiles of 64, asynchronous. */
template <int H = 1> __device__ static void product_t(float c[8][4], uint32_t a_tile, uint32_t tile)
{
#pragma unroll
	for (int k = 0; k < 4 * H; k++) {
		const uint32_t at = (k / 4 * TILE_B + k % 4 * 32) / 16;
		wgmma_ss(c, describe(a_tile + at), describe(tile + at), k > 0);
	}
	wgmma_commit();
}

/* c[64×64·H] += P·T with P already rounded, asynchronous. */
template <int H> __device__ static void product_rounded(float (&c)[8 * H][4], const uint32_t (&a)[4][4], uint32_t tile)
{
	wgmma_fence();
#pragma unroll
	for (int k = 0; k < 4; k++)
#pragma unroll
		for (int h = 0; h < H; h++)
			wgmma_rs(c + 8 * h, a[k], describe(tile + (h * TILE_B + k * 16 * 128) / 16));
	wgmma_commit();
}
__device__ static void round_all(uint32_t (&a)[4][4], const float (&p)[8][4])
{
#pragma unroll
	for (int k = 0; k < 4; k++)
		round_rows(a[k], p, k);
}
__device__ static void product(float (&c)[8][4], const float (&p)[8][4], uint32_t tile)
{
	uint32_t a[4][4];
	round_all(a, p);
	product_rounded<1>(c, a, tile);
}

/* Copies 64 rows of a head as H tiles; a thread copies one piece of every 16th row. Addresses split into a part that all threads share and a
 * part that is constant over the loop. */
struct copier {
	uint32_t to, off, step_B;

	__device__ explicit copier(uint32_t pitch_B)
		: to(at_piece<D>(0, threadIdx.x / 8, threadIdx.x % 8)),
		  off(threadIdx.x / 8 * pitch_B + threadIdx.x % 8 * 16), step_B(16 * pitch_B)
	{
	}
	template <int H = 1> __device__ void copy(uint32_t tile, const bf16 *from, int n_there) const
	{
#pragma unroll
		for (int i = 0; i < 4 * H; i++) {
			const uint32_t at = tile + to + i / 4 * TILE_B + i % 4 * 16 * 128;
			const char *piece = (const char *)(from + i / 4 * D) + (off + i % 4 * step_B);
			if (n_there >= N_ROWS)
				asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(at), "l"(piece));
			else /* cp.async fills the rest with zeros */
				asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(at), "l"(piece),
					     "r"((int)threadIdx.x / 8 + i % 4 * 16 < n_there ? 16 : 0));
		}
	}
};

/* Stores a warp's 16 rows of an accumulator, each times its `mul`, through a tile private to the warp, so that whole rows are written. */
__device__ static void store_tile(bf16 *to, size_t pitch, int row0, int n_there, uint32_t tile, const float (*o)[4],
				  float mul0, float mul1)
{
	const int lane = threadIdx.x % 32;
#pragma unroll
	for (int k = 0; k < 4; k++)
		asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};\n" ::"r"(
				     at_piece<D>(tile, row0 + lane % 16, 2 * k + lane / 16)),
			     "r"(pack_bf16(o[2 * k][0] * mul0, o[2 * k][1] * mul0)),
			     "r"(pack_bf16(o[2 * k][2] * mul1, o[2 * k][3] * mul1)),
			     "r"(pack_bf16(o[2 * k + 1][0] * mul0, o[2 * k + 1][1] * mul0)),
			     "r"(pack_bf16(o[2 * k + 1][2] * mul1, o[2 * k + 1][3] * mul1))
			     : "memory");
	__syncwarp();
#pragma unroll
	for (int i = 0; i < 4; i++) {
		const int row = row0 + i * 4 + lane / 8;
		uint4 x;
		asm volatile("ld.shared.v4.b32 {%0,%1,%2,%3}, [%4];\n"
			     : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
			     : "r"(at_piece<D>(tile, row, lane % 8))
			     : "memory");
		if (row < n_there)
			*(uint4 *)(to + row * pitch + lane % 8 * 8) = x;
	}
}

/* Pipelined: the scores of the next keys are multiplied while this step's exponentials are applied to the values. Heads of 128 buffer one tile
 * of values instead of two, which lets a third block fit on the multiprocessor. */
template <int H, bool CAUSAL> __device__ static void attn_fwd(const attn_args<bf16> &a)
{
	constexpr uint32_t HEAD_B = H * TILE_B, HEAD = HEAD_B / 16;
	constexpr bool TWO = H == 1;
	const own_queries<bf16, D * H, CAUSAL> w(a);
	const copier c((uint32_t)w.pitch * 2);
	const uint32_t at = shared_begin(), to_keys = at + HEAD_B, to_values = to_keys + 2 * HEAD_B;
	const uint32_t q_tile = place(at), keys = q_tile + HEAD, values = keys + 2 * HEAD;
	const size_t tile_at = N_ROWS * w.pitch;

	c.copy<H>(at, w.q + w.q0 * w.pitch, a.seq - w.q0);
	c.copy<H>(to_keys, w.k, a.seq);
	copies_end();
	if (w.last > 0)
		c.copy<H>(to_keys + HEAD_B, w.k + tile_at, a.seq - N_ROWS);
	copies_end();
	c.copy<H>(to_values, w.v, a.seq);
	copies_end();

	const bf16 *k = w.k + 2 * tile_at, *v = w.v + tile_at;
	float o[8 * H][4] = {}, s[8][4], top[2] = { -INFINITY, -INFINITY }, sum[2] = { 0.0f, 0.0f }, shrink[2];
	const float scale2 = a.scale * LOG2E;
	uint32_t p[4][4];
	copies_wait<2>();
	wgmma_fence();
	product_t<H>(s, q_tile, keys);
	wgmma_wait<0>();
	if (w.last == 0)
		hide<CAUSAL>(s, 0, w.row0, a.seq);
	exponentials<false>(s, top, sum, shrink, scale2);
	round_all(p, s);
	for (int j = 0; j < w.last; j++, k += tile_at, v += tile_at) {
		const uint32_t this_one = j & 1, other = 1 - this_one;
		copies_wait<TWO ? 0 : 1>(); /* wait for the next keys; values may still be in flight */
		wgmma_fence();
		product_t<H>(s, q_tile, keys + other * HEAD);
		if (!TWO)
			copies_wait<0>();
		product_rounded<H>(o, p, values + (TWO ? this_one * HEAD : 0));
		if (j + 2 <= w.last)
			c.copy<H>(to_keys + this_one * HEAD_B, k, a.seq - (j + 2) * N_ROWS);
		copies_end();
		if (TWO)
			c.copy<H>(to_values + other * HEAD_B, v, a.seq - (j + 1) * N_ROWS), copies_end();
		wgmma_wait<1>();
		if (j + 1 == w.last)
			hide<CAUSAL>(s, 0, w.row0, a.seq - w.last * N_ROWS);
		exponentials<false>(s, top, sum, shrink, scale2);
		wgmma_wait<0>();
		if (!TWO) {
			__syncthreads();
			c.copy<H>(to_values, v, a.seq - (j + 1) * N_ROWS), copies_end();
		}
		shrink_rows(o, shrink);
		round_all(p, s);
	}
	copies_wait<0>();
	product_rounded<H>(o, p, values + (TWO ? (w.last & 1) * HEAD : 0));
	wgmma_wait<0>();
	end_rows(a, w, top, sum);
#pragma unroll
	for (int h = 0; h < H; h++)
		store_tile(a.o + w.out_at(a) + h * D, (size_t)a.n_heads * D * H, w.row0, a.seq - w.q0, at + h * TILE_B,
			   o + 8 * h, 1.0f / sum[0], 1.0f / sum[1]);
}

template <bool CAUSAL> __device__ static void attn_bwd_q(const attn_args<bf16> &a)
{
	constexpr uint32_t TILE = TILE_B / 16;
	const own_queries<bf16, D, CAUSAL> w(a);
	const copier c((uint32_t)w.pitch * 2), c_out(a.n_heads * D * 2);
	const uint32_t at = shared_begin(), to_kv = at + 2 * TILE_B; /* then k, v, k, v */
	const uint32_t q_tile = place(at), do_tile = q_tile + TILE;
	const bf16 *k = w.k, *v = w.v;

	c.copy(at, w.q + w.q0 * w.pitch, a.seq - w.q0);
	c_out.copy(at + TILE_B, a.d_out + w.out_at(a), a.seq - w.q0);
	c.copy(to_kv, k, a.seq);
	c.copy(to_kv + TILE_B, v, a.seq);
	copies_end();

	float delta[2], lse2[2], dq[8][4] = {}, scale2 = a.scale * LOG2E;
	row_figures(a, w, delta, lse2);
	for (int j = 0; j <= w.last; j++) {
		const uint32_t k_tile = do_tile + TILE + (j & 1) * 2 * TILE, to = to_kv + (~j & 1) * 2 * TILE_B;
		float s[8][4], dp[8][4];
		copies_wait<0>();
		wgmma_fence();
		product_t(s, q_tile, k_tile);
		product_t(dp, do_tile, k_tile + TILE);
		if (j < w.last) {
			k += N_ROWS * w.pitch, v += N_ROWS * w.pitch;
			c.copy(to, k, a.seq - (j + 1) * N_ROWS);
			c.copy(to + TILE_B, v, a.seq - (j + 1) * N_ROWS);
		}
		copies_end();
		wgmma_wait<1>();
		probabilities<CAUSAL>(s, lse2, scale2, j == w.last, 0, w.row0, a.seq - j * N_ROWS);
		wgmma_wait<0>();
		through_softmax(s, dp, delta);
		product(dq, s, k_tile);
		wgmma_wait<0>();
	}
	__syncthreads();
	store_tile(a.d_qkv + (w.sample + w.q0) * w.pitch + (size_t)w.head * D, w.pitch, w.row0, a.seq - w.q0, at, dq,
		   a.scale, a.scale);
}

/* The streamed operands of a block that owns keys: queries, output gradients, lse and delta, over all tiles of all heads. */
template <bool CAUSAL> struct passing {
	const copier c, c_out;
	const bf16 *q, *d_o;
	const float *number; /* half of the threads copy lse, the others delta */
	int c0;

	__device__ passing(const attn_args<bf16> &a, const own_keys<bf16, D, N_ROWS, CAUSAL> &w)
		: c((uint32_t)w.pitch * 2), c_out((uint32_t)w.out_pitch * 2), c0(w.begin)
	{
		const int head = w.kv_head * w.group;
		q = a.qkv + (w.sample + w.begin) * w.pitch + head * D;
		d_o = a.d_out + (w.sample + w.begin) * w.out_pitch + head * D;
		number = (threadIdx.x < N_ROWS ? a.lse : a.delta) + ((size_t)w.n * a.n_heads + head) * a.seq + w.begin +
			 threadIdx.x % N_ROWS;
	}
	__device__ void copy(const attn_args<bf16> &a, const own_keys<bf16, D, N_ROWS, CAUSAL> &w, uint32_t tiles,
			     uint32_t rows)
	{
		c.copy(tiles, q, a.seq - c0);
		c_out.copy(tiles + TILE_B, d_o, a.seq - c0);
		asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;\n" ::"r"(rows + threadIdx.x * 4), "l"(number),
			     "r"(c0 + (int)threadIdx.x % N_ROWS < a.seq ? 4 : 0)); /* zero beyond the last query */
		c0 += N_ROWS, q += N_ROWS * w.pitch, d_o += N_ROWS * w.out_pitch, number += N_ROWS;
		if (c0 >= a.seq) {
			const ptrdiff_t back = c0 - w.begin;
			q += D - back * (ptrdiff_t)w.pitch, d_o += D - back * (ptrdiff_t)w.out_pitch;
			number += a.seq - back, c0 = w.begin;
		}
	}
};

template <bool CAUSAL> __device__ static void attn_bwd_kv(const attn_args<bf16> &a)
{
	constexpr uint32_t TILE = TILE_B / 16, ROWS_B = 2 * N_ROWS * sizeof(float);
	const own_keys<bf16, D, N_ROWS, CAUSAL> w(a);
	const uint32_t at = shared_begin(), qdo = at + 2 * TILE_B, rows = qdo + 4 * TILE_B;
	const uint32_t k_tile = place(at), v_tile = k_tile + TILE;
	const float *numbers = (float *)(shared_any + (rows - (uint32_t)__cvta_generic_to_shared(shared_any)));
	passing<CAUSAL> next(a, w);

	next.c.copy(at, w.k + w.k0 * w.pitch, a.seq - w.k0);
	next.c.copy(at + TILE_B, w.v + w.k0 * w.pitch, a.seq - w.k0);
	next.copy(a, w, qdo, rows);
	copies_end();

	float dk[8][4] = {}, dv[8][4] = {}, scale2 = a.scale * LOG2E;
	for (int it = 0, left = w.n_tiles; it < w.n_all; it++) {
		const uint32_t stage = it & 1, q_tile = v_tile + TILE + stage * 2 * TILE, do_tile = q_tile + TILE;
		const float *lse = numbers + stage * 2 * N_ROWS, *delta = lse + N_ROWS;
		float s[8][4], dp[8][4];
		copies_wait<0>();
		wgmma_fence();
		product_t(s, k_tile, q_tile);
		product_t(dp, v_tile, do_tile);
		if (it + 1 < w.n_all)
			next.copy(a, w, qdo + (stage ^ 1) * 2 * TILE_B, rows + (stage ^ 1) * ROWS_B);
		copies_end();
		wgmma_wait<1>();
		probabilities(s, lse, LOG2E, scale2, CAUSAL && left == w.n_tiles, 0, w.row0);
		product(dv, s, do_tile);
		wgmma_wait<1>(); /* waits for dp; dv is still running */
		through_softmax(s, dp, delta);
		product(dk, s, q_tile);
		left = left == 1 ? w.n_tiles : left - 1;
		wgmma_wait<0>();
	}
	__syncthreads();
	bf16 *to = a.d_qkv + (w.sample + w.k0) * w.pitch + (size_t)(a.n_heads + w.kv_head) * D;
	store_tile(to, w.pitch, w.row0, a.seq - w.k0, at, dk, a.scale, a.scale);
	store_tile(to + (size_t)a.n_kv * D, w.pitch, w.row0, a.seq - w.k0, at + TILE_B, dv, 1.0f, 1.0f);
}

#define KERNEL(name, call, FIT)                                                                                        \
	extern "C" __global__ void __launch_bounds__(THREADS, FIT) jl_attn_##name(attn_args<bf16> a)                   \
	{                                                                                                              \
		call(a);                                                                                               \
	}

KERNEL(fwd_b64, (attn_fwd<1, true>), 4)
KERNEL(fwd_b128, (attn_fwd<2, true>), 3)
KERNEL(bwd_q_b64, attn_bwd_q<true>, 4)
KERNEL(bwd_kv_b64, attn_bwd_kv<true>, 3)
KERNEL(fwd_b64_all, (attn_fwd<1, false>), 4)
KERNEL(fwd_b128_all, (attn_fwd<2, false>), 3)
KERNEL(bwd_q_b64_all, attn_bwd_q<false>, 4)
KERNEL(bwd_kv_b64_all, attn_bwd_kv<false>, 3)
