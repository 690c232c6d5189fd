/* Which machine for the purpose or the budget: the pick, what nothing beats in both time and money, what to beware of. */
#include <math.h>
#include <string.h>

#include "report/section_answers.h"

#define ROWS_MAX   10
#define OTHERS_MAX 40
#define DAY_S      86400.0

static bool is_serve(const struct jl_section *s)
{
	return s->w->found_ask->task == JL_TASK_SERVE;
}

static const char *machine_name(const struct jl_section *s, const struct jl_candidate *c)
{
	const struct jl_sys *sys = &c->setup->sys;
	const char *name = sys->n_nodes == 1 ? jl_arena_printf(s->arena, "%dx %s", sys->n_per_node, sys->gpu->id)
					     : jl_arena_printf(s->arena, "%d × %dx %s", sys->n_nodes, sys->n_per_node,
							       sys->gpu->id);

	return name ? name : sys->gpu->id;
}

static const char *seller(const struct jl_candidate *c)
{
	if (c->price && c->price->provider)
		return c->price->provider;
	return c->setup->sys.system ? c->setup->sys.system->id : JL_("list price");
}

static struct jl_num cost_num(const struct jl_candidate *c)
{
	struct jl_num num = jl_num_ranged(jl_num_estimate(c->cost_usd, JL_K_USD, NULL));

	num.n_digits = 3;
	num.show_interval = num.hi > 1.01 * num.lo; /* what is bought costs the same however long it runs */
	return num;
}

static struct jl_num time_num(const struct jl_candidate *c)
{
	return jl_num_ranged(jl_num_estimate(c->setup->run_s, JL_K_TIME, NULL));
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
		    JL_SLOT_NAME(machine_name(s, c)), JL_SLOT_TEXT(jl_how_name(c->how)), JL_SLOT_NAME(seller(c)),
		    JL_SLOT_NUM(time_num(c)), JL_SLOT_NUM(cost_num(c)), JL_SLOT_TEXT(why(s)));
	return (struct jl_answer){ true, JL_MARK_NONE, JL_("Which machine?") };
}

/* What it was weighed for, in a sentence. */
static void purpose(struct jl_section *s)
{
	const struct jl_recommend_ask *ask = s->w->found_ask;

	jl_doc_para(s->doc);
	if (s->w->purpose) {
		JL_SAY(s, "For ");
		jl_doc_said(s->doc, jl_msg(s->w->purpose->en), JL_ORIGIN_NONE, NULL);
		jl_doc_text(s->doc, ". ");
	} else {
		JL_SAY(s, "For the workload of this report. ");
	}
	if (!is_serve(s)) {
		JL_SAY(s, "Runs in all: ");
		jl_tell_num(s->doc, jl_num_given(s->w->found->runs, JL_K_NUMBER, NULL));
		jl_doc_text(s->doc, ", ");
	}
	JL_SAY(s, "over ");
	jl_tell_num(s->doc, jl_num_given(ask->months, JL_K_NUMBER, JL_("months")));
	if (!isnan(ask->budget_usd)) {
		JL_SAY(s, ", budget ");
		jl_tell_num(s->doc, jl_num_given(ask->budget_usd, JL_K_USD, NULL));
	}
	if (!isnan(ask->deadline_s)) {
		JL_SAY(s, ", one run within ");
		jl_tell_num(s->doc, jl_num_given(ask->deadline_s, JL_K_TIME, NULL));
	}
	JL_SAY(s, ". Candidates of the catalog: ");
	jl_tell_num(s->doc, jl_num_plain((double)s->w->found->n, JL_K_NUMBER, NULL, JL_LISTED, "jeoul catalog"));
	JL_SAY(s, ", possible: ");
	jl_tell_num(s->doc, jl_num_plain((double)s->w->found->n_ok, JL_K_NUMBER, NULL, JL_ESTIMATED, JL_METHOD));
	jl_doc_text(s->doc, ".");
}

