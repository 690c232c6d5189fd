/* Kinds and numbers of GPUs: time-cost front; largest and fastest batch by system. */
#include <math.h>
#include <string.h>

#include "plan/answer.h"
#include "topics/predict.h"

static size_t kind_of(const struct jl_fleet_ask *ask, const struct jl_fleet_point *p)
{
	for (size_t i = 0; i < ask->n_kinds; i++)
		if (ask->kinds[i] == p->kind)
			return i;
	return 0;
}

static bool is_drawn(const struct jl_fleet_point *p)
{
	return p->fits && jl_fleet_cost_usd(p) > 0;
}

static void chart(struct jl_doc *doc, const struct jl_fleet_answer *a)
{
	const size_t n_kinds = a->ask->n_kinds ? a->ask->n_kinds : 1;
	struct jl_chart *chart;
	size_t n_drawn = 0;

	for (size_t i = 0; i < a->fleet->n; i++)
		n_drawn += is_drawn(&a->fleet->points[i]);
	if (n_drawn < 2) /* a chart of one point adds nothing to the table */
		return;
	chart = jl_show_chart(doc, JL_CHART_SCATTER,
			      JL_("Time and cost; capital letters: nothing is both faster and cheaper"), n_kinds);
	if (!chart)
		return;
	chart->x = JL_AXIS(.label = JL_("time"), .kind = JL_K_TIME, .log = true);
	chart->y = JL_AXIS(.label = JL_("cost"), .kind = JL_K_USD, .log = true);
	chart->x_origin = JL_ESTIMATED;
	for (size_t k = 0; k < n_kinds; k++) {
		const char *name = a->ask->n_kinds ? a->ask->kinds[k] : a->fleet->points[0].kind;
		struct jl_chart_point *points = jl_show_series(doc, chart, k, name, JL_ESTIMATED, n_drawn);
		size_t n = 0;

		for (size_t i = 0; points && i < a->fleet->n; i++) {
			const struct jl_fleet_point *p = &a->fleet->points[i];

			if (!is_drawn(p) || kind_of(a->ask, p) != k)
				continue;
			points[n].x = jl_fleet_time_s(p);
			points[n].y = jl_fleet_cost_usd(p);
			points[n++].front = p->on_front;
		}
		chart->series[k].n_points = n;
	}
	jl_doc_chart(doc, chart);
}

/* "250 kUSD (220–290)", "25만 달러 (22–29)": the unit once, digits by precision. */
static const char *money(struct jl_doc *doc, const struct jl_estimate *e)
{
	const bool myriads = jl_lang_is("ko");
	const double unit = !(e->value >= 1e4) ? 1 : myriads ? 1e4 : e->value >= 1e6 ? 1e6 : 1e3;

	if (unit == 1)
		return jl_doc_format(doc, "%s", jl_estimate_text(JL_TXT, e, JL_K_USD));
	return jl_doc_format(doc, "%s%s (%s–%s)", jl_about_text(JL_TXT, e->value / unit),
			     myriads       ? "만 달러"
			     : unit >= 1e6 ? " MUSD"
					   : " kUSD",
			     jl_about_text(JL_TXT, e->lo / unit), jl_about_text(JL_TXT, e->hi / unit));
}

static void front_row(struct jl_doc *doc, const struct jl_fleet_point *p, bool limits)
{
	const struct jl_plan cut = {
		.dp = p->how.plan.dp, .tp = p->how.plan.tp, .pp = p->how.plan.pp, .zero = p->how.plan.zero
	};

	JL_CELLS(doc,
		 JL_FIG(jl_num_written(jl_num_given(p->n_gpus, JL_K_NUMBER, "GPU"),
				       jl_doc_format(doc, "%d", p->n_gpus))),
		 JL_NAMED(p->kind),
		 JL_FIG(jl_num_written(jl_num_estimate(*jl_fleet_time(p), JL_K_TIME, NULL),
				       jl_estimate_text(JL_TXT, jl_fleet_time(p), JL_K_TIME))),
		 JL_FIG(jl_num_written(jl_num_estimate(p->elapsed.cost_usd, JL_K_USD, NULL),
				       money(doc, &p->elapsed.cost_usd))),
		 JL_NAMED(jl_doc_format(doc, "%s", jl_show_cut(JL_TXT, &cut, NAN))));
	if (limits)
		jl_doc_cell_text(doc, p->surely                    ? JL_C("limits kept", "ok")
				      : p->in_time && p->in_budget ? JL_("unsure")
				      : p->in_budget               ? JL_("late")
				      : p->in_time                 ? JL_("too dear")
								   : JL_("late, too dear"));
	jl_doc_end_row(doc, false);
}

