/* Kinds and numbers of GPUs: the front of time and money, as a table, a chart and JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "cli/plan_view.h"

#define CHART_ROWS    11
#define CHART_COLUMNS 62

struct scale {
	double lo, hi; /* ln */
};

static void widen(struct scale *s, double value)
{
	if (!(value > 0))
		return;
	s->lo = fmin(s->lo, log(value));
	s->hi = fmax(s->hi, log(value));
}

/* 0 .. n-1 */
static int place(const struct scale *s, double value, int n)
{
	const double span = s->hi - s->lo;
	const int at = span > 0 ? (int)((log(value) - s->lo) / span * (n - 1) + 0.5) : 0;

	return at < 0 ? 0 : at >= n ? n - 1 : at;
}

static size_t kind_of(const struct jl_fleet_ask *ask, const struct jl_fleet_point *p)
{
	for (size_t i = 0; i < ask->n_kinds; i++)
		if (ask->kinds[i] == p->kind)
			return i;
	return 0;
}

static void plot(char grid[CHART_ROWS][CHART_COLUMNS + 1], const struct jl_fleet_ask *ask, const struct jl_fleet *fleet,
		 const struct scale *x, const struct scale *y)
{
	for (int r = 0; r < CHART_ROWS; r++) {
		memset(grid[r], ' ', CHART_COLUMNS);
		grid[r][CHART_COLUMNS] = '\0';
	}
	for (int front = 0; front < 2; front++) /* points of the front are drawn last, and large */
		for (size_t i = 0; i < fleet->n; i++) {
			const struct jl_fleet_point *p = &fleet->points[i];
			const double usd = jl_fleet_cost_usd(p);

			if (p->fits && usd > 0 && p->on_front == front)
				grid[CHART_ROWS - 1 - place(y, usd, CHART_ROWS)]
				    [place(x, jl_fleet_time_s(p), CHART_COLUMNS)] = (char)((front ? 'A' : 'a') +
											   (int)kind_of(ask, p));
		}
}

static double money_unit(double usd)
{
	return usd >= 1e6 ? 1e6 : usd >= 1e4 ? 1e3 : 1;
}

static const char *money_name(double unit)
{
	return unit >= 1e6 ? "MUSD" : unit >= 1e3 ? "kUSD" : "USD";
}

/* "8.4 MUSD", for the axis. */
static void dollars(char out[JL_UNITS_TEXT_MAX], double usd)
{
	char about[JL_UNITS_TEXT_MAX];
	const double unit = money_unit(usd);

	snprintf(out, JL_UNITS_TEXT_MAX, "%.20s %s", jl_about_text(about, usd / unit), money_name(unit));
}

static void chart(struct jl_cli *cli, const struct jl_fleet_ask *ask, const struct jl_fleet *fleet)
{
	static char grid[CHART_ROWS][CHART_COLUMNS + 1];
	struct scale x = { INFINITY, -INFINITY }, y = { INFINITY, -INFINITY };
	char top[JL_UNITS_TEXT_MAX], low[JL_UNITS_TEXT_MAX], left[JL_UNITS_TEXT_MAX], right[JL_UNITS_TEXT_MAX];

	for (size_t i = 0; i < fleet->n; i++)
		if (fleet->points[i].fits && jl_fleet_cost_usd(&fleet->points[i]) > 0) {
			widen(&x, jl_fleet_time_s(&fleet->points[i]));
			widen(&y, jl_fleet_cost_usd(&fleet->points[i]));
		}
	if (!(x.hi > x.lo || y.hi > y.lo)) /* one point says nothing that the table does not */
		return;
	plot(grid, ask, fleet, &x, &y);
	dollars(top, exp(y.hi));
	dollars(low, exp(y.lo));
	jl_units_text(left, exp(x.lo), JL_K_TIME, 2);
	jl_units_text(right, exp(x.hi), JL_K_TIME, 2);
	for (int r = 0; r < CHART_ROWS; r++) {
		int end = CHART_COLUMNS;

		while (end > 0 && grid[r][end - 1] == ' ')
			end--;
		jl_buf_printf(&cli->out, "  %11s │%.*s\n", r == 0 ? top : r == CHART_ROWS - 1 ? low : "", end, grid[r]);
	}
	jl_buf_printf(&cli->out, "  %11s └", "");
	for (int i = 0; i < CHART_COLUMNS; i++)
		jl_buf_puts(&cli->out, "─");
	jl_buf_printf(&cli->out, "\n  %11s  %s%*s\n", "", left, (int)(CHART_COLUMNS - strlen(left)), right);
	jl_buf_printf(&cli->out, "  %11s  ", "");
	for (size_t i = 0; i < ask->n_kinds; i++)
		jl_buf_printf(&cli->out, "%s%c %s", i ? "   " : "", 'A' + (int)i, ask->kinds[i]);
	jl_buf_printf(&cli->out, "\n  %11s  %s\n\n", "", JL_("capitals: nothing is both faster and cheaper"));
}

