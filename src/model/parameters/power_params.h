/* Fitted parameters of power (struct jl_power_fit). Fitted to published board power; names begin with "power.". */
#pragma once

#include "power/power.h"
#include "parameters/params.h"

#define JL_POWER_N_PARAM 6
/* Prior of idle power at full clocks / TDP. */
#define JL_POWER_IDLE_FRAC 0.18

extern const struct jl_param_list jl_power_params;
/* Converts a vector to the struct; the order is the same. */
struct jl_power_fit jl_power_fit_of(const double *x);
struct jl_power_fit jl_power_shipped(const struct jl_catalog *cat); /* from the catalog's values */
