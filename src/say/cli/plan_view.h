/* How plans look: text and JSON. */
#ifndef JL_CLI_PLAN_VIEW_H
#define JL_CLI_PLAN_VIEW_H

#include "cli/view.h"
#include "plan/batch_limit.h"
#include "plan/fleet.h"
#include "plan/search.h"
#include "plan/settings.h"

extern const char *const jl_plan_objectives[]; /* names, in the order of enum jl_plan_objective */

/* A search that is done, with its best plans weighed. */
struct jl_plan_answer {
	const struct jl_plan_ask *ask;
	const struct jl_plan_result *result;
	struct jl_case *how; /* result->top.n of them */
	struct jl_prediction *prediction;
	bool batch_given;
	double deadline_s, budget_usd; /* of the run; NAN: none */
	bool in_time, in_budget;       /* the best plan; also where there is no limit */
};

void jl_view_plan_case(struct jl_cli *cli, const struct jl_case *c); /* one line or two: how it is cut */
enum jl_status jl_view_plans(struct jl_cli *cli, const struct jl_plan_answer *answer, struct jl_err *err);
void jl_view_plans_json(struct jl_json *json, const struct jl_plan_answer *answer);

/* Counts and speed of a search, for text and JSON. */
void jl_view_searched(struct jl_cli *cli, const struct jl_plan_tally *tally, double search_s, bool stopped);
void jl_view_searched_json(struct jl_json *json, const struct jl_plan_tally *tally, double search_s, bool stopped);

/* Settings of one target, or why there are none. */
void jl_view_settings(struct jl_cli *cli, const struct jl_case *c, enum jl_plan_target target, size_t indent);
void jl_view_settings_json(struct jl_json *json, const struct jl_case *c);

/* plan_fleet_view.c */
enum jl_status jl_view_fleet(struct jl_cli *cli, const struct jl_fleet_ask *ask, const struct jl_fleet *fleet,
			     struct jl_err *err);
void jl_view_fleet_json(struct jl_json *json, const struct jl_fleet_ask *ask, const struct jl_fleet *fleet);

/* plan_batch_view.c */
struct jl_batch_row {
	const char *system;
	struct jl_batch_limit limit;
};
enum jl_status jl_view_batches(struct jl_cli *cli, const struct jl_batch_row *rows, size_t n, struct jl_err *err);
void jl_view_batches_json(struct jl_json *json, const struct jl_batch_row *rows, size_t n);

#endif
