/* Fine-tuning: how much of a model is trained, what its frozen rest takes, what optimizers keep. Pure. */
#pragma once

#include "timeline/step.h"
#include "program/transformer.h"

/* How samples are learnt from: by themselves, as pairs (DPO against a reference model, ORPO without one), or as groups of answers that the
 * model generates (GRPO). */
enum jl_method { JL_METHOD_SFT, JL_METHOD_DPO, JL_METHOD_ORPO, JL_METHOD_GRPO, JL_N_METHOD };

/* Are the weights of the layers' products without gradients? */
int jl_tune_frozen(const struct jl_tune *tune);

/* Bytes of a frozen weight, and SM clocks that unpacking one takes. */
double jl_base_B(enum jl_base base, double act_B);
double jl_base_clocks(enum jl_base base);
const char *jl_base_name(enum jl_base base); /* "nf4" */
const char *jl_tune_name(enum jl_tune_kind kind);

/* ... and all that are trained. */
double jl_tune_params(const struct jl_transformer *model, const struct jl_tune *tune);

/* Which part of the plan's parameters is trained, which is frozen, and bytes of one that is. ends_B: of embedding and logits, which are
 * never packed. */
void jl_tune_plan(struct jl_plan *plan, const struct jl_transformer *model, const struct jl_tune *tune, double act_B,
		  double ends_B);

/* Tokens that a sample is padded to, which is as long as the longest of its pass. */
double jl_padded_seq(double mean_seq, double longest_seq, double n_samples);

enum jl_optimizer {
	JL_OPT_FOREACH, /* AdamW as PyTorch has it by default */
	JL_OPT_FUSED,   /* AdamW in one kernel */
	JL_OPT_ADAMW8,  /* moments in 8 bits */
	JL_OPT_PAGED8,  /* ... in pages that leave the device when it is full */
	JL_OPT_ADAFACTOR,
	JL_OPT_LION,
	JL_OPT_SGD, /* without momentum */
	JL_OPT_MUON,
	JL_OPT_GALORE, /* AdamW on gradients that are projected to `rank` */
	JL_N_OPTIMIZER
};
const char *jl_optimizer_name(enum jl_optimizer optimizer);

/* The plan's states, which are AdamW's, as this optimizer has them. `rank`: of the projection; `hidden`: the shorter side of a weight. */
void jl_plan_set_optimizer(struct jl_plan *plan, enum jl_optimizer optimizer, double rank, double hidden);
