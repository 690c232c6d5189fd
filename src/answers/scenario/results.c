/* Computes everything that a scenario asks for; the report only renders it. */
#include "scenario/results.h"
#include "catalog/find.h"
#include "base/num.h"

#include <math.h>
#include <string.h>
#include <limits.h>

/* Buy or rent, from the scenario's `cost:`. */

#define DAY_S           86400.0
#define HOUSEHOLD_MAX_J 3.6e15

static enum jl_status at(struct jl_err *err, const struct jl_where *where, enum jl_status status,
			 const struct jl_err *inner)
{
	return jl_fail_from(err, status, where, inner, "{}");
}

/* Place of a key that exists. */
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
	jl_cost_take_contract(w->study, w->cat, c->tariff);
	s->currency = jl_cost_is_rent(w->study->options[0].kind) ? w->study->options[0].per_hour.currency
								 : w->study->options[0].price.currency;
	if (c->currency)
		s->currency = strcmp(c->currency, "KRW") == 0 ? JL_KRW : JL_USD;
	return jl_cost_study_make(w->study, NULL, w->cat, w->arena, err);
}

/* Recommends a machine for the scenario's `recommend:` from the whole catalog. */

#define FULL_BATCH 256 /* global batch that occupies a single host */

static enum jl_status read_only(struct jl_recommend_ask *ask, const struct jl_scenario_results *w, struct jl_err *err)
{
	const struct jl_scenario_recommend *said = &w->scenario->recommend;

	for (size_t i = 0; i < said->n_only; i++) {
		const struct jl_gpu *found[JL_RECOMMEND_ONLY_MAX], *one;
		const size_t n = jl_find_gpus(found, JL_RECOMMEND_ONLY_MAX, w->cat, said->only[i]);
		struct jl_err inner;

		if (n == 0) {
			(void)jl_find_gpu(&one, w->cat, said->only[i], &inner);
			return jl_fail_from(err, inner.status ? inner.status : JL_E_NOTFOUND, &said->where, &inner,
					    "{}");
		}
		if (ask->n_only + n > JL_RECOMMEND_ONLY_MAX)
			return jl_fail_at(err, JL_E_LIMIT, &said->where, "only: more than %d accelerators",
					  JL_RECOMMEND_ONLY_MAX);
		for (size_t k = 0; k < n; k++)
			ask->only[ask->n_only++] = found[k];
	}
	return JL_OK;
}

static enum jl_status read_hows(struct jl_recommend_ask *ask, const struct jl_scenario_results *w, struct jl_err *err)
{
	const struct jl_scenario_recommend *said = &w->scenario->recommend;

	for (size_t i = 0; i < said->n_hows; i++) {
		unsigned bits = 0;

		for (int h = 0; h < JL_N_HOW; h++) {
			const char *key = jl_how_key((enum jl_how)h);

			if (strcmp(key, said->hows[i]) == 0 ||
			    (strcmp(said->hows[i], "buy") == 0 && strncmp(key, "buy", 3) == 0))
				bits |= 1U << h;
		}
		if (!bits)
			return jl_fail_at(err, JL_E_PARSE, &said->where,
					  "how: '%.20s' is none of buy, buy-new, buy-used, rent, spot", said->hows[i]);
		ask->hows |= bits;
	}
	return JL_OK;
}

/* The purpose's work, or the scenario's own if it has a length. */
static enum jl_status read_work(struct jl_recommend_ask *ask, struct jl_scenario_results *w, struct jl_err *err)
{
	const struct jl_scenario *s = w->scenario;
	struct jl_purposes list;
	struct jl_err inner;
	enum jl_status status;

	if (s->recommend.purpose) {
		JL_TRY(jl_purposes_embedded(&list, w->arena, err));
		if ((status = jl_purpose_find(&w->purpose, &list, s->recommend.purpose, &inner)))
			return jl_fail_from(err, status, &s->recommend.where, &inner, "{}");
		jl_recommend_purpose(ask, w->purpose);
		return JL_OK;
	}
	ask->run = s->request;
	if (!isnan(s->observed.step_s) && w->n_systems) {
		ask->seen = &s->observed;
		ask->seen_on = &w->systems[s->baseline].machine;
		ask->seen_epochs = isnan(s->request.epochs) ? 1 : s->request.epochs;
	}
	if ((ask->seen && !(ask->seen->batches > 0)) ||
	    (!ask->seen && (!ask->run.model ||
			    (isnan(ask->run.samples) && isnan(ask->run.tokens) && isnan(ask->run.steps_per_epoch)))))
		return jl_fail_at(err, JL_E_PARSE, &s->recommend.where,
				  "recommend: needs a purpose:, or a workload: with its length (samples, tokens, "
				  "steps_per_epoch; observed: batches)");
	return JL_OK;
}

static void defaults(struct jl_recommend_ask *ask, const struct jl_scenario_recommend *said)
{
	if (!isnan(said->runs))
		ask->runs_per_month = said->runs;
	if (!isnan(said->months))
		ask->months = said->months;
	jl_recommend_defaults(ask);
	if (!ask->seen && isnan(ask->run.global_batch))
		ask->run.global_batch = FULL_BATCH;
}

