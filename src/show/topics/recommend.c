#include "recommend/answer.h"
#include "topics/show.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "catalog/place.h"
#include "cost/money.h"
#include "cost/option.h"

static bool is_serve(const struct jl_recommended *a)
{
	return a->ask->task == JL_TASK_SERVE;
}

static bool is_rented(const struct jl_candidate *c)
{
	return c->how == JL_HOW_RENT || c->how == JL_HOW_SPOT;
}

const char *jl_show_machines(struct jl_doc *doc, const struct jl_candidate *c)
{
	const struct jl_sys *s = &c->setup->sys;
	const bool bridged = s->join && s->join->topology && strcmp(s->join->topology, "bridge-pair") == 0;
	const char *hosts = s->n_nodes > 1 ? jl_doc_format(doc, "%d × ", s->n_nodes) : "";

	if (s->n_per_node == 1 && s->n_nodes > 1)
		return jl_doc_format(doc, "%s%s", hosts, s->gpu->id);
	return jl_doc_format(doc, "%s%dx %s%s", hosts, s->n_per_node, s->gpu->id, bridged ? " via nvlink" : "");
}

const char *jl_show_seller(struct jl_doc *doc, const struct jl_candidate *c)
{
	if (!c->price)
		return c->setup->sys.system ? c->setup->sys.system->id : JL_("list price");
	if (is_rented(c) && c->price->region)
		return jl_doc_format(doc, "%s %s", c->price->provider ? c->price->provider : "?", c->price->region);
	return c->price->provider ? jl_msg(c->price->provider) : "?";
}

struct jl_num jl_num_run(const struct jl_candidate *c)
{
	return jl_num_ranged(jl_num_estimate(c->wall_s, JL_K_TIME, NULL));
}

struct jl_num jl_num_cost(const struct jl_candidate *c)
{
	struct jl_num num = jl_num_ranged(jl_num_estimate(c->cost_usd, JL_K_USD, NULL));

	num.n_digits = 3;
	num.show_interval = num.hi > 1.01 * num.lo; /* purchase costs are independent of the run time */
	return num;
}

/* Unit of amounts: dollars; won individually if few, else in units of ten thousand (Korean) or a thousand, outside tables in millions (Korean:
 * groups of four digits). */
struct counted {
	double each; /* units per dollar */
	const char *name;
	bool grouped;
};

static struct counted counted_in(const struct jl_recommended *a, double usd, bool table)
{
	const double won = usd * a->krw_per_usd;

	if (isnan(a->krw_per_usd))
		return (struct counted){ 1, jl_unit_localized("USD", NULL), false };
	if (won < 1e5 && !table)
		return (struct counted){ a->krw_per_usd, jl_unit_localized("KRW", NULL), false };
	if (won >= 1e7 && !table && !jl_lang_is("ko"))
		return (struct counted){ a->krw_per_usd / 1e6, JL_("million KRW"), false };
	if (won >= 1e8 && !table)
		return (struct counted){ a->krw_per_usd, jl_unit_localized("KRW", NULL), true };
	return (struct counted){ a->krw_per_usd / (jl_lang_is("ko") ? 1e4 : 1e3), JL_("thousand KRW"), false };
}

/* Won beside dollars: for Korean readers, and for requests about Korea. */
static bool wants_won(const struct jl_recommended *a)
{
	bool korea = jl_lang_is("ko");

	for (const char *place = a->ask->region; place && !korea; place = jl_place_wider(place))
		korea = strcasecmp(place, "korea") == 0 || strcmp(place, "한국") == 0;
	return korea;
}

static const char *amount(struct jl_doc *doc, const struct counted *in, double usd)
{
	return in->grouped ? jl_krw_number_text(doc, usd * in->each) : jl_rounded_text(doc, usd * in->each);
}

/* "1,950 USD" */
static const char *priced(struct jl_doc *doc, const struct jl_recommended *a, double usd)
{
	const struct counted in = counted_in(a, usd, false);

	return jl_doc_format(doc, in.grouped ? "%s %s" : JL_C("money", "%s %s"), amount(doc, &in, usd), in.name);
}

