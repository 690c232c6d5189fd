#include <math.h>

#include "serve/infer.h"

static const struct jl_field times_fields[] = {
	{ JL_FIELD(jl_infer_times, ESTIMATE, mean) },
	{ JL_FIELD(jl_infer_times, ESTIMATE, p50) },
	{ JL_FIELD(jl_infer_times, ESTIMATE, p90) },
	{ JL_FIELD(jl_infer_times, ESTIMATE, p99) },
};
static const struct jl_schema times = JL_SCHEMA("times", jl_infer_times, times_fields);

JL_TEXT_OF(rent_url, jl_rent, r->price ? r->price->url : NULL);

static const struct jl_field rent_fields[] = {
	{ JL_FIELD_AS(jl_rent, NUMBER, usdps, "usd_per_gpu_s") },
	{ JL_FIELD(jl_rent, TEXT, provider) },
	{ JL_FIELD(jl_rent, TEXT, item) },
	{ JL_FIELD(jl_rent, TEXT, region) },
	{ JL_FIELD(jl_rent, TEXT, date) },
	{ JL_FIELD_TEXT_OF("url", rent_url) },
};
static const struct jl_schema rent = JL_SCHEMA("rent", jl_rent, rent_fields);

static const struct jl_field step_fields[] = {
	{ JL_FIELD(jl_serve_step, NUMBER, weights_s) },  { JL_FIELD_AS(jl_serve_step, NUMBER, math_s, "products_s") },
	{ JL_FIELD(jl_serve_step, NUMBER, kv_s) },       { JL_FIELD(jl_serve_step, NUMBER, attention_s) },
	{ JL_FIELD(jl_serve_step, NUMBER, exchange_s) }, { JL_FIELD(jl_serve_step, NUMBER, fixed_s) },
};
static const struct jl_schema step = JL_SCHEMA("token_time", jl_serve_step, step_fields);

static const struct jl_field row_fields[] = {
	{ JL_FIELD(jl_infer_row, TEXT, weights) },
	{ JL_FIELD_AS(jl_infer_row, NUMBER, rate_hz, "rate_per_s") },
	{ JL_FIELD(jl_infer_row, BOOL, fits) },
	{ JL_FIELD(jl_infer_row, BOOL, keeps_up) },
	{ JL_FIELD(jl_infer_row, BOOL, knee) },
	{ JL_FIELD(jl_infer_row, NUMBER, weights_B) },
	{ JL_FIELD(jl_infer_row, INT, n_gpus) },
	{ JL_FIELD(jl_infer_row, ESTIMATE, ttft_p90_s) },
	{ JL_FIELD(jl_infer_row, ESTIMATE, tpot_p90_s) },
	{ JL_FIELD_AS(jl_infer_row, ESTIMATE, output_tps, "output_tokens_per_s") },
	{ JL_FIELD(jl_infer_row, ESTIMATE, usd_per_Mtoken_out) },
	{ JL_FIELD(jl_infer_row, NUMBER, busy_frac) },
};
static const struct jl_schema row = JL_SCHEMA("row", jl_infer_row, row_fields);

static const struct jl_field seen_fields[] = {
	{ JL_FIELD(jl_infer_seen, NUMBER, ttft_s) },        { JL_FIELD(jl_infer_seen, NUMBER, tpot_s) },
	{ JL_FIELD(jl_infer_seen, NUMBER, ttft_before_s) }, { JL_FIELD(jl_infer_seen, NUMBER, tpot_before_s) },
	{ JL_FIELD(jl_infer_seen, NUMBER, ttft_after_s) },  { JL_FIELD(jl_infer_seen, NUMBER, tpot_after_s) },
	{ JL_FIELD(jl_infer_seen, NUMBER, pass_factor) },   { JL_FIELD(jl_infer_seen, NUMBER, first_s) },
};
static const struct jl_schema seen = JL_SCHEMA("observed", jl_infer_seen, seen_fields);

