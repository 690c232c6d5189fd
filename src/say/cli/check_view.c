#include "cli/check_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "cli/view.h"
#include "cli/store_view.h"
#include "cli/view.h"

#define ROWS_SHOWN 40
#define BAND       52 /* columns of the chart */

/* What is shown of it: the figure that was judged, or for collectives that mostly start and wait, their time. */
struct shown {
	const char *metric;
	double value;
	struct jl_expect expect;
	bool is_time;
};

static struct shown shown_of(const struct jl_judged *j)
{
	const double size_B = j->coll.c.size_B;

	if (!j->is_coll || !j->coll.by_time || j->before || j->verdict == JL_VERDICT_IMPOSSIBLE)
		return (struct shown){ .metric = j->metric, .value = j->figure.value, .expect = j->expect };
	return (struct shown){ .metric = "time_s",
			       .value = size_B / j->figure.value,
			       .expect = { .lo = size_B / j->expect.hi,
					   .value = size_B / j->expect.value,
					   .hi = size_B / j->expect.lo,
					   .bound = NAN },
			       .is_time = true };
}

/* "112–202 GB/s", in the unit of the upper end. */
static const char *range_text(char out[JL_STORE_VIEW_TEXT_MAX], const struct shown *s)
{
	char lo[JL_STORE_VIEW_TEXT_MAX], hi[JL_STORE_VIEW_TEXT_MAX];
	const char *unit;

	out[0] = '\0';
	if (isnan(s->expect.lo) || isnan(s->expect.hi))
		return out;
	(void)jl_store_view_value(hi, s->metric, s->expect.hi);
	(void)jl_store_view_value(lo, s->metric, s->expect.lo);
	unit = strchr(hi, ' ');
	if (unit && strchr(lo, ' ') && strcmp(strchr(lo, ' '), unit) == 0)
		*strchr(lo, ' ') = '\0';
	(void)snprintf(out, JL_STORE_VIEW_TEXT_MAX, "%.60s–%.60s", lo, hi);
	return out;
}

/* ---- one in full */

static size_t column_of(double value, double top)
{
	const double at = value / top * (BAND - 1);

	return at < 0 ? 0 : at > BAND - 1 ? BAND - 1 : (size_t)(at + 0.5);
}

/* 0 ───────┤▒▒▒▒▒▒▒▒├────┃ with the figure below it. */
static void band(struct jl_cli *cli, const struct shown *s)
{
	const struct jl_expect *e = &s->expect;
	const bool bounded = !isnan(e->bound) && e->bound < 3 * fmax(e->hi, s->value);
	const double top = 1.02 * fmax(fmax(e->hi, s->value), bounded ? e->bound : 0);
	const size_t lo = column_of(e->lo, top), hi = column_of(e->hi, top), at = column_of(s->value, top);
	const size_t bound = bounded ? column_of(e->bound, top) : BAND;
	char text[JL_STORE_VIEW_TEXT_MAX], end[JL_STORE_VIEW_TEXT_MAX];
	const size_t indent = 12, width = jl_utf8_width(jl_store_view_value(text, s->metric, s->value));

	jl_buf_printf(&cli->out, "%*s0 ", (int)indent, "");
	for (size_t i = 0; i < BAND && i <= bound; i++)
		jl_buf_puts(&cli->out, i == bound ? "┃" : i == lo ? "┤" : i == hi ? "├" : i > lo && i < hi ? "▒" : "─");
	if (bounded)
		jl_buf_printf(&cli->out, " %s", jl_store_view_value(end, s->metric, e->bound));
	jl_buf_puts(&cli->out, "\n");
	if (at + 2 + width < BAND + 10)
		jl_buf_printf(&cli->out, "%*s▲ %s\n", (int)(indent + 2 + at), "", text);
	else
		jl_buf_printf(&cli->out, "%*s%s ▲\n", (int)(indent + 2 + at - 1 - width), "", text);
}

