/* Everything that a report shows, computed before it is rendered: each system with the workload, scaling, all-reduce over nodes, costs. What
 * cannot be computed has its reason instead. */
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
	bool usable; /* false: see `why` */
	struct jl_err why;
	struct jl_machine machine;
	/* the workload was predicted on this system; false: see `why_not`, empty if there is no model */
	bool predicted;
	struct jl_err why_not;
	struct jl_case how;
	struct jl_prediction prediction;
	const struct jl_compare_row *row; /* NULL: not in the comparison */
	double rent_usdps;                /* all devices, on demand, USD/s; NAN: no price known */
	const char *rent_source, *rent_date;
};

/* A number of GPUs (or a measurement) in one mode. */
struct jl_scaling_point {
	const struct jl_system_result *of;
	int n_gpus;
	const char *mode; /* ddp, zero2, ...; NULL: as in the workload */
	bool predicted;
	bool fits;
	struct jl_err why;
	struct jl_estimate per_s; /* samples/s */
	struct jl_step_cost step;
	double measured_per_s; /* samples/s; NAN: not measured */
	const struct jl_scenario_measured *measured;
	enum jl_recipe recipe;
	double global_batch;
	double speedup, measured_speedup; /* relative to one GPU in the same mode; NAN: unknown */
	bool alike;                  /* one GPU and n GPUs run the same recipe, so that an efficiency is meaningful */
	struct jl_scaled_gain above; /* cause of an efficiency above JL_EFFICIENCY_PLAIN */
	struct jl_estimate speedup_range;
};

#define JL_SCALING_MODES_MAX 8

struct jl_scaling_result {
	const struct jl_system_result *of; /* NULL: no scaling in this report */
	const char *modes[JL_SCALING_MODES_MAX];
	size_t n_modes;
	size_t n_counts;
	double counts[JL_SCENARIO_LIST_MAX];
	struct jl_scaling_point *points;  /* [n_modes * n_counts] */
	struct jl_scaling_point *further; /* measurements on other systems or with other counts */
	size_t n_further;
};

struct jl_reduce_result {
	int n_nodes;
	bool known;
	struct jl_err why;
	struct jl_coll_expect expect;
	double measured_Bps;     /* algorithm bandwidth; NAN: not measured */
	enum jl_verdict verdict; /* verdict on the measurement */
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
	const struct jl_compare *compare; /* NULL: see `compare_why`, empty if there is nothing to compare */
	struct jl_err compare_why;

	struct jl_scaling_result scaling;
	struct jl_reduce_result *reduce;
	size_t n_reduce;
	struct jl_sys reduce_sys;

	struct jl_cost_study *study; /* NULL: not requested */

	struct jl_recommendation *found; /* for recommend:; NULL: not requested, or see `found_why` */
	struct jl_recommend_ask *found_ask;
	const struct jl_purpose *purpose; /* NULL: the scenario's own workload */
	struct jl_err found_why;

	struct jl_advice advice[JL_ADVICE_MAX];
	/* measurement of the advised change; NULL: none */
	const struct jl_scenario_measured *advice_seen[JL_ADVICE_MAX];
	size_t n_advice;
	const struct jl_system_result *advised; /* system that the advice is for */
	struct jl_goodput
		*goodput; /* its run with failures, or the first that holds one; NULL: the scenario gives no length */
	const struct jl_goodput **goodputs; /* runs of all systems that hold the model */
	size_t n_goodputs;
};

enum jl_status jl_compute_scenario(struct jl_scenario_results *ret_weighed, const struct jl_scenario *scenario,
				   const struct jl_catalog *cat, struct jl_arena *arena, long today,
				   struct jl_err *err);

/* Steps of jl_compute_scenario. */
enum jl_status jl_compute_scaling(struct jl_scenario_results *w, struct jl_err *err);
enum jl_status jl_compute_reduce(struct jl_scenario_results *w, struct jl_err *err);
enum jl_status jl_compute_cost(struct jl_scenario_results *w, struct jl_err *err);
