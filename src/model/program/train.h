/* Step and memory of a transformer from model, plan and machine. Pure. */
#pragma once

#include "memory/memory.h"
#include "timeline/step.h"
#include "program/transformer.h"

/* fp32 copies in the loss: separate ones for softmax and gradient (PLAIN), one shared (FUSED), or the kept one (IN_PLACE). COMPILED: none, as in
 * compilers and hand-written programs: sums are computed while reading the logits, and the gradient is written in their format. */
enum jl_loss { JL_LOSS_PLAIN, JL_LOSS_FUSED, JL_LOSS_IN_PLACE, JL_LOSS_COMPILED };

enum jl_loss jl_loss_of(enum jl_framework framework);

/* Cached prices of a run's operators on one device. */
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
	double chunked_loss; /* number of pieces of the loss; 0 or 1: whole */
	enum jl_loss fused_loss;
	double host_mem_Bps;
	double generate_s, input_s;
	/* optional cache for repeated pricing of one run (the fit): values that depend only on the device; NULL: none */
	struct jl_train_prices *prices;
};

/* Values that depend only on micro-batch, seq, tp, cp, ep, sp, recompute and formats: computed once and reused for plans that differ in dp, pp,
 * chunks, zero, shard or the number of micro-batches. */
struct jl_train_blocks {
	struct jl_block_cost cost[JL_N_BLOCK];
	struct jl_block_time time[JL_N_BLOCK];
	struct jl_model_size size;
	double boundary_B, logits_B;
};

/* Checks that the plan fits the number of devices and the global batch; the error says what would be right. */
enum jl_status jl_train_check(const struct jl_train *train, double n_gpus, double global_batch, struct jl_err *err);

/* The shard, completed from framework, states and loss. */
struct jl_shard jl_train_shard(const struct jl_train *train);

/* Share of the layers in the backward pass: training only the last layers stops there. */
double jl_train_back_frac(const struct jl_train *train);

void jl_train_blocks(const struct jl_train *train, struct jl_train_blocks *ret_blocks);
/* Only the memory part of the blocks, without times, which take long to compute. */
void jl_train_kept(const struct jl_train *train, struct jl_train_blocks *ret_blocks);

/* Time and memory of a plan from its blocks, without pricing operators again. */
struct jl_step_cost jl_train_step(const struct jl_train *train, const struct jl_train_blocks *blocks);
struct jl_memory jl_train_memory(const struct jl_train *train, const struct jl_train_blocks *blocks);

/* Bytes per parameter by format: weights, gradients, Adam states with master copy. */
enum jl_states {
	JL_STATES_MIXED,     /* 16-bit weights and gradients; fp32 master and moments (2 + 2 + 12) */
	JL_STATES_MEGATRON,  /* 16-bit weights, fp32 gradients; fp32 master and moments (2 + 4 + 12) */
	JL_STATES_FP32,      /* all fp32 (4 + 4 + 8); also AMP, which keeps fp32 weights */
	JL_STATES_BF16,      /* all bf16 (2 + 2 + 4) */
	JL_STATES_BF16_8BIT, /* bf16 with 8-bit moments (2 + 2 + 2) */
	JL_N_STATES
};
void jl_plan_set_states(struct jl_plan *plan, enum jl_states states);

/* PyTorch's default optimizer ("foreach"): one kernel per operation over tensor lists. */
void jl_plan_set_foreach(struct jl_plan *plan);

/* Optimizer as single operations per tensor (thirteen for Adam). */
void jl_plan_set_unfused(struct jl_plan *plan);

/* Adds to the unfused optimizer what scripts of 2018 to 2022 do: clipping, and gradients kept from step to step. */
void jl_plan_set_clipped(struct jl_plan *plan);
