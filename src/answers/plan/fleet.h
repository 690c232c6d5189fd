/* Over kinds and numbers of GPUs: the best plan of each, and which of them nothing beats in both time and money. */
#pragma once

#include "base/arena.h"
#include "goodput/goodput.h"
#include "plan/search.h"

#define JL_FLEET_KINDS_MAX 16
#define JL_FLEET_SIZES_MAX 128

struct jl_fleet_ask {
	const struct jl_catalog *cat;
	const struct jl_request *req; /* its system is used where there are no kinds */
	const struct jl_subject *subject;
	size_t n_kinds;
	const char *kinds[JL_FLEET_KINDS_MAX]; /* GPUs (eight a host) or systems of the catalog */
	size_t n_sizes;
	int sizes[JL_FLEET_SIZES_MAX]; /* GPUs */
	double deadline_s, budget_usd; /* NAN: none */
	struct jl_plan_ask plan;       /* site and rent are filled in for each */
	bool any_format, any_framework;
	/* Called before each search; false: stop. NULL: none. */
	bool (*next)(void *ctx, size_t i, size_t n, const char *kind, int n_gpus);
	void *next_ctx;
};

struct jl_fleet_point {
	const char *kind;
	int n_gpus;
	bool fits;               /* some plan does; else `miss_B` is what the nearest one lacks */
	bool possible;           /* false: this kind does not come in this number, but in these: */
	int below, above;        /* 0: not known */
	struct jl_err why;       /* not possible at all: what is missing; empty otherwise */
	bool in_time, in_budget; /* also where there is no limit */
	bool surely;             /* at the worst end of the intervals too */
	bool on_front;
	double miss_B;
	struct jl_case how;
	struct jl_prediction prediction;
	struct jl_elapsed elapsed; /* with failures: what is ranked */
};

struct jl_fleet {
	size_t n;
	struct jl_fleet_point *points; /* in the order of kinds, then sizes */
	struct jl_plan_tally tally;
	double search_s;
	bool whole_run; /* times and costs are of the run; else of a step */
	bool stopped;
	int cheapest, fastest; /* among those surely within both limits, else among those within; -1: none */
};

/* "8..4096", "8,16,32": sizes into `ask`. A range has the powers of two and three halves of them. */
enum jl_status jl_fleet_sizes(struct jl_fleet_ask *ask, const char *text, struct jl_err *err);

/* The batch of all points, or their times could not be compared: the request's, else what predict runs on the largest of the first kind. */
enum jl_status jl_fleet_batch(double *ret_batch, const struct jl_fleet_ask *ask, struct jl_arena *arena,
			      struct jl_err *err);

enum jl_status jl_fleet_search(struct jl_fleet *ret_fleet, const struct jl_fleet_ask *ask, struct jl_arena *arena,
			       struct jl_err *err);

/* Time and cost of a point: of the run with its failures, or of a step where no length was given. */
const struct jl_estimate *jl_fleet_time(const struct jl_fleet_point *point);
double jl_fleet_time_s(const struct jl_fleet_point *point);
double jl_fleet_cost_usd(const struct jl_fleet_point *point);
