/* The matrix products of one training step of GPT-305M (batch 4, sequence 512), ours and OpenBLAS's in turn: each
 * thread of OpenBLAS's has its own columns, as the step asks for them where it uses OpenBLAS. One JSON line each. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "train/cpu_engine.h"

struct product {
	const char *name;
	size_t m, n, k;
	bool ta, tb, accumulate;
	double n_a_step; /* how often a step has it */
};

static const struct product products[] = {
	{ "qkv", 2048, 3072, 1024, false, true, false, 16 },
	{ "attention out", 2048, 1024, 1024, false, true, false, 16 },
	{ "up", 2048, 4096, 1024, false, true, false, 16 },
	{ "down", 2048, 1024, 4096, false, true, false, 16 },
	{ "qkv, dx", 2048, 1024, 3072, false, false, false, 16 },
	{ "attention out, dx", 2048, 1024, 1024, false, false, false, 16 },
	{ "up, dx", 2048, 1024, 4096, false, false, false, 16 },
	{ "down, dx", 2048, 4096, 1024, false, false, false, 16 },
	{ "qkv, dW", 3072, 1024, 2048, true, false, false, 16 },
	{ "attention out, dW", 1024, 1024, 2048, true, false, false, 16 },
	{ "up, dW", 4096, 1024, 2048, true, false, false, 16 },
	{ "down, dW", 1024, 4096, 2048, true, false, false, 16 },
	{ "logits", 1024, 50304, 1024, false, true, false, 2 },
	{ "logits, dx", 1024, 1024, 50304, false, false, false, 2 },
	{ "logits, dW", 50304, 1024, 1024, true, false, true, 2 },
};

struct columns {
	const struct jl_cpu_blas *blas;
	struct jl_eng_gemm op;
	size_t n_pieces;
};

static void blas_columns(void *ctx, size_t index, int thread)
{
	const struct columns *c = ctx;
	struct jl_cpu_span cols = jl_cpu_piece(c->op.n, c->n_pieces, index, 16);
	struct jl_eng_gemm part = c->op;
	(void)thread;
	part.n = cols.end - cols.begin;
	part.b = (const float *)c->op.b + (c->op.tb ? cols.begin * c->op.ldb : cols.begin);
	part.c = (float *)c->op.c + cols.begin;
	jl_cpu_sgemm(c->blas, &part);
}

static float *matrix(size_t n)
{
	float *x = mmap(NULL, n * sizeof *x, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (x == MAP_FAILED)
		exit(1);
	(void)madvise(x, n * sizeof *x, MADV_HUGEPAGE);
	for (size_t i = 0; i < n; i++)
		x[i] = (float)(i % 1021) / 1021.0f - 0.5f;
	return x;
}

struct times {
	double clock_s, cpu_s; /* the least of all rounds */
};

static void keep_least(struct times *t, double clock_s, double cpu_s)
{
	t->clock_s = clock_s < t->clock_s ? clock_s : t->clock_s;
	t->cpu_s = cpu_s < t->cpu_s ? cpu_s : t->cpu_s;
}

static void measure(const struct product *p, struct jl_pool *pool, struct jl_sgemm *sgemm,
		    const struct jl_cpu_blas *blas, int n_rounds)
{
	struct jl_sgemm_op op = {
		.m = p->m, .n = p->n, .k = p->k, .ta = p->ta, .tb = p->tb, .accumulate = p->accumulate, .ldc = p->n
	};
	op.lda = p->ta ? p->m : p->k;
	op.ldb = p->tb ? p->k : p->n;
	float *a = matrix(p->m * p->k), *b = matrix(p->k * p->n);
	op.a = a, op.b = b, op.c = matrix(p->m * p->n);
	struct columns columns = { .blas = blas, .n_pieces = (size_t)jl_pool_n_threads(pool) };
	columns.op = (struct jl_eng_gemm){ .m = op.m,
					   .n = op.n,
					   .k = op.k,
					   .a = a,
					   .b = b,
					   .c = op.c,
					   .lda = op.lda,
					   .ldb = op.ldb,
					   .ldc = op.ldc,
					   .ta = op.ta,
					   .tb = op.tb,
					   .accumulate = op.accumulate };
	struct times ours = { INFINITY, INFINITY }, theirs = ours;
	for (int i = 0; i < n_rounds; i++) {
		double clock_s = jl_clock_s(), cpu_s = jl_clock_cpu_s();
		jl_sgemm_run(sgemm, &op);
		keep_least(&ours, jl_clock_s() - clock_s, jl_clock_cpu_s() - cpu_s);
		clock_s = jl_clock_s(), cpu_s = jl_clock_cpu_s();
		jl_pool_run(pool, blas_columns, &columns, columns.n_pieces);
		keep_least(&theirs, jl_clock_s() - clock_s, jl_clock_cpu_s() - cpu_s);
	}
	printf("{\"name\": \"%s\", \"m\": %zu, \"n\": %zu, \"k\": %zu, \"n_a_step\": %g, \"flop\": %g, \"own_s\": %g, "
	       "\"own_cpu_s\": %g, \"blas_s\": %g, \"blas_cpu_s\": %g}\n",
	       p->name, p->m, p->n, p->k, p->n_a_step, 2.0 * (double)p->m * (double)p->n * (double)p->k, ours.clock_s,
	       ours.cpu_s, theirs.clock_s, theirs.cpu_s);
	(void)fflush(stdout);
	munmap(a, p->m * p->k * sizeof *a);
	munmap(b, p->k * p->n * sizeof *b);
	munmap(op.c, p->m * p->n * sizeof *op.c);
}

int main(int argc, char **argv)
{
	struct jl_err err = { 0 };
	struct jl_pool *pool = NULL;
	struct jl_sgemm *sgemm = NULL;
	struct jl_cpu_blas blas;
	int n_threads = argc > 1 ? atoi(argv[1]) : 0, n_rounds = argc > 2 ? atoi(argv[2]) : 3;
	if (jl_cpu_blas_open(&blas, &err) != JL_OK || jl_pool_create(n_threads, &pool, &err) != JL_OK ||
	    jl_sgemm_create(pool, &sgemm, &err) != JL_OK) {
		(void)fprintf(stderr, "%s\n", err.en);
		return 1;
	}
	for (size_t i = 0; i < sizeof products / sizeof *products; i++)
		measure(&products[i], pool, sgemm, &blas, n_rounds);
	jl_sgemm_destroy(sgemm);
	jl_pool_destroy(pool);
	jl_dynlib_close(&blas.lib);
	return 0;
}
