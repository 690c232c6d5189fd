/* Finds the best plans to run a step on one system: exhaustive, parallel, deterministic for any number of threads. Never prints.
 *
 * Plans that share the cost of their blocks form an item. Items are processed in rounds. The results of earlier rounds give the bound of the
 * next, so that pruning does not depend on thread timing. Every plan is counted: evaluated, or rejected with its reason. */
#pragma once

#include "plan/narrow.h"
#include "plan/way.h"

enum jl_plan_objective { JL_PLAN_TIME, JL_PLAN_COST, JL_PLAN_ENERGY, JL_PLAN_TOKENS_PER_USD, JL_N_PLAN_OBJECTIVE };

#define JL_PLAN_BEST_MAX 32

struct jl_plan_found {
	struct jl_plan_way way;
	double value; /* objective per step: seconds, USD or joules; lower is better */
	double step_s, memory_B;
};

/* The best plans, at most one per model-parallel split. */
struct jl_plan_top {
	int n, room;
	struct jl_plan_found best[JL_PLAN_BEST_MAX];
};

struct jl_plan_tally {
	long long n_evaluated;
	long long n_memory;    /* does not fit into device memory */
	long long n_host;      /* fits the device, but offloaded data does not fit the host */
	long long n_framework; /* no framework supports it */
	long long n_slower;    /* pruned: its lower bound is above the plans kept */
	long long n_shape;     /* branches that do not divide evenly, counted once each */
	long long n_better;    /* evaluated and better than jl_plan_ask.mark_value */
};

/* Result of one team member in a round. */
struct jl_plan_share {
	struct jl_plan_top top;
	struct jl_plan_found miss; /* rejected for memory, with the smallest lack; value INFINITY: none */
	struct jl_plan_tally tally;
	int stopped;
};

/* Processes that search together: each takes every n-th item of a round. NULL in the request: a single process. */
struct jl_plan_team {
	int rank, n;
	/* Gathers all members' shares in rank order into `ret_all`, which has n entries. */
	enum jl_status (*gather)(void *ctx, const void *mine, size_t size_B, void *ret_all, struct jl_err *err);
	void *ctx;
};

struct jl_plan_progress {
	double done, total; /* items */
	const struct jl_plan_top *top;
};

struct jl_plan_ask {
	const struct jl_plan_site *site;
	struct jl_plan_narrow narrow;
	enum jl_plan_objective objective;
	double memory_frac;       /* usable fraction of device memory */
	double gpu_usdps;         /* rent of one GPU, USD/s; for cost objectives */
	int n_best;               /* up to JL_PLAN_BEST_MAX */
	struct jl_budget *budget; /* when it is used up the search ends with the best so far; NULL: no limit */
	int n_threads;            /* 0: number of processors */
	bool no_prune;            /* evaluate every plan that fits */
	double mark_value;        /* with no_prune: counts plans better than this; NAN: none */
	const struct jl_plan_team *team;
	/* called from the calling thread; NULL: none */
	void (*progress)(void *ctx, const struct jl_plan_progress *progress);
	void *progress_ctx;
};

struct jl_plan_result {
	struct jl_plan_top top;
	struct jl_plan_found miss;
	struct jl_plan_tally tally;
	bool stopped; /* ended early */
	double search_s;
	int n_threads;
};

enum jl_status jl_plan_search(struct jl_plan_result *ret_result, const struct jl_plan_ask *ask, struct jl_err *err);

/* Evaluated plus rejected plans. */
long long jl_plan_n_configurations(const struct jl_plan_tally *tally);

/* The objective's value for a predicted case, identical to the search's. */
double jl_plan_value(const struct jl_plan_ask *ask, const struct jl_case *c, const struct jl_step_cost *step);
