/* The best of all ways to run a step on one system: exhaustive, in parallel, the same answer for any number of threads.
 *
 * Ways that share the price of their blocks form an item. Items are taken in rounds; what the rounds before have found
 * bounds the next one, so that pruning does not depend on who was faster. Every way is counted: evaluated, or rejected
 * with its reason. Never prints. */
#pragma once

#include "plan/narrow.h"
#include "plan/way.h"

enum jl_plan_objective { JL_PLAN_TIME, JL_PLAN_COST, JL_PLAN_ENERGY, JL_PLAN_TOKENS_PER_USD, JL_N_PLAN_OBJECTIVE };

#define JL_PLAN_BEST_MAX 32

struct jl_plan_found {
	struct jl_plan_way way;
	double value; /* of a step: seconds, USD or joules; less is better */
	double step_s, memory_B;
};

/* The best ways, no two with the same cut of the model. */
struct jl_plan_top {
	int n, room;
	struct jl_plan_found best[JL_PLAN_BEST_MAX];
};

struct jl_plan_tally {
	long long n_evaluated;
	long long n_memory;    /* does not fit */
	long long n_host;      /* fits the device, but what it offloads does not fit the host */
	long long n_framework; /* no framework runs it */
	long long n_slower;    /* a bound on its time is above the plans that are kept */
	long long n_shape;     /* branches that do not divide: one each, however many ways hang on it */
	long long n_better;    /* evaluated, and better than jl_plan_ask.mark_value */
};

/* What one member of a team found in a round. */
struct jl_plan_share {
	struct jl_plan_top top;
	struct jl_plan_found miss; /* rejected for memory by the least; value INFINITY: none */
	struct jl_plan_tally tally;
	int stopped;
};

/* Processes that search together: each takes every n-th item of a round. NULL in the request: alone. */
struct jl_plan_team {
	int rank, n;
	/* Everybody's share, in the order of ranks, into `ret_all`, which has room for n of them. */
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
	double memory_frac;       /* of the device: more than this does not fit */
	double gpu_usdps;         /* rent of one GPU; for the objectives that need it */
	int n_best;               /* up to JL_PLAN_BEST_MAX */
	struct jl_budget *budget; /* once it is over the search ends with the best so far; NULL: no limit */
	int n_threads;            /* 0: as many as there are processors */
	bool no_prune;            /* evaluate everything that fits */
	double mark_value;        /* with no_prune: count what is better than this; NAN: nothing */
	const struct jl_plan_team *team;
	void (*progress)(void *ctx, const struct jl_plan_progress *progress); /* from the calling thread; NULL: none */
	void *progress_ctx;
};

struct jl_plan_result {
	struct jl_plan_top top;
	struct jl_plan_found miss;
	struct jl_plan_tally tally;
	bool stopped; /* before the end */
	double search_s;
	int n_threads;
};

enum jl_status jl_plan_search(struct jl_plan_result *ret_result, const struct jl_plan_ask *ask, struct jl_err *err);

/* Evaluated and rejected, all reasons. */
long long jl_plan_n_configurations(const struct jl_plan_tally *tally);

/* What the objective says of a case that was weighed: the same number as the search's. */
double jl_plan_value(const struct jl_plan_ask *ask, const struct jl_case *c, const struct jl_step_cost *step);
