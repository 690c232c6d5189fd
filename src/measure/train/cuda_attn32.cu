/* Causal attention over floats on the tensor cores (mma.sync m16n8k8 tf32), head sizes 64 and 128. tf32: one product;
 * fp32: each operand is split into a coarse and a fine part and three products are added, which keeps about 21 bits of
 * mantissa. Structure as cuda_attn.cu. */
#include "train/cuda_common.cuh"

struct attn_args {
	const float *qkv, *out, *d_out;
	float *o, *d_qkv, *lse, *delta;
	int seq, n_heads, n_kv;
	float scale;
};

#define LOG2E   1.4426950408889634f
#define N_ROWS  64
#define THREADS 128

template <int D> constexpr int PITCH = D + 4; /* no bank twice, whichever way a tile is read */

__device__ static float ex2(float x)
{
	float y;
	asm("ex2.approx.ftz.f32 %0, %1;\n" : "=f"(y) : "f"(x));
	return y;
}

__device__ static uint32_t tf32(float x)
{
	uint32_t y;
	asm("cvt.rna.tf32.f32 %0, %1;\n" : "=r"(y) : "f"(x));
	return y;
}

__device__ static void mma(float c[4], const uint32_t a[4], const uint32_t b[2])
{
	asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
		     "{%0,%1,%2,%3};\n"
		     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
		     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

template <bool FINE, int N> struct operand {
	uint32_t coarse[N], fine[FINE ? N : 1];
	__device__ void set(int i, float x)
	{
		coarse[i] = tf32(x);
		if (FINE)
			fine[i] = tf32(x - __uint_as_float(coarse[i]));
	}
};

template <bool FINE> __device__ static void multiply(float c[4], const operand<FINE, 4> &a, const operand<FINE, 2> &b)
{
	if (FINE) {
		mma(c, a.fine, b.coarse);
		mma(c, a.coarse, b.fine);
	}
	mma(c, a.coarse, b.coarse);
}

template <int D, int R> __device__ static void load_tile(float *tile, const float *from, size_t pitch, int n_there)
{
	for (int i = threadIdx.x; i < R * (D / 4); i += THREADS) {
		int row = i / (D / 4), col = i % (D / 4) * 4;
		float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
		if (row < n_there)
			v = *(const float4 *)(from + (size_t)row * pitch + col);
		*(float4 *)(tile + row * PITCH<D> + col) = v;
	}
}

/* s[16 × C] = A·Tᵀ over D */
template <bool FINE, int D, int C>
__device__ static void product_t(float s[C / 8][4], const float *a_tile, int row0, const float *tile)
{
	int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
#pragma unroll
	for (int n = 0; n < C / 8; n++)
#pragma unroll
		for (int i = 0; i < 4; i++)
			s[n][i] = 0.0f;
#pragma unroll 4
	for (int k = 0; k < D / 8; k++) {
		operand<FINE, 4> a;
#pragma unroll
		for (int i = 0; i < 4; i++)
			a.set(i, a_tile[(row0 + g + (i & 1) * 8) * PITCH<D> + k * 8 + t + (i >> 1) * 4]);
#pragma unroll
		for (int n = 0; n < C / 8; n++) {
			operand<FINE, 2> b;
			b.set(0, tile[(n * 8 + g) * PITCH<D> + k * 8 + t]);
			b.set(1, tile[(n * 8 + g) * PITCH<D> + k * 8 + t + 4]);
			multiply<FINE>(s[n], a, b);
		}
	}
}

/* o[16 × D] += P[16 × C]·T[C × D]. The inner index may come in any order as long as both operands have it: an
 * accumulator's columns 2t and 2t+1 serve as t and t+4, and the rows of T are read to match. */
template <bool FINE, int D, int C>
__device__ static void product(float o[D / 8][4], const float p[C / 8][4], const float *tile)
{
	int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
#pragma unroll
	for (int k = 0; k < C / 8; k++) {
		operand<FINE, 4> a;
		a.set(0, p[k][0]);
		a.set(1, p[k][2]);
		a.set(2, p[k][1]);
		a.set(3, p[k][3]);
#pragma unroll
		for (int n = 0; n < D / 8; n++) {
			operand<FINE, 2> b;
			b.set(0, tile[(k * 8 + 2 * t) * PITCH<D> + n * 8 + g]);
			b.set(1, tile[(k * 8 + 2 * t + 1) * PITCH<D> + n * 8 + g]);
			multiply<FINE>(o[n], a, b);
		}
	}
}

template <int D>
__device__ static void store_rows(float *to, size_t pitch, int row0, int n_there, const float o[D / 8][4], float mul0,
				  float mul1)
{
	int lane = threadIdx.x % 32, r0 = row0 + lane / 4, r1 = r0 + 8;
#pragma unroll
	for (int n = 0; n < D / 8; n++) {
		int col = n * 8 + lane % 4 * 2;
		if (r0 < n_there)
			*(float2 *)(to + (size_t)r0 * pitch + col) = make_float2(o[n][0] * mul0, o[n][1] * mul0);
		if (r1 < n_there)
			*(float2 *)(to + (size_t)r1 * pitch + col) = make_float2(o[n][2] * mul1, o[n][3] * mul1);
	}
}

template <bool FINE, int D, int C> __device__ static void attn_fwd(const attn_args &a)
{
	extern __shared__ __align__(128) float room[];
	float *q_tile = room, *k_tile = q_tile + N_ROWS * PITCH<D>, *v_tile = k_tile + C * PITCH<D>;
	int tile = gridDim.x - 1 - blockIdx.x, head = blockIdx.y, kv_head = head / (a.n_heads / a.n_kv);
	int q0 = tile * N_ROWS, n_keys = min(q0 + N_ROWS, a.seq);
	size_t pitch = (size_t)(a.n_heads + 2 * a.n_kv) * D, sample = (size_t)blockIdx.z * a.seq;
	const float *q = a.qkv + sample * pitch + (size_t)head * D;
	const float *k = a.qkv + sample * pitch + (size_t)(a.n_heads + kv_head) * D, *v = k + (size_t)a.n_kv * D;
	int lane = threadIdx.x % 32, row0 = threadIdx.x / 32 * 16;
	float o[D / 8][4] = {}, top[2] = { -INFINITY, -INFINITY }, sum[2] = { 0.0f, 0.0f };
	float scale2 = a.scale * LOG2E;

	load_tile<D, N_ROWS>(q_tile, q + (size_t)q0 * pitch, pitch, a.seq - q0);
	for (int c0 = 0; c0 < n_keys; c0 += C) {
		float s[C / 8][4];
		__syncthreads();
		load_tile<D, C>(k_tile, k + (size_t)c0 * pitch, pitch, a.seq - c0);
		load_tile<D, C>(v_tile, v + (size_t)c0 * pitch, pitch, a.seq - c0);
		__syncthreads();
		product_t<FINE, D, C>(s, q_tile, row0, k_tile);
#pragma unroll
		for (int n = 0; n < C / 8; n++)
#pragma unroll
			for (int i = 0; i < 4; i++)
				if (c0 + n * 8 + lane % 4 * 2 + (i & 1) > q0 + row0 + lane / 4 + (i >> 1) * 8)
					s[n][i] = -INFINITY;
#pragma unroll
		for (int r = 0; r < 2; r++) {
			float m = top[r];
#pragma unroll
			for (int n = 0; n < C / 8; n++)
				m = fmaxf(m, fmaxf(s[n][2 * r], s[n][2 * r + 1]));
			m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 1));
			m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 2));
			float shrink = ex2((top[r] - m) * scale2), part = 0.0f;
			top[r] = m;
