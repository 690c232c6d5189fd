/* Device memory of a training step by kind of tensor, at the peak of the fullest stage. Pure. */
#pragma once

#include <stdbool.h>

#include "timeline/step.h"

/* Memory besides tensors; measured or fitted. */
struct jl_memory_fit {
	double context_B;   /* driver and library contexts */
	double comm_B;      /* buffers per communicator */
	double waste_frac;  /* allocator: reserved beyond tensors, as a share of them */
	double buffer_frac; /* buckets and gathered pieces / the gradients or layers in them */
	double ragged_frac; /* waste_frac for varying lengths: a longer sample finds no free block that fits */
	int ragged;
};

struct jl_memory_in {
	const struct jl_model_size *size;
	const struct jl_plan *plan;
	const struct jl_block_cost *block; /* array of JL_N_BLOCK */
	double boundary_B;                 /* activation sent to the next stage */
	double logits_B;                   /* per micro-batch: logits and their fp32 copy */
	double update_B;                   /* optimizer temporaries per trained parameter */
	int grads_later; /* gradients are freed after each step: they appear while activations are freed */
	double room_B;   /* device memory: the allocator releases cached blocks before it exceeds this */
	struct jl_memory_fit fit;
};

/* The parts sum to total_B. */
struct jl_memory {
	double weights_B, gradients_B, optimizer_B, activations_B, buffers_B, context_B, total_B;
	/* the peak is in the update: activations are freed, activations_B holds the optimizer's copies */
	bool in_update;
	double passes_B;  /* bytes kept by the passes, even if the peak is in the update; 0: activations_B */
	bool grads_later; /* gradients appear while activations are freed */
};

struct jl_memory jl_memory_peak(const struct jl_memory_in *in);
