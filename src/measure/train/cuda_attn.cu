/* Causal attention in bfloat16 on the tensor cores (mma.sync m16n8k16, fp32 sums), head sizes 64 and 128. Scores are
 * never stored: forward keeps one number a row, the log of the sum of exponentials, and backward makes the scores again
 * from it.
 *
 * A block owns 64 rows: W warps of 16·M rows each. M = 2 uses every operand that comes from shared memory twice. Tiles
 * lie in shared memory in rows of D elements whose 16-byte pieces are permuted (piece ^ row mod 8), so that ldmatrix
 * meets no bank twice. Backward is two kernels, one that owns queries (dq) and one that owns keys (dk, dv): scores are
 * computed twice, but nothing is added up between blocks and the result does not depend on their order. */
#include "train/cuda_common.cuh"

struct attn_args {
	const bf16 *qkv, *out, *d_out;
	bf16 *o;     /* forward: result */
	bf16 *d_qkv; /* backward */
	float *lse;  /* [n_samples × n_heads × seq], natural logarithm */
	float *delta;
	int seq, n_heads, n_kv;
	float scale;
};

#define LOG2E  1.4426950408889634f
#define N_ROWS 64 /* rows of a tile that a block owns */

__device__ static float ex2(float x)
{
	float y;
	asm("ex2.approx.ftz.f32 %0, %1;\n" : "=f"(y) : "f"(x));
	return y;
}

__device__ static uint32_t shared_address(const void *p)
{
	return (uint32_t)__cvta_generic_to_shared(p);
}

__device__ static void copy16(uint32_t to, const void *from, bool there)
{
	int n = there ? 16 : 0; /* the rest is filled with zeros */
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(to), "l"(from), "r"(n));
}
__device__ static void copies_end()
{
	asm volatile("cp.async.commit_group;\n");
}
template <int N> __device__ static void copies_wait()
{
	asm volatile("cp.async.wait_group %0;\n" ::"n"(N));
}