#pragma unroll
			for (int n = 0; n < C / 8; n++)
#pragma unroll
				for (int i = 0; i < 2; i++) {
					float p = ex2((s[n][2 * r + i] - m) * scale2);
					s[n][2 * r + i] = p;
					part += p;
				}
			sum[r] = sum[r] * shrink + part;
#pragma unroll
			for (int n = 0; n < D / 8; n++) {
				o[n][2 * r] *= shrink;
				o[n][2 * r + 1] *= shrink;
			}
		}
		product<FINE, D, C>(o, s, v_tile);
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
	store_rows<D>(a.o + (sample + q0) * out_pitch + (size_t)head * D, out_pitch, row0, a.seq - q0, o, 1.0f / sum[0],
		      1.0f / sum[1]);
}

template <bool FINE, int D, int C> __device__ static void attn_bwd_q(const attn_args &a)
{
	extern __shared__ __align__(128) float room[];
	float *q_tile = room, *do_tile = q_tile + N_ROWS * PITCH<D>;
	float *k_tile = do_tile + N_ROWS * PITCH<D>, *v_tile = k_tile + C * PITCH<D>;
	int tile = gridDim.x - 1 - blockIdx.x, head = blockIdx.y, kv_head = head / (a.n_heads / a.n_kv);
	int q0 = tile * N_ROWS, n_keys = min(q0 + N_ROWS, a.seq);
	size_t pitch = (size_t)(a.n_heads + 2 * a.n_kv) * D, out_pitch = (size_t)a.n_heads * D;
	size_t sample = (size_t)blockIdx.z * a.seq, out_at = (sample + q0) * out_pitch + (size_t)head * D;
	const float *q = a.qkv + sample * pitch + (size_t)head * D;
	const float *k = a.qkv + sample * pitch + (size_t)(a.n_heads + kv_head) * D, *v = k + (size_t)a.n_kv * D;
	int lane = threadIdx.x % 32, row0 = threadIdx.x / 32 * 16;

	load_tile<D, N_ROWS>(q_tile, q + (size_t)q0 * pitch, pitch, a.seq - q0);
	load_tile<D, N_ROWS>(do_tile, a.d_out + out_at, out_pitch, a.seq - q0);
	float delta_of_row = 0.0f;
	{
		int row = row0 + lane / 2;
		if (q0 + row < a.seq)
			for (int i = 0; i < D / 2; i += 8) {
				float x[8], y[8];
				size_t at = out_at + (size_t)row * out_pitch + (lane % 2) * (D / 2) + i;
				load8(a.out + at, x);
				load8(a.d_out + at, y);
#pragma unroll
				for (int j = 0; j < 8; j++)
					delta_of_row += x[j] * y[j];
			}
		delta_of_row += __shfl_xor_sync(0xffffffffu, delta_of_row, 1);
		if (lane % 2 == 0 && q0 + row < a.seq)
			a.delta[((size_t)blockIdx.z * a.n_heads + head) * a.seq + q0 + row] = delta_of_row;
	}
	float delta[2], lse2[2];
#pragma unroll
	for (int r = 0; r < 2; r++) {
		int row = lane / 4 + r * 8;
		delta[r] = __shfl_sync(0xffffffffu, delta_of_row, row * 2);
		lse2[r] = q0 + row0 + row < a.seq
				  ? a.lse[((size_t)blockIdx.z * a.n_heads + head) * a.seq + q0 + row0 + row] * LOG2E
				  : INFINITY;
	}
	float dq[D / 8][4] = {}, scale2 = a.scale * LOG2E;
	for (int c0 = 0; c0 < n_keys; c0 += C) {
		float s[C / 8][4], dp[C / 8][4];
		__syncthreads();
		load_tile<D, C>(k_tile, k + (size_t)c0 * pitch, pitch, a.seq - c0);
		load_tile<D, C>(v_tile, v + (size_t)c0 * pitch, pitch, a.seq - c0);
		__syncthreads();
		product_t<FINE, D, C>(s, q_tile, row0, k_tile);
		product_t<FINE, D, C>(dp, do_tile, row0, v_tile);
#pragma unroll
		for (int n = 0; n < C / 8; n++)
#pragma unroll
			for (int i = 0; i < 4; i++) {
				float p = ex2(s[n][i] * scale2 - lse2[i >> 1]);
				if (c0 + n * 8 + lane % 4 * 2 + (i & 1) > q0 + row0 + lane / 4 + (i >> 1) * 8)
					p = 0.0f;
				s[n][i] = p * (dp[n][i] - delta[i >> 1]);
			}
		product<FINE, D, C>(dq, s, k_tile);
	}
	store_rows<D>(a.d_qkv + (sample + q0) * pitch + (size_t)head * D, pitch, row0, a.seq - q0, dq, a.scale,
		      a.scale);
}

