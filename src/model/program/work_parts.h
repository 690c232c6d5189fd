/* Private to work*.c: interface of work.c to work_products.c and work_rows.c. */
#pragma once

#include "program/work.h"

/* radix sort: number of kernels, and of passes over the data */
#define JL_SORT_KERNELS 10
#define JL_SORT_PASSES  8

/* SM clocks per element of a transposed read */
#define JL_TURN_CLOCKS 1.6

struct jl_work_sums {
	double in_B, out_B, n_in, n_out;
	const struct jl_tensor_kind *largest; /* of inputs and outputs */
};

/* Products, convolutions, attention, recurrent layers. Operands of inconsistent shapes leave the call a stream. */
void jl_work_product(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind);
void jl_work_rows(struct jl_call_work *w, const struct jl_program *p, const struct jl_call_kind *kind,
		  const struct jl_work_sums *s);
