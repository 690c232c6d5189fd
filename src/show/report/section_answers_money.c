/* Answers on costs and purchases. */
#include <math.h>
#include <string.h>

#include "build/answer.h"
#include "report/section_answers.h"

static const struct jl_answer nothing = { .said = false };

/* The lowest rent for the same work. */
struct jl_answer jl_answer_rent(struct jl_section *s, const struct jl_scenario_question *q)
{
	const struct jl_system_result *cheap = NULL;
	double least = INFINITY;
	struct jl_num rent, work;

	(void)q;
	for (size_t i = 0; s->w->compare && i < s->w->n_systems; i++) {
		const struct jl_compare_row *row = s->w->systems[i].row;
		const struct jl_compare_at *a = row ? &row->at[JL_AT_SAME_BATCH] : NULL;
		const double speed = !row ? NAN : row->baseline ? 1 : a->possible ? a->speedup.value : NAN;

		if (s->w->systems[i].rent_usdps / speed < least) {
			least = s->w->systems[i].rent_usdps / speed;
			cheap = &s->w->systems[i];
		}
	}
	if (!cheap)
		return nothing;
	rent = jl_num_plain(cheap->rent_usdps, JL_K_USD_RATE, NULL, JL_LISTED, cheap->rent_source);
	rent.date = cheap->rent_date;
	work = jl_num_digits(jl_num_about(least * 3600, JL_K_USD, NULL), 2);
	JL_SENTENCE(s->doc,
		    JL_("|1 gives the most speed for its rent of |2: |3 for what the baseline does in an hour."),
		    JL_NAMED(jl_system_name(cheap)), JL_FIG(rent), JL_FIG(work));
	return (struct jl_answer){ true, JL_MARK_NONE, JL_("Which one gives the most speed for its rent?") };
}

/* Up to three break-even dates, each with its most sensitive input. */
static void pairs(struct jl_section *s)
{
	const struct jl_cost_study *study = s->w->study;
	size_t n = 0, dear = 0;

	for (size_t i = 0; i < study->n_pairs && n < 3; i++) {
		const struct jl_cost_pair *pair = &study->pairs[i];
		const struct jl_cost_swing *swing = pair->n_swings ? &pair->swings[0] : NULL;
		const bool ranged = swing && !isnan(swing->lo) && !isnan(swing->hi);
		struct jl_num days = jl_num_plain(ceil(pair->days), JL_K_NUMBER, "days", JL_ESTIMATED, JL_METHOD);

		if (isnan(pair->days))
			continue;
		if (ranged) {
			days.lo = ceil(fmin(swing->lo, swing->hi));
			days.hi = ceil(fmax(swing->lo, swing->hi));
			days.show_interval = true;
			days.n_digits = 3;
		}
		jl_doc_text(s->doc, " ");
		JL_SENTENCE(s->doc,
			    n && pair->dear == dear ? JL_("Against |2 it is after |3.")
			    : ranged                ? JL_("|1 is cheaper than |2 after |3 (range: |4 ±|5).")
						    : JL_("|1 is cheaper than |2 after |3."),
			    JL_NAMED(jl_option_name(study->options[pair->dear].name)),
			    JL_NAMED(jl_option_name(study->options[pair->cheap].name)), JL_FIG(days),
			    JL_WORD(swing ? jl_msg(swing->en) : ""),
			    JL_FIG(jl_num_given(JL_COST_STEP_FRAC, JL_K_FRACTION, NULL)));
		dear = pair->dear;
		n++;
	}
}

struct jl_answer jl_answer_cheapest(struct jl_section *s, const struct jl_scenario_question *q)
{
	const struct jl_cost_study *study = s->w->study;
	const long horizon = study ? study->setting.horizon_days : 0;
	const size_t best = study ? jl_cost_cheapest(study, horizon) : 0;
	struct jl_num total, over;

	if (!study)
		return nothing;
	total = jl_num_about((double)study->lines[best].cum_micro[horizon] / 1e6,
			     study->setting.currency == JL_KRW ? JL_K_KRW : JL_K_USD, NULL);
	total.n_digits = 3;
	over = horizon >= 365 ? jl_num_given(round((double)horizon / 36.5) / 10, JL_K_NUMBER, "years")
			      : jl_num_given((double)horizon, JL_K_NUMBER, "days");
	JL_SENTENCE(s->doc, JL_("Over |1, |2 is cheapest: |3 in all."), JL_FIG(over),
		    JL_NAMED(jl_option_name(study->options[best].name)), JL_FIG(total));
	if (!q->ask || strcmp(q->ask, "cheapest") != 0)
		pairs(s);
	return (struct jl_answer){ true, JL_MARK_NONE, JL_("Buy or rent?") };
}

/* --- parts lists */

static enum jl_mark sound_one(struct jl_section *s, const struct jl_rig *rig, const struct jl_part_findings *found)
{
	const size_t n_wrong = jl_build_count(found, JL_PART_ERROR), n_warn = jl_build_count(found, JL_PART_WARNING);
	const struct jl_part_finding *worst = NULL;

	for (size_t i = 0; i < found->n; i++)
		if (found->items[i].level >= JL_PART_WARNING && (!worst || found->items[i].level > worst->level))
			worst = &found->items[i];
	JL_SENTENCE(s->doc,
		    n_wrong  ? JL_("|1 does not work as it is (errors |2, warnings |3).")
		    : n_warn ? JL_("|1 works, with warnings: |3.")
			     : JL_("|1 is sound, as far as it was described."),
		    JL_NAMED(rig->name ? rig->name : rig->gpu->name), JL_COUNT(n_wrong), JL_COUNT(n_warn));
	if (worst) {
		jl_doc_text(s->doc, " ");
		jl_doc_sourced(s->doc, worst->text, JL_LISTED, worst->rules[0] ? worst->rules[0]->source : NULL);
	}
	return n_wrong ? JL_MARK_BAD : n_warn ? JL_MARK_WARN : JL_MARK_GOOD;
}

struct jl_answer jl_answer_sound(struct jl_section *s, const struct jl_scenario_question *q)
{
	const struct jl_yaml *list = s->w->scenario->builds;
	enum jl_mark worst = JL_MARK_NONE;

	(void)q;
	for (const struct jl_yaml *item = list ? list->items : NULL; item; item = item->next) {
		struct jl_part_findings *found = jl_arena_alloc(s->arena, sizeof *found);
		struct jl_rig rig;
		struct jl_err ignored;
		enum jl_mark mark;

		if (!found || jl_rig_read(&rig, item, s->w->cat, s->arena, &ignored))
			continue; /* the section shows its findings */
		jl_rig_check(found, &rig, s->w->cat);
		if (worst)
			jl_doc_break(s->doc);
		mark = sound_one(s, &rig, found);
		worst = mark > worst ? mark : worst;
	}
	return (struct jl_answer){ worst != JL_MARK_NONE, worst, JL_("Are the builds sound?") };
}
