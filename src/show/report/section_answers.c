/* Answers a scenario's questions in a sentence each, with figures. Writes into the open finding; writes nothing if facts are missing. */
#include <math.h>
#include <string.h>

#include "report/section_answers.h"
#include "topics/predict.h"

static const struct jl_answer nothing = { .said = false };

bool jl_answer_about(const struct jl_section *s, const struct jl_scenario_question *q, const struct jl_system_result *w)
{
	return !q->of || jl_scenario_find(s->w->scenario, q->of) == w->said;
}

/* --- speed */

static const struct jl_compare_at *compared(const struct jl_system_result *system)
{
	const struct jl_compare_at *a = system->row ? &system->row->at[JL_AT_SAME_BATCH] : NULL;

	return a && a->possible && !system->row->baseline ? a : NULL;
}

/* Fastest and slowest of the systems in question, without the baseline. */
static void ends_of(const struct jl_section *s, const struct jl_scenario_question *q,
		    const struct jl_system_result **ret_best, const struct jl_system_result **ret_worst)
{
	*ret_best = *ret_worst = NULL;
	for (size_t i = 0; s->w->compare && i < s->w->n_systems; i++) {
		const struct jl_system_result *system = &s->w->systems[i];
		const struct jl_compare_at *a = compared(system);

		if (!a || !jl_answer_about(s, q, system))
			continue;
		if (!*ret_best || a->speedup.value > compared(*ret_best)->speedup.value)
			*ret_best = system;
		if (!*ret_worst || a->speedup.value < compared(*ret_worst)->speedup.value)
			*ret_worst = system;
	}
}

const struct jl_system_result *jl_answer_subject(const struct jl_section *s, const struct jl_scenario_question *q)
{
	const struct jl_scenario_question any = { .ask = NULL };
	const struct jl_system_result *best, *worst;

	ends_of(s, q ? q : &any, &best, &worst);
	return best ? best : s->w->advised;
}

/* "2.4x" as speedup or slowdown, without interval: that of the time is shown. */
static struct jl_num factor_num(const struct jl_compare_at *a)
{
	return jl_num_digits(jl_num_times(fmax(a->speedup.value, 1 / a->speedup.value)), 2);
}

/* Formats ": the whole run 2.4 d → 5.8 d (1.5–14)." */
static void times(struct jl_section *s, const struct jl_compare_at *a)
{
	const struct jl_compare_at *base = &s->w->compare->rows[0].at[JL_AT_SAME_BATCH];
	const bool whole = !isnan(a->run_s.value), seen = !isnan(s->w->scenario->observed.step_s);
	const double before_s = whole ? base->run_s.value : base->step_s.value;
	const struct jl_estimate after = whole ? a->run_s : a->step_s;
	const double like_s = fmax(before_s, after.value);
	const struct jl_num before = jl_num_plain(before_s, JL_K_TIME, NULL, seen ? JL_MEASURED : JL_ESTIMATED,
						  seen ? NULL : JL_METHOD);

	JL_SENTENCE(s->doc, whole ? JL_(": the whole run |1 → |2.") : JL_(": a step |1 → |2."),
		    JL_FIG(jl_num_time_like(before, like_s)),
		    JL_FIG(jl_num_time_like(jl_num_ranged(jl_num_estimate(after, JL_K_TIME, NULL)), like_s)));
}

/* Compares one system with the baseline; `label`: its name if there are several, otherwise "". */
static void speed_sentence(struct jl_section *s, const struct jl_system_result *system, const char *label)
{
	const struct jl_compare_at *a = compared(system);
	const double v = a->speedup.value;
	const char *text = v > 1.05   ? JL_("|1 is about |2 faster")
			   : v < 0.95 ? JL_("|1 is about |2 slower")
				      : JL_("|1 is about as fast");

	jl_doc_text(s->doc, label);
	JL_SENTENCE(s->doc, text, JL_NAMED(jl_system_name(system)), JL_FIG(factor_num(a)));
	times(s, a);
}

