/* cpu_bgemm.c for arm64: bfloat16 products with BFMMLA, which multiplies 2x4 by 4x2. Panels are 8 rows wide, in blocks of four steps of k. The
 * four values of a row are contiguous, so that two adjacent rows form one operand. */
#include "train/cpu_sgemm.h"

/* clang declares the intrinsics only if the whole file is compiled for bfloat16. */
#if defined(__aarch64__) && (!defined(__clang__) || defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC))
#include <arm_neon.h>
#include <string.h>
#include <sys/auxv.h>

#define WIDE     8
#define STEP_K   4
#define BLOCK_N  ((size_t)WIDE * STEP_K / 2) /* floats in four steps of a panel */
#define HAS_BF16 (1UL << 14)                 /* bit in HWCAP2 */
#define VECTOR   __attribute__((target("arch=armv8.2-a+bf16")))

/* Transposes 4 × 4: input lines are contiguous along the width, output lines along k. */
VECTOR static inline void turn(float32x4_t v[4])
{
	const float32x4x2_t even = vtrnq_f32(v[0], v[1]), odd = vtrnq_f32(v[2], v[3]);

	v[0] = vcombine_f32(vget_low_f32(even.val[0]), vget_low_f32(odd.val[0]));
	v[1] = vcombine_f32(vget_low_f32(even.val[1]), vget_low_f32(odd.val[1]));
	v[2] = vcombine_f32(vget_high_f32(even.val[0]), vget_high_f32(odd.val[0]));
	v[3] = vcombine_f32(vget_high_f32(even.val[1]), vget_high_f32(odd.val[1]));
}

VECTOR static void pack_block(float *to, struct jl_sgemm_side side)
{
	bfloat16_t *out = (bfloat16_t *)(void *)to;
	float32x4_t v[4];

	for (size_t half = 0; half < WIDE; half += 4) {
		const float *from = side.at + (side.wide_first ? half : half * side.ld);

		for (size_t i = 0; i < 4; i++)
			v[i] = vld1q_f32(from + i * side.ld);
		if (side.wide_first)
			turn(v);
		for (size_t i = 0; i < 4; i++)
			vst1_bf16(out + (half + i) * STEP_K, vcvt_bf16_f32(v[i]));
	}
}

/* Pads with 0 beyond the edge. */
static void pack_edge(float *to, struct jl_sgemm_side side, size_t n_wide, size_t n_k)
{
	float whole[WIDE * STEP_K] = { 0 };
	const size_t n_lines = side.wide_first ? n_k : n_wide, len = side.wide_first ? n_wide : n_k,
		     ld = side.wide_first ? WIDE : STEP_K;

	for (size_t i = 0; i < n_lines; i++)
		memcpy(whole + i * ld, side.at + i * side.ld, len * sizeof(*whole));
	side.at = whole;
	side.ld = ld;
	pack_block(to, side);
}

static void pack(float *panels, size_t stride, struct jl_sgemm_side side, size_t n_wide, size_t n_k)
{
	const size_t n_steps = (n_k + 2 * STEP_K - 1) / (2 * STEP_K) * 2; /* even */

	for (size_t at = 0; at < n_wide; at += WIDE, panels += stride) {
		const size_t wide = n_wide - at < WIDE ? n_wide - at : WIDE;

		for (size_t step = 0; step < n_steps; step++) {
			const size_t k = step * STEP_K, left = k < n_k ? n_k - k : 0;
			struct jl_sgemm_side block = side;

			block.at = side.at + (!left ? 0 : side.wide_first ? k * side.ld + at : at * side.ld + k);
			if (wide == WIDE && left >= STEP_K)
				pack_block(panels + step * BLOCK_N, block);
			else
				pack_edge(panels + step * BLOCK_N, block, wide, left < STEP_K ? left : STEP_K);
		}
	}
}

VECTOR static inline void multiply(float32x4_t sum[4][4], const bfloat16_t *a, const bfloat16_t *b)
{
	bfloat16x8_t rows[4];

	for (size_t i = 0; i < 4; i++)
		rows[i] = vld1q_bf16(a + i * 8);
	for (size_t j = 0; j < 4; j++) {
		const bfloat16x8_t cols = vld1q_bf16(b + j * 8);

		for (size_t i = 0; i < 4; i++)
			sum[i][j] = vbfmmlaq_f32(sum[i][j], rows[i], cols);
	}
}

VECTOR static void tile(size_t k, const float *a, const float *b, float *c, size_t ldc, bool add, size_t n_cols)
{
	float32x4_t sum[4][4];

	(void)n_cols; /* always a full tile */
	for (size_t i = 0; i < 16; i++)
		sum[i / 4][i % 4] = vdupq_n_f32(0);
	for (size_t p = 0; p < k; p += 2 * STEP_K, a += 2 * BLOCK_N, b += 2 * BLOCK_N) {
		multiply(sum, (const bfloat16_t *)(const void *)a, (const bfloat16_t *)(const void *)b);
		multiply(sum, (const bfloat16_t *)(const void *)(a + BLOCK_N),
			 (const bfloat16_t *)(const void *)(b + BLOCK_N));
	}
	for (size_t i = 0; i < 4; i++, c += 2 * ldc)
		for (size_t j = 0; j < 4; j += 2) {
			float32x4_t first = vcombine_f32(vget_low_f32(sum[i][j]), vget_low_f32(sum[i][j + 1])),
				    second = vcombine_f32(vget_high_f32(sum[i][j]), vget_high_f32(sum[i][j + 1]));
			float *at = c + 2 * j;

			vst1q_f32(at, add ? vaddq_f32(vld1q_f32(at), first) : first);
			vst1q_f32(at + ldc, add ? vaddq_f32(vld1q_f32(at + ldc), second) : second);
		}
}

const struct jl_sgemm_kind *jl_sgemm_bf16(bool tiles)
{
	static const struct jl_sgemm_kind kind = { .rows = WIDE,
						   .cols = WIDE,
						   .k = 2 * STEP_K,
						   .per_float = 2,
						   .k_least = 512,
						   .tasks_each = 4,
						   .step_cols = WIDE,
						   .pack_rows = pack,
						   .pack_cols = pack,
						   .tile = tile };

	(void)tiles;
	return getauxval(AT_HWCAP2) & HAS_BF16 ? &kind : NULL;
}
#elif !defined(__x86_64__)
const struct jl_sgemm_kind *jl_sgemm_bf16(bool tiles)
{
	(void)tiles;
	return NULL;
}
#endif
