/* Matrix products on the CPU, and what follows a product on the same block while it is still in the cache: our own
 * product where this processor has one (cpu_sgemm.h), otherwise OpenBLAS on each thread's own block of the output. One
 * single-threaded call per block keeps BLAS's own threads (which wait awake) out of the way of ours. */
#include <limits.h>

#include "train/cpu_engine.h"
#include "train/cpu_vec.h"

#define ROW_MAJOR  101
#define NO_TRANS   111
#define TRANS      112
#define BLOCK_COLS 128 /* narrower blocks waste BLAS's packing of the other operand */
#define OWN_ROWS   64  /* smaller products are OpenBLAS's: it packs less for them (bench/sgemm) */
#define OWN_COLS   16

enum jl_status jl_cpu_blas_open(struct jl_cpu_blas *ret_blas, struct jl_err *err)
{
	static const char *const names[] = { "libopenblas.so.0", "libopenblas.so", NULL };
	static const struct jl_dynlib_symbol symbols[] = {
		{ .name = "cblas_sgemm", .offset = offsetof(struct jl_cpu_blas, sgemm) },
		{ .name = "openblas_set_num_threads", .offset = offsetof(struct jl_cpu_blas, set_num_threads) },
		{ .name = "openblas_get_config", .offset = offsetof(struct jl_cpu_blas, get_config), .optional = true },
		{ .name = "openblas_get_corename",
		  .offset = offsetof(struct jl_cpu_blas, get_corename),
		  .optional = true },
	};
	struct jl_cpu_blas blas = { 0 };
	struct jl_dynlib lib;
	struct jl_err why = { 0 };
	if (jl_dynlib_open(&lib, "JEOUL_OPENBLAS", names, symbols, sizeof symbols / sizeof *symbols, &blas, &why) !=
	    JL_OK)
		return jl_fail(err, JL_E_ABSENT, "no OpenBLAS (install libopenblas0): %s", why.en);
	blas.lib = lib;
	blas.set_num_threads(1);
	*ret_blas = blas;
	return JL_OK;
}

void jl_cpu_sgemm(const struct jl_cpu_blas *blas, const struct jl_eng_gemm *op)
{
	blas->sgemm(ROW_MAJOR, op->ta ? TRANS : NO_TRANS, op->tb ? TRANS : NO_TRANS, (int)op->m, (int)op->n, (int)op->k,
		    1.0f, op->a, (int)op->lda, op->b, (int)op->ldb, op->accumulate ? 1.0f : 0.0f, op->c, (int)op->ldc);
}

struct gemm_ctx {
	struct jl_cpu_engine *cpu;
	const struct jl_eng_gemm *op;
	size_t n_row_blocks, n_col_blocks;
};

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

static void finish_block(const struct jl_eng_gemm *op, struct jl_cpu_span rows, struct jl_cpu_span cols)
{
	size_t n = cols.end - cols.begin;
	for (size_t i = rows.begin; i < rows.end && op->epilogue != JL_EP_NONE; i++) {
		size_t at = i * op->ldc + cols.begin;
		float *c = (float *)op->c + at, *aux = op->aux ? (float *)op->aux + at : NULL;
		const float *bias = op->bias ? (const float *)op->bias + cols.begin : NULL;
		switch (op->epilogue) {
		case JL_EP_BIAS:
			if (bias)
				add_bias(c, bias, n);
			break;
		case JL_EP_BIAS_GELU: /* the product went to aux */
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

static void gemm_block(void *ctx, size_t index, int thread)
{
	const struct gemm_ctx *g = ctx;
	const struct jl_eng_gemm *op = g->op;
	(void)thread;
	struct jl_cpu_span rows = jl_cpu_piece(op->m, g->n_row_blocks, index / g->n_col_blocks, 8);
	struct jl_cpu_span cols = jl_cpu_piece(op->n, g->n_col_blocks, index % g->n_col_blocks, 16);
	if (rows.begin >= rows.end || cols.begin >= cols.end)
		return;
	struct jl_eng_gemm part = *op;
	part.m = rows.end - rows.begin;
	part.n = cols.end - cols.begin;
	part.a = (const float *)op->a + (op->ta ? rows.begin : rows.begin * op->lda);
	part.b = (const float *)op->b + (op->tb ? cols.begin * op->ldb : cols.begin);
	part.c = (float *)(op->epilogue == JL_EP_BIAS_GELU ? op->aux : op->c) + rows.begin * op->ldc + cols.begin;
	jl_cpu_sgemm(&g->cpu->blas, &part);
	finish_block(op, rows, cols);
}

/* sums over the tokens of dy, which is stored k × m; each thread has columns of its own, so the order of the sum
 * never changes */
JL_CLONES static void sum_columns(const struct jl_eng_gemm *op, struct jl_cpu_span cols)
{
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

static void bias_grad_block(void *ctx, size_t index, int thread)
{
	const struct gemm_ctx *g = ctx;
	(void)thread;
	sum_columns(g->op, jl_cpu_piece(g->op->m, g->n_row_blocks, index, 64));
}

static void finish_own(void *ctx, const struct jl_sgemm_block *block)
{
	finish_block(ctx, (struct jl_cpu_span){ block->row, block->row + block->n_rows },
		     (struct jl_cpu_span){ block->col, block->col + block->n_cols });
}

static void own_product(struct jl_sgemm *sgemm, const struct jl_eng_gemm *op)
{
	struct jl_eng_gemm ends = *op; /* finish has a plain pointer */
	jl_sgemm_run(sgemm, &(struct jl_sgemm_op){ .m = op->m,
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
						   .accumulate = op->accumulate,
						   .finish = finish_own,
						   .finish_ctx = &ends });
}

static void blas_product(struct gemm_ctx *g)
{
	size_t n_threads = (size_t)g->cpu->base.n_threads;
	size_t n_cols = g->op->n / BLOCK_COLS < 1 ? 1 : g->op->n / BLOCK_COLS;
	g->n_col_blocks = n_cols < n_threads ? n_cols : n_threads;
	g->n_row_blocks = (n_threads + g->n_col_blocks - 1) / g->n_col_blocks;
	jl_pool_run(g->cpu->pool, gemm_block, g, g->n_row_blocks * g->n_col_blocks);
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
	struct gemm_ctx g = { .cpu = cpu, .op = op };
	if (cpu->sgemm && op->m >= OWN_ROWS && op->n >= OWN_COLS && op->k > 0)
		own_product(cpu->sgemm, op);
	else
		blas_product(&g);
	if (op->epilogue == JL_EP_BGRAD) {
		g.n_row_blocks = jl_cpu_n_pieces(cpu, op->m, 64);
		jl_pool_run(cpu->pool, bias_grad_block, &g, g.n_row_blocks);
	}
}

struct gelu_ctx {
	float *out;
	const float *in;
	size_t n, n_pieces;
};

static void gelu_piece(void *ctx, size_t index, int thread)
{
	const struct gelu_ctx *g = ctx;
	(void)thread;
	struct jl_cpu_span span = jl_cpu_piece(g->n, g->n_pieces, index, VEC_N);
	gelu_row(g->out + span.begin, g->in + span.begin, span.end - span.begin);
}

void jl_cpu_gelu(struct jl_engine *engine, void *out, const void *in, size_t n)
{
	if (engine->failed)
		return;
	struct gelu_ctx g = { .out = out, .in = in, .n = n, .n_pieces = jl_cpu_n_pieces(jl_cpu(engine), n, 65536) };
	jl_pool_run(jl_cpu(engine)->pool, gelu_piece, &g, g.n_pieces);
}
