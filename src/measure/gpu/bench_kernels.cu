/* Kernels of the GPU benchmarks: fill, copy, triad, exact checks. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <stdint.h>

__device__ static uint32_t mix(uint64_t i, uint32_t seed)
{
	uint64_t x = i * 0x9E3779B97F4A7C15ull + seed;
	x ^= x >> 32;
	x *= 0xD6E8FEB86659FD93ull;
	x ^= x >> 32;
	return (uint32_t)x;
}

/* same values as enum jl_matmul_type in gpu/cublaslt.h */
enum { FP32, TF32, FP16, BF16, FP8 };

__device__ static void put(void *to, size_t i, float value, int type)
{
	if (type == FP16)
		((__half *)to)[i] = __float2half_rn(value);
	else if (type == BF16)
		((__nv_bfloat16 *)to)[i] = __float2bfloat16_rn(value);
	else if (type == FP8)
		((__nv_fp8_e4m3 *)to)[i] = __nv_fp8_e4m3(value);
	else
		((float *)to)[i] = value;
}

__device__ static float get(const void *from, size_t i, int type)
{
	if (type == FP16)
		return __half2float(((const __half *)from)[i]);
	if (type == BF16)
		return __bfloat162float(((const __nv_bfloat16 *)from)[i]);
	if (type == FP8)
		return (float)((const __nv_fp8_e4m3 *)from)[i];
	return ((const float *)from)[i];
}

/* `small`: integers from -2 to 2, whose products every type sums exactly; otherwise uniform in (-1, 1). */
extern "C" __global__ void jl_fill_numbers(void *to, size_t n, int type, int small, uint32_t seed)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
		uint32_t r = mix(i, seed);
		put(to, i, small ? (float)(int)(r % 5) - 2.0f : ((float)(r >> 8) + 0.5f) * (2.0f / 16777216.0f) - 1.0f,
		    type);
	}
}

/* One warp per element of C: recomputes the dot product, rounds it like C and compares for equality. */
extern "C" __global__ void jl_check_gemm(const void *a, const void *b, const void *c, size_t m, size_t n, size_t k,
					 int type, int c_type, int tb, size_t n_check, unsigned long long *n_wrong)
{
	size_t warp = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) / 32;
	size_t n_warps = (size_t)gridDim.x * blockDim.x / 32;
	unsigned lane = threadIdx.x % 32;
	for (size_t i = warp; i < n_check; i += n_warps) {
		size_t at = n_check == m * n ? i : mix(i, 77) % (m * n);
		size_t row = at / n, col = at % n;
		float sum = 0.0f;
		for (size_t j = lane; j < k; j += 32)
			sum += get(a, row * k + j, type) * get(b, tb ? col * k + j : j * n + col, type);
		for (int s = 16; s > 0; s /= 2)
			sum += __shfl_xor_sync(0xffffffffu, sum, s);
		if (c_type == FP16)
			sum = __half2float(__float2half_rn(sum));
		if (c_type == BF16)
			sum = __bfloat162float(__float2bfloat16_rn(sum));
		if (lane == 0 && get(c, at, c_type) != sum)
			atomicAdd(n_wrong, 1ull);
	}
}

/* A thread has four 16-byte loads in flight; blocks advance by whole tiles. */
extern "C" __global__ void __launch_bounds__(512)
	jl_copy(uint4 *__restrict__ to, const uint4 *__restrict__ from, size_t n)
{
	size_t tile = (size_t)blockDim.x * 4;
	for (size_t base = blockIdx.x * tile; base < n; base += gridDim.x * tile) {
		uint4 v[4];
		size_t i = base + threadIdx.x;
#pragma unroll
		for (int j = 0; j < 4; j++)
			if (i + j * blockDim.x < n)
				v[j] = __ldcs(&from[i + j * blockDim.x]);
#pragma unroll
		for (int j = 0; j < 4; j++)
			if (i + j * blockDim.x < n)
				__stcs(&to[i + j * blockDim.x], v[j]);
	}
}

/* a = b + s·c over floats */
extern "C" __global__ void __launch_bounds__(512)
	jl_triad(float4 *__restrict__ a, const float4 *__restrict__ b, const float4 *__restrict__ c, float s, size_t n)
{
	size_t tile = (size_t)blockDim.x * 2;
	for (size_t base = blockIdx.x * tile; base < n; base += gridDim.x * tile) {
		size_t i = base + threadIdx.x;
		float4 x[2], y[2];
#pragma unroll
		for (int j = 0; j < 2; j++)
			if (i + j * blockDim.x < n) {
				x[j] = __ldcs(&b[i + j * blockDim.x]);
				y[j] = __ldcs(&c[i + j * blockDim.x]);
			}
#pragma unroll
		for (int j = 0; j < 2; j++)
			if (i + j * blockDim.x < n)
				__stcs(&a[i + j * blockDim.x], make_float4(x[j].x + s * y[j].x, x[j].y + s * y[j].y,
									   x[j].z + s * y[j].z, x[j].w + s * y[j].w));
	}
}

