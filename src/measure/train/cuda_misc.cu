/* The smaller kernels of the training step: activations, embedding, loss, optimizer, sums. */
#include "train/cuda_common.cuh"

#define FOR_EACH(i, n)                                                                                                 \
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < (n); i += (size_t)gridDim.x * blockDim.x)

__device__ static float tanh_fast(float x)
{
	/* exact to a few units in the last place, unlike tanh.approx; large x ends at ±1 without a branch */
	float e = __expf(2.0f * x);
	return 1.0f - 2.0f / (e + 1.0f);
}

__device__ static float gelu(float x)
{
	return 0.5f * x * (1.0f + tanh_fast(0.7978845608028654f * (x + 0.044715f * x * x * x)));
}

__device__ static float d_gelu(float x)
{
	float t = tanh_fast(0.7978845608028654f * (x + 0.044715f * x * x * x));
	return 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * 0.7978845608028654f * (1.0f + 3.0f * 0.044715f * x * x);
}

template <typename T> __device__ static void gelu_all(T *out, const T *in, size_t n)
{
	FOR_EACH(i, n / 8)
	{
		float v[8];
		load8(in + i * 8, v);
#pragma unroll
		for (int j = 0; j < 8; j++)
			v[j] = gelu(v[j]);
		store8(out + i * 8, v);
	}
	if (blockIdx.x == 0 && threadIdx.x < n % 8)
		out[n / 8 * 8 + threadIdx.x] = from_float<T>(gelu(to_float(in[n / 8 * 8 + threadIdx.x])));
}

/* Where the library does not fuse an epilogue. kind 0: c += bias; 1: aux = c + bias, c = gelu(aux); 2: c *= gelu'(aux).
 * n % 8 == 0. */
template <typename T>
__device__ static void epilogue(T *c, T *aux, const T *bias, size_t n_rows, size_t n, size_t ld, int kind)
{
	FOR_EACH(i, n_rows * (n / 8))
	{
		size_t row = i / (n / 8), col = i % (n / 8) * 8, at = row * ld + col;
		float v[8], b[8] = { 0 };
		load8(c + at, v);
		if (bias)
			load8(bias + col, b);
		if (kind == 2)
			load8(aux + at, b);
#pragma unroll
		for (int j = 0; j < 8; j++)
			v[j] = kind == 2 ? v[j] * d_gelu(b[j]) : v[j] + b[j];
		if (kind == 1) {
			store8(aux + at, v);
#pragma unroll
			for (int j = 0; j < 8; j++)
				v[j] = gelu(v[j]);
		}
		store8(c + at, v);
	}
}

template <typename T> __device__ static void swiglu(T *out, const T *gate_up, size_t n_rows, size_t width)
{
	FOR_EACH(i, n_rows * width)
	{
		size_t row = i / width, col = i % width;
		float g = to_float(gate_up[row * 2 * width + col]),
		      u = to_float(gate_up[row * 2 * width + width + col]);
		out[i] = from_float<T>(g / (1.0f + __expf(-g)) * u);
	}
}

template <typename T>
__device__ static void swiglu_bwd(T *d_gate_up, const T *gate_up, const T *d_out, size_t n_rows, size_t width)
{
	FOR_EACH(i, n_rows * width)
	{
		size_t row = i / width, col = i % width, at = row * 2 * width + col;
		float g = to_float(gate_up[at]), u = to_float(gate_up[at + width]), d = to_float(d_out[i]);
		float s = 1.0f / (1.0f + __expf(-g));
		d_gate_up[at] = from_float<T>(d * u * s * (1.0f + g * (1.0f - s)));
		d_gate_up[at + width] = from_float<T>(d * g * s);
	}
}

/* Pairs (i, i + D/2) of q and k heads, by position; sign -1 rotates back. */
template <typename T>
__device__ static void rope(T *qkv, size_t n_rows, int seq, int n_rotated, int n_all, int dim, float theta, float sign)
{
	size_t half = dim / 2;
	FOR_EACH(i, n_rows * n_rotated * half)
	{
		size_t j = i % half, head = i / half % n_rotated, row = i / half / n_rotated;
		T *at = qkv + (row * n_all + head) * dim + j;
		float angle = (float)(row % seq) * powf(theta, -2.0f * (float)j / (float)dim), c, s;
		sincosf(angle, &s, &c);
		s *= sign;
		float a = to_float(at[0]), b = to_float(at[half]);
		at[0] = from_float<T>(a * c - b * s);
		at[half] = from_float<T>(a * s + b * c);
	}
}

