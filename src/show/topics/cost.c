#include "topics/cost.h"

#include <math.h>
#include <stdio.h>

#define MILESTONES_MAX 7
#define CHART_POINTS   37

static enum jl_kind money_kind(const struct jl_cost_study *study)
{
	return study->setting.currency == JL_KRW ? JL_K_KRW : JL_K_USD;
}

static struct jl_num money(const struct jl_cost_study *study, double value, const char *text)
{
	return jl_num_about(value, money_kind(study), text);
}

static const char *plain_money(char out[JL_MONEY_TEXT_MAX], const struct jl_cost_study *study, double amount)
{
	return jl_money_short(out, jl_money_from(fmin(amount, 3e12), study->setting.currency));
}

/* --- the answer */

/* Break-even in whole days, rounded up, here and in the date. Its range is by the most influential input; NULL: no range. */
static const struct jl_cost_swing *mover(const struct jl_cost_pair *p)
{
	return p->n_swings ? p->swings : NULL;
}

static struct jl_num days_num(struct jl_doc *doc, const struct jl_cost_pair *p)
{
	const struct jl_cost_swing *by = mover(p);

	if (by && (isnan(by->lo) || isnan(by->hi))) /* possibly never */
		return jl_num_about(p->days * 86400, JL_K_TIME,
				    jl_doc_format(doc, JL_("%.0f day{/s} (%.0f or more, perhaps never)"), ceil(p->days),
						  ceil(isnan(by->lo) ? by->hi : by->lo)));
	return jl_num_about(p->days * 86400, JL_K_TIME,
			    by ? jl_doc_format(doc, JL_("%.0f day{/s} (%.0f–%.0f)"), ceil(p->days),
					       ceil(fmin(by->lo, by->hi)), ceil(fmax(by->lo, by->hi)))
			       : jl_doc_format(doc, JL_("%.0f day{/s}"), ceil(p->days)));
}

/* "3.0 years", "20 days": the horizon. */
static const char *horizon_text(char out[48], const struct jl_cost_setting *s)
{
	const double days = (double)s->horizon_days;

	if (days < 365)
		jl_format(out, 48, JL_("%.0f day{/s}"), days);
	else
		jl_format(out, 48, JL_("%.3g year{/s}"), round(days / 36.525) / 10);
	return out;
}

static struct jl_num horizon_num(struct jl_doc *doc, const struct jl_cost_setting *s)
{
	return jl_num_written(jl_num_given((double)s->horizon_days * 86400, JL_K_TIME, NULL),
			      jl_doc_format(doc, "%s", horizon_text(JL_TXT, s)));
}

/* Total cost. */
static struct jl_num total_num(struct jl_doc *doc, const struct jl_cost_study *study, size_t option)
{
	const double total = (double)study->lines[option].cum_micro[study->setting.horizon_days] / JL_MICRO;
	const bool many = study->setting.currency == JL_KRW && total >= 1e8;
	char plain[JL_MONEY_TEXT_MAX];
	bool close;
	const char *unit = jl_unit_localized(jl_currency_name(study->setting.currency), &close);

	/* same figure as in the table below */
	return money(study, total,
		     many ? jl_krw_text(doc, total)
			  : jl_doc_format(doc, "%s%s%s", plain_money(plain, study, total), close ? "" : " ", unit));
}

static void headline(struct jl_doc *doc, const struct jl_cost_study *study, const struct jl_cost_pair *p)
{
	const struct jl_cost_swing *by = mover(p);
	char date[JL_DATE_TEXT_MAX];

	jl_date_text(date, p->day);
	jl_doc_lead(doc);
	JL_SENTENCE(doc,
		    isnan(p->days) ? JL_("|1 is not cheaper than |2 within |3.")
		    : by           ? JL_("|1 costs less than |2 after |3, on |4 (range: |5 ±|6).")
				   : JL_("|1 costs less than |2 after |3, on |4."),
		    JL_NAMED(jl_option_name(p->dear_name)), JL_NAMED(jl_option_name(p->cheap_name)),
		    JL_FIG(isnan(p->days) ? horizon_num(doc, &study->setting) : days_num(doc, p)), JL_NAMED(date),
		    JL_WORD(by ? jl_msg(by->en) : ""), JL_FIG(jl_num_given(JL_COST_STEP_FRAC, JL_K_FRACTION, NULL)));
}