extern "C" __global__ void jl_fill_words(uint32_t *to, size_t n, uint32_t seed)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
		to[i] = mix(i, seed);
}

extern "C" __global__ void jl_check_words(const uint32_t *words, size_t n, uint32_t seed, unsigned long long *n_wrong)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
		if (words[i] != mix(i, seed))
			atomicAdd(n_wrong, 1ull);
}

/* b and c hold integers and s is one, so the sum is exact. */
extern "C" __global__ void jl_check_triad(const float *a, const float *b, const float *c, float s, size_t n,
					  unsigned long long *n_wrong)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
		if (a[i] != b[i] + s * c[i])
			atomicAdd(n_wrong, 1ull);
}

/* --- collectives. Types and operations have NCCL's numbers. Each rank fills its buffer by a rule of rank and position; the check recomputes the
 * expected values by the same rule. */
enum { C_INT8, C_UINT8, C_INT32, C_UINT32, C_INT64, C_UINT64, C_HALF, C_FLOAT, C_DOUBLE, C_BF16 };
enum { OP_SUM, OP_PROD, OP_MAX, OP_MIN, OP_AVG };

/* Values are small enough that sums and products over all ranks are exact with 8 bits of mantissa. */
__device__ static long long value_at(int rank, size_t i, int n_ranks, int op)
{
	unsigned mixed = (unsigned)(i % 251) + (unsigned)rank * 7;
	if (op == OP_PROD)
		return mixed % 3 == 0 ? 2 : 1;
	long long v = 1 + mixed % (n_ranks <= 32 ? 5 : 2);
	return op == OP_AVG ? v * n_ranks : v;
}

__device__ static void put_typed(void *to, size_t i, long long v, int type)
{
	switch (type) {
	case C_INT8:
	case C_UINT8: ((uint8_t *)to)[i] = (uint8_t)v; break;
	case C_INT32:
	case C_UINT32: ((uint32_t *)to)[i] = (uint32_t)v; break;
	case C_INT64:
	case C_UINT64: ((uint64_t *)to)[i] = (uint64_t)v; break;
	case C_HALF: ((__half *)to)[i] = __float2half_rn((float)v); break;
	case C_FLOAT: ((float *)to)[i] = (float)v; break;
	case C_DOUBLE: ((double *)to)[i] = (double)v; break;
	default: ((__nv_bfloat16 *)to)[i] = __float2bfloat16_rn((float)v);
	}
}

__device__ static bool is_typed(const void *at, size_t i, long long v, int type)
{
	switch (type) {
	case C_INT8:
	case C_UINT8: return ((const uint8_t *)at)[i] == (uint8_t)v;
	case C_INT32:
	case C_UINT32: return ((const uint32_t *)at)[i] == (uint32_t)v;
	case C_INT64:
	case C_UINT64: return ((const uint64_t *)at)[i] == (uint64_t)v;
	case C_HALF: return __half2float(((const __half *)at)[i]) == __half2float(__float2half_rn((float)v));
	case C_FLOAT: return ((const float *)at)[i] == (float)v;
	case C_DOUBLE: return ((const double *)at)[i] == (double)v;
	default:
		return __bfloat162float(((const __nv_bfloat16 *)at)[i]) ==
		       __bfloat162float(__float2bfloat16_rn((float)v));
	}
}

extern "C" __global__ void jl_coll_fill(void *to, size_t n, int type, int op, int rank, int n_ranks)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
		put_typed(to, i, value_at(rank, i, n_ranks, op), type);
}

__device__ static long long reduced(size_t i, int op, int n_ranks)
{
	long long all = value_at(0, i, n_ranks, op);
	for (int q = 1; q < n_ranks; q++) {
		long long v = value_at(q, i, n_ranks, op);
		if (op == OP_PROD)
			all *= v;
		else if (op == OP_MAX)
			all = v > all ? v : all;
		else if (op == OP_MIN)
			all = v < all ? v : all;
		else
			all += v;
	}
	return op == OP_AVG ? all / n_ranks : all;
}

/* Checks `n` elements of recv, which start at element `first` of what is sent. Expected: the reduction of all ranks (`from` < 0), the data of
 * rank `from`, or, with `count`, `count` elements of every rank. */
extern "C" __global__ void jl_coll_check(const void *recv, size_t n, size_t first, size_t count, int from, int type,
					 int op, int n_ranks, unsigned long long *n_wrong)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
		size_t at = first + (count ? i % count : i);
		long long v = from < 0 ? reduced(at, op, n_ranks)
				       : value_at(count ? (int)(i / count) : from, at, n_ranks, op);
		if (!is_typed(recv, i, v, type))
			atomicAdd(n_wrong, 1ull);
	}
}
