/* Eight floats at a time with the compiler's own vectors: NEON on arm64, SSE or AVX2 on x86-64 (JL_CLONES builds both
 * and picks when the program starts). Everything is inlined, so no vector crosses a function boundary. */
#ifndef JL_TRAIN_CPU_VEC_H
#define JL_TRAIN_CPU_VEC_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define JL_CLONES __attribute__((target_clones("default", "arch=haswell", "arch=skylake-avx512")))
#else
#define JL_CLONES
#endif

#define VEC_N      8
#define VEC_INLINE static inline __attribute__((always_inline))

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored                                                                                         \
	"-Wpsabi" /* these functions are always inlined: there is no call whose convention could change */
#endif

typedef float vecf __attribute__((vector_size(32)));
typedef int32_t veci __attribute__((vector_size(32)));

VEC_INLINE vecf vec_load(const float *from)
{
	vecf v;
	memcpy(&v, from, sizeof v);
	return v;
}

VEC_INLINE void vec_store(float *to, vecf v)
{
	memcpy(to, &v, sizeof v);
}

VEC_INLINE vecf vec_all(float x)
{
	return (vecf){ x, x, x, x, x, x, x, x };
}

VEC_INLINE float vec_sum(vecf v)
{
	return ((v[0] + v[4]) + (v[1] + v[5])) + ((v[2] + v[6]) + (v[3] + v[7]));
}

VEC_INLINE vecf vec_pick(veci mask, vecf yes, vecf no)
{
	return (vecf)((mask & (veci)yes) | (~mask & (veci)no));
}

VEC_INLINE vecf vec_max(vecf a, vecf b)
{
	return vec_pick(a > b, a, b);
}

VEC_INLINE vecf vec_min(vecf a, vecf b)
{
	return vec_pick(a < b, a, b);
}

/* exp(x), relative error below 2e-7 for results that are normal numbers: x = n·ln 2 + r, |r| <= ln 2 / 2, Taylor
 * polynomial of degree 7 in Horner form, then n goes into the exponent. Below -87.3 the result is 0, above 88.7 it is
 * about 3.3e38. */
VEC_INLINE vecf vec_exp(vecf x)
{
	const vecf round = vec_all(
		12582912.0f); /* 1.5·2^23: adding it leaves the nearest whole number in the low bits */
	vecf bounded = vec_min(vec_max(x, vec_all(-87.33f)), vec_all(88.71f));
	vecf shifted = bounded * vec_all(1.44269504f) + round;
	vecf n = shifted - round;
	vecf r = bounded - n * vec_all(0.693145752f);
	r = r - n * vec_all(1.42860677e-6f);
	vecf p = vec_all(1.98412698e-4f);
	p = p * r + vec_all(1.38888889e-3f);
	p = p * r + vec_all(8.33333333e-3f);
	p = p * r + vec_all(4.16666667e-2f);
	p = p * r + vec_all(1.66666667e-1f);
	p = p * r + vec_all(0.5f);
	p = p * r + vec_all(1.0f);
	p = p * r + vec_all(1.0f);
	/* 2^128 has no float: the last doubling is a product */
	veci whole = (veci)shifted - (veci)round;
	veci half = whole >> 1;
	vecf low = (vecf)((half + 127) << 23), high = (vecf)((whole - half + 127) << 23);
	return vec_pick(x < vec_all(-87.33f), vec_all(0.0f), p * low * high);
}

/* tanh(x) = 1 - 2/(exp(2x) + 1); for |x| below 0.1 an odd polynomial, where that difference loses digits */
VEC_INLINE vecf vec_tanh(vecf x)
{
	vecf big = vec_all(1.0f) - vec_all(2.0f) / (vec_exp(x + x) + vec_all(1.0f));
	vecf q = x * x;
	vecf small = x *
		     (vec_all(1.0f) + q * (vec_all(-0.333333333f) + q * (vec_all(0.133333333f) - q * 0.0539682540f)));
	return vec_pick((q < vec_all(0.01f)), small, big);
}

#define GELU_C 0.797884561f /* sqrt(2/π) */

VEC_INLINE vecf vec_gelu(vecf x)
{
	vecf inner = vec_all(GELU_C) * (x + vec_all(0.044715f) * x * x * x);
	return vec_all(0.5f) * x * (vec_all(1.0f) + vec_tanh(inner));
}

VEC_INLINE vecf vec_gelu_slope(vecf x)
{
	vecf q = x * x;
	vecf t = vec_tanh(vec_all(GELU_C) * (x + vec_all(0.044715f) * x * q));
	vecf d_inner = vec_all(GELU_C) * (vec_all(1.0f) + vec_all(3 * 0.044715f) * q);
	return vec_all(0.5f) * (vec_all(1.0f) + t) + vec_all(0.5f) * x * (vec_all(1.0f) - t * t) * d_inner;
}

VEC_INLINE vecf vec_sigmoid(vecf x)
{
	return vec_all(1.0f) / (vec_all(1.0f) + vec_exp(-x));
}

/* The last n < 8 elements of a row: the rest is 0 and is not written back. */
VEC_INLINE vecf vec_load_part(const float *from, size_t n)
{
	float part[VEC_N] = { 0 };
	memcpy(part, from, n * sizeof *part);
	return vec_load(part);
}

VEC_INLINE void vec_store_part(float *to, vecf v, size_t n)
{
	float part[VEC_N];
	vec_store(part, v);
	memcpy(to, part, n * sizeof *part);
}

VEC_INLINE vecf vec_load_n(const float *from, size_t n)
{
	return n == VEC_N ? vec_load(from) : vec_load_part(from, n);
}

VEC_INLINE void vec_store_n(float *to, vecf v, size_t n)
{
	if (n == VEC_N)
		vec_store(to, v);
	else
		vec_store_part(to, v, n);
}

#endif
