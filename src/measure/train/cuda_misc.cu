/* The smaller kernels of the training step: activations, embedding, loss, optimizer, sums. */
#include "train/cuda_args.h"
#include "train/cuda_common.cuh"

#define FOR_EACH(i, n)                                                                                                 \
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < (n); i += (size_t)gridDim.x * blockDim.x)

__device__ static float d_gelu(float x)
{
	float t = tanh_fast(0.7978845608028654f * (x + 0.044715f * x * x * x));
	return 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * 0.7978845608028654f * (1.0f + 3.0f * 0.044715f * x * x);
}

/* Sorts rows by token, stably, so that the sums of jl_embed_bwd are deterministic. A block owns 32 tokens of the vocabulary and reads all tokens
 * of the batch twice: once to count, once to place. `offsets` has vocab + 1 entries. */
#define EMBED_LIST 1024
extern "C" __global__ void __launch_bounds__(256)
	jl_embed_sort(const int32_t *tokens, int *sorted, int *offsets, int n_rows, int vocab)
{
	__shared__ int rows[EMBED_LIST + 256];
	__shared__ uint8_t owner[EMBED_LIST + 256];
	__shared__ int n_of_warp[8], n_of_token[32], n_before;
	int first = blockIdx.x * 32, n_list = 0, warp = threadIdx.x / 32, lane = threadIdx.x % 32, n_less = 0;
	if (threadIdx.x < 32)
		n_of_token[threadIdx.x] = 0;
	if (threadIdx.x == 0)
		n_before = 0;
	__syncthreads();
	for (int row = threadIdx.x; row < n_rows; row += 256) {
		int token = tokens[row] - first;
		n_less += token < 0;
		if (token >= 0 && token < 32)
			atomicAdd(&n_of_token[token], 1);
	}
	atomicAdd(&n_before, n_less);
	__syncthreads();
	/* lane l of the first warp: start of token first + l, and the position of its next row */
	int cursor = n_before;
	for (int t = 0; t < lane; t++)
		cursor += n_of_token[t];
	if (warp == 0 && first + lane < vocab)
		offsets[first + lane] = cursor;
	if (blockIdx.x == 0 && threadIdx.x == 0)
		offsets[vocab] = n_rows;
	for (int base = 0; base < n_rows; base += 256) {
		int row = base + threadIdx.x, token = row < n_rows ? tokens[row] - first : -1;
		bool mine = token >= 0 && token < 32;
		unsigned ballot = __ballot_sync(0xffffffffu, mine);
		if (lane == 0)
			n_of_warp[warp] = __popc(ballot);
		__syncthreads();
		int before = n_list;
		for (int w = 0; w < 8; w++) {
			before += w < warp ? n_of_warp[w] : 0;
			n_list += n_of_warp[w];
		}
		if (mine) {
			int at = before + __popc(ballot & ((1u << lane) - 1));
			rows[at] = row;
			owner[at] = (uint8_t)token;
		}
		__syncthreads();
		if (n_list < EMBED_LIST && base + 256 < n_rows)
			continue;
		if (warp == 0)
			for (int i = 0; i < n_list; i++)
				if (owner[i] == lane)
					sorted[cursor++] = rows[i];
		n_list = 0;
		__syncthreads();
	}
}

extern "C" __global__ void jl_norm_sq_end(const float *partial, int n, float *to, int accumulate)
{
	__shared__ float room[33];
	float sum = 0.0f;
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		sum += partial[i];
	sum = block_sum(sum, room);
	if (threadIdx.x == 0)
		*to = accumulate ? *to + sum : sum;
}

extern "C" __global__ void jl_to_bf16(bf16 *to, const float *from, size_t n)
{
	FOR_EACH(i, n)
	to[i] = __float2bfloat16_rn(from[i]);
}

extern "C" __global__ void jl_from_bf16(float *to, const bf16 *from, size_t n)
{
	FOR_EACH(i, n)
	to[i] = __bfloat162float(from[i]);
}

/* The first argument is the largest number of threads per block; the default is 256. */
#define KERNEL(name) KERNEL_OF(256, name)

#define T                  bf16
#define KERNEL_OF(n, name) extern "C" __global__ void __launch_bounds__(n) jl_##name##_b
#include "train/cuda_misc.cuh"
#undef T
#undef KERNEL_OF
#define T                  float
#define KERNEL_OF(n, name) extern "C" __global__ void __launch_bounds__(n) jl_##name##_f
#include "train/cuda_misc.cuh"
