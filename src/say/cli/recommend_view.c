/* jeoul recommend as a person reads it: the pick and why, the best of each way to have it, what nothing beats, what to beware of. */
#include "cli/recommend_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/view.h"
#include "cost/money.h"

static const double thin = 0.95; /* of the front, a row is shown that is at least 5 % faster than the one before */

static bool is_serve(const struct jl_recommend_page *page)
{
	return page->ask->task == JL_TASK_SERVE;
}

/* "1,950" in dollars, won in ten thousands (Korean) or thousands. */
static const char *amount(char out[JL_MONEY_TEXT_MAX], const struct jl_recommend_page *page, double usd)
{
	const double scale = isnan(page->krw_per_usd) ? 1 : page->krw_per_usd / (jl_lang_is("ko") ? 1e4 : 1e3);

	return jl_money_short(out, jl_money_from(fmin(usd * scale, 3e12), JL_USD));
}

static const char *currency(const struct jl_recommend_page *page)
{
	return isnan(page->krw_per_usd) ? "USD" : JL_("thousand KRW");
}

static const char *two_digits(char out[32], double value)
{
	const double size = value > 0 ? pow(10, floor(log10(value)) - 1) : 1;

	snprintf(out, 32, "%.*f", size < 0.1 ? 2 : size < 1 ? 1 : 0, round(value / size) * size);
	return out;
}

/* "3.4 h (2.5–4.6)": the ends in the unit of the middle. */
static const char *interval(char out[96], struct jl_estimate e)
{
	char mid[JL_UNITS_TEXT_MAX], lo[32], hi[32];
	double scale, middle;

	jl_units_text(mid, e.value, JL_K_TIME, 2);
	if (sscanf(mid, "%lf", &middle) != 1 || !(middle > 0) || strchr(mid, ',')) {
		snprintf(out, 96, "%s", mid);
		return out;
	}
	scale = middle / e.value;
	snprintf(out, 96, "%s (%s–%s)", mid, two_digits(lo, e.lo * scale), two_digits(hi, e.hi * scale));
	return out;
}

static const char *machine_name(const struct jl_cli *cli, struct jl_arena *arena, const struct jl_candidate *c)
{
	const struct jl_sys *s = &c->setup->sys;
	const char *bridges = s->join && s->join->topology && strcmp(s->join->topology, "bridge-pair") == 0
				      ? " + NVLink"
				      : "";

	(void)cli;
	if (s->n_per_node == 1 && s->n_nodes > 1)
		return jl_arena_printf(arena, "%d × %s", s->n_nodes, s->gpu->id);
	if (s->n_nodes == 1)
		return jl_arena_printf(arena, "%dx %s%s", s->n_per_node, s->gpu->id, bridges);
	return jl_arena_printf(arena, "%d × %dx %s%s", s->n_nodes, s->n_per_node, s->gpu->id, bridges);
}

static const char *seller(struct jl_arena *arena, const struct jl_candidate *c)
{
	if (!c->price)
		return c->setup->sys.system ? c->setup->sys.system->id : JL_("list price");
	if (c->how == JL_HOW_RENT || c->how == JL_HOW_SPOT)
		return jl_arena_printf(arena, "%s %s", c->price->provider ? c->price->provider : "?",
				       c->price->region ? c->price->region : "");
	return c->price->provider ? c->price->provider : "?";
}

static void put_row(struct jl_table *table, struct jl_cli *cli, const struct jl_recommend_page *page,
		    const struct jl_candidate *c, bool mark)
{
	char money[JL_MONEY_TEXT_MAX], time[96];
	const char *name = machine_name(cli, &cli->arena, c);

	jl_table_printf(table, "%s%s", mark ? "▸" : " ", jl_how_name(c->how));
	jl_table_cell(table, name ? name : "?");
	jl_table_cell(table, seller(&cli->arena, c));
	jl_table_cell(table, interval(time, c->setup->run_s));
	jl_table_cell(table, amount(money, page, c->cost_usd.value));
	jl_table_end_row(table);
}

