/* Fields of plan searches for JSON. */
#include "plan/answer.h"
#include "predict/fields.h"

/* --- size of the search */

JL_NUMBER_OF(n_configurations, jl_plan_effort, (double)jl_plan_n_configurations(&r->tally));
JL_NUMBER_OF(configurations_per_s, jl_plan_effort, n_configurations(record) / r->search_s);
JL_BOOL_OF(complete, jl_plan_effort, !r->stopped);

static const struct jl_field rejected[] = {
	{ JL_FIELD_AS(jl_plan_tally, LLONG, n_memory, "memory") },
	{ JL_FIELD_AS(jl_plan_tally, LLONG, n_host, "host_memory") },
	{ JL_FIELD_AS(jl_plan_tally, LLONG, n_framework, "framework") },
	{ JL_FIELD_AS(jl_plan_tally, LLONG, n_slower, "slower") },
	{ JL_FIELD_AS(jl_plan_tally, LLONG, n_shape, "shape") },
};
static const struct jl_schema rejected_schema = JL_SCHEMA("rejected", jl_plan_tally, rejected);

static const struct jl_field effort[] = {
	{ JL_FIELD_NUMBER_OF("n_configurations", n_configurations) },
	{ JL_FIELD_AS(jl_plan_effort, LLONG, tally.n_evaluated, "n_evaluated") },
	{ JL_FIELD_AS(jl_plan_effort, SUB, tally, "n_rejected"), .sub = &rejected_schema },
	{ JL_FIELD(jl_plan_effort, NUMBER, search_s) },
	{ JL_FIELD_NUMBER_OF("configurations_per_s", configurations_per_s) },
	{ JL_FIELD_BOOL_OF("complete", complete) },
};
static const struct jl_schema effort_schema = JL_SCHEMA("effort", jl_plan_effort, effort);

/* --- one system */

static const struct jl_field setting[] = {
	{ JL_FIELD(jl_plan_setting, TEXT, absent), .flags = JL_FF_OMIT },
	{ JL_FIELD(jl_plan_setting, TEXT, text), .flags = JL_FF_OMIT },
};
static const struct jl_schema setting_schema = JL_SCHEMA("setting", jl_plan_setting, setting);

#define TARGET(T, KEY)                                                                                                 \
	{                                                                                                              \
		JL_FIELD_AS(jl_plan_ranked, SUB, settings[T], KEY), .sub = &setting_schema                             \
	}
static const struct jl_field settings[] = {
	TARGET(JL_PLAN_MEGATRON, "megatron"),
	TARGET(JL_PLAN_DEEPSPEED, "deepspeed"),
	TARGET(JL_PLAN_TORCHTITAN, "torchtitan"),
	TARGET(JL_PLAN_TRL, "trl"),
};
static const struct jl_schema settings_schema = JL_SCHEMA("settings", jl_plan_ranked, settings);

JL_BOOL_OF(tp_overlap, jl_plan_ranked, r->how.plan.tp_async);
JL_BOOL_OF(keep_gathered, jl_plan_ranked, r->how.plan.keep_gathered);

JL_BOOL_OF(of_a_run, jl_plan_ranked, r->p.whole_run);
static const struct jl_field ranked[] = {
	{ JL_FIELD(jl_plan_ranked, INT, rank) },
	{ JL_FIELD(jl_plan_ranked, NUMBER, value) },
	{ JL_FIELD_AS(jl_plan_ranked, BOOL, tied, "indistinguishable") },
	{ JL_FIELD(jl_plan_ranked, SUB, how), .sub = &jl_case_fields, .flags = JL_FF_FLAT },
	{ JL_FIELD_BOOL_OF("tp_overlap", tp_overlap) },
	{ JL_FIELD_BOOL_OF("keep_gathered", keep_gathered) },
	{ JL_FIELD(jl_plan_ranked, SUB, p), .sub = &jl_prediction_fields, .flags = JL_FF_FLAT },
	{ JL_FIELD(jl_plan_ranked, SUB, elapsed), .sub = &jl_elapsed_fields, .when = of_a_run },
	{ JL_FIELD_GROUP("settings", &settings_schema) },
};
static const struct jl_schema ranked_schema = JL_SCHEMA("plan", jl_plan_ranked, ranked);

JL_TEXT_OF(model, jl_plan_answer, r->ask->site->base.subject.id);
JL_TEXT_OF(system_text, jl_plan_answer, r->ask->site->base.machine.sys.text);
JL_NUMBER_OF(n_gpus, jl_plan_answer, r->ask->site->base.n_gpus);
JL_NUMBER_OF(global_batch, jl_plan_answer, r->ask->site->global_batch);
JL_TEXT_OF(objective, jl_plan_answer, jl_plan_objectives[r->ask->objective]);
JL_NUMBER_OF(margin, jl_plan_answer, 1 - r->ask->memory_frac);
JL_NUMBER_OF(n_threads, jl_plan_answer, r->result->n_threads);
JL_BOOL_OF(found, jl_plan_answer, r->n > 0);
JL_BOOL_OF(missed, jl_plan_answer, r->miss != NULL);

