/* Causal attention in bfloat16 for Hopper (sm_90a), heads of 64 and, forward, of 128: the products are wgmma, whose operands
 * come straight from shared memory, so that nothing is loaded into registers on the way. Structure, tiles and numbers as
 * cuda_attn.cu: a block is one group of four warps and owns 64 rows. Tiles are 64 columns wide; a head of 128 has two. */
#include "train/cuda_attn.cuh"

#define D      64
#define TILE_B (N_ROWS * D * 2)

/* All but the newest N groups have arrived, for every thread, and wgmma may read them. */
template <int N> __device__ static void copies_wait()
{
	asm volatile("cp.async.wait_group %0;\n" ::"n"(N) : "memory");
	asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory");
	__syncthreads();
}

/* 128-byte swizzle, groups of eight rows 1,024 bytes apart. */
__device__ static uint64_t describe(uint32_t at)
{
	return (uint64_t)((at & 0x3ffff) >> 4) | (uint64_t)1 << 16 | (uint64_t)(1024 >> 4) << 32 | (uint64_t)1 << 62;
}

__device__ static void wgmma_fence()
{
	asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
}
__device__ static void wgmma_commit()
{
	asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
}
template <int N> __device__ static void wgmma_wait()
{
	asm volatile("wgmma.wait_group.sync.aligned %0;\n" ::"n"(N) : "memory");
}

#define ACC                                                                                                            \
	"{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%" \
	"29,%30,%31}"
#define ACC4(c, n) "+f"(c[n][0]), "+f"(c[n][1]), "+f"(c[n][2]), "+f"(c[n][3])
#define ACC32(c)   ACC4(c, 0), ACC4(c, 1), ACC4(c, 2), ACC4(c, 3), ACC4(c, 4), ACC4(c, 5), ACC4(c, 6), ACC4(c, 7)

/* c[64×64] (+)= A·Tᵀ, inner dimension 16; both in shared memory, the inner dimension contiguous. */
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

/* c[64×64] = A·Tᵀ over H tiles of 64: begun, not waited for. */
template <int H = 1> __device__ static void product_t(float c[8][4], uint32_t a_tile, uint32_t tile)
{
#pragma unroll
	for (int k = 0; k < 4 * H; k++) {
		const uint32_t at = k / 4 * TILE_B + k % 4 * 32;
		wgmma_ss(c, describe(a_tile + at), describe(tile + at), k > 0);
	}
	wgmma_commit();
}

