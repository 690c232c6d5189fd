/* The simulator's machines from a served model's physics. */
#pragma once

#include "serve/sim.h"

/* Tokens of a pass of a machine for prompts alone. */
double jl_prompt_budget(const struct jl_serve_job *prompts, const struct jl_policy *policy);
/* Machines, front end and transfers. prompts: NULL, or the job of `n_prompts` machines of their own. */
struct jl_sim_setup jl_sim_setup_of(const struct jl_serve_job *job, double n, const struct jl_serve_job *prompts,
				    double n_prompts, const struct jl_policy *policy);
