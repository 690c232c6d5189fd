#include "build/answer.h"
#include "topics/show.h"

#include <math.h>
#include <string.h>

#include "base/utf8.h"

#define SHOWN_MAX  8
#define ROOM_WIDTH 38 /* width of the first column of the purchase table in 80 columns */

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

/* A report links to the source; a command names it. */
static void finding(struct jl_doc *doc, const struct jl_part_finding *f, const char *title, bool all)
{
	const char *sources = "";

	for (size_t i = 0; all && i < JL_PART_RULES_MAX && f->rules[i]; i++)
		if (!strstr(sources, f->rules[i]->source))
			sources = jl_doc_format(doc, "%s%s%s", sources, *sources ? ", " : "; ", f->rules[i]->source);
	jl_doc_finding(doc, mark_of(f->level), title);
	jl_doc_sourced(doc, f->text, f->sure == JL_SURE_MEASURED ? JL_PUBLISHED : JL_LISTED,
		       f->rules[0] ? f->rules[0]->source : NULL);
	jl_doc_textf(doc, " [%s%s]", jl_msg(jl_part_sure_name(f->sure)), sources);
}

static void verdict(struct jl_doc *doc, const struct jl_build_answer *a)
{
	const size_t n_wrong = jl_build_count(a->found, JL_PART_ERROR),
		     n_warn = jl_build_count(a->found, JL_PART_WARNING);
	const size_t n_open = jl_build_count(a->found, JL_PART_UNCHECKED),
		     n_split = jl_build_count(a->found, JL_PART_CONFLICT);

	jl_doc_lead(doc);
	JL_SENTENCE(doc,
		    n_wrong  ? JL_("|1 does not work as it is: errors |2, warnings |3.")
		    : n_warn ? JL_("|1 works, with warnings: |3.")
			     : JL_("|1: nothing that was checked is wrong."),
		    JL_NAMED(a->rig->name ? a->rig->name : a->rig->gpu->name), JL_COUNT(n_wrong), JL_COUNT(n_warn));
	if (n_split)
		JL_SENTENCE(doc, JL_(" Rules disagree on |1."), JL_COUNT(n_split));
	if (n_open)
		JL_SENTENCE(doc, JL_(" Not judged for lack of data: |1."), JL_COUNT(n_open));
	jl_doc_lead(doc);
	jl_show_sourced(doc, JL_ESTIMATED, JL_("%.0f W under load; recommended power supply: %.0f to %.0f W"),
			a->found->load_W, a->found->psu_least_W, a->found->psu_most_W);
}

void jl_show_build(struct jl_doc *doc, const struct jl_build_answer *a, bool all)
{
	verdict(doc, a);
	for (int level = JL_N_PART_LEVEL - 1; level >= (all ? 0 : JL_PART_CONFLICT); level--)
		for (size_t i = 0; i < a->found->n; i++) {
			const struct jl_part_finding *f = &a->found->items[i];

			if (f->level == (enum jl_part_level)level)
				finding(doc, f,
					all ? jl_msg(jl_doc_format(doc, "part\004%s", f->id))
					    : jl_part_level_name(f->level),
					all);
		}
}

/* --- purchases */

/* A price in the currency of the request. */
static struct jl_money price_of(const struct jl_upgrade_answer *a, const struct jl_upgrade *u)
{
	return isnan(a->krw_per_usd) ? u->price : jl_money_from(jl_money_value(u->price) * a->krw_per_usd, JL_KRW);
}

static void row(struct jl_doc *doc, const struct jl_upgrade_answer *a, const struct jl_upgrade *u, long today)
{
	const bool won = !isnan(a->krw_per_usd);
	const double worth = u->gain_per_kusd * (won ? 1000 / a->krw_per_usd : 1); /* of a million won */

	jl_doc_cell_name(doc, u->text);
	if (u->price.micro)
		jl_show_cell(doc, jl_num_written(jl_num_plain(jl_money_value(price_of(a, u)), won ? JL_K_KRW : JL_K_USD,
							      NULL, JL_LISTED, u->price_source),
						 jl_money_short(JL_TXT, price_of(a, u))));
	else
		jl_doc_cell_text(doc, "?");
	jl_show_cell(doc, jl_num_written(jl_num_share(u->gain_frac, JL_ESTIMATED),
					 jl_doc_format(doc, "%+.0f %%", u->gain_frac * 100)));
	if (isnan(worth))
		jl_doc_cell_text(doc, "");
	else
		jl_show_cell(doc,
			     jl_num_written(jl_num_share(worth, JL_ESTIMATED),
					    jl_doc_format(doc, "%+.*f %%", fabs(worth) < 0.1 ? 1 : 0, worth * 100)));
	JL_ROW(doc, false,
	       JL_NAMED(u->price.micro == 0 ? JL_("not known")
			: !u->price_date    ? JL_("given")
					    : jl_doc_format(doc, "%s%s", u->price_date,
                                                         jl_date_is_old(u->price_date, today) ? " ⚠" : "")));
}

