/* Element-wise reductions and 16-bit float conversions. */
#include "comm/reduce.h"

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define BLOCK_B 8192 /* two of these fit into any L1 cache */
#define BLOCK_N (BLOCK_B / 2)

static uint32_t float_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static float bits_float(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

float jl_bf16_to_float(unsigned short bits)
{
	return bits_float((uint32_t)bits << 16);
}

unsigned short jl_float_to_bf16(float value)
{
	uint32_t bits = float_bits(value);

	if ((bits & 0x7fffffffu) > 0x7f800000u) /* keep NaN a NaN */
		return (unsigned short)((bits >> 16) | 0x40u);
	return (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

#if defined(__aarch64__)
__extension__ typedef _Float16 half_float;

float jl_half_to_float(unsigned short bits)
{
	half_float h;

	memcpy(&h, &bits, sizeof(h));
	return (float)h;
}

unsigned short jl_float_to_half(float value)
{
	half_float h = (half_float)value;
	unsigned short bits;

	memcpy(&bits, &h, sizeof(bits));
	return bits;
}
#else
float jl_half_to_float(unsigned short bits)
{
	uint32_t sign = (uint32_t)(bits & 0x8000u) << 16, rest = bits & 0x7fffu;

	if (rest >= 0x7c00u) /* infinity, NaN */
		return bits_float(sign | 0x7f800000u | ((rest & 0x3ffu) << 13));
	if (rest < 0x400u) { /* zero and subnormal: rest · 2^-24 */
		float value = (float)rest * 0x1p-24f;

		return sign ? -value : value;
	}
	return bits_float(sign | ((rest << 13) + (112u << 23)));
}

unsigned short jl_float_to_half(float value)
{
	uint32_t bits = float_bits(value), sign = (bits >> 16) & 0x8000u, rest = bits & 0x7fffffffu;

	if (rest > 0x7f800000u)
		return (unsigned short)(sign | 0x7e00u | ((rest >> 13) & 0x3ffu));
	if (rest >= 0x477ff000u) /* rounds to infinity */
		return (unsigned short)(sign | 0x7c00u);
	if (rest < 0x38800000u) { /* subnormal: adding 1/2 aligns the mantissa with half's units; the adder rounds */
		float shifted = bits_float(rest) + 0.5f;

		return (unsigned short)(sign | (float_bits(shifted) - 0x3f000000u));
	}
	rest += 0xfffu + ((rest >> 13) & 1u);
	return (unsigned short)(sign | ((rest - (112u << 23)) >> 13));
}
#endif

/* --- one block: writes `out` (n elements) from the sources, from element `at` on */

#define DO_SUM(a, b)  ((a) + (b))
#define DO_PROD(a, b) ((a) * (b))
#define DO_MIN(a, b)  ((b) < (a) ? (b) : (a))
#define DO_MAX(a, b)  ((b) > (a) ? (b) : (a))

/* Folds two sources in one pass, then adds further ones. The restrict pointers are valid because no other code accesses `out`. */
#define FOLD(out, type, srcs, n_srcs, at, n, DO)                                                                       \
	do {                                                                                                           \
		type *restrict o_ = (out);                                                                             \
		const type *restrict a_ = (const type *)(srcs)[0] + (at);                                              \
		if ((n_srcs) == 1)                                                                                     \
			memcpy(o_, a_, (n) * sizeof(*o_));                                                             \
		for (int s_ = 1; s_ < (n_srcs); s_++) {                                                                \
			const type *restrict b_ = (const type *)(srcs)[s_] + (at);                                     \
			if (s_ == 1)                                                                                   \
				for (size_t i_ = 0; i_ < (n); i_++)                                                    \
					o_[i_] = (type)DO(a_[i_], b_[i_]);                                             \
			else                                                                                           \
				for (size_t i_ = 0; i_ < (n); i_++)                                                    \
					o_[i_] = (type)DO(o_[i_], b_[i_]);                                             \
		}                                                                                                      \
	} while (0)

/* Signed sums and products wrap like unsigned ones. C promotes small types to int, which is still exact modulo 2^bits. */
#define BLOCK_OF(name, type, wrap)                                                                                     \
	static void block_##name(void *out, const struct jl_reduce *r, size_t at, size_t n)                            \
	{                                                                                                              \
		switch (r->op) {                                                                                       \
		case JL_RED_SUM: FOLD(out, wrap, r->srcs, r->n_srcs, at, n, DO_SUM); break;                            \
		case JL_RED_PROD: FOLD(out, wrap, r->srcs, r->n_srcs, at, n, DO_PROD); break;                          \
		case JL_RED_MIN: FOLD(out, type, r->srcs, r->n_srcs, at, n, DO_MIN); break;                            \
		case JL_RED_MAX: FOLD(out, type, r->srcs, r->n_srcs, at, n, DO_MAX); break;                            \
		case JL_RED_AVG: average_##name(out, r, at, n); break;                                                 \
		case JL_N_REDOP: break;                                                                                \
		}                                                                                                      \
	}

/* Averages integers: sums in 64 bits, wrapping there, then divides. */
#define INTEGER_AVERAGE(name, type, wide, wide_wrap)                                                                   \
	static void average_##name(void *out, const struct jl_reduce *r, size_t at, size_t n)                          \
	{                                                                                                              \
		type *o = out;                                                                                         \
		for (size_t i = 0; i < n; i++) {                                                                       \
			wide_wrap sum = 0;                                                                             \
			for (int s = 0; s < r->n_srcs; s++)                                                            \
				sum += (wide_wrap)(wide)((const type *)r->srcs[s])[at + i];                            \
			o[i] = (type)((wide)sum / (wide)r->n_srcs);                                                    \
		}                                                                                                      \
	}

#define FLOAT_AVERAGE(name, type)                                                                                      \
	static void average_##name(void *out, const struct jl_reduce *r, size_t at, size_t n)                          \
	{                                                                                                              \
		type *o = out;                                                                                         \
		FOLD(out, type, r->srcs, r->n_srcs, at, n, DO_SUM);                                                    \
		for (size_t i = 0; i < n; i++)                                                                         \
			o[i] /= (type)r->n_srcs;                                                                       \
	}

INTEGER_AVERAGE(int8, int8_t, int64_t, uint64_t)
INTEGER_AVERAGE(uint8, uint8_t, uint64_t, uint64_t)
INTEGER_AVERAGE(int32, int32_t, int64_t, uint64_t)
INTEGER_AVERAGE(uint32, uint32_t, uint64_t, uint64_t)
INTEGER_AVERAGE(int64, int64_t, int64_t, uint64_t)
INTEGER_AVERAGE(uint64, uint64_t, uint64_t, uint64_t)
FLOAT_AVERAGE(float, float)
FLOAT_AVERAGE(double, double)
BLOCK_OF(int8, int8_t, uint8_t)
BLOCK_OF(uint8, uint8_t, uint8_t)
BLOCK_OF(int32, int32_t, uint32_t)
BLOCK_OF(uint32, uint32_t, uint32_t)
BLOCK_OF(int64, int64_t, uint64_t)
BLOCK_OF(uint64, uint64_t, uint64_t)
BLOCK_OF(float, float, float)
BLOCK_OF(double, double, double)

static float combine(enum jl_redop op, float a, float b)
{
	switch (op) {
	case JL_RED_PROD: return a * b;
	case JL_RED_MIN: return DO_MIN(a, b);
	case JL_RED_MAX: return DO_MAX(a, b);
	case JL_RED_SUM:
	case JL_RED_AVG:
	case JL_N_REDOP: break;
	}
	return a + b;
}

#define BLOCK_OF_16(name, to_float, from_float)                                                                        \
	static void block_##name(void *out, const struct jl_reduce *r, size_t at, size_t n)                            \
	{                                                                                                              \
		float acc[BLOCK_N];                                                                                    \
		uint16_t *o = out;                                                                                     \
		const uint16_t *first = (const uint16_t *)r->srcs[0] + at;                                             \
		const float scale = r->op == JL_RED_AVG ? (float)r->n_srcs : 1;                                        \
		for (size_t i = 0; i < n; i++)                                                                         \
			acc[i] = to_float(first[i]);                                                                   \
		for (int s = 1; s < r->n_srcs; s++) {                                                                  \
			const uint16_t *x = (const uint16_t *)r->srcs[s] + at;                                         \
			if (r->op == JL_RED_SUM || r->op == JL_RED_AVG)                                                \
				for (size_t i = 0; i < n; i++)                                                         \
					acc[i] += to_float(x[i]);                                                      \
			else                                                                                           \
				for (size_t i = 0; i < n; i++)                                                         \
					acc[i] = combine(r->op, acc[i], to_float(x[i]));                               \
		}                                                                                                      \
		for (size_t i = 0; i < n; i++)                                                                         \
			o[i] = from_float(acc[i] / scale);                                                             \
	}

BLOCK_OF_16(half, jl_half_to_float, jl_float_to_half)
BLOCK_OF_16(bf16, jl_bf16_to_float, jl_float_to_bf16)

static void (*const blocks[JL_N_COMM_TYPE])(void *out, const struct jl_reduce *r, size_t at, size_t n) = {
	[JL_COMM_INT8] = block_int8,     [JL_COMM_UINT8] = block_uint8, [JL_COMM_INT32] = block_int32,
	[JL_COMM_UINT32] = block_uint32, [JL_COMM_INT64] = block_int64, [JL_COMM_UINT64] = block_uint64,
	[JL_COMM_HALF] = block_half,     [JL_COMM_FLOAT] = block_float, [JL_COMM_DOUBLE] = block_double,
	[JL_COMM_BF16] = block_bf16,
};

/* Streaming stores on x86-64 avoid reading the destination's cache lines; arm64 cores detect such streams themselves. */
void jl_copy_stream(void *dst, const void *src, size_t size_B, bool stream)
{
#if defined(__SSE2__)
	if (stream && ((uintptr_t)dst & 15u) == 0) {
		__m128i *to = dst;
		const __m128i *from = src;
		size_t n = size_B / 16;

		for (size_t i = 0; i < n; i++)
			_mm_stream_si128(to + i, _mm_loadu_si128(from + i));
		memcpy((char *)dst + n * 16, (const char *)src + n * 16, size_B - n * 16);
		_mm_sfence();
		return;
	}
#endif
	(void)stream;
	memcpy(dst, src, size_B);
}

void jl_reduce(const struct jl_reduce *r)
{
	_Alignas(64) unsigned char block[BLOCK_B];
	const size_t size_B = jl_comm_type_B(r->type), step = BLOCK_B / (size_B < 2 ? 2 : size_B);

	for (size_t at = 0; at < r->count; at += step) {
		const size_t n = r->count - at < step ? r->count - at : step;

		blocks[r->type](block, r, at, n);
		for (int d = 0; d < r->n_dsts; d++)
			jl_copy_stream((char *)r->dsts[d] + at * size_B, block, n * size_B, r->stream);
	}
}

#define DIVIDE(type)                                                                                                   \
	do {                                                                                                           \
		type *x_ = data;                                                                                       \
		for (size_t i_ = 0; i_ < count; i_++)                                                                  \
			x_[i_] = (type)(x_[i_] / (type)n);                                                             \
	} while (0)

void jl_reduce_divide(enum jl_comm_type type, void *data, size_t count, int n)
{
	uint16_t *bits = data;

	switch (type) {
	case JL_COMM_INT8: DIVIDE(int8_t); break;
	case JL_COMM_UINT8: DIVIDE(uint8_t); break;
	case JL_COMM_INT32: DIVIDE(int32_t); break;
	case JL_COMM_UINT32: DIVIDE(uint32_t); break;
	case JL_COMM_INT64: DIVIDE(int64_t); break;
	case JL_COMM_UINT64: DIVIDE(uint64_t); break;
	case JL_COMM_FLOAT: DIVIDE(float); break;
	case JL_COMM_DOUBLE: DIVIDE(double); break;
	case JL_COMM_HALF:
		for (size_t i = 0; i < count; i++)
			bits[i] = jl_float_to_half(jl_half_to_float(bits[i]) / (float)n);
		break;
	case JL_COMM_BF16:
		for (size_t i = 0; i < count; i++)
			bits[i] = jl_float_to_bf16(jl_bf16_to_float(bits[i]) / (float)n);
		break;
	case JL_N_COMM_TYPE: break;
	}
}
