/* Device memory of a program: peak, its event, and what is alive then. Pure; knows no device. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "program/program.h"

/* Kinds of memory alive at the peak. */
enum jl_peak_part {
	JL_PEAK_PARAMS, /* parameters and module buffers */
	JL_PEAK_GRADS,  /* kept from an earlier step, or created in the backward pass and kept beyond it */
	JL_PEAK_STATES,
	JL_PEAK_INPUTS,
	JL_PEAK_KEPT,  /* created in the forward pass */
	JL_PEAK_BRIEF, /* created elsewhere, short-lived */
	JL_N_PEAK
};

struct jl_program_peak {
	double peak_B, begin_B, end_B; /* allocated bytes, rounded as the allocator does */
	double part_B[JL_N_PEAK];
	size_t event;     /* event of the peak */
	double *module_B; /* per module: memory its calls created that is alive; NULL: not requested */
	double grads_B;   /* gradients of all parameters that get one */
};

/* allocation granularity of PyTorch's caching allocator */
#define JL_PROGRAM_BLOCK_B 512.0

/* brief_B: temporary bytes of each kind of call beyond its listed allocations; NULL: none. */
enum jl_status jl_program_peak(struct jl_program_peak *ret_peak, const struct jl_program *p, const double *brief_B,
			       struct jl_arena *arena, struct jl_err *err);

/* Peak memory in each of `n` equal shares of the step's events. */
void jl_program_live(double *ret_live_B, size_t n, const struct jl_program *p, const double *brief_B);
