/* Recommended actions: at most three, best first, each with gain, cost and effort. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "check/next.h"
#include "report/section_answers.h"

#define ACTIONS_MAX 3
#define GAIN_LEAST  1.1 /* minimum speedup for an action */

struct list {
	struct jl_section *s;
	size_t n;
};

/* Opens a list item whose first words are bold. */
static bool open_action(struct list *l, const char *said)
{
	char *text = jl_arena_strdup(l->s->arena, said);
	const size_t word = strcspn(said, " ");

	if (l->n == ACTIONS_MAX || !text)
		return false;
	if (jl_lang() == jl_languages[0] && islower((unsigned char)*text) &&
	    strcspn(said, "0123456789_.") >= word) /* a sentence instead of a name */
		*text = (char)toupper((unsigned char)*text);
	if (!l->n++)
		jl_doc_subsection(l->s->doc, "actions", JL_("What to do"));
	jl_doc_step(l->s->doc);
	jl_doc_strong(l->s->doc, text);
	jl_doc_dot(l->s->doc);
	return true;
}

static void cost_and_effort(struct jl_section *s, const char *cost, const char *effort)
{
	jl_doc_dot(s->doc);
	jl_doc_text(s->doc, cost);
	jl_doc_dot(s->doc);
	jl_doc_text(s->doc, effort);
}

/* Cost and effort of each change. */
static const struct {
	const char *key, *cost, *effort;
} changes[] = {
	{ "nvlink_bridge", JL_N("price of one bridge a pair"), JL_N("half a day to install") },
	{ "compile", JL_N("no cost"), JL_N("one line of code") },
	{ "precision", JL_N("no cost"), JL_N("one setting; watch the loss") },
	{ "global_batch", JL_N("no cost"), JL_N("one setting; another batch may need another learning rate") },
	{ "pad_vocabulary", JL_N("no cost"), JL_N("one setting; weights change their shape") },
	{ "decode_on_gpu", JL_N("no cost"), JL_N("another data loader") },
	{ "cpu_threads", JL_N("no cost"), JL_N("one setting") },
	{ "storage", JL_N("price of the storage"), JL_N("half a day to install") },
	{ NULL, JL_N("no cost"), JL_N("one setting") },
};

static void change(struct list *l, size_t i)
{
	struct jl_section *s = l->s;
	const struct jl_advice *a = &s->w->advice[i];
	const struct jl_scenario_measured *seen = s->w->advice_seen[i];
	const struct jl_estimate gain = jl_advice_gain(a, &s->w->advised->machine.widths, seen ? seen->value : NAN);
	size_t k = 0;

	if ((gain.value < GAIN_LEAST && !a->makes_it_fit) || !open_action(l, a->text))
		return;
	while (changes[k].key && strcmp(changes[k].key, a->key) != 0)
		k++;
	if (a->makes_it_fit)
		JL_SHOW(s->doc, "then it fits");
	else
		JL_SENTENCE(s->doc, JL_("|1 as fast on |2 GPU{/s}"),
			    JL_FIG(jl_num_ranged(jl_num_estimate(gain, JL_K_NUMBER, "x"))), JL_COUNT(a->n_gpus));
	cost_and_effort(s, jl_msg(changes[k].cost), jl_msg(changes[k].effort));
}

/* --- money */

static const struct jl_cost_swing *swing_of(const struct jl_cost_pair *pair, const char *key)
{
	for (size_t i = 0; i < pair->n_swings; i++)
		if (strcmp(pair->swings[i].key, key) == 0)
			return &pair->swings[i];
	return NULL;
}

static struct jl_num paid_num(const struct jl_cost_study *study, double amount)
{
	return jl_num_digits(jl_num_about(amount, study->setting.currency == JL_KRW ? JL_K_KRW : JL_K_USD, NULL), 2);
}

static double paid(const struct jl_cost_study *study, size_t option)
{
	return (double)study->lines[option].cum_micro[study->setting.horizon_days] / JL_MICRO;
}

/* The cheapest option, and the utilisation at which another one becomes cheaper. */
static void money(struct list *l)
{
	const struct jl_cost_study *study = l->s->w->study;
	const size_t best = study ? jl_cost_cheapest(study, study->setting.horizon_days) : 0;
	struct jl_section *s = l->s;

	for (size_t i = 0; study && i < study->n_pairs; i++) {
		const struct jl_cost_pair *p = &study->pairs[i];
		const struct jl_cost_swing *use = swing_of(p, "util");
		const size_t other = p->dear == best ? p->cheap : p->dear;

		if (p->dear != best && p->cheap != best)
			continue;
		if (!open_action(l, jl_doc_format(s->doc, JL_("choose %s over %s"),
						  jl_option_name(study->options[best].name),
						  jl_option_name(study->options[other].name))))
			return;
		JL_SENTENCE(s->doc, JL_("saves |1 over the whole time"),
			    JL_FIG(paid_num(study, paid(study, other) - paid(study, best))));
		jl_doc_dot(s->doc);
		JL_SENTENCE(s->doc, JL_("|1 on the first day"),
			    JL_FIG(paid_num(study, (double)study->lines[best].cum_micro[0] / JL_MICRO)));
		if (use && !isnan(use->flip)) {
			jl_doc_dot(s->doc);
			JL_SENTENCE(s->doc, JL_("holds while it is used more than |1 of the time"),
				    JL_SHARE((double)study->setting.util_ppm / 1e6 * use->flip));
		}
	}
}

