/* An epoch has the same samples at any batch size: epoch time = samples / batch × step time. A note that keeps the number of batches while the
 * batch grows counts samples several times. */
#include <math.h>
#include <stdio.h>

#include "notes/inside.h"

#define ESTIMATES_MAX 200 /* no estimates after this many findings */

struct columns {
	int batch, step, epoch;
};

static bool find_columns(const struct jl_audit_note *note, const struct jl_grid *g, struct columns *c)
{
	*c = (struct columns){ -1, -1, -1 };
	for (uint32_t i = 1; i < g->n_cols; i++) {
		const struct jl_cell *head = jl_grid_cell(g, 0, i);
		const char *t = note->text + head->at;

		if (jl_span_has(t, head->len,
				"배치당|배치 당|per batch|batch time|step time|time per step|스텝당|스텝 "
				"시간|iteration time"))
			c->step = (int)i;
		else if (jl_span_has(t, head->len, "에폭당|에폭 당|per epoch|epoch time|epoch 시간"))
			c->epoch = (int)i;
		else if (jl_span_has(t, head->len, "배치 크기|batch size|batch|배치사이즈|배치"))
			c->batch = c->batch < 0 ? (int)i : c->batch;
	}
	return c->batch >= 0 && c->step >= 0;
}

static const struct jl_figure *figure(const struct jl_audit_note *note, const struct jl_grid *g, uint32_t r, int c)
{
	const int32_t i = jl_grid_cell(g, r, (uint32_t)c)->fig;

	return i < 0 || !(note->figures[i].lo > 0) ? NULL : &note->figures[i];
}

struct row {
	const struct jl_figure *batch, *step, *epoch;
};

static bool row_of(const struct jl_audit_note *note, const struct jl_grid *g, const struct columns *c, uint32_t r,
		   struct row *ret)
{
	*ret = (struct row){ figure(note, g, r, c->batch), figure(note, g, r, c->step), figure(note, g, r, c->epoch) };
	return ret->batch && ret->step && ret->epoch && ret->step->qty == JL_Q_TIME && ret->epoch->qty == JL_Q_TIME;
}

static double slack(const struct row *x)
{
	return jl_fig_slack(x->step) / jl_fig_mid(x->step) + jl_fig_slack(x->epoch) / jl_fig_mid(x->epoch) +
	       (x->epoch->hi - x->epoch->lo) / 2 / jl_fig_mid(x->epoch) +
	       (x->step->hi - x->step->lo) / 2 / jl_fig_mid(x->step);
}

/* A row compared with a base row: implied speed ratio, the hardware's upper bound, and the prediction. Values inside the interval are possible. */
struct implied {
	double times, most;
	struct jl_estimate expected; /* 0: unknown */
	bool impossible, unlikely;
};

static struct implied implied(struct jl_audit_note *note, const struct jl_seen *seen, const struct jl_mention *on,
			      double times, bool as_many)
{
	struct implied in = { .times = times, .most = jl_audit_rate_ratio(note, on, seen->on, as_many) };
	const bool known = jl_audit_carry(&in.expected, note, seen, on, as_many);

	in.unlikely = known && times > in.expected.hi;
	in.impossible = times > 1.3 * in.most && (in.unlikely || !known);
	return in;
}

static struct implied estimate(struct jl_audit_note *note, struct jl_audit_finding *said, const struct row *base,
			       const struct row *row, const struct jl_mention *on, const struct jl_mention *base_on)
{
	const struct jl_seen seen = { .on = base_on,
				      .step_s = jl_fig_mid(base->step),
				      .batch = jl_fig_mid(base->batch),
				      .batches = jl_fig_mid(base->epoch) / jl_fig_mid(base->step) };
	const struct implied in = implied(
		note, &seen, on, jl_fig_mid(row->batch) / jl_fig_mid(row->step) / (seen.batch / seen.step_s), false);

	if (in.expected.value > 0) {
		const double s = jl_fig_mid(base->epoch);
		char value[JL_SHOULD_MAX], range[JL_SHOULD_MAX];

		jl_fig_text(value, note, row->epoch, s / in.expected.value, 0);
		jl_fig_range_text(range, note, row->epoch, s / in.expected.hi, s / in.expected.lo);
		snprintf(said->estimate, sizeof said->estimate, "%.28s (%.32s)", value, range);
	}
	return in;
}

