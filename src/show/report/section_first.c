/* First screen: questions with answers, one chart, actions, unknowns and sources. */
#include <math.h>
#include <string.h>

#include "catalog/find.h"
#include "report/section_answers.h"

#define UNASKED_MAX 3

const struct jl_system_result *jl_this_system(const struct jl_section *s)
{
	for (size_t i = 0; s->in->this_on && i < s->w->n_systems; i++)
		if (strcmp(s->w->systems[i].said->on, s->in->this_on) == 0)
			return &s->w->systems[i];
	return NULL;
}

static void here(struct jl_section *s)
{
	const struct jl_system_result *system = jl_this_system(s);
	const struct jl_compare_at *a = system && system->row ? &system->row->at[JL_AT_SAME_BATCH] : NULL;
	const struct jl_prediction *p = system && system->predicted ? &system->prediction : NULL;

	if (!system || (!a && !p))
		return;
	jl_doc_finding(s->doc, JL_MARK_NONE, JL_("How fast is this machine?"));
	if (s->doc->failed)
		return;
	s->doc->last->asked = true;
	if (a && a->possible && !system->row->baseline) {
		const struct jl_num speed = jl_num_ranged(jl_num_estimate(a->speedup, JL_K_NUMBER, "x"));

		JL_SENTENCE(s->doc, JL_("It has |1 of the baseline's speed. "), JL_FIG(speed));
	}
	if (p)
		JL_SENTENCE(s->doc, JL_("|1 is expected to train at |2 on it."), JL_NAMED(s->w->subject.name),
			    JL_FIG(jl_num_ranged(jl_num_estimate(p->samples_per_s, JL_K_NUMBER, "samples/s"))));
	else if (a && !a->possible)
		jl_doc_sourced(s->doc, a->why.text, JL_ESTIMATED, JL_METHOD);
}

static void workload(struct jl_section *s)
{
	const struct jl_observed *o = &s->w->scenario->observed;
	const struct jl_num step = jl_num_plain(o->step_s, JL_K_TIME, NULL, JL_MEASURED, NULL);

	if (s->w->has_model) {
		jl_doc_note(s->doc, JL_MARK_NONE, JL_("Workload"));
		jl_doc_name(s->doc, s->w->subject.name);
		if (s->w->model_assumed)
			JL_SHOW(s->doc, " (no model was named: this one is used)");
	} else if (!isnan(o->step_s)) {
		jl_doc_note(s->doc, JL_MARK_NONE, JL_("Workload"));
		JL_SENTENCE(s->doc,
			    isnan(o->batches) ? JL_("observed: |1 for a step of |2 samples")
					      : JL_("observed: |1 for a step of |2 samples, |3 steps an epoch"),
			    JL_FIG(step), JL_COUNT(o->batch), JL_COUNT(o->batches));
	}
}

/* Default answers if the scenario asks no question. */
static const char *unasked(struct jl_section *s)
{
	static const char *const order[] = { "best", "normal", "breakeven", "scaling", "do", "fastest", "rent" };
	const char *first = NULL;
	size_t n = 0;

	here(s);
	for (size_t i = 0; i < JL_LEN(order) && n < UNASKED_MAX; i++) {
		const struct jl_scenario_question q = { .ask = order[i], .n_nodes = NAN, .n_gpus = NAN };

		if (!jl_answer_unasked(s, &q))
			continue;
		first = first ? first : order[i];
		n++;
	}
	return first;
}

/* --- unknowns */

/* Reports measurements outside the predicted intervals. */
static void outside_band(struct jl_section *s)
{
	const struct jl_scaling_result *sc = &s->w->scaling;
	size_t n = 0, out = 0;

	for (size_t i = 0; sc->of && i < sc->n_modes * sc->n_counts; i++) {
		const struct jl_scaling_point *p = &sc->points[i];

		if (!p->predicted || isnan(p->measured_per_s))
			continue;
		n++;
		out += p->measured_per_s < p->per_s.lo || p->measured_per_s > p->per_s.hi;
	}
	if (!n)
		return;
	jl_doc_item(s->doc);
	JL_SENTENCE(s->doc,
		    out ? JL_("|1 of |2 measured speeds lie outside the predicted range: there the measurement counts.")
			: JL_("All |2 measured speeds lie within the predicted range."),
		    JL_COUNT(out), JL_COUNT(n));
}