template <bool FINE, int D, int C> __device__ static void attn_bwd_kv(const attn_args &a)
{
	extern __shared__ __align__(128) float room[];
	float *k_tile = room, *v_tile = k_tile + N_ROWS * PITCH<D>;
	float *q_tile = v_tile + N_ROWS * PITCH<D>, *do_tile = q_tile + C * PITCH<D>, *lse2 = do_tile + C * PITCH<D>;
	float *delta = lse2 + C;
	int k0 = blockIdx.x * N_ROWS, kv_head = blockIdx.y, group = a.n_heads / a.n_kv;
	size_t pitch = (size_t)(a.n_heads + 2 * a.n_kv) * D, out_pitch = (size_t)a.n_heads * D;
	size_t sample = (size_t)blockIdx.z * a.seq;
	const float *k = a.qkv + sample * pitch + (size_t)(a.n_heads + kv_head) * D, *v = k + (size_t)a.n_kv * D;
	int lane = threadIdx.x % 32, row0 = threadIdx.x / 32 * 16;
	float dk[D / 8][4] = {}, dv[D / 8][4] = {}, scale2 = a.scale * LOG2E;

	load_tile<D, N_ROWS>(k_tile, k + (size_t)k0 * pitch, pitch, a.seq - k0);
	load_tile<D, N_ROWS>(v_tile, v + (size_t)k0 * pitch, pitch, a.seq - k0);
	for (int head = kv_head * group; head < (kv_head + 1) * group; head++)
		for (int c0 = k0 / C * C; c0 < a.seq; c0 += C) {
			float s[C / 8][4], dp[C / 8][4];
			__syncthreads();
			load_tile<D, C>(q_tile, a.qkv + (sample + c0) * pitch + (size_t)head * D, pitch, a.seq - c0);
			load_tile<D, C>(do_tile, a.d_out + (sample + c0) * out_pitch + (size_t)head * D, out_pitch,
					a.seq - c0);
			if (threadIdx.x < C) {
				size_t at = ((size_t)blockIdx.z * a.n_heads + head) * a.seq + c0 + threadIdx.x;
				bool there = c0 + (int)threadIdx.x < a.seq;
				lse2[threadIdx.x] = there ? a.lse[at] * LOG2E : INFINITY;
				delta[threadIdx.x] = there ? a.delta[at] : 0.0f;
			}
			__syncthreads();
			product_t<FINE, D, C>(s, k_tile, row0, q_tile);
#pragma unroll
			for (int n = 0; n < C / 8; n++)
#pragma unroll
				for (int i = 0; i < 4; i++) {
					int col = n * 8 + lane % 4 * 2 + (i & 1);
					s[n][i] = ex2(s[n][i] * scale2 - lse2[col]);
					if (k0 + row0 + lane / 4 + (i >> 1) * 8 > c0 + col)
						s[n][i] = 0.0f;
				}
			product<FINE, D, C>(dv, s, do_tile);
			product_t<FINE, D, C>(dp, v_tile, row0, do_tile);
#pragma unroll
			for (int n = 0; n < C / 8; n++)
#pragma unroll
				for (int i = 0; i < 4; i++)
					s[n][i] *= dp[n][i] - delta[n * 8 + lane % 4 * 2 + (i & 1)];
			product<FINE, D, C>(dk, s, q_tile);
		}
	float *to = a.d_qkv + (sample + k0) * pitch + (size_t)(a.n_heads + kv_head) * D;
	store_rows<D>(to, pitch, row0, a.seq - k0, dk, a.scale, a.scale);
	store_rows<D>(to + (size_t)a.n_kv * D, pitch, row0, a.seq - k0, dv, 1.0f, 1.0f);
}

#define ATTN(kind, FINE, D, C)                                                                                         \
	extern "C" __global__ void __launch_bounds__(THREADS) jl_attn_fwd_##kind##D(attn_args a)                       \
	{                                                                                                              \
		attn_fwd<FINE, D, C>(a);                                                                               \
	}                                                                                                              \
	extern "C" __global__ void __launch_bounds__(THREADS) jl_attn_bwd_q_##kind##D(attn_args a)                     \
	{                                                                                                              \
		attn_bwd_q<FINE, D, C>(a);                                                                             \
	}                                                                                                              \
	extern "C" __global__ void __launch_bounds__(THREADS) jl_attn_bwd_kv_##kind##D(attn_args a)                    \
	{                                                                                                              \
		attn_bwd_kv<FINE, D, C>(a);                                                                            \
	}

ATTN(t, false, 64, 64)
ATTN(t, false, 128, 32)
ATTN(f, true, 64, 32)
ATTN(f, true, 128, 32)
