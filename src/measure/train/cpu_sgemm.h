/* A matrix product of our own, single precision, row-major. Both operands are packed into panels that the innermost
 * loop reads in order; blocks of them stay in the caches. The sum over k of every element runs in the same order
 * whatever the number of threads, so a result never depends on who was first. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/pool.h"

/* One tile of C is kept in registers: 8 rows by 12 columns are 24 of the 32 vectors of an arm64 core, and 24 products
 * need 5 loads. */
#define JL_TILE_ROWS 8
#define JL_TILE_COLS 12
#define JL_TILE_K    4 /* the innermost loop takes so many steps of k at a time */

struct jl_sgemm; /* packed panels of one pool's threads */

struct jl_sgemm_block {
	size_t row, n_rows, col, n_cols; /* of C */
};

/* C[m×n] (+)= op(A)·op(B); op(A) is m×k, stored k×m with `ta`; op(B) is k×n, stored n×k with `tb`; k > 0. `finish`,
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

/* Whether this processor has an innermost loop that was written for it. Elsewhere results are right and slow. */
bool jl_sgemm_is_fast(void);

enum jl_status jl_sgemm_create(struct jl_pool *pool, struct jl_sgemm **ret_sgemm, struct jl_err *err);
void jl_sgemm_destroy(struct jl_sgemm *sgemm); /* NULL is fine */

/* On all threads of the pool. */
void jl_sgemm_run(struct jl_sgemm *sgemm, const struct jl_sgemm_op *op);

/* --- for cpu_sgemm*.c */

/* One operand as packing sees it: `n_wide` runs along the panels' width (rows of A, columns of B). */
struct jl_sgemm_side {
	const float *at;
	size_t ld;
	bool wide_first; /* neighbours along the width lie side by side in memory; otherwise neighbours along k */
};

/* Panels are `stride` floats apart; each holds its width × k_pad floats, k outermost. What lies beyond n_wide and n_k
 * is 0. */
void jl_sgemm_pack_rows(float *panels, size_t stride, struct jl_sgemm_side side, size_t n_wide, size_t n_k);
void jl_sgemm_pack_cols(float *panels, size_t stride, struct jl_sgemm_side side, size_t n_wide, size_t n_k);

/* C tile (+)= panel of A · panel of B; k is a multiple of JL_TILE_K. The first n_vecs × 4 columns are written. */
void jl_sgemm_tile(size_t k, const float *a, const float *b, float *c, size_t ldc, bool add, size_t n_vecs);