static const char *interval(struct jl_doc *doc, const struct jl_candidate *c)
{
	return jl_doc_format(doc, "%s", jl_estimate_text(JL_TXT, &c->wall_s, JL_K_TIME));
}

/* --- tables */

void jl_show_candidates(struct jl_doc *doc, const struct jl_recommended *a, const char *title, const int *rows,
			size_t n)
{
	static const char *const heads[2][2] = {
		{ JL_N("how|machines|from|a run|USD"), JL_N("how|machines|from|a run|thousand KRW") },
		{ JL_N("how|machines|bits|from|a token|USD"), JL_N("how|machines|bits|from|a token|thousand KRW") }
	};

	jl_show_table(doc, title, is_serve(a) ? "kt18ft10ff" : "kt18t10ff", heads[is_serve(a)][!isnan(a->krw_per_usd)]);
	for (size_t i = 0; i < n; i++) {
		const struct jl_candidate *c = &a->found->items[rows[i]];
		const bool pick = rows[i] == a->found->pick;
		struct jl_num from = jl_num_about(c->cost_usd.value, JL_K_USD, NULL);

		JL_CELLS(doc, JL_WORD(jl_doc_format(doc, "%s%s", pick ? "▸" : " ", jl_how_name(c->how))),
			 JL_NAMED(jl_show_machines(doc, c)));
		if (is_serve(a))
			jl_show_cell(doc, jl_num_count(c->setup->weight_bits));
		JL_ROW(doc, pick, JL_NAMED(jl_show_seller(doc, c)),
		       JL_FIG(jl_num_written(jl_num_run(c), interval(doc, c))),
		       JL_FIG(jl_num_written(
			       from,
			       jl_rounded_text(doc, c->cost_usd.value * counted_in(a, c->cost_usd.value, true).each))));
	}
}

/* The best of each way to have it and the front, each once, the cheapest first. */
static size_t rows_of(const struct jl_recommended *a, int *rows, size_t *ret_n_front)
{
	size_t n = *ret_n_front = jl_recommend_thin(a->found, (size_t)a->limit, rows);

	for (int h = 0; h < JL_N_HOW; h++) {
		const int best = a->found->best[h];
		size_t k = 0;

		while (k < n && rows[k] != best)
			k++;
		if (best < 0 || k < n)
			continue;
		for (k = n++;
		     k > 0 && a->found->items[rows[k - 1]].cost_usd.value > a->found->items[best].cost_usd.value; k--)
			rows[k] = rows[k - 1];
		rows[k] = best;
	}
	return n;
}

static void tables(struct jl_doc *doc, const struct jl_recommended *a)
{
	int *rows = jl_arena_array(doc->arena, (size_t)a->limit + JL_N_HOW, sizeof(*rows));
	size_t n, n_front;

	if (!rows) {
		doc->failed = JL_E_NOMEM;
		return;
	}
	n = rows_of(a, rows, &n_front);
	jl_show_candidates(doc, a,
			   jl_doc_format(doc,
					 n > n_front ? JL_("Cheapest first: the best of each way and the Pareto front "
							   "(%zu of %zu shown)")
						     : JL_("Cheapest first: the Pareto front (%zu of %zu shown)"),
					 n_front, a->n_front > n_front ? a->n_front : n_front),
			   rows, n);
}

/* --- the pick */

static const char *technique(struct jl_doc *doc, const struct jl_recommended *a, const struct jl_setup *s)
{
	struct jl_plan plan = { .dp = s->dp, .tp = s->tp, .pp = s->pp, .zero = s->zero, .recompute = s->recompute };
	char cut[JL_CUT_TEXT_MAX];

	plan.offload = s->offload;
	if (is_serve(a))
		return jl_doc_format(doc,
				     s->dp > s->sys.n_nodes ? JL_("%g-bit weights, tp %g, %g copies")
				     : s->tp > 1            ? JL_("%g-bit weights, tp %g")
							    : JL_("%g-bit weights"),
				     s->weight_bits, s->tp, s->dp);
	jl_show_cut(cut, &plan, s->micro_batch);
	return s->dp > 1 ? jl_doc_format(doc, JL_("%g copies, %s"), s->dp, cut) : jl_doc_format(doc, "%s", cut);
}