static void reduce(struct list *l)
{
	struct jl_section *s = l->s;

	for (size_t i = s->w->n_reduce; i-- > 0;) {
		const struct jl_reduce_result *r = &s->w->reduce[i];
		const enum jl_mark mark = jl_reduce_verdict(r);
		struct jl_machine machine;
		struct jl_next next = { .n = 0 };
		struct jl_err ignored;

		if (!r->known || isnan(r->measured_Bps) ||
		    jl_machine_hosts(&machine, s->w->cat, &s->w->reduce_sys, r->n_nodes, s->arena, &ignored))
			continue;
		jl_check_next(&next, &(struct jl_next_ask){ .kind = "allreduce",
							    .verdict = jl_verdict_is_bad(r->verdict) ? r->verdict
												     : JL_VERDICT_LOW,
							    .value = r->measured_Bps,
							    .on_gpu = true,
							    .n_workers = NAN,
							    .coll = &r->expect,
							    .intra = machine.intra,
							    .inter = machine.inter });
		for (size_t k = 0; k < next.n && k < (mark == JL_MARK_GOOD ? 1 : 2); k++) {
			if (!open_action(l, next.items[k].text))
				return;
			JL_SENTENCE(s->doc,
				    mark == JL_MARK_GOOD ? JL_("verifies that |1 on |2 nodes stays normal")
							 : JL_("tells whether |1 on |2 nodes is a valid figure"),
				    JL_FIG(jl_num_measured(r->measured_Bps, JL_K_BYTE_RATE, NULL, r->measured)),
				    JL_COUNT(r->n_nodes));
			cost_and_effort(s, JL_("no cost"), JL_("one command"));
		}
	}
}

/* --- reducing uncertainty */

/* Suggests measuring for an hour on the machine instead of using a wide estimate. */
static void measure(struct list *l)
{
	struct jl_section *s = l->s;
	const struct jl_system_result *of = jl_answer_subject(s, NULL);
	const struct jl_compare_at *a = of && of->row ? &of->row->at[JL_AT_SAME_BATCH] : NULL;
	struct jl_num rent;

	if (!a || of->row->baseline || isnan(of->rent_usdps) || !(a->speedup.hi > JL_NARROW_WIDE * a->speedup.lo) ||
	    !open_action(
		    l, jl_doc_format(s->doc, JL_("rent %s for an hour and time a hundred steps"), jl_system_name(of))))
		return;
	rent = jl_num_plain(of->rent_usdps * 3600, JL_K_USD, NULL, JL_LISTED, of->rent_source);
	rent.date = of->rent_date;
	rent.n_digits = 2;
	JL_SENTENCE(s->doc, JL_("one measured figure instead of |1"),
		    JL_FIG(jl_show_span(s->doc, jl_num_times(a->speedup.lo), a->speedup.hi)));
	jl_doc_dot(s->doc);
	JL_SENTENCE(s->doc, JL_("about |1"), JL_FIG(rent));
	jl_doc_dot(s->doc);
	JL_SHOW(s->doc, "an hour");
}

static void narrow(struct list *l)
{
	struct jl_section *s = l->s;
	struct jl_narrow found[JL_NARROW_MAX];
	const struct jl_system_result *of = jl_answer_subject(s, NULL);
	const size_t n = of && of->row && s->w->compare && !s->w->compare->subject
				 ? jl_narrow_observed(found, s->w->compare, of->row)
			 : of && of->predicted ? jl_narrow_predicted(found, &of->prediction, &of->how)
					       : 0;

	for (size_t i = 0; i < n && i < 2; i++) {
		const double like_s = found[i].before.hi;

		if (!open_action(l, jl_msg(found[i].en)))
			return;
		JL_SENTENCE(s->doc,
			    found[i].is[1] ? JL_("the range |1 becomes |2 (|3) or |4 (|5)")
					   : JL_("the range |1 becomes |2"),
			    JL_FIG(jl_num_ends(s->doc, &found[i].before, like_s)),
			    JL_FIG(jl_num_ends(s->doc, &found[i].after[0], like_s)),
			    JL_WORD(found[i].is[1] ? jl_msg(found[i].is[0]) : ""),
			    JL_FIG(jl_num_ends(s->doc, &found[i].after[found[i].is[1] ? 1 : 0], like_s)),
			    JL_WORD(found[i].is[1] ? jl_msg(found[i].is[1]) : ""));
		cost_and_effort(s, JL_("no cost"), "");
		jl_doc_code(s->doc, found[i].key);
	}
}

void jl_section_actions(struct jl_section *s)
{
	struct list l = { .s = s };
	const bool mine = !s->in->this_on || s->w->advised == jl_this_system(s);

	money(&l);
	for (size_t i = 0; mine && i < s->w->n_advice; i++)
		change(&l, i);
	reduce(&l);
	narrow(&l);
	measure(&l);
}