static enum jl_status rows(struct jl_cli *cli, const struct jl_recommend_page *page, const char *title,
			   const int *indices, size_t n, struct jl_err *err)
{
	const struct jl_table_column columns[] = {
		{ .head = JL_(" how") },
		{ .head = JL_("machines"), .flexible = true, .min_width = 18 },
		{ .head = JL_("from"), .flexible = true, .min_width = 10 },
		{ .head = is_serve(page) ? JL_("a token") : JL_("a run"), .align = JL_RIGHT },
		{ .head = currency(page), .align = JL_RIGHT },
	};
	struct jl_table table;

	jl_table_init(&table, &cli->arena, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < n; i++)
		put_row(&table, cli, page, &page->result->items[indices[i]], indices[i] == page->result->pick);
	jl_buf_printf(&cli->out, "\n  %s\n", title);
	return jl_view_table(cli, &table, 2, err);
}

static enum jl_status best_table(struct jl_cli *cli, const struct jl_recommend_page *page, struct jl_err *err)
{
	int indices[JL_N_HOW];
	size_t n = 0;

	for (int h = 0; h < JL_N_HOW; h++)
		if (page->result->best[h] >= 0)
			indices[n++] = page->result->best[h];
	return n > 1 ? rows(cli, page, JL_("The best of each way to have it"), indices, n, err) : JL_OK;
}

/* From cheap to fast; small steps are left out so that the ends fit. */
static enum jl_status front_table(struct jl_cli *cli, const struct jl_recommend_page *page, struct jl_err *err)
{
	const struct jl_recommendation *r = page->result;
	int *indices = jl_arena_array(&cli->arena, (size_t)page->limit + 1, sizeof(*indices));
	double step = thin, last_s;
	size_t n, n_front = 0;

	if (!indices)
		return jl_fail_nomem(err);
	for (size_t i = 0; i < r->n_ok; i++)
		n_front += r->items[i].on_front;
	do { /* coarser until it fits */
		n = 0;
		last_s = INFINITY;
		for (size_t i = 0; i < r->n_ok && n <= (size_t)page->limit; i++) {
			const struct jl_candidate *c = &r->items[i];

			if (!c->on_front ||
			    !(c->setup->run_s.value <= step * last_s || (int)i == r->pick || (int)i == r->fastest))
				continue;
			indices[n++] = (int)i;
			last_s = c->setup->run_s.value;
		}
		step *= 0.85;
	} while (n > (size_t)page->limit && step > 1e-9);
	if (n > (size_t)page->limit)
		n = (size_t)page->limit;
	return rows(cli, page,
		    jl_arena_printf(&cli->arena,
				    JL_("Nothing is both faster and cheaper than these (%zu of %zu shown)"), n,
				    n_front),
		    indices, n, err);
}

static void technique(struct jl_buf *out, const struct jl_recommend_page *page, const struct jl_setup *s)
{
	if (is_serve(page)) {
		jl_buf_printf(out, JL_("%g-bit weights"), s->weight_bits);
		if (s->tp > 1)
			jl_buf_printf(out, ", tp %g", s->tp);
		return;
	}
	jl_buf_printf(out, "dp %g", s->dp);
	if (s->tp > 1)
		jl_buf_printf(out, ", tp %g", s->tp);
	if (s->pp > 1)
		jl_buf_printf(out, ", pp %g", s->pp);
	if (s->zero)
		jl_buf_printf(out, ", ZeRO-%d", s->zero);
	if (s->recompute != JL_RECOMPUTE_NONE)
		jl_buf_puts(out,
			    s->recompute == JL_RECOMPUTE_FULL ? JL_(", full recompute") : JL_(", selective recompute"));
	if (s->offload)
		jl_buf_puts(out, JL_(", offload to the host"));
	jl_buf_printf(out, JL_(", micro-batch %g"), s->micro_batch);
}

/* "1,950 USD (1,800–2,100)"; a price that does not depend on the time has no interval. */
static const char *cost_text(struct jl_cli *cli, const struct jl_recommend_page *page, struct jl_estimate usd)
{
	char mid[JL_MONEY_TEXT_MAX], lo[JL_MONEY_TEXT_MAX], hi[JL_MONEY_TEXT_MAX];
	const char *text;

	amount(mid, page, usd.value);
	amount(lo, page, usd.lo);
	amount(hi, page, usd.hi);
	if (strcmp(lo, hi) == 0)
		text = jl_arena_printf(&cli->arena, "%s %s", mid, currency(page));
	else
		text = jl_arena_printf(&cli->arena, "%s %s (%s–%s)", mid, currency(page), lo, hi);
	return text ? text : "?";
}

