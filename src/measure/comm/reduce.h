/* Element-wise reduction of several arrays into one or more: the arithmetic of an all-reduce. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "comm/comm.h"

/* dsts[j][i] = srcs[0][i] op srcs[1][i] op ..., always in this order, so that every rank gets the same bits. A destination may be one of the
 * sources. 16-bit floats accumulate in float and round once; integer averages use exact 64-bit sums. `stream`: the result exceeds the cache;
 * uses streaming stores. */
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

/* data[i] /= n: turns a sum into an average when not all sources are local. */
void jl_reduce_divide(enum jl_comm_type type, void *data, size_t count, int n);

/* memcpy with streaming stores where they help. */
void jl_copy_stream(void *dst, const void *src, size_t size_B, bool stream);

float jl_half_to_float(unsigned short bits);
unsigned short jl_float_to_half(float value); /* rounds to nearest, ties to even */
float jl_bf16_to_float(unsigned short bits);
unsigned short jl_float_to_bf16(float value);