/* From cheap to fast; small steps are left out until it fits. */
static size_t thin_front(const struct jl_recommendation *r, size_t ret_rows[ROWS_MAX])
{
	double step = 0.95;
	size_t n;

	do {
		double last_s = INFINITY;

		n = 0;
		for (size_t i = 0; i < r->n_ok && n <= ROWS_MAX; i++) {
			const struct jl_candidate *c = &r->items[i];

			if (!((c->on_front && c->setup->run_s.value <= step * last_s) || (int)i == r->pick ||
			      (int)i == r->fastest))
				continue;
			if (n < ROWS_MAX)
				ret_rows[n] = i;
			n++;
			last_s = fmin(last_s, c->setup->run_s.value);
		}
		step *= 0.85;
	} while (n > ROWS_MAX && step > 1e-9);
	return n < ROWS_MAX ? n : ROWS_MAX;
}

static void put_point(struct jl_section *s, struct jl_chart_point *p, const struct jl_candidate *c, bool front)
{
	const struct jl_estimate *run = &c->setup->run_s;

	p->x = c->cost_usd.value;
	p->y = (is_serve(s) ? 1 : DAY_S) / run->value;
	p->lo = (is_serve(s) ? 1 : DAY_S) / run->hi;
	p->hi = (is_serve(s) ? 1 : DAY_S) / run->lo;
	p->label = jl_arena_printf(s->arena, "%s: %s", jl_how_name(c->how), machine_name(s, c));
	p->front = front;
	p->x_source = seller(c);
	if (!front) /* a band for each of many would hide the rest */
		p->lo = p->hi = NAN;
}

static void front_chart(struct jl_section *s, const size_t *rows, size_t n)
{
	const struct jl_recommendation *r = s->w->found;
	const size_t stride = r->n_ok / OTHERS_MAX + 1;
	struct jl_chart *chart = jl_tell_chart(
		s->doc, JL_CHART_SCATTER,
		JL_("Cost and speed: nothing is both cheaper and faster than the joined ones"), 1);
	struct jl_chart_point *points = chart ? jl_tell_series(s->doc, chart, 0, JL_("machines"), JL_ESTIMATED,
							       n + OTHERS_MAX)
					      : NULL;
	size_t k = 0;

	if (!points)
		return;
	chart->x = (struct jl_axis){ .label = JL_("cost of all"), .kind = JL_K_USD, .log = true, .lo = NAN, .hi = NAN };
	chart->x_origin = JL_ESTIMATED;
	chart->y = (struct jl_axis){ .label = is_serve(s) ? JL_("tokens of one user") : JL_("runs a day"),
				     .unit = is_serve(s) ? "tokens/s" : JL_("runs/d"),
				     .log = true,
				     .lo = NAN,
				     .hi = NAN };
	for (size_t i = 0; i < n; i++)
		put_point(s, &points[k++], &r->items[rows[i]], r->items[rows[i]].on_front);
	for (size_t i = stride / 2; i < r->n_ok && k < n + OTHERS_MAX; i += stride)
		if (!r->items[i].on_front)
			put_point(s, &points[k++], &r->items[i], false);
	((struct jl_chart_series *)&chart->series[0])->n_points = k;
	if (k > 1)
		jl_doc_chart(s->doc, chart);
}

static void row(struct jl_section *s, const struct jl_candidate *c, bool pick)
{
	struct jl_num unit = jl_num_plain(c->unit_usd / (c->how == JL_HOW_RENT || c->how == JL_HOW_SPOT ? 3600 : 1),
					  c->how == JL_HOW_RENT || c->how == JL_HOW_SPOT ? JL_K_USD_RATE : JL_K_USD,
					  NULL, JL_LISTED, seller(c));

	unit.date = c->price_date;
	jl_doc_cell(s->doc, pick ? JL_MARK_GOOD : JL_MARK_NONE);
	jl_doc_name(s->doc, machine_name(s, c));
	jl_doc_cell_text(s->doc, jl_how_name(c->how));
	jl_doc_cell_name(s->doc, seller(c));
	jl_tell_cell(s->doc, unit);
	jl_tell_cell(s->doc, time_num(c));
	jl_tell_cell(s->doc, cost_num(c));
	jl_doc_end_row(s->doc, pick);
}

