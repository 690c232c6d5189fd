#include <math.h>
#include <string.h>

#include "goodput/goodput.h"
#include "predict/fields.h"

JL_TEXT_OF(model_of, jl_goodput, r->job->how.subject.id);
JL_TEXT_OF(system_of, jl_goodput, r->job->how.machine.sys.text);
JL_NUMBER_OF(write_s, jl_goodput, jl_goodput_write_s(&r->setting));
JL_NUMBER_OF(stall_s, jl_goodput, jl_goodput_written(&r->point)->stall_s);
JL_NUMBER_OF(interval_s, jl_goodput, jl_goodput_written(&r->point)->work_s);
JL_NUMBER_OF(load_s, jl_goodput, jl_goodput_load_s(&r->setting));
JL_BOOL_OF(ends, jl_goodput, r->progresses && r->whole_run);
JL_BOOL_OF(fits, jl_goodput, r->job->prediction.room != JL_ROOM_NONE);
JL_BOOL_OF(progresses, jl_goodput, r->progresses);
JL_BOOL_OF(fails, jl_goodput, isfinite(r->mttf_s.hi));
JL_BOOL_OF(size_fails, jl_goodput_size, isfinite(r->mttf_s.hi));
JL_TEXT_OF(scope, jl_goodput, r->whole_run ? "run" : "30 days");

static const char *date_of(char out[JL_FIELD_TEXT_MAX], const struct jl_goodput *g, double elapsed_s)
{
	char text[JL_DATE_TEXT_MAX];

	jl_date_text(text, g->ask.start_day + (long)floor(fmin(elapsed_s, 3e12) / 86400));
	memcpy(out, text, strlen(text) + 1);
	return out;
}

#define DATE_OF(NAME, MEMBER)                                                                                          \
	static const char *NAME(const void *record, char out[JL_FIELD_TEXT_MAX])                                       \
	{                                                                                                              \
		return date_of(out, record, ((const struct jl_goodput *)record)->elapsed_s.MEMBER);                    \
	}
DATE_OF(end_date, value)
DATE_OF(end_early, lo)
DATE_OF(end_late, hi)

static const struct jl_field part_fields[] = {
	{ JL_FIELD_AS(jl_goodput_part, TEXT, key, "cause") }, { JL_FIELD(jl_goodput_part, NUMBER, frac) },
	{ JL_FIELD(jl_goodput_part, NUMBER, time_s) },        { JL_FIELD(jl_goodput_part, NUMBER, gpu_s) },
	{ JL_FIELD(jl_goodput_part, NUMBER, energy_J) },      { JL_FIELD(jl_goodput_part, NUMBER, cost_usd) },
};
static const struct jl_schema part = JL_SCHEMA("part", jl_goodput_part, part_fields);

static const struct jl_field kind_fields[] = {
	{ JL_FIELD_AS(jl_goodput_kind, TEXT, key, "kind") }, { JL_FIELD(jl_goodput_kind, NUMBER, share_frac) },
	{ JL_FIELD(jl_goodput_kind, NUMBER, n_failures) },   { JL_FIELD(jl_goodput_kind, NUMBER, lost_gpu_s) },
	{ JL_FIELD(jl_goodput_kind, NUMBER, cost_usd) },
};
static const struct jl_schema kind = JL_SCHEMA("failure_kind", jl_goodput_kind, kind_fields);

static const struct jl_field size_fields[] = {
	{ JL_FIELD(jl_goodput_size, NUMBER, n_gpus) },
	{ JL_FIELD(jl_goodput_size, ESTIMATE, mttf_s), .when = size_fails },
	{ JL_FIELD(jl_goodput_size, NUMBER, interval_s) },
	{ JL_FIELD(jl_goodput_size, ESTIMATE, effective_frac) },
	{ JL_FIELD_AS(jl_goodput_size, BOOL, own, "this_job") },
};
static const struct jl_schema size = JL_SCHEMA("size", jl_goodput_size, size_fields);

static const struct jl_field slot_fields[] = {
	{ JL_FIELD_AS(jl_spent, NUMBER, useful, "useful_s") },
	{ JL_FIELD_AS(jl_spent, NUMBER, checkpoint, "checkpoint_s") },
	{ JL_FIELD_AS(jl_spent, NUMBER, lost, "lost_s") },
	{ JL_FIELD_AS(jl_spent, NUMBER, down, "down_s") },
	{ JL_FIELD_AS(jl_spent, NUMBER, restart, "restart_s") },
	{ JL_FIELD_AS(jl_spent, NUMBER, planned, "planned_s") },
};
static const struct jl_schema slot = JL_SCHEMA("slot", jl_spent, slot_fields);

