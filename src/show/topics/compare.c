#include "topics/compare.h"

#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "predict/narrow.h"

/* --- cells */

/* Measured times: three digits, no interval; others two digits with interval. */
static void time_cell(struct jl_doc *doc, const struct jl_compare_row *row, const struct jl_estimate *e, bool range)
{
	struct jl_num num = jl_num_estimate(*e, JL_K_TIME, NULL);

	if (isnan(e->value)) {
		jl_doc_cell_text(doc, "?");
		return;
	}
	num.show_interval = range;
	if (e->lo == e->hi) {
		num.n_digits = 3;
		if (row->observed) {
			num.origin = JL_MEASURED;
			num.source = NULL;
		}
	}
	jl_doc_cell_num(doc, &num);
}

/* Decimals that leave two digits: 0.015, 0.32, 2.0, 15. */
static int decimals(double ratio)
{
	return ratio > 0 && ratio < 9.95 ? (int)fmin(6, 1 - floor(log10(ratio) + 1e-9)) : 0;
}

static void speed_cell(struct jl_doc *doc, const struct jl_estimate *e)
{
	struct jl_num num = jl_num_estimate(*e, JL_K_NUMBER, "x");
	const char *x = jl_unit_localized("x", NULL);
	char text[96];

	if (e->lo == e->hi) { /* exact by definition */
		num = jl_num_given(e->value, JL_K_NUMBER, "x");
		snprintf(text, sizeof text, "%.2f%.8s", e->value, x);
	} else {
		snprintf(text, sizeof text, "%.*f%.8s (%.*f–%.*f)", decimals(e->value), e->value, x, decimals(e->lo),
			 e->lo, decimals(e->hi), e->hi);
	}
	num.text = text;
	jl_doc_cell_num(doc, &num);
}

/* kWh to two digits; the heading has the unit. */
static void energy_cell(struct jl_doc *doc, const struct jl_estimate *e)
{
	struct jl_num num = jl_num_estimate(*e, JL_K_ENERGY, NULL);
	char value[JL_UNITS_TEXT_MAX], text[3 * JL_UNITS_TEXT_MAX];
	const double kWh = 3.6e6;

	jl_about_text(value, e->value / kWh);
	if (e->lo == e->hi)
		snprintf(text, sizeof text, "%s", value);
	else
		snprintf(text, sizeof text, "%s (%s–%s)", value, jl_about_text(JL_TXT, e->lo / kWh),
			 jl_about_text(JL_TXT, e->hi / kWh));
	num.text = isnan(e->value) ? "?" : text;
	jl_doc_cell_num(doc, &num);
}

/* Passes and batches are settings of the comparison, not results. */
static void count_cell(struct jl_doc *doc, double value)
{
	jl_show_cell(doc, jl_num_written(jl_num_count(value), jl_grouped_text(JL_TXT, value)));
}

static void no_cells(struct jl_doc *doc, const char *why)
{
	JL_CELLS(doc, JL_WORD("–"), JL_MARKED(JL_MARK_BAD, why));
}

static const char *name_of(const struct jl_show_compare *in, size_t i)
{
	return in->names ? in->names[i] : in->compare->rows[i].system;
}

static bool epochs_known(const struct jl_compare *compare)
{
	return !isnan(compare->rows[0].at[JL_AT_SAME_BATCH].batches);
}

static bool runs(const struct jl_show_compare *in, size_t i)
{
	const struct jl_compare_at *at = &in->compare->rows[i].at[JL_AT_SAME_BATCH];

	return at->possible && at->fits;
}

/* --- tables */

static void same_table(struct jl_doc *doc, const struct jl_show_compare *in)
{
	const bool epochs = epochs_known(in->compare);

	jl_show_table(doc, NULL, epochs ? "tffff" : "tfff", JL_N("system|passes|step|speed|epoch"));
	for (size_t i = 0; i < in->compare->n_rows; i++) {
		const struct jl_compare_row *row = &in->compare->rows[i];
		const struct jl_compare_at *at = &row->at[JL_AT_SAME_BATCH];

		jl_doc_cell_name(doc, name_of(in, i));
		if (runs(in, i)) {
			count_cell(doc, at->n_passes);
			time_cell(doc, row, &at->step_s, !epochs);
			if (runs(in, 0))
				speed_cell(doc, &at->speedup);
			else
				jl_doc_cell_text(doc, "–");
			if (epochs)
				time_cell(doc, row, &at->epoch_s, true);
		} else {
			no_cells(doc, at->possible ? JL_("no fit") : JL_("not so"));
		}
		jl_doc_end_row(doc, row->baseline);
	}
}