static const struct jl_field miss[] = {
	{ JL_FIELD_AS(jl_plan_answer, NUMBER, miss_B, "memory_B") },
	{ JL_FIELD(jl_plan_answer, NUMBER, lacks_B) },
	{ JL_FIELD(jl_plan_answer, SEEN, miss), .sub = &jl_case_fields, .flags = JL_FF_FLAT },
};
static const struct jl_schema miss_schema = JL_SCHEMA("nearest_miss", jl_plan_answer, miss);

static const struct jl_field best[] = {
	{ JL_FIELD(jl_plan_ranked, SUB, how), .sub = &jl_assumed_fields, .flags = JL_FF_FLAT },
};
static const struct jl_schema best_schema = JL_SCHEMA("best_plan", jl_plan_ranked, best);

static const struct jl_field answer[] = {
	{ JL_FIELD_TEXT_OF("model", model) },
	{ JL_FIELD_TEXT_OF("system", system_text) },
	{ JL_FIELD_NUMBER_OF("n_gpus", n_gpus) },
	{ JL_FIELD_NUMBER_OF("global_batch", global_batch) },
	{ JL_FIELD_TEXT_OF("objective", objective) },
	{ JL_FIELD_NUMBER_OF("memory_margin_frac", margin) },
	{ JL_FIELD(jl_plan_answer, NUMBER, deadline_s) },
	{ JL_FIELD(jl_plan_answer, NUMBER, budget_usd) },
	{ JL_FIELD(jl_plan_answer, BOOL, in_time), .when = found },
	{ JL_FIELD(jl_plan_answer, BOOL, in_budget), .when = found },
	{ JL_FIELD(jl_plan_answer, SUB, effort), .sub = &effort_schema, .flags = JL_FF_FLAT },
	{ JL_FIELD_NUMBER_OF("n_threads", n_threads) },
	{ JL_FIELD_MANY(jl_plan_answer, LIST, plans, n, "plans", &ranked_schema) },
	{ JL_FIELD_GROUP("nearest_miss", &miss_schema), .when = missed },
	{ JL_FIELD(jl_plan_answer, SEEN, plans), .sub = &best_schema, .flags = JL_FF_FLAT, .when = found },
};
const struct jl_schema jl_plan_fields = JL_SCHEMA("plan_answer", jl_plan_answer, answer);

/* --- kinds and numbers of GPUs */

JL_BOOL_OF(lacks, jl_fleet_point, r->possible && !r->fits);
JL_BOOL_OF(has_below, jl_fleet_point, !r->possible && r->below);
JL_BOOL_OF(has_above, jl_fleet_point, !r->possible && r->above);
JL_BOOL_OF(fits, jl_fleet_point, r->fits);
JL_BOOL_OF(point_runs, jl_fleet_point, r->fits && r->prediction.whole_run);
JL_NUMBER_OF(time_s, jl_fleet_point, jl_fleet_time_s(r));

static const struct jl_field point_plan[] = {
	{ JL_FIELD(jl_fleet_point, SUB, how), .sub = &jl_case_fields, .flags = JL_FF_FLAT },
	{ JL_FIELD(jl_fleet_point, SUB, prediction), .sub = &jl_prediction_fields, .flags = JL_FF_FLAT },
};
static const struct jl_schema point_plan_schema = JL_SCHEMA("point_plan", jl_fleet_point, point_plan);

static const struct jl_field point[] = {
	{ JL_FIELD(jl_fleet_point, TEXT, kind) },
	{ JL_FIELD(jl_fleet_point, INT, n_gpus) },
	{ JL_FIELD(jl_fleet_point, BOOL, possible) },
	{ JL_FIELD(jl_fleet_point, BOOL, fits) },
	{ JL_FIELD_AS(jl_fleet_point, NUMBER, miss_B, "lacks_B"), .when = lacks },
	{ JL_FIELD_AS(jl_fleet_point, INT, below, "next_below"), .when = has_below },
	{ JL_FIELD_AS(jl_fleet_point, INT, above, "next_above"), .when = has_above },
	{ JL_FIELD(jl_fleet_point, BOOL, in_time), .when = fits },
	{ JL_FIELD(jl_fleet_point, BOOL, in_budget), .when = fits },
	{ JL_FIELD(jl_fleet_point, BOOL, surely), .when = fits, .about = "both limits are kept at the worst end too" },
	{ JL_FIELD(jl_fleet_point, BOOL, on_front), .when = fits },
	{ JL_FIELD_NUMBER_OF("time_s", time_s), .when = fits },
	{ JL_FIELD(jl_fleet_point, SUB, elapsed), .sub = &jl_elapsed_fields, .when = point_runs },
	{ JL_FIELD_GROUP("plan", &point_plan_schema), .when = fits },
};
static const struct jl_schema point_schema = JL_SCHEMA("point", jl_fleet_point, point);

