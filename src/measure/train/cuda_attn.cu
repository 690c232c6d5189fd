/* Attention in bfloat16, causal or full, on tensor cores (mma.sync m16n8k16, fp32 sums), head sizes 64 and 128. Scores are never stored: forward
 * keeps one float per row, the log of the sum of exponentials, and backward recomputes the scores from it. Backward has two kernels: one owns
 * queries (dq), one owns keys (dk, dv). Both compute the scores, but no sums cross blocks, so the result is deterministic. */
#include "train/cuda_attn.cuh"

__device__ static uint32_t shared_address(const void *p)
{
	return (uint32_t)__cvta_generic_to_shared(p);
}

/* Waits until at most the newest N copy groups are pending, in every thread. */
template <int N> __device__ static void copies_wait()
{
	asm volatile("cp.async.wait_group %0;\n" ::"n"(N));
	__syncthreads();
}

__device__ static void ldmatrix(uint32_t r[4], uint32_t at)
{
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\n"
		     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
		     : "r"(at));
}
__device__ static void ldmatrix_t(uint32_t r[4], uint32_t at)
{
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];\n"
		     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
		     : "r"(at));
}

/* s[16 × C] = A·Tᵀ over D; A's rows start at row0 of its tile. B operands are loaded in pairs: rows 16·n .. of T are the columns of s; columns
 * 16·k .. of T are the inner dimension. */
template <int D, int C> __device__ static void product_t(float (&s)[C / 8][4], uint32_t a_tile, int row0, uint32_t tile)
{
	int lane = threadIdx.x % 32;
#pragma unroll
	for (int i = 0; i < C / 8 * 4; i++)
		s[i / 4][i % 4] = 0.0f;
#pragma unroll
	for (int k = 0; k < D / 16; k++) {
		uint32_t a[4];
		ldmatrix(a, at_piece<D>(a_tile, row0 + (lane & 15), k * 2 + (lane >> 4)));
#pragma unroll
		for (int n = 0; n < C / 16; n++) {
			uint32_t b[4];
			ldmatrix(b, at_piece<D>(tile, n * 16 + (lane & 7) + ((lane >> 4) << 3),
						k * 2 + ((lane >> 3) & 1)));
			mma(s[2 * n], a, b[0], b[1]);
			mma(s[2 * n + 1], a, b[2], b[3]);
		}
	}
}

/* o[16 × D] += P[16 × C]·T[C × D]; P is an accumulator, rounded to bf16. Rows 16·k .. of T are the inner dimension; columns 16·n .. of T are the
 * columns of o. */
template <int D, int C> __device__ static void product(float (&o)[D / 8][4], const float (&p)[C / 8][4], uint32_t tile)
{
	int lane = threadIdx.x % 32;
#pragma unroll
	for (int k = 0; k < C / 16; k++) {
		uint32_t a[4];
		round_rows(a, p, k);
#pragma unroll
		for (int n = 0; n < D / 16; n++) {
			uint32_t b[4];
			ldmatrix_t(b, at_piece<D>(tile, k * 16 + (lane & 15), n * 2 + (lane >> 4)));
			mma(o[2 * n], a, b[0], b[1]);
			mma(o[2 * n + 1], a, b[2], b[3]);
		}
	}
}

/* --- forward: a block owns 64 queries of one head. */
template <int D, int C, bool CAUSAL> __device__ static void attn_fwd(const attn_args<bf16> &a)
{
	extern __shared__ __align__(128) uint8_t shared[];
	constexpr uint32_t TILE_B = C * D * 2;
	const own_queries<bf16, D, CAUSAL> w(a);
	uint32_t q_tile = shared_address(shared), kv = q_tile + TILE_B; /* then k, v, k, v */

	load_tile<D, C>(q_tile, w.q + (size_t)w.q0 * w.pitch, w.pitch, a.seq - w.q0);
	load_tile<D, C>(kv, w.k, w.pitch, a.seq);
	copies_end();
	load_tile<D, C>(kv + TILE_B, w.v, w.pitch, a.seq);
	copies_end();

	float o[D / 8][4] = {}, top[2] = { -INFINITY, -INFINITY }, sum[2] = { 0.0f, 0.0f }, scale2 = a.scale * LOG2E;
	for (int j = 0; j <= w.last; j++) {
		uint32_t k_tile = kv + (j & 1) * 2 * TILE_B, v_tile = k_tile + TILE_B;
		uint32_t next = kv + ((j + 1) & 1) * 2 * TILE_B;
		int c0 = (j + 1) * C;
		float s[C / 8][4];
		copies_wait<1>();
		if (j < w.last) /* the next pair is copied while this one is used */
			load_tile<D, C>(next, w.k + (size_t)c0 * w.pitch, w.pitch, a.seq - c0);
		copies_end();
		product_t<D, C>(s, q_tile, w.row0, k_tile);
		if (j == w.last)
			hide<CAUSAL>(s, 0, w.row0, a.seq - j * C);
		softmax_step<false>(s, o, top, sum, scale2);
		copies_wait<1>();
		if (j < w.last)
			load_tile<D, C>(next + TILE_B, w.v + (size_t)c0 * w.pitch, w.pitch, a.seq - c0);
		copies_end();
		product<D, C>(o, s, v_tile);
	}
	store_forward(a, w, o, top, sum);
}