/* Against the middle of the range: rates are lower or higher, times longer or shorter. */
static void say_place(struct jl_cli *cli, const struct jl_judged *j, const struct shown *s)
{
	static const struct {
		const char *en;
	} words[2][2] = { { { JL_N("%s: expected %s, %.0f %% below the middle of it") },
			    { JL_N("%s: expected %s, %.0f %% above the middle of it") } },
			  { { JL_N("%s: expected %s, %.0f %% shorter than the middle of it") },
			    { JL_N("%s: expected %s, %.0f %% longer than the middle of it") } } };
	const double off = 100 * (s->value / s->expect.value - 1);
	const char *word = jl_verdict_word(j->verdict);
	char range[JL_STORE_VIEW_TEXT_MAX];

	(void)range_text(range, s);
	if (jl_verdict_at_edge(&j->figure, &j->expect))
		jl_view_entry(cli, "Verdict",
			      isnan(j->figure.lo95)
				      ? JL_("%s, at the edge: expected %s, and %.0f %% of doubt in the figure")
				      : JL_("%s, at the edge: expected %s, and its own interval reaches into it"),
			      word, range, 100 * JL_VERDICT_EDGE_FRAC);
	else if (fabs(off) < 0.5)
		jl_view_entry(cli, "Verdict", JL_("%s: expected %s, in the middle of it"), word, range);
	else
		jl_view_entry(cli, "Verdict", jl_msg(words[s->is_time][off > 0].en), word, range, fabs(off));
}

static void say_verdict(struct jl_cli *cli, const struct jl_judged *j, const struct shown *s)
{
	char text[JL_STORE_VIEW_TEXT_MAX], ratio[32];
	const char *word = jl_verdict_word(j->verdict);

	if (j->before) {
		(void)snprintf(ratio, sizeof(ratio), "%+.1f %%", 100 * (j->change.ratio - 1));
		jl_view_entry(cli, "Verdict", JL_("%s: %s against %s then"), word, ratio,
			      jl_store_view_value(text, j->metric, j->expect.value));
	} else if (j->verdict == JL_VERDICT_IMPOSSIBLE) {
		jl_view_entry(cli, "Verdict", JL_("%s: above the bound of %s"), word,
			      jl_store_view_value(text, j->metric, j->expect.bound));
	} else if (isnan(s->expect.lo) || isnan(s->expect.hi)) {
		jl_view_entry(cli, "Verdict", "%s%s", word,
			      j->verdict == JL_VERDICT_FIRST ? JL_("; kept as the first") : "");
	} else {
		say_place(cli, j, s);
	}
}

static void why_collective(struct jl_cli *cli, const struct jl_judged *j)
{
	const struct jl_collective_case *c = &j->coll.c;
	const bool reduce = c->kind == JL_ALLREDUCE && !c->in_network;

	if (j->verdict == JL_VERDICT_IMPOSSIBLE) {
		jl_view_entry(cli, "Why", "%s",
			      reduce && c->n_nodes > 1
				      ? JL_("every byte has to leave and to enter each host nearly twice; no "
					    "algorithm without "
					    "reduction in the network can beat this bound")
				      : JL_("no algorithm moves the bytes faster than the listed rate of the links"));
		return;
	}
	if (j->coll.by_time) {
		jl_view_entry(cli, "Why", JL_("so small that starting and waiting take most of it (%.0f steps, %s)"),
			      c->n_steps, jl_algorithm_name(c->algorithm));
		return;
	}
	jl_view_entry(cli, "Why",
		      c->limit == JL_LIMIT_NETWORK
			      ? JL_("%.0f %% of the bound; bound by the network between hosts (%.0f steps, %s)")
			      : JL_("%.0f %% of the bound; bound by the links inside the host (%.0f steps, %s)"),
		      100 * j->figure.value / c->bound_Bps, c->n_steps, jl_algorithm_name(c->algorithm));
}

