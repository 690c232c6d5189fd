/* The matrix products of a training step of GPT-305M (batch 4, sequence 512): our product, each library's, and bfloat16, alternating. Each
 * thread of a library computes its own block, as in the step. One JSON line per product, with a time for each method. */
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/clock.h"
#include "train/cpu_engine.h"

struct product {
	const char *name;
	size_t m, n, k;
	bool ta, tb, accumulate;
	double n_a_step; /* number per step */
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

#define WAYS_MAX 8

struct way {
	const char *name;
	struct jl_sgemm *own; /* NULL: a library's product */
	const struct jl_cpu_lib *lib;
	bool chosen;  /* by the library chosen by timing */
	bool rounded; /* rounds the operands to bfloat16, then uses the library's fp32 product */
};

/* oneDNN's bfloat16 product, and its operands. */
static int (*bf16_gemm)(char ta, char tb, long m, long n, long k, float alpha, const uint16_t *a, long lda,
			const uint16_t *b, long ldb, float beta, float *c, long ldc);
static uint16_t *rounded_a, *rounded_b;

struct blocks {
	const struct jl_sgemm_op *op;
	const struct jl_cpu_lib *lib;
	size_t n;
};

/* Columns of block `index`, in multiples of 16. */
static struct jl_cpu_span columns(const struct blocks *b, size_t index)
{
	size_t n = b->op->n, each = ((n + b->n - 1) / b->n + 15) / 16 * 16, begin = index * each, end = begin + each;
	return (struct jl_cpu_span){ .begin = begin < n ? begin : n, .end = end < n ? end : n, .index = index };
}

static void lib_block(void *ctx, size_t index, int thread)
{
	const struct blocks *b = ctx;
	struct jl_cpu_span cols = columns(b, index);
	struct jl_sgemm_op part = *b->op;
	(void)thread;
	part.n = cols.end - cols.begin;
	part.b += part.tb ? cols.begin * part.ldb : cols.begin;
	part.c += cols.begin;
	jl_cpu_lib_sgemm(b->lib, &part);
}

struct round {
	uint16_t *to;
	const float *from;
	size_t n;
};

#if defined(__x86_64__)
__attribute__((target("avx512f,avx512bf16"))) static void round_block(void *ctx, size_t index, int thread)
{
	const struct round *r = ctx;
	(void)thread;
	for (size_t i = index << 16; i < r->n && i < (index + 1) << 16; i += 16)
		_mm256_storeu_si256((__m256i *)(r->to + i), (__m256i)_mm512_cvtneps_pbh(_mm512_loadu_ps(r->from + i)));
}
#else
static void round_block(void *ctx, size_t index, int thread)
{
	(void)ctx, (void)index, (void)thread; /* unused if jl_sgemm_bf16 has no loop here */
}
#endif

static void rounded_block(void *ctx, size_t index, int thread)
{
	const struct blocks *b = ctx;
	const struct jl_sgemm_op *op = b->op;
	struct jl_cpu_span cols = columns(b, index);
	(void)thread;
	(void)bf16_gemm(op->ta ? 'T' : 'N', op->tb ? 'T' : 'N', (long)op->m, (long)(cols.end - cols.begin), (long)op->k,
			1.0f, rounded_a, (long)op->lda, rounded_b + (op->tb ? cols.begin * op->ldb : cols.begin),
			(long)op->ldb, op->accumulate ? 1.0f : 0.0f, op->c + cols.begin, (long)op->ldc);
}

static void multiply(const struct way *way, struct jl_pool *pool, const struct jl_sgemm_op *op)
{
	struct blocks blocks = { .op = op, .lib = way->lib, .n = (size_t)jl_pool_n_threads(pool) };
	if (way->rounded) {
		struct round a = { rounded_a, op->a, op->m * op->k }, b = { rounded_b, op->b, op->k * op->n };
		jl_pool_run(pool, round_block, &a, (a.n + 65535) >> 16);
		jl_pool_run(pool, round_block, &b, (b.n + 65535) >> 16);
		jl_pool_run(pool, rounded_block, &blocks, blocks.n);
	} else if (way->own)
		jl_sgemm_run(way->own, op);
	else if (way->chosen)
		jl_cpu_product(pool, op);
	else
		jl_pool_run(pool, lib_block, &blocks, blocks.n);
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
	double clock_s, cpu_s; /* minimum over all rounds */
};

static void keep_least(struct times *t, double clock_s, double cpu_s)
{
	t->clock_s = clock_s < t->clock_s ? clock_s : t->clock_s;
	t->cpu_s = cpu_s < t->cpu_s ? cpu_s : t->cpu_s;
}

static void measure(const struct product *p, struct jl_pool *pool, const struct way *ways, size_t n_ways, int n_rounds)
{
	struct jl_sgemm_op op = {
		.m = p->m, .n = p->n, .k = p->k, .ta = p->ta, .tb = p->tb, .accumulate = p->accumulate, .ldc = p->n
	};
	op.lda = p->ta ? p->m : p->k;
	op.ldb = p->tb ? p->k : p->n;
	float *a = matrix(p->m * p->k), *b = matrix(p->k * p->n);
	op.a = a, op.b = b, op.c = matrix(p->m * p->n);
	struct times times[WAYS_MAX];
	for (size_t w = 0; w < n_ways; w++)
		times[w] = (struct times){ INFINITY, INFINITY };
	for (int i = 0; i < n_rounds; i++)
		for (size_t w = 0; w < n_ways; w++) {
			double clock_s = jl_clock_s(), cpu_s = jl_clock_cpu_s();
			multiply(&ways[w], pool, &op);
			if (i) /* the first round warms up and selects libraries */
				keep_least(&times[w], jl_clock_s() - clock_s, jl_clock_cpu_s() - cpu_s);
		}
	printf("{\"name\": \"%s\", \"m\": %zu, \"n\": %zu, \"k\": %zu, \"n_a_step\": %g, \"flop\": %g, \"ways\": {",
	       p->name, p->m, p->n, p->k, p->n_a_step, 2.0 * (double)p->m * (double)p->n * (double)p->k);
	for (size_t w = 0; w < n_ways; w++)
		printf("%s\"%s\": [%g, %g]", w ? ", " : "", ways[w].name, times[w].clock_s, times[w].cpu_s);
	printf("}}\n");
	(void)fflush(stdout);
	munmap(a, p->m * p->k * sizeof *a);
	munmap(b, p->k * p->n * sizeof *b);
	munmap(op.c, p->m * p->n * sizeof *op.c);
}

int main(int argc, char **argv)
{
	struct jl_err err = { 0 };
	struct jl_pool *pool = NULL;
	struct way ways[WAYS_MAX] = { 0 };
	const struct jl_cpu_lib *libs;
	size_t n_libs, n = 0;
	int n_threads = argc > 1 ? atoi(argv[1]) : 0, n_rounds = argc > 2 ? atoi(argv[2]) : 4;
	if (jl_cpu_libs(&libs, &n_libs, &err) != JL_OK || jl_pool_create(n_threads, &pool, &err) != JL_OK) {
		(void)fprintf(stderr, "%s\n", err.en);
		return 1;
	}
	ways[n++] = (struct way){ .name = "chosen", .chosen = true };
	void *dnnl = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
	if (dnnl && jl_sgemm_bf16(true)) {
		*(void **)&bf16_gemm = dlsym(dnnl, "dnnl_gemm_bf16bf16f32");
		rounded_a = (uint16_t *)matrix((size_t)50304 * 512);
		rounded_b = (uint16_t *)matrix((size_t)50304 * 512);
		if (bf16_gemm)
			ways[n++] = (struct way){ .name = "onednn bf16", .rounded = true };
	}
	for (size_t i = 0; i < n_libs; i++)
		ways[n++] = (struct way){ .name = libs[i].name, .lib = &libs[i] };
	if (jl_sgemm_is_fast() && jl_sgemm_create(pool, &jl_sgemm_single, &ways[n].own, &err) == JL_OK)
		ways[n++].name = "own";
	if (jl_sgemm_bf16(true) && jl_sgemm_create(pool, jl_sgemm_bf16(true), &ways[n].own, &err) == JL_OK)
		ways[n++].name = "own bf16";
	const size_t n_products = argc > 3 ? (size_t)atoi(argv[3]) : sizeof products / sizeof *products;
	for (size_t i = 0; i < n_products && i < sizeof products / sizeof *products; i++)
		measure(&products[i], pool, ways, n, n_rounds);
	for (size_t w = 0; w < n; w++)
		jl_sgemm_destroy(ways[w].own);
	jl_pool_destroy(pool);
	return 0;
}
