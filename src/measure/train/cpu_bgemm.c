/* bfloat16 panels and innermost loops on x86-64: AMX where the processor has it, otherwise AVX-512 BF16 dot products. Both read the same layout:
 * panels 32 wide, in blocks of 32 steps of k. A block has two parts of 16 × 16 pairs (k, k + 1). Parts of A store a row's pairs contiguously;
 * parts of B store k outermost, as the tile instructions require. */
#include "train/cpu_sgemm.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WIDE   32
#define STEP_K 32
#define PART   16                    /* width of a part, and its pairs of k */
#define PART_N ((size_t)PART * PART) /* pairs in a part; one pair fills one float */
#define AHEAD  (4 * STEP_K)          /* prefetch distance in floats */
#define VECTOR __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")))
#define TILES  __attribute__((target("amx-tile,amx-bf16,avx512f")))

/* Loads 16 lines that are contiguous in k and converts them to bfloat16 pairs. */
VECTOR static inline void pairs_along_k(__m512i to[PART], const float *from, size_t ld)
{
	for (size_t i = 0; i < PART; i++, from += ld) {
		_mm_prefetch((const char *)(from + AHEAD), _MM_HINT_T0);
		_mm_prefetch((const char *)(from + AHEAD + PART), _MM_HINT_T0);
		to[i] = (__m512i)_mm512_cvtne2ps_pbh(_mm512_loadu_ps(from + PART), _mm512_loadu_ps(from));
	}
}

/* Loads 32 steps of k that are contiguous along the width and interleaves them to bfloat16 pairs. */
VECTOR static inline void pairs_along_width(__m512i to[PART], const float *from, size_t ld)
{
	/* 16 values of k and 16 of k + 1 → alternating k, k + 1 */
	const __m512i weave = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22,
					       6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);

	for (size_t p = 0; p < PART; p++, from += 2 * ld)
		to[p] = _mm512_permutexvar_epi16(
			weave, (__m512i)_mm512_cvtne2ps_pbh(_mm512_loadu_ps(from + ld), _mm512_loadu_ps(from)));
}

/* Transposes the 16 × 16 pairs in four steps: by 1, 2, 4 and 8. */
VECTOR static inline void turn(__m512i v[PART])
{
	__m512i t[PART];

	for (size_t i = 0; i < PART; i += 2) {
		t[i] = _mm512_unpacklo_epi32(v[i], v[i + 1]);
		t[i + 1] = _mm512_unpackhi_epi32(v[i], v[i + 1]);
	}
	for (size_t i = 0; i < PART; i += 4)
		for (size_t j = 0; j < 2; j++) {
			v[i + 2 * j] = _mm512_unpacklo_epi64(t[i + j], t[i + j + 2]);
			v[i + 2 * j + 1] = _mm512_unpackhi_epi64(t[i + j], t[i + j + 2]);
		}
	for (size_t i = 0; i < PART; i += 8)
		for (size_t j = 0; j < 4; j++) {
			t[i + j] = _mm512_shuffle_i32x4(v[i + j], v[i + j + 4], 0x88);
			t[i + j + 4] = _mm512_shuffle_i32x4(v[i + j], v[i + j + 4], 0xdd);
		}
	for (size_t j = 0; j < 8; j++) {
		v[j] = _mm512_shuffle_i32x4(t[j], t[j + 8], 0x88);
		v[j + 8] = _mm512_shuffle_i32x4(t[j], t[j + 8], 0xdd);
	}
}

/* Packs one panel; pads beyond n_wide and n_k with 0. */
VECTOR static void pack_part(float *to, struct jl_sgemm_side side, size_t n_wide, size_t n_k, bool k_inside)
{
	float whole[2 * PART_N];
	__m512i v[PART];

	if (n_wide < PART || n_k < STEP_K) {
		const size_t n_lines = side.wide_first ? n_k : n_wide, len = side.wide_first ? n_wide : n_k,
			     ld = side.wide_first ? PART : STEP_K;

		memset(whole, 0, sizeof(whole));
		for (size_t i = 0; i < n_lines; i++)
			memcpy(whole + i * ld, side.at + i * side.ld, len * sizeof(*whole));
		side.at = whole;
		side.ld = ld;
	}
	if (side.wide_first)
		pairs_along_width(v, side.at, side.ld);
	else
		pairs_along_k(v, side.at, side.ld);
	if (side.wide_first == k_inside)
		turn(v);
	for (size_t i = 0; i < PART; i++)
		_mm512_storeu_si512(to + i * PART, v[i]);
}

static void pack(float *panels, size_t stride, struct jl_sgemm_side side, size_t n_wide, size_t n_k, bool k_inside)
{
	for (size_t at = 0; at < n_wide; at += WIDE, panels += stride)
		for (size_t k = 0; k < n_k; k += STEP_K)
			for (size_t half = 0; half < WIDE; half += PART) {
				struct jl_sgemm_side part = side;
				const size_t wide = at + half, left = wide < n_wide ? n_wide - wide : 0,
					     left_k = n_k - k;

				part.at = left ? side.at + (side.wide_first ? k * side.ld + wide : wide * side.ld + k)
					       : side.at;
				pack_part(panels + (k / STEP_K * 2 + half / PART) * PART_N, part,
					  left < PART ? left : PART, left_k < STEP_K ? left_k : STEP_K, k_inside);
			}
}

