/* Result of a plan search: the best plans with their costs, the limits of the run, the size of the search. */
#pragma once

#include "base/buf.h"
#include "base/fields.h"
#include "goodput/goodput.h"
#include "plan/fleet.h"
#include "plan/narrow.h"
#include "plan/search.h"
#include "plan/way.h"
#include "predict/predict.h"

/* Formats of settings for frameworks: Megatron-LM's flags, DeepSpeed's JSON, torchtitan's TOML, TRL's command. */
enum jl_plan_target { JL_PLAN_MEGATRON, JL_PLAN_DEEPSPEED, JL_PLAN_TORCHTITAN, JL_PLAN_TRL, JL_N_PLAN_TARGET };

const char *jl_plan_target_title(enum jl_plan_target target); /* "Megatron-LM" */

/* Why this target cannot run the case; en NULL: it can. */
struct jl_plan_reason {
	const char *en;
};
struct jl_plan_reason jl_plan_settings_absent(enum jl_plan_target target, const struct jl_case *c);

/* Contains what the plan determines, without data, learning rate and paths. */
void jl_plan_settings(struct jl_buf *out, enum jl_plan_target target, const struct jl_case *c);

/* The target whose framework the case was predicted for. */
enum jl_plan_target jl_plan_settings_of(const struct jl_case *c);

/* Largest batch of a system in one pass, and its fastest batch. */
/* A batch and its plan; batch 0: not even one sample per worker fits. */
struct jl_batch_point {
	double batch;  /* all workers, one pass each */
	double worker; /* per worker */
	struct jl_case how;
	struct jl_prediction prediction;
};

struct jl_batch_limit {
	struct jl_batch_point largest; /* plain data parallel: no recomputation, no offloading */
	struct jl_batch_point fastest; /* highest samples/s of all batches up to `largest` */
	/* with any memory saving: tensor and pipeline parallelism, ZeRO, recomputation, offloading */
	struct jl_batch_point most;
	double capacity_B;
};

struct jl_batch_ask {
	const struct jl_catalog *cat;
	struct jl_plan_site *site; /* the search changes its batch */
	const struct jl_plan_narrow *narrow;
	double memory_frac;
};

void jl_plan_batch_limit(struct jl_batch_limit *ret_limit, const struct jl_batch_ask *ask);

extern const char *const jl_plan_objectives[]; /* names by enum jl_plan_objective; NULL-terminated */

/* Size of one search, or of a fleet's. */
struct jl_plan_effort {
	struct jl_plan_tally tally;
	double search_s;
	bool stopped;
};

struct jl_plan_setting {
	const char *text;   /* settings to paste; NULL: see `absent` */
	const char *absent; /* reason for no settings */
};

struct jl_plan_ranked {
	int rank;
	double value; /* value of the objective */
	bool tied;    /* within the winner's interval, so not distinguishable from it */
	struct jl_case how;
	struct jl_prediction p;
	struct jl_elapsed elapsed; /* with failures: compared with the limits */
	struct jl_plan_setting settings[JL_N_PLAN_TARGET];
};

struct jl_plan_answer {
	const struct jl_plan_ask *ask;
	const struct jl_plan_result *result;
	struct jl_plan_effort effort;
	size_t n;
	struct jl_plan_ranked *plans;
	bool batch_given;
	double deadline_s, budget_usd; /* limits of the run; NAN: none */
	bool in_time, in_budget;       /* of the best plan; true if there is no limit */
	const struct jl_case *miss;    /* if no plan fits: the nearest one; NULL: no plan divides evenly */
	double miss_B, lacks_B;
};

/* Evaluates what the search found. */
enum jl_status jl_plan_answer_make(struct jl_plan_answer *answer, const struct jl_catalog *cat, struct jl_arena *arena,
				   struct jl_err *err);

/* Gain of a searched plan over predict's own plan; searched from JL_PLAN_HINT_GPUS GPUs on. */
#define JL_PLAN_HINT_GPUS 64
struct jl_plan_hint {
	double times; /* speedup; NAN: not searched, or no better plan */
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

extern const struct jl_schema jl_plan_fields, jl_fleet_fields, jl_batch_fields; /* JSON of the three answers */