__device__ static void mma(float c[4], const uint32_t a[4], uint32_t b0, uint32_t b1)
{
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
		     "{%0,%1,%2,%3};\n"
		     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
		     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
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

/* Address of piece `piece` (8 elements) of row `row` of a tile. */
template <int D> __device__ static uint32_t at_piece(uint32_t tile, int row, int piece)
{
	return tile + (uint32_t)(row * D * 2 + ((piece ^ (row & 7)) << 4));
}

/* R rows from global memory (pitch in elements) by W warps; rows from `n_there` on become zero. */
template <int D, int R, int W>
__device__ static void load_tile(uint32_t tile, const bf16 *from, size_t pitch, int n_there)
{
	constexpr int PIECES = D / 8;
#pragma unroll
	for (int i = threadIdx.x; i < R * PIECES; i += W * 32) {
		int row = i / PIECES, piece = i % PIECES;
		bool there = row < n_there;
		copy16(at_piece<D>(tile, row, piece), from + (there ? (size_t)row : 0) * pitch + piece * 8, there);
	}
}

/* The A operand: 16 rows from `row0`, columns 16·k .. */
template <int D> __device__ static void load_a(uint32_t r[4], uint32_t tile, int row0, int k)
{
	int lane = threadIdx.x % 32;
	ldmatrix(r, at_piece<D>(tile, row0 + (lane & 15), k * 2 + (lane >> 4)));
}
/* Two B operands of X·Tᵀ: rows n0..n0+15 of T are columns, its columns 16·k .. are the inner dimension. */
template <int D> __device__ static void load_bt(uint32_t r[4], uint32_t tile, int n0, int k)
{
	int lane = threadIdx.x % 32;
	ldmatrix(r, at_piece<D>(tile, n0 + (lane & 7) + ((lane >> 4) << 3), k * 2 + ((lane >> 3) & 1)));
}
/* Two B operands of X·T: rows 16·k .. of T are the inner dimension, its columns 16·n.. the columns. */
template <int D> __device__ static void load_b(uint32_t r[4], uint32_t tile, int k, int n)
{
	int lane = threadIdx.x % 32;
	ldmatrix_t(r, at_piece<D>(tile, k * 16 + (lane & 15), n * 2 + (lane >> 4)));
}

/* s[16·M × C] = A·Tᵀ over D; A's rows begin at row0 of its tile. */
template <int D, int C, int M>
__device__ static void product_t(float s[M][C / 8][4], uint32_t a_tile, int row0, uint32_t tile)
{
#pragma unroll
	for (int i = 0; i < M * C / 8 * 4; i++)
		s[i / (C / 8 * 4)][i / 4 % (C / 8)][i % 4] = 0.0f;
#pragma unroll
	for (int k = 0; k < D / 16; k++) {
		uint32_t a[M][4];
#pragma unroll
		for (int m = 0; m < M; m++)
			load_a<D>(a[m], a_tile, row0 + m * 16, k);
#pragma unroll
		for (int n = 0; n < C / 16; n++) {
			uint32_t b[4];
			load_bt<D>(b, tile, n * 16, k);
#pragma unroll
			for (int m = 0; m < M; m++) {
				mma(s[m][2 * n], a[m], b[0], b[1]);
				mma(s[m][2 * n + 1], a[m], b[2], b[3]);
			}
		}
	}
}

/* o[16·M × D] += P[16·M × C]·T[C × D]; P is an accumulator, rounded. */
template <int D, int C, int M>
__device__ static void product(float o[M][D / 8][4], const float p[M][C / 8][4], uint32_t tile)
{
#pragma unroll
	for (int k = 0; k < C / 16; k++) {
		uint32_t a[M][4];
#pragma unroll
		for (int m = 0; m < M; m++) {
			a[m][0] = pack_bf16(p[m][2 * k][0], p[m][2 * k][1]);
			a[m][1] = pack_bf16(p[m][2 * k][2], p[m][2 * k][3]);
			a[m][2] = pack_bf16(p[m][2 * k + 1][0], p[m][2 * k + 1][1]);
			a[m][3] = pack_bf16(p[m][2 * k + 1][2], p[m][2 * k + 1][3]);
		}
#pragma unroll
		for (int n = 0; n < D / 16; n++) {
			uint32_t b[4];
			load_b<D>(b, tile, k, n);
#pragma unroll
			for (int m = 0; m < M; m++) {
				mma(o[m][2 * n], a[m], b[0], b[1]);
				mma(o[m][2 * n + 1], a[m], b[2], b[3]);
			}
		}
	}
}

/* Rows row0 + lane/4 and + 8 of an accumulator as bfloat16, times `mul` of each. */
template <int D>
__device__ static void store_rows(bf16 *to, size_t pitch, int row0, int n_there, const float o[D / 8][4], float mul0,
				  float mul1)
{
	int lane = threadIdx.x % 32, r0 = row0 + lane / 4, r1 = r0 + 8;
#pragma unroll
	for (int n = 0; n < D / 8; n++) {
		int col = n * 8 + lane % 4 * 2;
		if (r0 < n_there)
			*(uint32_t *)(to + (size_t)r0 * pitch + col) = pack_bf16(o[n][0] * mul0, o[n][1] * mul0);
		if (r1 < n_there)
			*(uint32_t *)(to + (size_t)r1 * pitch + col) = pack_bf16(o[n][2] * mul1, o[n][3] * mul1);
	}
}

/* --- forward: one block is 64 queries of one head. */
template <int D, int W, int M> __device__ static void attn_fwd(const attn_args &a)
{
	extern __shared__ __align__(128) uint8_t shared[];
	constexpr int C = 64;
	constexpr uint32_t TILE_B = C * D * 2;
	uint32_t q_tile = shared_address(shared), kv = q_tile + TILE_B; /* then k, v, k, v */
	int tile = gridDim.x - 1 - blockIdx.x;                          /* the longest first */
	int head = blockIdx.y, kv_head = head / (a.n_heads / a.n_kv), q0 = tile * N_ROWS;
	size_t pitch = (size_t)(a.n_heads + 2 * a.n_kv) * D, sample = (size_t)blockIdx.z * a.seq;
	const bf16 *q = a.qkv + sample * pitch + (size_t)head * D;
	const bf16 *k = a.qkv + sample * pitch + (size_t)(a.n_heads + kv_head) * D, *v = k + (size_t)a.n_kv * D;
	int lane = threadIdx.x % 32, row0 = threadIdx.x / 32 * 16 * M, n_tiles = tile + 1;

	load_tile<D, C, W>(q_tile, q + (size_t)q0 * pitch, pitch, a.seq - q0);
	load_tile<D, C, W>(kv, k, pitch, a.seq);
	copies_end();
	load_tile<D, C, W>(kv + TILE_B, v, pitch, a.seq);
	copies_end();

	float o[M][D / 8][4] = {}, top[M][2], sum[M][2], scale2 = a.scale * LOG2E;
#pragma unroll
	for (int i = 0; i < M * 2; i++)
		top[i / 2][i % 2] = -INFINITY, sum[i / 2][i % 2] = 0.0f;
	for (int j = 0; j < n_tiles; j++) {
		uint32_t k_tile = kv + (j & 1) * 2 * TILE_B, v_tile = k_tile + TILE_B;
		uint32_t next = kv + ((j + 1) & 1) * 2 * TILE_B;
		int c0 = (j + 1) * C;
		float s[M][C / 8][4];
		copies_wait<1>();
		__syncthreads();
		if (j + 1 < n_tiles) /* the next pair travels while this one is used */
			load_tile<D, C, W>(next, k + (size_t)c0 * pitch, pitch, a.seq - c0);
		copies_end();
		product_t<D, C, M>(s, q_tile, row0, k_tile);
#pragma unroll
		for (int m = 0; m < M; m++) {
			if (j == tile) {
#pragma unroll
				for (int n = 0; n < C / 8; n++)
#pragma unroll
					for (int i = 0; i < 4; i++)
						if (n * 8 + lane % 4 * 2 + (i & 1) >
						    row0 + m * 16 + lane / 4 + (i >> 1) * 8)
							s[m][n][i] = -INFINITY;
			}
#pragma unroll
			for (int r = 0; r < 2; r++) {
				float most = top[m][r];
#pragma unroll
				for (int n = 0; n < C / 8; n++)
					most = fmaxf(most, fmaxf(s[m][n][2 * r], s[m][n][2 * r + 1]));
				most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 1));
				most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 2));
				float shrink = ex2((top[m][r] - most) * scale2), part = 0.0f;
				top[m][r] = most;
#pragma unroll
				for (int n = 0; n < C / 8; n++)
#pragma unroll
					for (int i = 0; i < 2; i++) {
						float p = ex2(s[m][n][2 * r + i] * scale2 - most * scale2);
						s[m][n][2 * r + i] = p;
						part += p;
					}
				sum[m][r] = sum[m][r] * shrink + part;
#pragma unroll
				for (int n = 0; n < D / 8; n++) {
					o[m][n][2 * r] *= shrink;
					o[m][n][2 * r + 1] *= shrink;
				}
			}
		}
		copies_wait<1>();
		__syncthreads();
		if (j + 1 < n_tiles)
			load_tile<D, C, W>(next + TILE_B, v + (size_t)c0 * pitch, pitch, a.seq - c0);
		copies_end();
		product<D, C, M>(o, s, v_tile);
	}
	size_t out_pitch = (size_t)a.n_heads * D;
