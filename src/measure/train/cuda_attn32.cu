/* Attention over floats, causal or full, on tensor cores (mma.sync m16n8k8 tf32), head sizes 64 and 128. tf32 uses one product. fp32 splits each
 * operand into a coarse and a fine part and adds three products, which keeps about 21 bits of mantissa. Structure as in cuda_attn.cu. */
#include "train/cuda_attn.cuh"

template <int D> constexpr int PITCH = D + 4; /* avoids bank conflicts for row and column reads */

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
	__device__ void take(int i, float x) /* from a tile whose values are already rounded to tf32 */
	{
		if (FINE)
			set(i, x);
		else
			coarse[i] = __float_as_uint(x);
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

template <bool FINE> __device__ static float kept(float x)
{
	return FINE ? x : __uint_as_float(tf32(x));
}

template <bool FINE, int D, int R>
__device__ static void load_tile(float *tile, const float *from, size_t pitch, int n_there)
{
	for (int i = threadIdx.x; i < R * (D / 4); i += THREADS) {
		int row = i / (D / 4), col = i % (D / 4) * 4;
		float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
		if (row < n_there)
			v = *(const float4 *)(from + (size_t)row * pitch + col);
		*(float4 *)(tile + row * PITCH<D> + col) =
			make_float4(kept<FINE>(v.x), kept<FINE>(v.y), kept<FINE>(v.z), kept<FINE>(v.w));
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
			a.take(i, a_tile[(row0 + g + (i & 1) * 8) * PITCH<D> + k * 8 + t + (i >> 1) * 4]);
#pragma unroll
		for (int n = 0; n < C / 8; n++) {
			operand<FINE, 2> b;
			b.take(0, tile[(n * 8 + g) * PITCH<D> + k * 8 + t]);
			b.take(1, tile[(n * 8 + g) * PITCH<D> + k * 8 + t + 4]);
			multiply<FINE>(s[n], a, b);
		}
	}
}

/* o[16 × D] += P[16 × C]·T[C × D]. Both operands use the same permutation of the inner index: an accumulator's columns 2t and 2t+1 serve as t
 * and t+4, and the rows of T are read in that order. */
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
			b.take(0, tile[(k * 8 + 2 * t) * PITCH<D> + n * 8 + g]);
			b.take(1, tile[(k * 8 + 2 * t + 1) * PITCH<D> + n * 8 + g]);
			multiply<FINE>(o[n], a, b);
		}
	}
}

template <bool FINE, int D, int C, bool CAUSAL> __device__ static void attn_fwd(const attn_args<float> &a)
{
	extern __shared__ __align__(128) float room[];
	float *q_tile = room, *k_tile = q_tile + N_ROWS * PITCH<D>, *v_tile = k_tile + C * PITCH<D>;
	const own_queries<float, D, CAUSAL> w(a);
	const int n_keys = w.n_keys(a);
	float o[D / 8][4] = {}, top[2] = { -INFINITY, -INFINITY }, sum[2] = { 0.0f, 0.0f };
	float scale2 = a.scale * LOG2E;

	load_tile<FINE, D, N_ROWS>(q_tile, w.q + (size_t)w.q0 * w.pitch, w.pitch, a.seq - w.q0);
	for (int c0 = 0; c0 < n_keys; c0 += C) {
		float s[C / 8][4];
		__syncthreads();
		load_tile<FINE, D, C>(k_tile, w.k + (size_t)c0 * w.pitch, w.pitch, a.seq - c0);
		load_tile<FINE, D, C>(v_tile, w.v + (size_t)c0 * w.pitch, w.pitch, a.seq - c0);
		__syncthreads();
		product_t<FINE, D, C>(s, q_tile, w.row0, k_tile);
		if (c0 + C > (CAUSAL ? w.q0 + w.row0 + 1 : a.seq))
			hide<CAUSAL>(s, c0, w.q0 + w.row0, a.seq);
		softmax_step<true>(s, o, top, sum, scale2);
		product<FINE, D, C>(o, s, v_tile);
	}
	store_forward(a, w, o, top, sum);
}

