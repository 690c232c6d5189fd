/* Buy or rent, from the scenario's cost: part. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "scenario/results.h"

#define DAY_S           86400.0
#define HOUSEHOLD_MAX_J 3.6e15

static enum jl_status at(struct jl_err *err, const struct jl_where *where, enum jl_status status,
			 const struct jl_err *inner)
{
	return jl_fail_from(err, status, where, inner, "{}");
}

/* Only of a key that is there. */
static const struct jl_where *where_of(const struct jl_scenario_cost *c, const char *key)
{
	return &jl_yaml_get(c->map, key)->where;
}

static enum jl_status read_options(struct jl_scenario_results *w, struct jl_err *err)
{
	const struct jl_scenario_cost *c = &w->scenario->cost;

	for (size_t i = 0; i < c->n_options; i++) {
		struct jl_err inner;
		enum jl_status status;
		int kind = 0;

		while (kind < JL_N_COST_KIND && strcmp(jl_cost_kind_key((enum jl_cost_kind)kind), c->kinds[i]) != 0)
			kind++;
		if (w->study->n_options == JL_COST_OPTIONS_MAX || kind == JL_N_COST_KIND)
			return jl_fail_at(err, JL_E_LIMIT, &c->options[i]->where, "more than %d options",
					  JL_COST_OPTIONS_MAX);
		status = jl_cost_option_parse(&w->study->options[w->study->n_options], (enum jl_cost_kind)kind,
					      c->options[i]->text, c->region, w->cat, w->arena, &inner);
		if (status)
			return at(err, &c->options[i]->where, status, &inner);
		w->study->n_options++;
	}
	return JL_OK;
}

static enum jl_status read_power(struct jl_scenario_results *w, struct jl_err *err)
{
	const struct jl_scenario_cost *c = &w->scenario->cost;
	struct jl_cost_setting *s = &w->study->setting;

	s->pue_ppm = JL_PPM;
	s->carbon_gpkWh = NAN;
	if (c->household_J < 0 || c->household_J > HOUSEHOLD_MAX_J)
		return jl_fail_at(err, JL_E_RANGE, where_of(c, "household"),
				  "cost: household: is from 0 to 1e9 kWh a month");
	s->site.milli_kWh = jl_num_whole(c->household_J / 3600, 0, LLONG_MAX);
	if (c->tariff)
		return jl_tariff_find(&s->tariff, w->cat, c->tariff, err);
	w->study->assumed.power_price = !c->kwh;
	if (!c->kwh)
		s->per_kWh = jl_money_from(0.12, JL_USD);
	else
		return jl_kwh_price_parse(&s->per_kWh, c->kwh, "kwh", err);
	return JL_OK;
}

enum jl_status jl_compute_cost(struct jl_scenario_results *w, struct jl_err *err)
{
	const struct jl_scenario_cost *c = &w->scenario->cost;
	struct jl_cost_setting *s;

	if (!c->wanted || !c->n_options)
		return JL_OK;
	if (!(w->study = jl_arena_alloc(w->arena, sizeof *w->study)))
		return jl_fail_nomem(err);
	s = &w->study->setting;
	w->study->runs_per_month = NAN;
	s->start_day = s->fx.day = w->today;
	if (!isnan(c->fx) && !(c->fx >= 1 && c->fx <= 1e6))
		return jl_fail_at(err, JL_E_RANGE, where_of(c, "fx"), "cost: fx: is the won for one dollar, e.g. 1400");
	s->fx.krw_micro = jl_num_whole(c->fx * 1e6, 0, LLONG_MAX);
	s->horizon_days = isnan(c->horizon_s) ? jl_date_add_months(w->today, 36) - w->today
					      : (long)jl_num_whole(c->horizon_s / DAY_S, 0, INT_MAX);
	if (s->horizon_days < 1 || s->horizon_days > JL_COST_DAYS_MAX)
		return jl_fail_at(err, JL_E_RANGE, where_of(c, "horizon"),
				  "cost: horizon: is from one day to fifty years");
	w->study->assumed.util = isnan(c->util_frac);
	s->util_ppm = w->study->assumed.util ? 150000 : jl_num_whole(c->util_frac * 1e6, 0, INT_MAX);
	if (s->util_ppm <= 0 || s->util_ppm > JL_PPM)
		return jl_fail_at(err, JL_E_RANGE, where_of(c, "util"), "cost: util: is above 0 %% and at most 100 %%");
	JL_TRY(read_power(w, err));
	JL_TRY(read_options(w, err));
	s->currency = jl_cost_is_rent(w->study->options[0].kind) ? w->study->options[0].per_hour.currency
								 : w->study->options[0].price.currency;
	if (c->currency)
		s->currency = strcmp(c->currency, "KRW") == 0 ? JL_KRW : JL_USD;
	return jl_cost_study_make(w->study, NULL, w->cat, w->arena, err);
}
