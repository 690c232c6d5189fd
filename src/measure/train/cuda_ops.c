/* Launches of norms and attention: selects kernels and grid sizes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "train/cuda_engine.h"

/* Arguments of the attention kernels; same layout as in cuda_attn.cuh. */
struct attn_args {
	const void *qkv, *out, *d_out;
	void *o, *d_qkv;
	const float *lse;
	void *delta;
	int seq, n_heads, n_kv;
	float scale;
};

enum { ATTN_ROWS = 64, ATTN_THREADS = 128 };

/* Hopper has special kernels: heads of 64 in bf16 and tf32; forward (kernel 0) also for heads of 128 in bf16. */
static const char *attn_file(const struct cuda_engine *e, size_t dim, int kernel)
{
	const char *own = NULL;

	if (e->gpu->cc_major == 9 && e->gpu->cc_minor == 0) {
		if (cuda_half(e) && (dim == 64 || kernel == 0))
			own = "cuda_attn_sm90";
		else if (e->base.precision == JL_TRAIN_TF32 && dim == 64)
			own = "cuda_attn32_sm90";
	}
	if (own && jl_gpu_has_file(e->gpu, own))
		return own;
	return cuda_half(e) ? "cuda_attn" : "cuda_attn32";
}

/* Shared memory of the three attention kernels, bytes: the block's own tiles and the streamed ones. */
static size_t attn_shared_B(const struct cuda_engine *e, size_t dim, int kernel)
{
	const bool hopper = strstr(attn_file(e, dim, kernel), "_sm90") != NULL;
	const size_t align_B = 1024; /* alignment that Hopper's swizzled tiles need */

	if (cuda_half(e)) {
		size_t own_B = ATTN_ROWS * dim * 2, passing = kernel == 2 && dim == 128 ? 32 : 64;
		size_t tile_B = passing * dim * 2;
		return (kernel == 0 ? own_B : 2 * own_B) + (hopper && dim == 128 ? 3 : 4) * tile_B +
		       (kernel == 2 ? 4 * passing * sizeof(float) : 0) + align_B;
	}
	if (hopper) {
		static const size_t n_tiles[] = { 4, 5, 6 }; /* including the transposed ones */
		return n_tiles[kernel] * ATTN_ROWS * dim * sizeof(float) + 4UL * ATTN_ROWS * sizeof(float) + align_B;
	}
	size_t pitch_B = (dim + 4) * sizeof(float);
	size_t passing = e->base.precision == JL_TRAIN_TF32 && dim == 64 ? 64 : 32;
	return ((kernel == 0 ? 1UL : 2UL) * ATTN_ROWS + 2 * passing) * pitch_B + 2 * passing * sizeof(float);
}

static enum jl_status load_attn(struct cuda_engine *e, struct jl_err *err)
{
	static const char kinds[JL_N_TRAIN_PRECISION] = {
		[JL_TRAIN_FP32] = 'f', [JL_TRAIN_TF32] = 't', [JL_TRAIN_BF16] = 'b', [JL_TRAIN_FP8] = 'b'
	};
	static const char *const names[3] = { "fwd", "bwd_q", "bwd_kv" };
	enum jl_status status = JL_OK;
	for (int n = 0; status == JL_OK && n < 12; n++) {
		char name[64];
		const int causal = n / 6, i = n / 2 % 3;
		const size_t dim = n % 2 ? 128 : 64, shared_B = attn_shared_B(e, dim, i);
		snprintf(name, sizeof name, "%s/jl_attn_%s_%c%zu%s", attn_file(e, dim, i), names[i],
			 kinds[e->base.precision], dim, causal ? "" : "_all");
		if (shared_B <= e->gpu->shared_max_B)
			status = jl_gpu_function(e->gpu, name, shared_B, &e->attn[causal][i][dim / 128], err);
	}
	return status;
}

/* Names as in cuda_norm.cu: all gradients, and the weight gradient only; `width` is the maximum for kernels with one block per row. */
static const struct {
	const char *name, *weight_only;
	size_t width;
} norms[CUDA_NORMS] = { { "1", "1", 0 },      { "2", "2", 0 },        { "3", "3", 0 },      { "4", "4", 0 },
			{ "5", "5", 0 },      { "6", "6", 0 },        { "x1", "w1", 2048 }, { "x2", "w2", 4096 },
			{ "x4", "w4", 8192 }, { "x12", "w12", 24576 } };