template <bool FINE, int D, int C, bool CAUSAL> __device__ static void attn_bwd_q(const attn_args<float> &a)
{
	extern __shared__ __align__(128) float room[];
	float *q_tile = room, *do_tile = q_tile + N_ROWS * PITCH<D>;
	float *k_tile = do_tile + N_ROWS * PITCH<D>, *v_tile = k_tile + C * PITCH<D>;
	const own_queries<float, D, CAUSAL> w(a);
	const int n_keys = w.n_keys(a);
	float delta[2], lse2[2], dq[D / 8][4] = {}, scale2 = a.scale * LOG2E;

	load_tile<FINE, D, N_ROWS>(q_tile, w.q + (size_t)w.q0 * w.pitch, w.pitch, a.seq - w.q0);
	load_tile<FINE, D, N_ROWS>(do_tile, a.d_out + w.out_at(a), (size_t)a.n_heads * D, a.seq - w.q0);
	row_figures(a, w, delta, lse2);
	for (int c0 = 0; c0 < n_keys; c0 += C) {
		float s[C / 8][4], dp[C / 8][4];
		__syncthreads();
		load_tile<FINE, D, C>(k_tile, w.k + (size_t)c0 * w.pitch, w.pitch, a.seq - c0);
		load_tile<FINE, D, C>(v_tile, w.v + (size_t)c0 * w.pitch, w.pitch, a.seq - c0);
		__syncthreads();
		product_t<FINE, D, C>(s, q_tile, w.row0, k_tile);
		product_t<FINE, D, C>(dp, do_tile, w.row0, v_tile);
		probabilities<CAUSAL>(s, lse2, scale2, c0 + C > (CAUSAL ? w.q0 + w.row0 + 1 : a.seq), c0, w.q0 + w.row0,
				      a.seq);
		through_softmax(s, dp, delta);
		product<FINE, D, C>(dq, s, k_tile);
	}
	store_rows(a.d_qkv + (w.sample + w.q0) * w.pitch + (size_t)w.head * D, w.pitch, w.row0, a.seq - w.q0, dq,
		   a.scale, a.scale);
}

template <bool FINE, int D, int C, bool CAUSAL> __device__ static void attn_bwd_kv(const attn_args<float> &a)
{
	extern __shared__ __align__(128) float room[];
	float *k_tile = room, *v_tile = k_tile + N_ROWS * PITCH<D>;
	float *q_tile = v_tile + N_ROWS * PITCH<D>, *do_tile = q_tile + C * PITCH<D>, *lse2 = do_tile + C * PITCH<D>;
	const own_keys<float, D, C, CAUSAL> w(a);
	float dk[D / 8][4] = {}, dv[D / 8][4] = {}, scale2 = a.scale * LOG2E;

	load_tile<FINE, D, N_ROWS>(k_tile, w.k + (size_t)w.k0 * w.pitch, w.pitch, a.seq - w.k0);
	load_tile<FINE, D, N_ROWS>(v_tile, w.v + (size_t)w.k0 * w.pitch, w.pitch, a.seq - w.k0);
	for (int head = w.kv_head * w.group; head < (w.kv_head + 1) * w.group; head++)
		for (int c0 = w.first * C; c0 < a.seq; c0 += C) {
			size_t at = w.sample + c0, col = (size_t)head * D;
			float s[C / 8][4], dp[C / 8][4];
			__syncthreads();
			load_tile<FINE, D, C>(q_tile, a.qkv + at * w.pitch + col, w.pitch, a.seq - c0);
			load_tile<FINE, D, C>(do_tile, a.d_out + at * w.out_pitch + col, w.out_pitch, a.seq - c0);
			load_rows<C>(a, lse2, w.n, head, c0);
			__syncthreads();
			product_t<FINE, D, C>(s, k_tile, w.row0, q_tile);
			probabilities(s, lse2, 1.0f, scale2, CAUSAL && c0 < w.k0 + w.row0 + 15, c0, w.k0 + w.row0);
			product<FINE, D, C>(dv, s, do_tile);
			product_t<FINE, D, C>(dp, v_tile, w.row0, do_tile);
			through_softmax(s, dp, lse2 + C);
			product<FINE, D, C>(dk, s, q_tile);
		}
	store_backward(a, w, dk, dv);
}

#define KERNEL(name, kind, FINE, D, C, CAUSAL)                                                                         \
	extern "C" __global__ void __launch_bounds__(THREADS) jl_attn_##name(attn_args<float> a)                       \
	{                                                                                                              \
		attn_##kind<FINE, D, C, CAUSAL>(a);                                                                    \
	}
#define KERNELS(kind, prefix, FINE, D, C)                                                                              \
	KERNEL(kind##_##prefix##D, kind, FINE, D, C, true) KERNEL(kind##_##prefix##D##_all, kind, FINE, D, C, false)
#define ALL_KINDS(prefix, FINE, D, C)                                                                                  \
	KERNELS(fwd, prefix, FINE, D, C) KERNELS(bwd_q, prefix, FINE, D, C) KERNELS(bwd_kv, prefix, FINE, D, C)

ALL_KINDS(t, false, 64, 64)
ALL_KINDS(t, false, 128, 32)
ALL_KINDS(f, true, 64, 32)
ALL_KINDS(f, true, 128, 32)