static void explain(struct jl_audit_finding *said, const struct row *base, const struct row *row,
		    const struct implied *in)
{
	const double batches = jl_fig_mid(base->epoch) / jl_fig_mid(base->step),
		     times = jl_fig_mid(row->batch) / jl_fig_mid(base->batch);

	said->impossible_premise = in->impossible || in->unlikely;
	if (said->impossible_premise)
		said->fix[0] = '\0';
	if (in->impossible)
		jl_audit_finding_explain(
			said,
			"the number of batches (%.0f) was kept although the batch is %.3gx: it needs %.0f; "
			"and %.0f samples in %.3g s would be %.3gx the throughput of the first row, where "
			"no rate of the hardware is more than %.1fx",
			batches, times, batches / times, jl_fig_mid(row->batch), jl_fig_mid(row->step), in->times,
			in->most);
	else if (in->unlikely)
		jl_audit_finding_explain(
			said,
			"the number of batches (%.0f) was kept although the batch is %.3gx: it needs %.0f; "
			"and %.0f samples in %.3g s would be %.3gx the throughput of the first row, where "
			"jeoul expects %.2g to %.2gx (80 %% interval)",
			batches, times, batches / times, jl_fig_mid(row->batch), jl_fig_mid(row->step), in->times,
			in->expected.lo, in->expected.hi);
	else
		jl_audit_finding_explain(
			said, "the number of batches (%.0f) was kept although the batch is %.3gx: it needs %.0f",
			batches, times, batches / times);
}

/* Returns the index of the root finding. */
static int32_t judge_row(struct jl_audit_note *note, const struct jl_grid *g, const struct columns *c, uint32_t r,
			 const struct row *base, uint32_t base_r, int32_t root)
{
	struct jl_audit_finding *said;
	struct implied in = { .impossible = false };
	struct row row;
	int32_t fig;

	if (!row_of(note, g, c, r, &row))
		return root;
	double tol = slack(&row) + slack(base) + 0.01;
	double kept = log(jl_fig_mid(row.epoch) / jl_fig_mid(row.step)) -
		      log(jl_fig_mid(base->epoch) / jl_fig_mid(base->step));
	double times = jl_fig_mid(row.batch) / jl_fig_mid(base->batch);
	double samples = kept + log(times);
	fig = jl_grid_cell(g, r, (uint32_t)c->epoch)->fig;
	if (fabs(samples) <= tol) {
		jl_audit_judge(note, fig, JL_AUDIT_CONFIRMED);
		return root;
	}
	if (fabs(kept) > tol || fabs(log(times)) < 0.3)
		return root; /* not this mistake */
	if (!(said = jl_finding_on_figure(note, JL_AUDIT_WRONG, "batches", fig)))
		return root;
	said->root = root;
	double value = jl_fig_mid(base->epoch) / jl_fig_mid(base->step) / times * jl_fig_mid(row.step);
	if (row.batch->hi > row.batch->lo)
		jl_fig_range_text(said->premises, note, row.epoch, value * jl_fig_mid(row.batch) / row.batch->hi,
				  value * jl_fig_mid(row.batch) / row.batch->lo);
	else {
		jl_fig_text(said->premises, note, row.epoch, value, 1);
		jl_fig_digits(said->fix, row.epoch, value, 0);
	}
	const struct jl_mention *on = jl_grid_cell(g, r, 0)->mention >= 0
					      ? &note->mentions[jl_grid_cell(g, r, 0)->mention]
					      : NULL;
	const struct jl_mention *base_on = jl_grid_cell(g, base_r, 0)->mention >= 0
						   ? &note->mentions[jl_grid_cell(g, base_r, 0)->mention]
						   : NULL;
	if (on && base_on && note->n_findings < ESTIMATES_MAX)
		in = estimate(note, said, base, &row, on, base_on);
	explain(said, base, &row, &in);
	return root >= 0 ? root : (int32_t)(said - note->findings);
}

/* --- steps only: the batch in that time */

