/* Products of matrices by the libraries that this machine has, each opened when it is needed: OpenBLAS, oneDNN, BLIS. They are called from our own
 * threads, one block of the output each: their own threads wait awake and would be in the way. Which one multiplies a shape is found by a
 * short timing when the shape is met first. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/pool.h"

struct jl_sgemm_block {
	size_t row, n_rows, col, n_cols; /* of C */
};

/* C[m×n] (+)= op(A)·op(B), row-major, single precision; op(A) is m×k, stored k×m with `ta`; op(B) is k×n, stored n×k with `tb`; k > 0. `finish`,
 * where given, is called for each block of C once its sums are complete, on the thread that made it. */
struct jl_sgemm_op {
	size_t m, n, k;
	const float *a, *b;
	float *c;
	size_t lda, ldb, ldc;
	bool ta, tb;
	bool accumulate;
	void (*finish)(void *ctx, const struct jl_sgemm_block *block);
	void *finish_ctx;
};

#define JL_CPU_LIBS_MAX 3
struct jl_cpu_lib {
	const char *name; /* openblas onednn blis */
	char version[40];
	/* its functions: one of the first two */
	void (*cblas)(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda,
		      const float *b, int ldb, float beta, float *c, int ldc);
	int (*dnnl)(char ta, char tb, long m, long n, long k, float alpha, const float *a, long lda, const float *b,
		    long ldb, float beta, float *c, long ldc);
	const int *(*numbers)(void); /* major, minor, patch */
	const char *(*text)(void), *(*core)(void);
	void (*set_threads)(int n);
};

/* All that are there; JL_E_ABSENT: none is. They stay open. */
enum jl_status jl_cpu_libs(const struct jl_cpu_lib **ret_libs, size_t *ret_n, struct jl_err *err);
const char *jl_cpu_libs_version(void); /* "openblas=0.3.21-SkylakeX onednn=2.6.3"; NULL: none */

/* On this thread alone. */
void jl_cpu_lib_sgemm(const struct jl_cpu_lib *lib, const struct jl_sgemm_op *op);
/* The one that was fastest on such a shape; the first time they are timed. From any thread. */
const struct jl_cpu_lib *jl_cpu_lib_for(const struct jl_sgemm_op *op);
/* On all threads of the pool. */
void jl_cpu_product(struct jl_pool *pool, const struct jl_sgemm_op *op);
