/* Simulator machines from a served model's cost model. */
#pragma once

#include "serve/sim.h"

/* Tokens per pass of a prompt machine. */
double jl_prompt_budget(const struct jl_serve_job *prompts, const struct jl_policy *policy);
/* Machines, front end and transfers. prompts: NULL, or the job of `n_prompts` prompt machines. */
struct jl_sim_setup jl_sim_setup_of(const struct jl_serve_job *job, double n, const struct jl_serve_job *prompts,
				    double n_prompts, const struct jl_policy *policy);