/* --- backward, queries: dq = scale·dS·K, dS = P∘(dO·Vᵀ − delta). */
template <int D, int C, bool CAUSAL> __device__ static void attn_bwd_q(const attn_args<bf16> &a)
{
	extern __shared__ __align__(128) uint8_t shared[];
	constexpr uint32_t OWN_B = N_ROWS * D * 2, TILE_B = C * D * 2;
	const own_queries<bf16, D, CAUSAL> w(a);
	uint32_t q_tile = shared_address(shared), do_tile = q_tile + OWN_B, kv = do_tile + OWN_B;
	int n_tiles = (w.n_keys(a) + C - 1) / C;

	load_tile<D, N_ROWS>(q_tile, w.q + (size_t)w.q0 * w.pitch, w.pitch, a.seq - w.q0);
	load_tile<D, N_ROWS>(do_tile, a.d_out + w.out_at(a), (size_t)a.n_heads * D, a.seq - w.q0);
	load_keys<D, C>(kv, a, w, 0);
	copies_end();

	float delta[2], lse2[2], dq[D / 8][4] = {}, scale2 = a.scale * LOG2E;
	row_figures(a, w, delta, lse2);
	for (int j = 0; j < n_tiles; j++) {
		uint32_t k_tile = kv + (j & 1) * 2 * TILE_B, v_tile = k_tile + TILE_B;
		float s[C / 8][4], dp[C / 8][4];
		copies_wait<0>();
		if (j + 1 < n_tiles)
			load_keys<D, C>(kv + ((j + 1) & 1) * 2 * TILE_B, a, w, j + 1);
		copies_end();
		if (CAUSAL && j * C > w.q0 + w.row0 + 15)
			continue; /* every key is masked for this warp's queries; the warp only helped to load the tile */
		product_t<D, C>(s, q_tile, w.row0, k_tile);
		product_t<D, C>(dp, do_tile, w.row0, v_tile);
		probabilities<CAUSAL>(s, lse2, scale2, (j + 1) * C > (CAUSAL ? w.q0 + w.row0 + 1 : a.seq), j * C,
				      w.q0 + w.row0, a.seq);
		through_softmax(s, dp, delta);
		product<D, C>(dq, s, k_tile);
	}
	store_rows(a.d_qkv + (w.sample + w.q0) * w.pitch + (size_t)w.head * D, w.pitch, w.row0, a.seq - w.q0, dq,
		   a.scale, a.scale);
}

/* --- backward, keys: everything is transposed, so that a warp's rows are keys. dv = Pᵀ·dO, dk = scale·dSᵀ·Q, over all queries that attend to
 * them and all heads of the group. */
template <int D, int C, bool CAUSAL> __device__ static void attn_bwd_kv(const attn_args<bf16> &a)
{
	extern __shared__ __align__(128) uint8_t shared[];
	constexpr uint32_t OWN_B = N_ROWS * D * 2, TILE_B = C * D * 2;
	const own_keys<bf16, D, C, CAUSAL> w(a);
	uint32_t k_tile = shared_address(shared), v_tile = k_tile + OWN_B, qdo = v_tile + OWN_B;
	float *rows = (float *)(shared + 2 * OWN_B + 4 * TILE_B); /* lse and delta, double-buffered: [2][2][C] */

	load_pair<D, N_ROWS>(k_tile, w.k + (size_t)w.k0 * w.pitch, w.pitch, w.v + (size_t)w.k0 * w.pitch, w.pitch,
			     a.seq - w.k0);
	load_queries(qdo, a, w, 0);
	load_rows<C>(a, rows, w.n, w.head(0), w.query(0));
	copies_end();

	float dk[D / 8][4] = {}, dv[D / 8][4] = {}, scale2 = a.scale * LOG2E;
	for (int it = 0; it < w.n_all; it++) {
		int c0 = w.query(it);
		uint32_t q_tile = qdo + (it & 1) * 2 * TILE_B, do_tile = q_tile + TILE_B;
		const float *lse2 = rows + (it & 1) * 2 * C, *delta = lse2 + C;
		float s[C / 8][4], dp[C / 8][4];
		copies_wait<0>();
		if (it + 1 < w.n_all) {
			load_queries(qdo + ((it + 1) & 1) * 2 * TILE_B, a, w, it + 1);
			load_rows<C>(a, rows + ((it + 1) & 1) * 2 * C, w.n, w.head(it + 1), w.query(it + 1));
		}
		copies_end();
		if (CAUSAL && c0 + C - 1 < w.k0 + w.row0)
			continue; /* all keys of this warp are masked for these queries */
		product_t<D, C>(s, k_tile, w.row0, q_tile);
		probabilities(s, lse2, 1.0f, scale2, CAUSAL && c0 < w.k0 + w.row0 + 15, c0, w.k0 + w.row0);
		product<D, C>(dv, s, do_tile);
		product_t<D, C>(dp, v_tile, w.row0, do_tile);
		through_softmax(s, dp, delta);
		product<D, C>(dk, s, q_tile);
	}
	store_backward(a, w, dk, dv);
}

/* kernel, head size, columns of a streamed tile, target blocks per multiprocessor; "all": without a causal mask */
#define KERNEL(kind, D, C, FIT)                                                                                        \
	extern "C" __global__ void __launch_bounds__(THREADS, FIT) jl_attn_##kind##_b##D(attn_args<bf16> a)            \
	{                                                                                                              \
		attn_##kind<D, C, true>(a);                                                                            \
	}                                                                                                              \
	extern "C" __global__ void __launch_bounds__(THREADS, FIT) jl_attn_##kind##_b##D##_all(attn_args<bf16> a)      \
	{                                                                                                              \
		attn_##kind<D, C, false>(a);                                                                           \
	}

KERNEL(fwd, 64, 64, 4)
KERNEL(fwd, 128, 64, 2)
KERNEL(bwd_q, 64, 64, 3)
KERNEL(bwd_q, 128, 64, 2)
KERNEL(bwd_kv, 64, 64, 3)
KERNEL(bwd_kv, 128, 32, 2)