/* "250 kUSD (220–290)": the unit once, and no more digits than are known. */
static const char *money(char out[JL_RANGE_TEXT_MAX], const struct jl_estimate *e)
{
	const double unit = money_unit(e->value);
	char value[JL_UNITS_TEXT_MAX], lo[JL_UNITS_TEXT_MAX], hi[JL_UNITS_TEXT_MAX];

	if (isnan(e->value))
		snprintf(out, JL_RANGE_TEXT_MAX, "?");
	else
		snprintf(out, JL_RANGE_TEXT_MAX, "%s %s (%s–%s)", jl_about_text(value, e->value / unit),
			 money_name(unit), jl_about_text(lo, e->lo / unit), jl_about_text(hi, e->hi / unit));
	return out;
}

static enum jl_status front_table(struct jl_cli *cli, const struct jl_fleet_ask *ask, const struct jl_fleet *fleet,
				  struct jl_err *err)
{
	const bool limits = !isnan(ask->deadline_s) || !isnan(ask->budget_usd);
	const struct jl_table_column columns[] = {
		{ .head = JL_("GPUs"), .align = JL_RIGHT },
		{ .head = JL_("kind"), .flexible = true, .min_width = 9 },
		{ .head = fleet->whole_run ? JL_("time") : JL_("step") },
		{ .head = JL_("cost") },
		{ .head = JL_("plan") },
		{ .head = limits ? JL_("limits") : "" },
	};
	struct jl_table table;
	char a[JL_RANGE_TEXT_MAX], b[JL_RANGE_TEXT_MAX];

	jl_table_init(&table, &cli->arena, columns, limits ? 6 : 5);
	for (size_t i = 0; i < fleet->n; i++) {
		const struct jl_fleet_point *p = &fleet->points[i];
		const struct jl_plan *plan = &p->how.plan;

		if (!p->fits || !(p->on_front || (int)i == fleet->fastest))
			continue;
		jl_table_printf(&table, "%d", p->n_gpus);
		jl_table_cell(&table, p->kind);
		jl_table_cell(&table,
			      jl_estimate_text(a, fleet->whole_run ? &p->prediction.run_s : &p->prediction.step_s,
					       JL_K_TIME));
		jl_table_cell(&table, money(b, &p->prediction.cost_usd));
		jl_table_printf(&table, "tp%.0f pp%.0f z%d", plan->tp, plan->pp, plan->zero);
		if (limits)
			jl_table_cell(&table, p->in_time && p->in_budget ? JL_C("limits kept", "ok")
					      : p->in_budget             ? JL_("late")
					      : p->in_time               ? JL_("dear")
									 : JL_("both"));
		jl_table_end_row(&table);
	}
	return jl_view_table(cli, &table, 2, err);
}

static void answer_line(struct jl_cli *cli, const struct jl_fleet *fleet, int i, const char *en)
{
	const struct jl_fleet_point *p = &fleet->points[i];
	char a[JL_RANGE_TEXT_MAX], b[JL_RANGE_TEXT_MAX];

	jl_view_entry(cli, en, "%d x %s: %s, %s", p->n_gpus, p->kind,
		      jl_estimate_text(a, fleet->whole_run ? &p->prediction.run_s : &p->prediction.step_s, JL_K_TIME),
		      money(b, &p->prediction.cost_usd));
	jl_view_plan_case(cli, &p->how);
}

static bool any_possible(const struct jl_fleet *fleet)
{
	for (size_t i = 0; i < fleet->n; i++)
		if (fleet->points[i].possible)
			return true;
	return false;
}

/* Numbers that a kind does not come in, and the next ones that it does. */
static void left_out(struct jl_cli *cli, const struct jl_fleet *fleet)
{
	const size_t most = 4;
	size_t n = 0;

	for (size_t i = 0; i < fleet->n && n < most; i++) {
		const struct jl_fleet_point *p = &fleet->points[i];
		const char *const label = n ? NULL : JL_N("Left out");

		if (p->possible || p->below + p->above == 0)
			continue;
		if (p->below && p->above)
			jl_view_entry(cli, label, JL_("%d x %s: whole hosts only; take %d or %d"), p->n_gpus, p->kind,
				      p->below, p->above);
		else
			jl_view_entry(cli, label, JL_("%d x %s: take %d"), p->n_gpus, p->kind, p->below + p->above);
		n++;
	}
}

static void answer(struct jl_cli *cli, const struct jl_fleet_ask *ask, const struct jl_fleet *fleet)
{
	const struct jl_fleet_point *near = NULL;
	size_t n_fit = 0;

	for (size_t i = 0; i < fleet->n; i++) {
		const struct jl_fleet_point *p = &fleet->points[i];

		n_fit += p->fits;
		if (p->possible && !p->fits && p->miss_B < INFINITY && (!near || p->miss_B < near->miss_B))
			near = p;
	}
	if (fleet->cheapest >= 0)
		answer_line(cli, fleet, fleet->cheapest, JL_N("Cheapest"));
	if (fleet->fastest >= 0 && fleet->fastest != fleet->cheapest)
		answer_line(cli, fleet, fleet->fastest, JL_N("Fastest"));
	if (fleet->cheapest < 0 && fleet->fastest < 0 && n_fit)
		jl_view_entry(cli, "None", "%s",
			      JL_("of them keeps the deadline and the budget; the front shows what is possible"));
	else if (!n_fit && near)
		jl_view_entry(cli, "None", JL_("fits. The nearest, %d x %s, lacks %.1f GiB a GPU"), near->n_gpus,
			      near->kind, near->miss_B / 1073741824.0);
	else if (!n_fit && !any_possible(fleet))
		jl_view_entry(cli, "None", "%s", JL_("comes in these numbers"));
	else if (!n_fit)
		jl_view_entry(cli, "None", JL_("divides: global batch %.0f; change --global-batch or --fix"),
			      ask->req->global_batch);
	left_out(cli, fleet);
}