/* Where the step's time went, as far as the record says. */
static void why_train(struct jl_cli *cli, const struct jl_judged *j)
{
	const double step_s = jl_figure_of(j->record, "step_s").value,
		     exposed = jl_figure_of(j->record, "exposed_s").value / step_s,
		     gemm = jl_figure_of(j->record, "gemm_frac").value;
	const bool alone = !(jl_record_number(j->record, "n_workers") > 1);

	if (!isnan(gemm) && (alone || isnan(exposed)))
		jl_view_entry(cli, "Why", JL_("%.0f %% of the rate that this machine's own matrix product reaches"),
			      100 * gemm);
	else if (!isnan(exposed) && !isnan(gemm))
		jl_view_entry(cli, "Why",
			      JL_("%.0f %% of a step waits for other workers; %.0f %% of the matrix product's rate"),
			      100 * exposed, 100 * gemm);
	else if (!isnan(exposed))
		jl_view_entry(cli, "Why", JL_("%.0f %% of a step waits for other workers"), 100 * exposed);
}

static void explain_bandwidths(struct jl_cli *cli, const struct jl_judged *j)
{
	static const char *const factors[JL_N_COLLECTIVE] = { [JL_ALLREDUCE] = "2(n-1)/n",
							      [JL_ALLGATHER] = "(n-1)/n",
							      [JL_REDUCESCATTER] = "(n-1)/n",
							      [JL_ALLTOALL] = "(n-1)/n" };
	const struct jl_collective_case *c = &j->coll.c;

	jl_view_entry(cli, "algbw", "%s", JL_("size / time: what a program waits for"));
	if (factors[c->kind])
		jl_view_entry(cli, "busbw",
			      JL_("algbw x %s = algbw x %.4g with n = %d: the rate that each link carries"),
			      factors[c->kind], c->busbw_factor, c->n_ranks);
	else
		jl_view_entry(cli, "busbw", "%s", JL_("the same as algbw for this collective"));
}

static void how_sure(struct jl_cli *cli, const struct jl_judged *j)
{
	const struct shown near = { .metric = "time_s",
				    .expect = { .lo = j->coll.near_lo_s, .hi = j->coll.near_hi_s } };
	char range[JL_STORE_VIEW_TEXT_MAX];

	switch (j->basis) {
	case JL_BASIS_MODEL:
		if (strcmp(j->record->kind, "net") == 0)
			jl_view_entry(
				cli, "By", "%s",
				JL_("⚠ what TCP reaches with several streams: one NIC's rate, a host's 40–200 Gb/s"));
		else if (!j->is_coll)
			jl_view_entry(cli, "By", "%s",
				      JL_("⚠ the model's interval, checked on published figures of single devices"));
		else if (j->coll.n_near && j->coll.by_time)
			jl_view_entry(cli, "By", JL_("⚠ the model's 95 %% interval · 📄 %zu published rows near it: %s"),
				      j->coll.n_near, range_text(range, &near));
		else if (j->coll.n_near)
			jl_view_entry(cli, "By",
				      JL_("⚠ the model's 95 %% interval · 📄 %zu published rows near it: %.0f–%.0f %% "
					  "of their bound"),
				      j->coll.n_near, 100 * j->coll.near_lo_frac, 100 * j->coll.near_hi_frac);
		else
			jl_view_entry(
				cli, "By", "%s",
				JL_("⚠ the model's 95 % interval · 📄 no published row near it (links, hosts, size)"));
		break;
	case JL_BASIS_HISTORY:
		jl_view_entry(cli, "By", JL_("✅ %zu earlier undisturbed results of this machine"), j->history.n);
		break;
	case JL_BASIS_OWN:
		jl_view_entry(cli, "By", "%s", JL_("✅ rates of this machine alone, measured in the same run"));
		break;
	case JL_BASIS_RUN:
		jl_view_entry(cli, "By",
			      isnan(j->change.p) ? JL_("a change counts from %.0f %% on; intervals %s")
						 : JL_("a change counts from %.0f %% on; intervals %s; p = %.2g"),
			      100 * j->change.least, j->change.apart ? JL_("apart") : JL_("touch"), j->change.p);
		break;
	case JL_BASIS_NONE: break;
	}
	if (j->is_coll && j->coll.c.n_nodes > 1 && j->sys->net_assumed)
		jl_view_entry(cli, "Assumed", JL_("network %d x %s: name yours with over in --on"), j->sys->n_net,
			      j->sys->net->id);
}