static enum jl_status weigh_recommend(struct jl_scenario_results *w, struct jl_err *err)
{
	const struct jl_scenario_recommend *said = &w->scenario->recommend;
	struct jl_recommend_ask *ask = jl_arena_alloc(w->arena, sizeof *ask);
	struct jl_recommendation *found = jl_arena_alloc(w->arena, sizeof *found);

	if (!said->wanted)
		return JL_OK;
	JL_TRY(jl_got(ask && found, err));
	*ask = jl_recommend_ask_empty();
	ask->cat = w->cat;
	ask->today = w->today;
	ask->region = said->region;
	ask->budget_usd = said->budget_usd;
	ask->deadline_s = said->deadline_s;
	ask->power_W = said->power_W;
	ask->gpus_max = isnan(said->gpus_max) ? 0 : (int)fmin(said->gpus_max, 1e6);
	JL_TRY(read_work(ask, w, err));
	JL_TRY(read_only(ask, w, err));
	JL_TRY(read_hows(ask, w, err));
	defaults(ask, said);
	w->found_ask = ask;
	if (jl_recommend_run(found, ask, w->arena, &w->found_why) == JL_OK)
		w->found = found;
	return JL_OK; /* the report shows the reason */
}

/* Default workload of a scenario that names systems but no model: the same run as in the machine findings. */
#define DEFAULT_MODEL "gpt-305m"
#define DEFAULT_BATCH 4
#define DEFAULT_SEQ   512

static enum jl_status weigh_model(struct jl_scenario_results *w, struct jl_err *err)
{
	const struct jl_scenario *s = w->scenario;
	enum jl_status status;

	w->request = s->request;
	if (!s->request.model && isnan(s->observed.step_s) && s->n_systems && !s->cost.wanted && !s->allreduce.wanted) {
		w->model_assumed = true;
		w->request.model = DEFAULT_MODEL;
		w->request.batch = DEFAULT_BATCH;
		w->request.seq = DEFAULT_SEQ;
	}
	if (!w->request.model)
		return JL_OK;
	status = jl_subject_find(&w->subject, w->cat, &w->request, w->arena, err);
	w->has_model = !status;
	return status;
}

static void predict(struct jl_scenario_results *w, struct jl_system_result *system)
{
	if (!w->has_model || !system->usable)
		return;
	if (jl_case_choose(&system->how, w->cat, &w->subject, &system->machine, &w->request, &system->why_not))
		return;
	jl_predict(&system->prediction, w->cat, &system->how);
	system->predicted = true;
}

static void rent(struct jl_scenario_results *w, struct jl_system_result *system)
{
	const struct jl_rent found = jl_rent_find(w->cat, &system->said->sys);
	const int n = jl_sys_n_devices(&system->said->sys);

	system->rent_usdps = system->said->sys.gpu ? found.usdps * n : NAN;
	system->rent_source = found.provider;
	system->rent_date = found.date;
}

static enum jl_status weigh_systems(struct jl_scenario_results *w, struct jl_err *err)
{
	const struct jl_scenario *s = w->scenario;

	w->systems = jl_arena_array(w->arena, s->n_systems + 1, sizeof *w->systems);
	JL_TRY(jl_got(w->systems, err));
	for (size_t i = 0; i < s->n_systems; i++) {
		struct jl_system_result *system = &w->systems[i];

		system->said = &s->systems[i];
		system->usable = jl_machine_make(&system->machine, w->cat, &s->systems[i].sys, &system->why) == JL_OK;
		predict(w, system);
		rent(w, system);
	}
	w->n_systems = s->n_systems;
	return JL_OK;
}

/* Compares the systems: the baseline first, then in the scenario's order. */
static enum jl_status weigh_compare(struct jl_scenario_results *w, struct jl_err *err)
{
	const struct jl_scenario *s = w->scenario;
	struct jl_compare *compare = jl_arena_alloc(w->arena, sizeof *compare);
	struct jl_system_result *of[JL_COMPARE_MAX];
	size_t first = s->baseline;
	enum jl_status status;

	JL_TRY(jl_got(compare, err));
	/* unusable systems are left out with their reason; the first usable one becomes the baseline */
	for (size_t i = 0; i < w->n_systems && !w->systems[first].usable; i++)
		first = i;
	if (w->n_systems < 2 || !w->systems[first].usable)
		return JL_OK;
	of[compare->n_rows++] = &w->systems[first];
	for (size_t i = 0; i < w->n_systems && compare->n_rows < JL_COMPARE_MAX; i++)
		if (i != first && w->systems[i].usable)
			of[compare->n_rows++] = &w->systems[i];
	for (size_t i = 0; i < compare->n_rows; i++)
		compare->rows[i].machine = of[i]->machine;
	compare->epochs = s->request.epochs;
	compare->repeat = s->repeat;
	compare->tune = s->tune;
	compare->pue = NAN;
	if (!isnan(s->observed.step_s))
		status = jl_compare_observed(compare, &s->observed, &w->compare_why);
	else if (w->has_model)
		status = jl_compare_model(compare, w->cat, &w->subject, &w->request, &w->compare_why);
	else
		return JL_OK;
	if (status)
		return JL_OK; /* the report shows the reason */
	w->compare = compare;
	for (size_t i = 0; i < compare->n_rows; i++)
		of[i]->row = &compare->rows[i];
	return JL_OK;
}

