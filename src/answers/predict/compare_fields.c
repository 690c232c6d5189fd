/* Fields of comparisons for JSON. */
#include <math.h>

#include "predict/compare.h"
#include "predict/fields.h"

/* --- at one batch */

JL_BOOL_OF(possible, jl_compare_at, r->possible);

JL_BOOL_OF(impossible, jl_compare_at, !possible(r));

JL_BOOL_OF(has_parts, jl_compare_at, possible(record) && !isnan(r->part_s.matrix));

static const struct jl_field parts[] = {
	{ JL_FIELD(jl_step_share, NUMBER, matrix) },
	{ JL_FIELD(jl_step_share, NUMBER, memory) },
	{ JL_FIELD(jl_step_share, NUMBER, host) },
	{ JL_FIELD(jl_step_share, NUMBER, links) },
};
static const struct jl_schema parts_schema = JL_SCHEMA("step_parts", jl_step_share, parts);

#define AT(TYPE, M, KEY) JL_FIELD_AS(jl_compare_at, TYPE, M, KEY), .when = possible
#define AT_KNOWN(M)      AT(ESTIMATE, M, #M), .flags = JL_FF_OMIT
static const struct jl_field at[] = {
	{ JL_FIELD(jl_compare_at, BOOL, possible) },
	{ JL_FIELD_AS(jl_compare_at, WHY, why, "reason"), .when = impossible },
	{ AT(BOOL, fits, "fits") },
	{ AT(NUMBER, batch, "batch"), .about = "samples of a step, all devices" },
	{ AT(NUMBER, micro_batch, "micro_batch") },
	{ AT(NUMBER, n_passes, "n_passes") },
	{ AT(NUMBER, batches, "batches_per_epoch"), .flags = JL_FF_OMIT },
	{ AT_KNOWN(step_s) },
	{ AT_KNOWN(epoch_s) },
	{ AT_KNOWN(run_s) },
	{ AT_KNOWN(repeat_s) },
	{ AT_KNOWN(tune_s) },
	{ AT_KNOWN(speedup), .about = "samples a second over the baseline's at its batch" },
	{ AT_KNOWN(energy_J) },
	{ AT(BOOL, host_power, "energy_with_hosts") },
	{ JL_FIELD_AS(jl_compare_at, SUB, part_s, "breakdown_s"), .sub = &parts_schema, .when = has_parts },
};
static const struct jl_schema at_schema = JL_SCHEMA("at_batch", jl_compare_at, at);

/* --- one system */

JL_TEXT_OF(row_origin, jl_compare_row, r->observed ? "observed" : "estimated");
JL_BOOL_OF(is_planned, jl_compare_row, r->plan.dp >= 1);

static const struct jl_field row[] = {
	{ JL_FIELD(jl_compare_row, TEXT, system) },
	{ JL_FIELD(jl_compare_row, INT, n_devices) },
	{ JL_FIELD_TEXT_OF("origin", row_origin) },
	{ JL_FIELD_AS(jl_compare_row, NUMBER, limit, "batch_limit_per_device") },
	{ JL_FIELD_AS(jl_compare_row, SUB, plan, "parallel"), .sub = &jl_parallel_fields, .when = is_planned },
	{ JL_FIELD_AS(jl_compare_row, CHOICE, plan.recompute, "recompute"), .choices = jl_recompute_choices,
	  .when = is_planned },
	{ JL_FIELD_AS(jl_compare_row, SUB, at[JL_AT_SAME_BATCH], "at_same_batch"), .sub = &at_schema },
	{ JL_FIELD_AS(jl_compare_row, SUB, at[JL_AT_LARGEST_BATCH], "at_largest_batch"), .sub = &at_schema },
};
static const struct jl_schema row_schema = JL_SCHEMA("compared_system", jl_compare_row, row);

/* --- the observed run */

JL_NUMBER_OF(epoch_s, jl_observed, r->batches * r->step_s);
JL_TEXT_OF(mix_id, jl_observed, jl_mixes[r->kind].id);

JL_TEXT_OF(precision, jl_observed, r->dtype == JL_UNSET ? NULL : jl_dtype_name((enum jl_dtype)r->dtype));

static const struct jl_field observed[] = {
	{ JL_FIELD(jl_observed, NUMBER, step_s) },
	{ JL_FIELD(jl_observed, NUMBER, batch) },
	{ JL_FIELD_AS(jl_observed, NUMBER, batches, "batches_per_epoch"), .flags = JL_FF_OMIT },
	{ JL_FIELD_NUMBER_OF("epoch_s", epoch_s), .flags = JL_FF_OMIT },
	{ JL_FIELD_TEXT_OF("kind", mix_id) },
	{ JL_FIELD_TEXT_OF("precision", precision) },
};
static const struct jl_schema observed_schema = JL_SCHEMA("observed_run", jl_observed, observed);

static const struct jl_field mix[] = {
	{ JL_FIELD_AS(jl_observed_mix, ESTIMATE, matrix, "matrix_frac") },
	{ JL_FIELD_AS(jl_observed_mix, ESTIMATE, memory, "memory_frac") },
	{ JL_FIELD_AS(jl_observed_mix, ESTIMATE, host, "host_frac") },
	{ JL_FIELD_AS(jl_observed_mix, ESTIMATE, links, "links_frac") },
};
static const struct jl_schema mix_schema = JL_SCHEMA("mix", jl_observed_mix, mix);

static const struct jl_field seen[] = {
	{ JL_FIELD(jl_compare_seen, SUB, run), .sub = &observed_schema, .flags = JL_FF_FLAT },
	{ JL_FIELD(jl_compare_seen, SUB, mix), .sub = &mix_schema },
};
static const struct jl_schema seen_schema = JL_SCHEMA("observed", jl_compare_seen, seen);

/* --- the whole comparison */

JL_BOOL_OF(is_run, jl_compare, !r->subject);

JL_BOOL_OF(is_model, jl_compare, !is_run(r));

JL_TEXT_OF(model, jl_compare, r->subject ? r->subject->id : NULL);

JL_VALUE_OF(size_t, n_others, jl_compare, r->n_rows - 1);

static const struct jl_field fields[] = {
	{ JL_FIELD_AS(jl_compare, SUB, seen, "observed"), .sub = &seen_schema, .when = is_run },
	{ JL_FIELD_TEXT_OF("model", model), .when = is_model },
	{ JL_FIELD(jl_compare, NUMBER, epochs) },
	{ JL_FIELD(jl_compare, NUMBER, repeat), .flags = JL_FF_OMIT },
	{ JL_FIELD(jl_compare, NUMBER, tune), .flags = JL_FF_OMIT },
	{ JL_FIELD(jl_compare, NUMBER, pue) },
	{ JL_FIELD_AS(jl_compare, SUB, rows[0], "baseline"), .sub = &row_schema },
	{ JL_FIELD_AS(jl_compare, ARRAY, rows[1], "systems"), .sub = &row_schema, .count_of = n_others },
	{ JL_FIELD_MANY(jl_compare, ARRAY, notes.items, notes.n, "assumptions", &jl_note_fields) },
};
const struct jl_schema jl_compare_fields = JL_SCHEMA("comparison", jl_compare, fields);
