/* Matrix products of the step by cuBLASLt. The first use of a shape times the candidates, with a fused and with a separate epilogue, and keeps
 * the fastest. */
#include <math.h>

#include "train/cuda_engine.h"

enum { N_TRY = 32, N_TIMED = 10 };

static const enum jl_matmul_type types[JL_N_TRAIN_PRECISION] = { [JL_TRAIN_FP32] = JL_MM_FP32,
								 [JL_TRAIN_TF32] = JL_MM_TF32,
								 [JL_TRAIN_BF16] = JL_MM_BF16,
								 [JL_TRAIN_FP8] = JL_MM_BF16 };

static struct jl_matmul_shape shape_of(const struct cuda_engine *e, const struct jl_eng_gemm *op)
{
	static const enum jl_matmul_epilogue epilogues[] = {
		[JL_EP_NONE] = JL_MM_NONE,   [JL_EP_BIAS] = JL_MM_BIAS,   [JL_EP_BIAS_GELU] = JL_MM_GELU_BIAS,
		[JL_EP_DGELU] = JL_MM_DGELU, [JL_EP_BGRAD] = JL_MM_BGRAD,
	};
	struct jl_matmul_shape shape = {
		.m = op->m,
		.n = op->n,
		.k = op->k,
		.lda = op->lda,
		.ldb = op->ldb,
		.ldc = op->ldc,
		.ta = op->ta,
		.tb = op->tb,
		.accumulate = op->accumulate,
		.type = op->a_fp8 ? JL_MM_FP8 : types[e->base.precision],
		.wide = op->wide,
		.c_type = types[e->base.precision],
		.epilogue = epilogues[op->epilogue],
	};
	if (op->epilogue == JL_EP_BIAS_GELU && !op->bias)
		shape.epilogue = JL_MM_GELU;
	return shape;
}

static struct jl_matmul_buffers buffers_of(const struct jl_eng_gemm *op)
{
	return (struct jl_matmul_buffers){
		.a = (uint64_t)(uintptr_t)op->a,
		.b = (uint64_t)(uintptr_t)op->b,
		.c = (uint64_t)(uintptr_t)op->c,
		.bias = (uint64_t)(uintptr_t)(op->epilogue == JL_EP_BGRAD ? op->bias_grad : op->bias),
		.aux = (uint64_t)(uintptr_t)op->aux,
		.a_scale = op->a_fp8 ? (uint64_t)(uintptr_t)&op->a_fp8->inverse : 0,
		.b_scale = op->b_fp8 ? (uint64_t)(uintptr_t)&op->b_fp8->inverse : 0,
	};
}

/* Sums dy over the tokens in two steps of fixed order. op(A) is [m × k], stored k × m, so these are column sums of the stored matrix. */
static void bias_gradient(struct cuda_engine *e, const struct jl_eng_gemm *op, uint64_t to)
{
	int n_rows = (int)op->k, n = (int)op->m;
	size_t ld = op->lda, x = (op->m + 255) / 256;
	size_t y = (size_t)e->gpu->n_sm * 4 / x, most = (op->k + 31) / 32;
	y = y < 1 ? 1 : y > most ? most : y;
	uint64_t partials = jl_cuda_partials(e, y, op->m);
	const void *in = op->a;
	struct jl_err err;
	if (e->base.failed != JL_OK)
		return;
	int code = e->gpu->cuda->LaunchKernel(e->kernels[K_COLUMN_SUMS], (unsigned)x, (unsigned)y, 1, 32, 8, 1, 0,
					      e->gpu->stream, (void *[]){ &in, &ld, &n_rows, &n, &partials }, NULL);
	jl_cuda_keep_status(e, jl_cuda_check(e->gpu->cuda, code, "cuLaunchKernel", &err), &err);
	jl_cuda_sum_rows(e, &(struct sum_rows_args){ .partial = { (const float *)(uintptr_t)partials },
						     .to = { (void *)(uintptr_t)to },
						     .n_partials = (int)y,
						     .width = n,
						     .accumulate = op->accumulate });
}