/* "1,950 USD (1,800–2,100)"; no interval for a price independent of the time. */
static const char *cost_text(struct jl_doc *doc, const struct jl_recommended *a, struct jl_estimate usd)
{
	const struct counted in = counted_in(a, usd.value, false);

	return jl_doc_format(doc, usd.hi < 1.01 * usd.lo ? "%s" : "%s (%s–%s)", priced(doc, a, usd.value),
			     amount(doc, &in, usd.lo), amount(doc, &in, usd.hi));
}

static void headline(struct jl_doc *doc, const struct jl_recommended *a)
{
	const struct jl_recommendation *r = a->found;
	const struct jl_candidate *c = &r->items[r->pick];
	const bool people = a->ask->users > 0;
	struct jl_reason_text said;

	jl_doc_lead(doc);
	JL_SENTENCE(
		doc,
		is_serve(a) && people
			? (is_rented(c) ? JL_("Rent |1 at |2 for |7 user{/s}: |3 a token, |4 for |5 month{/s}.")
					: JL_("Buy |1 (|2) for |7 user{/s}: |3 a token, |4 for |5 month{/s}."))
		: is_serve(a)
			? (is_rented(c)
				   ? JL_("Rent |1 at |2 for |7 request{/s} at once: |3 a token, |4 for |5 month{/s}.")
				   : JL_("Buy |1 (|2) for |7 request{/s} at once: |3 a token, |4 for |5 month{/s}."))
		: c->how == JL_HOW_SPOT ? JL_("Rent (spot) |1 at |2: |3 a run, |4 for |6 run{/s} in |5 month{/s}.")
		: is_rented(c)          ? JL_("Rent |1 at |2: |3 a run, |4 for |6 run{/s} in |5 month{/s}.")
		: a->ask->host_owned && !c->setup->sys.system
			? JL_("Buy |1 (|2) for the host that is there: |3 a run, |4 for |6 run{/s} in |5 month{/s}.")
			: JL_("Buy |1 (|2): |3 a run, |4 for |6 run{/s} in |5 month{/s}."),
		JL_NAMED(jl_show_machines(doc, c)), JL_NAMED(jl_show_seller(doc, c)),
		JL_FIGURE_TEXT(interval(doc, c), JL_ESTIMATED),
		JL_FIGURE_TEXT(cost_text(doc, a, c->cost_usd), JL_ESTIMATED), JL_COUNT(a->ask->months),
		JL_COUNT(r->runs), JL_COUNT(people ? a->ask->users : a->ask->concurrency));
	jl_show_entry(doc, is_serve(a) ? JL_("A token") : JL_("A run"), JL_ESTIMATED, "%s", interval(doc, c));
	jl_show_piece(doc, JL_ORIGIN_NONE, "%s", jl_how_name(c->how));
	if (is_serve(a))
		jl_show_entry(doc, JL_("Cost"), JL_ESTIMATED, JL_("%s for %.3g month{/s}"),
			      cost_text(doc, a, c->cost_usd), a->ask->months);
	else
		jl_show_entry(doc, JL_("Cost"), JL_ESTIMATED, JL_("%s for %.4g run{/s} in %.3g month{/s}"),
			      cost_text(doc, a, c->cost_usd), r->runs, a->ask->months);
	if (!isnan(a->krw_per_usd))
		jl_show_piece(doc, JL_ESTIMATED, JL_("%s in all"),
			      jl_doc_format(doc, JL_C("money", "%s %s"), jl_rounded_text(doc, c->cost_usd.value),
					    jl_unit_localized("USD", NULL)));
	else if (wants_won(a))
		jl_show_piece(doc, JL_ESTIMATED, JL_("%s in all"), jl_krw_text(doc, c->cost_usd.value * a->fx));
	if (!is_rented(c) && !isnan(a->ask->util_frac))
		jl_show_piece(doc, JL_LISTED, JL_("its share of a purchase of %s (--util)"),
			      priced(doc, a, c->unit_usd * c->setup->sys.n_nodes));
	jl_recommend_why(&said, r, JL_PLACE_PICK);
	jl_show_entry(doc, JL_("Why"), JL_ESTIMATED, JL_("%s (of %s candidates)"), said.text,
		      jl_grouped(JL_TXT, (double)r->n));
	jl_show_entry(doc, JL_("How"), JL_ESTIMATED, "%s", technique(doc, a, c->setup));
	if (!isnan(c->setup->power_W))
		jl_show_piece(doc, JL_ESTIMATED, "%s", jl_units_localized(JL_TXT, c->setup->power_W, JL_K_POWER, 2));
	if (!isnan(a->ask->power_W) && !is_rented(c))
		jl_show_piece(doc, JL_ESTIMATED, JL_("at most %s from the wall"),
			      jl_units_localized(JL_TXT, c->setup->peak_W, JL_K_POWER, 3));
}

