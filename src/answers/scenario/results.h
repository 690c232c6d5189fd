/* Everything that a report says, weighed once before a word is written: each system with the workload, scaling, all-reduce over nodes,
 * money. What cannot be weighed keeps its reason. */
#pragma once

#include "check/expect.h"
#include "cost/study.h"
#include "goodput/goodput.h"
#include "predict/answer.h"
#include "predict/compare.h"
#include "recommend/recommend.h"
#include "scenario/scenario.h"

struct jl_system_result {
	const struct jl_scenario_system *said;
	bool usable; /* false: `why` */
	struct jl_err why;
	struct jl_machine machine;
	bool predicted; /* the workload's model on it; false: `why_not`, empty where there is no model */
	struct jl_err why_not;
	struct jl_case how;
	struct jl_prediction prediction;
	const struct jl_compare_row *row; /* NULL: not compared */
	double rent_usdps;                /* of all its devices, on demand; NAN: no price known */
	const char *rent_source, *rent_date;
};

/* One number of GPUs (or one measured figure) under one mode. */
struct jl_scaling_point {
	const struct jl_system_result *of;
	int n_gpus;
	const char *mode; /* ddp, zero2, ...; NULL: as the workload says */
	bool predicted;
	bool fits;
	struct jl_err why;
	struct jl_estimate per_s; /* samples a second */
	struct jl_step_cost step;
	double measured_per_s; /* NAN: not measured */
	const struct jl_scenario_measured *measured;
	enum jl_recipe recipe;
	double global_batch;
	double speedup, measured_speedup; /* over one GPU in the same mode; NAN: not known */
	bool alike;                       /* that GPU and these run one recipe: then there is an efficiency */
	struct jl_scaled_gain above;      /* of an efficiency above JL_EFFICIENCY_PLAIN: what makes it so */
	struct jl_estimate speedup_range;
};

#define JL_SCALING_MODES_MAX 8

struct jl_scaling_result {
	const struct jl_system_result *of; /* NULL: no scaling to show */
	const char *modes[JL_SCALING_MODES_MAX];
	size_t n_modes;
	size_t n_counts;
	double counts[JL_SCENARIO_LIST_MAX];
	struct jl_scaling_point *points;  /* [n_modes * n_counts] */
	struct jl_scaling_point *further; /* measured elsewhere: other systems, other counts */
	size_t n_further;
};

struct jl_reduce_result {
	int n_nodes;
	bool known;
	struct jl_err why;
	struct jl_coll_expect expect;
	double measured_Bps;     /* algbw; NAN: none */
	enum jl_verdict verdict; /* of what was measured */
	const struct jl_scenario_measured *measured;
};

struct jl_scenario_results {
	const struct jl_scenario *scenario;
	const struct jl_catalog *cat;
	struct jl_arena *arena;
	long today;

	struct jl_system_result *systems;
	size_t n_systems;
	struct jl_subject subject;
	bool has_model, model_assumed;
	struct jl_request request;
	const struct jl_compare *compare; /* NULL: `compare_why`, empty where there is nothing to compare */
	struct jl_err compare_why;

	struct jl_scaling_result scaling;
	struct jl_reduce_result *reduce;
	size_t n_reduce;
	struct jl_sys reduce_sys;

	struct jl_cost_study *study; /* NULL: none asked for */

	struct jl_recommendation *found; /* of recommend:; NULL: none asked for, or `found_why` */
	struct jl_recommend_ask *found_ask;
	const struct jl_purpose *purpose; /* NULL: the scenario's own workload */
	struct jl_err found_why;

	struct jl_advice advice[JL_ADVICE_MAX];
	const struct jl_scenario_measured *advice_seen[JL_ADVICE_MAX]; /* what was measured before it; NULL: nothing */
	size_t n_advice;
	const struct jl_system_result *advised; /* what the advice is for */
	struct jl_goodput *goodput;             /* its run with failures; NULL: no length was said */
};

enum jl_status jl_compute_scenario(struct jl_scenario_results *ret_weighed, const struct jl_scenario *scenario,
				   const struct jl_catalog *cat, struct jl_arena *arena, long today,
				   struct jl_err *err);

/* Parts of it. */
enum jl_status jl_compute_scaling(struct jl_scenario_results *w, struct jl_err *err);
enum jl_status jl_compute_reduce(struct jl_scenario_results *w, struct jl_err *err);
enum jl_status jl_compute_cost(struct jl_scenario_results *w, struct jl_err *err);
