/* Computes a cost study: work per option, utilisation, cost lines, break-even pairs. */
#include "cost/study.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/units.h"
#include "catalog/find.h"
#include "goodput/goodput.h"
#include "predict/answer.h"

#define HOURS_A_MONTH 730.0

/* The error for a job that does not fit: memory need and the first remedy. */
static void cannot_hold(struct jl_err *why, const struct jl_predicted *x)
{
	const double need_GiB = x->p.memory.total_B / 1073741824, has_GiB = x->p.capacity_B / 1073741824;
	struct jl_err would = { .status = JL_E_RANGE };

	if (!x->n_advice) {
		jl_fail(why, JL_E_RANGE,
			"it does not fit: it needs %.3g GiB of memory, of %.3g GiB; 'jeoul fit' shows what would",
			need_GiB, has_GiB);
		return;
	}
	snprintf(would.en, sizeof would.en, "%s", x->advice[0].en);
	snprintf(would.text, sizeof would.text, "%s", x->advice[0].text);
	jl_fail_from(why, JL_E_RANGE, NULL, &would,
		     "it does not fit: it needs %.3g GiB of memory, of %.3g GiB; with this it would: {}", need_GiB,
		     has_GiB);
}

static void predict_work(struct jl_cost_work *w, const struct jl_cost_option *o, const struct jl_request *request,
			 const struct jl_catalog *cat, struct jl_arena *arena)
{
	struct jl_request req = *request;
	struct jl_predicted job = { .speedup = { NAN, NAN, NAN } };
	const struct jl_prediction *p = &job.p;

	if (!o->has_system) {
		jl_fail(&w->why, JL_E_NOTFOUND, "'%s' is not in the catalog", o->name);
		return;
	}
	req.system = o->system.text;
	if (jl_predicted_make(&job, cat, &req, arena, &w->why))
		return;
	if (isnan(p->run_s.value)) {
		jl_fail(&w->why, JL_E_USAGE,
			"the length of the run is missing: give --tokens, --samples or --steps-per-epoch");
		return;
	}
	if (p->room == JL_ROOM_NONE) {
		cannot_hold(&w->why, &job);
		return;
	}
	w->known = true;
	w->assumed = job.how.notes;
	w->run_s = p->run_s;
	w->elapsed_s = jl_goodput_elapsed(cat, &job.how, p).time_s;
	w->power_W = p->power_W;
}

/* All options do the same amount of work: that of the option with its own utilisation, otherwise of the first owned or bought one, otherwise of
 * the first. */
static void same_work(struct jl_cost_study *study)
{
	const struct jl_cost_option *best = NULL;

	for (const struct jl_cost_option *o = study->options; o < study->options + study->n_options; o++)
		if (study->work[o - study->options].known &&
		    (!best || (o->util_ppm > 0 && !best->util_ppm) ||
		     (!best->util_ppm && jl_cost_is_rent(best->kind) && !jl_cost_is_rent(o->kind))))
			best = o;
	if (!best)
		return;
	study->measure = best;
	study->runs_per_month = (double)(best->util_ppm > 0 ? best->util_ppm : study->setting.util_ppm) / JL_PPM *
				HOURS_A_MONTH * 3600 / study->work[best - study->options].elapsed_s.value;
}

/* Utilisation from runs per month and the time per run on this option. Machines rented by the hour may run several at once. */
static enum jl_status util_from_runs(struct jl_cost_study *study, struct jl_err *err)
{
	for (size_t i = 0; i < study->n_options; i++) {
		struct jl_cost_work *w = &study->work[i];
		const double util = w->known ? study->runs_per_month * w->elapsed_s.value / 3600 / HOURS_A_MONTH : NAN;
		const enum jl_cost_kind kind = study->options[i].kind;

		if (isnan(util))
			continue;
		if (util > 1 + 1e-9 && study->measure && kind != JL_COST_RENT && kind != JL_COST_SPOT) {
			jl_fail(&w->why, JL_E_RANGE,
				"too slow for the same work: it would have to run %.0f %% of the time", 100 * util);
			w->known = false;
			continue;
		}
		if (util > 1 + 1e-9 && !study->measure)
			return jl_fail(err, JL_E_RANGE,
				       "%s cannot do %g runs a month: one takes %.1f h and a month has 730",
				       study->options[i].name, study->runs_per_month, w->elapsed_s.value / 3600);
		study->options[i].util_ppm = util * 1e6 < 1 ? 1 : llround(util * 1e6);
	}
	return JL_OK;
}