static void title(struct jl_cli *cli, const struct jl_judged *j)
{
	const struct shown s = shown_of(j);
	char what[JL_STORE_VIEW_TEXT_MAX], value[JL_STORE_VIEW_TEXT_MAX], busbw[JL_STORE_VIEW_TEXT_MAX];
	char time[JL_STORE_VIEW_TEXT_MAX];

	(void)jl_store_view_value(value, j->metric, j->figure.value);
	if (j->is_coll) {
		const struct jl_collective_case *c = &j->coll.c;

		(void)jl_store_view_value(busbw, "busbw_Bps", j->figure.value * c->busbw_factor);
		(void)jl_units_text(what, c->size_B, JL_K_BYTES, 4);
		jl_buf_printf(&cli->out, "%s%s %s%s · ", jl_view_bold(cli), jl_collective_name(c->kind), what,
			      jl_view_reset(cli));
		jl_buf_printf(&cli->out, JL_("%d host{/s} x %d · "), c->n_nodes, c->n_per_node);
		if (s.is_time)
			jl_buf_printf(&cli->out, "%s (algbw %s)\n", jl_store_view_value(time, s.metric, s.value),
				      value);
		else
			jl_buf_printf(&cli->out, "algbw %s (busbw %s)\n", value, busbw);
	} else {
		(void)jl_store_view_what(what, j->record);
		jl_buf_printf(&cli->out, "%s%s%s%s%s · %s%s%s\n", jl_view_bold(cli), j->record->kind, *what ? " " : "",
			      what, jl_view_reset(cli), value, j->sys ? " · " : "", j->sys ? j->sys->text : "");
	}
	jl_buf_puts(&cli->out, "\n");
}

static void in_full(struct jl_cli *cli, const struct jl_judged *j)
{
	const struct shown s = shown_of(j);
	char value[JL_STORE_VIEW_TEXT_MAX];

	say_verdict(cli, j, &s);
	if (!isnan(j->expect.lo) && !j->before)
		band(cli, &s);
	if (j->bound_en && !s.is_time)
		jl_view_entry(cli, "Bound", "%s: %s", jl_store_view_value(value, j->metric, j->expect.bound),
			      j->bound_text);
	if (strcmp(j->record->kind, "train") == 0)
		why_train(cli, j);
	if (j->is_coll)
		why_collective(cli, j);
	else if (j->bound_en && j->verdict != JL_VERDICT_IMPOSSIBLE)
		jl_view_entry(cli, "Why", JL_("%.0f %% of the bound"), 100 * j->figure.value / j->expect.bound);
	if (j->verdict == JL_VERDICT_NOISY)
		jl_view_entry(cli, "Noise", JL_("%s; measure again on a quiet machine"),
			      j->record->noise.why ? j->record->noise.why : JL_("the machine was busy"));
	for (size_t i = 0; i < j->next.n; i++)
		jl_view_entry(cli, i ? NULL : JL_N("Next"), "%zu  %s", i + 1, j->next.items[i].text);
	how_sure(cli, j);
	if (j->is_coll)
		explain_bandwidths(cli, j);
}

/* ---- many */

static enum jl_status many(struct jl_cli *cli, const struct jl_judged *judged, size_t n, struct jl_err *err)
{
	const struct jl_table_column columns[] = {
		{ .head = JL_("what"), .flexible = true, .min_width = 16 },
		{ .head = JL_("measured"), .align = JL_RIGHT },
		{ .head = jl_msg(judged[0].before ? JL_N("before") : JL_N("expected")), .align = JL_RIGHT },
		{ .head = JL_("verdict") },
	};
	struct jl_table table;