static void largest_table(struct jl_doc *doc, const struct jl_show_compare *in)
{
	const bool epochs = epochs_known(in->compare);

	jl_show_table(doc, NULL, epochs ? "t8fffff" : "t8fff", JL_N("system|batch|step|speed|batches|epoch"));
	for (size_t i = 0; i < in->compare->n_rows; i++) {
		const struct jl_compare_row *row = &in->compare->rows[i];
		const struct jl_compare_at *at = &row->at[JL_AT_LARGEST_BATCH];

		jl_doc_cell_name(doc, name_of(in, i));
		if (at->possible && row->limit >= 1) {
			count_cell(doc, at->batch);
			time_cell(doc, row, &at->step_s, !epochs);
			speed_cell(doc, &at->speedup);
			if (epochs) {
				count_cell(doc, at->batches);
				time_cell(doc, row, &at->epoch_s, true);
			}
		} else {
			no_cells(doc, JL_("no fit"));
		}
		jl_doc_end_row(doc, row->baseline);
	}
}

static const char *filled(struct jl_doc *doc, const char *format, const char *count)
{
	const size_t at = strcspn(format, "%");

	return jl_doc_format(doc, "%.*s%s%s", (int)at, format, count, format[at] ? format + at + 2 : "");
}

/* A heading with a count: "10 epochs". */
static struct jl_show_head counted(struct jl_doc *doc, const char *one, const char *many, double n)
{
	const char *en = n > 1 ? many : one;
	char count[JL_UNITS_TEXT_MAX];

	jl_count_text(count, n);
	return (struct jl_show_head){ .en = jl_doc_format(doc, "%s" JL_HEAD_BOTH "%s", filled(doc, en, count),
							  filled(doc, jl_msg(en), count)),
				      .how = JL_COLUMN_FIGURE };
}

static void whole_table(struct jl_doc *doc, const struct jl_show_compare *in)
{
	const struct jl_compare *c = in->compare;
	const bool has_repeat = !isnan(c->repeat), has_tune = !isnan(c->tune);
	struct jl_show_head heads[5] = { { JL_N("system"), JL_COLUMN_TEXT } };
	size_t n = 1;

	heads[n++] = counted(doc, JL_N("%s epoch"), JL_N("%s epochs"), c->epochs);
	heads[n++] = (struct jl_show_head){ "kWh", JL_COLUMN_FIGURE };
	if (has_repeat)
		heads[n++] = counted(doc, JL_N("%s training"), JL_N("%s trainings"), c->repeat);
	if (has_tune)
		heads[n++] = counted(doc, JL_N("%s trial"), JL_N("%s trials"), c->tune);
	jl_show_columns(doc, NULL, heads, n);
	for (size_t i = 0; i < c->n_rows; i++) {
		const struct jl_compare_row *row = &c->rows[i];
		const struct jl_compare_at *at = &row->at[JL_AT_SAME_BATCH];

		if (!at->possible || !at->fits)
			continue;
		jl_doc_cell_name(doc, name_of(in, i));
		time_cell(doc, row, &at->run_s, true);
		energy_cell(doc, &at->energy_J);
		if (has_repeat)
			time_cell(doc, row, &at->repeat_s, false);
		if (has_tune)
			time_cell(doc, row, &at->tune_s, false);
		jl_doc_end_row(doc, row->baseline);
	}
}

/* Fastest first, unknown last. */
static int by_speed(const void *a, const void *b)
{
	const struct jl_chart_point *x = a, *y = b;

	return isnan(x->y) || isnan(y->y) ? isnan(x->y) - isnan(y->y) : (x->y < y->y) - (x->y > y->y);
}

void jl_show_compare_chart(struct jl_doc *doc, const struct jl_show_compare *in)
{
	const size_t n = in->compare->n_rows;
	struct jl_chart *chart = jl_show_chart(doc, JL_CHART_BARS, JL_("Speed at the same batch, over the baseline"),
					       1);
	struct jl_chart_point *points = chart ? jl_show_series(doc, chart, 0, JL_C("ratio", "speed"), JL_ESTIMATED, n)
					      : NULL;

	if (!points)
		return;
	chart->y = JL_AXIS(.label = JL_C("ratio", "speed"), .unit = "x");
	for (size_t i = 0; i < n; i++) {
		const struct jl_compare_row *row = &in->compare->rows[i];
		const struct jl_compare_at *at = &row->at[JL_AT_SAME_BATCH];
		const bool known = at->possible && !row->baseline;

		points[i].label = name_of(in, i);
		points[i].y = row->baseline ? 1 : known ? at->speedup.value : NAN;
		points[i].lo = known ? at->speedup.lo : NAN;
		points[i].hi = known ? at->speedup.hi : NAN;
		points[i].own = row->baseline; /* exact by definition */
	}
	qsort(points, n, sizeof(*points), by_speed);
	chart->marks[chart->n_marks].x = 1;
	chart->marks[chart->n_marks++].label = JL_("baseline");
	jl_doc_picture(doc, chart);
}

