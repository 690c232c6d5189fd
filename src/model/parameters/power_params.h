/* What a device draws (struct jl_power_fit) as parameters that are fitted on published board power. Names begin with "power.". */
#pragma once

#include "power/power.h"
#include "parameters/params.h"

#define JL_POWER_N_PARAM 6
/* Idle draw with clocks up, of the TDP, before any fit. */
#define JL_POWER_IDLE_FRAC 0.18

extern const struct jl_param_list jl_power_params;
/* Parameter vector and struct, in their order. */
struct jl_power_fit jl_power_fit_of(const double *x);
struct jl_power_fit jl_power_shipped(const struct jl_catalog *cat); /* the catalog's values */
