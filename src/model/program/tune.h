/* Fine-tuning: trained share of a model, memory of its frozen weights, optimizer states. Pure. */
#pragma once

#include "timeline/step.h"
#include "program/transformer.h"

/* Training objective: single samples (SFT), pairs (DPO with a reference model, ORPO without), groups of generated answers (GRPO). */
enum jl_method { JL_METHOD_SFT, JL_METHOD_DPO, JL_METHOD_ORPO, JL_METHOD_GRPO, JL_N_METHOD };

/* True if the layers' products have no weight gradients. */
int jl_tune_frozen(const struct jl_tune *tune);

/* Bytes per frozen weight; SM clocks to dequantise one. */
double jl_base_B(enum jl_base base, double act_B);
double jl_base_clocks(enum jl_base base);
const char *jl_base_name(enum jl_base base); /* "nf4" */
const char *jl_tune_name(enum jl_tune_kind kind);

/* the same, with everything else that is trained */
double jl_tune_params(const struct jl_transformer *model, const struct jl_tune *tune);

/* Sets the shares of the plan's parameters that are trained and frozen, and the bytes per frozen parameter. ends_B: bytes per parameter of embedding
 * and output layer, which are never quantized. */
void jl_tune_plan(struct jl_plan *plan, const struct jl_transformer *model, const struct jl_tune *tune, double act_B,
		  double ends_B);

/* Mean padded length of a sample: the longest in its pass. */
double jl_padded_seq(double mean_seq, double longest_seq, double n_samples);

enum jl_optimizer {
	JL_OPT_FOREACH, /* AdamW, PyTorch default */
	JL_OPT_FUSED,   /* AdamW in one kernel */
	JL_OPT_ADAMW8,  /* 8-bit moments */
	JL_OPT_PAGED8,  /* the same, paged: moves to the host if the device is full */
	JL_OPT_ADAFACTOR,
	JL_OPT_LION,
	JL_OPT_SGD, /* without momentum */
	JL_OPT_MUON,
	JL_OPT_GALORE, /* AdamW on gradients projected to `rank` */
	JL_N_OPTIMIZER
};
const char *jl_optimizer_name(enum jl_optimizer optimizer);

/* Converts the plan's states from AdamW to this optimizer. `rank`: of the projection; `hidden`: shorter side of a weight. */
void jl_plan_set_optimizer(struct jl_plan *plan, enum jl_optimizer optimizer, double rank, double hidden);
