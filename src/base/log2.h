/* Logarithms of counts without a call: most counts of devices and hosts are powers of two, whose logarithm is the
 * exponent that the number already carries. Pure. */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Of a finite number of at least 1: log2 rounded down; is it exact? */
static inline int jl_log2_floor(double n, int *ret_exact)
{
	uint64_t bits;

	memcpy(&bits, &n, sizeof(bits)); /* IEEE 754 binary64: 11 bits of exponent above 52 of fraction */
	*ret_exact = (bits & ((UINT64_C(1) << 52) - 1)) == 0;
	return (int)(bits >> 52) - 1023;
}

static inline double jl_log2(double n)
{
	int exact;
	const int floor = jl_log2_floor(n, &exact);

	return exact && n >= 1.0 ? floor : log2(n);
}

/* Levels of a binary tree over n. */
static inline double jl_log2_ceil(double n)
{
	int exact;
	const int floor = jl_log2_floor(n, &exact);

	return n <= 1.0 ? 0.0 : exact ? floor : floor + 1;
}