/* Where each kind's rent comes from. */
static void rents(struct jl_cli *cli, const struct jl_fleet_ask *ask, const struct jl_fleet *fleet)
{
	bool first = true;
	char date[JL_DATED_MAX];

	for (size_t k = 0; k < (ask->n_kinds ? ask->n_kinds : 1); k++)
		for (size_t i = 0; i < fleet->n; i++) {
			const struct jl_fleet_point *p = &fleet->points[i];
			const struct jl_rent *r = &p->prediction.rent;

			if (!p->fits || kind_of(ask, p) != k)
				continue;
			if (isnan(r->usdps))
				jl_view_entry(cli, first ? JL_N("Rent") : NULL, JL_("%s: no price known"), p->kind);
			else
				jl_view_entry(cli, first ? JL_N("Rent") : NULL, JL_("%s: %.2f USD/h a GPU (%s, %s)"),
					      p->kind, r->usdps * 3600, r->provider,
					      jl_dated_text(date, r->date, cli->today));
			first = false;
			break;
		}
}

enum jl_status jl_view_fleet(struct jl_cli *cli, const struct jl_fleet_ask *ask, const struct jl_fleet *fleet,
			     struct jl_err *err)
{
	enum jl_status status;
	bool any = false;

	for (size_t i = 0; i < fleet->n; i++)
		any |= fleet->points[i].fits;
	jl_buf_printf(&cli->out, JL_("%s · global batch %.0f\n\n"), ask->subject->name, ask->req->global_batch);
	answer(cli, ask, fleet);
	jl_buf_putc(&cli->out, '\n');
	if (any) {
		status = front_table(cli, ask, fleet, err);
		if (status)
			return status;
		jl_buf_putc(&cli->out, '\n');
		chart(cli, ask, fleet);
		rents(cli, ask, fleet);
	}
	if (jl_plan_n_configurations(&fleet->tally))
		jl_view_searched(cli, &fleet->tally, fleet->search_s, fleet->stopped);
	jl_buf_printf(&cli->out, "  %s%s%s\n", jl_view_dim(cli),
		      JL_("⚠ estimated; 80 % intervals. Rents are list prices of their date."), jl_view_reset(cli));
	return JL_OK;
}

static void point_json(struct jl_json *json, const struct jl_fleet_point *p)
{
	jl_json_object(json);
	jl_json_put_string(json, "kind", p->kind);
	jl_json_put_integer(json, "n_gpus", p->n_gpus);
	jl_json_put_bool(json, "possible", p->possible);
	jl_json_put_bool(json, "fits", p->fits);
	if (p->possible && !p->fits)
		jl_json_put_number(json, "lacks_B", p->miss_B);
	if (!p->possible && p->below)
		jl_json_put_integer(json, "next_below", p->below);
	if (!p->possible && p->above)
		jl_json_put_integer(json, "next_above", p->above);
	if (p->fits) {
		jl_json_put_bool(json, "in_time", p->in_time);
		jl_json_put_bool(json, "in_budget", p->in_budget);
		jl_json_put_bool(json, "on_front", p->on_front);
		jl_json_put_number(json, "time_s", jl_fleet_time_s(p));
		jl_json_put_object(json, "plan");
		jl_fields_put(json, &jl_case_fields, &p->how);
		jl_fields_put(json, &jl_prediction_fields, &p->prediction);
		jl_json_end_object(json);
	}
	jl_json_end_object(json);
}

void jl_view_fleet_json(struct jl_json *json, const struct jl_fleet_ask *ask, const struct jl_fleet *fleet)
{
	jl_json_put_string(json, "model", ask->subject->id);
	jl_json_put_number(json, "global_batch", ask->req->global_batch);
	jl_json_put_string(json, "objective", jl_plan_objectives[ask->plan.objective]);
	jl_json_put_string(json, "scope", fleet->whole_run ? "run" : "step");
	jl_json_put_number(json, "deadline_s", ask->deadline_s);
	jl_json_put_number(json, "budget_usd", ask->budget_usd);
	jl_view_searched_json(json, &fleet->tally, fleet->search_s, fleet->stopped);
	jl_json_put_array(json, "points");
	for (size_t i = 0; i < fleet->n; i++)
		point_json(json, &fleet->points[i]);
	jl_json_end_array(json);
	if (fleet->cheapest >= 0)
		jl_json_put_integer(json, "cheapest", fleet->cheapest);
	if (fleet->fastest >= 0)
		jl_json_put_integer(json, "fastest", fleet->fastest);
}
