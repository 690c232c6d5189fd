/* Kernels over elements of type T; cuda_misc.cu includes this file once per type. */

KERNEL(gelu)(T *out, const T *in, size_t n)
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

/* Separate epilogue where the library does not fuse it. kind 0: c += bias; 1: aux = c + bias, c = gelu(aux); 2: c *= gelu'(aux). n % 8 == 0. */
KERNEL(epilogue)(T *c, T *aux, const T *bias, size_t n_rows, size_t n, size_t ld, int kind)
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

/* Iterates over the rows of blockIdx.y, eight elements per thread; width % 8 == 0. */
#define FOR_EIGHTS(row, col)                                                                                           \
	const size_t col = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) * 8;                                        \
	for (size_t row = blockIdx.y; col < width && row < n_rows; row += gridDim.y)

KERNEL(swiglu)(T *out, const T *gate_up, size_t n_rows, size_t width)
{
	FOR_EIGHTS(row, col)
	{
		float g[8], u[8];
		load8(gate_up + row * 2 * width + col, g);
		load8(gate_up + row * 2 * width + width + col, u);
#pragma unroll
		for (int j = 0; j < 8; j++)
			g[j] = __fdividef(g[j], 1.0f + __expf(-g[j])) * u[j];
		store8(out + row * width + col, g);
	}
}

KERNEL(swiglu_bwd)(T *d_gate_up, const T *gate_up, const T *d_out, size_t n_rows, size_t width)
{
	FOR_EIGHTS(row, col)
	{
		size_t at = row * 2 * width + col;
		float g[8], u[8], d[8];
		load8(gate_up + at, g);
		load8(gate_up + at + width, u);
		load8(d_out + row * width + col, d);
#pragma unroll
		for (int j = 0; j < 8; j++) {
			float s = __fdividef(1.0f, 1.0f + __expf(-g[j])), du = d[j] * g[j] * s;
			g[j] = d[j] * u[j] * s * (1.0f + g[j] * (1.0f - s));
			u[j] = du;
		}
		store8(d_gate_up + at, g);
		store8(d_gate_up + at + width, u);
	}
}

/* Rotates pairs (i, i + D/2) of q and k heads by position; sign -1 rotates back. A thread handles eight pairs in several heads of a row, since
 * all heads use the same angles. */
#define ROPE_HEADS 8
KERNEL(rope)(T *qkv, size_t n_rows, int seq, int n_rotated, int n_all, int dim, float theta, float sign)
{
	int half = dim / 2, pieces = half / 8, groups = (n_rotated + ROPE_HEADS - 1) / ROPE_HEADS;
	float step = -2.0f / (float)dim * log2f(theta);
	size_t row = blockIdx.x;
	for (int i = threadIdx.x; i < pieces * groups; i += blockDim.x) {
		int j = i % pieces * 8, first = i / pieces * ROPE_HEADS;
		float c[8], s[8];
#pragma unroll
		for (int k = 0; k < 8; k++) {
			sincosf((float)(row % seq) * exp2f(step * (float)(j + k)), &s[k], &c[k]);
			s[k] *= sign;
		}
		T *at = qkv + (row * n_all + first) * dim + j;
#pragma unroll 4
		for (int head = 0; head < ROPE_HEADS; head++, at += dim) {
			float a[8], b[8];
			if (first + head >= n_rotated)
				break;
			load8(at, a);
			load8(at + half, b);
#pragma unroll
			for (int k = 0; k < 8; k++) {
				float turned = a[k] * c[k] - b[k] * s[k];
				b[k] = a[k] * s[k] + b[k] * c[k];
				a[k] = turned;
			}
			store8(at, a);
			store8(at + half, b);
		}
	}
}

KERNEL(embed)
(const int32_t *tokens, const int32_t *at, const T *table, const T *positions, T *out, size_t n_rows, size_t seq,
 size_t width)
{
	FOR_EACH(i, n_rows * (width / 8))
	{
		size_t row = i / (width / 8), col = i % (width / 8) * 8;
		float v[8], p[8] = { 0 };
		load8(table + (size_t)tokens[row] * width + col, v);
		if (positions)
			load8(positions + (at ? *at : row % seq) * width + col, p);
#pragma unroll
		for (int j = 0; j < 8; j++)
			v[j] += p[j];
		store8(out + row * width + col, v);
	}
}

