/* Bare passes of a served model on one device: one launch each, no server. Knows no engines. */
#pragma once

#include "predict/predict.h"

struct jl_passes_ask {
	const struct jl_model_info *model;
	double weight_B,
		elem_B; /* of a weight; of everything else: fp32 or bf16 by the compute format, or fp8 with one-byte weights */
	double n_requests, prompt, answer;
};

/* All prompts in one pass; one token of all, in the middle of their answers. */
enum jl_status jl_passes_predict(struct jl_estimate *ret_prompts_s, struct jl_estimate *ret_token_s,
				 const struct jl_machine *machine, const struct jl_passes_ask *ask, struct jl_err *err);