/* Applies the epilogue separately where the product did not fuse it. */
static void finish_product(struct cuda_engine *e, const struct jl_eng_gemm *op, const struct jl_matmul_buffers *b)
{
	static const int kinds[] = { [JL_EP_BIAS] = 0, [JL_EP_BIAS_GELU] = 1, [JL_EP_DGELU] = 2, [JL_EP_BGRAD] = -1 };
	struct jl_matmul_buffers at = *b;
	size_t m = op->m, n = op->n, ld = op->ldc;
	if (op->epilogue == JL_EP_NONE)
		return;
	if (op->epilogue == JL_EP_BGRAD) {
		bias_gradient(e, op, b->bias);
		return;
	}
	int kind = kinds[op->epilogue];
	jl_cuda_launch(e, e->kernels[K_EPILOGUE],
		       (struct jl_gpu_grid){ .x = jl_cuda_blocks(e, m * n / 8), .n_threads = 256 },
		       (void *[]){ &at.c, &at.aux, &at.bias, &m, &n, &ld, &kind });
}

/* Times `once` in seconds, on the candidates' scratch buffers. */
static double time_own(struct cuda_engine *e, const struct jl_eng_gemm *op, const struct jl_matmul_buffers *b,
		       void (*once)(struct cuda_engine *, const struct jl_eng_gemm *, const struct jl_matmul_buffers *))
{
	const struct jl_cuda *cu = e->gpu->cuda;
	struct CUevent_st *from = e->marks[JL_MARK_START], *to = e->marks[JL_MARK_FORWARD];
	float ms = 0.0F;
	once(e, op, b);
	jl_cuda_keep(e, cu->EventRecord(from, e->gpu->stream), "cuEventRecord");
	for (int i = 0; i < N_TIMED; i++)
		once(e, op, b);
	jl_cuda_keep(e, cu->EventRecord(to, e->gpu->stream), "cuEventRecord");
	jl_cuda_keep(e, cu->EventSynchronize(to), "cuEventSynchronize");
	jl_cuda_keep(e, cu->EventElapsedTime(&ms, from, to), "cuEventElapsedTime");
	return (double)ms * 1e-3 / N_TIMED;
}

/* Plans the fused and the separate epilogue. JL_E_ABSENT from the fused form means that the library does not support it. */
static enum jl_status choose(struct cuda_engine *e, const struct jl_eng_gemm *op, const struct jl_matmul_buffers *b,
			     struct cuda_plan *plan, struct jl_err *err)
{
	struct jl_matmul *fused = NULL, *plain = NULL;
	struct jl_matmul_shape shape = plan->shape;
	bool has_epilogue = shape.epilogue != JL_MM_NONE;
	/* a fused bias gradient would overwrite instead of accumulate */
	bool can_fuse = !(shape.epilogue == JL_MM_BGRAD && shape.accumulate);
	enum jl_status status = can_fuse ? jl_matmul_plan(e->lt, &shape, b, N_TRY, &fused, err) : JL_E_ABSENT;
	if (status != JL_OK && status != JL_E_ABSENT)
		return status;
	if (!has_epilogue || (fused && shape.epilogue == JL_MM_BIAS)) {
		plan->matmul = fused;
		plan->fused = true;
		return status;
	}
	shape.epilogue = JL_MM_NONE;
	status = jl_matmul_plan(e->lt, &shape, b, N_TRY, &plain, err);
	if (status != JL_OK) {
		jl_matmul_free(fused);
		return status;
	}
	double behind_s = jl_matmul_best_s(plain) + time_own(e, op, b, finish_product);
	plan->behind_s = behind_s;
	plan->fused_s = fused ? jl_matmul_best_s(fused) : (double)NAN;
	plan->fused = fused && plan->fused_s <= behind_s;
	plan->matmul = plan->fused ? fused : plain;
	jl_matmul_free(plan->fused ? plain : fused);
	return JL_OK;
}