static void front(struct jl_doc *doc, const struct jl_fleet_answer *a)
{
	const bool limits = !isnan(a->ask->deadline_s) || !isnan(a->ask->budget_usd);

	jl_show_table(doc, NULL, limits ? "ftkktk" : "ftkkt",
		      a->fleet->whole_run ? JL_N("GPUs|kind|time|cost|plan|limits")
					  : JL_N("GPUs|kind|step|cost|plan|limits"));
	for (size_t i = 0; i < a->fleet->n; i++) {
		const struct jl_fleet_point *p = &a->fleet->points[i];

		if (p->fits && (p->on_front || (int)i == a->fleet->fastest))
			front_row(doc, p, limits);
	}
}

static void answer_of(struct jl_doc *doc, const struct jl_fleet *fleet, int i, const char *label)
{
	const struct jl_fleet_point *p = &fleet->points[i];

	jl_show_entry(doc, label, JL_ESTIMATED, "%d x %s: %s, %s", p->n_gpus, p->kind,
		      jl_estimate_text(JL_TXT, jl_fleet_time(p), JL_K_TIME), money(doc, &p->elapsed.cost_usd));
	jl_show_plan_case(doc, "", &p->how);
}

/* Numbers of GPUs that a kind is not sold in, and the nearest ones that it is. */
static void left_out(struct jl_doc *doc, const struct jl_fleet *fleet)
{
	const size_t most = 4;
	size_t n = 0;

	for (size_t i = 0; i < fleet->n && n < most; i++) {
		const struct jl_fleet_point *p = &fleet->points[i];
		const char *label = n ? "" : JL_("Left out");

		const bool said = i > 0 && strcmp(fleet->points[i - 1].kind, p->kind) == 0;

		if (!p->possible && p->why.text[0] && !said) {
			jl_show_entry(doc, label, JL_LISTED, "%s: %s", p->kind, p->why.text);
			n++;
		}
		if (p->possible || p->why.text[0] || p->below + p->above == 0)
			continue;
		if (p->below && p->above)
			jl_show_entry(doc, label, JL_LISTED, JL_("%d x %s: whole hosts only; take %d or %d"), p->n_gpus,
				      p->kind, p->below, p->above);
		else
			jl_show_entry(doc, label, JL_LISTED, JL_("%d x %s: take %d"), p->n_gpus, p->kind,
				      p->below + p->above);
		n++;
	}
}

struct fits { /* fitting options */
	size_t n;
	bool any_possible;
	const struct jl_fleet_point *near; /* smallest shortage; NULL: none */
};

static struct fits fits_of(const struct jl_fleet *fleet)
{
	struct fits fits = { 0 };

	for (size_t i = 0; i < fleet->n; i++) {
		const struct jl_fleet_point *p = &fleet->points[i];

		fits.n += p->fits;
		fits.any_possible |= p->possible;
		if (p->possible && !p->fits && p->miss_B < INFINITY && (!fits.near || p->miss_B < fits.near->miss_B))
			fits.near = p;
	}
	return fits;
}

static void answer(struct jl_doc *doc, const struct jl_fleet_answer *a, const struct fits *fits)
{
	const struct jl_fleet *fleet = a->fleet;

	if (fleet->cheapest >= 0)
		answer_of(doc, fleet, fleet->cheapest, JL_("Cheapest"));
	if (fleet->fastest >= 0 && fleet->fastest != fleet->cheapest)
		answer_of(doc, fleet, fleet->fastest, JL_("Fastest"));
	if (fleet->cheapest < 0 && fleet->fastest < 0 && fits->n)
		JL_ENTRY(doc, JL_("None"), JL_ESTIMATED,
			 "of them meets the deadline and the budget; the table shows what is possible");
	else if (!fits->n && fits->near)
		jl_show_entry(doc, JL_("None"), JL_ESTIMATED, JL_("fits. The nearest, %d x %s, lacks %.1f GiB a GPU"),
			      fits->near->n_gpus, fits->near->kind, fits->near->miss_B / 1073741824.0);
	else if (!fits->n && !fits->any_possible)
		JL_ENTRY(doc, JL_("None"), JL_LISTED, "comes in these numbers");
	else if (!fits->n)
		jl_show_entry(doc, JL_("None"), JL_ESTIMATED,
			      JL_("divides: global batch %.0f; change --global-batch or --fix"),
			      a->ask->req->global_batch);
	left_out(doc, fleet);
}