/* Sentence for an interval that is too wide for a statement. */
static void speed_range(struct jl_section *s, const struct jl_compare_at *a)
{
	const struct jl_num lo = jl_num_times(a->speedup.lo);

	if (!(a->speedup.hi > JL_NARROW_WIDE * a->speedup.lo))
		return;
	jl_doc_text(s->doc, " ");
	JL_SENTENCE(s->doc,
		    a->speedup.lo < 1 && a->speedup.hi > 1
			    ? JL_("The range is wide, |1 of the baseline's speed: it may be slower or faster.")
			    : JL_("The range is wide: |1 of the baseline's speed."),
		    JL_FIG(jl_show_span(s->doc, lo, a->speedup.hi)));
}

/* The fastest system; for "speed" also the slowest. */
static struct jl_answer answer_speed(struct jl_section *s, const struct jl_scenario_question *q)
{
	const bool fastest = strcmp(q->ask, "fastest") == 0;
	const struct jl_answer answer = { true, JL_MARK_NONE,
					  fastest ? JL_("Which one is fastest?") : JL_("How fast the others are") };
	const struct jl_system_result *best, *worst;

	ends_of(s, q, &best, &worst);
	if (!best)
		return nothing;
	if (fastest && compared(best)->speedup.value < 1) {
		JL_SENTENCE(s->doc, JL_("|1, the baseline itself: none of the others is faster."),
			    JL_NAMED(jl_system_name(&s->w->systems[s->w->scenario->baseline])));
		return answer;
	}
	speed_sentence(s, best, best != worst && !fastest ? JL_("At best, ") : "");
	speed_range(s, compared(best));
	if (best != worst && !fastest) {
		jl_doc_text(s->doc, " ");
		speed_sentence(s, worst, JL_("At worst, "));
	}
	return answer;
}

/* Fastest and slowest in a sentence, then: "The others: A 5.8 d (1.5–14), B ...". */
static struct jl_answer each(struct jl_section *s, const struct jl_scenario_question *q, const char *one,
			     const char *ends, struct jl_num (*num)(const struct jl_system_result *system),
			     const char *title)
{
	const struct jl_system_result *least = NULL, *most = NULL;
	const char *before = JL_(" The others: ");

	for (size_t i = 0; i < s->w->n_systems; i++) {
		const struct jl_system_result *system = &s->w->systems[i];

		if (isnan(num(system).value) || !jl_answer_about(s, q, system))
			continue;
		least = !least || num(system).value < num(least).value ? system : least;
		most = !most || num(system).value >= num(most).value ? system : most;
	}
	if (!least)
		return nothing;
	JL_SENTENCE(s->doc, least == most ? one : ends, JL_NAMED(jl_system_name(least)), JL_FIG(num(least)),
		    JL_NAMED(jl_system_name(most)), JL_FIG(num(most)));
	for (size_t i = 0; i < s->w->n_systems; i++) {
		const struct jl_system_result *system = &s->w->systems[i];

		if (system == least || system == most || isnan(num(system).value) || !jl_answer_about(s, q, system))
			continue;
		JL_SENTENCE(s->doc, "|1|2 |3", JL_WORD(before), JL_NAMED(jl_system_name(system)), JL_FIG(num(system)));
		before = ", ";
	}
	jl_doc_text(s->doc, before[0] == ',' ? "." : "");
	return (struct jl_answer){ true, JL_MARK_NONE, title };
}

static struct jl_num time_of(const struct jl_system_result *system)
{
	const struct jl_compare_at *a = system->row ? &system->row->at[JL_AT_SAME_BATCH] : NULL;
	const struct jl_estimate none = { NAN, NAN, NAN },
				 run = a && a->possible    ? a->run_s
				       : system->predicted ? system->prediction.run_s
							   : none,
				 step = a && a->possible    ? a->step_s
					: system->predicted ? system->prediction.step_s
							    : none;

	return jl_num_ranged(jl_num_estimate(isnan(run.value) ? step : run, JL_K_TIME, NULL));
}

