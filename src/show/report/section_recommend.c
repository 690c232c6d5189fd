/* Recommended machine for a purpose or budget: pick, Pareto front of time and cost, caveats. */
#include <math.h>

#include "report/section_answers.h"
#include "recommend/answer.h"

#define ROWS_MAX   10
#define OTHERS_MAX 40
#define DAY_S      86400.0

static bool is_serve(const struct jl_section *s)
{
	return s->w->found_ask->task == JL_TASK_SERVE;
}

static const char *why(const struct jl_section *s)
{
	const struct jl_recommend_ask *ask = s->w->found_ask;

	if (!isnan(ask->deadline_s))
		return JL_("the cheapest that meets the deadline");
	if (!isnan(ask->budget_usd))
		return JL_("the fastest within the budget");
	if (!isnan(ask->wait_s))
		return JL_("the cheapest that is fast enough for this");
	return JL_("the least product of time and cost");
}

struct jl_answer jl_answer_best(struct jl_section *s, const struct jl_scenario_question *q)
{
	const struct jl_recommendation *r = s->w->found;
	const struct jl_candidate *c = r && r->pick >= 0 ? &r->items[r->pick] : NULL;

	(void)q;
	if (!c)
		return (struct jl_answer){ .said = false };
	JL_SENTENCE(s->doc,
		    is_serve(s) ? JL_("|1 (|2, |3): |4 a token, |5 in all; |6.")
				: JL_("|1 (|2, |3): |4 a run, |5 in all; |6."),
		    JL_NAMED(jl_show_machines(s->doc, c)), JL_WORD(jl_how_name(c->how)),
		    JL_NAMED(jl_show_seller(s->doc, c)), JL_FIG(jl_num_ranged(jl_num_run(c))),
		    JL_FIG(jl_num_ranged(jl_num_cost(c))), JL_WORD(why(s)));
	return (struct jl_answer){ true, JL_MARK_NONE, JL_("Which machine?") };
}

static void purpose(struct jl_section *s)
{
	const struct jl_recommend_ask *ask = s->w->found_ask;

	jl_doc_para(s->doc);
	if (s->w->purpose)
		JL_SENTENCE(s->doc, JL_("For |1. "), JL_WORD(jl_msg(s->w->purpose->en)));
	else
		JL_SHOW(s->doc, "For the workload of this report. ");
	if (!is_serve(s))
		JL_SENTENCE(s->doc, JL_("Runs in all: |1, "), JL_COUNT(s->w->found->runs));
	JL_SENTENCE(s->doc, JL_("over |1"), JL_FIG(jl_num_given(ask->months, JL_K_NUMBER, JL_("months"))));
	if (!isnan(ask->budget_usd))
		JL_SENTENCE(s->doc, JL_(", budget |1"), JL_FIG(jl_num_given(ask->budget_usd, JL_K_USD, NULL)));
	if (!isnan(ask->deadline_s))
		JL_SENTENCE(s->doc, JL_(", one run within |1"), JL_FIG(jl_num_given(ask->deadline_s, JL_K_TIME, NULL)));
	JL_SENTENCE(s->doc, JL_(". Candidates of the catalog: |1, possible: |2."),
		    JL_FIG(jl_num_plain((double)s->w->found->n, JL_K_NUMBER, NULL, JL_LISTED, "jeoul catalog")),
		    JL_FIG(jl_num_about((double)s->w->found->n_ok, JL_K_NUMBER, NULL)));
}

static void put_point(struct jl_section *s, struct jl_chart *chart, struct jl_chart_point *const points[JL_N_HOW],
		      const struct jl_candidate *c)
{
	const struct jl_estimate *run = &c->setup->run_s;
	struct jl_chart_point *p = &points[c->how][chart->series[c->how].n_points++];
	const char *what = jl_show_machines(s->doc, c);

	p->x = c->cost_usd.value;
	p->y = (is_serve(s) ? 1 : DAY_S) / run->value;
	p->front = c->on_front;
	p->pick = c == &s->w->found->items[s->w->found->pick];
	p->label = jl_doc_format(s->doc, p->pick ? JL_("%s: %s, advised") : "%s: %s", jl_how_name(c->how), what);
	p->x_source = jl_show_seller(s->doc, c);
	if (p->front || p->pick) { /* intervals only for these, to keep the chart readable */
		p->lo = (is_serve(s) ? 1 : DAY_S) / run->hi;
		p->hi = (is_serve(s) ? 1 : DAY_S) / run->lo;
	}
}

