/* What the summary can say, each thing once: as the answer to a question of the scenario, or unasked. An answer writes into the open
 * finding and says how good the news is; JL_MARK_NONE: the facts do not allow it, and nothing was written. */
#include <math.h>
#include <string.h>

#include "report/section_answers.h"

static const struct jl_answer nothing = { .mark = JL_MARK_NONE };

/* Is the question about this system? */
bool jl_answer_about(const struct jl_section *s, const struct jl_scenario_question *q,
		     const struct jl_weighed_system *w)
{
	return !q->of || jl_scenario_find(s->w->scenario, q->of) == w->said;
}

/* --- speed */

static void run_times(struct jl_section *s, const struct jl_compare_at *a, const struct jl_compare_at *base)
{
	const bool whole = !isnan(a->run_s.value);
	const enum jl_origin origin = isnan(s->w->scenario->observed.step_s) ? JL_ESTIMATED : JL_MEASURED;

	jl_doc_text(s->doc, whole ? JL_("the whole run ") : JL_("a step "));
	jl_tell_num(s->doc, jl_num_plain(whole ? base->run_s.value : base->step_s.value, JL_K_TIME, NULL, origin,
					 origin == JL_ESTIMATED ? JL_METHOD : NULL));
	jl_doc_text(s->doc, " → ");
	jl_tell_num(s->doc, jl_num_ranged(jl_num_estimate(whole ? a->run_s : a->step_s, JL_K_TIME, NULL)));
}

static const struct jl_weighed_system *fastest(const struct jl_weighed *w,
					       const struct jl_weighed_system **ret_cheapest)
{
	const struct jl_weighed_system *best = NULL, *cheap = NULL;
	double speed = 0, per_usd = 0;

	for (size_t i = 0; w->compare && i < w->n_systems; i++) {
		const struct jl_compare_row *row = w->systems[i].row;
		const struct jl_compare_at *a = row ? &row->at[JL_AT_SAME_BATCH] : NULL;
		const double v = row && row->baseline ? 1 : a && a->possible ? a->speedup.value : NAN;

		if (v > speed) {
			speed = v;
			best = &w->systems[i];
		}
		if (v / w->systems[i].rent_usdps > per_usd) {
			per_usd = v / w->systems[i].rent_usdps;
			cheap = &w->systems[i];
		}
	}
	if (ret_cheapest)
		*ret_cheapest = cheap;
	return best;
}

static struct jl_answer answer_fastest(struct jl_section *s, const struct jl_scenario_question *q)
{
	const struct jl_weighed_system *best = fastest(s->w, NULL);
	const struct jl_compare_at *a = best ? &best->row->at[JL_AT_SAME_BATCH] : NULL;

	(void)q;
	if (!best)
		return nothing;
	jl_doc_name(s->doc, jl_system_name(best));
	if (best->row->baseline) {
		const bool whole = !isnan(a->run_s.value);

		JL_SAY(s, ": the baseline itself; none of the others is faster. ");
		jl_doc_text(s->doc, whole ? JL_("The whole run ") : JL_("A step "));
		jl_tell_num(s->doc, best->row->observed ? jl_num_plain(whole ? a->run_s.value : a->step_s.value,
								       JL_K_TIME, NULL, JL_MEASURED, NULL)
							: jl_num_ranged(jl_num_estimate(whole ? a->run_s : a->step_s,
											JL_K_TIME, NULL)));
		jl_doc_text(s->doc, ".");
	} else {
		jl_doc_text(s->doc, ": ");
		jl_tell_num(s->doc, jl_num_ranged(jl_num_estimate(a->speedup, JL_K_NUMBER, "x")));
		JL_SAY(s, " the baseline's speed at the same batch; ");
		run_times(s, a, &s->w->compare->rows[0].at[JL_AT_SAME_BATCH]);
		jl_doc_text(s->doc, ".");
	}
	return (struct jl_answer){ JL_MARK_GOOD, JL_("Fastest for this run") };
}

/* Each of the others beside the baseline. */
static struct jl_answer answer_speed(struct jl_section *s, const struct jl_scenario_question *q)
{
	double best = NAN;

