/* Matrix products on a GPU through cuBLASLt. */
#include "bench/cuda_state.h"

/* Candidates that the library times before the measurement. */
enum { N_TRY = 16 };

static enum jl_matmul_type type_of(enum jl_dtype dtype)
{
	static const enum jl_matmul_type types[JL_N_DTYPE] = {
		[JL_FP32] = JL_MM_FP32, [JL_TF32] = JL_MM_TF32, [JL_FP16] = JL_MM_FP16,
		[JL_BF16] = JL_MM_BF16, [JL_FP8] = JL_MM_FP8,
	};
	return types[dtype];
}

static struct jl_matmul_buffers buffers_of(const struct jl_bench_state *s)
{
	return (struct jl_matmul_buffers){ .a = s->buffers[0], .b = s->buffers[1], .c = s->buffers[2] };
}

/* Random numbers: zeros need less power, so that the GPU would run faster. */
static enum jl_status fill(struct jl_bench_state *s, int small, struct jl_err *err)
{
	size_t n[2] = { s->shape.m * s->shape.k, s->shape.k * s->shape.n };
	int type = (int)s->shape.type;
	enum jl_status status = JL_OK;
	for (uint32_t i = 0; status == JL_OK && i < 2; i++) {
		uint32_t seed = 1000 + i;
		void *args[] = { &s->buffers[i], &n[i], &type, &small, &seed };
		status = jl_gpu_run(s->gpu, "bench_kernels/jl_fill_numbers", args, err);
	}
	return status;
}

enum jl_status jl_bench_cuda_gemm_prepare(struct jl_bench_state *s, struct jl_err *err)
{
	const struct jl_bench_task *t = &s->task;
	/* FP8 products exist in one layout only: k contiguous in both operands */
	bool tb = t->dtype == JL_FP8;
	s->shape = (struct jl_matmul_shape){
		.m = t->m,
		.n = t->n,
		.k = t->k,
		.lda = t->k,
		.ldb = tb ? t->k : t->n,
		.ldc = t->n,
		.tb = tb,
		.type = type_of(t->dtype),
		.c_type = tb ? JL_MM_BF16 : type_of(t->dtype),
	};
	size_t ab_B = (size_t)jl_dtype_B(t->dtype), c_B = tb ? 2 : ab_B;
	JL_TRY(jl_lt_open(s->gpu, &s->lt, err));
	JL_TRY(jl_bench_cuda_alloc(s, s->gpu, 0, t->m * t->k * ab_B, err));
	JL_TRY(jl_bench_cuda_alloc(s, s->gpu, 1, t->k * t->n * ab_B, err));
	JL_TRY(jl_bench_cuda_alloc(s, s->gpu, 2, t->m * t->n * c_B, err));
	JL_TRY(fill(s, 0, err));
	struct jl_matmul_buffers buffers = buffers_of(s);
	return jl_matmul_plan(s->lt, &s->shape, &buffers, N_TRY, &s->plan, err);
}

enum jl_status jl_bench_cuda_gemm_run(struct jl_bench_state *s, struct jl_err *err)
{
	struct jl_matmul_buffers buffers = buffers_of(s);
	return jl_matmul_run(s->plan, &buffers, s->gpu->stream, err);
}

/* Checks the same algorithm on small integers, whose products are exact. Checks all elements up to 2^34 multiplications, beyond that a random
 * subset of that cost. */
enum jl_status jl_bench_cuda_gemm_verify(struct jl_bench_state *s, size_t *ret_n_wrong, struct jl_err *err)
{
	size_t n_all = s->shape.m * s->shape.n, n_check = ((size_t)1 << 34) / s->shape.k;
	if (n_check > n_all)
		n_check = n_all;
	int type = (int)s->shape.type, c_type = (int)s->shape.c_type, tb = s->shape.tb;
	JL_TRY(fill(s, 1, err));
	JL_TRY(jl_bench_cuda_gemm_run(s, err));
	void *args[] = { &s->buffers[0], &s->buffers[1], &s->buffers[2], &s->shape.m, &s->shape.n,
			 &s->shape.k,    &type,          &c_type,        &tb,         &n_check,
			 &s->counter };
	JL_TRY(jl_gpu_run(s->gpu, "bench_kernels/jl_check_gemm", args, err));
	return jl_gpu_counted(s->gpu, s->counter, ret_n_wrong, err);
}