/* A candidate in one line: machine, cost, time, reason. */
static void place_line(struct jl_doc *doc, const struct jl_recommended *a, const char *label, int at, const char *why)
{
	const struct jl_candidate *c = &a->found->items[at];
	const char *name = jl_doc_format(doc, "%s %s", jl_how_name(c->how), jl_show_machines(doc, c));

	if (is_serve(a) && c->setup->weight_bits > 0)
		name = jl_doc_format(doc, "%s, %s", name,
				     jl_doc_format(doc, JL_("%g-bit weights"), c->setup->weight_bits));
	if (isnan(c->cost_usd.value))
		jl_show_entry(doc, label, JL_ESTIMATED, "%s: %s", name, why);
	else
		jl_show_entry(doc, label, JL_ESTIMATED, "%s, %s, %s: %s", name, interval(doc, c),
			      priced(doc, a, c->cost_usd.value), why);
}

static void places(struct jl_doc *doc, const struct jl_recommended *a)
{
	const struct jl_recommendation *r = a->found;
	const struct {
		const char *label;
		int at;
		enum jl_place place;
	} rows[] = { { JL_("Runner-up"), r->runner_up, JL_PLACE_RUNNER_UP },
		     { JL_("Cheapest"), r->cheapest, JL_PLACE_CHEAPEST },
		     { JL_("Fastest"), r->fastest, JL_PLACE_FASTEST } };
	struct jl_reason_text said;

	for (size_t i = 0; i < JL_LEN(rows); i++) {
		if (rows[i].at < 0 || rows[i].at == r->pick || (i > 0 && rows[i].at == rows[i - 1].at))
			continue;
		jl_recommend_why(&said, r, rows[i].place);
		place_line(doc, a, rows[i].label, rows[i].at, said.text);
	}
	for (size_t i = 0; i <= r->n_rejected; i++) {
		const int at = i < r->n_rejected ? r->rejected[i] : a->why_not;

		if (at < 0)
			continue;
		jl_recommend_against(&said, r, &r->items[at], a->ask);
		place_line(doc, a, i < r->n_rejected ? JL_("Rejected") : JL_("Why not"), at, said.text);
	}
}

/* --- notes */

/* Candidates considered and not chosen. */
static void against(struct jl_doc *doc, const struct jl_recommendation *r)
{
	const char *text = "";

	for (int i = 1; i < JL_N_AGAINST; i++)
		if (r->n_against[i])
			text = jl_doc_format(doc, "%s%s%s: %s%s", text, *text ? "; " : "",
					     jl_against_name((enum jl_against)i),
					     jl_grouped(JL_TXT, (double)r->n_against[i]),
					     i == JL_AGAINST_PRICE ? " (--max-price-age)" : "");
	if (*text)
		jl_show_note(doc, JL_("Excluded"), JL_ESTIMATED, "%s", text);
}

static bool is_same(double given, double purpose)
{
	return isnan(purpose) || given == purpose;
}

/* True if no option replaced the work described by the purpose. */
static bool is_as_said(const struct jl_purpose *p, const struct jl_recommend_ask *ask)
{
	return !ask->seen && ask->task == p->task && ask->run.model == p->model &&
	       is_same(ask->concurrency, p->concurrency) && is_same(ask->run.samples, p->samples) &&
	       is_same(ask->run.tokens, p->tokens) && is_same(ask->run.epochs, p->epochs) &&
	       is_same(ask->runs_per_month, p->runs);
}