/* One mark per way of payment. */
static void front_chart(struct jl_section *s, const int *rows, size_t n)
{
	const struct jl_recommendation *r = s->w->found;
	const size_t stride = r->n_ok / OTHERS_MAX + 1;
	struct jl_chart_point *points[JL_N_HOW];
	bool picked = false;
	struct jl_chart *chart = jl_show_chart(
		s->doc, JL_CHART_SCATTER, JL_("Cost and speed; joined by a line: nothing is both cheaper and faster"),
		JL_N_HOW);

	for (int how = 0; chart && how < JL_N_HOW; how++) {
		points[how] = jl_show_series(s->doc, chart, (size_t)how, jl_how_name((enum jl_how)how), JL_ESTIMATED,
					     n + OTHERS_MAX + 1);
		if (!points[how])
			return;
		chart->series[how].only_points = true;
		chart->series[how].n_points = 0;
	}
	if (!chart)
		return;
	chart->x = JL_AXIS(.label = JL_("cost of all"), .kind = JL_K_USD, .log = true);
	chart->x_origin = JL_ESTIMATED;
	chart->y = JL_AXIS(.label = is_serve(s) ? JL_("tokens of one user") : JL_("runs a day"),
			   .unit = is_serve(s) ? "tokens/s" : JL_("runs/d"), .log = true);
	for (size_t i = 0; i < n; i++) {
		put_point(s, chart, points, &r->items[rows[i]]);
		picked |= rows[i] == r->pick;
	}
	if (!picked)
		put_point(s, chart, points, &r->items[r->pick]);
	for (size_t i = stride / 2, k = 0; i < r->n_ok && k < OTHERS_MAX; i += stride)
		if (!r->items[i].on_front && (int)i != r->pick) {
			put_point(s, chart, points, &r->items[i]);
			k++;
		}
	if (r->n_ok > 1)
		jl_doc_chart(s->doc, chart);
}

static void none_found(struct jl_section *s)
{
	const struct jl_recommendation *r = s->w->found;

	jl_doc_finding(s->doc, JL_MARK_BAD, JL_("Nothing does it within these limits"));
	for (int a = JL_AGAINST_NOTHING + 1; a < JL_N_AGAINST; a++) {
		if (!r->n_against[a])
			continue;
		jl_doc_textf(s->doc, "%s: ", jl_against_name((enum jl_against)a));
		jl_show_num(s->doc, jl_num_about((double)r->n_against[a], JL_K_NUMBER, NULL));
		jl_doc_text(s->doc, ". ");
	}
}

void jl_section_recommend(struct jl_section *s)
{
	const struct jl_recommendation *r = s->w->found;
	const struct jl_recommended answer = {
		.ask = s->w->found_ask, .found = r, .purpose = s->w->purpose, .krw_per_usd = NAN
	};
	int rows[ROWS_MAX];
	size_t n;

	if (!s->w->scenario->recommend.wanted)
		return;
	jl_section_open(s, "recommend", "Which machine");
	if (!r) {
		jl_doc_finding(s->doc, JL_MARK_UNKNOWN, JL_("Could not be evaluated"));
		jl_doc_sourced(s->doc, s->w->found_why.text, JL_ORIGIN_NONE, NULL);
		return;
	}
	purpose(s);
	if (r->pick < 0) {
		none_found(s);
		return;
	}
	n = jl_recommend_thin(r, ROWS_MAX, rows);
	if (!jl_section_is_charted(s, "recommend"))
		front_chart(s, rows, n);
	jl_show_candidates(s->doc, &answer, JL_("From cheap to fast: nothing is both cheaper and faster"), rows, n);
	jl_show_caveats(s->doc, &answer);
}

void jl_chart_recommend(struct jl_section *s, const struct jl_scenario_question *q)
{
	int rows[ROWS_MAX];

	(void)q;
	if (s->w->found && s->w->found->pick >= 0)
		front_chart(s, rows, jl_recommend_thin(s->w->found, ROWS_MAX, rows));
}
