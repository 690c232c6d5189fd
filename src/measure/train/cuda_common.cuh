/* Device helpers of the training kernels: eight elements as floats, sums over a warp and over a block. */
#pragma once

#include <cuda_bf16.h>
#include <stdint.h>

using bf16 = __nv_bfloat16;

__device__ inline float to_float(float x)
{
	return x;
}
__device__ inline float to_float(bf16 x)
{
	return __bfloat162float(x);
}
template <typename T> __device__ inline T from_float(float x);
template <> __device__ inline float from_float<float>(float x)
{
	return x;
}
template <> __device__ inline bf16 from_float<bf16>(float x)
{
	return __float2bfloat16_rn(x);
}

__device__ inline uint32_t pack_bf16(float low, float high)
{
	__nv_bfloat162 both = __floats2bfloat162_rn(low, high);
	return *reinterpret_cast<uint32_t *>(&both);
}

__device__ inline void unpack_bf16(uint32_t both, float &low, float &high)
{
	low = __uint_as_float(both << 16);
	high = __uint_as_float(both & 0xffff0000u);
}

__device__ inline void load8(const float *from, float v[8])
{
	float4 a = reinterpret_cast<const float4 *>(from)[0], b = reinterpret_cast<const float4 *>(from)[1];
	v[0] = a.x, v[1] = a.y, v[2] = a.z, v[3] = a.w, v[4] = b.x, v[5] = b.y, v[6] = b.z, v[7] = b.w;
}
__device__ inline void load8(const bf16 *from, float v[8])
{
	uint4 a = *reinterpret_cast<const uint4 *>(from);
	unpack_bf16(a.x, v[0], v[1]);
	unpack_bf16(a.y, v[2], v[3]);
	unpack_bf16(a.z, v[4], v[5]);
	unpack_bf16(a.w, v[6], v[7]);
}
__device__ inline void store8(float *to, const float v[8])
{
	reinterpret_cast<float4 *>(to)[0] = make_float4(v[0], v[1], v[2], v[3]);
	reinterpret_cast<float4 *>(to)[1] = make_float4(v[4], v[5], v[6], v[7]);
}
__device__ inline void store8(bf16 *to, const float v[8])
{
	*reinterpret_cast<uint4 *>(to) = make_uint4(pack_bf16(v[0], v[1]), pack_bf16(v[2], v[3]), pack_bf16(v[4], v[5]),
						    pack_bf16(v[6], v[7]));
}
/* Loads four elements that are used once; __ldcs avoids evicting other data from the caches. */
__device__ inline void load4(const float *from, float v[4])
{
	float4 a = __ldcs(reinterpret_cast<const float4 *>(from));
	v[0] = a.x, v[1] = a.y, v[2] = a.z, v[3] = a.w;
}
__device__ inline void load4(const bf16 *from, float v[4])
{
	uint2 a = __ldcs(reinterpret_cast<const uint2 *>(from));
	unpack_bf16(a.x, v[0], v[1]);
	unpack_bf16(a.y, v[2], v[3]);
}
__device__ inline void store4(float *to, const float v[4])
{
	__stcs(reinterpret_cast<float4 *>(to), make_float4(v[0], v[1], v[2], v[3]));
}
__device__ inline void store4(bf16 *to, const float v[4])
{
	*reinterpret_cast<uint2 *>(to) = make_uint2(pack_bf16(v[0], v[1]), pack_bf16(v[2], v[3]));
}
/* Rounds to the stored format. */
__device__ inline float rounded(float x, const float *)
{
	return x;
}
__device__ inline float rounded(float x, const bf16 *)
{
	return __bfloat162float(__float2bfloat16_rn(x));
}

__device__ inline float warp_sum(float x)
{
#pragma unroll
	for (int s = 16; s > 0; s /= 2)
		x += __shfl_xor_sync(0xffffffffu, x, s);
	return x;
}
__device__ inline float warp_max(float x)
{
#pragma unroll
	for (int s = 16; s > 0; s /= 2)
		x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, s));
	return x;
}

/* All threads get the sum or maximum over the block; `room` holds 33 floats. The block consists of whole warps. */
template <float (*WARP)(float)> __device__ inline float block_fold(float x, float none, float *room)
{
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32, n_warps = blockDim.x / 32;
	x = WARP(x);
	__syncthreads();
	if (lane == 0)
		room[warp] = x;
	__syncthreads();
	if (warp == 0) {
		x = WARP(lane < n_warps ? room[lane] : none);
		if (lane == 0)
			room[32] = x;
	}
	__syncthreads();
	return room[32];
}
__device__ inline float block_sum(float x, float *room)
{
	return block_fold<warp_sum>(x, 0.0f, room);
}
__device__ inline float block_max(float x, float *room)
{
	return block_fold<warp_max>(x, -INFINITY, room);
}

/* c[16 × 8] += a[16 × 16]·b[16 × 8]. */
__device__ inline void mma(float c[4], const uint32_t a[4], uint32_t b0, uint32_t b1)
{
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
		     "{%0,%1,%2,%3};\n"
		     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
		     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ inline float tanh_fast(float x)
{
	/* accurate to a few ulp, unlike tanh.approx; large x gives ±1 without a branch */
	float e = __expf(2.0f * x);
	return 1.0f - 2.0f / (e + 1.0f);
}

__device__ inline float gelu(float x)
{
	return 0.5f * x * (1.0f + tanh_fast(0.7978845608028654f * (x + 0.044715f * x * x * x)));
}
