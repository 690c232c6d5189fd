/* Our own matrix product, row-major: fp32, or operands rounded to bfloat16 while they are packed, with fp32 sums. Both operands are packed into
 * panels that the innermost loop reads in order. Each element is summed over k in the same order for any number of threads, so results are
 * deterministic. */
#pragma once

#include "bench/cpu_libs.h"

/* A tile of C stays in registers: 8 × 12 floats take 24 of the 32 vector registers of arm64; its 24 multiplications need 5 loads. */
#define JL_TILE_ROWS 8
#define JL_TILE_COLS 12
#define JL_TILE_K    4 /* k steps per iteration of the innermost loop */

struct jl_sgemm; /* holds the packed panels of a pool's threads */

/* An operand to be packed. `n_wide` counts along the panels' width (rows of A, columns of B). */
struct jl_sgemm_side {
	const float *at;
	size_t ld;
	bool wide_first; /* true: contiguous in memory along the width; false: along k */
};

/* An innermost loop and its panel format. */
struct jl_sgemm_kind {
	size_t rows, cols, k;              /* tile size, and k steps per iteration of the loop */
	size_t per_float;                  /* elements that fit into one float */
	size_t k_least;                    /* smallest block of k: smaller ones write C too often */
	size_t tasks_each;                 /* tasks (blocks of rows) per thread: more than one balances the load */
	size_t step_cols;                  /* n_cols of `tile` is a multiple of this */
	void (*begin)(void), (*end)(void); /* called before and after the tiles of a task; may be NULL */
	/* Panels start `stride` floats apart; each has width × k_pad elements. Elements beyond n_wide and n_k are 0. */
	void (*pack_rows)(float *panels, size_t stride, struct jl_sgemm_side side, size_t n_wide, size_t n_k);
	void (*pack_cols)(float *panels, size_t stride, struct jl_sgemm_side side, size_t n_wide, size_t n_k);
	/* C tile (+)= panel of A · panel of B, for the first n_cols columns of the tile. k must be a multiple of member `k`, n_cols of
	 * `step_cols`. */
	void (*tile)(size_t k, const float *a, const float *b, float *c, size_t ldc, bool add, size_t n_cols);
};
extern const struct jl_sgemm_kind jl_sgemm_single;
/* NULL: the processor has no supported bfloat16 instructions. `tiles` allows AMX; false: AVX-512 even on a processor with AMX. */
const struct jl_sgemm_kind *jl_sgemm_bf16(bool tiles);
#define JL_SGEMM_TILE_MOST (32 * 32)

/* True if a fast single-precision loop exists for this processor. The portable loop gives correct results slowly. */
bool jl_sgemm_is_fast(void);

enum jl_status jl_sgemm_create(struct jl_pool *pool, const struct jl_sgemm_kind *kind, struct jl_sgemm **ret_sgemm,
			       struct jl_err *err);
void jl_sgemm_destroy(struct jl_sgemm *sgemm); /* NULL is fine */

/* Computes op on all threads of the pool. */
void jl_sgemm_run(struct jl_sgemm *sgemm, const struct jl_sgemm_op *op);

/* --- for cpu_sgemm*.c */

void jl_sgemm_pack_rows(float *panels, size_t stride, struct jl_sgemm_side side, size_t n_wide, size_t n_k);
void jl_sgemm_pack_cols(float *panels, size_t stride, struct jl_sgemm_side side, size_t n_wide, size_t n_k);
void jl_sgemm_tile(size_t k, const float *a, const float *b, float *c, size_t ldc, bool add, size_t n_cols);
