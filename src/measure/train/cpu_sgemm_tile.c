/* The innermost loop: computes one tile of C in registers over a block of k. arm64 uses assembly, because compilers do not keep 24 sums, two
 * steps of A and one of B in 32 registers. Sanitizer builds use the C loop, since sanitizers cannot check assembly. */
#include "train/cpu_sgemm.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif

#if defined(__aarch64__) && !defined(SANITIZED)

#pragma GCC diagnostic ignored "-Woverlength-strings" /* compilers other than gcc warn about long strings */

/* clang-format off */

/* Registers: v0, v1 and v5, v6 hold eight elements of A, alternately for this step and the next; v2, v3, v4 hold twelve of B; v8 .. v31 hold C,
 * three per row. A column of C takes eight multiplications with one vector of B. That vector is reloaded right after them, sixteen
 * multiplications before its next use, which hides the load latency. */
#define MUL(c, b, a, lane) "fmla v" #c ".4s, v" #b ".4s, v" #a ".s[" #lane "]\n\t"
#define COLUMN(c0, c1, c2, c3, c4, c5, c6, c7, b, lo, hi)                                                              \
	MUL(c0, b, lo, 0) MUL(c1, b, lo, 1) MUL(c2, b, lo, 2) MUL(c3, b, lo, 3)                                        \
	MUL(c4, b, hi, 0) MUL(c5, b, hi, 1) MUL(c6, b, hi, 2) MUL(c7, b, hi, 3)
#define COLUMN_0(lo, hi) COLUMN(8, 11, 14, 17, 20, 23, 26, 29, 2, lo, hi)
#define COLUMN_1(lo, hi) COLUMN(9, 12, 15, 18, 21, 24, 27, 30, 3, lo, hi)
#define COLUMN_2(lo, hi) COLUMN(10, 13, 16, 19, 22, 25, 28, 31, 4, lo, hi)
#define LOAD_A(lo, hi, at) "ldp q" #lo ", q" #hi ", [%[a], #" #at "]\n\t"
#define LOAD_B(b, at)      "ldr q" #b ", [%[b], #" #at "]\n\t"
#define AHEAD(at)          "prfm pldl1keep, [%[a], #" #at "]\n\t" /* prefetch: A comes from L2 */

/* One step of k for 12, 8 and 4 columns, with the loads for the next step. */
#define STEP_3(lo, hi, next_lo, next_hi, a_at, b0, b1, b2, ahead)                                                      \
	LOAD_A(next_lo, next_hi, a_at) COLUMN_0(lo, hi) LOAD_B(2, b0) ahead                                            \
	COLUMN_1(lo, hi) LOAD_B(3, b1) COLUMN_2(lo, hi) LOAD_B(4, b2)
#define STEP_2(lo, hi, next_lo, next_hi, a_at, b0, b1, b2, ahead)                                                      \
	LOAD_A(next_lo, next_hi, a_at) COLUMN_0(lo, hi) LOAD_B(2, b0) ahead COLUMN_1(lo, hi) LOAD_B(3, b1)
#define STEP_1(lo, hi, next_lo, next_hi, a_at, b0, b1, b2, ahead)                                                      \
	LOAD_A(next_lo, next_hi, a_at) COLUMN_0(lo, hi) LOAD_B(2, b0) ahead

/* Four steps. The last one loads for a fifth step; at the end of a panel that data is unused. */
#define LOOP(STEP)                                                                                                     \
	"1:\n\t"                                                                                                       \
	STEP(0, 1, 5, 6, 32, 48, 64, 80, AHEAD(512))                                                                   \
	STEP(5, 6, 0, 1, 64, 96, 112, 128, "")                                                                         \
	STEP(0, 1, 5, 6, 96, 144, 160, 176, AHEAD(576))                                                                \
	"add %[a], %[a], #128\n\t"                                                                                     \
	"subs %[k], %[k], #4\n\t"                                                                                      \
	STEP(5, 6, 0, 1, 0, 192, 208, 224, "")                                                                         \
	"add %[b], %[b], #192\n\t"                                                                                     \
	"b.ne 1b\n\t"