static struct jl_answer answer_time(struct jl_section *s, const struct jl_scenario_question *q)
{
	bool whole = false;

	for (size_t i = 0; i < s->w->n_systems; i++) {
		const struct jl_system_result *system = &s->w->systems[i];

		whole |= system->row ? !isnan(system->row->at[JL_AT_SAME_BATCH].run_s.value)
				     : system->predicted && system->prediction.whole_run;
	}
	return each(s, q, whole ? JL_("|1 takes |2 for the whole run.") : JL_("|1 takes |2 for a step."),
		    whole ? JL_("The whole run is shortest on |1: |2; longest on |3: |4.")
			  : JL_("A step is shortest on |1: |2; longest on |3: |4."),
		    time_of, JL_("How long does it take?"));
}

static struct jl_num energy_of(const struct jl_system_result *system)
{
	const struct jl_compare_at *a = system->row ? &system->row->at[JL_AT_SAME_BATCH] : NULL;

	return jl_num_ranged(jl_num_estimate(a && a->possible ? a->energy_J : (struct jl_estimate){ NAN, NAN, NAN },
					     JL_K_ENERGY, NULL));
}

static struct jl_answer answer_energy(struct jl_section *s, const struct jl_scenario_question *q)
{
	const bool whole = s->w->compare && !isnan(s->w->compare->rows[0].at[JL_AT_SAME_BATCH].run_s.value);

	return each(s, q, whole ? JL_("|1 draws |2 over the whole run.") : JL_("|1 draws |2 in a step."),
		    whole ? JL_("Over the whole run, |1 draws least: |2; |3 most: |4.")
			  : JL_("In a step, |1 draws least: |2; |3 most: |4."),
		    energy_of, JL_("How much energy does it take?"));
}

/* Describes the memory of one system; returns the mark. */
static enum jl_mark fits_one(struct jl_section *s, const struct jl_system_result *system)
{
	const struct jl_prediction *p = &system->prediction;
	const struct jl_num need = jl_num_binary(jl_num_about(p->memory.total_B, JL_K_BYTES, NULL));
	struct jl_fit_text fit;

	if (!system->predicted) { /* observed run: only a lower bound is known */
		JL_SENTENCE(s->doc, JL_("|1 surely takes a batch of |2 on a device."), JL_NAMED(jl_system_name(system)),
			    JL_FIG(jl_num_about(system->row->limit, JL_K_NUMBER, NULL)));
		return system->row->limit >= 1 ? JL_MARK_GOOD : JL_MARK_BAD;
	}
	fit = jl_show_memory_fit(s->doc, p, p->room);
	JL_SENTENCE(s->doc,
		    fit.doubt                  ? JL_("On |1 it |5: |2 of |3.")
		    : p->room == JL_ROOM_FITS  ? JL_("It fits |1: |2 of |3, and a batch of up to |4 on a device.")
		    : p->room == JL_ROOM_TIGHT ? JL_("It barely fits |1: |2 of |3.")
					       : JL_("It does not fit |1: |2 of |3."),
		    JL_NAMED(jl_system_name(system)), JL_FIG(need), JL_FIG(jl_num_capacity(system)),
		    JL_FIG(jl_num_about(p->max_micro_batch, JL_K_NUMBER, NULL)),
		    JL_FIGURE_TEXT(fit.text, JL_ESTIMATED));
	return fit.mark;
}

static struct jl_answer answer_fits(struct jl_section *s, const struct jl_scenario_question *q)
{
	enum jl_mark worst = JL_MARK_NONE;

	for (size_t i = 0; i < s->w->n_systems; i++) {
		const struct jl_system_result *system = &s->w->systems[i];
		enum jl_mark mark;

		if (!jl_answer_about(s, q, system) ||
		    (!system->predicted && (!system->row || system->row->baseline || isnan(system->row->limit))))
			continue;
		jl_doc_text(s->doc, worst ? " " : "");
		mark = fits_one(s, system);
		worst = mark > worst ? mark : worst;
	}
	return (struct jl_answer){ worst != JL_MARK_NONE, worst, JL_("Does it fit?") };
}

