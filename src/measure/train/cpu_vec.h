/* Fixed-width float vectors with compiler extensions: NEON on arm64, SSE, AVX2 or AVX-512 on x86-64 (JL_CLONES builds all and selects one at
 * program start). Everything is inlined, so no vector crosses a function boundary. arm64 vectors have register width: gcc splits comparisons of
 * wider ones into scalars. */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Selects by instruction-set level, not by processor name: gcc looks names ("haswell") up in a fixed table and would give unknown processors the
 * baseline code. */
#if defined(__x86_64__) && defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define JL_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define JL_CLONES
#endif

#if defined(__aarch64__)
#define VEC_N 4
#else
#define VEC_N 8
#endif
#define VEC_INLINE static inline __attribute__((always_inline))

typedef float vecf __attribute__((vector_size(4 * VEC_N)));
typedef int32_t veci __attribute__((vector_size(4 * VEC_N)));
typedef uint32_t vecu __attribute__((vector_size(4 * VEC_N)));

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
#if VEC_N == 4
	return (vecf){ x, x, x, x };
#else
	return (vecf){ x, x, x, x, x, x, x, x };
#endif
}

VEC_INLINE float vec_sum(vecf v)
{
#if VEC_N == 4
	return (v[0] + v[1]) + (v[2] + v[3]);
#else
	return ((v[0] + v[4]) + (v[1] + v[5])) + ((v[2] + v[6]) + (v[3] + v[7]));
#endif
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

/* exp(x), relative error below 2e-7. x = n·ln 2 + r with |r| <= ln 2 / 2; exp(r) is a minimax polynomial (Remez) with relative error up to 2e-9,
 * evaluated in two independent halves; n is added to the exponent. Returns 0 below -87.33 and 2.4e38 above 88.37. */
VEC_INLINE vecf vec_exp(vecf x)
{
	const vecf round = vec_all(12582912.0f); /* 1.5·2^23: adding it puts the nearest integer into the low bits */
	vecf bounded = vec_min(vec_max(x, vec_all(-87.33f)), vec_all(88.37f));
	vecf shifted = bounded * vec_all(1.44269504f) + round;
	vecf n = shifted - round;
	vecf r = bounded - n * vec_all(0.693145752f);
	r = r - n * vec_all(1.42860677e-6f);
	vecf q = r * r;
	vecf low = r * vec_all(1.000000036f) + vec_all(1.0f);
	vecf mid = r * vec_all(1.666641968e-1f) + vec_all(4.999999206e-1f);
	vecf high = r * vec_all(8.374857068e-3f) + vec_all(4.166822868e-2f);
	high = q * vec_all(1.383679417e-3f) + high;
	vecf p = q * (q * high + mid) + low;
	/* the low bits of 1.5·2^23 are 0, and its high bits are shifted out */
	vecf power = (vecf)(((vecu)shifted + 127) << 23);
	return (vecf)((veci)(p * power) & (veci)(x > vec_all(-87.33f)));
}

VEC_INLINE vecf vec_sigmoid(vecf x)
{
	return vec_all(1.0f) / (vec_all(1.0f) + vec_exp(-x));
}

#define GELU_C 0.797884561f /* sqrt(2/π) */

/* 0.5·(1 + tanh(u)) = sigmoid(2u): avoids cancellation and needs no special case for small u */
VEC_INLINE vecf vec_gelu_gate(vecf x)
{
	return vec_sigmoid(vec_all(2 * GELU_C) * x * (vec_all(1.0f) + vec_all(0.044715f) * x * x));
}

VEC_INLINE vecf vec_gelu(vecf x)
{
	return x * vec_gelu_gate(x);
}

VEC_INLINE vecf vec_gelu_slope(vecf x)
{
	vecf s = vec_gelu_gate(x);
	vecf d_inner = vec_all(2 * GELU_C) * (vec_all(1.0f) + vec_all(3 * 0.044715f) * x * x);
	return s + x * s * (vec_all(1.0f) - s) * d_inner;
}

/* Loads the last n < VEC_N elements of a row; the other lanes are 0. */
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

VEC_INLINE float row_max(const float *x, size_t n)
{
	float max = x[0];
	size_t j = 0;
	if (n >= VEC_N) {
		vecf m = vec_load(x);
		for (j = VEC_N; j + VEC_N <= n; j += VEC_N)
			m = vec_max(m, vec_load(x + j));
		for (size_t i = 0; i < VEC_N; i++)
			max = m[i] > max ? m[i] : max;
	}
	for (; j < n; j++)
		max = x[j] > max ? x[j] : max;
	return max;
}
