/* Causal attention in bfloat16 for Hopper (sm_90a), heads of 64: the products are wgmma, whose operands come straight
 * from shared memory, so that nothing is loaded into registers on the way. Structure, tiles and numbers as
 * cuda_attn.cu: a block is one group of four warps and owns 64 rows; its 128-byte rows with permuted 16-byte pieces are
 * exactly the layout that wgmma calls 128-byte swizzle. */
#include "train/cuda_common.cuh"

struct attn_args {
	const bf16 *qkv, *out, *d_out;
	bf16 *o;
	bf16 *d_qkv;
	float *lse;
	float *delta;
	int seq, n_heads, n_kv;
	float scale;
};

#define LOG2E   1.4426950408889634f
#define D       64
#define ROWS    64
#define THREADS 128
#define TILE_B  (ROWS * D * 2)

__device__ static float ex2(float x)
{
	float y;
	asm("ex2.approx.ftz.f32 %0, %1;\n" : "=f"(y) : "f"(x));
	return y;
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
/* All but the newest N groups have arrived, for every thread, and wgmma may read them. */
template <int N> __device__ static void copies_wait()
{
	asm volatile("cp.async.wait_group %0;\n" ::"n"(N) : "memory");
	asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory");
	__syncthreads();
}

__device__ static void load_tile(uint32_t tile, const bf16 *from, size_t pitch, int n_there)
{
#pragma unroll
	for (int i = threadIdx.x; i < ROWS * 8; i += THREADS) {
		int row = i / 8, piece = i % 8;
		bool there = row < n_there;
		copy16(tile + (uint32_t)(row * 128 + ((piece ^ (row & 7)) << 4)),
		       from + (there ? (size_t)row : 0) * pitch + piece * 8, there);
	}
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

/* c[64×64] = A·Tᵀ over 64: begun, not waited for. */
__device__ static void product_t(float c[8][4], uint32_t a_tile, uint32_t tile)
{
#pragma unroll
	for (int k = 0; k < 4; k++)
		wgmma_ss(c, describe(a_tile + k * 32), describe(tile + k * 32), k > 0);
	wgmma_commit();
}

__device__ static void round_rows(uint32_t a[4][4], const float p[8][4])
{
#pragma unroll
	for (int k = 0; k < 4; k++) {
		a[k][0] = pack_bf16(p[2 * k][0], p[2 * k][1]);
		a[k][1] = pack_bf16(p[2 * k][2], p[2 * k][3]);
		a[k][2] = pack_bf16(p[2 * k + 1][0], p[2 * k + 1][1]);
		a[k][3] = pack_bf16(p[2 * k + 1][2], p[2 * k + 1][3]);
	}
}

/* c[64×64] += P·T: begun, not waited for. */
__device__ static void product(float c[8][4], const uint32_t a[4][4], uint32_t tile)
{
#pragma unroll
	for (int k = 0; k < 4; k++)
		wgmma_rs(c, a[k], describe(tile + k * 16 * 128));
	wgmma_commit();
}

__device__ static void store_rows(bf16 *to, size_t pitch, int row0, int n_there, const float o[8][4], float mul0,
				  float mul1)
{
	int lane = threadIdx.x % 32, r0 = row0 + lane / 4, r1 = r0 + 8;
#pragma unroll
	for (int n = 0; n < 8; n++) {
		int col = n * 8 + lane % 4 * 2;
		if (r0 < n_there)
			*(uint32_t *)(to + (size_t)r0 * pitch + col) = pack_bf16(o[n][0] * mul0, o[n][1] * mul0);
		if (r1 < n_there)
			*(uint32_t *)(to + (size_t)r1 * pitch + col) = pack_bf16(o[n][2] * mul1, o[n][3] * mul1);
	}
}

/* Shared memory begins at a multiple of 1,024, as the swizzle asks. */
extern __shared__ uint8_t shared_any[];
__device__ static uint32_t shared_begin()
{
	return ((uint32_t)__cvta_generic_to_shared(shared_any) + 1023) & ~1023u;
}

__device__ static void attn_fwd(const attn_args &a)
{
	uint32_t q_tile = shared_begin(), kv = q_tile + TILE_B; /* then k, v, k, v */
	int tile = gridDim.x - 1 - blockIdx.x, head = blockIdx.y, kv_head = head / (a.n_heads / a.n_kv),
	    q0 = tile * ROWS;
	size_t pitch = (size_t)(a.n_heads + 2 * a.n_kv) * D, sample = (size_t)blockIdx.z * a.seq;
	const bf16 *q = a.qkv + sample * pitch + (size_t)head * D;
	const bf16 *k = a.qkv + sample * pitch + (size_t)(a.n_heads + kv_head) * D, *v = k + (size_t)a.n_kv * D;
	int lane = threadIdx.x % 32, row0 = threadIdx.x / 32 * 16, n_tiles = tile + 1;

	load_tile(q_tile, q + (size_t)q0 * pitch, pitch, a.seq - q0);
	load_tile(kv, k, pitch, a.seq);
	copies_end();
	load_tile(kv + TILE_B, v, pitch, a.seq);
	copies_end();

	float o[8][4] = {}, top[2] = { -INFINITY, -INFINITY }, sum[2] = { 0.0f, 0.0f }, scale2 = a.scale * LOG2E;
	for (int j = 0; j < n_tiles; j++) {
		uint32_t k_tile = kv + (j & 1) * 2 * TILE_B, v_tile = k_tile + TILE_B;
		uint32_t next = kv + ((j + 1) & 1) * 2 * TILE_B, p[4][4];
		int c0 = (j + 1) * ROWS;
		float s[8][4];
		copies_wait<1>();
		wgmma_fence();
		product_t(s, q_tile, k_tile);
		if (j + 1 < n_tiles) /* the next pair travels while this one is used */
			load_tile(next, k + (size_t)c0 * pitch, pitch, a.seq - c0);
		copies_end();
		wgmma_wait<0>();
		if (j == tile) {
#pragma unroll
			for (int n = 0; n < 8; n++)
#pragma unroll
				for (int i = 0; i < 4; i++)
					if (n * 8 + lane % 4 * 2 + (i & 1) > row0 + lane / 4 + (i >> 1) * 8)
						s[n][i] = -INFINITY;
		}
#pragma unroll
		for (int r = 0; r < 2; r++) {
			float most = top[r], part = 0.0f;
#pragma unroll
			for (int n = 0; n < 8; n++)
				most = fmaxf(most, fmaxf(s[n][2 * r], s[n][2 * r + 1]));
			most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 1));
			most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 2));
			float shrink = ex2((top[r] - most) * scale2);
			top[r] = most;
#pragma unroll
			for (int n = 0; n < 8; n++)
#pragma unroll
				for (int i = 0; i < 2; i++) {
					s[n][2 * r + i] = ex2(s[n][2 * r + i] * scale2 - most * scale2);
					part += s[n][2 * r + i];
				}
			sum[r] = sum[r] * shrink + part;
#pragma unroll
			for (int n = 0; n < 8; n++) {
				o[n][2 * r] *= shrink;
				o[n][2 * r + 1] *= shrink;
			}
		}
		round_rows(p, s);
		copies_wait<1>();
		wgmma_fence();
		product(o, p, v_tile);
		if (j + 1 < n_tiles)
			load_tile(next + TILE_B, v + (size_t)c0 * pitch, pitch, a.seq - c0);
		copies_end();
		wgmma_wait<0>();
	}
