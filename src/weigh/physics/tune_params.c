#include "physics/tune_params.h"

static const struct jl_param params[JL_TUNE_N_PARAM] = {
	{ "tune.call_ratio", "1", 0.3, 4.0, 1.0, 0.3 },
	{ "tune.unpack_ratio", "1", 0.2, 5.0, 1.0, 0.5 },
	{ "tune.ragged_frac", "1", 0.05, 4.0, 0.8, 0.5 },
};

const struct jl_param_list jl_tuning_params = { .n = JL_TUNE_N_PARAM, .table = params };

struct jl_tune_fit jl_tune_fit_of(const double *x)
{
	return (struct jl_tune_fit){ .call_ratio = x[0], .unpack_ratio = x[1], .ragged_frac = x[2] };
}

struct jl_tune_fit jl_tune_shipped(const struct jl_catalog *cat)
{
	double x[JL_TUNE_N_PARAM];

	jl_params_read(cat, &jl_tuning_params, x);
	return jl_tune_fit_of(x);
}
