/* From a transformer, a plan and a machine to the step and the memory: the glue that model/ must not know. Pure. */
#pragma once

#include "memory/memory.h"
#include "timeline/step.h"
#include "program/transformer.h"

/* How the loss treats its fp32 copies: softmax and gradient each have one, they share one, or it is the kept one. Where
 * a compiler or one program of hand-written kernels has the whole step there is none: sums are made while the product's output is read, and its gradient is
 * written in the same format. */
enum jl_loss { JL_LOSS_PLAIN, JL_LOSS_FUSED, JL_LOSS_IN_PLACE, JL_LOSS_COMPILED };

enum jl_loss jl_loss_of(enum jl_framework framework);

/* Operators of a run as they were priced on one device. */
struct jl_train_prices {
	bool known;
	struct jl_device dev;
	struct jl_block_cost cost[JL_N_BLOCK];
};

struct jl_train {
	const struct jl_transformer *model;
	const struct jl_device *dev;
	const struct jl_fabric *fabric;
	const struct jl_profile *profile;
	struct jl_plan plan;
	struct jl_shard shard; /* its tp, cp, ep, sp are the plan's */
	struct jl_memory_fit memory;
	double chunked_loss; /* the loss is made in this many pieces; 0 or 1: whole */
	enum jl_loss fused_loss;
	double host_mem_Bps;
	double generate_s, input_s;
	/* NULL; or, where one run is priced again and again (the fit): what depends on the device alone */
	struct jl_train_prices *prices;
};

/* What depends only on (micro-batch, seq, tp, cp, ep, sp, recompute, formats): computed once, reused by every plan that
 * differs in dp, pp, chunks, zero, shard or the number of micro-batches. */
struct jl_train_blocks {
	struct jl_block_cost cost[JL_N_BLOCK];
	struct jl_block_time time[JL_N_BLOCK];
	struct jl_model_size size;
	double boundary_B, logits_B;
};

/* Can this plan be run on so many devices with this global batch? Says what would be right. */
enum jl_status jl_train_check(const struct jl_train *train, double n_gpus, double global_batch, struct jl_err *err);

/* The shard with what follows from framework, states and loss. */
struct jl_shard jl_train_shard(const struct jl_train *train);

/* Of the layers, those that the backward pass goes through: where only the last ones are trained nothing goes further down. */
double jl_train_back_frac(const struct jl_train *train);

void jl_train_blocks(const struct jl_train *train, struct jl_train_blocks *ret_blocks);
/* Only what memory is made of: no time is asked for, which is what takes long. */
void jl_train_kept(const struct jl_train *train, struct jl_train_blocks *ret_blocks);

/* Time and memory of a plan from its blocks; no operator is priced again. */
struct jl_step_cost jl_train_step(const struct jl_train *train, const struct jl_train_blocks *blocks);
struct jl_memory jl_train_memory(const struct jl_train *train, const struct jl_train_blocks *blocks);

/* Bytes per parameter of a number format as frameworks keep it: weights, gradients, Adam's states and master copy. */
enum jl_states {
	JL_STATES_MIXED,     /* 16-bit weights and gradients; fp32 master, moments (2 + 2 + 12) */
	JL_STATES_MEGATRON,  /* 16-bit weights, fp32 gradients; fp32 master, moments (2 + 4 + 12) */
	JL_STATES_FP32,      /* everything fp32 (4 + 4 + 8): also AMP, which keeps fp32 weights */
	JL_STATES_BF16,      /* everything bf16 (2 + 2 + 4) */
	JL_STATES_BF16_8BIT, /* bf16 with 8-bit moments (2 + 2 + 2) */
	JL_N_STATES
};
void jl_plan_set_states(struct jl_plan *plan, enum jl_states states);

/* PyTorch's own optimizer as it is by default: one kernel for each of its operations, over lists of tensors ("foreach"). */
void jl_plan_set_foreach(struct jl_plan *plan);

/* An optimizer written as one small operation after the other, tensor by tensor (thirteen for Adam). */
void jl_plan_set_unfused(struct jl_plan *plan);

/* ... by scripts of 2018 to 2022, which clip, and keep gradients from step to step: what that adds. */
void jl_plan_set_clipped(struct jl_plan *plan);