static void cheapest(struct jl_doc *doc, const struct jl_cost_study *study)
{
	const size_t best = jl_cost_cheapest(study, study->setting.horizon_days);
	size_t next = best;

	for (size_t i = 0; i < study->n_options; i++)
		if (i != best && jl_cost_does(study, i) &&
		    (next == best || study->lines[i].cum_micro[study->setting.horizon_days] <
					     study->lines[next].cum_micro[study->setting.horizon_days]))
			next = i;
	jl_doc_lead(doc);
	JL_SENTENCE(doc,
		    next == best ? JL_("Over |1, |2 costs |3 in all.")
				 : JL_("Over |1, |2 is cheapest: |3 in all, |4 |5."),
		    JL_FIG(horizon_num(doc, &study->setting)), JL_NAMED(jl_option_name(study->options[best].name)),
		    JL_FIG(total_num(doc, study, best)), JL_NAMED(jl_option_name(study->options[next].name)),
		    JL_FIG(total_num(doc, study, next)));
}

/* With one run and one machine, the run's cost precedes that of the years. */
static void one_run(struct jl_doc *doc, const struct jl_cost_study *study)
{
	const struct jl_cost_work *w = &study->work[0];
	struct jl_num cost;

	if (study->n_options != 1 || !study->has_work || !w->known)
		return;
	cost = money(study, w->run_cost.value, NULL);
	cost.lo = w->run_cost.lo;
	cost.hi = w->run_cost.hi;
	jl_doc_lead(doc);
	JL_SENTENCE(doc, JL_("One run on |1 takes |2 and costs |3."), JL_NAMED(jl_option_name(study->options[0].name)),
		    JL_FIG(jl_num_ranged(jl_num_estimate(w->elapsed_s, JL_K_TIME, NULL))), JL_FIG(jl_num_ranged(cost)));
}

/* Options that cannot do the work come first, with the reason: the tables omit them. */
static void cannot(struct jl_doc *doc, const struct jl_cost_study *study)
{
	for (size_t i = 0; i < study->n_options; i++) {
		if (jl_cost_does(study, i))
			continue;
		jl_doc_lead(doc);
		jl_doc_name(doc, jl_option_name(study->options[i].name));
		jl_doc_text(doc, ": ");
		jl_doc_sourced(doc, study->work[i].why.text, JL_ESTIMATED, JL_METHOD);
	}
}

/* Machines of different sizes: stated before any comparison. */
static void uneven(struct jl_doc *doc, const struct jl_cost_study *study)
{
	if (!jl_cost_is_uneven(study))
		return;
	jl_doc_lead(doc);
	JL_SHOW(doc, "These machines differ in size; each is priced in full:");
	for (size_t i = 0; i < study->n_options; i++) {
		const struct jl_cost_option *o = &study->options[i];

		jl_doc_text(doc, i ? "; " : " ");
		JL_SENTENCE(doc, o->n_gpus ? JL_("|1 has |2 GPU{/s}") : JL_("how many GPUs |1 has is not known"),
			    JL_NAMED(jl_option_name(o->name)), JL_COUNT(o->n_gpus));
	}
	jl_doc_text(doc, ".");
}

/* Equal work of all options, and parts not bought: stated before any comparison. */
static void basis(struct jl_doc *doc, const struct jl_cost_study *study)
{
	for (size_t i = 0; i < study->n_options; i++) {
		if (!study->options[i].bare)
			continue;
		jl_doc_lead(doc);
		JL_SENTENCE(doc, JL_("The host of |1 is owned already: its price is not included."),
			    JL_NAMED(jl_option_name(study->options[i].name)));
	}
	size_t n = 0;

	for (size_t i = 0; i < study->n_options; i++)
		n += jl_cost_does(study, i);
	if (!study->measure || n < 2)
		return;
	jl_doc_lead(doc);
	JL_SENTENCE(doc, JL_("Each does the same work: |1 runs a month, what |2 does in |3 of the time."),
		    JL_ABOUT(study->runs_per_month, JL_K_NUMBER), JL_NAMED(study->measure->name),
		    JL_FIG(jl_num_given((double)study->measure->util_ppm / JL_PPM, JL_K_FRACTION, NULL)));
}

/* --- what has been paid by when */

