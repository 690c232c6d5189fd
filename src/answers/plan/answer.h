/* Result of a plan search: the best ways with their prices, the limits of the run, the size of the search. */
#pragma once

#include "base/buf.h"
#include "base/fields.h"
#include "goodput/goodput.h"
#include "plan/fleet.h"
#include "plan/narrow.h"
#include "plan/search.h"
#include "plan/way.h"
#include "predict/predict.h"

/* A way to run as settings that can be pasted: Megatron-LM's flags, DeepSpeed's JSON, torchtitan's TOML, TRL's command. */
enum jl_plan_target { JL_PLAN_MEGATRON, JL_PLAN_DEEPSPEED, JL_PLAN_TORCHTITAN, JL_PLAN_TRL, JL_N_PLAN_TARGET };

const char *jl_plan_target_title(enum jl_plan_target target); /* "Megatron-LM" */

/* Why this target cannot run the case; NULL: it can. */
struct jl_plan_reason {
	const char *en;
};
struct jl_plan_reason jl_plan_settings_absent(enum jl_plan_target target, const struct jl_case *c);

/* Only what the plan decides; data, learning rate and paths are not in it. */
void jl_plan_settings(struct jl_buf *out, enum jl_plan_target target, const struct jl_case *c);

/* Which target the case was weighed for. */
enum jl_plan_target jl_plan_settings_of(const struct jl_case *c);

/* How large a batch a system holds in one pass, and which batch runs fastest. */
/* A batch with how it runs; batch 0: not even one sample a worker. */
struct jl_batch_point {
	double batch;  /* all workers, one pass each */
	double worker; /* of one worker */
	struct jl_case how;
	struct jl_prediction prediction;
};

struct jl_batch_limit {
	struct jl_batch_point largest; /* data parallel as is: no recompute, nothing offloaded */
	struct jl_batch_point fastest; /* most samples a second of those up to `largest` */
	struct jl_batch_point most;    /* with whatever makes room: slices, ZeRO, recompute, offload */
	double capacity_B;
};

struct jl_batch_ask {
	const struct jl_catalog *cat;
	struct jl_plan_site *site; /* its batch is changed on the way */
	const struct jl_plan_narrow *narrow;
	double memory_frac;
};

void jl_plan_batch_limit(struct jl_batch_limit *ret_limit, const struct jl_batch_ask *ask);

extern const char *const jl_plan_objectives[]; /* names, in the order of enum jl_plan_objective; NULL ends them */

/* How much was searched, by one search or by a fleet of them. */
struct jl_plan_effort {
	struct jl_plan_tally tally;
	double search_s;
	bool stopped;
};

struct jl_plan_setting {
	const char *text;   /* to be pasted; NULL: */
	const char *absent; /* why there is none */
};

struct jl_plan_ranked {
	int rank;
	double value; /* what was to be best */
	bool tied;    /* inside the winner's interval: not distinguishable */
	struct jl_case how;
	struct jl_prediction p;
	struct jl_elapsed elapsed; /* with failures: what limits are held against */
	struct jl_plan_setting settings[JL_N_PLAN_TARGET];
};

struct jl_plan_answer {
	const struct jl_plan_ask *ask;
	const struct jl_plan_result *result;
	struct jl_plan_effort effort;
	size_t n;
	struct jl_plan_ranked *plans;
	bool batch_given;
	double deadline_s, budget_usd; /* of the run; NAN: none */
	bool in_time, in_budget;       /* the best plan; also where there is no limit */
	const struct jl_case *miss;    /* where none fits: the nearest one; NULL: nothing divides */
	double miss_B, lacks_B;
};

/* Weighs what the search has found. */
enum jl_status jl_plan_answer_make(struct jl_plan_answer *answer, const struct jl_catalog *cat, struct jl_arena *arena,
				   struct jl_err *err);

/* Gain of a plan search over a prediction without a given plan; searched from this many GPUs on. */
#define JL_PLAN_HINT_GPUS 64
struct jl_plan_hint {
	double times; /* as fast; NAN: not asked, or nothing is found */
	double step_s;
	struct jl_case how;
};
void jl_plan_hint(struct jl_plan_hint *ret_hint, const struct jl_catalog *cat, const struct jl_request *req,
		  const struct jl_case *c, double step_s, struct jl_arena *arena);

struct jl_fleet_answer {
	const struct jl_fleet_ask *ask;
	const struct jl_fleet *fleet;
	struct jl_plan_effort effort;
};

struct jl_batch_row {
	const char *system;
	struct jl_batch_limit limit;
};
struct jl_batch_answer {
	const struct jl_subject *subject;
	double memory_frac;
	size_t n;
	struct jl_batch_row *rows;
};

extern const struct jl_schema jl_plan_fields, jl_fleet_fields, jl_batch_fields; /* --json of the three */