JL_BOOL_OF(has_log, jl_goodput, r->ask.seen != NULL);
#define SEEN(NAME, MEMBER) JL_NUMBER_OF(NAME, jl_goodput, r->ask.seen ? (double)r->ask.seen->MEMBER : NAN)
SEEN(seen_elapsed_s, elapsed_s);
SEEN(seen_useful_s, useful_s);
SEEN(seen_restarts, n_restarts);
SEEN(seen_restart_s, restart_s);
SEEN(seen_repeated_s, repeated_s);
SEEN(seen_checkpoint_s, checkpoint_s);
SEEN(seen_stall_s, stall_s);
static const struct jl_field seen_fields[] = {
	{ JL_FIELD_AS(jl_goodput, NUMBER, ask.seen_steps, "n_steps") },
	{ JL_FIELD_AS(jl_goodput, NUMBER, ask.left_steps, "n_steps_left") },
	{ JL_FIELD_NUMBER_OF("elapsed_s", seen_elapsed_s) },
	{ JL_FIELD_NUMBER_OF("useful_s", seen_useful_s) },
	{ JL_FIELD_NUMBER_OF("n_restarts", seen_restarts) },
	{ JL_FIELD_NUMBER_OF("restart_s", seen_restart_s) },
	{ JL_FIELD_NUMBER_OF("repeated_s", seen_repeated_s) },
	{ JL_FIELD_NUMBER_OF("checkpoint_s", seen_checkpoint_s) },
	{ JL_FIELD_NUMBER_OF("stall_s", seen_stall_s) },
};
static const struct jl_schema seen = JL_SCHEMA("log", jl_goodput, seen_fields);

static const struct jl_field elapsed_fields[] = {
	{ JL_FIELD(jl_elapsed, NUMBER, useful_frac) },
	{ JL_FIELD(jl_elapsed, ESTIMATE, time_s), .about = "with failures, checkpoints and restarts" },
	{ JL_FIELD(jl_elapsed, ESTIMATE, cost_usd) },
};
const struct jl_schema jl_elapsed_fields = JL_SCHEMA("elapsed", jl_elapsed, elapsed_fields);

static const struct jl_field fabric_fields[] = {
	{ JL_FIELD(jl_fabric_row, NUMBER, n_gpus) },
	{ JL_FIELD_AS(jl_fabric_row, NUMBER, step_s[JL_FABRIC_RAIL], "rail_s") },
	{ JL_FIELD_AS(jl_fabric_row, NUMBER, step_s[JL_FABRIC_TAPERED], "oversubscribed_s") },
	{ JL_FIELD_AS(jl_fabric_row, NUMBER, step_s[JL_FABRIC_TAPERED_APART], "oversubscribed_scattered_s") },
	{ JL_FIELD_AS(jl_fabric_row, NUMBER, step_s[JL_FABRIC_DRAGONFLY], "dragonfly_s") },
	{ JL_FIELD_AS(jl_fabric_row, NUMBER, step_s[JL_FABRIC_DRAGONFLY_APART], "dragonfly_scattered_s") },
};
static const struct jl_schema fabric = JL_SCHEMA("fabric", jl_fabric_row, fabric_fields);