void jl_show_cost_chart(struct jl_doc *doc, const struct jl_cost_study *study)
{
	const long horizon = study->setting.horizon_days;
	struct jl_chart *chart = jl_show_chart(doc, JL_CHART_LINE, JL_("Paid so far"), study->n_options);

	if (!chart)
		return;
	chart->x = JL_AXIS(.label = JL_C("span", "time"),
			   .step = horizon > 4L * 365 ? 365
				   : horizon > 200    ? 180
						      : 30,
			   .unit = "days");
	chart->y = JL_AXIS(.label = JL_("paid"), .kind = money_kind(study));
	chart->mark_source = JL_METHOD;
	for (size_t i = 0; i < study->n_options; i++) {
		struct jl_chart_point *points = jl_show_series(doc, chart, i, jl_option_name(study->options[i].name),
							       JL_ESTIMATED, CHART_POINTS);

		for (size_t k = 0; points && k < CHART_POINTS; k++) {
			const long day = (long)((double)horizon * (double)k / (CHART_POINTS - 1));

			points[k].x = (double)day;
			points[k].y = (double)study->lines[i].cum_micro[day] / JL_MICRO;
		}
	}
	for (size_t i = 0; i < study->n_pairs && chart->n_marks < 4; i++)
		if (!isnan(study->pairs[i].days)) {
			chart->marks[chart->n_marks].x = study->pairs[i].days;
			chart->marks[chart->n_marks++].label = jl_doc_format(
				doc, JL_("%.0f days (%s)"), ceil(study->pairs[i].days),
				jl_option_name(study->pairs[i].cheap_name));
		}
	jl_doc_picture(doc, chart);
}

static const char *milestone_name(struct jl_doc *doc, int months)
{
	if (months == 0)
		return JL_("day 1");
	if (months < 12)
		return jl_arena_printf(doc->arena, JL_("%d mo"), months);
	return jl_arena_printf(doc->arena, JL_("%d y"), months / 12);
}

/* Won amounts are large: tables count them in units of ten thousand (Korean) or a thousand. */
static long long table_unit(const struct jl_cost_study *study)
{
	return study->setting.currency != JL_KRW ? 1 : jl_lang_is("ko") ? 10000 : 1000;
}

static const char *table_unit_name(const struct jl_cost_study *study)
{
	return study->setting.currency == JL_KRW ? JL_("thousand KRW") : jl_unit_localized("USD", NULL);
}

static void paid_table(struct jl_doc *doc, const struct jl_cost_study *study)
{
	static const int milestones[] = { 0, 1, 3, 6, 12, 24, 36, 60, 120 }; /* months after the start */
	struct jl_show_head heads[MILESTONES_MAX + 1] = { { JL_N("option"), JL_COLUMN_TEXT } };
	const struct jl_cost_setting *s = &study->setting;
	long days[MILESTONES_MAX];
	size_t n = 0;
	char text[JL_MONEY_TEXT_MAX];

	for (size_t i = 0; i < JL_LEN(milestones) && n < MILESTONES_MAX; i++) {
		const long day = jl_date_add_months(s->start_day, milestones[i]) - s->start_day;
		const char *name = milestone_name(doc, milestones[i]);

		if (day > s->horizon_days)
			break;
		days[n++] = day;
		heads[n] = (struct jl_show_head){ name, JL_COLUMN_FIGURE };
	}
	if (days[n - 1] < s->horizon_days) { /* the last point of a chart is the end of the horizon */
		const char *name = jl_arena_strdup(doc->arena, horizon_text(JL_TXT, s));

		n -= n == MILESTONES_MAX;
		days[n++] = s->horizon_days;
		heads[n] = (struct jl_show_head){ name, JL_COLUMN_FIGURE };
	}
	jl_show_columns(doc, jl_arena_printf(doc->arena, "%s (%s)", JL_("What has been paid"), table_unit_name(study)),
			heads, n + 1);
	for (size_t o = 0; o < study->n_options; o++) {
		jl_doc_cell_name(doc, jl_option_name(study->options[o].name));
		for (size_t i = 0; i < n; i++) {
			const long long micro = study->lines[o].cum_micro[days[i]];

			jl_money_short(text, (struct jl_money){ .micro = jl_micro_scale(micro, 1, table_unit(study)),
								.currency = s->currency });
			jl_show_cell(doc, money(study, (double)micro / JL_MICRO, text));
		}
		jl_doc_end_row(doc, jl_cost_does(study, o) && o == jl_cost_cheapest(study, s->horizon_days));
	}
}

static void swing_cell(struct jl_doc *doc, double days)
{
	char text[32];

	if (isnan(days)) {
		jl_doc_cell_text(doc, JL_("never"));
		return;
	}
	jl_format(text, sizeof text, JL_("%.0f days"), ceil(days));
	jl_show_cell(doc, jl_num_about(days * 86400, JL_K_TIME, text));
}