#pragma unroll
	for (int m = 0; m < M; m++) {
#pragma unroll
		for (int r = 0; r < 2; r++) {
			sum[m][r] += __shfl_xor_sync(0xffffffffu, sum[m][r], 1);
			sum[m][r] += __shfl_xor_sync(0xffffffffu, sum[m][r], 2);
			int row = q0 + row0 + m * 16 + lane / 4 + r * 8;
			if (lane % 4 == 0 && row < a.seq)
				a.lse[((size_t)blockIdx.z * a.n_heads + head) * a.seq + row] = top[m][r] * a.scale +
											       logf(sum[m][r]);
		}
		store_rows<D>(a.o + (sample + q0) * out_pitch + (size_t)head * D, out_pitch, row0 + m * 16, a.seq - q0,
			      o[m], 1.0f / sum[m][0], 1.0f / sum[m][1]);
	}
}

/* --- backward, queries: dq = scale·dS·K, dS = P∘(dO·Vᵀ − delta), delta = rowsum(dO∘O), which the other kernel needs
 * too. */
template <int D, int C, int W, int M> __device__ static void attn_bwd_q(const attn_args &a)
{
	extern __shared__ __align__(128) uint8_t shared[];
	constexpr uint32_t OWN_B = N_ROWS * D * 2, TILE_B = C * D * 2;
	uint32_t q_tile = shared_address(shared), do_tile = q_tile + OWN_B, kv = do_tile + OWN_B;
	int tile = gridDim.x - 1 - blockIdx.x;
	int head = blockIdx.y, kv_head = head / (a.n_heads / a.n_kv), q0 = tile * N_ROWS;
	size_t pitch = (size_t)(a.n_heads + 2 * a.n_kv) * D, out_pitch = (size_t)a.n_heads * D;
	size_t sample = (size_t)blockIdx.z * a.seq, out_at = (sample + q0) * out_pitch + (size_t)head * D;
	size_t row_at = ((size_t)blockIdx.z * a.n_heads + head) * a.seq + q0;
	const bf16 *q = a.qkv + sample * pitch + (size_t)head * D;
	const bf16 *k = a.qkv + sample * pitch + (size_t)(a.n_heads + kv_head) * D, *v = k + (size_t)a.n_kv * D;
	int lane = threadIdx.x % 32, row0 = threadIdx.x / 32 * 16 * M;
	int n_keys = min(q0 + N_ROWS, a.seq), n_tiles = (n_keys + C - 1) / C;

	load_tile<D, N_ROWS, W>(q_tile, q + (size_t)q0 * pitch, pitch, a.seq - q0);
	load_tile<D, N_ROWS, W>(do_tile, a.d_out + out_at, out_pitch, a.seq - q0);
	load_tile<D, C, W>(kv, k, pitch, a.seq);
	load_tile<D, C, W>(kv + TILE_B, v, pitch, a.seq);
	copies_end();

	float delta[M][2], lse2[M][2];
#pragma unroll
	for (int m = 0; m < M; m++) { /* two lanes a row */
		int row = row0 + m * 16 + lane / 2;
		float sum = 0.0f;
		if (q0 + row < a.seq)
#pragma unroll
			for (int i = 0; i < D / 16; i++) {
				float x[8], y[8];
				size_t at = out_at + (size_t)row * out_pitch + (lane % 2) * (D / 2) + i * 8;
				load8(a.out + at, x);
				load8(a.d_out + at, y);
#pragma unroll
				for (int j = 0; j < 8; j++)
					sum += x[j] * y[j];
			}
		sum += __shfl_xor_sync(0xffffffffu, sum, 1);
		if (lane % 2 == 0 && q0 + row < a.seq)
			a.delta[row_at + row] = sum;
#pragma unroll
		for (int r = 0; r < 2; r++) {
			int mine = lane / 4 + r * 8, at = row0 + m * 16 + mine;
			delta[m][r] = __shfl_sync(0xffffffffu, sum, mine * 2);
			lse2[m][r] = q0 + at < a.seq ? a.lse[row_at + at] * LOG2E : INFINITY;
		}
	}
	float dq[M][D / 8][4] = {}, scale2 = a.scale * LOG2E;
	for (int j = 0; j < n_tiles; j++) {
		uint32_t k_tile = kv + (j & 1) * 2 * TILE_B, v_tile = k_tile + TILE_B;
		float s[M][C / 8][4], dp[M][C / 8][4];
		copies_wait<0>();
		__syncthreads();
		if (j + 1 < n_tiles) {
			int c0 = (j + 1) * C;
			uint32_t next = kv + ((j + 1) & 1) * 2 * TILE_B;
			load_tile<D, C, W>(next, k + (size_t)c0 * pitch, pitch, a.seq - c0);
			load_tile<D, C, W>(next + TILE_B, v + (size_t)c0 * pitch, pitch, a.seq - c0);
		}
		copies_end();
		if (j * C > q0 + row0 + 16 * M - 1)
			continue; /* all of it lies behind this warp's queries; it still helped to load */
		product_t<D, C, M>(s, q_tile, row0, k_tile);
		product_t<D, C, M>(dp, do_tile, row0, v_tile);
		bool edge = (j + 1) * C > q0 + row0 + 1;
#pragma unroll
		for (int m = 0; m < M; m++)
#pragma unroll
			for (int n = 0; n < C / 8; n++)
#pragma unroll
				for (int i = 0; i < 4; i++) {
					float p = ex2(s[m][n][i] * scale2 - lse2[m][i >> 1]);
					if (edge && j * C + n * 8 + lane % 4 * 2 + (i & 1) >
							    q0 + row0 + m * 16 + lane / 4 + (i >> 1) * 8)
						p = 0.0f;
					s[m][n][i] = p * (dp[m][n][i] - delta[m][i >> 1]);
				}
		product<D, C, M>(dq, s, k_tile);
	}
#pragma unroll
	for (int m = 0; m < M; m++)
		store_rows<D>(a.d_qkv + (sample + q0) * pitch + (size_t)head * D, pitch, row0 + m * 16, a.seq - q0,
			      dq[m], a.scale, a.scale);
}