static void headline(struct jl_cli *cli, const struct jl_recommend_page *page)
{
	const struct jl_recommendation *r = page->result;
	const struct jl_candidate *c = &r->items[r->pick];
	const bool rented = c->how == JL_HOW_RENT || c->how == JL_HOW_SPOT;
	char count[JL_MONEY_TEXT_MAX], price[JL_MONEY_TEXT_MAX], time[96], power[JL_UNITS_TEXT_MAX];
	struct jl_said said;
	struct jl_buf how;

	jl_buf_printf(&cli->out, "%s%s: %s%s%s%s\n", jl_view_bold(cli), jl_how_name(c->how),
		      machine_name(cli, &cli->arena, c), rented ? " @ " : "", rented ? seller(&cli->arena, c) : "",
		      jl_view_reset(cli));
	interval(time, c->setup->run_s);
	if (is_serve(page))
		jl_buf_printf(&cli->out, JL_("  %s a token, %s for %.3g month{/s}\n"), time,
			      cost_text(cli, page, c->cost_usd), page->ask->months);
	else
		jl_buf_printf(&cli->out, JL_("  %s a run; %s for %.4g run{/s} in %.3g month{/s}\n"), time,
			      cost_text(cli, page, c->cost_usd), r->runs, page->ask->months);
	jl_buf_printf(
		&cli->out, isnan(page->krw_per_usd) ? JL_("  %s KRW in all\n") : JL_("  %s USD in all\n"),
		jl_money_short(price,
			       jl_money_from(fmin(c->cost_usd.value * (isnan(page->krw_per_usd) ? page->fx : 1), 3e12),
					     JL_USD)));
	if (!rented && !isnan(page->ask->util_frac))
		jl_buf_printf(&cli->out, JL_("  its share of a purchase of %s %s (--util)\n"),
			      amount(price, page, c->unit_usd * c->setup->sys.n_nodes), currency(page));
	jl_recommend_why(&said, r, JL_PLACE_PICK);
	jl_view_wrapped(
		cli, 2, JL_("Why"),
		jl_arena_printf(&cli->arena, JL_("%s (of %s candidates)"), said.text, jl_grouped(count, (double)r->n)));
	jl_buf_init(&how, 512);
	technique(&how, page, c->setup);
	jl_buf_printf(&cli->out, "  %s · %s\n", jl_buf_text(&how),
		      isnan(c->setup->power_W) ? "? W" : jl_units_text(power, c->setup->power_W, JL_K_POWER, 2));
	jl_buf_release(&how);
}

/* A candidate in one line: what, for how much, how long, and the one reason. */
static void place_line(struct jl_cli *cli, const struct jl_recommend_page *page, const char *label,
		       const struct jl_candidate *c, const char *reason)
{
	char money[JL_MONEY_TEXT_MAX], time[96];

	if (isnan(c->cost_usd.value))
		jl_view_wrapped(cli, 2, label,
				jl_arena_printf(&cli->arena, "%s %s: %s", jl_how_name(c->how),
						machine_name(cli, &cli->arena, c), reason));
	else
		jl_view_wrapped(cli, 2, label,
				jl_arena_printf(&cli->arena, "%s %s, %s, %s %s: %s", jl_how_name(c->how),
						machine_name(cli, &cli->arena, c), interval(time, c->setup->run_s),
						amount(money, page, c->cost_usd.value), currency(page), reason));
}