/* A measurement of this run on n_gpus GPUs; NULL: none. */
static const struct jl_scenario_measured *seen_before(const struct jl_scenario_results *w,
						      const struct jl_system_result *of, int n_gpus)
{
	static const char *const modes[] = { "ddp", "zero1", "zero2", "zero3" };
	const char *mode = modes[of->how.plan.zero];

	for (size_t i = 0; i < w->scenario->n_measured; i++) {
		const struct jl_scenario_measured *m = &w->scenario->measured[i];
		const struct jl_scenario_system *said = m->system ? jl_scenario_find(w->scenario, m->system)
								  : &w->scenario->systems[0];

		if (strcmp(m->what, "samples_per_s") == 0 && said == of->said && m->n_gpus == n_gpus &&
		    (!m->mode || strcmp(m->mode, mode) == 0))
			return m;
	}
	return NULL;
}

/* Advice for the system of the scaling part, otherwise for the baseline. */
static void weigh_advice(struct jl_scenario_results *w)
{
	const struct jl_system_result *of = w->scaling.of  ? w->scaling.of
					    : w->n_systems ? &w->systems[w->scenario->baseline]
							   : NULL;

	if (!of || !of->predicted)
		return;
	w->advised = of;
	w->n_advice = jl_advise(w->advice, w->cat, &of->how, w->arena);
	for (size_t i = 0; i < w->n_advice; i++)
		w->advice_seen[i] = seen_before(w, of, w->advice[i].n_gpus);
}

/* NULL where it is not predicted, no length was said or nothing fits. */
static enum jl_status goodput_of(struct jl_goodput **ret_goodput, const struct jl_scenario_results *w,
				 const struct jl_system_result *s, struct jl_err *err)
{
	struct jl_goodput_ask ask = jl_goodput_ask_empty();
	struct jl_job *job;

	*ret_goodput = NULL;
	if (!s || !s->predicted || !s->prediction.whole_run || s->prediction.room == JL_ROOM_NONE)
		return JL_OK;
	job = jl_arena_alloc(w->arena, sizeof(*job));
	*ret_goodput = jl_arena_alloc(w->arena, sizeof(**ret_goodput));
	JL_TRY(jl_got(job && *ret_goodput, err));
	*job = (struct jl_job){ s->how, s->prediction };
	ask.start_day = w->today;
	return jl_goodput_weigh(*ret_goodput, w->cat, job, &ask, err);
}

static enum jl_status weigh_goodput(struct jl_scenario_results *w, struct jl_err *err)
{
	JL_TRY(goodput_of(&w->goodput, w, w->advised, err));
	w->goodputs = jl_arena_array(w->arena, w->n_systems + 1, sizeof(*w->goodputs));
	JL_TRY(jl_got(w->goodputs, err));
	for (size_t i = 0; i < w->n_systems; i++) {
		struct jl_goodput *g = &w->systems[i] == w->advised ? w->goodput : NULL;

		if (&w->systems[i] != w->advised)
			JL_TRY(goodput_of(&g, w, &w->systems[i], err));
		if (g)
			w->goodputs[w->n_goodputs++] = g;
		w->goodput = w->goodput ? w->goodput : g;
	}
	return JL_OK;
}

enum jl_status jl_compute_scenario(struct jl_scenario_results *ret_weighed, const struct jl_scenario *scenario,
				   const struct jl_catalog *cat, struct jl_arena *arena, long today, struct jl_err *err)
{
	static const struct {
		const char *key;
		enum jl_status (*weigh)(struct jl_scenario_results *w, struct jl_err *err);
	} steps[] = {
		{ "workload", weigh_model },       { "systems", weigh_systems },       { "systems", weigh_compare },
		{ "scaling", jl_compute_scaling }, { "allreduce", jl_compute_reduce }, { "cost", jl_compute_cost },
		{ "recommend", weigh_recommend },
	};
	struct jl_scenario_results *w = ret_weighed;
	enum jl_status status = JL_OK;

	*w = (struct jl_scenario_results){ .scenario = scenario, .cat = cat, .arena = arena, .today = today };
	for (size_t i = 0; i < JL_LEN(steps) && !status; i++) {
		const struct jl_yaml *node = jl_yaml_get(scenario->root, steps[i].key);
		struct jl_err why = { 0 };

		status = steps[i].weigh(w, &why);
		if (!status)
			continue;
		if (status == JL_E_NOMEM)
			return jl_fail_nomem(err);
		/* errors without a place get the place of that part of the file */
		return jl_fail_from(err, status, why.in_file || !node ? NULL : &node->where, &why, "{}");
	}
	weigh_advice(w);
	return weigh_goodput(w, err);
}