/* "a run: 100,000 samples × 20 epochs" */
static void run_length(struct jl_doc *doc, const struct jl_request *run)
{
	const struct {
		double n;
		const char *text, *option;
	} lengths[] = { { run->tokens, JL_("a run: %s tokens"), "--tokens" },
			{ run->samples, JL_("a run: %s samples"), "--samples" },
			{ run->steps_per_epoch, JL_("a run: %s steps"), "--steps-per-epoch" } };
	size_t i = 0;

	while (i < JL_LEN(lengths) && isnan(lengths[i].n))
		i++;
	if (i == JL_LEN(lengths))
		return;
	jl_show_piece(doc, JL_ORIGIN_NONE, lengths[i].text, jl_count_text(JL_TXT, lengths[i].n));
	if (run->epochs > 1)
		jl_doc_textf(doc, JL_(" × %.0f epochs (%s, --epochs)"), run->epochs, lengths[i].option);
	else
		jl_doc_textf(doc, " (%s)", lengths[i].option);
}

static void assumptions(struct jl_doc *doc, const struct jl_recommended *a)
{
	const struct jl_recommend_ask *ask = a->ask;
	const char *kwh;

	const char *near = ask->region ? jl_cost_rents_near(ask->cat, ask->region) : NULL;

	jl_doc_note(doc, JL_MARK_NONE, JL_("Assumed"));
	if (near != ask->region)
		jl_show_piece(doc, JL_ORIGIN_NONE,
			      near ? JL_("no rents of %s are known: those of %s are used")
				   : JL_("no rents of %s are known, only what can be bought (--region %s)"),
			      ask->region, near ? near : "us");
	if (a->purpose && is_as_said(a->purpose, ask))
		jl_show_piece(doc, JL_ORIGIN_NONE, "%s", jl_msg(a->purpose->en));
	if (ask->seen)
		jl_show_piece(doc, JL_ORIGIN_NONE, JL_("the observed run on %s"), ask->seen_on->sys.text);
	else
		jl_show_piece(doc, JL_ORIGIN_NONE, "%s%s", ask->run.model ? ask->run.model : JL_("the model"),
			      ask->task != JL_TASK_LORA           ? ""
			      : ask->run.base > (int)JL_BASE_SAME ? " QLoRA"
								  : " LoRA");
	const int shown = a->found->pick >= 0 ? a->found->pick : a->found->nearest;

	if (shown >= 0 && a->found->items[shown].setup->seq > 0)
		jl_show_piece(doc, JL_ORIGIN_NONE, JL_("sequence %g (--seq)"), a->found->items[shown].setup->seq);
	if (is_serve(a))
		jl_show_piece(doc, JL_ORIGIN_NONE,
			      ask->users > 0 ? JL_("at least %s tokens/s in all (--tokens-per-s)")
					     : JL_("at least %s tokens/s in all (--tokens-per-s), %s requests at once "
						   "(--concurrency)"),
			      jl_grouped(JL_TXT, ask->tokens_per_s), jl_grouped(JL_TXT, ask->concurrency));
	else if (!ask->seen && isnan(ask->run.global_batch))
		jl_show_piece(doc, JL_ORIGIN_NONE, "%s", JL_("each at the batch that predict takes (--global-batch)"));
	else if (!ask->seen)
		jl_show_piece(doc, JL_ORIGIN_NONE, JL_("global batch %g (--global-batch)"), ask->run.global_batch);
	if (ask->users > 0)
		jl_show_piece(doc, JL_ORIGIN_NONE,
			      shown >= 0 ? JL_("%s user{/s} reading for %.3g s between answers: %s request{/s} at "
					       "once (--users, --think)")
					 : JL_("%s user{/s} reading for %.3g s between answers (--users, --think)"),
			      jl_grouped(JL_TXT, ask->users), ask->think_s,
			      jl_grouped(JL_TXT, shown >= 0 ? a->found->items[shown].setup->n_requests : 0));
	if (is_serve(a)) {
		jl_show_piece(doc, JL_ORIGIN_NONE, JL_("questions of about %s tokens (--prompt)"),
			      jl_count_text(JL_TXT, ask->prompt));
		jl_show_piece(doc, JL_ORIGIN_NONE, JL_("answers of about %s (--answer)"),
			      jl_count_text(JL_TXT, ask->answer));
	}
	if (shown >= 0 && a->found->items[shown].setup->published)
		jl_show_piece(doc, JL_ORIGIN_NONE, JL_("weights: %s, as it is published"),
			      a->found->items[shown].setup->published);
	if (!is_serve(a) && !ask->seen)
		run_length(doc, &ask->run);
	if (!is_serve(a) && !ask->seen && a->found->pick >= 0)
		jl_show_piece(doc, JL_ORIGIN_NONE, "%s%s",
			      jl_framework_word(a->found->items[a->found->pick].setup->framework),
			      ask->run.framework == JL_UNSET ? " (--framework)" : "");
	if (!is_serve(a) && !ask->seen && a->found->pick >= 0)
		jl_show_piece(doc, JL_ORIGIN_NONE, "%s%s", jl_dtype_name(a->found->items[a->found->pick].setup->dtype),
			      ask->run.dtype == JL_UNSET ? " (--precision)" : "");
	jl_show_piece(doc, JL_ORIGIN_NONE, "%s",
		      isnan(ask->util_frac) ? JL_("bought machines: paid in full, no resale")
					    : JL_("bought machines: only the share of use is paid"));
	if (ask->host_owned)
		jl_show_piece(doc, JL_ORIGIN_NONE, "%s",
			      JL_("the host of bought cards is there already (--host-owned)"));
	kwh = isnan(a->krw_per_usd) ? jl_doc_format(doc, JL_("%.3g USD/kWh"), ask->usd_per_kWh)
				    : jl_doc_format(doc, JL_("%.3g KRW/kWh"), ask->usd_per_kWh * a->krw_per_usd);
	if (ask->tariff)
		jl_show_piece(doc, JL_ORIGIN_NONE, "%s (%s; --tariff)", kwh, ask->tariff);
	else
		jl_show_piece(doc, JL_ORIGIN_NONE, "%s%s", kwh, a->assumed_kwh ? " (--kwh)" : "");
	if (!is_serve(a) && ask->setup_s > 0 && (!ask->hows || ask->hows & (1U << JL_HOW_RENT | 1U << JL_HOW_SPOT)))
		jl_show_piece(doc, JL_ORIGIN_NONE, JL_("%s to set up a rented machine for each run (--setup)"),
			      jl_units_localized(JL_TXT, ask->setup_s, JL_K_TIME, 2));
	if (wants_won(a) || !isnan(a->krw_per_usd))
		jl_show_piece(doc, JL_ORIGIN_NONE, "%s", jl_show_fx(doc, a->fx, a->fx_date, ask->today));
}