static void judge_step(struct jl_audit_note *note, const struct jl_grid *g, const struct columns *c, uint32_t r,
		       uint32_t base_r)
{
	const struct jl_figure *batch = figure(note, g, r, c->batch), *step = figure(note, g, r, c->step),
			       *batch0 = figure(note, g, base_r, c->batch), *step0 = figure(note, g, base_r, c->step);
	const int32_t on = jl_grid_cell(g, r, 0)->mention, base_on = jl_grid_cell(g, base_r, 0)->mention;
	struct jl_audit_finding *said;

	if (!batch || !step || !batch0 || !step0 || on < 0 || base_on < 0 || step->qty != JL_Q_TIME ||
	    step0->qty != JL_Q_TIME || note->n_findings >= ESTIMATES_MAX)
		return;
	const uint32_t from = jl_grid_cell(g, r, 0)->at;
	const bool as_many = from > step->at || !jl_span_has(note->text + from, step->at - from,
							     "단일 GPU|single GPU|one GPU"); /* otherwise as the base */
	/* the ends of the ranges that demand least of the hardware */
	const struct jl_seen seen = { &note->mentions[base_on], step0->lo, batch0->hi, 1000 };
	const struct implied in = implied(note, &seen, &note->mentions[on],
					  batch->lo / step->hi / (batch0->hi / step0->lo), as_many);
	if (!in.unlikely && !in.impossible)
		return;
	if (!(said = jl_finding_on_figure(note, in.impossible ? JL_AUDIT_WRONG : JL_AUDIT_UNLIKELY, "bound",
					  jl_grid_cell(g, r, (uint32_t)c->step)->fig)))
		return;
	if (in.impossible)
		jl_audit_finding_explain(
			said,
			"%.0f samples in %.3g s would be %.3gx the throughput of the first, where no rate "
			"of the hardware is more than %.1fx",
			batch->lo, step->hi, in.times, in.most);
	else
		jl_audit_finding_explain(
			said,
			"%.0f samples in %.3g s would be %.3gx the throughput of the first, where jeoul "
			"expects %.2g to %.2gx (80 %% interval)",
			batch->lo, step->hi, in.times, in.expected.lo, in.expected.hi);
}

/* --- ratios derived from a wrong time */

static void ratios_follow(struct jl_audit_note *note, const struct jl_grid *g, int epoch, uint32_t base_r)
{
	const struct jl_figure *base = figure(note, g, base_r, epoch);

	for (uint32_t c = 1; base && c < g->n_cols; c++) {
		if (!JL_PART_HAS(note, jl_grid_cell(g, 0, c), "성능 향상|배속|대비|speedup|speed-up|faster|향상"))
			continue;
		for (uint32_t r = base_r + 1; r < g->n_rows; r++) {
			const struct jl_figure *t = figure(note, g, r, epoch), *x = figure(note, g, r, (int)c);
			const int32_t root = t ? jl_finding_of(note, (int32_t)(t - note->figures)) : -1;
			struct jl_audit_finding *said;

			if (root < 0 || !x || x->qty != JL_Q_RATIO || note->findings[root].verdict != JL_AUDIT_WRONG ||
			    base->lo / t->hi > x->hi + x->digit || base->hi / t->lo < x->lo - x->digit ||
			    !(said = jl_finding_on_figure(note, JL_AUDIT_WRONG, "batches",
							  (int32_t)(x - note->figures))))
				continue;
			said->root = root;
			said->impossible_premise = note->findings[root].impossible_premise;
			jl_audit_finding_explain(said, "follows from %s", note->findings[root].written);
		}
	}
}

void jl_rule_batches(struct jl_audit_note *note)
{
	for (size_t i = 0; i < note->n_grids; i++) {
		const struct jl_grid *g = &note->grids[i];
		struct columns c;
		struct row base;

		if (!g->has_heads || !find_columns(note, g, &c))
			continue;
		for (uint32_t r = 2, b = 1; c.epoch < 0 && r < g->n_rows; r++) {
			if (!figure(note, g, b, c.batch) || !figure(note, g, b, c.step))
				b = r;
			else
				judge_step(note, g, &c, r, b);
		}
		for (uint32_t b = 1; c.epoch >= 0 && b < g->n_rows; b++)
			if (row_of(note, g, &c, b, &base)) {
				int32_t first = -1;

				for (uint32_t r = b + 1; r < g->n_rows; r++)
					first = judge_row(note, g, &c, r, &base, b, first);
				if (first >= 0)
					ratios_follow(note, g, c.epoch, b);
				break;
			}
	}
}