JL_NUMBER_OF(co2_g, jl_campus, r->n_grids ? r->grids[0].co2_g : NAN);
JL_TEXT_OF(grid, jl_campus, r->n_grids ? r->grids[0].grid : NULL);
static const struct jl_field campus_fields[] = {
	{ JL_FIELD(jl_campus, NUMBER, n_racks) },
	{ JL_FIELD(jl_campus, NUMBER, hosts_a_rack) },
	{ JL_FIELD(jl_campus, NUMBER, machines_W), .about = "on average while the job runs, without cooling" },
	{ JL_FIELD(jl_campus, NUMBER, site_W) },
	{ JL_FIELD(jl_campus, NUMBER, standing_W), .about = "while the job waits or restarts" },
	{ JL_FIELD(jl_campus, NUMBER, cap_W), .flags = JL_FF_OMIT },
	{ JL_FIELD(jl_campus, NUMBER, slow_frac), .about = "steps take so much longer under the cap" },
	{ JL_FIELD(jl_campus, NUMBER, tokens_per_MWh) },
	{ JL_FIELD(jl_campus, NUMBER, energy_J) },
	{ JL_FIELD_TEXT_OF("grid", grid) },
	{ JL_FIELD_NUMBER_OF("co2_g", co2_g) },
	{ JL_FIELD(jl_campus, NUMBER, paid_gpus), .flags = JL_FF_OMIT },
	{ JL_FIELD(jl_campus, NUMBER, paid_s), .flags = JL_FF_OMIT },
	{ JL_FIELD(jl_campus, NUMBER, paid_usd), .flags = JL_FF_OMIT },
	{ JL_FIELD(jl_campus, NUMBER, unused_usd), .flags = JL_FF_OMIT },
	{ JL_FIELD_MANY(jl_campus, ARRAY, rows, n_rows, "fabrics", &fabric) },
};
static const struct jl_schema campus = JL_SCHEMA("campus", jl_campus, campus_fields);

static const struct jl_field help_fields[] = {
	{ JL_FIELD_AS(jl_goodput_help, TEXT, key, "change") }, { JL_FIELD_AS(jl_goodput_help, TEXT, en, "what") },
	{ JL_FIELD(jl_goodput_help, NUMBER, effective_frac) }, { JL_FIELD(jl_goodput_help, NUMBER, saved_s) },
	{ JL_FIELD(jl_goodput_help, NUMBER, saved_gpu_s) },    { JL_FIELD(jl_goodput_help, NUMBER, saved_usd) },
};
static const struct jl_schema help = JL_SCHEMA("help", jl_goodput_help, help_fields);

static const struct jl_field rate_fields[] = {
	{ JL_FIELD(jl_rates, TEXT, site), .about = "a published one; null: pooled from all, or given" },
	{ JL_FIELD(jl_rates, NUMBER, n_sites), .about = "published sites that the rate is pooled from" },
	{ JL_FIELD_AS(jl_rates, NUMBER, node.per_day, "per_node_day"), .about = "of a node of 8 GPUs, median" },
	{ JL_FIELD_AS(jl_rates, NUMBER, job.per_day, "per_day"), .about = "whatever the number of nodes, median" },
};
static const struct jl_schema rate = JL_SCHEMA("failure_rate", jl_rates, rate_fields);