/* c[64×64·H] += P·T, P rounded already: begun, not waited for. */
template <int H> __device__ static void product_rounded(float (&c)[8 * H][4], const uint32_t (&a)[4][4], uint32_t tile)
{
	wgmma_fence();
#pragma unroll
	for (int k = 0; k < 4; k++)
#pragma unroll
		for (int h = 0; h < H; h++)
			wgmma_rs(c + 8 * h, a[k], describe(tile + h * TILE_B + k * 16 * 128));
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

/* Shared memory begins at a multiple of 1,024, as the swizzle asks. */
extern __shared__ uint8_t shared_any[];
__device__ static uint32_t shared_begin()
{
	return ((uint32_t)__cvta_generic_to_shared(shared_any) + 1023) & ~1023u;
}

/* 64 rows of a head as H tiles. */
template <int H> __device__ static void load_head(uint32_t tile, const bf16 *from, size_t pitch, int row, int n_rows)
{
#pragma unroll
	for (int h = 0; h < H; h++)
		load_tile<D, N_ROWS>(tile + h * TILE_B, from + row * pitch + h * D, pitch, n_rows - row);
}

/* The scores of the next keys are multiplied while this step's are applied to their values, and become exponentials meanwhile. Heads of
 * 128 have one tile of values, not two: a third block on the multiprocessor is worth more. */
template <int H> __device__ static void attn_fwd(const attn_args<bf16> &a)
{
	constexpr uint32_t HEAD_B = H * TILE_B;
	constexpr bool TWO = H == 1;
	const own_queries<bf16, D * H> w(a);
	const uint32_t q_tile = shared_begin(), keys = q_tile + HEAD_B, values = keys + 2 * HEAD_B;

	load_head<H>(q_tile, w.q, w.pitch, w.q0, a.seq);
	load_head<H>(keys, w.k, w.pitch, 0, a.seq);
	copies_end();
	if (w.tile > 0)
		load_head<H>(keys + HEAD_B, w.k, w.pitch, N_ROWS, a.seq);
	copies_end();
	load_head<H>(values, w.v, w.pitch, 0, a.seq);
	copies_end();

	float o[8 * H][4] = {}, s[8][4], top[2] = { -INFINITY, -INFINITY }, sum[2] = { 0.0f, 0.0f }, shrink[2];
	const float scale2 = a.scale * LOG2E;
	uint32_t p[4][4];
	copies_wait<2>();
	wgmma_fence();
	product_t<H>(s, q_tile, keys);
	wgmma_wait<0>();
	if (w.tile == 0)
		hide_later(s, 0, w.row0);
	exponentials<false>(s, top, sum, shrink, scale2);
	round_all(p, s);
	for (int j = 0; j < w.tile; j++) {
		const uint32_t this_one = (j & 1) * HEAD_B, other = HEAD_B - this_one;
		copies_wait<TWO ? 0 : 1>(); /* the next keys; values may still be on their way */
		wgmma_fence();
		product_t<H>(s, q_tile, keys + other);
		if (!TWO)
			copies_wait<0>();
		product_rounded<H>(o, p, values + (TWO ? this_one : 0));
		if (j + 2 <= w.tile)
			load_head<H>(keys + this_one, w.k, w.pitch, (j + 2) * N_ROWS, a.seq);
		copies_end();
		if (TWO)
			load_head<H>(values + other, w.v, w.pitch, (j + 1) * N_ROWS, a.seq), copies_end();
		wgmma_wait<1>();
		if (j + 1 == w.tile)
			hide_later(s, 0, w.row0);
		exponentials<false>(s, top, sum, shrink, scale2);
		wgmma_wait<0>();
		if (!TWO) {
			__syncthreads();
			load_head<H>(values, w.v, w.pitch, (j + 1) * N_ROWS, a.seq), copies_end();
		}
		shrink_rows(o, shrink);
		round_all(p, s);
	}
	copies_wait<0>();
	product_rounded<H>(o, p, values + (TWO ? (w.tile & 1) * HEAD_B : 0));
	wgmma_wait<0>();
	store_forward(a, w, o, top, sum);
}

__device__ static void attn_bwd_q(const attn_args<bf16> &a)
{
	const own_queries<bf16, D> w(a);
	uint32_t q_tile = shared_begin(), do_tile = q_tile + TILE_B, kv = do_tile + TILE_B;

	load_tile<D, N_ROWS>(q_tile, w.q + (size_t)w.q0 * w.pitch, w.pitch, a.seq - w.q0);
	load_tile<D, N_ROWS>(do_tile, a.d_out + w.out_at(a), (size_t)a.n_heads * D, a.seq - w.q0);
	load_keys<D, N_ROWS>(kv, a, w, 0);
	copies_end();

	float delta[2], lse2[2], dq[8][4] = {}, scale2 = a.scale * LOG2E;
	row_figures(a, w, delta, lse2);
	for (int j = 0; j <= w.tile; j++) {
		uint32_t k_tile = kv + (j & 1) * 2 * TILE_B, v_tile = k_tile + TILE_B;
		float s[8][4], dp[8][4];
		copies_wait<0>();
		wgmma_fence();
		product_t(s, q_tile, k_tile);
		product_t(dp, do_tile, v_tile);
		if (j < w.tile)
			load_keys<D, N_ROWS>(kv + ((j + 1) & 1) * 2 * TILE_B, a, w, j + 1);
		copies_end();
		wgmma_wait<1>();
		probabilities(s, lse2, scale2, j == w.tile, 0, w.row0);
		wgmma_wait<0>();
		through_softmax(s, dp, delta);
		product(dq, s, k_tile);
		wgmma_wait<0>();
	}
	store_rows(a.d_qkv + (w.sample + w.q0) * w.pitch + (size_t)w.head * D, w.pitch, w.row0, a.seq - w.q0, dq,
		   a.scale, a.scale);
}

__device__ static void attn_bwd_kv(const attn_args<bf16> &a)
{
	const own_keys<bf16, D, N_ROWS> w(a);
	uint32_t k_tile = shared_begin(), v_tile = k_tile + TILE_B, qdo = v_tile + TILE_B;
	float *rows = (float *)(shared_any + (k_tile - (uint32_t)__cvta_generic_to_shared(shared_any)) + 6 * TILE_B);

	load_pair<D, N_ROWS>(k_tile, w.k + (size_t)w.k0 * w.pitch, w.pitch, w.v + (size_t)w.k0 * w.pitch, w.pitch,
			     a.seq - w.k0);
	load_queries(qdo, a, w, 0);
	load_rows<N_ROWS>(a, rows, w.head(0), w.query(0));
	copies_end();

	float dk[8][4] = {}, dv[8][4] = {}, scale2 = a.scale * LOG2E;
	for (int it = 0; it < w.n_all; it++) {
		uint32_t q_tile = qdo + (it & 1) * 2 * TILE_B, do_tile = q_tile + TILE_B;
		const float *lse2 = rows + (it & 1) * 2 * N_ROWS, *delta = lse2 + N_ROWS;
		float s[8][4], dp[8][4];
		copies_wait<0>();
		wgmma_fence();
		product_t(s, k_tile, q_tile);
		product_t(dp, v_tile, do_tile);
		if (it + 1 < w.n_all) {
			load_queries(qdo + ((it + 1) & 1) * 2 * TILE_B, a, w, it + 1);
			load_rows<N_ROWS>(a, rows + ((it + 1) & 1) * 2 * N_ROWS, w.head(it + 1), w.query(it + 1));
		}
		copies_end();
		wgmma_wait<1>();
		probabilities(s, lse2, scale2, w.query(it) == w.k0, 0, w.row0);
		product(dv, s, do_tile);
		wgmma_wait<1>(); /* dp; dv goes on */
		through_softmax(s, dp, delta);
		product(dk, s, q_tile);
		wgmma_wait<0>();
	}
	store_backward(a, w, dk, dv);
}

#define KERNEL(name, call, FIT)                                                                                        \
	extern "C" __global__ void __launch_bounds__(THREADS, FIT) jl_attn_##name(attn_args<bf16> a)                   \
	{                                                                                                              \
		call(a);                                                                                               \
	}

KERNEL(fwd_b64, attn_fwd<1>, 4)
KERNEL(fwd_b128, attn_fwd<2>, 3)
KERNEL(bwd_q_b64, attn_bwd_q, 3)
KERNEL(bwd_kv_b64, attn_bwd_kv, 3)