static void pack_rows(float *panels, size_t stride, struct jl_sgemm_side side, size_t n_wide, size_t n_k)
{
	pack(panels, stride, side, n_wide, n_k, true);
}

static void pack_cols(float *panels, size_t stride, struct jl_sgemm_side side, size_t n_wide, size_t n_k)
{
	pack(panels, stride, side, n_wide, n_k, false);
}

/* Configures all tiles as 16 lines of 64 bytes. Each task does this, since other code on the thread may configure other shapes. */
TILES static void say_tiles(void)
{
	struct {
		uint8_t palette, start, reserved[14];
		uint16_t line_B[16];
		uint8_t lines[16];
	} shape = { .palette = 1 };

	for (int i = 0; i < 8; i++) {
		shape.line_B[i] = 64;
		shape.lines[i] = PART;
	}
	_tile_loadconfig(&shape);
}

TILES static void leave_tiles(void)
{
	_tile_release();
}

TILES static void tile_amx(size_t k, const float *a, const float *b, float *c, size_t ldc, bool add, size_t n_cols)
{
	const size_t line_B = ldc * sizeof(*c);
	float *low = c + PART * ldc;

	(void)n_cols; /* always a full tile */
	if (add) {
		_tile_loadd(0, c, line_B);
		_tile_loadd(1, c + PART, line_B);
		_tile_loadd(2, low, line_B);
		_tile_loadd(3, low + PART, line_B);
	} else {
		_tile_zero(0);
		_tile_zero(1);
		_tile_zero(2);
		_tile_zero(3);
	}
	for (size_t p = 0; p < k; p += STEP_K, a += 2 * PART_N, b += 2 * PART_N) {
		_tile_loadd(4, a, 64);
		_tile_loadd(6, b, 64);
		_tile_loadd(7, b + PART_N, 64);
		_tile_dpbf16ps(0, 4, 6);
		_tile_loadd(5, a + PART_N, 64);
		_tile_dpbf16ps(1, 4, 7);
		_tile_dpbf16ps(2, 5, 6);
		_tile_dpbf16ps(3, 5, 7);
	}
	_tile_stored(0, c, line_B);
	_tile_stored(1, c + PART, line_B);
	_tile_stored(2, low, line_B);
	_tile_stored(3, low + PART, line_B);
}

/* Eight rows at a time, so that the sums fill 16 registers. */
VECTOR static void tile_avx512(size_t k, const float *a, const float *b, float *c, size_t ldc, bool add, size_t n_cols)
{
	(void)n_cols;
	for (size_t row = 0; row < WIDE; row += 8) {
		const float *rows = a + row / PART * PART_N + row % PART * PART;
		__m512 sum[8][2];

		for (size_t i = 0; i < 8; i++)
			for (size_t h = 0; h < 2; h++)
				sum[i][h] = add ? _mm512_loadu_ps(c + (row + i) * ldc + h * PART) : _mm512_setzero_ps();
		for (size_t p = 0; p < k / 2; p++) {
			const float *at = b + p / PART * 2 * PART_N + p % PART * PART,
				    *pair = rows + p / PART * 2 * PART_N + p % PART;
			const __m512bh b0 = (__m512bh)_mm512_loadu_ps(at), b1 = (__m512bh)_mm512_loadu_ps(at + PART_N);

			for (size_t i = 0; i < 8; i++) {
				const __m512bh x = (__m512bh)_mm512_set1_ps(pair[i * PART]);

				sum[i][0] = _mm512_dpbf16_ps(sum[i][0], x, b0);
				sum[i][1] = _mm512_dpbf16_ps(sum[i][1], x, b1);
			}
		}
		for (size_t i = 0; i < 8; i++)
			for (size_t h = 0; h < 2; h++)
				_mm512_storeu_ps(c + (row + i) * ldc + h * PART, sum[i][h]);
	}
}

#define KIND(TILE)                                                                                                     \
	.rows = WIDE, .cols = WIDE, .k = STEP_K, .per_float = 2, .k_least = 1024, .tasks_each = 2, .step_cols = WIDE,  \
	.pack_rows = pack_rows, .pack_cols = pack_cols, .tile = TILE

const struct jl_sgemm_kind *jl_sgemm_bf16(bool tiles)
{
	static const struct jl_sgemm_kind amx = { KIND(tile_amx), .begin = say_tiles, .end = leave_tiles },
					  avx512 = { KIND(tile_avx512) };
	enum { ASK_FOR_STATE = 0x1023, TILE_DATA = 18 };
	const unsigned tile_bits = 1u << 24 | 1u << 22; /* AMX-TILE, AMX-BF16 */
	unsigned eax, ebx, ecx, edx;

	if (!__builtin_cpu_supports("avx512bf16") || !__builtin_cpu_supports("avx512bw"))
		return NULL;
	/* the kernel saves a process's tile registers only after this request */
	if (tiles && __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (edx & tile_bits) == tile_bits &&
	    syscall(SYS_arch_prctl, ASK_FOR_STATE, TILE_DATA) == 0)
		return &amx;
	return &avx512;
}
#endif
