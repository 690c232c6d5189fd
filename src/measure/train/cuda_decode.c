/* Launches the kernels of cuda_decode.cu. */
#include <math.h>
#include <stdio.h>

#include "train/cuda_engine.h"

enum {
	SPLITS_MAX = 32,
	SPLIT_KEYS = 64,
	BLOCKS_MAX = 4096,
	PIECE = 256,
	PARTS_MAX = 8,
	SMALL = 32 << 20
}; /* max ranges of keys, min keys per range, max counters; narrow_more: k per piece, max blocks per row; weights of a small product */

enum jl_status jl_cuda_load_decode(struct cuda_engine *e, struct jl_err *err)
{
	char kind = cuda_half(e) ? 'b' : 'f', name[48];
	const struct jl_cuda *cu = e->gpu->cuda;
	enum jl_status status = jl_cuda_take(e, CUDA_DONE_B, &e->n_done, err);
	JL_THEN(status, jl_cuda_check(cu, cu->MemsetD8Async(e->n_done, 0, CUDA_DONE_B, e->gpu->stream),
				      "cuMemsetD8Async", err));
	for (int i = 0; status == JL_OK && i < CUDA_GEMV; i++) {
		snprintf(name, sizeof name, "cuda_decode/jl_gemv_%c%d", kind, 1 << i);
		status = jl_gpu_function(e->gpu, name, 0, &e->gemv[i], err);
	}
	for (int i = 0; status == JL_OK && cuda_half(e) && i < CUDA_NARROW; i++) {
		snprintf(name, sizeof name, "cuda_decode/jl_narrow_%s",
			 (const char *[]){ "8", "16s", "32s", "16", "32" }[i]);
		status = jl_gpu_function(e->gpu, name, 0, &e->narrow[i], err);
	}
	for (int i = 0; status == JL_OK && i < 2 * CUDA_NEXT; i++) {
		snprintf(name, sizeof name, "cuda_decode/jl_attn_next_%c%d_%d", kind, i < CUDA_NEXT ? 64 : 128,
			 (int[]){ 1, 4, 8 }[i % CUDA_NEXT]);
		status = jl_gpu_function(e->gpu, name, 0, &e->next[i / CUDA_NEXT][i % CUDA_NEXT], err);
	}
	return status;
}

bool jl_cuda_can_gemv(const struct jl_eng_gemm *op)
{
	return op->m <= 1 << (CUDA_GEMV - 1) && op->tb && !op->ta && !op->accumulate && !op->c_is_grad && !op->a_fp8 &&
	       op->epilogue <= JL_EP_BIAS_GELU && op->k % 8 == 0 && op->lda % 8 == 0 && op->ldb % 8 == 0;
}

static struct gemv_args product_of(const struct jl_eng_gemm *op, const struct jl_matmul_buffers *b)
{
	return (struct gemv_args){ .x = (const void *)(uintptr_t)b->a,
				   .w = (const void *)(uintptr_t)b->b,
				   .bias = (const void *)(uintptr_t)b->bias,
				   .y = (void *)(uintptr_t)b->c,
				   .aux = (void *)(uintptr_t)b->aux,
				   .m = (int)op->m,
				   .n = (int)op->n,
				   .k = (int)op->k,
				   .lda = (int)op->lda,
				   .ldb = (int)op->ldb,
				   .ldc = (int)op->ldc,
				   .parts = 1,
				   .gelu = op->epilogue == JL_EP_BIAS_GELU,
				   .scale = op->b_fp8 };
}

void jl_cuda_gemv(struct cuda_engine *e, const struct jl_eng_gemm *op, const struct jl_matmul_buffers *b)
{
	struct gemv_args a = product_of(op, b);
	int kernel = 0;
	while (1 << kernel < a.m)
		kernel++;
	/* enough warps to keep the memory system busy */
	while (a.parts < 8 && a.n * a.parts < e->gpu->n_sm * 32 && a.k >= a.parts * 1024)
		a.parts *= 2;
	unsigned rows = 8 / (unsigned)a.parts;
	jl_cuda_launch(e, e->gemv[kernel],
		       (struct jl_gpu_grid){ .x = ((unsigned)a.n + rows - 1) / rows, .n_threads = 256 },
		       (void *[]){ &a });
}