static void places(struct jl_cli *cli, const struct jl_recommend_page *page)
{
	const struct jl_recommendation *r = page->result;
	const struct {
		const char *label;
		int at;
		enum jl_place place;
	} rows[] = { { JL_("Runner-up"), r->runner_up, JL_PLACE_RUNNER_UP },
		     { JL_("Cheapest"), r->cheapest, JL_PLACE_CHEAPEST },
		     { JL_("Fastest"), r->fastest, JL_PLACE_FASTEST } };
	struct jl_said said;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (rows[i].at < 0 || rows[i].at == r->pick)
			continue;
		jl_recommend_why(&said, r, rows[i].place);
		place_line(cli, page, rows[i].label, &r->items[rows[i].at], said.text);
	}
	for (size_t i = 0; i < r->n_rejected; i++) {
		jl_recommend_against(&said, r, &r->items[r->rejected[i]], page->ask);
		place_line(cli, page, JL_("Rejected"), &r->items[r->rejected[i]], said.text);
	}
}

static enum jl_status why_not(struct jl_cli *cli, const struct jl_recommend_page *page, const char *system,
			      struct jl_err *err)
{
	const struct jl_recommendation *r = page->result;
	struct jl_said said;
	struct jl_sys sys;
	int at;

	JL_TRY(jl_sys_parse(&sys, cli->cat, system, &cli->arena, err));
	at = jl_recommend_find(r, &sys);
	if (at < 0)
		return jl_fail(
			err, JL_E_NOTFOUND,
			"--why-not %s: the catalog has no price of it in this number; 'jeoul catalog prices --gpu "
			"%s' has what there is",
			sys.text, sys.gpu ? sys.gpu->id : system);
	jl_recommend_against(&said, r, &r->items[at], page->ask);
	place_line(cli, page, JL_("Why not"), &r->items[at], said.text);
	return JL_OK;
}

/* What was weighed and not taken, so that nobody has to guess. */
static void against(struct jl_cli *cli, const struct jl_recommend_page *page)
{
	char count[JL_MONEY_TEXT_MAX];
	struct jl_buf text;
	bool any = false;

	jl_buf_init(&text, 2048);
	for (int a = 1; a < JL_N_AGAINST; a++)
		if (page->result->n_against[a]) {
			jl_buf_printf(&text, "%s%s %s", any ? "; " : "", jl_against_name((enum jl_against)a),
				      jl_grouped(count, (double)page->result->n_against[a]));
			any = true;
		}
	if (any)
		jl_view_wrapped(cli, 2, JL_("Not taken"), jl_buf_text(&text));
	jl_buf_release(&text);
}

static void assumptions(struct jl_cli *cli, const struct jl_recommend_page *page)
{
	const struct jl_recommend_ask *ask = page->ask;
	struct jl_buf text;

	jl_buf_init(&text, 4096);
	if (page->purpose)
		jl_buf_printf(&text, "%s; ", jl_msg(page->purpose->en));
	if (ask->seen)
		jl_buf_printf(&text, JL_("the observed run on %s; "), ask->seen_on->sys.text);
	else
		jl_buf_printf(&text, "%s%s; ", ask->run.model ? ask->run.model : JL_("the model"),
			      ask->task == JL_TASK_LORA ? " LoRA" : "");
	if (is_serve(page))
		jl_buf_printf(&text, JL_("%g user{/s} of %g tokens, %g tokens/s in all; "), ask->users, ask->context,
			      ask->tokens_per_s);
	else if (!ask->seen && isnan(ask->run.global_batch))
		jl_buf_printf(&text, JL_("each at the batch that predict takes (--global-batch); "));
	else if (!ask->seen)
		jl_buf_printf(&text, JL_("global batch %g (--global-batch); "), ask->run.global_batch);
	if (!is_serve(page) && !ask->seen && page->result->pick >= 0)
		jl_buf_printf(&text, "%s%s; ", jl_dtype_name(page->result->items[page->result->pick].setup->dtype),
			      ask->run.dtype == JL_UNSET ? " (--precision)" : "");
	jl_buf_printf(&text, isnan(ask->util_frac) ? JL_("bought machines are paid in full, no resale; ")
						   : JL_("bought machines are paid by their share of use; "));
	jl_buf_printf(&text, "%.3g USD/kWh%s; 1 USD = %.6g KRW (%s)", ask->usd_per_kWh,
		      page->assumed_kwh ? " (--kwh)" : "", page->fx, page->fx_date);
	jl_view_wrapped(cli, 2, JL_("Assumed"), jl_buf_text(&text));
	jl_buf_release(&text);
}