/* --- backward, keys: everything transposed, so that a warp's rows are keys. dv = Pᵀ·dO, dk = scale·dSᵀ·Q, over all
 * queries behind them and all heads of the group. */
template <int D, int C, int W, int M> __device__ static void attn_bwd_kv(const attn_args &a)
{
	extern __shared__ __align__(128) uint8_t shared[];
	constexpr uint32_t OWN_B = N_ROWS * D * 2, TILE_B = C * D * 2;
	uint32_t k_tile = shared_address(shared), v_tile = k_tile + OWN_B, qdo = v_tile + OWN_B;
	float *rows = (float *)(shared + 2 * OWN_B + 4 * TILE_B); /* lse and delta of two stages: [2][2][C] */
	int k0 = blockIdx.x * N_ROWS, kv_head = blockIdx.y, group = a.n_heads / a.n_kv;
	size_t pitch = (size_t)(a.n_heads + 2 * a.n_kv) * D, out_pitch = (size_t)a.n_heads * D;
	size_t sample = (size_t)blockIdx.z * a.seq;
	const bf16 *k = a.qkv + sample * pitch + (size_t)(a.n_heads + kv_head) * D, *v = k + (size_t)a.n_kv * D;
	int lane = threadIdx.x % 32, row0 = threadIdx.x / 32 * 16 * M;
	int first = k0 / C, n_tiles = (a.seq + C - 1) / C - first, n_all = n_tiles * group;

	auto load_stage = [&](int it) {
		int head = kv_head * group + it / n_tiles, c0 = (first + it % n_tiles) * C;
		uint32_t to = qdo + (it & 1) * 2 * TILE_B;
		load_tile<D, C, W>(to, a.qkv + (sample + c0) * pitch + (size_t)head * D, pitch, a.seq - c0);
		load_tile<D, C, W>(to + TILE_B, a.d_out + (sample + c0) * out_pitch + (size_t)head * D, out_pitch,
				   a.seq - c0);
		if (threadIdx.x < C) {
			size_t at = ((size_t)blockIdx.z * a.n_heads + head) * a.seq + c0 + threadIdx.x;
			bool there = c0 + (int)threadIdx.x < a.seq;
			rows[(it & 1) * 2 * C + threadIdx.x] = there ? a.lse[at] * LOG2E : INFINITY;
			rows[(it & 1) * 2 * C + C + threadIdx.x] = there ? a.delta[at] : 0.0f;
		}
	};
	load_tile<D, N_ROWS, W>(k_tile, k + (size_t)k0 * pitch, pitch, a.seq - k0);
	load_tile<D, N_ROWS, W>(v_tile, v + (size_t)k0 * pitch, pitch, a.seq - k0);
	load_stage(0);
	copies_end();

	float dk[M][D / 8][4] = {}, dv[M][D / 8][4] = {}, scale2 = a.scale * LOG2E;
	for (int it = 0; it < n_all; it++) {
		int c0 = (first + it % n_tiles) * C;
		uint32_t q_tile = qdo + (it & 1) * 2 * TILE_B, do_tile = q_tile + TILE_B;
		const float *lse2 = rows + (it & 1) * 2 * C, *delta = lse2 + C;
		float s[M][C / 8][4], dp[M][C / 8][4];
		copies_wait<0>();
		__syncthreads();
		if (it + 1 < n_all)
			load_stage(it + 1);
		copies_end();
		if (c0 + C - 1 < k0 + row0)
			continue; /* these queries come before all of this warp's keys */
		product_t<D, C, M>(s, k_tile, row0, q_tile);
		bool edge = c0 < k0 + row0 + 16 * M - 1;
#pragma unroll
		for (int m = 0; m < M; m++)
#pragma unroll
			for (int n = 0; n < C / 8; n++) {
				int col = n * 8 + lane % 4 * 2;
				float2 l = *(const float2 *)(lse2 + col);
#pragma unroll
				for (int i = 0; i < 4; i++) {
					s[m][n][i] = ex2(s[m][n][i] * scale2 - (i & 1 ? l.y : l.x));
					if (edge && k0 + row0 + m * 16 + lane / 4 + (i >> 1) * 8 > c0 + col + (i & 1))
						s[m][n][i] = 0.0f;
				}
			}
		product<D, C, M>(dv, s, do_tile);
		product_t<D, C, M>(dp, v_tile, row0, do_tile);
#pragma unroll
		for (int m = 0; m < M; m++)
#pragma unroll
			for (int n = 0; n < C / 8; n++) {
				float2 d = *(const float2 *)(delta + n * 8 + lane % 4 * 2);
#pragma unroll
				for (int i = 0; i < 4; i++)
					s[m][n][i] *= dp[m][n][i] - (i & 1 ? d.y : d.x);
			}
		product<D, C, M>(dk, s, q_tile);
	}
	bf16 *to = a.d_qkv + (sample + k0) * pitch + (size_t)(a.n_heads + kv_head) * D;
#pragma unroll
	for (int m = 0; m < M; m++) {
		store_rows<D>(to, pitch, row0 + m * 16, a.seq - k0, dk[m], a.scale, a.scale);
		store_rows<D>(to + (size_t)a.n_kv * D, pitch, row0 + m * 16, a.seq - k0, dv[m], 1.0f, 1.0f);
	}
}

/* name, head size, warps, row tiles a warp, blocks that should fit on a multiprocessor; backward also the width of a
 * passing tile */
#define FWD(name, D, W, M, FIT)                                                                                        \
	extern "C" __global__ void __launch_bounds__(W * 32, FIT) name(attn_args a)                                    \
	{                                                                                                              \
		attn_fwd<D, W, M>(a);                                                                                  \
	}
#define BWD(kind, name, D, C, W, M, FIT)                                                                               \
	extern "C" __global__ void __launch_bounds__(W * 32, FIT) name(attn_args a)                                    \
	{                                                                                                              \
		attn_bwd_##kind<D, C, W, M>(a);                                                                        \
	}

FWD(jl_attn_fwd_b64, 64, 4, 1, 4)
FWD(jl_attn_fwd_b128, 128, 4, 1, 2)
BWD(q, jl_attn_bwd_q_b64, 64, 64, 4, 1, 3)
BWD(q, jl_attn_bwd_q_b128, 128, 64, 4, 1, 2)
BWD(kv, jl_attn_bwd_kv_b64, 64, 64, 4, 1, 3)
BWD(kv, jl_attn_bwd_kv_b128, 128, 32, 4, 1, 2)
