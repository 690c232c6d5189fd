/* What fine-tuning has beside training, as parameters that are fitted on published runs of it. Names begin with "tune.". */
#pragma once

#include "physics/params.h"

struct jl_tune_fit {
	double call_ratio; /* host time of a launch of models that others wrote, with hooks and casts, of the framework's own */
	double unpack_ratio; /* clocks of unpacking a weight, of what is taken before any fit */
	double ragged_frac;  /* see struct jl_memory_fit */
};

#define JL_TUNE_N_PARAM 3
extern const struct jl_param_list jl_tuning_params;
struct jl_tune_fit jl_tune_fit_of(const double *x);
struct jl_tune_fit jl_tune_shipped(const struct jl_catalog *cat);