static enum jl_mark reduce_one(struct jl_section *s, const struct jl_reduce_result *r)
{
	const enum jl_mark mark = jl_reduce_verdict(r);
	const struct jl_figure seen = { .value = r->measured_Bps, .lo95 = NAN, .hi95 = NAN };
	const struct jl_num lo = jl_num_digits(jl_num_about(r->expect.range.lo, JL_K_BYTE_RATE, NULL), 3);

	JL_SENTENCE(s->doc,
		    mark == JL_MARK_BAD ? JL_("No: |1 cannot be an algbw of |2 nodes; their links carry at most |4.")
		    : r->verdict == JL_VERDICT_HIGH
			    ? JL_("Too high to be true: |1 on |2 nodes, where |3 is expected; |5 of the bound of |4.")
		    : mark == JL_MARK_WARN
			    ? JL_("No, it is slow: |1 on |2 nodes, where |3 is expected; |5 of the bound of |4.")
		    : r->verdict == JL_VERDICT_GOOD
			    ? JL_("Better than expected: |1 on |2 nodes, where |3 is expected; |5 of the bound of |4.")
		    : jl_verdict_at_edge(&seen, &r->expect.range)
			    ? JL_("Yes, at the edge of what is normal: |1 on |2 nodes, where |3 is expected; |5 of the "
				  "bound of |4.")
			    : JL_("Yes: |1 on |2 nodes is normal. Expected is |3; it is |5 of the bound of |4."),
		    JL_FIG(jl_num_measured(r->measured_Bps, JL_K_BYTE_RATE, NULL, r->measured)), JL_COUNT(r->n_nodes),
		    JL_FIG(jl_show_span(s->doc, lo, r->expect.range.hi)),
		    JL_FIG(jl_num_plain(r->expect.c.bound_Bps, JL_K_BYTE_RATE, NULL, JL_LISTED, NULL)),
		    JL_SHARE(r->measured_Bps / r->expect.c.bound_Bps));
	return mark;
}

static struct jl_answer answer_normal(struct jl_section *s, const struct jl_scenario_question *q)
{
	enum jl_mark worst = JL_MARK_NONE;
	const char *title = NULL;
	char rate[JL_UNITS_TEXT_MAX];

	for (size_t i = s->w->n_reduce; i-- > 0;) {
		const struct jl_reduce_result *r = &s->w->reduce[i];
		enum jl_mark mark;

		if (!r->known || isnan(r->measured_Bps) || (!isnan(q->n_nodes) && q->n_nodes != r->n_nodes))
			continue;
		if (worst)
			jl_doc_break(s->doc);
		title = title ? JL_("Is it normal?")
			      : jl_doc_format(s->doc, JL_("Is %s on %d nodes normal?"),
					      jl_units_localized(rate, r->measured_Bps, JL_K_BYTE_RATE, 3), r->n_nodes);
		mark = reduce_one(s, r);
		worst = mark > worst ? mark : worst;
	}
	return (struct jl_answer){ worst != JL_MARK_NONE, worst, title };
}

/* --- table of questions */