/* A block handles 8 tokens, one per warp; all warps share a token that has many rows. */
#define EMBED_MANY 48
KERNEL(embed_bwd)(const int *sorted, const int *offsets, const T *d_out, T *table_grad, int vocab, int width)
{
	__shared__ float parts[8][256 + 8];
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32, first = blockIdx.x * 8;
	for (int t = 0; t < 9; t++) { /* t = 0: each warp adds its own token; t > 0: all warps add token t - 1 if it has many rows */
		int token = first + (t == 0 ? warp : t - 1);
		int from = token < vocab ? offsets[token] : 0, n = token < vocab ? offsets[token + 1] - from : 0;
		bool many = n > EMBED_MANY;
		if (n == 0 || many != (t > 0))
			continue; /* for t > 0 the condition is uniform over the block */
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

KERNEL(position_bwd)(const T *d_out, T *grad, int n_samples, int seq, int width, int accumulate)
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

/* One block per row; reads the row twice, the second time from L2. */
KERNEL_OF(512, loss)(T *logits, const int32_t *targets, float *loss, int vocab, int ld, float scale)
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

KERNEL(adamw)
(T *param, float *master, float *m, float *v, const T *grad, const cuda_scalars *s, const float *norm_sq, size_t n)
{
	float mul = s->grad_mul;
	if (norm_sq) {
		float norm = sqrtf(*norm_sq);
		mul *= norm > s->clip ? s->clip / norm : 1.0f;
	}
	float lr = s->lr, b1 = s->beta1, b2 = s->beta2, eps = s->eps, decay = 1.0f - lr * s->weight_decay;
	float step = lr * s->correct1, c2 = s->correct2;
	float *weights = master ? master : (float *)param;
	/* four elements per thread without a loop keep enough loads in flight and access whole cache lines */
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

/* Writes one partial sum per block; jl_norm_sq_end adds them in order. */
KERNEL(norm_sq)(const T *grad, size_t n, const cuda_scalars *s, float *partial)
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

/* Column sums of in[n_rows × n] (leading dimension ld) over the rows of this block, 8 columns per thread. blockDim = (32, 8). */
KERNEL(column_sums)(const T *in, size_t ld, int n_rows, int n, float *partial)
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

KERNEL(grad_add)(T *sum, const T *grad, size_t n)
{
	FOR_EACH(i, n)
	sum[i] = from_float<T>(to_float(sum[i]) + to_float(grad[i]));
}

/* Copies the keys and values of prompts into the KV cache. */
KERNEL(kv_keep)(next_args a, int n_rows, int seq, int dim)
{
	size_t n_pieces = dim / 8;
	FOR_EACH(i, (size_t)n_rows * a.n_kv * n_pieces)
	{
		size_t col = i % n_pieces * 8, kv = i / n_pieces % a.n_kv, row = i / n_pieces / a.n_kv;
		const T *from = (const T *)a.qkv + (row * (a.n_heads + 2 * a.n_kv) + a.n_heads + kv) * dim + col;
		size_t to = ((row / seq * a.n_kv + kv) * a.max + row % seq) * dim + col;
		float v[8];
		load8(from, v);
		store8((T *)a.keys + to, v);
		load8(from + (size_t)a.n_kv * dim, v);
		store8((T *)a.values + to, v);
	}
}

/* Argmax, one block per row. Packs a value and its index into one number: the larger value wins, ties go to the first index. */
KERNEL_OF(1024, pick)(const T *logits, int32_t *tokens, int32_t *at, int vocab, int ld, int add)
{
	__shared__ unsigned long long room[32];
	const T *row = logits + (size_t)blockIdx.x * ld;
	unsigned long long best = 0;
	for (int i = threadIdx.x * 8; i < vocab; i += blockDim.x * 8) { /* ld is a multiple of 8 */
		float v[8];
		load8(row + i, v);
#pragma unroll
		for (int j = 0; j < 8; j++) {
			unsigned bits = __float_as_uint(v[j]), order = bits ^ (bits >> 31 ? 0xffffffffu : 0x80000000u);
			unsigned long long one = (unsigned long long)order << 32 | (0xffffffffu - (unsigned)(i + j));
			best = i + j < vocab && one > best ? one : best;
		}
	}
	for (int again = 0; again < 2; again++) { /* reduce over the warp, then over the warps */
		for (int s = 16; s > 0; s /= 2)
			best = max(best, __shfl_xor_sync(0xffffffffu, best, s));
		if (threadIdx.x % 32 == 0)
			room[threadIdx.x / 32] = best;
		__syncthreads();
		best = threadIdx.x % 32 < blockDim.x / 32 ? room[threadIdx.x % 32] : 0;
		__syncthreads();
	}
	if (threadIdx.x == 0) {
		tokens[blockIdx.x] = (int32_t)(0xffffffffu - (unsigned)room[0]);
		if (blockIdx.x == 0)
			*at += add;
	}
}