#define ZERO(v)        "movi v" #v ".4s, #0\n\t"
#define ZERO_8(a, b, c, d, e, f, g, h) ZERO(a) ZERO(b) ZERO(c) ZERO(d) ZERO(e) ZERO(f) ZERO(g) ZERO(h)
#define TOUCH_ROW      "prfm pldl1keep, [x9]\n\t" "add x9, x9, %[ldc_B]\n\t"
#define BEGIN                                                                                                          \
	LOAD_A(0, 1, 0) LOAD_B(2, 0) LOAD_B(3, 16) LOAD_B(4, 32)                                                       \
	"mov x9, %[c]\n\t"                                                                                             \
	TOUCH_ROW TOUCH_ROW TOUCH_ROW TOUCH_ROW TOUCH_ROW TOUCH_ROW TOUCH_ROW TOUCH_ROW                                \
	ZERO_8(8, 9, 10, 11, 12, 13, 14, 15) ZERO_8(16, 17, 18, 19, 20, 21, 22, 23)                                    \
	ZERO_8(24, 25, 26, 27, 28, 29, 30, 31)

#define NEXT_ROW       "add %[c], %[c], %[ldc_B]\n\t"
#define SUM(v, old)    "fadd v" #v ".4s, v" #v ".4s, v" #old ".4s\n\t"
#define OLD(v, at)     "ldr q" #v ", [%[c], #" #at "]\n\t"
#define NEW(v, at)     "str q" #v ", [%[c], #" #at "]\n\t"
#define PUT_3(x, y, z) NEW(x, 0) NEW(y, 16) NEW(z, 32) NEXT_ROW
#define PUT_2(x, y, z) NEW(x, 0) NEW(y, 16) NEXT_ROW
#define PUT_1(x, y, z) NEW(x, 0) NEXT_ROW
#define ADD_3(x, y, z) OLD(0, 0) OLD(1, 16) OLD(2, 32) SUM(x, 0) SUM(y, 1) SUM(z, 2) PUT_3(x, y, z)
#define ADD_2(x, y, z) OLD(0, 0) OLD(1, 16) SUM(x, 0) SUM(y, 1) PUT_2(x, y, z)
#define ADD_1(x, y, z) OLD(0, 0) SUM(x, 0) PUT_1(x, y, z)
#define ROWS(DO)                                                                                                       \
	DO(8, 9, 10) DO(11, 12, 13) DO(14, 15, 16) DO(17, 18, 19)                                                      \
	DO(20, 21, 22) DO(23, 24, 25) DO(26, 27, 28) DO(29, 30, 31)

#define TILE(STEP, ADD, PUT)                                                                                           \
	__asm__ volatile(BEGIN LOOP(STEP) "cbz %[add], 2f\n\t" ROWS(ADD) "b 3f\n\t" "2:\n\t" ROWS(PUT) "3:\n\t"        \
			 : [k] "+r"(k), [a] "+r"(a), [b] "+r"(b), [c] "+r"(c)                                          \
			 : [ldc_B] "r"(ldc * sizeof *c), [add] "r"((size_t)add)                                        \
			 : "cc", "memory", "x9", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v8", "v9", "v10", "v11",   \
			   "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24",  \
			   "v25", "v26", "v27", "v28", "v29", "v30", "v31")

/* clang-format on */

bool jl_sgemm_is_fast(void)
{
	return true;
}

/* `c` is written by assembly. NOLINTNEXTLINE(readability-non-const-parameter) */
void jl_sgemm_tile(size_t k, const float *a, const float *b, float *c, size_t ldc, bool add, size_t n_cols)
{
	if (n_cols == 12)
		TILE(STEP_3, ADD_3, PUT_3);
	else if (n_cols == 8)
		TILE(STEP_2, ADD_2, PUT_2);
	else
		TILE(STEP_1, ADD_1, PUT_1);
}

#else

bool jl_sgemm_is_fast(void)
{
	return false;
}

void jl_sgemm_tile(size_t k, const float *a, const float *b, float *c, size_t ldc, bool add, size_t n_cols)
{
	float sum[JL_TILE_ROWS][JL_TILE_COLS] = { 0 };
	for (size_t p = 0; p < k; p++)
		for (size_t i = 0; i < JL_TILE_ROWS; i++)
			for (size_t j = 0; j < JL_TILE_COLS; j++)
				sum[i][j] += a[p * JL_TILE_ROWS + i] * b[p * JL_TILE_COLS + j];
	for (size_t i = 0; i < JL_TILE_ROWS; i++)
		for (size_t j = 0; j < n_cols; j++)
			c[i * ldc + j] = add ? c[i * ldc + j] + sum[i][j] : sum[i][j];
}

#endif