static const struct jl_answerer answerers[] = {
	{ "fastest", answer_speed, "comparison", jl_chart_comparison, JL_N("at least two systems and a workload:") },
	{ "speed", answer_speed, "comparison", jl_chart_comparison, JL_N("at least two systems and a workload:") },
	{ "time", answer_time, "comparison", jl_chart_comparison, JL_N("a system and a workload:") },
	{ "fits", answer_fits, "memory", jl_chart_memory, JL_N("a system and a workload:") },
	{ "normal", answer_normal, "allreduce", jl_chart_allreduce,
	  JL_N("allreduce: and a measured: algbw on that many nodes") },
	{ "breakeven", jl_answer_cheapest, "cost", jl_chart_cost,
	  JL_N("cost: with something to buy and something to rent") },
	{ "cheapest", jl_answer_cheapest, "cost", jl_chart_cost, JL_N("cost: with its options") },
	{ "rent", jl_answer_rent, "pareto", jl_chart_pareto, JL_N("systems with a known rent and a workload:") },
	{ "scaling", jl_answer_scaling, "scaling", jl_chart_scaling,
	  JL_N("a system of several GPUs and a workload: with a model") },
	{ "why", jl_answer_why, "time", jl_chart_time, JL_N("a workload: with a model") },
	{ "helps", jl_answer_helps, "time", jl_chart_time, JL_N("a workload: with a model") },
	{ "do", jl_answer_do, "time", jl_chart_time, JL_N("a workload: with a model") },
	{ "energy", answer_energy, "comparison", jl_chart_comparison, JL_N("at least two systems and a workload:") },
	{ "sound", jl_answer_sound, "builds", NULL, JL_N("builds: with their parts") },
	{ "best", jl_answer_best, "recommend", jl_chart_recommend, JL_N("recommend: with a purpose or a budget") },
};

const struct jl_answerer *jl_answerer_of(const char *ask)
{
	for (size_t i = 0; ask && i < JL_LEN(answerers); i++)
		if (strcmp(answerers[i].ask, ask) == 0)
			return &answerers[i];
	return NULL;
}

bool jl_answer_unasked(struct jl_section *s, const struct jl_scenario_question *q)
{
	const struct jl_doc_place place = jl_doc_here(s->doc);
	struct jl_answer a;

	jl_doc_finding(s->doc, JL_MARK_NONE, NULL);
	a = jl_answerer_of(q->ask)->write(s, q);
	if (!a.said) {
		jl_doc_back(s->doc, place);
		return false;
	}
	if (s->doc->failed)
		return false;
	s->doc->last->mark = a.mark;
	s->doc->last->title = a.title;
	s->doc->last->asked = true;
	return true;
}

/* Always reports measurements that are impossible or low. */
void jl_answer_amiss(struct jl_section *s)
{
	const struct jl_scenario *asked = s->w->scenario;

	for (size_t i = 0; i < s->w->n_reduce; i++) {
		const struct jl_reduce_result *r = &s->w->reduce[i];
		const enum jl_mark mark = jl_reduce_verdict(r);
		bool said = false;

		for (size_t k = 0; k < asked->n_questions; k++)
			said |= asked->questions[k].ask && strcmp(asked->questions[k].ask, "normal") == 0 &&
				(isnan(asked->questions[k].n_nodes) || asked->questions[k].n_nodes == r->n_nodes);
		if (!said && (mark == JL_MARK_BAD || mark == JL_MARK_WARN))
			(void)jl_answer_unasked(s, &(struct jl_scenario_question){
							   .ask = "normal", .n_nodes = r->n_nodes, .n_gpus = NAN });
	}
}

void jl_answer_question(struct jl_section *s, const struct jl_scenario_question *q)
{
	const struct jl_answerer *how = jl_answerer_of(q->ask);
	const char *text = jl_words_in(q->text);
	struct jl_answer a = nothing;

	jl_doc_finding(s->doc, JL_MARK_UNKNOWN, text);
	if (how)
		a = how->write(s, q);
	if (s->doc->failed)
		return;
	s->doc->last->asked = true;
	if (!text)
		s->doc->last->title = a.title ? a.title : q->ask;
	if (a.said) {
		s->doc->last->mark = a.mark;
		jl_doc_ref(s->doc, how->section);
	} else if (how) {
		JL_SHOW(s->doc, "Cannot be answered from what is given. Needed: ");
		jl_doc_text(s->doc, jl_msg(how->needs_en));
		jl_doc_text(s->doc, ".");
	} else {
		JL_SHOW(s->doc, "The scenario does not say which figure answers this; write ask: with one of ");
		for (size_t i = 0; jl_scenario_asks[i]; i++) {
			jl_doc_text(s->doc, i ? ", " : "");
			jl_doc_code(s->doc, jl_scenario_asks[i]);
		}
		jl_doc_text(s->doc, ".");
	}
}
