/* The machine that a scenario looks for, from its recommend: part: the whole catalog is searched. */
#include <math.h>
#include <string.h>

#include "catalog/find.h"
#include "scenario/results.h"

#define DEFAULT_BATCH 256 /* what a single host fills */

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

/* The purpose's work, or the scenario's own where it has a length. */
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
		ask->run.global_batch = DEFAULT_BATCH;
}

enum jl_status jl_compute_recommend(struct jl_scenario_results *w, struct jl_err *err)
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
	return JL_OK; /* the report says why */
}
