/* Element-wise reduction of several arrays into one or more: what all-reduce does with the bytes once they can be reached. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "comm/comm.h"

/* dsts[j][i] = srcs[0][i] op srcs[1][i] op ..., always in this order, so that the same bits come out wherever it is computed. A
 * destination may be one of the sources. 16-bit floats accumulate in float and round once; the average of integers is taken of the
 * exact sum (64 bits). `stream`: the result is larger than the cache, write around it. */
struct jl_reduce {
	enum jl_comm_type type;
	enum jl_redop op;
	const void *const *srcs;
	int n_srcs;
	void *const *dsts;
	int n_dsts;
	size_t count;
	bool stream;
};
void jl_reduce(const struct jl_reduce *r);

/* data[i] /= n: turns a sum into an average where the sources do not all lie here. */
void jl_reduce_divide(enum jl_comm_type type, void *data, size_t count, int n);

/* memcpy that writes around the cache where that helps. */
void jl_copy_stream(void *dst, const void *src, size_t size_B, bool stream);

float jl_half_to_float(unsigned short bits);
unsigned short jl_float_to_half(float value); /* to nearest, ties to even */
float jl_bf16_to_float(unsigned short bits);
unsigned short jl_float_to_bf16(float value);
