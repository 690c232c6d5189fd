/* Packs operands into panels. Reads whole cache lines: rows whose pitch is a power of two map to the same cache set, so that a half-read line
 * could be evicted before the other half is read. */
#include <string.h>

#include "train/cpu_sgemm.h"
#include "train/cpu_vec.h"

#define LINE_N  16 /* floats per cache line */
#define AHEAD_N 8  /* prefetch distance in rows; hardware prefetchers do not follow such strides */

typedef float vec4 __attribute__((vector_size(16)));

VEC_INLINE vec4 load4(const float *from)
{
	vec4 v;
	memcpy(&v, from, sizeof v);
	return v;
}

VEC_INLINE void store4(float *to, vec4 v)
{
	memcpy(to, &v, sizeof v);
}

/* transposes 4 × 4 */
VEC_INLINE void turn4(float *to, size_t to_ld, const float *from, size_t ld)
{
	vec4 r0 = load4(from), r1 = load4(from + ld), r2 = load4(from + 2 * ld), r3 = load4(from + 3 * ld);
	vec4 a = __builtin_shufflevector(r0, r2, 0, 4, 1, 5), b = __builtin_shufflevector(r0, r2, 2, 6, 3, 7);
	vec4 c = __builtin_shufflevector(r1, r3, 0, 4, 1, 5), d = __builtin_shufflevector(r1, r3, 2, 6, 3, 7);
	store4(to, __builtin_shufflevector(a, c, 0, 4, 1, 5));
	store4(to + to_ld, __builtin_shufflevector(a, c, 2, 6, 3, 7));
	store4(to + 2 * to_ld, __builtin_shufflevector(b, d, 0, 4, 1, 5));
	store4(to + 3 * to_ld, __builtin_shufflevector(b, d, 2, 6, 3, 7));
}

/* Packs elements [from_k, k_pad) of one panel one by one: the remainder at the edges. */
static void pack_rest(float *panel, size_t width, struct jl_sgemm_side side, size_t n_wide, size_t from_k, size_t n_k)
{
	size_t k_pad = (n_k + JL_TILE_K - 1) / JL_TILE_K * JL_TILE_K;
	for (size_t p = from_k; p < k_pad; p++)
		for (size_t i = 0; i < width; i++) {
			const float *at = side.at + (side.wide_first ? p * side.ld + i : i * side.ld + p);
			panel[p * width + i] = i < n_wide && p < n_k ? *at : 0.0f;
		}
}

/* packs one panel from memory contiguous along k: one cache line of each row at a time */
VEC_INLINE void pack_turned(float *panel, size_t width, struct jl_sgemm_side side, size_t n_k)
{
	size_t p = 0;
	for (; p + LINE_N <= n_k; p += LINE_N)
		for (size_t i = 0; i < width; i += 4) {
			const float *from = side.at + i * side.ld + p;
			for (size_t r = 0; r < 4; r++)
				__builtin_prefetch(from + r * side.ld + (size_t)4 * LINE_N);
			for (size_t q = 0; q < LINE_N; q += 4)
				turn4(panel + (p + q) * width + i, width, from + q, side.ld);
		}
	pack_rest(panel, width, side, width, p, n_k);
}

/* packs n_panels full panels from memory contiguous along the width, one k after another */
VEC_INLINE void pack_copied(float *panels, size_t stride, size_t width, size_t n_panels, struct jl_sgemm_side side,
			    size_t n_k)
{
	for (size_t p = 0; p < n_k; p++) {
		const float *from = side.at + p * side.ld;
		for (size_t i = 0; i < width * n_panels; i += LINE_N)
			__builtin_prefetch(from + AHEAD_N * side.ld + i);
		for (size_t panel = 0; panel < n_panels; panel++)
			for (size_t i = 0; i < width; i += 4)
				store4(panels + panel * stride + p * width + i, load4(from + panel * width + i));
	}
	for (size_t panel = 0; panel < n_panels && n_k % JL_TILE_K; panel++) {
		struct jl_sgemm_side one = side;
		one.at += panel * width;
		pack_rest(panels + panel * stride, width, one, width, n_k, n_k);
	}
}

VEC_INLINE void pack(float *panels, size_t stride, size_t width, size_t n_at_once, struct jl_sgemm_side side,
		     size_t n_wide, size_t n_k)
{
	while (n_wide > 0) {
		size_t n_panels = 1;
		if (n_wide < width) {
			pack_rest(panels, width, side, n_wide, 0, n_k);
			return;
		}
		if (!side.wide_first) {
			pack_turned(panels, width, side, n_k);
		} else if (n_wide >= n_at_once * width) {
			n_panels = n_at_once;
			pack_copied(panels, stride, width, n_at_once, side, n_k);
		} else {
			pack_copied(panels, stride, width, 1, side, n_k);
		}
		panels += n_panels * stride;
		n_wide -= n_panels * width;
		side.at += n_panels * width * (side.wide_first ? 1 : side.ld);
	}
}

/* 8 panels at once are a whole number of cache lines */
void jl_sgemm_pack_rows(float *panels, size_t stride, struct jl_sgemm_side side, size_t n_wide, size_t n_k)
{
	pack(panels, stride, JL_TILE_ROWS, 8, side, n_wide, n_k);
}

void jl_sgemm_pack_cols(float *panels, size_t stride, struct jl_sgemm_side side, size_t n_wide, size_t n_k)
{
	pack(panels, stride, JL_TILE_COLS, 4, side, n_wide, n_k);
}
