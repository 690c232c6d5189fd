/* Device memory of a program: how much lives at once, when it is most, and what lives then. Pure; it knows no device. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "program/program.h"

/* What lives at the peak. */
enum jl_peak_part {
	JL_PEAK_PARAMS, /* and buffers of modules */
	JL_PEAK_GRADS,  /* of a step before, or made in the backward pass and kept beyond it */
	JL_PEAK_STATES,
	JL_PEAK_INPUTS,
	JL_PEAK_KEPT,  /* made in the forward pass */
	JL_PEAK_BRIEF, /* made elsewhere, and gone soon */
	JL_N_PEAK
};

struct jl_program_peak {
	double peak_B, begin_B, end_B; /* allocated, as the allocator rounds it */
	double part_B[JL_N_PEAK];
	size_t event;     /* at which it is */
	double *module_B; /* of each module: what its calls made and still holds; NULL: not asked for */
	double grads_B;   /* of all parameters that get one */
};

/* Blocks are multiples of this (PyTorch's caching allocator). */
#define JL_PROGRAM_BLOCK_B 512.0

/* brief_B: what each kind of call holds while it runs, beside what the list says; NULL: nothing. */
enum jl_status jl_program_peak(struct jl_program_peak *ret_peak, const struct jl_program *p, const double *brief_B,
			       struct jl_arena *arena, struct jl_err *err);

/* The same over the step: the most that lives in each of `n` equal shares of its events. */
void jl_program_live(double *ret_live_B, size_t n, const struct jl_program *p, const double *brief_B);
