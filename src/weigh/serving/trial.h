/* A cut of a system tried on a load: one copy of the model simulated, and whether it keeps up. */
#pragma once

#include "serving/infer.h"

/* What every try of a search shares. */
struct trial {
	const struct jl_catalog *cat;
	const struct jl_machine *machine;
	const struct jl_infer_ask *ask;
	struct jl_served model;
	struct jl_serve_fit fit;
	struct jl_op_fit ops;
	struct jl_serve_job job, prompts; /* of an answers' machine, and of a prompts' where they have their own */
	struct jl_sim_result r;
	struct jl_run_plan plan;
	int n_copies;
	struct jl_arrival *room;
	size_t n_room;
};

enum jl_status jl_trial_begin(struct trial *t, const struct jl_catalog *cat, const struct jl_machine *machine,
			      const struct jl_infer_ask *ask, struct jl_err *err);
/* So many copies of so many GPUs a stage, each with its share of the load. */
enum jl_status jl_trial_run(struct trial *t, int n_gpus, int n_copies, struct jl_err *err);
bool jl_trial_keeps_up(const struct trial *t);
/* The targets as well. */
bool jl_trial_meets(const struct trial *t);
/* Requests that so many GPUs hold beside the weights. */
double jl_trial_room(struct trial *t, int n_gpus);
double jl_trial_shares(const struct trial *t);
int jl_trial_prompt_gpus(const struct jl_infer_ask *ask);
int jl_trial_stages(const struct jl_infer_ask *ask);
