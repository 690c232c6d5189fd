/* Fields of cost studies and bills for JSON and documents. */
#include <math.h>

#include "base/fields.h"
#include "cost/study.h"

#define MICRO 1e6 /* money and shares are stored in millionths */

static const struct jl_choice currency_choices[] = { { "USD", JL_USD }, { "KRW", JL_KRW }, { NULL, 0 } };

JL_BOOL_OF(is_rented, jl_cost_option, jl_cost_is_rent(r->kind));

JL_BOOL_OF(is_owned, jl_cost_option, !is_rented(r));

JL_BOOL_OF(row_is_owned, jl_cost_row, is_owned(r->option));
JL_BOOL_OF(is_counted, jl_cost_option, r->n_gpus > 0);
JL_BOOL_OF(has_host, jl_cost_option, r->host.micro != 0);
JL_TEXT_OF(kind, jl_cost_option, jl_cost_kind_key(r->kind));
JL_TEXT_OF(system_text, jl_cost_option, r->has_system ? r->system.text : NULL);
JL_TEXT_OF(price_currency, jl_cost_option, jl_currency_name(is_rented(r) ? r->per_hour.currency : r->price.currency));
JL_TEXT_OF(price_origin, jl_cost_option, r->price_date ? "listed" : "given");
JL_TEXT_OF(watts_origin, jl_cost_option, r->watts_predicted ? "predicted" : r->watts_assumed ? "assumed" : "given");

static const struct jl_field option[] = {
	{ JL_FIELD(jl_cost_option, CHARS, name) },
	{ JL_FIELD_TEXT_OF("kind", kind) },
	{ JL_FIELD_TEXT_OF("system", system_text) },
	{ JL_FIELD(jl_cost_option, INT, n_gpus), .when = is_counted },
	{ JL_FIELD_AS(jl_cost_option, LLONG, per_hour.micro, "rent_per_hour"), .scale = MICRO, .when = is_rented },
	{ JL_FIELD_AS(jl_cost_option, LLONG, price.micro, "price"), .scale = MICRO, .when = is_owned },
	{ JL_FIELD_TEXT_OF("price_currency", price_currency) },
	{ JL_FIELD_TEXT_OF("price_origin", price_origin) },
	{ JL_FIELD(jl_cost_option, TEXT, price_date) },
	{ JL_FIELD(jl_cost_option, TEXT, price_source) },
	{ JL_FIELD_AS(jl_cost_option, LLONG, host.micro, "price_host_assumed"), .scale = MICRO, .when = has_host },
	{ JL_FIELD_AS(jl_cost_option, BOOL, bare, "price_is_card_only"), .flags = JL_FF_OMIT },
	{ JL_FIELD_AS(jl_cost_option, LLONG, active_mW, "active_W"), .scale = 1000, .when = is_owned },
	{ JL_FIELD_TEXT_OF("active_W_origin", watts_origin), .when = is_owned },
	{ JL_FIELD_AS(jl_cost_option, LLONG, idle_mW, "idle_W"), .scale = 1000, .when = is_owned },
};
static const struct jl_schema option_schema = JL_SCHEMA("way_to_have_it", jl_cost_option, option);

static const struct jl_field line[] = {
	{ JL_FIELD(jl_cost_line, NUMBER, year_kWh) },
	{ JL_FIELD_AS(jl_cost_line, LLONG, year_power.micro, "year_electricity"), .scale = MICRO },
	{ JL_FIELD_AS(jl_cost_line, NUMBER, year_co2_g, "year_co2e_g") },
	{ JL_FIELD_AS(jl_cost_line, LLONG, resale.micro, "resale"), .scale = MICRO },
};
static const struct jl_schema line_schema = JL_SCHEMA("year", jl_cost_line, line);

static const struct jl_field paid[] = {
	{ JL_FIELD(jl_cost_paid, INT, months) },
	{ JL_FIELD(jl_cost_paid, LONG, day) },
	{ JL_FIELD_AS(jl_cost_paid, LLONG, micro, "total"), .scale = MICRO },
};
static const struct jl_schema paid_schema = JL_SCHEMA("paid", jl_cost_paid, paid);

JL_BOOL_OF(is_known, jl_cost_work, r->known);
JL_BOOL_OF(draws, jl_cost_work, is_known(record) && !isnan(r->run_kWh.value));

