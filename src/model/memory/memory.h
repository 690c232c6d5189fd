/* Device memory of a training step, per tensor, on its fullest stage at its fullest moment. Pure. */
#pragma once

#include <stdbool.h>

#include "timeline/step.h"

/* What lies beside the tensors: measured or fitted, not derived. */
struct jl_memory_fit {
	double context_B;   /* driver and library contexts */
	double comm_B;      /* buffers of one group of communicators */
	double waste_frac;  /* allocator: reserved beyond what tensors need */
	double buffer_frac; /* buckets and gathered pieces / the gradients or layers they hold */
	double ragged_frac; /* the same as waste_frac where lengths differ: a longer sample finds no block that holds it */
	int ragged;         /* they do */
};

struct jl_memory_in {
	const struct jl_model_size *size;
	const struct jl_plan *plan;
	const struct jl_block_cost *block; /* JL_N_BLOCK of them */
	double boundary_B;                 /* activation that crosses to the next stage */
	double logits_B;                   /* of one micro-batch: the vocabulary product and its fp32 copy */
	double update_B; /* per trained parameter: what the optimizer needs for itself while it runs */
	int grads_later; /* gradients are freed after each step: they come as activations go */
	double room_B;   /* of the device: blocks that are only cached are given back before more is taken */
	struct jl_memory_fit fit;
};

/* Parts sum to total_B. */
struct jl_memory {
	double weights_B, gradients_B, optimizer_B, activations_B, buffers_B, context_B, total_B;
	bool in_update; /* the peak is the update's: activations are gone, activations_B are the optimizer's copies */
};

struct jl_memory jl_memory_peak(const struct jl_memory_in *in);
