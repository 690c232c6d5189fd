/* A CPU that nobody measured: listed, or estimated from its cores, clock and vector units. */
#pragma once

#include "check/own_params.h"

/* What the machine itself says of its processor: cores, memory and cache; no rates. */
void jl_own_cpu_plain(struct jl_cpu *ret_cpu, const struct jl_probe_machine *here);
/* The same with rates, and where they are from. */
void jl_own_cpu_guess(struct jl_own_cpu *ret_cpu, const struct jl_own_ask *ask);
