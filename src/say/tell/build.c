#include "build/answer.h"
#include "tell/tell.h"

#include <math.h>
#include <string.h>

#include "base/utf8.h"

#define SHOWN_MAX  8
#define ROOM_WIDTH 38 /* what the table of purchases leaves for its first column in 80 */

/* --- a parts list */

static enum jl_mark mark_of(enum jl_part_level level)
{
	static const enum jl_mark marks[JL_N_PART_LEVEL] = { [JL_PART_OK] = JL_MARK_GOOD,
							     [JL_PART_UNCHECKED] = JL_MARK_UNKNOWN,
							     [JL_PART_CONFLICT] = JL_MARK_WARN,
							     [JL_PART_WARNING] = JL_MARK_WARN,
							     [JL_PART_ERROR] = JL_MARK_BAD };

	return marks[level];
}

/* A report leads from the mark to the source; a command names the sources. */
static void finding(struct jl_doc *doc, const struct jl_part_finding *f, const char *title, bool all)
{
	const char *sources = "";

	for (size_t i = 0; all && i < JL_PART_RULES_MAX && f->rules[i]; i++)
		if (!strstr(sources, f->rules[i]->source))
			sources = jl_tell_text(doc, "%s%s%s", sources, *sources ? ", " : "; ", f->rules[i]->source);
	jl_doc_finding(doc, mark_of(f->level), title);
	jl_doc_said(doc, f->text, f->sure == JL_SURE_MEASURED ? JL_PUBLISHED : JL_LISTED,
		    f->rules[0] ? f->rules[0]->source : NULL);
	jl_doc_textf(doc, " [%s%s]", jl_msg(jl_part_sure_name(f->sure)), sources);
}

static void verdict(struct jl_doc *doc, const struct jl_build_answer *a)
{
	const size_t n_wrong = jl_build_count(a->found, JL_PART_ERROR),
		     n_warn = jl_build_count(a->found, JL_PART_WARNING);
	const size_t n_open = jl_build_count(a->found, JL_PART_UNCHECKED);

	jl_doc_lead(doc);
	JL_SENTENCE(doc,
		    n_wrong  ? JL_("|1 does not work as it is: errors |2, warnings |3.")
		    : n_warn ? JL_("|1 works, with warnings: |3.")
			     : JL_("|1: nothing that was checked is wrong."),
		    JL_NAMED(a->rig->name ? a->rig->name : a->rig->gpu->name), JL_FIG(jl_num_count((double)n_wrong)),
		    JL_FIG(jl_num_count((double)n_warn)));
	if (n_open)
		JL_SENTENCE(doc, JL_(" Not judged, for want of figures: |1."), JL_FIG(jl_num_count((double)n_open)));
	jl_doc_lead(doc);
	jl_doc_said(doc,
		    jl_tell_text(doc, JL_("%.0f W under load; the rules ask for a supply of %.0f to %.0f W"),
				 a->found->load_W, a->found->psu_least_W, a->found->psu_most_W),
		    JL_ESTIMATED, JL_METHOD);
}

void jl_tell_build(struct jl_doc *doc, const struct jl_build_answer *a, bool all)
{
	verdict(doc, a);
	for (int level = JL_N_PART_LEVEL - 1; level >= (all ? 0 : JL_PART_CONFLICT); level--)
		for (size_t i = 0; i < a->found->n; i++) {
			const struct jl_part_finding *f = &a->found->items[i];

			if (f->level == (enum jl_part_level)level)
				finding(doc, f,
					all ? jl_msg(jl_tell_text(doc, "part\004%s", f->id))
					    : jl_part_level_name(f->level),
					all);
		}
}

/* --- purchases */

/* "59.1", "1,050": never with an exponent. */
static const char *three_digits(struct jl_doc *doc, double value)
{
	const double size = value >= 1000 ? pow(10, floor(log10(value)) - 2) : 1;

	if (value >= 1000)
		return jl_tell_text(doc, "%s", jl_grouped_text(JL_TXT, round(value / size) * size));
	return jl_tell_text(doc, "%.3g", value);
}

static void row(struct jl_doc *doc, const struct jl_upgrade *u, long today)
{
	const struct jl_num gain = jl_num_share(u->gain_frac, JL_ESTIMATED),
			    each = jl_num_share(u->gain_per_kusd, JL_ESTIMATED);

	jl_doc_cell_name(doc, u->text);
	if (u->price.micro)
		jl_tell_cell(doc, jl_num_written(jl_num_plain(jl_money_value(u->price), JL_K_USD, NULL, JL_LISTED,
							      u->price_source),
						 jl_money_short(JL_TXT, u->price)));
	else
		jl_doc_cell_text(doc, "?");
	jl_tell_cell(doc, jl_num_written(gain, jl_tell_text(doc, "%+.0f %%", u->gain_frac * 100)));
	if (isnan(u->gain_per_kusd))
		jl_doc_cell_text(doc, "");
	else
		jl_tell_cell(doc,
			     jl_num_written(each, jl_tell_text(doc, "%+.*f %%", fabs(u->gain_per_kusd) < 0.1 ? 1 : 0,
							       u->gain_per_kusd * 100)));
	jl_doc_cell_name(doc, u->price.micro == 0 ? JL_("not known")
			      : !u->price_date    ? JL_("given")
						  : jl_tell_text(doc, "%s%s", u->price_date,
                                                              jl_date_is_old(u->price_date, today) ? " ⚠" : ""));
	jl_doc_end_row(doc, false);
}

void jl_tell_upgrades(struct jl_doc *doc, const struct jl_upgrade_answer *a, long today)
{
	const struct jl_upgrades *found = a->found;
	const struct jl_estimate *now = &found->now_per_s;

	JL_LEAD(doc,
		jl_tell_text(doc, JL_("%s now: %s samples/s (%s–%s)"), a->ask->system, three_digits(doc, now->value),
			     three_digits(doc, now->lo), three_digits(doc, now->hi)));
	jl_doc_lead(doc);
	jl_doc_name(doc, jl_tell_text(doc, JL_("%s, batch %g a GPU"), a->ask->run.model, a->ask->run.batch));
	if (found->now_zero)
		jl_doc_name(doc, jl_tell_text(doc, ", ZeRO-%d", found->now_zero));
	if (found->n)
		jl_tell_table(doc, NULL, "t24fffk", JL_N("purchase|USD|faster|per 1,000 USD|price of"));
	for (size_t i = 0; i < found->n && i < SHOWN_MAX; i++)
		row(doc, &found->items[i], today);
	if (!found->n)
		JL_NOTE(doc, NULL, JL_ESTIMATED,
			"Nothing in the catalog within the budget makes this run noticeably faster.");
	for (size_t i = 0; i < found->n && i < SHOWN_MAX; i++) /* what the table had to cut, in full */
		if (jl_utf8_width(found->items[i].text) > ROOM_WIDTH)
			jl_tell_note(doc, jl_tell_text(doc, "%zu", i + 1), JL_ESTIMATED, "%s", found->items[i].text);
	if (found->n_over_budget)
		jl_tell_note(doc, NULL, JL_ESTIMATED, JL_("Over the budget: %zu further."), found->n_over_budget);
	JL_NOTE(doc, JL_("Note"), JL_ESTIMATED,
		"estimated, each at its fastest ZeRO stage; prices with ⚠ are older than 90 days. Check slots, power "
		"and cooling with 'jeoul build'.");
}
