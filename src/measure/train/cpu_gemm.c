/* Matrix products on the CPU, with the epilogue applied while a block is still in the cache. Uses our own product (cpu_sgemm.h) where the
 * processor and the precision support it, otherwise the fastest library (bench/cpu_libs.h). */
#include <limits.h>

#include "train/cpu_engine.h"
#include "train/cpu_vec.h"

#define OWN_ROWS 64 /* below this a library is faster: it packs less (bench/sgemm) */
#define OWN_COLS 16

static struct jl_sgemm_op op_of(const struct jl_eng_gemm *op)
{
	return (struct jl_sgemm_op){ .m = op->m,
				     .n = op->n,
				     .k = op->k,
				     .a = op->a,
				     .b = op->b,
				     .c = op->epilogue == JL_EP_BIAS_GELU ? op->aux : op->c,
				     .lda = op->lda,
				     .ldb = op->ldb,
				     .ldc = op->ldc,
				     .ta = op->ta,
				     .tb = op->tb,
				     .accumulate = op->accumulate };
}

void jl_cpu_sgemm(const struct jl_cpu_lib *lib, const struct jl_eng_gemm *op)
{
	const struct jl_sgemm_op plain = op_of(op);
	jl_cpu_lib_sgemm(lib, &plain);
}

JL_CLONES static void add_bias(float *c, const float *bias, size_t n_cols)
{
	size_t j = 0;
	for (; j + VEC_N <= n_cols; j += VEC_N)
		vec_store(c + j, vec_load(c + j) + vec_load(bias + j));
	for (; j < n_cols; j++)
		c[j] += bias[j];
}

JL_CLONES static void gelu_row(float *out, const float *in, size_t n)
{
	size_t j = 0;
	for (; j + VEC_N <= n; j += VEC_N)
		vec_store(out + j, vec_gelu(vec_load(in + j)));
	if (j < n)
		vec_store_part(out + j, vec_gelu(vec_load_part(in + j, n - j)), n - j);
}

JL_CLONES static void gelu_slope_row(float *c, const float *aux, size_t n)
{
	size_t j = 0;
	for (; j + VEC_N <= n; j += VEC_N)
		vec_store(c + j, vec_load(c + j) * vec_gelu_slope(vec_load(aux + j)));
	if (j < n)
		vec_store_part(c + j, vec_load_part(c + j, n - j) * vec_gelu_slope(vec_load_part(aux + j, n - j)),
			       n - j);
}

static void finish_block(void *ctx, const struct jl_sgemm_block *block)
{
	const struct jl_eng_gemm *op = ctx;
	size_t n = block->n_cols;
	for (size_t i = block->row; i < block->row + block->n_rows && op->epilogue != JL_EP_NONE; i++) {
		size_t at = i * op->ldc + block->col;
		float *c = (float *)op->c + at, *aux = op->aux ? (float *)op->aux + at : NULL;
		const float *bias = op->bias ? (const float *)op->bias + block->col : NULL;
		switch (op->epilogue) {
		case JL_EP_BIAS:
			if (bias)
				add_bias(c, bias, n);
			break;
		case JL_EP_BIAS_GELU: /* aux holds A·B + bias */
			if (bias && aux)
				add_bias(aux, bias, n);
			if (aux)
				gelu_row(c, aux, n);
			break;
		case JL_EP_DGELU:
			if (aux)
				gelu_slope_row(c, aux, n);
			break;
		case JL_EP_NONE:
		case JL_EP_BGRAD: return;
		}
	}
}

/* Sums of dy (stored k × m) over the tokens. Threads own disjoint columns, so the order of summation is fixed. */
JL_CLONES static void sum_columns(const void *ctx, struct jl_cpu_span cols)
{
	const struct jl_eng_gemm *op = ctx;
	float *sum = op->bias_grad;
	for (size_t j = cols.begin; j < cols.end; j += 64) {
		size_t n = cols.end - j < 64 ? cols.end - j : 64;
		float acc[64] = { 0 };
		for (size_t i = 0; i < op->k; i++) {
			const float *row = (const float *)op->a + i * op->lda + j;
			for (size_t c = 0; c < n; c++)
				acc[c] += row[c];
		}
		for (size_t c = 0; c < n; c++)
			sum[j + c] = op->accumulate ? sum[j + c] + acc[c] : acc[c];
	}
}

void jl_cpu_gemm(struct jl_engine *engine, const struct jl_eng_gemm *op)
{
	struct jl_cpu_engine *cpu = jl_cpu(engine);
	if (engine->failed || op->m == 0 || op->n == 0)
		return;
	if (op->m > INT_MAX || op->n > INT_MAX || op->k > INT_MAX || op->lda > INT_MAX || op->ldb > INT_MAX) {
		engine->failed = jl_fail(&engine->err, JL_E_LIMIT, "a matrix side is over 2^31");
		return;
	}
	if (jl_cpu_skinny(engine, op, finish_block))
		return;
	struct jl_eng_gemm ends = *op; /* copy: `finish` takes a pointer to non-const */
	struct jl_sgemm_op product = op_of(op);
	product.finish = finish_block;
	product.finish_ctx = &ends;
	if (cpu->sgemm && op->m >= OWN_ROWS && op->n >= OWN_COLS && op->k > 0)
		jl_sgemm_run(cpu->sgemm, &product);
	else
		jl_cpu_product(cpu->pool, &product);
	if (op->epilogue == JL_EP_BGRAD)
		jl_cpu_spans(engine, op->m, 64, 64, sum_columns, op);
}

struct gelu_ctx {
	float *out;
	const float *in;
};

static void gelu_span(const void *ctx, struct jl_cpu_span span)
{
	const struct gelu_ctx *g = ctx;
	gelu_row(g->out + span.begin, g->in + span.begin, span.end - span.begin);
}

void jl_cpu_gelu(struct jl_engine *engine, void *out, const void *in, size_t n)
{
	jl_cpu_spans(engine, n, 65536, VEC_N, gelu_span, &(struct gelu_ctx){ .out = out, .in = in });
}