/* The answer: best gain per price. */
static void best(struct jl_doc *doc, const struct jl_upgrade_answer *a)
{
	const struct jl_upgrade *u = a->found->items;

	jl_doc_lead(doc);
	if (!a->found->n)
		JL_SHOW(doc, "Nothing in the catalog within the budget makes this run noticeably faster.");
	else
		JL_SENTENCE(doc,
			    u->price.micro ? JL_("Best value: |1, |2 faster for |3.")
					   : JL_("Largest gain: |1, |2 faster; its price is not known."),
			    JL_NAMED(u->text),
			    JL_FIG(jl_num_written(jl_num_share(u->gain_frac, JL_ESTIMATED),
						  jl_doc_format(doc, "%.0f %%", u->gain_frac * 100))),
			    JL_FIGURE_TEXT(jl_doc_format(doc, "%s", jl_money_text(JL_TXT, price_of(a, u))), JL_LISTED));
}

/* Notes on the effect of an NVLink bridge. */
static void bridge_notes(struct jl_doc *doc, const struct jl_upgrade *u)
{
	if (isnan(u->pair_before_per_s))
		return;
	jl_show_note(doc, JL_("A job on 2 cards"), JL_ESTIMATED, JL_("%.2fx → %.2fx of one card with the bridge"),
		     u->pair_before_per_s / u->one_per_s, u->pair_after_per_s / u->one_per_s);
}

void jl_show_upgrades(struct jl_doc *doc, const struct jl_upgrade_answer *a, long today)
{
	const struct jl_upgrades *found = a->found;
	const struct jl_estimate *now = &found->now_per_s;

	best(doc, a);
	JL_LEAD(doc, jl_doc_format(doc, JL_("%s now: %s samples/s (%s–%s)"), a->ask->system,
				   jl_rounded_text(doc, now->value), jl_rounded_text(doc, now->lo),
				   jl_rounded_text(doc, now->hi)));
	jl_doc_lead(doc);
	jl_doc_name(doc, jl_doc_format(doc, JL_("%s, batch %g a GPU"), a->ask->run.model, a->ask->run.batch));
	if (found->now_zero)
		jl_doc_name(doc, jl_doc_format(doc, ", ZeRO-%d", found->now_zero));
	if (found->n)
		jl_show_table(doc, NULL, "t24fffk",
			      isnan(a->krw_per_usd) ? JL_N("purchase|USD|faster|per 1,000 USD|price of")
						    : JL_N("purchase|KRW|faster|per million KRW|price of"));
	for (size_t i = 0; i < found->n && i < SHOWN_MAX; i++)
		row(doc, a, &found->items[i], today);
	for (size_t i = 0; i < found->n && i < SHOWN_MAX; i++) { /* texts truncated by the table, in full */
		if (jl_utf8_width(found->items[i].text) > ROOM_WIDTH)
			jl_show_note(doc, jl_doc_format(doc, "%zu", i + 1), JL_ESTIMATED, "%s", found->items[i].text);
		bridge_notes(doc, &found->items[i]);
	}
	if (found->n_over_budget)
		jl_show_note(doc, NULL, JL_ESTIMATED, JL_("Over the budget: %zu more."), found->n_over_budget);
	JL_NOTE(doc, JL_("Note"), JL_ESTIMATED,
		"estimated, each at its fastest ZeRO stage; prices with ⚠ are older than 90 days. Check slots, power "
		"and cooling with 'jeoul build'.");
	if (!isnan(a->krw_per_usd))
		jl_show_note(doc, JL_("Assumed"), JL_LISTED, "%s", jl_show_fx(doc, a->krw_per_usd, a->fx_date, today));
}