/* A purpose's note on its limits; omitted if the request gives the tuning method. */
static void purpose_note(struct jl_doc *doc, const struct jl_recommended *a)
{
	if (a->purpose && a->purpose->caveat && a->ask->run.tune == JL_UNSET)
		jl_show_note(doc, JL_("Note"), JL_ORIGIN_NONE, "%s", jl_msg(a->purpose->caveat));
}

void jl_show_caveats(struct jl_doc *doc, const struct jl_recommended *a)
{
	struct jl_caveat list[JL_CAVEATS_MAX];
	const size_t n = jl_recommend_caveats(list, &a->found->items[a->found->pick], a->ask);

	for (size_t i = 0; i < n; i++)
		jl_show_entry(doc, i ? "" : JL_("Beware"), JL_ESTIMATED, "%s", list[i].text);
	purpose_note(doc, a);
}

/* Without an acceptable option: the nearest one and the limit to change. */
static void nearest(struct jl_doc *doc, const struct jl_recommended *a)
{
	const struct jl_candidate *c = &a->found->items[a->found->nearest];
	const double whole_usd = is_rented(c) ? 0 : c->unit_usd * c->setup->sys.n_nodes;
	const char *name = jl_doc_format(doc, "%s, %s", jl_how_name(c->how), jl_show_machines(doc, c)),
		   *time = interval(doc, c);
	struct jl_reason_text said;

	jl_doc_note(doc, JL_MARK_NONE, JL_("Nearest"));
	if (c->against == JL_AGAINST_INTERVAL) {
		jl_recommend_against(&said, a->found, c, a->ask);
		jl_show_piece(doc, JL_ESTIMATED, "%s: %s", name, said.text);
	} else if (c->against == JL_AGAINST_BUDGET) {
		jl_show_piece(doc, JL_ESTIMATED, JL_("the cheapest that is fast enough (%s) costs %s: raise --budget"),
			      name, priced(doc, a, fmax(c->cost_usd.value, whole_usd)));
		if (c->host_usd > 0)
			jl_show_piece(
				doc, JL_ESTIMATED,
				JL_("%s of it are for a host: --host-owned where the cards go into one that you have"),
				priced(doc, a, c->host_usd * c->setup->sys.n_nodes));
	} else if (c->against == JL_AGAINST_POWER)
		jl_show_piece(doc, JL_ESTIMATED, JL_("the least power (%s) is %s: raise --power-limit"), name,
			      jl_units_localized(JL_TXT, c->setup->peak_W, JL_K_POWER, 3));
	else if (c->against == JL_AGAINST_USE && is_serve(a))
		jl_show_piece(doc, JL_ESTIMATED, JL_("the fastest (%s) makes %s tokens/s: lower --tokens-per-s"), name,
			      jl_grouped(JL_TXT, c->setup->per_s.value));
	else
		jl_show_piece(
			doc, JL_ESTIMATED,
			c->against == JL_AGAINST_USE && a->found->runs <= 1 ? JL_("the fastest (%s) takes %s a run")
			: c->against == JL_AGAINST_USE ? JL_("the fastest (%s) takes %s a run: lower --runs-per-month")
			: is_serve(a)                  ? JL_("the fastest (%s) takes %s a token: raise --deadline")
						       : JL_("the fastest (%s) takes %s a run: raise --deadline"),
			name, time);
}