#define KNOWN(M, KEY) JL_FIELD_AS(jl_cost_work, ESTIMATE, M, KEY), .flags = JL_FF_OMIT, .when = is_known
static const struct jl_field work[] = {
	{ JL_FIELD_AS(jl_cost_work, WHY, why, "unknown_because"), .flags = JL_FF_OMIT },
	{ KNOWN(run_s, "run_s") },
	{ KNOWN(elapsed_s, "elapsed_s"), .about = "with failures, checkpoints and restarts" },
	{ KNOWN(run_cost, "run_cost") },
	{ KNOWN(epoch_cost, "epoch_cost") },
	{ KNOWN(mtoken_cost, "cost_per_million_tokens") },
	{ KNOWN(run_kWh, "run_kWh") },
	{ JL_FIELD_AS(jl_cost_work, NUMBER, run_co2_g, "run_co2e_g"), .when = draws },
};
static const struct jl_schema work_schema = JL_SCHEMA("run", jl_cost_work, work);

static const struct jl_field row[] = {
	{ JL_FIELD(jl_cost_row, SEEN, option), .sub = &option_schema, .flags = JL_FF_FLAT },
	{ JL_FIELD(jl_cost_row, SEEN, line), .sub = &line_schema, .flags = JL_FF_FLAT, .when = row_is_owned },
	{ JL_FIELD_MANY(jl_cost_row, LIST, paid, n_paid, "paid", &paid_schema) },
	{ JL_FIELD_AS(jl_cost_row, SEEN, work, "run"), .sub = &work_schema, .flags = JL_FF_OMIT },
};
static const struct jl_schema row_schema = JL_SCHEMA("option", jl_cost_row, row);

/* --- a break-even pair */

JL_NUMBER_OF(months, jl_cost_pair, r->days / (365.25 / 12));

JL_TEXT_OF(break_even_date, jl_cost_pair, isnan(r->days) ? NULL : jl_date_text(out, r->day));

static const struct jl_field swing[] = {
	{ JL_FIELD_AS(jl_cost_swing, TEXT, key, "input") },
	{ JL_FIELD_AS(jl_cost_swing, NUMBER, lo, "days_at_80_percent") },
	{ JL_FIELD_AS(jl_cost_swing, NUMBER, hi, "days_at_120_percent") },
	{ JL_FIELD_AS(jl_cost_swing, NUMBER, flip, "flips_at_times"),
	  .about = "the decision at the horizon flips at so many times its value" },
	{ JL_FIELD(jl_cost_swing, NUMBER, now), .about = "its value: money, or a number of `unit`" },
	{ JL_FIELD(jl_cost_swing, TEXT, unit), .about = "what stands behind the money or the number" },
};
static const struct jl_schema swing_schema = JL_SCHEMA("sensitivity", jl_cost_swing, swing);

static const struct jl_field pair[] = {
	{ JL_FIELD_AS(jl_cost_pair, TEXT, dear_name, "dear") },
	{ JL_FIELD_AS(jl_cost_pair, TEXT, cheap_name, "cheap") },
	{ JL_FIELD_AS(jl_cost_pair, NUMBER, days, "break_even_days") },
	{ JL_FIELD_NUMBER_OF("break_even_months", months) },
	{ JL_FIELD_TEXT_OF("break_even_date", break_even_date) },
	{ JL_FIELD_MANY(jl_cost_pair, ARRAY, swings, n_swings, "sensitivity", &swing_schema) },
};
static const struct jl_schema pair_schema = JL_SCHEMA("break_even", jl_cost_pair, pair);

/* --- the whole study */

JL_BOOL_OF(is_flat, jl_cost_study, !r->setting.tariff);
JL_BOOL_OF(has_fx, jl_cost_study, r->setting.fx.krw_micro != 0);

JL_TEXT_OF(start, jl_cost_study, jl_date_text(out, r->setting.start_day));
JL_TEXT_OF(fx_date, jl_cost_study, jl_date_text(out, r->setting.fx.day));

#define SET(TYPE, M, KEY) JL_FIELD_AS(jl_cost_study, TYPE, setting.M, KEY)
static const struct jl_field fields[] = {
	{ SET(CHOICE, currency, "currency"), .choices = currency_choices },
	{ JL_FIELD_TEXT_OF("start", start) },
	{ SET(LONG, horizon_days, "horizon_days") },
	{ SET(LLONG, util_ppm, "util_frac"), .scale = MICRO },
	{ JL_FIELD_AS(jl_cost_study, BOOL, assumed.util, "util_assumed") },
	{ JL_FIELD(jl_cost_study, NUMBER, runs_per_month), .flags = JL_FF_OMIT },
	{ SET(LLONG, pue_ppm, "pue"), .scale = MICRO },
	{ SET(TEXT, tariff, "tariff") },
	{ SET(LLONG, per_kWh.micro, "electricity_per_kWh"), .scale = MICRO, .when = is_flat },
	{ SET(CHOICE, per_kWh.currency, "electricity_currency"), .choices = currency_choices, .when = is_flat },
	{ JL_FIELD_AS(jl_cost_study, BOOL, assumed.power_price, "electricity_assumed"), .when = is_flat },
	{ SET(NUMBER, carbon_gpkWh, "carbon_g_per_kWh") },
	{ SET(LLONG, fx.krw_micro, "krw_per_usd"), .scale = MICRO, .when = has_fx },
	{ JL_FIELD_TEXT_OF("krw_per_usd_date", fx_date), .when = has_fx },
	{ JL_FIELD_MANY(jl_cost_study, ARRAY, rows, n_options, "options", &row_schema) },
	{ JL_FIELD_MANY(jl_cost_study, ARRAY, pairs, n_pairs, "break_even", &pair_schema) },
};
const struct jl_schema jl_cost_fields = JL_SCHEMA("cost", jl_cost_study, fields);

