/* One trial of a search: a layout of the system under the load. */
#pragma once

#include "serve/infer.h"
#include "serve/pass.h"

/* Shared by all trials of a search. */
struct jl_trial {
	const struct jl_catalog *cat;
	const struct jl_machine *machine;
	const struct jl_infer_ask *ask;
	struct jl_served model;
	struct jl_serve_fit fit;
	struct jl_op_fit ops;
	struct jl_serve_job job, prompts; /* of an answer machine, and of a separate prompt machine */
	struct jl_served draft_model;
	struct jl_serve_job draft; /* the draft, on the same devices */
	struct jl_sim_result r;
	struct jl_run_plan plan;
	int n_copies;
	double kv_tokens;       /* room of a copy */
	double at_once, n_more; /* closed loop: in the simulated machine, and beyond it */
	struct jl_arrival *room;
	size_t n_room;
	struct jl_served_request *served; /* NULL, or room for JL_TRIAL_REQUESTS of an open load */
};
#define JL_TRIAL_REQUESTS 20000

/* Number of machines like the simulated one; machines behind a router, or with prompts and answers, are simulated together. */
static inline double jl_trial_shares(const struct jl_trial *t)
{
	return t->ask->prompt_gpus > 0 || t->ask->least_busy ? 1 : t->n_copies;
}

static inline int jl_trial_prompt_gpus(const struct jl_infer_ask *ask)
{
	return ask->prompt_gpus * (ask->prompt_copies > 1 ? ask->prompt_copies : 1);
}

static inline int jl_trial_stages(const struct jl_infer_ask *ask)
{
	return ask->n_stages > 1 ? ask->n_stages : 1;
}

/* Mean prompt tokens over a session's turns; tokens of its last turn with its answer. */
static inline double jl_trial_prompt(const struct jl_infer_ask *ask)
{
	return ask->prompt + (ask->turns > 1 ? 0.5 * (ask->turns - 1) * (ask->answer + ask->turn_tokens) : 0);
}

static inline double jl_trial_longest(const struct jl_infer_ask *ask)
{
	const double answer = fmax(ask->answer, ask->answer_most);

	return ask->prompt + answer + (ask->turns > 1 ? (ask->turns - 1) * (answer + ask->turn_tokens) : 0);
}

static inline int jl_trial_token_budget(const struct jl_infer_ask *ask)
{
	return ask->batched_tokens > 0 ? ask->batched_tokens : jl_policy_of(ask->engine)->token_budget;
}

enum jl_status jl_trial_begin(struct jl_trial *t, const struct jl_catalog *cat, const struct jl_machine *machine,
			      const struct jl_infer_ask *ask, struct jl_err *err);

/* Runs the layout under the load: fills `r` and `plan`. */
enum jl_status jl_trial_run(struct jl_trial *t, int n_gpus, int n_copies, struct jl_err *err);

bool jl_trial_keeps_up(const struct jl_trial *t);
bool jl_trial_meets(const struct jl_trial *t); /* meets the targets and keeps up */

/* Requests that fit a copy of this many devices. */
double jl_trial_room(struct jl_trial *t, int n_gpus);
