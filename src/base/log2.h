/* Fast log2 for counts. Most counts of devices and hosts are powers of two, whose log2 is the exponent field. Pure. */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

/* floor(log2(n)) of a finite n >= 1; *ret_exact: n is a power of two. */
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

/* Depth of a binary tree with n leaves. */
static inline double jl_log2_ceil(double n)
{
	int exact;
	const int floor = jl_log2_floor(n, &exact);

	return n <= 1.0 ? 0.0 : exact ? floor : floor + 1;
}
