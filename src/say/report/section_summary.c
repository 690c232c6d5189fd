/* The answer first: what was asked, what to do, how much it brings, and why. */
#include <math.h>
#include <string.h>

#include "report/section_answers.h"

const struct jl_weighed_system *jl_this_system(const struct jl_section *s)
{
	for (size_t i = 0; s->in->this_on && i < s->w->n_systems; i++)
		if (strcmp(s->w->systems[i].said->on, s->in->this_on) == 0)
			return &s->w->systems[i];
	return NULL;
}

/* How fast this machine is beside the others. */
static void here(struct jl_section *s)
{
	const struct jl_weighed_system *system = jl_this_system(s);
	const struct jl_compare_at *a = system && system->row ? &system->row->at[JL_AT_SAME_BATCH] : NULL;
	const struct jl_prediction *p = system && system->predicted ? &system->prediction : NULL;

	if (!system || (!a && !p))
		return;
	jl_doc_finding(s->doc, JL_MARK_UNKNOWN, JL_("This machine"));
	if (s->in->machine && s->in->machine->short_name) {
		jl_doc_name(s->doc, s->in->machine->short_name);
		jl_doc_text(s->doc, ": ");
	}
	if (a && a->possible && !system->row->baseline) {
		const struct jl_num speed = jl_num_ranged(jl_num_estimate(a->speedup, JL_K_NUMBER, "x"));
		jl_doc_num(s->doc, &speed);
		JL_SAY(s, " the baseline's speed. ");
	}
	if (p) {
		const struct jl_num per_s = jl_num_ranged(jl_num_estimate(p->samples_per_s, JL_K_NUMBER, "samples/s"));
		jl_doc_num(s->doc, &per_s);
		jl_doc_text(s->doc, ".");
	} else if (a && !a->possible) {
		jl_doc_said(s->doc, a->why.text, JL_ESTIMATED, JL_METHOD);
	}
}

static void workload(struct jl_section *s)
{
	const struct jl_observed *o = &s->w->scenario->observed;

	if (s->w->has_model) {
		jl_doc_para(s->doc);
		JL_SAY(s, "Workload: ");
		jl_doc_name(s->doc, s->w->subject.name);
		if (s->w->model_assumed)
			JL_SAY(s, " (none was named; this one stands in).");
		else
			jl_doc_text(s->doc, ".");
	} else if (!isnan(o->step_s)) {
		const struct jl_num step = jl_num_plain(o->step_s, JL_K_TIME, NULL, JL_MEASURED, NULL),
				    batch = jl_num_given(o->batch, JL_K_NUMBER, NULL),
				    batches = jl_num_given(o->batches, JL_K_NUMBER, NULL);
		const char *rest;

		jl_doc_para(s->doc);
		rest = jl_tell_part(s->doc, JL_("Observed run: | a step of | samples"));
		jl_doc_num(s->doc, &step);
		rest = jl_tell_part(s->doc, rest);
		jl_doc_num(s->doc, &batch);
		jl_tell_part(s->doc, rest);
		if (!isnan(o->batches)) {
			JL_SAY(s, ", steps an epoch: ");
			jl_doc_num(s->doc, &batches);
		}
		jl_doc_text(s->doc, ".");
	}
}

/* What a reader would want to know anyway, where no question asked for it. */
static void unasked(struct jl_section *s)
{
	/* a kind that was asked for in other words stands for these too */
	static const struct {
		const char *ask, *covered_by;
	} order[] = { { "best", NULL },   { "do", "helps" },           { "fastest", "speed" }, { "rent", NULL },
		      { "normal", NULL }, { "breakeven", "cheapest" }, { "scaling", NULL } };
	const struct jl_scenario *scenario = s->w->scenario;

	for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
		struct jl_scenario_question q = { .ask = order[i].ask, .n_nodes = NAN, .n_gpus = NAN };
		bool asked = false;

		for (size_t k = 0; k < scenario->n_questions; k++) {
			const char *ask = scenario->questions[k].ask;
			asked |= ask && (strcmp(ask, q.ask) == 0 ||
					 (order[i].covered_by && strcmp(ask, order[i].covered_by) == 0));
		}
		if (strcmp(q.ask, "fastest") == 0)
			here(s);
		if (asked)
			continue;
		if (strcmp(q.ask, "normal") == 0) {
			for (size_t k = s->w->n_reduce; k-- > 0;) {
				q.n_nodes = s->w->reduce[k].n_nodes;
				(void)jl_answer_unasked(s, &q);
			}
		} else if (strcmp(q.ask, "scaling") == 0 && s->w->scaling.n_modes > 1) {
			for (size_t k = 0; k < s->w->scaling.n_modes; k++) {
				q.mode = s->w->scaling.modes[k];
				(void)jl_answer_unasked(s, &q);
			}
		} else {
			(void)jl_answer_unasked(s, &q);
		}
	}
}

void jl_section_summary(struct jl_section *s)
{
	jl_section_open(s, "summary", "Summary");
	for (size_t i = 0; i < s->w->scenario->n_questions; i++)
		jl_answer_question(s, &s->w->scenario->questions[i]);
	unasked(s);
	workload(s);
}