template <typename T>
__device__ static void embed(const int32_t *tokens, const T *table, const T *positions, T *out, size_t n_rows,
			     size_t seq, size_t width)
{
	FOR_EACH(i, n_rows * (width / 8))
	{
		size_t row = i / (width / 8), col = i % (width / 8) * 8;
		float v[8], p[8] = { 0 };
		load8(table + (size_t)tokens[row] * width + col, v);
		if (positions)
			load8(positions + row % seq * width + col, p);
#pragma unroll
		for (int j = 0; j < 8; j++)
			v[j] += p[j];
		store8(out + row * width + col, v);
	}
}

/* Rows in the order of their tokens, rows of one token in their own order: the sums of jl_embed_bwd never depend on who
 * came first. A block owns 32 tokens of the vocabulary and reads all tokens of the batch twice: to count, and to place.
 * offsets[vocab + 1]. */
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
	/* lane l of the first warp: where token first + l begins, and where its next row goes */
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

/* A block has 8 tokens, a warp each; a token with many rows is shared by all warps. */
#define EMBED_MANY 48
template <typename T>
__device__ static void embed_bwd(const int *sorted, const int *offsets, const T *d_out, T *table_grad, int vocab,
				 int width)
{
	__shared__ float parts[8][256 + 8];
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32, first = blockIdx.x * 8;
	for (int t = 0; t < 9; t++) { /* 0: every warp its own; then those that have many */
		int token = first + (t == 0 ? warp : t - 1);
		int from = token < vocab ? offsets[token] : 0, n = token < vocab ? offsets[token + 1] - from : 0;
		bool many = n > EMBED_MANY;
		if (n == 0 || many != (t > 0))
			continue; /* for t > 0 all warps agree */
		int begin = t == 0 ? 0 : warp, step = t == 0 ? 1 : 8;
		for (int c0 = 0; c0 < width; c0 += 256) {
			int col = c0 + lane * 8;
			float sum[8] = { 0 };
			if (col < width)
#pragma unroll 4
				for (int i = begin; i < n; i += step) {
					float v[8];
					load8(d_out + (size_t)sorted[from + i] * width + col, v);
#pragma unroll
					for (int j = 0; j < 8; j++)
						sum[j] += v[j];
				}
			if (t > 0) {
				__syncthreads();
#pragma unroll
				for (int j = 0; j < 8; j++)
					parts[warp][lane * 8 + j] = sum[j];
				__syncthreads();
#pragma unroll
				for (int j = 0; j < 8; j++) {
					sum[j] = 0.0f;
					for (int w = 0; w < 8; w++)
						sum[j] += parts[w][lane * 8 + j];
				}
			}
			if (col < width && (t == 0 || warp == 0)) {
				float g[8];
				T *to = table_grad + (size_t)token * width + col;
				load8(to, g);
#pragma unroll
				for (int j = 0; j < 8; j++)
					g[j] += sum[j];
				store8(to, g);
			}
		}
	}
}

template <typename T>
__device__ static void position_bwd(const T *d_out, T *grad, int n_samples, int seq, int width, int accumulate)
{
	int position = blockIdx.x;
	for (int col = threadIdx.x; col < width; col += blockDim.x) {
		float sum = 0.0f;
		for (int s = 0; s < n_samples; s++)
			sum += to_float(d_out[((size_t)s * seq + position) * width + col]);
		T *g = grad + (size_t)position * width + col;
		*g = from_float<T>(accumulate ? to_float(*g) + sum : sum);
	}
}

/* One block a row; the row is read twice, the second time from the L2 cache. */
template <typename T>
__device__ static void loss_row(T *logits, const int32_t *targets, float *loss, int vocab, int ld, float scale)
{
	__shared__ float room[33];
	T *row = logits + (size_t)blockIdx.x * ld;
	int target = targets[blockIdx.x];
	float largest = -INFINITY, sum = 0.0f;
	for (int i = threadIdx.x * 8; i < ld; i += blockDim.x * 8) {
		float v[8];
		load8(row + i, v);
		float m = largest;
#pragma unroll
		for (int j = 0; j < 8; j++)
			if (i + j < vocab)
				m = fmaxf(m, v[j]);
		float s = 0.0f;
#pragma unroll
		for (int j = 0; j < 8; j++)
			if (i + j < vocab)
				s += __expf(v[j] - m);
		sum = (largest == -INFINITY ? 0.0f : sum * __expf(largest - m)) + s;
		largest = m;
	}
	float most = block_max(largest, room);
	sum = block_sum(largest == -INFINITY ? 0.0f : sum * __expf(largest - most), room);
	float inverse = scale / sum;
	if (threadIdx.x == 0)
		loss[blockIdx.x] = target < 0 ? 0.0f : logf(sum) + most - to_float(row[target]);
	__syncthreads(); /* row[target] is read before it is overwritten */
	for (int i = threadIdx.x * 8; i < ld; i += blockDim.x * 8) {
		float v[8];
		load8(row + i, v);
#pragma unroll
		for (int j = 0; j < 8; j++)
			v[j] = target < 0 || i + j >= vocab
				       ? 0.0f
				       : __expf(v[j] - most) * inverse - (i + j == target ? scale : 0.0f);
		store8(row + i, v);
	}
}

