/* Finds the wrong cell in a row with a broken relation. The root is the cell whose change repairs the most broken relations and breaks none. If
 * two cells qualify, prefers the one explained by a typing error; if that does not decide, the cell is unknown. */
#include <math.h>

#include "notes/sheet.h"

struct change { /* a changed cell and its effect on the row's relations */
	int col;
	double value;
	int n_repaired, n_broken;
	int slip; /* result of jl_is_slip */
};

static bool is_additive(uint8_t qty)
{
	return qty != JL_Q_PERCENT && qty != JL_Q_RATIO && qty != JL_Q_BYTE_RATE && qty != JL_Q_FLOP_RATE &&
	       qty != JL_Q_FREQUENCY && qty != JL_Q_GENERATION && qty != JL_N_Q;
}

enum jl_fit jl_sheet_adds_up(const struct jl_audit_note *note, const struct jl_sheet *s, uint32_t col, uint32_t row,
			     double value, double *ret_sum)
{
	const int32_t fig = s->total < 0 ? -1 : s->fig[s->total][col];
	double sum = 0, slack = 0;

	if (fig < 0 || s->total < 2 || !is_additive(s->qty[col]))
		return JL_FIT_NONE;
	for (uint32_t r = 0; r < (uint32_t)s->total; r++) {
		if (s->fig[r][col] < 0)
			return JL_FIT_NONE;
		sum += r == row ? value : jl_finding_value(note, s->fig[r][col]);
		slack += jl_fig_slack(&note->figures[s->fig[r][col]]);
	}
	*ret_sum = sum;
	slack += jl_fig_slack(&note->figures[fig]) * 2;
	return fabs(sum - jl_fig_mid(&note->figures[fig])) <= slack * 1.01 ? JL_FIT_OK : JL_FIT_BAD;
}

/* True if this value would break a column's strict order. Ordered columns are usually settings, or grow with one. */
static bool ends_order(const struct jl_sheet *s, uint32_t row, int col, double ln)
{
	int way = 0, n = 0;

	for (uint32_t r = 1; r < s->n_rows; r++) {
		const double step = s->ln[r][col] - s->ln[r - 1][col];

		if (isnan(step) || (way && way * step <= 0))
			return false;
		way = step > 0 ? 1 : step < 0 ? -1 : 0;
		if (!way)
			return false;
		n++;
	}
	return n >= 3 && ((row > 0 && way * (ln - s->ln[row - 1][col]) <= 0) ||
			  (row + 1 < s->n_rows && way * (s->ln[row + 1][col] - ln) <= 0));
}

static bool has_col(const struct jl_relation *rel, int col)
{
	return rel->out == col || rel->a == col || rel->b == col ||
	       (rel->form == JL_FORM_ROW && col >= rel->a && col <= rel->b);
}

static double solve(const struct jl_sheet *s, const struct jl_relation *rel, uint32_t row, int col)
{
	const double out = s->ln[row][rel->out];

	if (col == rel->out)
		return jl_relation_value(s, rel, row, -1, 0);
	switch (rel->form) {
	case JL_FORM_SUM:
	case JL_FORM_ROW:
	case JL_FORM_REST: /* linear in each column */
		return exp(s->ln[row][col]) +
		       (exp(out) - jl_relation_value(s, rel, row, -1, 0)) *
			       (rel->form == JL_FORM_REST || (rel->form == JL_FORM_SUM && col == rel->b && rel->eb < 0)
					? -1
					: 1);
	default:
		return exp(s->ln[row][col] +
			   (out - log(jl_relation_value(s, rel, row, -1, 0))) / (col == rel->a ? rel->ea : rel->eb));
	}
}