#pragma unroll
	for (int r = 0; r < 2; r++) {
		sum[r] += __shfl_xor_sync(0xffffffffu, sum[r], 1);
		sum[r] += __shfl_xor_sync(0xffffffffu, sum[r], 2);
		int row = q0 + row0 + lane / 4 + r * 8;
		if (lane % 4 == 0 && row < a.seq)
			a.lse[((size_t)blockIdx.z * a.n_heads + head) * a.seq + row] = top[r] * a.scale + logf(sum[r]);
	}
	size_t out_pitch = (size_t)a.n_heads * D;
	store_rows(a.o + (sample + q0) * out_pitch + (size_t)head * D, out_pitch, row0, a.seq - q0, o, 1.0f / sum[0],
		   1.0f / sum[1]);
}

__device__ static void attn_bwd_q(const attn_args &a)
{
	uint32_t q_tile = shared_begin(), do_tile = q_tile + TILE_B, kv = do_tile + TILE_B;
	int tile = gridDim.x - 1 - blockIdx.x, head = blockIdx.y, kv_head = head / (a.n_heads / a.n_kv),
	    q0 = tile * ROWS;
	size_t pitch = (size_t)(a.n_heads + 2 * a.n_kv) * D, out_pitch = (size_t)a.n_heads * D;
	size_t sample = (size_t)blockIdx.z * a.seq, out_at = (sample + q0) * out_pitch + (size_t)head * D;
	size_t row_at = ((size_t)blockIdx.z * a.n_heads + head) * a.seq + q0;
	const bf16 *q = a.qkv + sample * pitch + (size_t)head * D;
	const bf16 *k = a.qkv + sample * pitch + (size_t)(a.n_heads + kv_head) * D, *v = k + (size_t)a.n_kv * D;
	int lane = threadIdx.x % 32, row0 = threadIdx.x / 32 * 16, n_tiles = tile + 1;

	load_tile(q_tile, q + (size_t)q0 * pitch, pitch, a.seq - q0);
	load_tile(do_tile, a.d_out + out_at, out_pitch, a.seq - q0);
	load_tile(kv, k, pitch, a.seq);
	load_tile(kv + TILE_B, v, pitch, a.seq);
	copies_end();

	float delta[2], lse2[2], mine = 0.0f;
	int own = row0 + lane / 2; /* two lanes a row */
	if (q0 + own < a.seq)
#pragma unroll
		for (int i = 0; i < 4; i++) {
			float x[8], y[8];
			size_t at = out_at + (size_t)own * out_pitch + (lane % 2) * 32 + i * 8;
			load8(a.out + at, x);
			load8(a.d_out + at, y);
#pragma unroll
			for (int j = 0; j < 8; j++)
				mine += x[j] * y[j];
		}
	mine += __shfl_xor_sync(0xffffffffu, mine, 1);
	if (lane % 2 == 0 && q0 + own < a.seq)
		a.delta[row_at + own] = mine;
#pragma unroll
	for (int r = 0; r < 2; r++) {
		int row = lane / 4 + r * 8;
		delta[r] = __shfl_sync(0xffffffffu, mine, row * 2);
		lse2[r] = q0 + row0 + row < a.seq ? a.lse[row_at + row0 + row] * LOG2E : INFINITY;
	}
	float dq[8][4] = {}, scale2 = a.scale * LOG2E;
	for (int j = 0; j < n_tiles; j++) {
		uint32_t k_tile = kv + (j & 1) * 2 * TILE_B, v_tile = k_tile + TILE_B, ds[4][4];
		float s[8][4], dp[8][4];
		copies_wait<0>();
		wgmma_fence();
		product_t(s, q_tile, k_tile);
		product_t(dp, do_tile, v_tile);
		if (j + 1 < n_tiles) {
			int c0 = (j + 1) * ROWS;
			uint32_t next = kv + ((j + 1) & 1) * 2 * TILE_B;
			load_tile(next, k + (size_t)c0 * pitch, pitch, a.seq - c0);
			load_tile(next + TILE_B, v + (size_t)c0 * pitch, pitch, a.seq - c0);
		}
		copies_end();
		wgmma_wait<1>();
#pragma unroll
		for (int n = 0; n < 8; n++)
#pragma unroll
			for (int i = 0; i < 4; i++) {
				s[n][i] = ex2(s[n][i] * scale2 - lse2[i >> 1]);
				if (j == tile && n * 8 + lane % 4 * 2 + (i & 1) > row0 + lane / 4 + (i >> 1) * 8)
					s[n][i] = 0.0f;
			}
		wgmma_wait<0>();
#pragma unroll
		for (int n = 0; n < 8; n++)
#pragma unroll
			for (int i = 0; i < 4; i++)
				s[n][i] *= dp[n][i] - delta[i >> 1];
		round_rows(ds, s);
		wgmma_fence();
		product(dq, ds, k_tile);
		wgmma_wait<0>();
	}
	store_rows(a.d_qkv + (sample + q0) * pitch + (size_t)head * D, pitch, row0, a.seq - q0, dq, a.scale, a.scale);
}