/* Source of each kind's rent: one host may be cheaper than several with a network. */
static void rents(struct jl_doc *doc, const struct jl_fleet_answer *a, long today)
{
	const struct jl_fleet_point *last = NULL;

	for (size_t i = 0; i < a->fleet->n; i++) { /* ordered by kind, then size */
		const struct jl_fleet_point *p = &a->fleet->points[i];
		const struct jl_rent *r = &p->prediction.rent;
		const char *label = last ? "" : JL_("Rent");

		if (!p->fits || (last && last->kind == p->kind && last->prediction.rent.price == r->price))
			continue;
		if (isnan(r->usdps))
			jl_show_entry(doc, label, JL_LISTED, JL_("%s: no price known"), p->kind);
		else
			jl_show_entry(doc, label, JL_LISTED,
				      p->how.machine.sys.n_nodes > 1 ? JL_("%s, several hosts: %.2f USD/h a GPU (%s)")
								     : JL_("%s: %.2f USD/h a GPU (%s)"),
				      p->kind, r->usdps * 3600, jl_show_rent(doc, r, p->n_gpus, today));
		last = p;
	}
}

void jl_show_fleet(struct jl_doc *doc, const struct jl_fleet_answer *a, long today)
{
	const struct fits fits = fits_of(a->fleet);

	jl_doc_lead(doc);
	jl_doc_name(doc, a->ask->subject->name);
	jl_show_piece(doc, JL_ORIGIN_NONE, JL_("global batch %.0f"), a->ask->req->global_batch);
	jl_doc_break(doc);
	if (a->fleet->cheapest >= 0) {
		const struct jl_fleet_point *p = &a->fleet->points[a->fleet->cheapest];

		JL_SENTENCE(doc,
			    a->fleet->whole_run ? JL_("Cheapest: |1 x |2; the whole run takes |3 and costs |4 of rent.")
						: JL_("Cheapest: |1 x |2; |3 a step, |4 of rent."),
			    JL_COUNT(p->n_gpus), JL_NAMED(p->kind), JL_WIDE(*jl_fleet_time(p), JL_K_TIME),
			    JL_FIGURE_TEXT(money(doc, &p->elapsed.cost_usd), JL_ESTIMATED));
		if (!p->surely)
			JL_SHOW(doc, "At the worst end of its interval it exceeds a limit; no option is certain to "
				     "meet them.");
	} else {
		JL_SHOW(doc, "None of these systems meets the limits.");
	}
	answer(doc, a, &fits);
	if (fits.n) {
		front(doc, a);
		chart(doc, a);
		rents(doc, a, today);
	}
	if (jl_plan_n_configurations(&a->effort.tally))
		jl_show_searched(doc, &a->effort);
	JL_NOTE(doc, NULL, JL_ESTIMATED, "○ estimated; 80 % intervals. Rents are list prices of their date.");
	if (a->fleet->whole_run)
		JL_NOTE(doc, NULL, JL_ESTIMATED,
			"Times and costs of the run include failures, checkpoints and restarts (jeoul goodput).");
}

/* --- largest and fastest batch */

static void batch_cell(struct jl_doc *doc, const struct jl_batch_point *p)
{
	if (!(p->batch >= 1))
		jl_doc_cell_text(doc, "–");
	else
		jl_show_cell(doc, jl_num_about(p->batch, JL_K_NUMBER,
					       p->batch != p->worker ? jl_doc_format(doc, "%.0f (%.0f×%.0f)", p->batch,
										     p->batch / p->worker, p->worker)
								     : jl_doc_format(doc, "%.0f", p->batch)));
}

void jl_show_batches(struct jl_doc *doc, const struct jl_batch_answer *a)
{
	const double base = a->rows[0].limit.fastest.prediction.samples_per_s.value;

	jl_doc_lead(doc);
	jl_doc_name(doc, a->subject->name);
	jl_show_piece(doc, JL_ORIGIN_NONE, "%s", JL_("largest batch in one pass, and the fastest"));
	jl_show_table(doc, NULL, "tkkkfk", JL_N("system|largest|fastest|samples/s|speed|at most"));
	for (size_t i = 0; i < a->n; i++) {
		const struct jl_batch_limit *l = &a->rows[i].limit;
		const struct jl_estimate *rate = &l->fastest.prediction.samples_per_s;
		const bool any = l->fastest.batch >= 1;

		jl_doc_cell_name(doc, a->rows[i].system);
		batch_cell(doc, &l->largest);
		batch_cell(doc, &l->fastest);
		if (any)
			jl_show_cell(doc, jl_num_written(jl_num_estimate(*rate, JL_K_NUMBER, NULL),
							 jl_about_range_text(JL_TXT, rate)));
		else
			jl_doc_cell_text(doc, "–");
		jl_show_cell(doc, jl_num_written(jl_num_times(any && base > 0 ? rate->value / base : NAN),
						 jl_doc_format(doc, JL_("%.2fx"), rate->value / base)));
		batch_cell(doc, &l->most);
		jl_doc_end_row(doc, false);
	}
	jl_show_note(
		doc, NULL, JL_ESTIMATED,
		JL_("Largest, fastest: data parallel, no recompute, nothing offloaded. At most: with slices, ZeRO, "
		    "recompute and offload. %.3g %% of the memory stays free (--memory-margin). ○ estimated"),
		100 * (1 - a->memory_frac));
}