static const struct jl_field fields[] = {
	{ JL_FIELD_TEXT_OF("model", model_of) },
	{ JL_FIELD_TEXT_OF("system", system_of) },
	{ JL_FIELD_AS(jl_goodput, NUMBER, setting.n_gpus, "n_gpus") },
	{ JL_FIELD_AS(jl_goodput, NUMBER, setting.n_nodes, "n_nodes") },
	{ JL_FIELD_AS(jl_goodput, NUMBER, setting.step_s, "step_s") },
	{ JL_FIELD_AS(jl_goodput, SUB, rates, "failure_rate"), .sub = &rate },
	{ JL_FIELD(jl_goodput, ESTIMATE, failures_per_day) },
	{ JL_FIELD(jl_goodput, ESTIMATE, mttf_s), .when = fails },
	{ JL_FIELD_AS(jl_goodput, CHOICE, setting.checkpoint, "checkpoint"), .choices = jl_checkpoint_choices },
	{ JL_FIELD_AS(jl_goodput, NUMBER, setting.checkpoint_B, "checkpoint_B") },
	{ JL_FIELD_AS(jl_goodput, NUMBER, setting.store_Bps, "store_Bps") },
	{ JL_FIELD_NUMBER_OF("write_s", write_s) },
	{ JL_FIELD_NUMBER_OF("stall_s", stall_s), .about = "the job waits so long for each checkpoint" },
	{ JL_FIELD_NUMBER_OF("interval_s", interval_s) },
	{ JL_FIELD(jl_goodput, NUMBER, interval_best_s), .about = "as good as it gets; null: nothing fails" },
	{ JL_FIELD(jl_goodput, NUMBER, interval_young_s) },
	{ JL_FIELD(jl_goodput, NUMBER, interval_daly_s) },
	{ JL_FIELD(jl_goodput, NUMBER, store_interval_s), .flags = JL_FF_OMIT },
	{ JL_FIELD_AS(jl_goodput, NUMBER, setting.detect_s, "detect_s") },
	{ JL_FIELD_AS(jl_goodput, NUMBER, setting.restart_s, "restart_s") },
	{ JL_FIELD_NUMBER_OF("load_s", load_s) },
	{ JL_FIELD_AS(jl_goodput, NUMBER, point.wait_s, "node_wait_s") },
	{ JL_FIELD_AS(jl_goodput, INT, setting.n_spares, "n_spares") },
	{ JL_FIELD_AS(jl_goodput, INT, spares_enough, "n_spares_enough"),
	  .about = "the fewest with which next to no time is waited for a node, at the upper end of the failure rate" },
	{ JL_FIELD_AS(jl_goodput, NUMBER, setting.repair_s, "repair_s") },
	{ JL_FIELD_AS(jl_goodput, CHOICE, setting.recovery, "recovery"), .choices = jl_recovery_choices },
	{ JL_FIELD_AS(jl_goodput, NUMBER, setting.replica_frac, "replica_frac"),
	  .about = "of the job: what one failure stops where the others go on" },
	{ JL_FIELD_AS(jl_goodput, BOOL, setting.states_cut, "states_cut"),
	  .about = "over all of the job: without a replica the others go back to the checkpoint" },
	{ JL_FIELD_AS(jl_goodput, NUMBER, setting.straggle_frac, "straggle_frac") },
	{ JL_FIELD_GROUP("log", &seen), .when = has_log },
	{ JL_FIELD_BOOL_OF("fits", fits) },
	{ JL_FIELD(jl_goodput, BOOL, progresses) },
	{ JL_FIELD(jl_goodput, ESTIMATE, effective_frac), .about = "time in steps that count / elapsed" },
	{ JL_FIELD(jl_goodput, ESTIMATE, goodput_frac), .about = "the same without what slow nodes take" },
	{ JL_FIELD_AS(jl_goodput, NUMBER, simulated_frac, "effective_simulated_frac") },
	{ JL_FIELD_TEXT_OF("scope", scope), .about = "what the times below are of" },
	{ JL_FIELD(jl_goodput, NUMBER, plain_s), .when = progresses, .about = "if nothing stopped it" },
	{ JL_FIELD(jl_goodput, ESTIMATE, elapsed_s), .when = progresses },
	{ JL_FIELD_TEXT_OF("end_date", end_date), .when = ends },
	{ JL_FIELD_TEXT_OF("end_date_early", end_early), .when = ends },
	{ JL_FIELD_TEXT_OF("end_date_late", end_late), .when = ends },
	{ JL_FIELD_AS(jl_goodput, ARRAY, parts, "time"), .length = JL_N_CAUSE, .sub = &part, .when = progresses },
	{ JL_FIELD(jl_goodput, NUMBER, spare_gpu_s), .when = progresses },
	{ JL_FIELD(jl_goodput, NUMBER, spare_usd), .when = progresses },
	{ JL_FIELD(jl_goodput, NUMBER, unused_gpu_s), .when = progresses,
	  .about = "rented in blocks or for a least time" },
	{ JL_FIELD(jl_goodput, NUMBER, rent_usd), .when = progresses, .about = "with spares and what is not used" },
	{ JL_FIELD(jl_goodput, ARRAY, kinds), .length = JL_N_FAILURE, .sub = &kind, .when = progresses },
	{ JL_FIELD_MANY(jl_goodput, ARRAY, sizes, n_sizes, "sizes", &size) },
	{ JL_FIELD_AS(jl_goodput, NUMBER, calendar.slot_s, "calendar_slot_s"), .when = progresses },
	{ JL_FIELD_MANY(jl_goodput, ARRAY, calendar.slots, calendar.n, "calendar", &slot) },
	{ JL_FIELD(jl_goodput, SUB, campus), .sub = &campus, .when = progresses },
	{ JL_FIELD_MANY(jl_goodput, ARRAY, helps, n_helps, "helps", &help) },
	{ JL_FIELD_MANY(jl_goodput, ARRAY, notes.items, notes.n, "assumptions", &jl_note_fields) },
};
const struct jl_schema jl_goodput_fields = JL_SCHEMA("goodput", jl_goodput, fields);