/* The value of `col` that satisfies a broken relation, and its effect on other relations. False: no such value can be written. */
static bool try_change(struct change *ret, const struct jl_audit_note *note, struct jl_sheet *s,
		       const struct jl_relation rels[], uint32_t row, const struct jl_relation *broken, int col)
{
	const int32_t fig = s->fig[row][col];
	const double was = s->ln[row][col], slack = s->slack[row][col], in_slack = s->in_slack[row][col];
	struct change c = { .col = col, .value = solve(s, broken, row, col) };
	enum jl_fit before[JL_AUDIT_COLS_MAX];
	double sum;

	if (fig < 0 || !(c.value > 0) || !isfinite(c.value) || jl_finding_of(note, fig) >= 0)
		return false;
	const double digit = note->figures[fig].digit;
	if (round(c.value / digit) > 0)
		c.value = round(c.value / digit) * digit;
	for (uint32_t i = 0; i < s->n_cols; i++)
		before[i] = rels[i].evidence > 0 ? jl_relation_fit(s, &rels[i], row) : JL_FIT_NONE;
	s->ln[row][col] = log(c.value);
	s->slack[row][col] *= exp(was) / c.value;
	s->in_slack[row][col] *= exp(was) / c.value;
	/* where all other rows match exactly, this one must match exactly */
	const bool holds = jl_relation_fit(s, broken, row) == JL_FIT_OK &&
			   (!broken->tight ||
			    fabs(exp(s->ln[row][broken->out]) - jl_relation_value(s, broken, row, -1, 0)) <=
				    0.55 * note->figures[s->fig[row][broken->out]].digit);
	for (uint32_t i = 0; i < s->n_cols; i++) {
		const enum jl_fit after = rels[i].evidence > 0 ? jl_relation_fit(s, &rels[i], row) : JL_FIT_NONE;

		c.n_repaired += before[i] == JL_FIT_BAD && after != JL_FIT_BAD;
		/* a wrong result propagates to values computed from it; inputs do not depend on it */
		c.n_broken += before[i] == JL_FIT_OK && after == JL_FIT_BAD &&
			      (col != broken->out || rels[i].out == col);
	}
	s->ln[row][col] = was;
	s->slack[row][col] = slack;
	s->in_slack[row][col] = in_slack;
	const enum jl_fit adds = jl_sheet_adds_up(note, s, (uint32_t)col, UINT32_MAX, 0, &sum),
			  would = jl_sheet_adds_up(note, s, (uint32_t)col, row, c.value, &sum);
	c.n_repaired += adds == JL_FIT_BAD && would == JL_FIT_OK;
	c.n_broken += adds == JL_FIT_OK && would == JL_FIT_BAD;
	c.n_broken += note->verdicts[fig] == JL_AUDIT_CONFIRMED || ends_order(s, row, col, log(c.value));
	c.slip = jl_fig_slip(note, &note->figures[fig], c.value);
	*ret = c;
	return holds;
}

/* Compares two changes; > 0: x explains more. Ties stay undecided. */
static int more(const struct change *x, const struct change *y)
{
	if ((x->n_broken > 0) != (y->n_broken > 0))
		return y->n_broken ? 1 : -1;
	if (x->n_repaired != y->n_repaired)
		return x->n_repaired - y->n_repaired;
	/* with one or two digits the two cannot be distinguished */
	return x->slip == 1 || y->slip == 1 ? 0 : x->slip - y->slip;
}

bool jl_sheet_blame(struct jl_blame *ret, const struct jl_audit_note *note, struct jl_sheet *s,
		    const struct jl_relation rels[], uint32_t row, const struct jl_relation *broken)
{
	struct change best = { .col = -1 }, second = { .col = -1 }, c;

	/* prefer the cell that is computed first */
	for (int i = -1; i < (int)s->n_cols; i++) {
		const int col = i < 0 ? broken->out : i;

		if (i == broken->out || !has_col(broken, col) || !try_change(&c, note, s, rels, row, broken, col))
			continue;
		const int than = best.col < 0 ? 1 : more(&c, &best);

		if (than > 0)
			best = c;
		else if (than == 0)
			second = c;
	}
	const bool tie = second.col >= 0 && more(&second, &best) == 0;
	*ret = (struct jl_blame){ best.col, best.value, tie ? second.col : -1, second.value };
	return best.col >= 0;
}

bool jl_sheet_bears_out(const struct jl_sheet *s, const struct jl_relation rels[], uint32_t row, int col)
{
	for (uint32_t i = 0; i < s->n_cols; i++)
		if (rels[i].evidence > 0 && !rels[i].weak && has_col(&rels[i], col) &&
		    jl_relation_fit(s, &rels[i], row) == JL_FIT_OK)
			return true;
	return false;
}