static void caveats(struct jl_cli *cli, const struct jl_recommend_page *page)
{
	struct jl_caveat list[JL_CAVEATS_MAX];
	const size_t n = jl_recommend_caveats(list, &page->result->items[page->result->pick], page->ask);

	for (size_t i = 0; i < n; i++)
		jl_view_wrapped(cli, 2, JL_("Beware"), list[i].text);
	if (page->purpose && page->purpose->caveat)
		jl_view_wrapped(cli, 2, JL_("Note"), jl_msg(page->purpose->caveat));
}

/* Where nothing will do: what would, and which limit it takes to move. */
static void nearest(struct jl_cli *cli, const struct jl_recommend_page *page)
{
	const struct jl_recommendation *r = page->result;
	const struct jl_candidate *c = r->nearest >= 0 ? &r->items[r->nearest] : NULL;
	char time[96], money[JL_MONEY_TEXT_MAX], power[JL_UNITS_TEXT_MAX];
	const char *what = NULL;

	if (!c)
		return;
	const bool bought = c->how == JL_HOW_NEW || c->how == JL_HOW_USED;
	const double usd = bought ? fmax(c->cost_usd.value, c->unit_usd * c->setup->sys.n_nodes) : c->cost_usd.value;
	const char *name = jl_arena_printf(&cli->arena, "%s, %s", jl_how_name(c->how),
					   machine_name(cli, &cli->arena, c));

	if (c->against == JL_AGAINST_INTERVAL) {
		struct jl_said said;

		jl_recommend_against(&said, r, c, page->ask);
		what = jl_arena_printf(&cli->arena, "%s: %s", name, said.text);
	} else if (c->against == JL_AGAINST_BUDGET)
		what = jl_arena_printf(&cli->arena,
				       JL_("the cheapest that is fast enough (%s) costs %s %s: raise --budget"), name,
				       amount(money, page, usd), currency(page));
	else if (c->against == JL_AGAINST_POWER)
		what = jl_arena_printf(&cli->arena, JL_("the least power (%s) is %s: raise --power-limit"), name,
				       jl_units_text(power, c->setup->peak_W, JL_K_POWER, 3));
	else if (c->against == JL_AGAINST_USE && is_serve(page))
		what = jl_arena_printf(&cli->arena, JL_("the fastest (%s) makes %s tokens/s: lower --tokens-per-s"),
				       name, jl_grouped(money, c->setup->per_s.value));
	else if (c->against == JL_AGAINST_USE)
		what = jl_arena_printf(&cli->arena, JL_("the fastest (%s) takes %s a run: lower --runs-per-month"),
				       name, interval(time, c->setup->run_s));
	else
		what = jl_arena_printf(&cli->arena,
				       is_serve(page) ? JL_("the fastest (%s) takes %s a token: raise --deadline")
						      : JL_("the fastest (%s) takes %s a run: raise --deadline"),
				       name, interval(time, c->setup->run_s));
	jl_view_wrapped(cli, 2, JL_("Nearest"), what);
}

enum jl_status jl_view_recommend(struct jl_cli *cli, const struct jl_recommend_page *page, struct jl_err *err)
{
	char count[JL_MONEY_TEXT_MAX];
	enum jl_status status;

	if (page->result->pick < 0) {
		jl_buf_printf(&cli->out, JL_("None of %s candidates will do.\n"),
			      jl_grouped(count, (double)page->result->n));
		nearest(cli, page);
		places(cli, page);
		if (page->why_not && (status = why_not(cli, page, page->why_not, err)))
			return status;
		against(cli, page);
		assumptions(cli, page);
		cli->exit_code = 3;
		return JL_OK;
	}
	headline(cli, page);
	jl_buf_puts(&cli->out, "\n");
	places(cli, page);
	if (page->why_not && (status = why_not(cli, page, page->why_not, err)))
		return status;
	if ((status = best_table(cli, page, err)) || (status = front_table(cli, page, err)))
		return status;
	jl_buf_puts(&cli->out, "\n");
	caveats(cli, page);
	against(cli, page);
	assumptions(cli, page);
	return JL_OK;
}