__device__ static void attn_bwd_kv(const attn_args &a)
{
	uint32_t k_tile = shared_begin(), v_tile = k_tile + TILE_B, qdo = v_tile + TILE_B;
	float *rows = (float *)(shared_any + (k_tile - (uint32_t)__cvta_generic_to_shared(shared_any)) + 6 * TILE_B);
	int k0 = blockIdx.x * ROWS, kv_head = blockIdx.y, group = a.n_heads / a.n_kv;
	size_t pitch = (size_t)(a.n_heads + 2 * a.n_kv) * D, out_pitch = (size_t)a.n_heads * D;
	size_t sample = (size_t)blockIdx.z * a.seq;
	const bf16 *k = a.qkv + sample * pitch + (size_t)(a.n_heads + kv_head) * D, *v = k + (size_t)a.n_kv * D;
	int lane = threadIdx.x % 32, row0 = threadIdx.x / 32 * 16;
	int first = blockIdx.x, n_tiles = (a.seq + ROWS - 1) / ROWS - first, n_all = n_tiles * group;

	auto load_stage = [&](int it) {
		int head = kv_head * group + it / n_tiles, c0 = (first + it % n_tiles) * ROWS;
		uint32_t to = qdo + (it & 1) * 2 * TILE_B;
		load_tile(to, a.qkv + (sample + c0) * pitch + (size_t)head * D, pitch, a.seq - c0);
		load_tile(to + TILE_B, a.d_out + (sample + c0) * out_pitch + (size_t)head * D, out_pitch, a.seq - c0);
		if (threadIdx.x < ROWS) {
			size_t at = ((size_t)blockIdx.z * a.n_heads + head) * a.seq + c0 + threadIdx.x;
			bool there = c0 + (int)threadIdx.x < a.seq;
			rows[(it & 1) * 2 * ROWS + threadIdx.x] = there ? a.lse[at] * LOG2E : INFINITY;
			rows[(it & 1) * 2 * ROWS + ROWS + threadIdx.x] = there ? a.delta[at] : 0.0f;
		}
	};
	load_tile(k_tile, k + (size_t)k0 * pitch, pitch, a.seq - k0);
	load_tile(v_tile, v + (size_t)k0 * pitch, pitch, a.seq - k0);
	load_stage(0);
	copies_end();

	float dk[8][4] = {}, dv[8][4] = {}, scale2 = a.scale * LOG2E;
	for (int it = 0; it < n_all; it++) {
		int c0 = (first + it % n_tiles) * ROWS;
		uint32_t q_tile = qdo + (it & 1) * 2 * TILE_B, do_tile = q_tile + TILE_B, p[4][4];
		const float *lse2 = rows + (it & 1) * 2 * ROWS, *delta = lse2 + ROWS;
		float s[8][4], dp[8][4];
		copies_wait<0>();
		wgmma_fence();
		product_t(s, k_tile, q_tile);
		product_t(dp, v_tile, do_tile);
		if (it + 1 < n_all)
			load_stage(it + 1);
		copies_end();
		wgmma_wait<1>();
#pragma unroll
		for (int n = 0; n < 8; n++) {
			int col = n * 8 + lane % 4 * 2;
			float2 l = *(const float2 *)(lse2 + col);
#pragma unroll
			for (int i = 0; i < 4; i++) {
				s[n][i] = ex2(s[n][i] * scale2 - (i & 1 ? l.y : l.x));
				if (c0 == k0 && row0 + lane / 4 + (i >> 1) * 8 > col + (i & 1))
					s[n][i] = 0.0f;
			}
		}
		round_rows(p, s);
		wgmma_fence();
		product(dv, p, do_tile);
		wgmma_wait<1>(); /* dp; dv goes on */
#pragma unroll
		for (int n = 0; n < 8; n++) {
			float2 d = *(const float2 *)(delta + n * 8 + lane % 4 * 2);
#pragma unroll
			for (int i = 0; i < 4; i++)
				s[n][i] *= dp[n][i] - (i & 1 ? d.y : d.x);
		}
		uint32_t ds[4][4];
		round_rows(ds, s);
		wgmma_fence();
		product(dk, ds, q_tile);
		wgmma_wait<0>();
	}
	bf16 *to = a.d_qkv + (sample + k0) * pitch + (size_t)(a.n_heads + kv_head) * D;
	store_rows(to, pitch, row0, a.seq - k0, dk, a.scale, a.scale);
	store_rows(to + (size_t)a.n_kv * D, pitch, row0, a.seq - k0, dv, 1.0f, 1.0f);
}

#define KERNEL(name, body, FIT)                                                                                        \
	extern "C" __global__ void __launch_bounds__(THREADS, FIT) name(attn_args a)                                   \
	{                                                                                                              \
		body(a);                                                                                               \
	}

KERNEL(jl_attn_fwd_b64, attn_fwd, 4)
KERNEL(jl_attn_bwd_q_b64, attn_bwd_q, 3)
KERNEL(jl_attn_bwd_kv_b64, attn_bwd_kv, 3)