/* Timing runs the product many times, so it writes to scratch memory: accumulating outputs must not change and live data must survive. */
static enum jl_status make_plan(struct cuda_engine *e, const struct jl_eng_gemm *op, struct cuda_plan *plan,
				struct jl_err *err)
{
	size_t c_B = op->m * op->ldc * e->base.elem_B, bias_B = (op->m > op->n ? op->m : op->n) * e->base.elem_B;
	struct jl_matmul_buffers b = buffers_of(op);
	uint64_t c = 0, bias = 0, aux = 0;
	enum jl_status status = jl_cuda_take(e, c_B, &c, err);
	JL_THEN(status, jl_cuda_take(e, bias_B, &bias, err));
	if (status == JL_OK && op->aux)
		status = jl_cuda_take(e, c_B, &aux, err);
	b.c = c;
	if (op->epilogue == JL_EP_BGRAD)
		b.bias = bias;
	if (op->epilogue == JL_EP_BIAS_GELU)
		b.aux = aux;
	JL_THEN(status, choose(e, op, &b, plan, err));
	if (status == JL_OK && jl_cuda_can_gemv(op))
		plan->own = time_own(e, op, &b, jl_cuda_gemv) <
			    (plan->fused ? jl_matmul_best_s(plan->matmul) : plan->behind_s);
	e->gpu->cuda->StreamSynchronize(e->gpu->stream);
	jl_cuda_drop(e, c, c_B);
	jl_cuda_drop(e, bias, bias_B);
	jl_cuda_drop(e, aux, c_B);
	return status;
}

static bool same(const struct jl_matmul_shape *a, const struct jl_matmul_shape *b)
{
	return a->m == b->m && a->n == b->n && a->k == b->k && a->lda == b->lda && a->ldb == b->ldb &&
	       a->ldc == b->ldc && a->ta == b->ta && a->tb == b->tb && a->accumulate == b->accumulate &&
	       a->epilogue == b->epilogue && a->type == b->type && a->wide == b->wide;
}

static struct cuda_plan *find_plan(struct cuda_engine *e, const struct jl_eng_gemm *op)
{
	struct jl_matmul_shape shape = shape_of(e, op);
	struct jl_err err;
	for (int i = 0; i < e->n_plans; i++)
		if (same(&e->plans[i].shape, &shape))
			return &e->plans[i];
	enum jl_status status = JL_OK;
	if (e->n_plans == CUDA_PLANS_MAX)
		status = jl_fail(&err, JL_E_LIMIT, "more than %d shapes of matrix products in one step",
				 CUDA_PLANS_MAX);
	struct cuda_plan *plan = &e->plans[e->n_plans];
	if (status == JL_OK) {
		*plan = (struct cuda_plan){ .shape = shape, .fused_s = NAN, .behind_s = NAN };
		status = make_plan(e, op, plan, &err);
	}
	if (status != JL_OK) {
		jl_cuda_keep_status(e, status, &err);
		return NULL;
	}
	e->n_plans++;
	return plan;
}

void jl_cuda_gemm(struct jl_engine *engine, const struct jl_eng_gemm *op)
{
	struct cuda_engine *e = cuda_of(engine);
	struct jl_err err;
	if (engine->failed != JL_OK)
		return;
	struct jl_matmul_buffers b = buffers_of(op);
	if (op->b_fp8 && !op->a_fp8) {
		jl_cuda_narrow(e, op, &b);
		return;
	}
	struct cuda_plan *plan = find_plan(e, op);
	if (!plan)
		return;
	if (plan->own) {
		jl_cuda_gemv(e, op, &b);
		return;
	}
	jl_cuda_keep_status(e, jl_matmul_run(plan->matmul, &b, e->gpu->stream, &err), &err);
	if (!plan->fused)
		finish_product(e, op, &b); /* independent of the product, so it may stay on the first stream */
}

void jl_cuda_gemm_release(struct cuda_engine *e)
{
	for (int i = 0; i < e->n_plans; i++)
		jl_matmul_free(e->plans[i].matmul);
	e->n_plans = 0;
}
