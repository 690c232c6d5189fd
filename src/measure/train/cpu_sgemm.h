/* A matrix product of our own, row-major: single precision, or operands rounded to bfloat16 while they are packed and sums in single
 * precision. Both operands are packed into panels that the innermost loop reads in order; blocks of them stay in the caches. The sum over k
 * of every element runs in the same order whatever the number of threads, so a result never depends on who was first. */
#pragma once

#include "bench/cpu_libs.h"

/* One tile of C is kept in registers: 8 rows by 12 columns are 24 of the 32 vectors of an arm64 core, and 24 products need 5 loads. */
#define JL_TILE_ROWS 8
#define JL_TILE_COLS 12
#define JL_TILE_K    4 /* the innermost loop takes so many steps of k at a time */

struct jl_sgemm; /* packed panels of one pool's threads */

/* One operand as packing sees it: `n_wide` runs along the panels' width (rows of A, columns of B). */
struct jl_sgemm_side {
	const float *at;
	size_t ld;
	bool wide_first; /* neighbours along the width lie side by side in memory; otherwise neighbours along k */
};

/* An innermost loop and the panels that it reads. */
struct jl_sgemm_kind {
	size_t rows, cols, k;              /* of a tile; the loop takes so many steps of k at a time */
	size_t per_float;                  /* elements in the room of a float */
	size_t k_least;                    /* of a block: fewer write C too often */
	size_t tasks_each;                 /* blocks of rows per thread, so that none waits long for the last one */
	size_t step_cols;                  /* columns that a whole tile may leave out: multiples of this */
	void (*begin)(void), (*end)(void); /* around the tiles of one task; may be NULL */
	/* Panels are `stride` floats apart; each holds its width × k_pad elements. What lies beyond n_wide and n_k is 0. */
	void (*pack_rows)(float *panels, size_t stride, struct jl_sgemm_side side, size_t n_wide, size_t n_k);
	void (*pack_cols)(float *panels, size_t stride, struct jl_sgemm_side side, size_t n_wide, size_t n_k);
	/* C tile (+)= panel of A · panel of B; k is a multiple of `k`, n_cols of step_cols: so many columns are written. */
	void (*tile)(size_t k, const float *a, const float *b, float *c, size_t ldc, bool add, size_t n_cols);
};
extern const struct jl_sgemm_kind jl_sgemm_single;
/* NULL: this processor has no instructions for bfloat16 that we know. Without `tiles`: those of vectors, where it has both. */
const struct jl_sgemm_kind *jl_sgemm_bf16(bool tiles);
#define JL_SGEMM_TILE_MOST (32 * 32)

/* Whether this processor has an innermost loop in single precision that was written for it. Elsewhere results are right and slow. */
bool jl_sgemm_is_fast(void);

enum jl_status jl_sgemm_create(struct jl_pool *pool, const struct jl_sgemm_kind *kind, struct jl_sgemm **ret_sgemm,
			       struct jl_err *err);
void jl_sgemm_destroy(struct jl_sgemm *sgemm); /* NULL is fine */

/* On all threads of the pool. */
void jl_sgemm_run(struct jl_sgemm *sgemm, const struct jl_sgemm_op *op);

/* --- for cpu_sgemm*.c */

void jl_sgemm_pack_rows(float *panels, size_t stride, struct jl_sgemm_side side, size_t n_wide, size_t n_k);
void jl_sgemm_pack_cols(float *panels, size_t stride, struct jl_sgemm_side side, size_t n_wide, size_t n_k);
void jl_sgemm_tile(size_t k, const float *a, const float *b, float *c, size_t ldc, bool add, size_t n_cols);