JL_BOOL_OF(has_cheapest, jl_fleet, r->cheapest >= 0);
JL_BOOL_OF(has_fastest, jl_fleet, r->fastest >= 0);

static const struct jl_field fleet[] = {
	{ JL_FIELD_MANY(jl_fleet, LIST, points, n, "points", &point_schema) },
	{ JL_FIELD(jl_fleet, INT, cheapest), .when = has_cheapest, .about = "index of points" },
	{ JL_FIELD(jl_fleet, INT, fastest), .when = has_fastest, .about = "index of points" },
};
static const struct jl_schema fleet_schema = JL_SCHEMA("fleet", jl_fleet, fleet);

JL_TEXT_OF(fleet_model, jl_fleet_answer, r->ask->subject->id);
JL_NUMBER_OF(fleet_batch, jl_fleet_answer, r->ask->req->global_batch);
JL_TEXT_OF(fleet_objective, jl_fleet_answer, jl_plan_objectives[r->ask->plan.objective]);
JL_TEXT_OF(fleet_scope, jl_fleet_answer, r->fleet->whole_run ? "run" : "step");

static const struct jl_field limits[] = {
	{ JL_FIELD(jl_fleet_ask, NUMBER, deadline_s) },
	{ JL_FIELD(jl_fleet_ask, NUMBER, budget_usd) },
};
static const struct jl_schema limits_schema = JL_SCHEMA("limits", jl_fleet_ask, limits);

static const struct jl_field fleet_answer[] = {
	{ JL_FIELD_TEXT_OF("model", fleet_model) },
	{ JL_FIELD_NUMBER_OF("global_batch", fleet_batch) },
	{ JL_FIELD_TEXT_OF("objective", fleet_objective) },
	{ JL_FIELD_TEXT_OF("scope", fleet_scope) },
	{ JL_FIELD(jl_fleet_answer, SEEN, ask), .sub = &limits_schema, .flags = JL_FF_FLAT },
	{ JL_FIELD(jl_fleet_answer, SUB, effort), .sub = &effort_schema, .flags = JL_FF_FLAT },
	{ JL_FIELD(jl_fleet_answer, SEEN, fleet), .sub = &fleet_schema, .flags = JL_FF_FLAT },
};
const struct jl_schema jl_fleet_fields = JL_SCHEMA("fleet_answer", jl_fleet_answer, fleet_answer);

/* --- largest and fastest batch */

JL_BOOL_OF(any_batch, jl_batch_point, r->batch >= 1);

static const struct jl_field batch_point[] = {
	{ JL_FIELD(jl_batch_point, NUMBER, batch) },
	{ JL_FIELD_AS(jl_batch_point, NUMBER, worker, "batch_per_worker") },
	{ JL_FIELD(jl_batch_point, SUB, how), .sub = &jl_case_fields, .flags = JL_FF_FLAT, .when = any_batch },
	{ JL_FIELD(jl_batch_point, SUB, prediction), .sub = &jl_prediction_fields, .flags = JL_FF_FLAT,
	  .when = any_batch },
};
static const struct jl_schema batch_point_schema = JL_SCHEMA("batch_point", jl_batch_point, batch_point);

static const struct jl_field batch_row[] = {
	{ JL_FIELD(jl_batch_row, TEXT, system) },
	{ JL_FIELD_AS(jl_batch_row, SUB, limit.largest, "largest"), .sub = &batch_point_schema },
	{ JL_FIELD_AS(jl_batch_row, SUB, limit.fastest, "fastest"), .sub = &batch_point_schema },
	{ JL_FIELD_AS(jl_batch_row, SUB, limit.most, "with_every_means"), .sub = &batch_point_schema },
};
static const struct jl_schema batch_row_schema = JL_SCHEMA("batch_row", jl_batch_row, batch_row);

JL_TEXT_OF(batch_model, jl_batch_answer, r->subject->id);
JL_NUMBER_OF(batch_margin, jl_batch_answer, 1 - r->memory_frac);

static const struct jl_field batches[] = {
	{ JL_FIELD_TEXT_OF("model", batch_model) },
	{ JL_FIELD_NUMBER_OF("memory_margin_frac", batch_margin) },
	{ JL_FIELD_MANY(jl_batch_answer, LIST, rows, n, "systems", &batch_row_schema) },
};
const struct jl_schema jl_batch_fields = JL_SCHEMA("batches", jl_batch_answer, batches);