/* --- one month's bill */

#define PART(P, KEY) JL_FIELD_AS(jl_bill, LLONG, parts[P].micro, KEY), .scale = MICRO
static const struct jl_field parts[] = {
	{ PART(JL_BILL_BASE, "base") }, { PART(JL_BILL_ENERGY, "energy") }, { PART(JL_BILL_CLIMATE, "climate") },
	{ PART(JL_BILL_FUEL, "fuel") }, { PART(JL_BILL_VAT, "vat") },       { PART(JL_BILL_FUND, "fund") },
};
static const struct jl_schema parts_schema = JL_SCHEMA("bill_parts", jl_bill, parts);

static const struct jl_field bill[] = {
	{ JL_FIELD(jl_bill_asked, TEXT, tariff) },
	{ JL_FIELD_AS(jl_bill_asked, LLONG, use.milli_kWh, "energy_kWh"), .scale = 1000 },
	{ JL_FIELD_AS(jl_bill_asked, INT, use.month, "month") },
	{ JL_FIELD_AS(jl_bill_asked, CHOICE, bill.currency, "currency"), .choices = currency_choices },
	{ JL_FIELD_AS(jl_bill_asked, SUB, bill, "parts"), .sub = &parts_schema },
	{ JL_FIELD_AS(jl_bill_asked, LLONG, bill.total.micro, "total"), .scale = MICRO },
	{ JL_FIELD_AS(jl_bill_asked, TEXT, bill.date, "date") },
	{ JL_FIELD_AS(jl_bill_asked, TEXT, bill.source, "source") },
	{ JL_FIELD_AS(jl_bill_asked, TEXT, newer, "newer_tariff") },
};
const struct jl_schema jl_bill_fields = JL_SCHEMA("bill", jl_bill_asked, bill);

/* --- growth of a year's bills by a machine */

static const struct jl_field machine_month[] = {
	{ JL_FIELD(jl_machine_bill_month, INT, month) },
	{ JL_FIELD_AS(jl_machine_bill_month, NUMBER, kWh, "energy_kWh") },
	{ JL_FIELD_AS(jl_machine_bill_month, LLONG, without.micro, "bill_without"), .scale = MICRO },
	{ JL_FIELD_AS(jl_machine_bill_month, LLONG, with.micro, "bill_with"), .scale = MICRO },
	{ JL_FIELD_AS(jl_machine_bill_month, LLONG, more.micro, "more"), .scale = MICRO },
};
static const struct jl_schema machine_month_schema = JL_SCHEMA("machine_bill_month", jl_machine_bill_month,
							       machine_month);

static const struct jl_field machine_bill[] = {
	{ JL_FIELD_AS(jl_machine_bill, TEXT, name, "machine") },
	{ JL_FIELD(jl_machine_bill, TEXT, tariff) },
	{ JL_FIELD(jl_machine_bill, NUMBER, active_W) },
	{ JL_FIELD(jl_machine_bill, NUMBER, util_frac) },
	{ JL_FIELD(jl_machine_bill, NUMBER, household_kWh) },
	{ JL_FIELD_AS(jl_machine_bill, CHOICE, year.currency, "currency"), .choices = currency_choices },
	{ JL_FIELD_AS(jl_machine_bill, LLONG, year.micro, "year"), .scale = MICRO },
	{ JL_FIELD_AS(jl_machine_bill, LLONG, year_other.micro, "year_other_currency"), .scale = MICRO },
	{ JL_FIELD_MANY(jl_machine_bill, ARRAY, months, n_months, "months", &machine_month_schema) },
};
const struct jl_schema jl_machine_bill_fields = JL_SCHEMA("machine_bill", jl_machine_bill, machine_bill);
