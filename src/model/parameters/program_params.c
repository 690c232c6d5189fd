/* Parameters of the price of a program, and their mapping to a struct. */
#include "parameters/program_params.h"

/* Priors: host times from one H200 host (151 programs of draws de0 and ae9a3abd, docs/log); clocks of copies and casts from the same host; autograd
 * factors from four draws (299 programs). Lowered by 6 % with a fifth host: median errors (ln) in training were -0.07, +0.18, -0.06, +0.11 and
 * +0.30, each host counted once. */
static const struct jl_param params[JL_PROGRAM_N_PARAM] = {
	{ "program.call_ratio", "1", 0.05, 3, 0.47, 0.4 },      { "program.product_ratio", "1", 0.01, 2, 0.09, 0.5 },
	{ "program.back_ratio", "1", 0.2, 3, 1.4, 0.3 },        { "program.view_ratio", "1", 0.01, 1, 0.075, 0.5 },
	{ "program.module_ratio", "1", 0.01, 1, 0.085, 0.5 },   { "program.kernel_ratio", "1", 0.02, 1, 0.15, 0.5 },
	{ "program.tensor_ratio", "1", 0.001, 0.5, 0.14, 0.7 }, { "program.wait_s", "s", 1e-6, 1e-4, 1.5e-5, 0.5 },
	{ "program.walked_clocks", "1", 0.1, 4, 0.7, 0.3 },     { "program.cast_clocks", "1", 0.1, 4, 0.75, 0.3 },
	{ "program.across_gain", "1", 1, 16, 3, 0.5 },          { "program.reuse_gain", "1", 0.5, 50, 2, 0.7 },
	{ "program.grad_ratio", "1", 1, 4, 1.85, 0.3 },         { "program.step_ratio", "1", 0.05, 2, 0.3, 0.5 },
};

const struct jl_param_list jl_program_params = { .n = JL_PROGRAM_N_PARAM, .table = params, .key = "program" };

struct jl_program_fit jl_program_fit_of(const double *x)
{
	return (struct jl_program_fit){ .call_ratio = x[0],
					.product_ratio = x[1],
					.back_ratio = x[2],
					.view_ratio = x[3],
					.module_ratio = x[4],
					.kernel_ratio = x[5],
					.tensor_ratio = x[6],
					.wait_s = x[7],
					.walked_clocks = x[8],
					.cast_clocks = x[9],
					.across_gain = x[10],
					.reuse_gain = x[11],
					.grad_ratio = x[12],
					.step_ratio = x[13] };
}

struct jl_program_fit jl_program_shipped(const struct jl_catalog *cat)
{
	double x[JL_PROGRAM_N_PARAM];

	jl_params_read(cat, &jl_program_params, x);
	return jl_program_fit_of(x);
}