	jl_table_init(&table, &cli->arena, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < n && i < ROWS_SHOWN; i++) {
		const struct jl_judged *j = &judged[i];
		const struct shown s = shown_of(j);
		char text[JL_STORE_VIEW_TEXT_MAX];

		jl_table_printf(&table, "%s %s", j->record->kind, jl_store_view_what(text, j->record));
		jl_table_cell(&table, jl_store_view_value(text, s.metric, s.value));
		jl_table_cell(&table,
			      j->before ? jl_store_view_value(text, j->metric, j->expect.value) : range_text(text, &s));
		if (j->before && j->verdict != JL_VERDICT_NOISY)
			jl_table_printf(&table, "%s (%+.1f %%)", jl_verdict_word(j->verdict),
					100 * (j->change.ratio - 1));
		else if (!j->before && jl_verdict_at_edge(&j->figure, &j->expect))
			jl_table_printf(&table, JL_("%s (edge)"), jl_verdict_word(j->verdict));
		else
			jl_table_cell(&table, jl_verdict_word(j->verdict));
		jl_table_end_row(&table);
	}
	return jl_view_table(cli, &table, 2, err);
}

static void count(struct jl_cli *cli, const struct jl_judged *judged, size_t n)
{
	size_t counts[JL_VERDICT_IMPOSSIBLE + 1] = { 0 };
	bool first = true;

	for (size_t i = 0; i < n; i++)
		counts[judged[i].verdict]++;
	for (int v = JL_VERDICT_IMPOSSIBLE; v >= 0; v--)
		if (counts[v]) {
			jl_buf_printf(&cli->out, JL_("%s%zu %s"), first ? "" : " · ", counts[v],
				      jl_verdict_word((enum jl_verdict)v));
			first = false;
		}
	jl_buf_puts(&cli->out, "\n");
}

/* "measured 5 min to 3 d ago": a verdict on old figures must look like one. */
static void say_age(struct jl_cli *cli, const struct jl_judged *judged, size_t n)
{
	double least_s = INFINITY, most_s = 0;
	char from[JL_UNITS_TEXT_MAX], to[JL_UNITS_TEXT_MAX];

	for (size_t i = 0; i < n; i++) {
		if (isnan(judged[i].age_s))
			return;
		least_s = fmin(least_s, fmax(judged[i].age_s, 1));
		most_s = fmax(most_s, fmax(judged[i].age_s, 1));
	}
	jl_units_text(from, least_s, JL_K_TIME, 2);
	jl_units_text(to, most_s, JL_K_TIME, 2);
	if (strcmp(from, to) == 0)
		jl_view_entry(cli, "Measured", JL_("%s ago"), to);
	else
		jl_view_entry(cli, "Measured", JL_("%s to %s ago"), from, to);
}

/* ---- JSON */

static void one_json(struct jl_json *json, const struct jl_judged *j)
{
	const struct jl_language *reader;
	const char *suffix = strrchr(j->metric, '_');
	char what[JL_STORE_VIEW_TEXT_MAX];

	jl_json_object(json);
	jl_json_put_string(json, "id", *j->record->id ? j->record->id : NULL);
	jl_json_put_string(json, "kind", j->record->kind);
	reader = jl_lang_set(jl_languages[0]); /* as every text of the JSON */
	jl_json_put_string(json, "what", jl_store_view_what(what, j->record));
	jl_lang_set(reader);
	jl_json_put_string(json, "system", j->sys ? j->sys->text : NULL);
	jl_json_put_string(json, "verdict", jl_verdict_name(j->verdict));
	jl_json_put_string(json, "metric", j->metric);
	jl_json_put_string(json, "unit", suffix ? suffix + 1 : "");
	jl_json_put_number(json, "value", j->figure.value);
	jl_json_put_number(json, "value_lo95", j->figure.lo95);
	jl_json_put_number(json, "value_hi95", j->figure.hi95);
	jl_json_put_bool(json, "noisy", j->figure.noisy);
	jl_json_put_number(json, "age_s", j->age_s);
	jl_json_put_string(json, "basis", jl_check_basis_name(j->basis));
	jl_json_put_number(json, "expected_lo", j->expect.lo);
	jl_json_put_number(json, "expected", j->expect.value);
	jl_json_put_number(json, "expected_hi", j->expect.hi);
	jl_json_put_number(json, "bound", j->expect.bound);
	jl_json_put_bool(json, "at_edge", !j->before && jl_verdict_at_edge(&j->figure, &j->expect));
	jl_json_put_string(json, "bound_text", j->bound_en);
	jl_json_put_integer(json, "n_history", (long long)j->history.n);
	if (j->is_coll) {
		jl_json_put_integer(json, "n_nodes", j->coll.c.n_nodes);
		jl_json_put_integer(json, "n_ranks", j->coll.c.n_ranks);
		jl_json_put_number(json, "size_B", j->coll.c.size_B);
		jl_json_put_number(json, "time_s", j->coll.c.size_B / j->figure.value);
		jl_json_put_number(json, "expected_time_lo_s", j->coll.c.size_B / j->expect.hi);
		jl_json_put_number(json, "expected_time_s", j->coll.c.size_B / j->expect.value);
		jl_json_put_number(json, "expected_time_hi_s", j->coll.c.size_B / j->expect.lo);
		jl_json_put_bool(json, "judged_by_time", j->coll.by_time);
		jl_json_put_number(json, "busbw_factor", j->coll.c.busbw_factor);
		jl_json_put_bool(json, "in_network_reduction", j->coll.c.in_network);
		jl_json_put_string(json, "algorithm", jl_algorithm_name(j->coll.c.algorithm));
		jl_json_put_integer(json, "n_published", (long long)j->coll.n_near);
	}
	if (j->before) {
		jl_json_put_string(json, "against", j->before->id);
		jl_json_put_number(json, "ratio", j->change.ratio);
		jl_json_put_number(json, "p", j->change.p);
		jl_json_put_bool(json, "intervals_apart", j->change.apart);
		jl_json_put_number(json, "least_change_frac", j->change.least);
	}
	jl_json_put_array(json, "next");
	for (size_t i = 0; i < j->next.n; i++)
		jl_json_string(json, j->next.items[i].en);
	jl_json_end_array(json);
	jl_json_end_object(json);
}