	for (size_t i = 0; s->w->compare && i < s->w->n_systems; i++) {
		const struct jl_compare_row *row = s->w->systems[i].row;
		const struct jl_compare_at *a = row ? &row->at[JL_AT_SAME_BATCH] : NULL;

		if (!row || row->baseline || !jl_answer_about(s, q, &s->w->systems[i]))
			continue;
		if (!isnan(best))
			jl_doc_break(s->doc);
		best = isnan(best) ? 0 : best;
		jl_doc_name(s->doc, jl_system_name(&s->w->systems[i]));
		if (!a->possible) {
			JL_SAY(s, ": does not run it.");
			continue;
		}
		jl_doc_text(s->doc, ": ");
		jl_tell_num(s->doc, jl_num_ranged(jl_num_estimate(a->speedup, JL_K_NUMBER, "x")));
		jl_doc_text(s->doc, ", ");
		run_times(s, a, &s->w->compare->rows[0].at[JL_AT_SAME_BATCH]);
		jl_doc_text(s->doc, ".");
		best = fmax(best, a->speedup.value);
	}
	return isnan(best) ? nothing
			   : (struct jl_answer){ best >= 1 ? JL_MARK_GOOD : JL_MARK_WARN,
						 JL_("Speed beside the baseline") };
}

static void one_time(struct jl_section *s, const char *en, struct jl_estimate e, bool *any)
{
	if (isnan(e.value))
		return;
	jl_doc_text(s->doc, *any ? ", " : " ");
	jl_doc_text(s->doc, jl_msg(en));
	jl_tell_num(s->doc, jl_num_ranged(jl_num_estimate(e, JL_K_TIME, NULL)));
	*any = true;
}

static struct jl_answer answer_time(struct jl_section *s, const struct jl_scenario_question *q)
{
	bool said = false;

	for (size_t i = 0; i < s->w->n_systems; i++) {
		const struct jl_weighed_system *system = &s->w->systems[i];
		const struct jl_compare_at *a = system->row && system->row->at[JL_AT_SAME_BATCH].possible
							? &system->row->at[JL_AT_SAME_BATCH]
							: NULL;
		const struct jl_prediction *p = system->predicted ? &system->prediction : NULL;
		bool any = false;

		if ((!a && !p) || !jl_answer_about(s, q, system))
			continue;
		if (said)
			jl_doc_break(s->doc);
		jl_doc_name(s->doc, jl_system_name(system));
		jl_doc_text(s->doc, ":");
		one_time(s, JL_N("the whole run "), a ? a->run_s : p->run_s, &any);
		one_time(s, JL_N("an epoch "), a ? a->epoch_s : p->epoch_s, &any);
		one_time(s, JL_N("a step "), a ? a->step_s : p->step_s, &any);
		jl_doc_text(s->doc, ".");
		said = true;
	}
	return said ? (struct jl_answer){ JL_MARK_GOOD, JL_("How long it takes") } : nothing;
}

static struct jl_answer answer_energy(struct jl_section *s, const struct jl_scenario_question *q)
{
	bool said = false;

	for (size_t i = 0; s->w->compare && i < s->w->n_systems; i++) {
		const struct jl_compare_row *row = s->w->systems[i].row;
		const struct jl_compare_at *a = row ? &row->at[JL_AT_SAME_BATCH] : NULL;

		if (!a || !a->possible || isnan(a->energy_J.value) || !jl_answer_about(s, q, &s->w->systems[i]))
			continue;
		if (said)
			jl_doc_break(s->doc);
		jl_doc_name(s->doc, jl_system_name(&s->w->systems[i]));
		jl_doc_text(s->doc, ": ");
		jl_tell_num(s->doc, jl_num_ranged(jl_num_estimate(a->energy_J, JL_K_ENERGY, NULL)));
		jl_doc_text(s->doc, isnan(a->run_s.value) ? JL_(" a step.") : JL_(" for the run."));
		said = true;
	}
	return said ? (struct jl_answer){ JL_MARK_GOOD, JL_("Energy") } : nothing;
}

/* --- memory */

static struct jl_num memory_num(double value_B, enum jl_origin origin, const char *source)
{
	struct jl_num num = jl_num_plain(value_B, JL_K_BYTES, NULL, origin, source);

