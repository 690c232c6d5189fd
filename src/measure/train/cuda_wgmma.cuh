/* Helpers for kernels with Hopper's wgmma (sm_90a): tiles of 64 rows × 128 bytes in shared memory, 64 × 64 accumulators in the registers of four
 * warps. */
#pragma once

#include "train/cuda_common.cuh"

/* Builds the wgmma descriptor of a tile. `place` is the low half: the address in units of 16 bytes. The high half is constant: 128-byte swizzle,
 * groups of eight rows 1,024 bytes apart. Moving to other rows or columns is one addition. */
__device__ inline uint32_t place(uint32_t at)
{
	return at >> 4 | 1u << 16;
}
__device__ inline uint64_t describe(uint32_t place)
{
	return (uint64_t)(1024 >> 4 | 1u << 30) << 32 | place;
}

__device__ inline void wgmma_fence()
{
	asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
}
__device__ inline void wgmma_commit()
{
	asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
}
template <int N> __device__ inline void wgmma_wait()
{
	asm volatile("wgmma.wait_group.sync.aligned %0;\n" ::"n"(N) : "memory");
}

#define ACC                                                                                                            \
	"{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%" \
	"29,%30,%31}"
#define ACC4(c, n) "+f"(c[n][0]), "+f"(c[n][1]), "+f"(c[n][2]), "+f"(c[n][3])
#define ACC32(c)   ACC4(c, 0), ACC4(c, 1), ACC4(c, 2), ACC4(c, 3), ACC4(c, 4), ACC4(c, 5), ACC4(c, 6), ACC4(c, 7)

/* Start of shared memory, aligned to 1,024 bytes as the swizzle requires. */
extern __shared__ uint8_t shared_any[];
__device__ inline uint32_t shared_begin()
{
	return ((uint32_t)__cvta_generic_to_shared(shared_any) + 1023) & ~1023u;
}
