/* Parameters of power, and their mapping to struct jl_power_fit. */
#include "parameters/power_params.h"

/* Priors from known boards: about a fifth of the TDP idle at full clocks; HBM about 5 pJ/bit and the same again through L2 and SM; a board at its
 * limit averages 3 % below it. */
static const struct jl_param params[JL_POWER_N_PARAM] = {
	{ "power.idle_frac", "1", 0.05, 0.5, JL_POWER_IDLE_FRAC, 0.15 },
	{ "power.byte", "J/B", 30e-12, 500e-12, 130e-12, 0.15 },
	{ "power.flop", "J/FLOP", 0.3e-12, 6e-12, 1.5e-12, 0.2 },
	{ "power.cap_frac", "1", 0.85, 1.0, 0.97, 0.01 },
	{ "power.narrow_gain", "1", 0.8, 3, 1.5, 0.3 },
	{ "power.routed_gain", "1", 0.8, 2.5, 1.2, 0.2 },
};

const struct jl_param_list jl_power_params = { .n = JL_POWER_N_PARAM, .table = params };

struct jl_power_fit jl_power_fit_of(const double *x)
{
	return (struct jl_power_fit){ .idle_frac = x[0],
				      .byte_J = x[1],
				      .flop_J = x[2],
				      .cap_frac = x[3],
				      .narrow_gain = x[4],
				      .routed_gain = x[5] };
}

struct jl_power_fit jl_power_shipped(const struct jl_catalog *cat)
{
	double x[JL_POWER_N_PARAM];

	jl_params_read(cat, &jl_power_params, x);
	return jl_power_fit_of(x);
}