	num.binary = true;
	return num;
}

/* One system's memory; returns how bad it is. */
static enum jl_mark fits_one(struct jl_section *s, const struct jl_weighed_system *system)
{
	const struct jl_prediction *p = &system->prediction;

	jl_doc_name(s->doc, jl_system_name(system));
	if (!system->predicted) { /* observed: only what surely fits is known */
		JL_SAY(s, ": a batch of ");
		jl_tell_num(s->doc, jl_num_plain(system->row->limit, JL_K_NUMBER, NULL, JL_ESTIMATED, JL_METHOD));
		JL_SAY(s, " a device surely fits.");
		return system->row->limit >= 1 ? JL_MARK_GOOD : JL_MARK_BAD;
	}
	jl_doc_text(s->doc, p->room == JL_ROOM_FITS    ? JL_(": fits, ")
			    : p->room == JL_ROOM_TIGHT ? JL_(": tight, ")
						       : JL_(": does not fit, "));
	jl_tell_num(s->doc, memory_num(p->memory.total_B, JL_ESTIMATED, JL_METHOD));
	JL_SAY(s, " of ");
	jl_tell_num(s->doc, jl_num_capacity(system));
	JL_SAY(s, "; largest batch a device ");
	jl_tell_num(s->doc, jl_num_plain(p->max_micro_batch, JL_K_NUMBER, NULL, JL_ESTIMATED, JL_METHOD));
	jl_doc_text(s->doc, ".");
	return p->room == JL_ROOM_FITS ? JL_MARK_GOOD : p->room == JL_ROOM_TIGHT ? JL_MARK_WARN : JL_MARK_BAD;
}

static struct jl_answer answer_fits(struct jl_section *s, const struct jl_scenario_question *q)
{
	enum jl_mark worst = JL_MARK_NONE;

	for (size_t i = 0; i < s->w->n_systems; i++) {
		const struct jl_weighed_system *system = &s->w->systems[i];
		enum jl_mark mark;

		if (!jl_answer_about(s, q, system) ||
		    (!system->predicted && (!system->row || isnan(system->row->limit))))
			continue;
		if (worst)
			jl_doc_break(s->doc);
		mark = fits_one(s, system);
		worst = mark > worst ? mark : worst;
	}
	return (struct jl_answer){ worst, JL_("Memory") };
}

/* --- all-reduce */

static enum jl_mark reduce_one(struct jl_section *s, const struct jl_weighed_reduce *r)
{
	struct jl_num expected = jl_num_ranged(jl_num_estimate(r->expected.algbw_Bps, JL_K_BYTE_RATE, NULL));
	const enum jl_mark mark = jl_reduce_verdict(r);

	expected.n_digits = 3;
	jl_doc_text(s->doc, mark == JL_MARK_GOOD  ? JL_("Normal: on ")
			    : mark == JL_MARK_BAD ? JL_("More than the links carry: on ")
						  : JL_("Slow: on "));
	jl_tell_num(s->doc, jl_num_given(r->n_nodes, JL_K_NUMBER, NULL));
	JL_SAY(s, " nodes ");
	jl_tell_num(s->doc, jl_num_measured(r->measured_Bps, JL_K_BYTE_RATE, NULL, r->measured));
	JL_SAY(s, " (algbw); expected ");
	jl_tell_num(s->doc, expected);
	JL_SAY(s, JL_NC("limit", "; "));
	jl_tell_num(s->doc, jl_num_share(r->measured_Bps / r->expected.bound_Bps, JL_ESTIMATED));
	JL_SAY(s, " of the bound.");
	return mark;
}

static struct jl_answer answer_normal(struct jl_section *s, const struct jl_scenario_question *q)
{
	static const enum jl_mark order[] = { JL_MARK_NONE, JL_MARK_GOOD, JL_MARK_WARN, JL_MARK_BAD };
	enum jl_mark worst = JL_MARK_NONE;