static const struct jl_field sessions_fields[] = {
	{ JL_FIELD(jl_infer_sessions, INT, turns) },
	{ JL_FIELD(jl_infer_sessions, NUMBER, turn_tokens), .about = "new ones of each further turn" },
	{ JL_FIELD_AS(jl_infer_sessions, NUMBER, wait_s, "tool_wait_s") },
	{ JL_FIELD_AS(jl_infer_sessions, NUMBER, longest, "longest_tokens") },
	{ JL_FIELD_AS(jl_infer_sessions, NUMBER, held, "sessions_held"), .about = "at once within the targets" },
	{ JL_FIELD_AS(jl_infer_sessions, SUB, later_s, "later_ttft_s"), .sub = &times },
	{ JL_FIELD_AS(jl_infer_sessions, NUMBER, found_frac[JL_KV_DEVICE], "found_gpu_frac"),
	  .about = "of the tokens that a turn before had" },
	{ JL_FIELD_AS(jl_infer_sessions, NUMBER, found_frac[JL_KV_HOST], "found_host_frac") },
	{ JL_FIELD_AS(jl_infer_sessions, NUMBER, found_frac[JL_KV_DISK], "found_nvme_frac") },
	{ JL_FIELD(jl_infer_sessions, NUMBER, computed_frac), .about = "computed again" },
	{ JL_FIELD(jl_infer_sessions, NUMBER, other_host_B),
	  .about = "the same with this much memory of the host for keys and values; 0: without" },
	{ JL_FIELD_AS(jl_infer_sessions, NUMBER, other_held, "other_sessions_held") },
	{ JL_FIELD_AS(jl_infer_sessions, ESTIMATE, other_p90_s, "other_later_ttft_p90_s") },
	{ JL_FIELD(jl_infer_sessions, NUMBER, other_computed_frac) },
};
static const struct jl_schema sessions = JL_SCHEMA("sessions", jl_infer_sessions, sessions_fields);

JL_TEXT_OF(policy, jl_day, r->policy);

static const struct jl_field size_fields[] = {
	{ JL_FIELD_AS(jl_day_size, NUMBER, mean, "copies") },
	{ JL_FIELD_AS(jl_day_size, INT, least, "copies_least") },
	{ JL_FIELD_AS(jl_day_size, INT, most, "copies_most") },
	{ JL_FIELD(jl_day_size, NUMBER, within_frac), .about = "of the day's requests, within the targets" },
	{ JL_FIELD_AS(jl_day_size, NUMBER, worst_frac, "worst_hour_within_frac") },
	{ JL_FIELD(jl_day_size, NUMBER, gpu_h) },
	{ JL_FIELD(jl_day_size, NUMBER, usd) },
};
static const struct jl_schema size = JL_SCHEMA("size", jl_day_size, size_fields);

static const struct jl_field hour_fields[] = {
	{ JL_FIELD_AS(jl_day_hour, NUMBER, rate_hz, "rate_per_s") },
	{ JL_FIELD(jl_day_hour, NUMBER, copies) },
	{ JL_FIELD(jl_day_hour, NUMBER, within_frac) },
};
static const struct jl_schema hour = JL_SCHEMA("hour", jl_day_hour, hour_fields);

static const struct jl_field day_fields[] = {
	{ JL_FIELD_AS(jl_day, NUMBER, peak_hz, "peak_rate_per_s") },
	{ JL_FIELD_AS(jl_day, NUMBER, mean_hz, "mean_rate_per_s") },
	{ JL_FIELD_AS(jl_day, INT, gpus, "gpus_per_copy") },
	{ JL_FIELD_AS(jl_day, NUMBER, copy_hz, "copy_rate_per_s"), .about = "that a copy holds within the targets" },
	{ JL_FIELD(jl_day, NUMBER, start_s), .about = "of a copy, until it answers" },
	{ JL_FIELD(jl_day, NUMBER, load_s), .about = "of it: reading the weights" },
	{ JL_FIELD_AS(jl_day, NUMBER, target, "target_in_flight"),
	  .about = "requests under way and waiting for each copy, by which an autoscaler counts copies" },
	{ JL_FIELD_AS(jl_day, SUB, fixed, "static"), .sub = &size, .about = "as many copies as the peak needs" },
	{ JL_FIELD_AS(jl_day, SUB, scaled, "autoscaled"), .sub = &size },
	{ JL_FIELD_AS(jl_day, SUB, same, "static_same_gpu_h"), .sub = &size,
	  .about = "as many copies as autoscaling has in the mean" },
	{ JL_FIELD_MANY(jl_day, ARRAY, hours, n_hours, "hours", &hour), .about = "autoscaled" },
	{ JL_FIELD_TEXT_OF("policy", policy) },
};
static const struct jl_schema day = JL_SCHEMA("day", jl_day, day_fields);

static bool has_day(const void *record)
{
	return ((const struct jl_infer *)record)->day.asked;
}

static bool has_seen(const void *record)
{
	return ((const struct jl_infer *)record)->seen.pass_factor > 0;
}

