/* Short floating-point formats on the host, for the stand-ins of CUDA and cuBLASLt. Types as enum jl_matmul_type of
 * gpu/cublaslt.h. */
#ifndef JL_TESTS_FAKE_NUMBERS_H
#define JL_TESTS_FAKE_NUMBERS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { FAKE_FP32, FAKE_TF32, FAKE_FP16, FAKE_BF16, FAKE_FP8 };

static inline size_t fake_type_B(int type)
{
	return type == FAKE_FP8 ? 1 : type == FAKE_FP16 || type == FAKE_BF16 ? 2 : 4;
}

/* To `mantissa` bits and not below 2^min_exponent, to nearest even. */
static inline float fake_round(float x, int mantissa, int min_exponent)
{
	int e = 0;
	if (x == 0 || !isfinite(x))
		return x;
	frexpf(x, &e);
	int unit = (e - 1 < min_exponent ? min_exponent : e - 1) - mantissa;
	return ldexpf(rintf(ldexpf(x, -unit)), unit);
}

static inline uint32_t fake_bits(float x, int mantissa, int exponent_bias, int sign_at)
{
	uint32_t sign = signbit(x) ? 1u << sign_at : 0;
	int e = 0;
	x = fabsf(fake_round(x, mantissa, 1 - exponent_bias));
	if (x == 0)
		return sign;
	frexpf(x, &e);
	int exponent = e - 1 + exponent_bias;
	if (exponent < 1)
		return sign | (uint32_t)ldexpf(x, mantissa + exponent_bias - 1);
	uint32_t fraction = (uint32_t)ldexpf(x, mantissa - (e - 1)) - (1u << mantissa);
	return sign | (uint32_t)exponent << mantissa | fraction;
}

static inline float fake_value(uint32_t bits, int mantissa, int exponent_bias, int sign_at)
{
	uint32_t fraction = bits & ((1u << mantissa) - 1);
	int exponent = (int)(bits >> mantissa & ((1u << (sign_at - mantissa)) - 1));
	float x = exponent ? ldexpf((float)(fraction + (1u << mantissa)), exponent - exponent_bias - mantissa)
			   : ldexpf((float)fraction, 1 - exponent_bias - mantissa);
	return bits >> sign_at & 1 ? -x : x;
}

static inline float fake_get(const void *from, size_t i, int type)
{
	float x;
	if (type == FAKE_FP16)
		return fake_value(((const uint16_t *)from)[i], 10, 15, 15);
	if (type == FAKE_BF16)
		return fake_value(((const uint16_t *)from)[i], 7, 127, 15);
	if (type == FAKE_FP8)
		return fake_value(((const uint8_t *)from)[i], 3, 7, 7);
	memcpy(&x, (const float *)from + i, sizeof x);
	return x;
}

static inline void fake_put(void *to, size_t i, float x, int type)
{
	if (type == FAKE_FP16)
		((uint16_t *)to)[i] = (uint16_t)fake_bits(x, 10, 15, 15);
	else if (type == FAKE_BF16)
		((uint16_t *)to)[i] = (uint16_t)fake_bits(x, 7, 127, 15);
	else if (type == FAKE_FP8)
		((uint8_t *)to)[i] = (uint8_t)fake_bits(x, 3, 7, 7);
	else
		((float *)to)[i] = x;
}

#endif