enum jl_status jl_cuda_load_ops(struct cuda_engine *e, struct jl_err *err)
{
	char kind = cuda_half(e) ? 'b' : 'f';
	enum jl_status status = JL_OK;
	for (size_t n = 0; status == JL_OK && n < CUDA_NORMS; n++) {
		char name[48];
		const size_t shared_B = n < CUDA_NORM_WARPS ? (n + 1) * 8192 : 0;
		snprintf(name, sizeof name, "cuda_norm/jl_norm_%c%s", kind, norms[n].name);
		status = jl_gpu_function(e->gpu, name, 0, &e->norm[n], err);
		for (int alone = 0; alone < 2; alone++) {
			snprintf(name, sizeof name, "cuda_norm/jl_norm_bwd_%c%s", kind,
				 alone ? norms[n].weight_only : norms[n].name);
			JL_THEN(status, jl_gpu_function(e->gpu, name, shared_B, &e->norm_bwd[alone][n], err));
		}
	}
	return status == JL_OK ? load_attn(e, err) : status;
}

static size_t norm_kernel(size_t width)
{
	size_t n = CUDA_NORM_WARPS;

	if (width % 256 == 0 && width / 256 <= CUDA_NORM_WARPS)
		return width / 256 - 1;
	while (n + 1 < CUDA_NORMS && norms[n].width < width)
		n++;
	return n;
}

void jl_cuda_norm(struct jl_engine *engine, const struct jl_eng_norm *op)
{
	struct cuda_engine *e = cuda_of(engine);
	struct norm_args a = {
		.residual = op->residual,
		.branch = op->branch,
		.residual_out = op->residual_out,
		.out = op->out,
		.weight = op->weight,
		.bias = op->bias,
		.mean = op->rms ? NULL : op->mean,
		.rstd = op->rstd,
		.n_rows = (int)op->n_rows,
		.width = (int)op->width,
		.rms = op->rms,
		.eps = (float)op->eps,
	};
	const size_t n = norm_kernel(op->width);
	unsigned blocks = (unsigned)(n < CUDA_NORM_WARPS ? (op->n_rows + 7) / 8 : op->n_rows);
	jl_cuda_launch(e, e->norm[n], (struct jl_gpu_grid){ .x = blocks, .n_threads = 256 }, (void *[]){ &a });
}

void jl_cuda_norm_bwd(struct jl_engine *engine, const struct jl_eng_norm_bwd *op)
{
	struct cuda_engine *e = cuda_of(engine);
	const size_t n = norm_kernel(op->width);
	const bool warps = n < CUDA_NORM_WARPS, alone = !op->bias_grad && !op->residual_sums;
	size_t wanted = warps ? (op->n_rows + 7) / 8 : op->n_rows,
	       most = (size_t)e->gpu->n_sm * (warps   ? 1
					      : alone ? 4
						      : 3); /* as many blocks per multiprocessor as fit */
	int blocks = (int)(wanted < most ? wanted : most);
	float *partials = (float *)(uintptr_t)jl_cuda_partials(e, 3 * (size_t)blocks, op->width);
	struct sum_rows_args sums = { .to = { op->weight_grad, op->bias_grad, op->residual_sums },
				      .n_partials = blocks,
				      .width = (int)op->width,
				      .accumulate = op->accumulate };
	struct norm_bwd_args a = {
		.d_out = op->d_out,
		.input = op->input,
		.weight = op->weight,
		.mean = op->mean,
		.rstd = op->rstd,
		.d_residual = op->d_residual,
		.recompute_bias = op->recompute_bias,
		.recompute_out = op->recompute_out,
		.n_rows = (int)op->n_rows,
		.width = (int)op->width,
		.rms = op->rms,
		.fresh = op->d_residual_fresh,
	};
	for (size_t i = 0; i < 3; i++)
		sums.partial[i] = a.partial[i] = sums.to[i] && partials ? partials + i * (size_t)blocks * op->width
									: NULL;
	unsigned shared_B = warps ? (unsigned)(op->width * sizeof(float) * 8) : 0; /* one row for each of the 8 warps */
	jl_cuda_launch(e, e->norm_bwd[alone][n],
		       (struct jl_gpu_grid){ .x = (unsigned)blocks, .n_threads = 256, .shared_B = shared_B },
		       (void *[]){ &a });
	jl_cuda_sum_rows(e, &sums);
}