/* Size limit of the search: stated if larger systems might meet the limits. */
static void largest(struct jl_doc *doc, const struct jl_recommended *a)
{
	const struct jl_recommendation *r = a->found;
	const int at = r->pick >= 0 ? r->pick : r->nearest;
	int most = 0;

	for (size_t i = 0; i < r->n; i++)
		most = r->items[i].setup->sys.n_nodes > most ? r->items[i].setup->sys.n_nodes : most;
	if (at < 0)
		return;
	const struct jl_candidate *c = &r->items[at];
	const bool slow = c->against == JL_AGAINST_USE || c->against == JL_AGAINST_WAIT,
		   limited = a->ask->gpus_max && a->ask->gpus_max <= most * c->setup->sys.n_per_node;

	if (!limited && (a->ask->gpus_max || (slow && c->setup->sys.n_nodes == most)))
		jl_show_note(doc, JL_("Searched"), JL_ESTIMATED,
			     JL_("at most %d hosts, %s GPUs of this kind; 'jeoul plan' and 'jeoul predict' take more"),
			     most, jl_grouped(JL_TXT, (double)most * c->setup->sys.n_per_node));
}

void jl_show_recommended(struct jl_doc *doc, const struct jl_recommended *a)
{
	if (a->found->pick >= 0) {
		headline(doc, a);
		jl_doc_gap(doc);
	} else {
		jl_doc_lead(doc);
		jl_show_sourced(doc, JL_ESTIMATED, JL_("No option meets your limits (%s candidates checked)."),
				jl_grouped(JL_TXT, (double)a->found->n));
		if (a->found->nearest >= 0)
			nearest(doc, a);
	}
	largest(doc, a);
	places(doc, a);
	if (a->found->pick >= 0) {
		tables(doc, a);
		jl_show_caveats(doc, a);
	} else {
		purpose_note(doc, a);
	}
	against(doc, a->found);
	assumptions(doc, a);
}