static bool has_sessions(const void *record)
{
	return ((const struct jl_infer *)record)->sessions.turns > 1;
}

static bool is_job(const void *record)
{
	return ((const struct jl_infer *)record)->kind == JL_LOAD_JOB;
}

static bool has_adapters(const void *record)
{
	return ((const struct jl_infer *)record)->n_adapters > 0;
}

static bool has_target(const void *record)
{
	return ((const struct jl_infer *)record)->has_target;
}

static bool has_users_held(const void *record)
{
	return !isnan(((const struct jl_infer *)record)->users_held);
}

static bool is_overloaded(const void *record)
{
	return !((const struct jl_infer *)record)->keeps_up;
}

#define FLAG(N) JL_TEXT_OF(flag_##N, jl_infer, r->n_flags > (N) ? r->flags[N] : NULL)
FLAG(0);
FLAG(1);
FLAG(2);

#define TIMES(M) JL_FIELD(jl_infer, SUB, M), .sub = &times
static const struct jl_field fields[] = {
	{ JL_FIELD(jl_infer, TEXT, model) },
	{ JL_FIELD(jl_infer, TEXT, system) },
	{ JL_FIELD(jl_infer, TEXT, engine) },
	{ JL_FIELD(jl_infer, TEXT, weights) },
	{ JL_FIELD_AS(jl_infer, TEXT, kv, "kv_cache") },
	{ JL_FIELD_AS(jl_infer, CHOICE, kind, "load"), .choices = jl_load_choices },
	{ JL_FIELD(jl_infer, NUMBER, concurrency) },
	{ JL_FIELD_AS(jl_infer, NUMBER, rate_hz, "rate_per_s") },
	{ JL_FIELD(jl_infer, NUMBER, users) },
	{ JL_FIELD_AS(jl_infer, NUMBER, n_job, "job_requests"), .when = is_job },
	{ JL_FIELD(jl_infer, ESTIMATE, job_s), .when = is_job, .about = "until the last answer of the job" },
	{ JL_FIELD_AS(jl_infer, NUMBER, prompt, "prompt_tokens") },
	{ JL_FIELD_AS(jl_infer, NUMBER, answer, "answer_tokens") },
	{ JL_FIELD(jl_infer, INT, n_gpus), .about = "GPUs that share one copy of the model" },
	{ JL_FIELD(jl_infer, INT, n_copies) },
	{ JL_FIELD(jl_infer, INT, n_stages), .about = "pipeline stages of a copy" },
	{ JL_FIELD(jl_infer, INT, n_ep), .about = "GPUs that share the experts whole" },
	{ JL_FIELD(jl_infer, BOOL, dp_attention) },
	{ JL_FIELD(jl_infer, INT, prompt_gpus),
	  .about = "GPUs of each machine for prompts; 0: they have none of their own" },
	{ JL_FIELD(jl_infer, INT, prompt_copies) },
	{ JL_FIELD(jl_infer, BOOL, published_pair),
	  .about = "a source measured this version of the engine on this device; also where no engine is asked for" },
	{ JL_FIELD(jl_infer, TEXT, draft), .flags = JL_FF_OMIT },
	{ JL_FIELD(jl_infer, NUMBER, draft_B), .flags = JL_FF_OMIT },
	{ JL_FIELD(jl_infer, NUMBER, draft_frac), .flags = JL_FF_OMIT, .about = "of an answer's pass: what drafts" },
	{ JL_FIELD(jl_infer, INT, n_adapters), .when = has_adapters,
	  .about = "LoRA adapters that are served together" },
	{ JL_FIELD(jl_infer, INT, adapter_rank), .when = has_adapters },
	{ JL_FIELD(jl_infer, NUMBER, adapters_B), .when = has_adapters, .about = "all of them on each device" },
	{ JL_FIELD(jl_infer, NUMBER, adapters_frac), .when = has_adapters, .about = "of an answer's pass" },
	{ JL_FIELD(jl_infer, INT, n_gpus_used) },
	{ JL_FIELD(jl_infer, INT, n_gpus_system) },
	{ JL_FIELD(jl_infer, BOOL, fits) },
	{ JL_FIELD_AS(jl_infer, BOOL, checked, "load_checked") },
	{ JL_FIELD(jl_infer, NUMBER, weights_B) },
	{ JL_FIELD(jl_infer, NUMBER, capacity_B) },
	{ JL_FIELD(jl_infer, NUMBER, kv_token_B) },
	{ JL_FIELD(jl_infer, NUMBER, kv_tokens), .about = "room for keys and values of one copy" },
	{ JL_FIELD_AS(jl_infer, NUMBER, context_max, "context_max_tokens") },
	{ JL_FIELD_AS(jl_infer, NUMBER, context, "model_context_tokens"),
	  .about = "of the longest request that the model was made for" },
	{ JL_FIELD_AS(jl_infer, NUMBER, longest, "longest_request_tokens") },
	{ TIMES(ttft_s) },
	{ TIMES(tpot_s) },
	{ TIMES(itl_s) },
	{ TIMES(e2e_s) },
	{ JL_FIELD(jl_infer, ESTIMATE, requests_per_s) },
	{ JL_FIELD_AS(jl_infer, ESTIMATE, output_tps, "output_tokens_per_s") },
	{ JL_FIELD_AS(jl_infer, ESTIMATE, input_tps, "input_tokens_per_s") },
	{ JL_FIELD_AS(jl_infer, ESTIMATE, user_tps, "user_tokens_per_s") },
	{ JL_FIELD(jl_infer, NUMBER, kv_mean_frac) },
	{ JL_FIELD(jl_infer, NUMBER, kv_max_frac) },
	{ JL_FIELD(jl_infer, NUMBER, busy_frac) },
	{ JL_FIELD(jl_infer, NUMBER, prompt_busy_frac) },
	{ JL_FIELD(jl_infer, NUMBER, batch_mean), .about = "answered at once, in the mean over time" },
	{ JL_FIELD(jl_infer, NUMBER, batch_max) },
	{ JL_FIELD(jl_infer, LLONG, n_requests), .about = "simulated, of one copy" },
	{ JL_FIELD(jl_infer, LLONG, n_refused) },
	{ JL_FIELD(jl_infer, LLONG, n_preempted) },
	{ JL_FIELD(jl_infer, BOOL, keeps_up) },
	{ JL_FIELD_AS(jl_infer, TEXT, bound, "bound_by") },
	{ JL_FIELD(jl_infer, NUMBER, bound_frac) },
	{ JL_FIELD_AS(jl_infer, SUB, step, "token_time"), .sub = &step },
	{ JL_FIELD(jl_infer, NUMBER, power_W) },
	{ JL_FIELD_AS(jl_infer, NUMBER, energy_J_token, "energy_J_per_token") },
	{ JL_FIELD(jl_infer, NUMBER, pue) },
	{ JL_FIELD(jl_infer, NUMBER, usd_per_kWh) },
	{ JL_FIELD(jl_infer, SUB, rent), .sub = &rent },
	{ JL_FIELD(jl_infer, ESTIMATE, usd_per_Mtoken_out) },
	{ JL_FIELD(jl_infer, ESTIMATE, usd_per_Mtoken_in) },
	{ JL_FIELD_AS(jl_infer, NUMBER, power_usd_per_Mtoken, "electricity_usd_per_Mtoken_out") },
	{ JL_FIELD(jl_infer, NUMBER, ttft_max_s), .when = has_target },
	{ JL_FIELD(jl_infer, NUMBER, tpot_max_s), .when = has_target },
	{ JL_FIELD(jl_infer, BOOL, meets), .when = has_target },
	{ JL_FIELD_AS(jl_infer, NUMBER, rate_max_hz, "rate_max_per_s"), .when = has_target },
	{ JL_FIELD_AS(jl_infer, NUMBER, rate_held_hz, "rate_held_per_s"), .when = is_overloaded,
	  .about = "the largest rate that is answered as fast as it comes" },
	{ JL_FIELD(jl_infer, NUMBER, users_held), .when = has_users_held,
	  .about = "people that it answers as fast as they ask; where there are targets, within them" },
	{ JL_FIELD_TEXT_OF("flags", flag_0), .flags = JL_FF_OMIT },
	{ JL_FIELD_TEXT_OF("flags_2", flag_1), .flags = JL_FF_OMIT },
	{ JL_FIELD_TEXT_OF("flags_3", flag_2), .flags = JL_FF_OMIT },
	{ JL_FIELD_AS(jl_infer, SUB, seen, "observed"), .sub = &seen, .when = has_seen },
	{ JL_FIELD(jl_infer, SUB, sessions), .sub = &sessions, .when = has_sessions },
	{ JL_FIELD(jl_infer, SUB, day), .sub = &day, .when = has_day },
	{ JL_FIELD_MANY(jl_infer, ARRAY, rows, n_rows, "rows", &row) },
};
const struct jl_schema jl_infer_fields = JL_SCHEMA("infer", jl_infer, fields);