void jl_cuda_narrow(struct cuda_engine *e, const struct jl_eng_gemm *op, const struct jl_matmul_buffers *b)
{
	for (size_t row = 0, n_rows; row < op->m; row += n_rows) {
		struct gemv_args a = product_of(op, b);
		int kernel = 0;
		n_rows = op->m - row < JL_FP8_FEW ? op->m - row : JL_FP8_FEW;
		a.m = (int)n_rows;
		a.x = (const char *)a.x + row * op->lda * e->base.elem_B;
		a.y = (char *)a.y + row * op->ldc * e->base.elem_B;
		a.aux = a.aux ? (char *)a.aux + row * op->ldc * e->base.elem_B : NULL;
		while (8 << kernel < a.m)
			kernel++;
		const bool large = kernel && op->n * op->k > SMALL; /* large enough to share x through shared memory */
		const unsigned rows = large ? 128 : 16;
		struct jl_gpu_grid grid = { .x = ((unsigned)a.n + rows - 1) / rows, .n_threads = kernel ? 256 : 512 };
		/* too few blocks to fill the GPU: several blocks split the sums of the same rows */
		const int fill = 2 * e->gpu->n_sm / (int)grid.x;
		const int splits = !large || fill < 1 ? 1 : fill > PARTS_MAX ? PARTS_MAX : fill;
		a.each = ((a.k + splits - 1) / splits + PIECE - 1) / PIECE * PIECE;
		grid.y = (unsigned)((a.k + a.each - 1) / a.each);
		if (grid.y > 1)
			a.partial = (float *)(uintptr_t)jl_cuda_partials(e, grid.y * n_rows, op->n);
		a.n_done = (int *)(uintptr_t)e->n_done;
		jl_cuda_launch(e, e->narrow[kernel + (large ? 2 : 0)], grid, (void *[]){ &a });
	}
}

/* Keys are split only while the blocks do not fill the GPU, so this size is enough for any batch. */
size_t jl_cuda_attn_next_B(const struct cuda_engine *e, const struct jl_eng_attn *shape)
{
	return BLOCKS_MAX * sizeof(int) + (size_t)e->gpu->n_sm * 2 * 8 * (shape->head_dim + 2) * sizeof(float);
}

static struct next_args args_of(const struct jl_eng_attn *op)
{
	return (struct next_args){ .qkv = op->qkv,
				   .out = op->out,
				   .keys = op->keys,
				   .values = op->values,
				   .at = op->at,
				   .n_heads = (int)op->n_heads,
				   .n_kv = (int)op->n_kv,
				   .max = (int)op->max,
				   .scale = (float)(1.0 / sqrt((double)op->head_dim)),
				   .theta = (float)op->rope_theta };
}

void jl_cuda_attn_next(struct jl_engine *engine, const struct jl_eng_attn *op)
{
	struct cuda_engine *e = cuda_of(engine);
	struct next_args a = args_of(op);
	/* the smallest kernel that covers the heads sharing a key head, and its blocks per sample */
	size_t group = op->n_heads / op->n_kv, most = (op->max + SPLIT_KEYS - 1) / SPLIT_KEYS;
	int kernel = group <= 1 ? 0 : group <= 4 ? 1 : 2;
	size_t blocks = op->n_kv * ((group + 7) / 8);
	size_t splits = 2 * (size_t)e->gpu->n_sm / (blocks * op->n_samples);
	splits = splits > most ? most : splits;
	splits = splits > SPLITS_MAX ? SPLITS_MAX : splits < 1 || blocks * op->n_samples > BLOCKS_MAX ? 1 : splits;
	a.n_splits = (int)splits;
	a.n_done = op->scratch;
	a.partial = (void *)(a.n_done + BLOCKS_MAX);
	jl_cuda_launch(
		e, e->next[op->head_dim / 128][kernel],
		(struct jl_gpu_grid){
			.x = (unsigned)splits, .y = (unsigned)blocks, .z = (unsigned)op->n_samples, .n_threads = 128 },
		(void *[]){ &a });
}

void jl_cuda_kv_keep(struct jl_engine *engine, const struct jl_eng_attn *op)
{
	struct cuda_engine *e = cuda_of(engine);
	struct next_args a = args_of(op);
	int n_rows = (int)(op->n_samples * op->seq), seq = (int)op->seq, dim = (int)op->head_dim;
	jl_cuda_launch(e, e->kernels[K_KV_KEEP],
		       (struct jl_gpu_grid){ .x = jl_cuda_blocks(e, (size_t)n_rows * op->n_kv * op->head_dim / 8),
					     .n_threads = 256 },
		       (void *[]){ &a, &n_rows, &seq, &dim });
}

void jl_cuda_pick(struct jl_engine *engine, const struct jl_eng_pick *op)
{
	struct cuda_engine *e = cuda_of(engine);
	struct jl_eng_pick o = *op;
	int vocab = (int)o.vocab, ld = (int)o.ld;
	jl_cuda_launch(e, e->kernels[K_PICK], (struct jl_gpu_grid){ .x = (unsigned)o.n_rows, .n_threads = 1024 },
		       (void *[]){ &o.logits, &o.tokens, &o.at, &vocab, &ld, &o.add });
}
