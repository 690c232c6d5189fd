/* Makes fp8 copies of bf16 tensors, plain and transposed, in one pass: Hopper's fp8 products need both operands contiguous along k. The
 * elementwise operation between two products (GELU, SwiGLU, their gradients, sums for a bias gradient) is applied in the same pass. */
#include <cuda_fp8.h>

#include "train/cuda_args.h"
#include "train/cuda_common.cuh"

/* A block has a tile of 128 rows × 64 columns, a thread four rows × eight columns of it. */
enum { ROWS = 128, COLS = 64, GRANULE = 16 };

enum { PLAIN, GELU, GELU_BWD, SWIGLU, SWIGLU_BWD };

__device__ inline float tanh_near(float x)
{
	float y;
	asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
	return y;
}

#define GELU_A 0.7978845608028654f
#define GELU_B 0.044715f

template <bool WIDE> __device__ inline uint32_t four_fp8(const float *v, float scale)
{
	constexpr __nv_fp8_interpretation_t format = WIDE ? __NV_E5M2 : __NV_E4M3;
	uint32_t low =
		__nv_cvt_float2_to_fp8x2(make_float2(v[0] * scale, v[1] * scale), __NV_SATFINITE, format);
	uint32_t high =
		__nv_cvt_float2_to_fp8x2(make_float2(v[2] * scale, v[3] * scale), __NV_SATFINITE, format);
	return low | high << 16;
}

__device__ inline uint4 load16(const bf16 *from)
{
	return *reinterpret_cast<const uint4 *>(from);
}

__device__ inline void unpack8(const uint4 &a, float v[8])
{
	unpack_bf16(a.x, v[0], v[1]);
	unpack_bf16(a.y, v[2], v[3]);
	unpack_bf16(a.z, v[4], v[5]);
	unpack_bf16(a.w, v[6], v[7]);
}

/* Computes eight values; `second` is only for the gradient of SwiGLU: d_up, which lies behind d_gate. */
template <int OF> __device__ inline void eight(const uint4 in[3], float v[8], float second[8])
{
	float x[8], y[8];
	unpack8(in[0], v);
	if (OF == GELU_BWD || OF == SWIGLU || OF == SWIGLU_BWD)
		unpack8(in[1], x);
	if (OF == SWIGLU_BWD)
		unpack8(in[2], y);
#pragma unroll
	for (int j = 0; j < 8; j++) {
		if (OF == GELU)
			v[j] = 0.5f * v[j] * (1.0f + tanh_near(GELU_A * (v[j] + GELU_B * v[j] * v[j] * v[j])));
		if (OF == GELU_BWD) {
			float sq = x[j] * x[j], t = tanh_near(GELU_A * x[j] * (1.0f + GELU_B * sq));
			v[j] *= 0.5f * (1.0f + t) +
				0.5f * x[j] * (1.0f - t * t) * GELU_A * (1.0f + 3.0f * GELU_B * sq);
		}
		if (OF == SWIGLU)
			v[j] = __fdividef(v[j], 1.0f + __expf(-v[j])) * x[j];
		if (OF == SWIGLU_BWD) {
			float s = __fdividef(1.0f, 1.0f + __expf(-x[j])), d = v[j];
			v[j] = d * y[j] * s * (1.0f + x[j] * (1.0f - s));
			second[j] = d * x[j] * s;
		}
	}
}

/* Transposes a 4 × 4 matrix of bytes. */
__device__ inline void turn(const uint32_t w[4], uint32_t t[4])
{
	uint32_t x0 = __byte_perm(w[0], w[1], 0x5140), x1 = __byte_perm(w[0], w[1], 0x7362);
	uint32_t y0 = __byte_perm(w[2], w[3], 0x5140), y1 = __byte_perm(w[2], w[3], 0x7362);
	t[0] = __byte_perm(x0, y0, 0x5410);
	t[1] = __byte_perm(x0, y0, 0x7632);
	t[2] = __byte_perm(x1, y1, 0x5410);
	t[3] = __byte_perm(x1, y1, 0x7632);
}

/* Writes four rows of eight columns, plain and, through shared memory, transposed. In shared memory a column has 128 contiguous bytes; their
 * 16-byte pieces are permuted differently for each group of eight columns, so that neither writes nor reads have bank conflicts. */
__device__ static void put(const fp8_args &a, uint32_t *turned, const uint32_t low[4], const uint32_t high[4], int row0,
			   int col0, int end)
{
	const int warp = threadIdx.x / 32, eighth = threadIdx.x % 8, group = threadIdx.x % 32 / 8;
	const int row = row0 + warp * GRANULE + group * 4, col = col0 + eighth * 8;
	if (a.to && col < end)
#pragma unroll
		for (int r = 0; r < 4; r++)
			if (row + r < a.n_rows)
				*reinterpret_cast<uint2 *>(a.to + (size_t)(row + r) * a.width + col) =
					make_uint2(low[r], high[r]);
	if (!a.to_t)
		return;
	uint32_t t[8];
	turn(low, t);
	turn(high, t + 4);
#pragma unroll
	for (int j = 0; j < 8; j++)
		turned[(eighth * 8 + j) * (ROWS / 4) + (warp ^ eighth) * 4 + group] = t[j];
	__syncthreads();
#pragma unroll
	for (int i = threadIdx.x; i < COLS * ROWS / GRANULE; i += 256) {
		int c = i / 8, piece = i % 8;
		if (col0 + c < end && row0 + piece * GRANULE < a.n_rows)
			*reinterpret_cast<uint4 *>(a.to_t + (size_t)(col0 + c) * a.n_rows + row0 + piece * GRANULE) =
				*reinterpret_cast<const uint4 *>(
					&turned[c * (ROWS / 4) + (piece ^ (c / 8)) * 4]);
	}
}

