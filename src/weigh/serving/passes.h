/* Single passes of a served model on one device, by an engine that is nobody's in particular: what `bench infer` sets beside its own. */
#pragma once

#include "predict/predict.h"

struct jl_passes_ask {
	const struct jl_model_info *model;
	const char *format;    /* that is computed in */
	double weight_B, kv_B; /* of a weight, of a key's or value's element */
	double n_requests, prompt, answer;
};

/* All prompts in one pass; a token of all in the middle of their answers. */
enum jl_status jl_passes_predict(struct jl_estimate *ret_prompts_s, struct jl_estimate *ret_token_s,
				 const struct jl_catalog *cat, const struct jl_machine *machine,
				 const struct jl_passes_ask *ask, struct jl_err *err);