	for (size_t i = s->w->n_reduce; i-- > 0;) {
		const struct jl_weighed_reduce *r = &s->w->reduce[i];
		enum jl_mark mark;

		if (!r->known || isnan(r->measured_Bps) || (!isnan(q->n_nodes) && q->n_nodes != r->n_nodes))
			continue;
		if (worst)
			jl_doc_break(s->doc);
		mark = reduce_one(s, r);
		for (size_t k = 0; k < sizeof order / sizeof order[0]; k++)
			worst = order[k] == mark && mark > worst ? mark : worst;
	}
	return (struct jl_answer){ worst, "All-Reduce" };
}

/* --- money */

static struct jl_answer answer_rent(struct jl_section *s, const struct jl_scenario_question *q)
{
	const struct jl_weighed_system *cheap = NULL;
	struct jl_num rent;

	(void)q;
	(void)fastest(s->w, &cheap);
	if (!cheap)
		return nothing;
	rent = jl_num_plain(cheap->rent_usdps, JL_K_USD_RATE, NULL, JL_LISTED, cheap->rent_source);
	rent.date = cheap->rent_date;
	jl_doc_name(s->doc, jl_system_name(cheap));
	jl_doc_text(s->doc, ": ");
	jl_tell_num(s->doc, rent);
	jl_doc_text(s->doc, ".");
	return (struct jl_answer){ JL_MARK_GOOD, JL_("Most work for its rent") };
}

static void cheapest_line(struct jl_section *s)
{
	const struct jl_cost_study *study = s->w->study;
	const size_t best = jl_cost_cheapest(study, study->setting.horizon_days);
	struct jl_num total = jl_num_plain((double)study->lines[best].cum_micro[study->setting.horizon_days] / 1e6,
					   study->setting.currency == JL_KRW ? JL_K_KRW : JL_K_USD, NULL, JL_ESTIMATED,
					   JL_METHOD);

	total.n_digits = 4;
	jl_doc_textf(s->doc, "%s: ", jl_cost_kind_name(study->options[best].kind));
	jl_doc_name(s->doc, study->options[best].name);
	jl_doc_text(s->doc, ", ");
	jl_tell_num(s->doc, total);
	JL_SAY(s, " over ");
	jl_tell_num(s->doc, jl_num_given((double)study->setting.horizon_days, JL_K_NUMBER, JL_("days")));
	jl_doc_text(s->doc, ".");
}

static struct jl_num days_num(double days)
{
	return jl_num_plain(ceil(days), JL_K_NUMBER, JL_("days"), JL_ESTIMATED, JL_METHOD);
}

/* The pairs that cross within the horizon; at most three. */
static void pairs(struct jl_section *s)
{
	const struct jl_cost_study *study = s->w->study;
	size_t n = 0;

	for (size_t i = 0; i < study->n_pairs && n < 3; i++) {
		const struct jl_cost_pair *pair = &study->pairs[i];
		const char *rest;

		if (isnan(pair->days))
			continue;
		jl_doc_break(s->doc);
		rest = jl_tell_part(s->doc, JL_("| is cheaper than | after |"));
		jl_doc_name(s->doc, study->options[pair->dear].name);
		rest = jl_tell_part(s->doc, rest);
		jl_doc_name(s->doc, study->options[pair->cheap].name);
		rest = jl_tell_part(s->doc, rest);
		jl_tell_num(s->doc, days_num(pair->days));
		jl_tell_part(s->doc, rest);
		if (pair->n_swings) { /* the input that moves it most */
			const struct jl_cost_swing *swing = &pair->swings[0];

			jl_doc_textf(s->doc, " (%s ±", jl_msg(swing->en));
			jl_tell_num(s->doc, jl_num_given(JL_COST_STEP_FRAC, JL_K_FRACTION, NULL));
			jl_doc_text(s->doc, ": ");
			jl_tell_num(s->doc, days_num(fmin(swing->lo, swing->hi)));
			jl_doc_text(s->doc, "–");
			jl_tell_num(s->doc, days_num(fmax(swing->lo, swing->hi)));
			jl_doc_text(s->doc, ")");
		}
		jl_doc_text(s->doc, ".");
		n++;
	}
}