/* Sums the tile's columns; jl_sum_rows then adds the blocks in order. */
__device__ static void put_sums(const fp8_args &a, float (*room)[COLS], float sums[8], int col0, int end)
{
	const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
	for (int j = 0; j < 8; j++) {
		sums[j] += __shfl_xor_sync(0xffffffffu, sums[j], 8);
		sums[j] += __shfl_xor_sync(0xffffffffu, sums[j], 16);
		if (lane < 8)
			room[warp][lane * 8 + j] = sums[j];
	}
	__syncthreads();
	if (threadIdx.x < COLS && col0 + (int)threadIdx.x < end) {
		float sum = 0.0f;
		for (int w = 0; w < 8; w++)
			sum += room[w][threadIdx.x];
		a.partial[(size_t)blockIdx.y * a.width + col0 + threadIdx.x] = sum;
	}
}

template <int OF, bool WIDE> __device__ static void narrow(const fp8_args &a)
{
	constexpr int N_OUT = OF == SWIGLU_BWD ? 2 : 1, N_IN = OF == SWIGLU_BWD ? 3 : OF == GELU_BWD || OF == SWIGLU ? 2 : 1;
	__shared__ __align__(16) uint32_t turned[COLS * ROWS / 4];
	__shared__ float room[8][COLS];
	const int row0 = blockIdx.y * ROWS, col0 = blockIdx.x * COLS, half = a.width / N_OUT;
	const int row = row0 + threadIdx.x / 32 * GRANULE + threadIdx.x % 32 / 8 * 4, col = col0 + threadIdx.x % 8 * 8;
	if (row0 >= a.n_rows || col0 >= half)
		return; /* the grid covers the largest tensor of the launch */
	const float scale = a.scale->scale;
	uint4 in[4][3] = {};
	uint32_t low[N_OUT][4] = {}, high[N_OUT][4] = {};
	float sums[N_OUT][8] = {}, largest = 0.0f;
	if (col < half) {
#pragma unroll
		for (int r = 0; r < 4; r++) {
			const size_t at = (size_t)(row + r) * half + col, pair = (size_t)(row + r) * 2 * half + col;
			if (row + r >= a.n_rows)
				continue;
			in[r][0] = load16((const bf16 *)a.from + (OF == SWIGLU ? pair : at));
			if (N_IN > 1)
				in[r][1] = load16(OF == SWIGLU     ? (const bf16 *)a.from + pair + half
						  : OF == GELU_BWD ? (const bf16 *)a.before + at
								   : (const bf16 *)a.before + pair);
			if (N_IN > 2)
				in[r][2] = load16((const bf16 *)a.before + pair + half);
		}
#pragma unroll
		for (int r = 0; r < 4; r++) {
			float v[2][8];
			eight<OF>(in[r], v[0], v[1]);
#pragma unroll
			for (int o = 0; o < N_OUT; o++) {
#pragma unroll
				for (int j = 0; j < 8; j++) {
					largest = fmaxf(largest, fabsf(v[o][j]));
					sums[o][j] += v[o][j];
				}
				low[o][r] = four_fp8<WIDE>(v[o], scale);
				high[o][r] = four_fp8<WIDE>(v[o] + 4, scale);
			}
		}
	}
#pragma unroll
	for (int o = 0; o < N_OUT; o++) {
		if (o > 0)
			__syncthreads();
		put(a, turned, low[o], high[o], row0, col0 + o * half, (o + 1) * half);
		if (WIDE && a.partial)
			put_sums(a, room, sums[o], col0 + o * half, (o + 1) * half);
	}
	largest = warp_max(largest);
	if (threadIdx.x % 32 == 0 && largest > *(volatile float *)&a.scale->largest)
		atomicMax((int *)&a.scale->largest, __float_as_int(largest));
}

#define FP8(name, OF, WIDE)                                                                                            \
	extern "C" __global__ void __launch_bounds__(256) jl_fp8_##name(fp8_many m)                                    \
	{                                                                                                              \
		narrow<OF, WIDE>(m.of[blockIdx.z]);                                                                               \
	}

FP8(plain, PLAIN, false)
FP8(gradient, PLAIN, true)
FP8(gelu, GELU, false)
FP8(gelu_bwd, GELU_BWD, true)
FP8(swiglu, SWIGLU, false)
FP8(swiglu_bwd, SWIGLU_BWD, true)

/* Computes the scales of the next step: 8x headroom over the largest value of the last steps. The first n_narrow tensors are e4m3, the others
 * e5m2. `first`: no history exists; uses this step alone. */
extern "C" __global__ void __launch_bounds__(256) jl_fp8_scales(jl_fp8_scale *scales, int n_narrow, int n, int first)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	jl_fp8_scale *s = scales + i;
	const float limit = i < n_narrow ? 448.0f / 8 : 57344.0f / 8;
	float largest = s->largest;
	if (!first) {
		for (int h = JL_FP8_HISTORY - 1; h > 0; h--) {
			s->history[h] = s->history[h - 1];
			largest = fmaxf(largest, s->history[h]);
		}
		s->history[0] = s->largest;
		s->largest = 0.0f;
	}
	const bool known = largest > 0.0f && largest < INFINITY;
	s->scale = known ? limit / largest : 1.0f;
	s->inverse = known ? largest / limit : 1.0f;
}