static void not_known(struct jl_section *s)
{
	const struct jl_notes *list = jl_section_notes(s);

	jl_doc_subsection(s->doc, "unknown", JL_("Confidence"));
	outside_band(s);
	jl_doc_item(s->doc);
	JL_SENTENCE(s->doc,
		    JL_("A range in brackets is an |1 interval; estimates were checked on published measurements."),
		    JL_FIG(jl_num_share(JL_INTERVAL_FRAC, JL_ORIGIN_NONE)));
	jl_doc_ref(s->doc, "method");
	if (list && list->n) {
		jl_doc_item(s->doc);
		JL_SENTENCE(s->doc, JL_("Assumptions: |1."), JL_COUNT(list->n));
		jl_doc_ref(s->doc, "assumed");
	}
}

/* Address of a seller's price on that day; NULL: unknown. */
static const char *price_url(const struct jl_catalog *cat, const struct jl_doc_source *source)
{
	for (size_t i = 0; source->id && source->date && i < cat->n_prices; i++) {
		const struct jl_price *p = &cat->prices[i];

		if (p->provider && p->date && p->url && strcmp(p->provider, source->id) == 0 &&
		    strcmp(p->date, source->date) == 0)
			return p->url;
	}
	return NULL;
}

void jl_section_source(struct jl_section *s, const struct jl_doc_source *source)
{
	const struct jl_source *listed = source->id ? jl_source_by_id(s->w->cat, source->id) : NULL;
	const struct jl_probe_machine *m = s->in->machine;
	const char *title = listed && listed->title ? jl_msg(listed->title)
			    : m && source->id && m->short_name && strcmp(source->id, m->short_name) == 0
				    ? m->short_name_text
			    : source->id     ? source->id
			    : source->origin ? JL_("this report")
					     : JL_("this scenario");
	const char *url = listed ? listed->url : price_url(s->w->cat, source);

	if (url && strncmp(url, "http", 4) == 0 && !strchr(url, ' '))
		jl_doc_link(s->doc, title, url);
	else
		jl_doc_name(s->doc, title);
}

/* Sources of the first screen's figures; short reports have no other list. */
static void sources(struct jl_section *s)
{
	struct jl_doc_source list[JL_DOC_SOURCES_MAX];
	const size_t n = jl_doc_sources(s->doc, list);
	size_t said = 0;

	for (size_t i = 0; i < n; i++) {
		if (list[i].origin == JL_ORIGIN_NONE || !list[i].id)
			continue;
		if (!said++)
			jl_doc_note(s->doc, JL_MARK_NONE, JL_("Sources"));
		else
			jl_doc_dot(s->doc);
		jl_doc_textf(s->doc, "%s: ", jl_origin_word(list[i].origin));
		jl_section_source(s, &list[i]);
		if (list[i].date)
			jl_doc_name(s->doc, jl_doc_format(s->doc, " (%s)", list[i].date));
	}
}

void jl_section_first(struct jl_section *s)
{
	const struct jl_scenario *scenario = s->w->scenario;
	const struct jl_scenario_question any = { .n_nodes = NAN, .n_gpus = NAN }, *q = &any;
	const struct jl_answerer *how = NULL;
	struct jl_doc_place before;

	for (size_t i = 0; i < scenario->n_questions; i++)
		jl_answer_question(s, &scenario->questions[i]);
	if (scenario->n_questions) {
		jl_answer_amiss(s);
		q = &scenario->questions[0];
		how = jl_answerer_of(q->ask);
	} else if (s->in->machine && scenario->n_systems <= 1) {
		jl_first_machine(s);
		here(s);
	} else {
		how = jl_answerer_of(unasked(s));
	}
	before = jl_doc_here(s->doc);
	if (how && how->chart)
		how->chart(s, q);
	if (s->doc->n_blocks > before.n_blocks)
		s->charted = how->section;
	jl_section_actions(s);
	not_known(s);
	workload(s);
	sources(s);
}