/* --- what runs */

static const char *share(char out[64], const char *what, const struct jl_estimate *e)
{
	if (round(100 * e->lo) == round(100 * e->hi))
		snprintf(out, 64, "%s %.0f %%", what, 100 * e->hi);
	else
		snprintf(out, 64, "%s %.0f–%.0f %%", what, 100 * e->lo, 100 * e->hi);
	return out;
}

static void mix_line(struct jl_doc *doc, const struct jl_observed_mix *mix)
{
	char text[320];

	jl_format(text, sizeof text, "%s%s, %s, %s, %s", JL_("assumed mix: "),
		  share(JL_TXT, JL_("matrix"), &mix->matrix), share(JL_TXT, JL_("memory"), &mix->memory),
		  share(JL_TXT, JL_("host"), &mix->host), share(JL_TXT, JL_C("time", "links"), &mix->links));
	jl_doc_sourced(doc, text, JL_ESTIMATED, JL_METHOD);
}

static void observed_lead(struct jl_doc *doc, const struct jl_show_compare *in)
{
	const struct jl_observed *run = &in->compare->seen.run;
	struct jl_num step = jl_num_plain(run->step_s, JL_K_TIME, NULL, JL_MEASURED, NULL),
		      epoch = jl_num_plain(run->batches * run->step_s, JL_K_TIME, NULL, JL_MEASURED, NULL);

	step.n_digits = 4;
	jl_doc_lead(doc);
	JL_SENTENCE(doc, JL_("|1 a batch of |2 on |3  ● observed"), JL_FIG(step), JL_COUNT(run->batch),
		    JL_NAMED(name_of(in, 0)));
	jl_doc_lead(doc);
	if (!isnan(run->batches)) {
		JL_SENTENCE(doc, JL_("|1 batches an epoch: |2 an epoch"),
			    JL_FIG(jl_num_written(jl_num_count(run->batches), jl_grouped_text(JL_TXT, run->batches))),
			    JL_FIG(epoch));
		jl_doc_lead(doc);
	}
	jl_doc_textf(doc, "%s, %s", jl_msg(jl_mixes[run->kind].en),
		     run->dtype == JL_UNSET ? JL_("fp32 or fp16") : jl_dtype_name((enum jl_dtype)run->dtype));
	jl_doc_lead(doc);
	mix_line(doc, &in->compare->seen.mix);
}

static void model_lead(struct jl_doc *doc, const struct jl_show_compare *in)
{
	const struct jl_compare_row *base = &in->compare->rows[0];

	jl_doc_lead(doc);
	jl_doc_name(doc, in->compare->subject->name);
	jl_doc_dot(doc);
	JL_SHOW(doc, "baseline ");
	jl_doc_name(doc, name_of(in, 0));
	jl_doc_dot(doc);
	JL_SHOW(doc, "batch ");
	jl_show_num(doc, jl_num_count(base->at[JL_AT_SAME_BATCH].batch));
}

/* "rtx-4090 is 2.4x (0.8–7) slower than ..." */
static void speed(struct jl_doc *doc, const struct jl_show_compare *in, size_t i)
{
	const struct jl_compare_at *at = &in->compare->rows[i].at[JL_AT_SAME_BATCH];
	const struct jl_estimate *e = &at->speedup;
	const bool slower = e->value < 1;
	const struct jl_estimate times = slower ? (struct jl_estimate){ 1 / e->value, 1 / e->hi, 1 / e->lo } : *e;

	JL_SENTENCE(doc,
		    !runs(in, 0)         ? JL_("|1 takes |4 a step; on |3 it does not fit. ")
		    : times.value < 1.05 ? JL_("|1 is about as fast as |3 (|2): |4 a step. ")
		    : slower             ? JL_("|1 is |2 slower than |3: |4 a step. ")
					 : JL_("|1 is |2 faster than |3: |4 a step. "),
		    JL_NAMED(name_of(in, i)),
		    JL_FIG(jl_num_ranged(jl_num_digits(jl_num_estimate(times, JL_K_NUMBER, "x"), 2))),
		    JL_NAMED(name_of(in, 0)), JL_WIDE(at->step_s, JL_K_TIME));
	if (runs(in, 0) && e->lo < 1 && e->hi > 1)
		JL_SHOW(doc, "The range is wide: it may be slower or faster. ");
}

