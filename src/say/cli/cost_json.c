/* jeoul cost --json: stable keys, units in them. */
#include <math.h>

#include "cli/cost_view.h"
#include "cli/predict_view.h"
#include "cli/view.h"

static void put_money(struct jl_json *json, const char *key, long long micro)
{
	jl_json_put_number(json, key, (double)micro / 1e6);
}

static void put_estimate(struct jl_json *json, const char *key, struct jl_estimate e)
{
	if (!isnan(e.value))
		jl_view_estimate_json(json, key, &e);
}

static void option_json(struct jl_json *json, const struct jl_cost_study *study, size_t i, enum jl_lang lang)
{
	const struct jl_cost_option *o = &study->options[i];
	const struct jl_cost_line *l = &study->lines[i];
	const struct jl_cost_work *w = &study->work[i];
	const struct jl_money unit = jl_cost_is_rent(o->kind) ? o->per_hour : o->price;

	jl_json_object(json);
	jl_json_put_string(json, "name", o->name);
	jl_json_put_string(json, "kind", jl_cost_kind_key(o->kind));
	jl_json_put_string(json, "system", o->has_system ? o->system.text : NULL);
	jl_json_put_number(json, jl_cost_is_rent(o->kind) ? "rent_per_hour" : "price", jl_money_value(unit));
	jl_json_put_string(json, "price_currency", jl_currency_name(unit.currency));
	jl_json_put_string(json, "price_origin", o->price_date ? "listed" : "given");
	jl_json_put_string(json, "price_date", o->price_date);
	jl_json_put_string(json, "price_source", o->price_source);
	if (o->host.micro)
		put_money(json, "price_host_assumed", o->host.micro);
	if (o->bare)
		jl_json_put_bool(json, "price_is_card_only", true);
	if (!jl_cost_is_rent(o->kind)) {
		jl_json_put_number(json, "active_W", (double)o->active_mW / 1000);
		jl_json_put_string(json, "active_W_origin",
				   o->watts_predicted ? "predicted"
				   : o->watts_assumed ? "assumed"
						      : "given");
		jl_json_put_number(json, "idle_W", (double)o->idle_mW / 1000);
		jl_json_put_number(json, "year_kWh", l->year_kWh);
		put_money(json, "year_electricity", l->year_power.micro);
		jl_json_put_number(json, "year_co2e_g", l->year_co2_g);
		put_money(json, "resale", l->resale.micro);
	}
	jl_json_put_array(json, "paid");
	for (int months = 0; months <= 600; months++) {
		const long day = jl_date_add_months(study->setting.start_day, months) - study->setting.start_day;

		if (day > study->setting.horizon_days)
			break;
		jl_json_object(json);
		jl_json_put_integer(json, "months", months);
		jl_json_put_integer(json, "day", day);
		put_money(json, "total", l->cum_micro[day]);
		jl_json_end_object(json);
	}
	jl_json_end_array(json);
	if (study->has_work) {
		jl_json_put_object(json, "run");
		if (!w->known)
			jl_json_put_string(json, "unknown_because", jl_err_text(&w->why, lang));
		put_estimate(json, "run_s", w->run_s);
		put_estimate(json, "run_cost", w->run_cost);
		put_estimate(json, "epoch_cost", w->epoch_cost);
		put_estimate(json, "cost_per_million_tokens", w->mtoken_cost);
		if (w->known && !isnan(w->run_kWh.value)) {
			put_estimate(json, "run_kWh", w->run_kWh);
			jl_json_put_number(json, "run_co2e_g", w->run_co2_g);
		}
		jl_json_end_object(json);
	}
	jl_json_end_object(json);
}

static void pair_json(struct jl_json *json, const struct jl_cost_study *study, const struct jl_cost_pair *p)
{
	char date[JL_DATE_TEXT_MAX];

	jl_json_object(json);
	jl_json_put_string(json, "dear", study->options[p->dear].name);
	jl_json_put_string(json, "cheap", study->options[p->cheap].name);
	jl_json_put_number(json, "break_even_days", p->days);
	jl_json_put_number(json, "break_even_months", p->days / (365.25 / 12));
	jl_json_put_string(json, "break_even_date",
			   isnan(p->days) ? NULL : jl_date_text(date, study->setting.start_day + (long)ceil(p->days)));
	jl_json_put_number(json, "often_told_days", p->by_hand);
	jl_json_put_array(json, "sensitivity");
	for (size_t i = 0; i < p->n_swings; i++) {
		jl_json_object(json);
		jl_json_put_string(json, "input", p->swings[i].key);
		jl_json_put_number(json, "days_at_80_percent", p->swings[i].lo);
		jl_json_put_number(json, "days_at_120_percent", p->swings[i].hi);
		jl_json_end_object(json);
	}
	jl_json_end_array(json);
	jl_json_end_object(json);
}

void jl_cost_json(struct jl_cli *cli, const struct jl_cost_study *study, const struct jl_cost_said *assumed)
{
	const struct jl_cost_setting *s = &study->setting;
	char date[JL_DATE_TEXT_MAX];
	struct jl_json json;

	jl_json_init(&json, &cli->out, true);
	jl_json_object(&json);
	jl_json_put_string(&json, "currency", jl_currency_name(s->currency));
	jl_json_put_string(&json, "start", jl_date_text(date, s->start_day));
	jl_json_put_integer(&json, "horizon_days", s->horizon_days);
	jl_json_put_number(&json, "util_frac", (double)s->util_ppm / 1e6);
	jl_json_put_bool(&json, "util_assumed", assumed->util);
	jl_json_put_number(&json, "pue", (double)s->pue_ppm / 1e6);
	jl_json_put_string(&json, "tariff", s->tariff);
	if (!s->tariff) {
		jl_json_put_number(&json, "electricity_per_kWh", jl_money_value(s->per_kWh));
		jl_json_put_string(&json, "electricity_currency", jl_currency_name(s->per_kWh.currency));
		jl_json_put_bool(&json, "electricity_assumed", assumed->power_price);
	}
	jl_json_put_number(&json, "carbon_g_per_kWh", s->carbon_gpkWh);
	if (s->fx.krw_micro) {
		jl_json_put_number(&json, "krw_per_usd", (double)s->fx.krw_micro / 1e6);
		jl_json_put_string(&json, "krw_per_usd_date", jl_date_text(date, s->fx.day));
	}
	jl_json_put_array(&json, "options");
	for (size_t i = 0; i < study->n_options; i++)
		option_json(&json, study, i, cli->lang);
	jl_json_end_array(&json);
	jl_json_put_array(&json, "break_even");
	for (size_t i = 0; i < study->n_pairs; i++)
		pair_json(&json, study, &study->pairs[i]);
	jl_json_end_array(&json);
	jl_json_end_object(&json);
	jl_json_finish(&json);
}
