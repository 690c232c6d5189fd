/* Matrix products by this machine's libraries: OpenBLAS, oneDNN, BLIS, each opened on first use. Our threads call them on one block of the
 * output each; the libraries' own threads would spin and disturb the measurement. The library for a shape is chosen by a short timing on its
 * first use. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/pool.h"

struct jl_sgemm_block {
	size_t row, n_rows, col, n_cols; /* block of C */
};

/* C[m×n] (+)= op(A)·op(B), row-major, fp32; op(A) is m×k, stored k×m with `ta`; op(B) is k×n, stored n×k with `tb`; k > 0. `finish` (may be
 * NULL) is called for each finished block of C, on the thread that computed it. */
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
	/* either cblas or dnnl is set */
	void (*cblas)(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda,
		      const float *b, int ldb, float beta, float *c, int ldc);
	int (*dnnl)(char ta, char tb, long m, long n, long k, float alpha, const float *a, long lda, const float *b,
		    long ldb, float beta, float *c, long ldc);
	const int *(*numbers)(void); /* major, minor, patch */
	const char *(*text)(void), *(*core)(void);
	void (*set_threads)(int n);
};

/* All installed libraries; JL_E_ABSENT: none. They stay open. */
enum jl_status jl_cpu_libs(const struct jl_cpu_lib **ret_libs, size_t *ret_n, struct jl_err *err);
const char *jl_cpu_libs_version(void); /* "openblas=0.3.21-SkylakeX onednn=2.6.3"; NULL: none */

/* Computes op on the calling thread. */
void jl_cpu_lib_sgemm(const struct jl_cpu_lib *lib, const struct jl_sgemm_op *op);
/* The fastest library for this shape; times the libraries on the shape's first use. Thread-safe. */
const struct jl_cpu_lib *jl_cpu_lib_for(const struct jl_sgemm_op *op);
/* Computes op on all threads of the pool. */
void jl_cpu_product(struct jl_pool *pool, const struct jl_sgemm_op *op);
