/* Evaluates the plans that a search found. */
#include "plan/answer.h"

#include <math.h>

#include "predict/kind.h"

const char *const jl_plan_objectives[] = { "time", "cost", "energy", "tokens-per-usd", NULL };

static enum jl_status settings_of(struct jl_plan_ranked *plan, struct jl_arena *arena, struct jl_err *err)
{
	for (int i = 0; i < JL_N_PLAN_TARGET; i++) {
		const enum jl_plan_target target = (enum jl_plan_target)i;
		struct jl_plan_setting *setting = &plan->settings[i];
		struct jl_buf text;

		setting->absent = jl_plan_settings_absent(target, &plan->how).en;
		if (setting->absent)
			continue;
		jl_buf_init(&text, 65536);
		jl_plan_settings(&text, target, &plan->how);
		setting->text = jl_arena_strdup(arena, jl_buf_text(&text));
		jl_buf_release(&text);
		JL_TRY(jl_got(setting->text, err));
	}
	return JL_OK;
}

static bool is_tied(const struct jl_plan_answer *a, double value)
{
	const struct jl_prediction *p = &a->plans[0].p;
	const struct jl_estimate *e = a->ask->objective == JL_PLAN_ENERGY ? &p->energy_J : &p->step_s;

	return value <= a->plans[0].value * e->hi / e->value;
}

/* If no plan fits: finds the one that lacks least memory. */
static enum jl_status find_miss(struct jl_plan_answer *a, struct jl_arena *arena, struct jl_err *err)
{
	const struct jl_plan_site *site = a->ask->site;
	struct jl_case *c;

	if (a->n || !(a->result->miss.value < INFINITY))
		return JL_OK;
	c = jl_arena_alloc(arena, sizeof *c);
	JL_TRY(jl_got(c, err));
	jl_plan_way_case(c, site, &a->result->miss.way);
	a->miss = c;
	a->miss_B = a->result->miss.memory_B;
	a->lacks_B = a->miss_B - site->base.machine.dev.mem_B * a->ask->memory_frac;
	return JL_OK;
}

enum jl_status jl_plan_answer_make(struct jl_plan_answer *a, const struct jl_catalog *cat, struct jl_arena *arena,
				   struct jl_err *err)
{
	enum jl_status status = JL_OK;

	a->effort = (struct jl_plan_effort){ a->result->tally, a->result->search_s, a->result->stopped };
	a->n = (size_t)a->result->top.n;
	a->plans = jl_arena_array(arena, a->n + 1, sizeof *a->plans);
	JL_TRY(jl_got(a->plans, err));
	for (size_t i = 0; !status && i < a->n; i++) {
		struct jl_plan_ranked *plan = &a->plans[i];

		plan->rank = (int)i + 1;
		plan->value = a->result->top.best[i].value;
		jl_plan_way_case(&plan->how, a->ask->site, &a->result->top.best[i].way);
		jl_predict(&plan->p, cat, &plan->how);
		plan->elapsed = jl_goodput_elapsed(cat, &plan->how, &plan->p);
		plan->tied = is_tied(a, plan->value);
		status = settings_of(plan, arena, err);
	}
	if (a->n)
		jl_plan_note_changes(&a->plans[0].how, a->ask->site, &a->plans[0].p);
	JL_THEN(status, find_miss(a, arena, err));
	a->in_time = !a->n || isnan(a->deadline_s) || a->plans[0].elapsed.time_s.value <= a->deadline_s;
	a->in_budget = !a->n || isnan(a->budget_usd) || a->plans[0].elapsed.cost_usd.value <= a->budget_usd;
	return status;
}

void jl_plan_hint(struct jl_plan_hint *ret_hint, const struct jl_catalog *cat, const struct jl_request *req,
		  const struct jl_case *c, double step_s, struct jl_arena *arena)
{
	const struct jl_ask_plan *p = &req->plan;
	struct jl_plan_ask ask = { .memory_frac = JL_TIGHT_FRAC, .n_best = 1, .mark_value = NAN, .gpu_usdps = NAN };
	struct jl_plan_site *site;
	struct jl_plan_result result;

	ret_hint->times = NAN;
	if (c->n_gpus < JL_PLAN_HINT_GPUS || !c->subject.kind->is_cut || !isnan(p->dp) || !isnan(p->tp) ||
	    !isnan(p->pp) || !isnan(p->cp) || !isnan(p->ep) || p->zero != JL_UNSET || !isnan(req->batch) ||
	    !isnan(req->micro_batch))
		return;
	site = jl_arena_alloc(arena, sizeof(*site));
	if (!site || jl_plan_forbid(&ask.narrow, "offload", NULL) ||
	    jl_plan_site_make(site, cat, req, &c->subject, &c->machine, NULL))
		return;
	ask.site = site;
	if (site->global_batch != c->global_batch || jl_plan_search(&result, &ask, NULL) || !result.top.n)
		return;
	ret_hint->step_s = result.top.best[0].step_s;
	ret_hint->times = step_s / ret_hint->step_s;
	jl_plan_way_case(&ret_hint->how, site, &result.top.best[0].way);
}