/* "0.42x (23 USD/h)" */
static void flip_text(char *out, size_t size, const struct jl_cost_swing *s)
{
	const double at = s->now * s->flip;
	char number[JL_MONEY_TEXT_MAX];

	if (isnan(s->flip)) {
		jl_format(out, size, "—");
		return;
	}
	if (s->is_money) {
		jl_format(out, size, JL_("%.2fx (%s %s%s)"), s->flip,
			  jl_money_short(number, jl_money_from(at, s->currency)),
			  jl_unit_localized(jl_currency_name(s->currency), NULL), jl_msg(s->unit));
		return;
	}
	if (at >= 100)
		jl_grouped(number, at);
	else
		snprintf(number, sizeof number, "%.2g", at);
	jl_format(out, size, JL_("%.2fx (%s%s)"), s->flip, number, jl_msg(s->unit));
}

static void swings(struct jl_doc *doc, const struct jl_cost_pair *p)
{
	char text[96];

	if (!p->n_swings)
		return;
	jl_show_table(doc, NULL, "tfff", JL_N("sensitivity|20 % lower|20 % higher|decision flips at"));
	for (size_t i = 0; i < p->n_swings && i < 4; i++) {
		jl_doc_cell_text(doc, jl_msg(p->swings[i].en));
		swing_cell(doc, p->swings[i].lo);
		swing_cell(doc, p->swings[i].hi);
		flip_text(text, sizeof text, &p->swings[i]);
		JL_ROW(doc, false, JL_FIG(jl_num_written(jl_num_times(p->swings[i].flip), text)));
	}
}

/* --- the work */

static void work_row(struct jl_doc *doc, const struct jl_cost_study *study, const struct jl_cost_work *w)
{
	char mid[JL_MONEY_TEXT_MAX], range[2 * JL_MONEY_TEXT_MAX + 4];
	struct jl_num time = jl_num_estimate(w->elapsed_s, JL_K_TIME, NULL), cost;

	time.n_digits = 3;
	jl_show_cell(doc, time);
	plain_money(mid, study, w->run_cost.value);
	snprintf(range, sizeof range, "%s–%s", plain_money(JL_TXT, study, w->run_cost.lo),
		 plain_money(JL_TXT, study, w->run_cost.hi));
	cost = money(study, w->run_cost.value, mid);
	cost.lo = w->run_cost.lo;
	cost.hi = w->run_cost.hi;
	JL_CELLS(doc, JL_FIG(cost), JL_FIG(jl_num_written(cost, range)));
	if (!isnan(w->mtoken_cost.value))
		jl_show_cell(doc, money(study, w->mtoken_cost.value,
					w->mtoken_cost.value < 0.095 ? jl_doc_format(doc, "%.2g", w->mtoken_cost.value)
								     : plain_money(mid, study, w->mtoken_cost.value)));
}

static void work_table(struct jl_doc *doc, const struct jl_cost_study *study)
{
	const char *currency = jl_doc_format(doc, "%s" JL_HEAD_BOTH "%s", jl_currency_name(study->setting.currency),
					     jl_unit_localized(jl_currency_name(study->setting.currency), NULL));
	const struct jl_show_head heads[] = { { JL_N("one training run"), JL_COLUMN_TEXT },
					      { JL_N("time"), JL_COLUMN_FIGURE },
					      { currency, JL_COLUMN_FIGURE },
					      { JL_N("80 % interval"), JL_COLUMN_FIGURE },
					      { JL_N("per Mtoken"), JL_COLUMN_FIGURE } };

	bool tokens = false;

	for (size_t i = 0; i < study->n_options; i++)
		tokens |= study->work[i].known && !isnan(study->work[i].mtoken_cost.value);
	jl_show_columns(doc, NULL, heads, tokens ? 5 : 4);
	for (size_t i = 0; i < study->n_options; i++) {
		jl_doc_cell_name(doc, jl_option_name(study->options[i].name));
		if (study->work[i].known)
			work_row(doc, study, &study->work[i]);
		else
			jl_doc_cell_text(doc, "—");
		jl_doc_end_row(doc, false);
	}
}

void jl_show_cost(struct jl_doc *doc, const struct jl_show_cost *in)
{
	const struct jl_cost_study *study = in->study;

	const bool any = jl_cost_any_does(study);

	cannot(doc, study);
	uneven(doc, study);
	one_run(doc, study);
	for (size_t i = 0; i < study->n_pairs; i++)
		headline(doc, study, &study->pairs[i]);
	if (any && (!in->no_chart || !study->n_pairs)) /* a report shows it elsewhere */
		cheapest(doc, study);
	basis(doc, study);
	if (!in->no_chart)
		jl_show_cost_chart(doc, study);
	paid_table(doc, study);
	if (study->n_pairs)
		swings(doc, &study->pairs[0]);
	if (study->has_work && any)
		work_table(doc, study);
	jl_show_cost_notes(doc, in);
}
