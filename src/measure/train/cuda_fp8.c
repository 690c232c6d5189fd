/* Launches the kernels that make fp8 tensors. */
#include "train/cuda_engine.h"

enum { ROWS = 128, COLS = 64 }; /* tile of a block (cuda_fp8.cu) */

static enum cuda_kernel kernel_of(const struct jl_eng_fp8 *op)
{
	static const enum cuda_kernel kernels[] = { [JL_FP8_PLAIN] = K_FP8_PLAIN,
						    [JL_FP8_GELU] = K_FP8_GELU,
						    [JL_FP8_GELU_BWD] = K_FP8_GELU_BWD,
						    [JL_FP8_SWIGLU] = K_FP8_SWIGLU,
						    [JL_FP8_SWIGLU_BWD] = K_FP8_SWIGLU_BWD };
	return op->of == JL_FP8_PLAIN && op->wide ? K_FP8_GRADIENT : kernels[op->of];
}

static void scales(struct cuda_engine *e, struct jl_fp8_scale *at, int n_narrow, int n, int first)
{
	jl_cuda_launch(e, e->kernels[K_FP8_SCALES],
		       (struct jl_gpu_grid){ .x = (unsigned)(n + 255) / 256, .n_threads = 256 },
		       (void *[]){ &at, &n_narrow, &n, &first });
}

void jl_cuda_fp8_scales(struct jl_engine *engine, struct jl_fp8_scale *at, size_t n_narrow, size_t n_wide)
{
	scales(cuda_of(engine), at, (int)n_narrow, (int)(n_narrow + n_wide), 0);
}

/* Fills the arguments of one tensor and enlarges the grid to cover its tiles. */
static struct fp8_args args_of(const struct jl_eng_fp8 *op, uint64_t partials, struct jl_gpu_grid *grid)
{
	const size_t width = op->of == JL_FP8_SWIGLU_BWD ? op->width / 2 : op->width;
	const unsigned x = (unsigned)((width + COLS - 1) / COLS), y = (unsigned)((op->n_rows + ROWS - 1) / ROWS);
	grid->x = x > grid->x ? x : grid->x;
	grid->y = y > grid->y ? y : grid->y;
	return (struct fp8_args){ .from = op->from,
				  .before = op->before,
				  .to = op->to,
				  .to_t = op->to_t,
				  .scale = op->scale,
				  .partial = (float *)(uintptr_t)partials,
				  .n_rows = (int)op->n_rows,
				  .width = (int)op->width };
}

void jl_cuda_fp8(struct jl_engine *engine, const struct jl_eng_fp8 *op, size_t n)
{
	struct cuda_engine *e = cuda_of(engine);
	struct CUfunc_st *kernel = e->kernels[kernel_of(op)];
	struct jl_gpu_grid grid = { .z = (unsigned)n, .n_threads = 256 };
	const size_t n_partials = (op->n_rows + ROWS - 1) / ROWS;
	uint64_t partials = op->bias_grad ? jl_cuda_partials(e, n_partials, op->width) : 0;
	struct fp8_many many = { 0 };
	for (size_t i = 0; i < n; i++)
		many.of[i] = args_of(&op[i], partials, &grid);
	if (op->first) { /* no scale is known yet: one pass finds the range of values */
		struct fp8_many seen = many;
		for (size_t i = 0; i < n; i++)
			seen.of[i].to = seen.of[i].to_t = NULL;
		jl_cuda_launch(e, kernel, grid, (void *[]){ &seen });
		for (size_t i = 0; i < n; i++)
			scales(e, op[i].scale, !op->wide, 1, 1);
	}
	jl_cuda_launch(e, kernel, grid, (void *[]){ &many });
	if (op->bias_grad)
		jl_cuda_sum_rows(e, &(struct sum_rows_args){ .partial = { (const float *)(uintptr_t)partials },
							     .to = { op->bias_grad },
							     .n_partials = (int)n_partials,
							     .width = (int)op->width,
							     .accumulate = op->accumulate });
}