static struct jl_answer answer_cheapest(struct jl_section *s, const struct jl_scenario_question *q)
{
	(void)q;
	if (!s->w->study)
		return nothing;
	cheapest_line(s);
	return (struct jl_answer){ JL_MARK_GOOD, JL_("Cheapest over the whole time") };
}

static struct jl_answer answer_breakeven(struct jl_section *s, const struct jl_scenario_question *q)
{
	const struct jl_answer a = answer_cheapest(s, q);

	if (!a.mark)
		return a;
	pairs(s);
	return a;
}

/* --- the table */

static const struct answerer {
	const char *ask;
	struct jl_answer (*write)(struct jl_section *s, const struct jl_scenario_question *q);
	const char *section;  /* where more is said */
	const char *needs_en; /* what would let it be answered */
} answerers[] = {
	{ "fastest", answer_fastest, "comparison", JL_N("at least two systems and a workload:") },
	{ "speed", answer_speed, "comparison", JL_N("at least two systems and a workload:") },
	{ "time", answer_time, "comparison", JL_N("a system and a workload:") },
	{ "fits", answer_fits, "memory", JL_N("a system and a workload:") },
	{ "normal", answer_normal, "allreduce", JL_N("allreduce: and a measured: algbw on that many nodes") },
	{ "breakeven", answer_breakeven, "cost", JL_N("cost: with something to buy and something to rent") },
	{ "cheapest", answer_cheapest, "cost", JL_N("cost: with its options") },
	{ "rent", answer_rent, "pareto", JL_N("systems with a known rent and a workload:") },
	{ "scaling", jl_answer_scaling, "scaling", JL_N("a system of several GPUs and a workload: with a model") },
	{ "why", jl_answer_why, "time", JL_N("a workload: with a model") },
	{ "helps", jl_answer_helps, "findings", JL_N("a workload: with a model") },
	{ "do", jl_answer_do, "findings", JL_N("a workload: with a model") },
	{ "energy", answer_energy, "comparison", JL_N("at least two systems and a workload:") },
	{ "best", jl_answer_best, "recommend", JL_N("recommend: with a purpose or a budget") },
};

static const struct answerer *find(const char *ask)
{
	for (size_t i = 0; ask && i < sizeof answerers / sizeof answerers[0]; i++)
		if (strcmp(answerers[i].ask, ask) == 0)
			return &answerers[i];
	return NULL;
}

bool jl_answer_unasked(struct jl_section *s, const struct jl_scenario_question *q)
{
	const struct answerer *how = find(q->ask);
	const struct jl_doc_place place = jl_doc_here(s->doc);
	struct jl_scenario_question only = *q;
	struct jl_answer a;

	only.ask = NULL; /* short: nobody asked */
	jl_doc_finding(s->doc, JL_MARK_UNKNOWN, NULL);
	a = how->write(s, &only);
	if (!a.mark) {
		jl_doc_back(s->doc, place);
		return false;
	}
	if (s->doc->failed)
		return false;
	s->doc->last->mark = a.mark;
	s->doc->last->title = a.title;
	return true;
}

void jl_answer_question(struct jl_section *s, const struct jl_scenario_question *q)
{
	const struct answerer *how = find(q->ask);
	const char *text = jl_words_in(q->text);
	struct jl_answer a = nothing;

	jl_doc_finding(s->doc, JL_MARK_UNKNOWN, text);
	if (how)
		a = how->write(s, q);
	if (s->doc->failed)
		return;
	s->doc->last->asked = text != NULL;
	if (!text)
		s->doc->last->title = a.title ? a.title : q->ask;
	if (a.mark) {
		s->doc->last->mark = a.mark;
		jl_doc_ref(s->doc, how->section);
	} else if (how) {
		JL_SAY(s, "Cannot be answered from what is given. Needed: ");
		jl_doc_text(s->doc, jl_msg(how->needs_en));
		jl_doc_text(s->doc, ".");
	} else {
		JL_SAY(s, "Which of the report's figures answers this was not said; write ask: with one of ");
		for (size_t i = 0; jl_scenario_asks[i]; i++) {
			jl_doc_text(s->doc, i ? ", " : "");
			jl_doc_code(s->doc, jl_scenario_asks[i]);
		}
		jl_doc_text(s->doc, ".");
	}
}