static void tables(struct jl_section *s, const size_t *rows, size_t n)
{
	static const struct jl_tell_head train[] = { { JL_N("Machine"), false }, { JL_N("How"), false },
						     { JL_N("From"), false },    { JL_N("Price of one"), true },
						     { JL_N("One run"), true },  { JL_N("All of it"), true } };
	static const struct jl_tell_head serve[] = { { JL_N("Machine"), false }, { JL_N("How"), false },
						     { JL_N("From"), false },    { JL_N("Price of one"), true },
						     { JL_N("A token"), true },  { JL_N("All of it"), true } };
	const struct jl_tell_head *heads = is_serve(s) ? serve : train;
	const struct jl_recommendation *r = s->w->found;

	jl_tell_table(s->doc, JL_("From cheap to fast: nothing is both cheaper and faster"), heads, 6);
	for (size_t i = 0; i < n; i++)
		row(s, &r->items[rows[i]], (int)rows[i] == r->pick);
	jl_tell_table(s->doc, JL_("The best of each way to have it"), heads, 6);
	for (int h = 0; h < JL_N_HOW; h++)
		if (r->best[h] >= 0)
			row(s, &r->items[r->best[h]], r->best[h] == r->pick);
}

static void caveats(struct jl_section *s)
{
	struct jl_caveat list[JL_CAVEATS_MAX];
	const size_t n = jl_recommend_caveats(list, &s->w->found->items[s->w->found->pick], s->w->found_ask);

	for (size_t i = 0; i < n; i++) {
		jl_doc_item(s->doc);
		jl_doc_said(s->doc, list[i].text, JL_ESTIMATED, JL_METHOD);
	}
	if (s->w->purpose && s->w->purpose->caveat) {
		jl_doc_item(s->doc);
		jl_doc_said(s->doc, jl_msg(s->w->purpose->caveat), JL_ORIGIN_NONE, NULL);
	}
}

static void none_found(struct jl_section *s)
{
	const struct jl_recommendation *r = s->w->found;

	jl_doc_finding(s->doc, JL_MARK_BAD, JL_("Nothing does it within these limits"));
	for (int a = JL_AGAINST_NOTHING + 1; a < JL_N_AGAINST; a++) {
		if (!r->n_against[a])
			continue;
		jl_doc_textf(s->doc, "%s: ", jl_against_name((enum jl_against)a));
		jl_tell_num(s->doc, jl_num_plain((double)r->n_against[a], JL_K_NUMBER, NULL, JL_ESTIMATED, JL_METHOD));
		jl_doc_text(s->doc, ". ");
	}
}

void jl_section_recommend(struct jl_section *s)
{
	const struct jl_recommendation *r = s->w->found;
	size_t rows[ROWS_MAX], n;

	if (!s->w->scenario->recommend.wanted)
		return;
	jl_section_open(s, "recommend", "Which machine");
	if (!r) {
		jl_doc_finding(s->doc, JL_MARK_UNKNOWN, JL_("Could not be weighed"));
		jl_doc_said(s->doc, s->w->found_why.text, JL_ORIGIN_NONE, NULL);
		return;
	}
	purpose(s);
	if (r->pick < 0) {
		none_found(s);
		return;
	}
	n = thin_front(r, rows);
	if (!jl_section_is_charted(s, "recommend"))
		front_chart(s, rows, n);
	tables(s, rows, n);
	caveats(s);
}

void jl_chart_recommend(struct jl_section *s, const struct jl_scenario_question *q)
{
	size_t rows[ROWS_MAX];

	(void)q;
	if (s->w->found && s->w->found->pick >= 0)
		front_chart(s, rows, thin_front(s->w->found, rows));
}