static void say_unsteady(struct jl_cli *cli, const struct jl_steadiness *s)
{
	if (s->n_jumps)
		jl_buf_printf(&cli->out,
			      JL_("  ~ unsteady: %zu of %zu figures jump between quiet runs here, up to %.1fx;\n"
				  "    ranges are wider (shared host, placement of processes and pages).\n"),
			      s->n_jumps, s->n_figures, s->worst_times);
}

enum jl_status jl_check_view(struct jl_cli *cli, const struct jl_judged *judged, size_t n, const char *where,
			     const struct jl_steadiness *steadiness, struct jl_err *err)
{
	const struct jl_judged *worst = jl_check_worst(judged, n);
	enum jl_status status;

	if (cli->json) {
		struct jl_json json;

		jl_json_init(&json, &cli->out, true);
		jl_json_object(&json);
		jl_json_put_string(&json, "verdict", jl_verdict_name(worst->verdict));
		jl_json_put_bool(&json, "bad", jl_verdict_is_bad(worst->verdict));
		jl_json_put_bool(&json, "unsteady", steadiness->n_jumps > 0);
		jl_json_put_integer(&json, "n_jumps", (long long)steadiness->n_jumps);
		jl_json_put_array(&json, "results");
		for (size_t i = 0; i < n; i++)
			one_json(&json, &judged[i]);
		jl_json_end_array(&json);
		jl_json_end_object(&json);
		jl_json_finish(&json);
		return JL_OK;
	}
	if (n == 1) {
		title(cli, worst);
		in_full(cli, worst);
		say_age(cli, judged, n);
		say_unsteady(cli, steadiness);
		return JL_OK;
	}
	if (where)
		jl_buf_printf(&cli->out, "%s%s%s · ", jl_view_bold(cli), where, jl_view_reset(cli));
	count(cli, judged, n);
	jl_buf_puts(&cli->out, "\n");
	status = many(cli, judged, n, err);
	if (n > ROWS_SHOWN)
		jl_buf_printf(&cli->out, JL_("  ... and %zu more (--json has all)\n"), n - ROWS_SHOWN);
	say_age(cli, judged, n);
	say_unsteady(cli, steadiness);
	if (!status && jl_verdict_weight(worst->verdict) >= jl_verdict_weight(JL_VERDICT_NORMAL)) {
		jl_buf_puts(&cli->out, "\n");
		title(cli, worst);
		in_full(cli, worst);
	}
	return status;
}