/* In device memory, so that a captured step finds the values of the step it is replayed for. */
struct scalars {
	float lr, beta1, beta2, eps, weight_decay, clip, grad_mul;
	float correct1, correct2; /* 1/(1-beta1^t), 1/sqrt(1-beta2^t) */
};

template <typename T>
__device__ static void adamw(T *param, float *master, float *m, float *v, const T *grad, const scalars *s,
			     const float *norm_sq, size_t n)
{
	float mul = s->grad_mul;
	if (norm_sq) {
		float norm = sqrtf(*norm_sq);
		mul *= norm > s->clip ? s->clip / norm : 1.0f;
	}
	float lr = s->lr, b1 = s->beta1, b2 = s->beta2, eps = s->eps, decay = 1.0f - lr * s->weight_decay;
	float step = lr * s->correct1, c2 = s->correct2;
	float *weights = master ? master : (float *)param;
	/* four elements a thread and no loop: enough loads in flight, and whole lines at a time */
	size_t at = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) * 4;
	if (at + 4 <= n) {
		float g[4], w[4], a[4], b[4];
		load4(grad + at, g);
		load4(weights + at, w);
		load4(m + at, a);
		load4(v + at, b);
#pragma unroll
		for (int j = 0; j < 4; j++) {
			float x = g[j] * mul;
			a[j] = b1 * a[j] + (1.0f - b1) * x;
			b[j] = b2 * b[j] + (1.0f - b2) * x * x;
			w[j] = w[j] * decay - step * a[j] / (sqrtf(b[j]) * c2 + eps);
		}
		store4(weights + at, w);
		store4(m + at, a);
		store4(v + at, b);
		if (master)
			store4(param + at, w);
	}
	size_t i = n / 4 * 4 + threadIdx.x;
	if (blockIdx.x == 0 && i < n) {
		float x = to_float(grad[i]) * mul;
		m[i] = b1 * m[i] + (1.0f - b1) * x;
		v[i] = b2 * v[i] + (1.0f - b2) * x * x;
		weights[i] = weights[i] * decay - step * m[i] / (sqrtf(v[i]) * c2 + eps);
		if (master)
			param[i] = from_float<T>(weights[i]);
	}
}