static enum jl_status price_work(struct jl_cost_study *study, const struct jl_request *request, struct jl_err *err)
{
	for (size_t i = 0; i < study->n_options; i++) {
		struct jl_cost_work *w = &study->work[i];
		const double epochs = request && !isnan(request->epochs) ? request->epochs : 1;
		struct jl_money hour;

		w->run_cost = w->epoch_cost = w->mtoken_cost = w->run_kWh = (struct jl_estimate){ NAN, NAN, NAN };
		w->run_co2_g = NAN;
		if (!w->known)
			continue;
		JL_TRY(jl_cost_per_work_hour(&hour, &study->lines[i], &study->setting, err));
		w->run_cost = jl_estimate_times(w->elapsed_s, jl_money_value(hour) / 3600);
		w->epoch_cost = jl_estimate_times(w->run_cost, 1 / epochs);
		if (!jl_cost_is_rent(study->options[i].kind)) {
			const double kW = (double)study->options[i].active_mW / 1e6 * (double)study->setting.pue_ppm /
					  1e6;

			w->run_kWh = jl_estimate_times(w->elapsed_s, kW / 3600);
			w->run_co2_g = w->run_kWh.value * study->setting.carbon_gpkWh;
		}
		if (request && !isnan(request->tokens))
			w->mtoken_cost = jl_estimate_times(w->run_cost, 1e6 / (request->tokens * epochs));
	}
	return JL_OK;
}

static enum jl_status add_pair(struct jl_cost_study *study, size_t a, size_t b, const struct jl_catalog *cat,
			       struct jl_err *err)
{
	const bool a_dear = study->lines[a].cum_micro[0] > study->lines[b].cum_micro[0];
	struct jl_cost_pair *p = &study->pairs[study->n_pairs];
	enum jl_status status;

	if (study->lines[a].cum_micro[0] == study->lines[b].cum_micro[0] || study->n_pairs == JL_COST_PAIRS_MAX)
		return JL_OK;
	p->dear = a_dear ? a : b;
	p->cheap = a_dear ? b : a;
	p->dear_name = study->options[p->dear].name;
	p->cheap_name = study->options[p->cheap].name;
	p->days = jl_cost_break_even(&study->lines[p->dear], &study->lines[p->cheap], study->setting.horizon_days);
	p->day = study->setting.start_day + (isnan(p->days) ? 0 : (long)ceil(p->days));
	status = jl_cost_sensitivity(p->swings, &p->n_swings, &study->lines[p->dear], &study->lines[p->cheap],
				     &study->setting, JL_COST_STEP_FRAC, cat, err);
	if (!status)
		study->n_pairs++;
	return status;
}

bool jl_cost_does(const struct jl_cost_study *study, size_t option)
{
	return !study->has_work || study->work[option].known;
}

bool jl_cost_any_does(const struct jl_cost_study *study)
{
	bool any = false;

	for (size_t i = 0; i < study->n_options; i++)
		any |= jl_cost_does(study, i);
	return any;
}

void jl_cost_take_contract(struct jl_cost_study *study, const struct jl_catalog *cat, const char *word)
{
	const char *general = word ? jl_tariff_general(word) : NULL;
	struct jl_cost_said *assumed = &study->assumed;

	assumed->contract_kW = jl_figure(cat, "household-contract");
	for (size_t i = 0; general && i < study->n_options; i++) {
		const struct jl_cost_option *o = &study->options[i];
		const double kW = (double)o->active_mW / 1e6 * (double)study->setting.pue_ppm / JL_PPM;

		if (kW <= fmax(assumed->contract_kW, assumed->too_large_kW))
			continue;
		assumed->too_large = o->name;
		assumed->too_large_kW = kW;
	}
	if (!assumed->too_large)
		return;
	study->setting.tariff = general;
	if (assumed->household)
		study->setting.site.milli_kWh = 0;
	assumed->household = false;
}

bool jl_cost_is_uneven(const struct jl_cost_study *study)
{
	int least = INT_MAX, most = 0;

	for (size_t i = 0; i < study->n_options; i++) {
		const int n = study->options[i].n_gpus;

		least = n < least ? n : least;
		most = n > most ? n : most;
	}
	/* an unknown number of GPUs counts as one */
	return !study->has_work && most > 1 && least < most;
}

/* Rejects settings that no option uses, and more runs than any option can do. */
static enum jl_status check_work(struct jl_cost_study *study, struct jl_err *err)
{
	if (jl_cost_any_does(study))
		return JL_OK;
	if (study->work[0].why.status == JL_E_USAGE) {
		*err = study->work[0].why;
		return err->status;
	}
	if (!isnan(study->runs_per_month))
		study->assumed.util = true;
	study->runs_per_month = NAN;
	return JL_OK;
}

