/* Benchmark of matrix products with the fastest available library. */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench/cpu.h"
#include "bench/cpu_libs.h"

#define WRONG_ROWS_MAX 64 /* rows recomputed element by element; further wrong rows count as entirely wrong */

struct jl_cpu_gemm {
	struct jl_pool *pool;
	size_t m, n, k;
	float *a, *b, *c;
};

/* Integers from -2 to 2: sums over k up to 2^22 are exact in float. */
static float element(size_t i, size_t j)
{
	uint64_t x = (i * 0x9e3779b97f4a7c15u) ^ (j * 0xc2b2ae3d27d4eb4fu);

	x ^= x >> 31;
	x *= 0xbf58476d1ce4e5b9u;
	return (float)((x >> 40) % 5) - 2;
}

static float *matrix(size_t rows, size_t columns, size_t salt)
{
	const size_t size_B = rows * columns * sizeof(float);
	float *x = mmap(NULL, size_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (x == MAP_FAILED)
		return NULL;
	(void)madvise(x, size_B, MADV_HUGEPAGE);
	for (size_t i = 0; i < rows; i++)
		for (size_t j = 0; j < columns; j++)
			x[i * columns + j] = salt ? element(i + salt, j) : 0;
	return x;
}

void jl_cpu_gemm_finish(struct jl_cpu_gemm *g)
{
	if (!g)
		return;
	jl_pool_destroy(g->pool);
	if (g->a)
		(void)munmap(g->a, g->m * g->k * sizeof(float));
	if (g->b)
		(void)munmap(g->b, g->k * g->n * sizeof(float));
	if (g->c)
		(void)munmap(g->c, g->m * g->n * sizeof(float));
	jl_free(g);
}

enum jl_status jl_cpu_gemm_prepare(const struct jl_bench_task *task, struct jl_cpu_gemm **ret_gemm, struct jl_err *err)
{
	struct jl_cpu_gemm *g = jl_realloc(NULL, sizeof(*g));
	const struct jl_cpu_lib *libs;
	size_t n;

	JL_TRY(jl_got(g, err));
	*g = (struct jl_cpu_gemm){ .m = task->m, .n = task->n, .k = task->k };
	enum jl_status status = jl_cpu_libs(&libs, &n, err);
	JL_THEN(status, jl_pool_create(task->n_threads, &g->pool, err));
	if (status)
		goto out;
	g->a = matrix(g->m, g->k, 1);
	g->b = matrix(g->k, g->n, 1000003);
	g->c = matrix(g->m, g->n, 0);
	if (!g->a || !g->b || !g->c)
		status = jl_fail(err, JL_E_NOMEM, "no memory for matrices of %zu x %zu x %zu", g->m, g->n, g->k);
out:
	if (status)
		jl_cpu_gemm_finish(g);
	else
		*ret_gemm = g;
	return status;
}

static void multiply(struct jl_cpu_gemm *g)
{
	jl_cpu_product(g->pool, &(struct jl_sgemm_op){ .m = g->m,
						       .n = g->n,
						       .k = g->k,
						       .a = g->a,
						       .b = g->b,
						       .c = g->c,
						       .lda = g->k,
						       .ldb = g->n,
						       .ldc = g->n });
}

void jl_cpu_gemm_run(struct jl_cpu_gemm *g, double *ret_s)
{
	/* too short for the clock and for waking threads: several products per sample */
	const double flop = 2.0 * (double)g->m * (double)g->n * (double)g->k;
	const int n = flop < 1e6 ? 64 : flop < 1e7 ? 8 : 1;
	const double start_s = jl_clock_s();

	for (int i = 0; i < n; i++)
		multiply(g);
	*ret_s = (jl_clock_s() - start_s) / n;
}

static size_t wrong_in_row(const struct jl_cpu_gemm *g, size_t i)
{
	size_t n_wrong = 0;

	for (size_t j = 0; j < g->n; j++) {
		double sum = 0;

		for (size_t k = 0; k < g->k; k++)
			sum += (double)g->a[i * g->k + k] * (double)g->b[k * g->n + j];
		n_wrong += (double)g->c[i * g->n + j] != sum;
	}
	return n_wrong;
}

/* Freivalds' check: compares C·x with A·(B·x) for integer x, exact in double. A wrong element changes its row's sum; that row is then
 * recomputed. */
size_t jl_cpu_gemm_wrong(struct jl_cpu_gemm *g)
{
	double *x = jl_realloc(NULL, (g->n + g->k) * sizeof(*x)), *bx;
	size_t n_wrong = 0, n_rows = 0;

	if (!x)
		return g->m * g->n;
	bx = x + g->n;
	memset(g->c, 0xff, g->m * g->n * sizeof(float));
	multiply(g);
	for (size_t j = 0; j < g->n; j++)
		x[j] = (double)(1 + (j * 2654435761u) % 1000);
	for (size_t k = 0; k < g->k; k++) {
		bx[k] = 0;
		for (size_t j = 0; j < g->n; j++)
			bx[k] += (double)g->b[k * g->n + j] * x[j];
	}
	for (size_t i = 0; i < g->m; i++) {
		double wanted = 0, got = 0;

		for (size_t k = 0; k < g->k; k++)
			wanted += (double)g->a[i * g->k + k] * bx[k];
		for (size_t j = 0; j < g->n; j++)
			got += (double)g->c[i * g->n + j] * x[j];
		if (got == wanted)
			continue;
		n_wrong += n_rows++ < WRONG_ROWS_MAX ? wrong_in_row(g, i) : g->n;
	}
	jl_free(x);
	return n_wrong;
}
