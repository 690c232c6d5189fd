/* Buy or rent, from the scenario's cost: part. */
#include <math.h>
#include <string.h>

#include "scenario/weigh.h"

#define DAY_S 86400.0

static enum jl_status at(struct jl_err *err, const struct jl_where *where, enum jl_status status,
			 const struct jl_err *inner)
{
	return jl_fail_from(err, status, where, inner, "{}");
}

static enum jl_status read_options(struct jl_weighed *w, struct jl_err *err)
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

static enum jl_status read_power(struct jl_weighed *w, struct jl_err *err)
{
	const struct jl_scenario_cost *c = &w->scenario->cost;
	struct jl_cost_setting *s = &w->study->setting;

	s->pue_ppm = JL_PPM;
	s->carbon_gpkWh = NAN;
	s->site.milli_kWh = isnan(c->household_J) ? 0 : llround(c->household_J / 3600);
	if (c->tariff)
		return jl_tariff_find(&s->tariff, w->cat, c->tariff, err);
	w->study->assumed.power_price = !c->kwh;
	if (!c->kwh)
		s->per_kWh = jl_money_from(0.12, JL_USD);
	else
		return jl_kwh_price_parse(&s->per_kWh, c->kwh, "kwh", err);
	return JL_OK;
}

enum jl_status jl_weigh_cost(struct jl_weighed *w, struct jl_err *err)
{
	const struct jl_scenario_cost *c = &w->scenario->cost;
	struct jl_cost_setting *s;
	enum jl_status status;

	if (!c->wanted || !c->n_options)
		return JL_OK;
	if (!(w->study = jl_arena_alloc(w->arena, sizeof *w->study)))
		return jl_fail_nomem(err);
	s = &w->study->setting;
	w->study->runs_per_month = NAN;
	s->start_day = s->fx.day = w->today;
	s->fx.krw_micro = isnan(c->fx) ? 0 : llround(c->fx * 1e6);
	s->horizon_days = isnan(c->horizon_s) ? jl_date_add_months(w->today, 36) - w->today
					      : lround(c->horizon_s / DAY_S);
	if (s->horizon_days < 1 || s->horizon_days > JL_COST_DAYS_MAX)
		return jl_fail(err, JL_E_RANGE, "cost: horizon: is from one day to fifty years");
	w->study->assumed.util = isnan(c->util_frac);
	s->util_ppm = w->study->assumed.util ? 150000 : llround(c->util_frac * 1e6);
	if (s->util_ppm <= 0 || s->util_ppm > JL_PPM)
		return jl_fail(err, JL_E_RANGE, "cost: util: is above 0 %% and at most 100 %%");
	if ((status = read_power(w, err)) || (status = read_options(w, err)))
		return status;
	s->currency = jl_cost_is_rent(w->study->options[0].kind) ? w->study->options[0].per_hour.currency
								 : w->study->options[0].price.currency;
	if (c->currency)
		s->currency = strcmp(c->currency, "KRW") == 0 ? JL_KRW : JL_USD;
	return jl_cost_study_make(w->study, NULL, w->cat, w->arena, err);
}