/* One partial sum a block; jl_norm_sq_end adds them up in order. */
template <typename T> __device__ static void norm_sq(const T *grad, size_t n, const scalars *s, float *partial)
{
	__shared__ float room[33];
	float sum = 0.0f;
	FOR_EACH(i, n / 8)
	{
		float g[8];
		load8(grad + i * 8, g);
#pragma unroll
		for (int j = 0; j < 8; j++)
			sum += g[j] * g[j];
	}
	if (blockIdx.x == 0 && threadIdx.x < n % 8) {
		float g = to_float(grad[n / 8 * 8 + threadIdx.x]);
		sum += g * g;
	}
	sum = block_sum(sum, room);
	if (threadIdx.x == 0)
		partial[blockIdx.x] = sum * s->grad_mul * s->grad_mul;
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

/* Column sums of in[n_rows × n] (leading dimension ld) over the rows of this block, 8 columns a thread. blockDim = (32,
 * 8). */
template <typename T> __device__ static void column_sums(const T *in, size_t ld, int n_rows, int n, float *partial)
{
	__shared__ float room[8][32 * 8 + 1];
	int col = (blockIdx.x * 32 + threadIdx.x) * 8;
	float sum[8] = { 0 };
	if (col < n)
		for (int row = blockIdx.y * 8 + threadIdx.y; row < n_rows; row += gridDim.y * 8) {
			float v[8];
			load8(in + (size_t)row * ld + col, v);
#pragma unroll
			for (int j = 0; j < 8; j++)
				sum[j] += v[j];
		}
#pragma unroll
	for (int j = 0; j < 8; j++)
		room[threadIdx.y][j * 32 + threadIdx.x] = sum[j];
	__syncthreads();
	int at = threadIdx.y * 32 + threadIdx.x, c = blockIdx.x * 256 + at;
	if (c < n) {
		float all = 0.0f;
		for (int y = 0; y < 8; y++)
			all += room[y][at % 8 * 32 + at / 8];
		partial[(size_t)blockIdx.y * n + c] = all;
	}
}

template <typename T> __device__ static void add(T *sum, const T *grad, size_t n)
{
	FOR_EACH(i, n)
	sum[i] = from_float<T>(to_float(sum[i]) + to_float(grad[i]));
}

#define KERNELS(s, T)                                                                                                  \
	extern "C" __global__ void __launch_bounds__(256) jl_gelu_##s(T *out, const T *in, size_t n)                   \
	{                                                                                                              \
		gelu_all<T>(out, in, n);                                                                               \
	}                                                                                                              \
	extern "C" __global__ void __launch_bounds__(256)                                                              \
		jl_epilogue_##s(T *c, T *aux, const T *bias, size_t n_rows, size_t n, size_t ld, int kind)             \
	{                                                                                                              \
		epilogue<T>(c, aux, bias, n_rows, n, ld, kind);                                                        \
	}                                                                                                              \
	extern "C" __global__ void jl_swiglu_##s(T *out, const T *gate_up, size_t n_rows, size_t width)                \
	{                                                                                                              \
		swiglu<T>(out, gate_up, n_rows, width);                                                                \
	}                                                                                                              \
	extern "C" __global__ void jl_swiglu_bwd_##s(T *d_gate_up, const T *gate_up, const T *d_out, size_t n_rows,    \
						     size_t width)                                                     \
	{                                                                                                              \
		swiglu_bwd<T>(d_gate_up, gate_up, d_out, n_rows, width);                                               \
	}                                                                                                              \
	extern "C" __global__ void jl_rope_##s(T *qkv, size_t n_rows, int seq, int n_rotated, int n_all, int dim,      \
					       float theta, float sign)                                                \
	{                                                                                                              \
		rope<T>(qkv, n_rows, seq, n_rotated, n_all, dim, theta, sign);                                         \
	}                                                                                                              \
	extern "C" __global__ void __launch_bounds__(256)                                                              \
		jl_embed_##s(const int32_t *tokens, const T *table, const T *positions, T *out, size_t n_rows,         \
			     size_t seq, size_t width)                                                                 \
	{                                                                                                              \
		embed<T>(tokens, table, positions, out, n_rows, seq, width);                                           \
	}                                                                                                              \
	extern "C" __global__ void __launch_bounds__(256) jl_embed_bwd_##s(                                            \
		const int *sorted, const int *offsets, const T *d_out, T *table_grad, int vocab, int width)            \
	{                                                                                                              \
		embed_bwd<T>(sorted, offsets, d_out, table_grad, vocab, width);                                        \
	}                                                                                                              \
	extern "C" __global__ void jl_position_bwd_##s(const T *d_out, T *grad, int n_samples, int seq, int width,     \
						       int accumulate)                                                 \
	{                                                                                                              \
		position_bwd<T>(d_out, grad, n_samples, seq, width, accumulate);                                       \
	}                                                                                                              \
	extern "C" __global__ void __launch_bounds__(512)                                                              \
		jl_loss_##s(T *logits, const int32_t *targets, float *loss, int vocab, int ld, float scale)            \
	{                                                                                                              \
		loss_row<T>(logits, targets, loss, vocab, ld, scale);                                                  \
	}                                                                                                              \
	extern "C" __global__ void __launch_bounds__(256)                                                              \
		jl_adamw_##s(T *param, float *master, float *m, float *v, const T *grad, const scalars *sc,            \
			     const float *norm, size_t n)                                                              \
	{                                                                                                              \
		adamw<T>(param, master, m, v, grad, sc, norm, n);                                                      \
	}                                                                                                              \
	extern "C" __global__ void __launch_bounds__(256)                                                              \
		jl_norm_sq_##s(const T *grad, size_t n, const scalars *sc, float *partial)                             \
	{                                                                                                              \
		norm_sq<T>(grad, n, sc, partial);                                                                      \
	}                                                                                                              \
	extern "C" __global__ void __launch_bounds__(256)                                                              \
		jl_column_sums_##s(const T *in, size_t ld, int n_rows, int n, float *partial)                          \
	{                                                                                                              \
		column_sums<T>(in, ld, n_rows, n, partial);                                                            \
	}                                                                                                              \
	extern "C" __global__ void jl_grad_add_##s(T *sum, const T *grad, size_t n)                                    \
	{                                                                                                              \
		add<T>(sum, grad, n);                                                                                  \
	}

KERNELS(b, bf16)
KERNELS(f, float)

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
