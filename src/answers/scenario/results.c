#include "scenario/results.h"

#include <math.h>
#include <string.h>

/* What is weighed where a scenario names systems and no work: the run of the machine findings. */
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

/* Compares the systems: baseline first, then in the order of the scenario. */
static enum jl_status weigh_compare(struct jl_scenario_results *w, struct jl_err *err)
{
	const struct jl_scenario *s = w->scenario;
	struct jl_compare *compare = jl_arena_alloc(w->arena, sizeof *compare);
	struct jl_system_result *of[JL_COMPARE_MAX];
	size_t first = s->baseline;
	enum jl_status status;

	JL_TRY(jl_got(compare, err));
	/* one that cannot be used is left out, with its reason: the first that can be takes its place */
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
		return JL_OK; /* the report says why */
	w->compare = compare;
	for (size_t i = 0; i < compare->n_rows; i++)
		of[i]->row = &compare->rows[i];
	return JL_OK;
}

/* What was measured of the run as it is on so many GPUs; NULL: nothing. */
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

/* Advice for the machine that scaling is about, else for the baseline. */
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

static enum jl_status weigh_goodput(struct jl_scenario_results *w, struct jl_err *err)
{
	struct jl_goodput_ask ask = jl_goodput_ask_empty();
	struct jl_job *job;

	if (!w->advised || !w->advised->prediction.whole_run || w->advised->prediction.room == JL_ROOM_NONE)
		return JL_OK;
	job = jl_arena_alloc(w->arena, sizeof(*job));
	w->goodput = jl_arena_alloc(w->arena, sizeof(*w->goodput));
	JL_TRY(jl_got(job && w->goodput, err));
	*job = (struct jl_job){ w->advised->how, w->advised->prediction };
	ask.start_day = w->today;
	return jl_goodput_weigh(w->goodput, w->cat, job, &ask, err);
}

enum jl_status jl_compute_scenario(struct jl_scenario_results *ret_weighed, const struct jl_scenario *scenario,
				   const struct jl_catalog *cat, struct jl_arena *arena, long today, struct jl_err *err)
{
	static const struct {
		const char *key;
		enum jl_status (*weigh)(struct jl_scenario_results *w, struct jl_err *err);
	} steps[] = {
		{ "workload", weigh_model },           { "systems", weigh_systems },       { "systems", weigh_compare },
		{ "scaling", jl_compute_scaling },     { "allreduce", jl_compute_reduce }, { "cost", jl_compute_cost },
		{ "recommend", jl_compute_recommend },
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
		/* what has no place yet stands somewhere in that part of the file */
		return jl_fail_from(err, status, why.in_file || !node ? NULL : &node->where, &why, "{}");
	}
	weigh_advice(w);
	return weigh_goodput(w, err);
}