/* Adds the partial results of blocks in a fixed order, for each kind. */
void jl_cuda_sum_rows(struct cuda_engine *e, const struct sum_rows_args *sums)
{
	unsigned n = 1;
	for (unsigned i = 1; i < 3; i++)
		n = sums->to[i] ? i + 1 : n;
	jl_cuda_launch(e, e->kernels[K_SUM_ROWS],
		       (struct jl_gpu_grid){ .x = (unsigned)((sums->width + 31) / 32), .y = n, .n_threads = 256 },
		       (void *[]){ (void *)sums });
}

bool jl_cuda_supports_head_dim(size_t head_dim)
{
	return head_dim == 64 || head_dim == 128;
}

/* One float per row of every head. */
size_t jl_cuda_attn_scratch_B(struct jl_engine *engine, const struct jl_eng_attn *shape)
{
	if (shape->max)
		return jl_cuda_attn_next_B(cuda_of(engine), shape);
	return shape->n_samples * shape->n_heads * shape->seq * sizeof(float);
}

static bool can_attend(struct cuda_engine *e, size_t head_dim)
{
	struct jl_err err;
	if (jl_cuda_supports_head_dim(head_dim) && e->attn[1][2][head_dim / 128])
		return true;
	jl_cuda_keep_status(e,
			    jl_fail(&err, JL_E_ABSENT,
				    "no attention kernel for head size %zu on %s: 64 and 128 are known", head_dim,
				    e->gpu->name),
			    &err);
	return false;
}

static void attend(struct cuda_engine *e, const struct jl_eng_attn *op, int kernel)
{
	struct attn_args a = { .qkv = op->qkv,
			       .out = op->out,
			       .d_out = op->d_out,
			       .o = op->out,
			       .d_qkv = op->d_qkv,
			       .lse = op->lse,
			       .delta = op->scratch,
			       .seq = (int)op->seq,
			       .n_heads = (int)op->n_heads,
			       .n_kv = (int)op->n_kv,
			       .scale = (float)(1.0 / sqrt((double)op->head_dim)) };
	const size_t heads = kernel == 2 ? op->n_kv : op->n_heads;
	/* group several samples so that their longest rows start first: enough heads to fill the GPU, few enough for its cache */
	size_t together = 1;
	for (size_t n = 2; n <= op->n_samples && n * heads <= 64; n++)
		together = op->n_samples % n == 0 ? n : together;
	jl_cuda_launch(e, e->attn[op->causal][kernel][op->head_dim / 128],
		       (struct jl_gpu_grid){ .x = (unsigned)(heads * together),
					     .y = (unsigned)((op->seq + ATTN_ROWS - 1) / ATTN_ROWS),
					     .z = (unsigned)(op->n_samples / together),
					     .n_threads = ATTN_THREADS,
					     .shared_B = (unsigned)attn_shared_B(e, op->head_dim, kernel) },
		       (void *[]){ &a });
}

void jl_cuda_attn(struct jl_engine *engine, const struct jl_eng_attn *op)
{
	struct cuda_engine *e = cuda_of(engine);
	if (!can_attend(e, op->head_dim))
		return;
	if (op->rope_theta > 0)
		jl_cuda_rope(e, op->qkv, op, 1.0F);
	attend(e, op, 0);
}

void jl_cuda_attn_bwd(struct jl_engine *engine, const struct jl_eng_attn *op)
{
	struct cuda_engine *e = cuda_of(engine);
	if (!can_attend(e, op->head_dim))
		return;
	attend(e, op, 1);
	attend(e, op, 2);
	if (op->rope_theta > 0)
		jl_cuda_rope(e, op->d_qkv, op, -1.0F);
}