/* Break-even pairs: bought against rented; two of the same kind only if there is no such pair. */
static enum jl_status find_pairs(struct jl_cost_study *study, const struct jl_catalog *cat, struct jl_err *err)
{
	enum jl_status status = JL_OK;
	bool mixed = false;

	for (size_t a = 0; a < study->n_options; a++)
		for (size_t b = a + 1; b < study->n_options; b++)
			mixed |= jl_cost_does(study, a) && jl_cost_does(study, b) &&
				 jl_cost_is_rent(study->options[a].kind) != jl_cost_is_rent(study->options[b].kind);
	for (size_t a = 0; !status && a < study->n_options; a++)
		for (size_t b = a + 1; !status && b < study->n_options; b++)
			if (jl_cost_does(study, a) && jl_cost_does(study, b) &&
			    (!mixed ||
			     jl_cost_is_rent(study->options[a].kind) != jl_cost_is_rent(study->options[b].kind)))
				status = add_pair(study, a, b, cat, err);
	return status;
}

/* If no power is given, uses the predicted power of the work. */
static void take_power(struct jl_cost_study *study)
{
	for (size_t i = 0; i < study->n_options; i++) {
		const struct jl_cost_work *w = &study->work[i];
		struct jl_cost_option *o = &study->options[i];

		if (!o->watts_assumed || !w->known || !(w->power_W > 0 && w->power_W < JL_COST_WATTS_MAX))
			continue;
		o->active_mW = llround(w->power_W * 1000);
		o->watts_predicted = true;
	}
}

static enum jl_status fill_rows(struct jl_cost_study *study, struct jl_arena *arena, struct jl_err *err)
{
	const struct jl_cost_setting *s = &study->setting;
	size_t n = 0;

	while (jl_date_add_months(s->start_day, (int)n) - s->start_day <= s->horizon_days)
		n++;
	for (size_t i = 0; i < study->n_options; i++) {
		struct jl_cost_row *row = &study->rows[i];

		*row = (struct jl_cost_row){ .option = &study->options[i],
					     .line = &study->lines[i],
					     .work = study->has_work ? &study->work[i] : NULL,
					     .paid = jl_arena_array(arena, n, sizeof *row->paid),
					     .n_paid = n };
		JL_TRY(jl_got(row->paid, err));
		for (size_t k = 0; k < n; k++) {
			const long day = jl_date_add_months(s->start_day, (int)k) - s->start_day;

			row->paid[k] = (struct jl_cost_paid){ (int)k, day, study->lines[i].cum_micro[day] };
		}
	}
	return JL_OK;
}

static enum jl_status finish(struct jl_cost_study *study, const struct jl_request *request,
			     const struct jl_catalog *cat, struct jl_arena *arena, struct jl_err *err)
{
	if (study->has_work) {
		JL_TRY(check_work(study, err));
		take_power(study);
	}
	study->measure = NULL;
	if (study->has_work && isnan(study->runs_per_month))
		same_work(study);
	if (!isnan(study->runs_per_month))
		JL_TRY(util_from_runs(study, err));
	for (size_t i = 0; i < study->n_options; i++)
		JL_TRY(jl_cost_line_make(&study->lines[i], &study->options[i], &study->setting, cat, arena, err));
	JL_TRY(find_pairs(study, cat, err));
	if (study->has_work)
		JL_TRY(price_work(study, request, err));
	return fill_rows(study, arena, err);
}

enum jl_status jl_cost_study_make(struct jl_cost_study *study, const struct jl_request *request,
				  const struct jl_catalog *cat, struct jl_arena *arena, struct jl_err *err)
{
	study->has_work = request != NULL;
	study->n_pairs = 0;
	for (size_t i = 0; request && i < study->n_options; i++)
		predict_work(&study->work[i], &study->options[i], request, cat, arena);
	return finish(study, request, cat, arena, err);
}

enum jl_status jl_cost_study_times(struct jl_cost_study *study, const struct jl_catalog *cat, struct jl_arena *arena,
				   struct jl_err *err)
{
	study->has_work = true;
	study->n_pairs = 0;
	return finish(study, NULL, cat, arena, err);
}

size_t jl_cost_cheapest(const struct jl_cost_study *study, long at_day)
{
	size_t best = 0;

	while (best + 1 < study->n_options && !jl_cost_does(study, best))
		best++;
	for (size_t i = best + 1; i < study->n_options; i++)
		if (jl_cost_does(study, i) && study->lines[i].cum_micro[at_day] < study->lines[best].cum_micro[at_day])
			best = i;
	return best;
}