/* The answer in sentences: the fastest other system, which is returned (0: none), and the slowest. */
static size_t answer(struct jl_doc *doc, const struct jl_show_compare *in)
{
	const struct jl_compare *c = in->compare;
	size_t best = 0, worst = 0;

	for (size_t i = 1; i < c->n_rows; i++) {
		const struct jl_compare_at *at = &c->rows[i].at[JL_AT_SAME_BATCH];

		if (!runs(in, i))
			continue;
		best = !best || at->speedup.value > c->rows[best].at[JL_AT_SAME_BATCH].speedup.value ? i : best;
		worst = !worst || at->speedup.value < c->rows[worst].at[JL_AT_SAME_BATCH].speedup.value ? i : worst;
	}
	jl_doc_lead(doc);
	if (!best)
		JL_SHOW(doc, "None of the other systems can run this batch.");
	else
		speed(doc, in, best);
	if (worst != best)
		speed(doc, in, worst);
	return best;
}

/* --- what to know of it */

static void reasons(struct jl_doc *doc, const struct jl_show_compare *in)
{
	for (size_t i = 0; i < in->compare->n_rows; i++) {
		const struct jl_compare_at *at = &in->compare->rows[i].at[JL_AT_SAME_BATCH];

		if (at->possible)
			continue;
		jl_doc_note(doc, JL_MARK_BAD, name_of(in, i));
		jl_doc_sourced(doc, at->why.text, JL_ESTIMATED, JL_METHOD);
	}
}

/* Different plans are listed: the difference is not caused by hardware alone. */
static void settings(struct jl_doc *doc, const struct jl_show_compare *in)
{
	char first[JL_CUT_TEXT_MAX] = "", how[JL_CUT_TEXT_MAX];
	const char *text = "";
	bool differ = false;

	for (size_t i = 0; i < in->compare->n_rows && text; i++) {
		const struct jl_compare_row *row = &in->compare->rows[i];

		if (!row->at[JL_AT_SAME_BATCH].possible || !(row->plan.dp >= 1))
			continue;
		jl_show_cut(how, &row->plan, NAN); /* passes are in the table */
		if (i == 0)
			memcpy(first, how, sizeof first);
		differ |= strcmp(first, how) != 0;
		jl_show_cut(how, &row->plan, row->at[JL_AT_SAME_BATCH].micro_batch);
		text = jl_arena_printf(doc->arena, "%s%s%s: %s", text, *text ? "; " : "", name_of(in, i), how);
	}
	if (!differ || !text)
		return;
	jl_doc_note(doc, JL_MARK_NONE, JL_("Settings"));
	jl_doc_name(doc, text);
}

static void how_sure(struct jl_doc *doc, const struct jl_compare *compare)
{
	const char *label = JL_("○ estimated");

	if (!compare->subject)
		jl_show_note(doc, label, JL_ESTIMATED, "%s",
			     JL_("intervals cover the whole range of the mix; speed: samples/s relative to the "
				 "observed run"));
	else
		jl_show_note(doc, label, JL_ESTIMATED,
			     JL_("80 %% intervals; speed: samples/s relative to the baseline at its batch; batches "
				 "leave %.0f %% of the memory free"),
			     100 * JL_MEMORY_MARGIN_FRAC);
}

static void same_heading(struct jl_doc *doc, const struct jl_compare_at *base)
{
	char text[256];

	if (isnan(base->batches))
		jl_format(text, sizeof text, JL_("At the same batch, %.0f: the same training"), base->batch);
	else
		jl_format(text, sizeof text, JL_("At the same batch, %.0f: the same training, %s batches an epoch"),
			  base->batch, jl_grouped_text(JL_TXT, base->batches));
	jl_doc_subsection(doc, "same-batch", text);
}

void jl_show_compare(struct jl_doc *doc, const struct jl_show_compare *in)
{
	const struct jl_compare *compare = in->compare;
	const struct jl_compare_at *base = &compare->rows[0].at[JL_AT_SAME_BATCH];
	struct jl_narrow found[JL_NARROW_MAX];
	size_t best = 0;

	if (in->options) /* a report shows it elsewhere */
		best = answer(doc, in);
	if (compare->subject)
		model_lead(doc, in);
	else
		observed_lead(doc, in);
	if (best)
		jl_show_narrow(doc, &compare->rows[best].at[JL_AT_SAME_BATCH].step_s, found,
			       compare->subject ? 0 : jl_narrow_observed(found, compare, &compare->rows[best]));
	if (!in->no_chart)
		jl_show_compare_chart(doc, in);
	same_heading(doc, base);
	same_table(doc, in);
	jl_doc_subsection(doc, "largest-batch",
			  compare->subject
				  ? JL_("At the largest batch that fits in one pass: a different training")
				  : JL_("At the largest batch that certainly fits in one pass: a different training"));
	largest_table(doc, in);
	if (!isnan(base->batches)) {
		jl_doc_subsection(doc, "whole-run", JL_("The whole run, at the same batch"));
		whole_table(doc, in);
	}
	jl_doc_gap(doc);
	reasons(doc, in);
	settings(doc, in);
	how_sure(doc, compare);
	if (!in->no_assumed)
		jl_show_assumed(doc, &compare->notes, in->options);
}
