/* Finds the best plan for each kind and number of GPUs, and the Pareto front of time and cost. */
#pragma once

#include "base/arena.h"
#include "goodput/goodput.h"
#include "plan/search.h"

#define JL_FLEET_KINDS_MAX 16
#define JL_FLEET_SIZES_MAX 128

struct jl_fleet_ask {
	const struct jl_catalog *cat;
	const struct jl_request *req; /* its system is used if there are no kinds */
	const struct jl_subject *subject;
	size_t n_kinds;
	const char *kinds[JL_FLEET_KINDS_MAX]; /* GPUs (eight per host) or systems of the catalog */
	size_t n_sizes;
	int sizes[JL_FLEET_SIZES_MAX]; /* numbers of GPUs */
	double deadline_s, budget_usd; /* NAN: none */
	struct jl_plan_ask plan;       /* site and rent are set per point */
	bool any_format, any_framework;
	/* Called before each search; returns false to stop. NULL: none. */
	bool (*next)(void *ctx, size_t i, size_t n, const char *kind, int n_gpus);
	void *next_ctx;
};

struct jl_fleet_point {
	const char *kind;
	int n_gpus;
	bool fits;               /* a plan fits; false: `miss_B` is what the nearest one lacks */
	bool possible;           /* false: the number is impossible; nearest possible ones: */
	int below, above;        /* 0: unknown */
	struct jl_err why;       /* missing information; empty otherwise */
	bool in_time, in_budget; /* true if there is no limit */
	bool surely;             /* also at the slow end of the intervals */
	bool on_front;
	double miss_B;
	struct jl_case how;
	struct jl_prediction prediction;
	struct jl_elapsed elapsed; /* with failures; used for ranking */
};

struct jl_fleet {
	size_t n;
	struct jl_fleet_point *points; /* by kind, then size */
	struct jl_plan_tally tally;
	double search_s;
	bool whole_run; /* times and costs are those of the run; false: of one step */
	bool stopped;
	int cheapest, fastest; /* among points surely within the limits, otherwise among those within; -1: none */
};

/* Parses "8..4096" or "8,16,32" into `ask`. A range has the powers of two and 1.5 times these. */
enum jl_status jl_fleet_sizes(struct jl_fleet_ask *ask, const char *text, struct jl_err *err);

/* The common batch of all points, needed to compare their times: the request's, otherwise predict's choice on the largest system of the first
 * kind. */
enum jl_status jl_fleet_batch(double *ret_batch, const struct jl_fleet_ask *ask, struct jl_arena *arena,
			      struct jl_err *err);

enum jl_status jl_fleet_search(struct jl_fleet *ret_fleet, const struct jl_fleet_ask *ask, struct jl_arena *arena,
			       struct jl_err *err);

/* Time and cost of a point: of the run with failures, or of one step if no length is given. */
const struct jl_estimate *jl_fleet_time(const struct jl_fleet_point *point);
double jl_fleet_time_s(const struct jl_fleet_point *point);
double jl_fleet_cost_usd(const struct jl_fleet_point *point);
