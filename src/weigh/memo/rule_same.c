/* The same figure in other places: what repeats a wrong one is wrong too; what should repeat a right one and does not, differs. */
#include <math.h>
#include <string.h>

#include "memo/inside.h"

/* Digits that are written: 83.5 has three, 2.4 two, 10 one. */
static int n_digits(const struct jl_memo *note, const struct jl_figure *f)
{
	int n = 0;

	for (uint32_t i = f->num_at; i < f->num_at + f->num_len; i++)
		n += note->text[i] >= '0' && note->text[i] <= '9' && (n || note->text[i] != '0');
	return n;
}

/* The same, or one end of a range. */
static bool same_figure(const struct jl_figure *a, const struct jl_figure *b)
{
	if (a->qty != b->qty || a->qty == JL_Q_NUMBER || a->qty == JL_Q_COUNT)
		return false;
	if (a->lo == b->lo && a->hi == b->hi)
		return true;
	return a->scale == b->scale && ((a->lo == a->hi && (b->lo == a->lo || b->hi == a->lo)) ||
					(b->lo == b->hi && (a->lo == b->lo || a->hi == b->lo)));
}

/* The place a figure stands in: its row of a table, or its line. */
static const struct jl_mention *about(const struct jl_memo *note, const struct jl_figure *f)
{
	const struct jl_line *line = &note->lines[f->line];

	if (line->kind == JL_LINE_ROW) {
		/* the first name of the row is its label */
		return line->n_mentions ? &note->mentions[line->mention] : NULL;
	}
	return jl_memo_speaks_of(note, f->at, NULL, 0);
}

#define REPEATS_OF 64 /* findings whose repetitions are looked for */

static void repeats_of(struct jl_memo *note, int32_t index)
{
	const struct jl_said_finding *root = &note->findings[index];
	const struct jl_figure *f = &note->figures[root->figure];
	const struct jl_mention *on = about(note, f);
	const bool rare = n_digits(note, f) >= 4;

	if (!on && !rare)
		return;
	for (size_t i = 0; i < note->n_figures; i++) {
		const struct jl_figure *g = &note->figures[i];
		struct jl_said_finding *said;

		if (g == f || !same_figure(f, g) || note->verdicts[i] <= JL_MEMO_UNLIKELY)
			continue;
		if (on && !jl_same_entity(note, about(note, g), on))
			continue;
		if (!(said = jl_finding_new(note, note->findings[index].verdict, note->findings[index].rule, g->at,
					    g->len, (int32_t)i)))
			return;
		root = &note->findings[index];
		said->root = root->root >= 0 ? root->root : index;
		said->shown = root->shown;
		said->impossible_premise = root->impossible_premise;
		if (f->lo == g->lo && f->hi == g->hi) {
			memcpy(said->premises, root->premises, sizeof said->premises);
			memcpy(said->estimate, root->estimate, sizeof said->estimate);
			memcpy(said->fix, root->fix, sizeof said->fix);
		}
		jl_said_finding_say(said, "repeats line %u", root->line);
	}
}

/* --- a sentence that repeats a table with a slip */

static bool is_slip(const struct jl_memo *note, const struct jl_figure *a, const struct jl_figure *b)
{
	return a->num_len == b->num_len && a->decimals == b->decimals && n_digits(note, a) >= 3 &&
	       jl_is_slip(note->text + a->num_at, a->num_len, note->text + b->num_at, b->num_len) == 2;
}

/* Does the line name the row: its count ("8 GPUs" of a row 8), or its label? */
static bool names_row(const struct jl_memo *note, const struct jl_line *line, const struct jl_grid *g, uint32_t r)
{
	const struct jl_cell *label = jl_grid_cell(g, r, 0);

	if (label->fig >= 0) {
		for (uint32_t i = line->fig; i < line->fig + line->n_figs; i++)
			if (note->figures[i].qty == JL_Q_COUNT && note->figures[i].lo == note->figures[label->fig].lo)
				return true;
		return false;
	}
	return label->len >= 3 && label->len < 60 &&
	       memmem(note->text + line->at, line->len, note->text + label->at, label->len);
}

static bool stands_in(const struct jl_memo *note, const struct jl_grid *g, const struct jl_figure *f)
{
	for (uint32_t i = 0; i < g->n_rows * g->n_cols; i++)
		if (g->cells[i].fig >= 0 && note->figures[g->cells[i].fig].lo == f->lo)
			return true;
	return false;
}

/* The figure of the row that this one should be; NULL: none, or it is right. */
static const struct jl_figure *meant_by(const struct jl_memo *note, const struct jl_grid *g, const struct jl_figure *f)
{
	const struct jl_line *line = &note->lines[f->line];

	for (uint32_t r = 1; r < g->n_rows; r++) {
		if (!names_row(note, line, g, r))
			continue;
		for (uint32_t c = 1; c < g->n_cols; c++) {
			const struct jl_figure *h = jl_grid_cell(g, r, c)->fig < 0
							    ? NULL
							    : &note->figures[jl_grid_cell(g, r, c)->fig];

			if (h && h->qty == f->qty && h->scale == f->scale && is_slip(note, h, f))
				return stands_in(note, g, f) ? NULL : h;
		}
	}
	return NULL;
}

static void slips(struct jl_memo *note, const struct jl_grid *g)
{
	const size_t last = g->last_line + 60 < note->n_lines ? g->last_line + 60 : note->n_lines;

	for (size_t l = g->last_line + 1; l < last; l++) {
		const struct jl_line *line = &note->lines[l];

		if (line->kind == JL_LINE_ROW || line->n_figs > 16)
			continue;
		for (uint32_t i = line->fig; i < line->fig + line->n_figs; i++) {
			const struct jl_figure *f = &note->figures[i], *h;
			struct jl_said_finding *said;
			uint32_t at, column;

			if (note->verdicts[i] != JL_MEMO_CANNOT || f->qty == JL_Q_NUMBER || f->qty == JL_Q_COUNT ||
			    !(h = meant_by(note, g, f)) ||
			    !(said = jl_finding_on_figure(note, JL_MEMO_WRONG, "same-fact", (int32_t)i)))
				continue;
			jl_memo_place(note, h->at, &at, &column);
			jl_fig_text(said->premises, note, f, h->lo, 0);
			jl_said_finding_say(said, "the table has %s in line %u", said->premises, at);
		}
	}
}

/* --- a sentence that sets two rows of a table against each other */

/* The rows that a stretch of text names; false: not two. */
static bool two_rows(const struct jl_memo *note, const struct jl_line *part, const struct jl_grid *g, uint32_t rows[2])
{
	uint32_t n = 0;

	rows[0] = rows[1] = 0;
	for (uint32_t r = 1; r < g->n_rows; r++) {
		const struct jl_cell *label = jl_grid_cell(g, r, 0);

		if (names_row(note, part, g, r) ||
		    (label->len >= 3 && label->len < 60 &&
		     memmem(note->text + part->at, part->len, note->text + label->at, label->len))) {
			if (n == 2)
				return false;
			rows[n++] = r;
		}
	}
	/* in the order of the text: the first is what the other is held against */
	const struct jl_cell *a = jl_grid_cell(g, rows[0], 0), *b = jl_grid_cell(g, rows[1], 0);
	const char *x = n == 2 ? memmem(note->text + part->at, part->len, note->text + a->at, a->len) : NULL,
		   *y = n == 2 ? memmem(note->text + part->at, part->len, note->text + b->at, b->len) : NULL;
	if (x && y && y < x) {
		const uint32_t first = rows[1];

		rows[1] = rows[0];
		rows[0] = first;
	}
	return n == 2;
}

/* What the ratio of two cells is as a figure like `f`: so many times, or so much more or less. */
static double ratio_like(const struct jl_figure *f, double a, double b)
{
	const double up = b / a;

	return f->qty == JL_Q_PERCENT ? fabs(up - 1) : f->lo < 1 ? fmin(up, 1 / up) : fmax(up, 1 / up);
}

/* "8월 대비 9월 사용량은 18 % 감소": of a column that the sentence names, where no other column has that ratio. */
static void ratio_of_rows(struct jl_memo *note, const struct jl_grid *g, const struct jl_line *part, int32_t fig)
{
	const struct jl_figure *f = &note->figures[fig];
	struct jl_said_finding *said;
	double named = NAN;
	uint32_t rows[2];

	if (f->flags & (JL_FIG_RANGE | JL_FIG_LEAST | JL_FIG_MOST) || !(f->lo > 0) || !two_rows(note, part, g, rows))
		return;
	for (uint32_t c = 1; c < g->n_cols; c++) {
		const int32_t a = jl_grid_cell(g, rows[0], c)->fig, b = jl_grid_cell(g, rows[1], c)->fig;
		const struct jl_cell *head = jl_grid_cell(g, 0, c);
		uint32_t len = 0;

		if (a < 0 || b < 0 || !(note->figures[a].lo > 0) || !(note->figures[b].lo > 0))
			continue;
		const double want = ratio_like(f, note->figures[a].lo, note->figures[b].lo),
			     back = ratio_like(f, note->figures[b].lo, note->figures[a].lo);
		if (fmin(fabs(want - f->lo), fabs(back - f->lo)) <= 1.01 * f->digit + 0.01 * want) {
			jl_memo_judge(note, fig, JL_MEMO_CONFIRMED);
			return;
		}
		while (len < head->len && !strchr("([", note->text[head->at + len]))
			len++;
		while (len && note->text[head->at + len - 1] == ' ')
			len--;
		if (len > 3 && memmem(note->text + part->at, part->len, note->text + head->at, len))
			named = isnan(named) ? want : INFINITY;
	}
	if (!isfinite(named) || fabs(log(named / f->lo)) > 0.45 || !jl_fig_slip(note, f, named) ||
	    !(said = jl_finding_on_figure(note, JL_MEMO_WRONG, "same-fact", fig)))
		return;
	jl_fig_text(said->premises, note, f, named, 0);
	if (f->qty == JL_Q_RATIO)
		jl_fig_digits(said->fix, f, named, 0);
	jl_said_finding_say(said, "the rows of the table above that it names give %s", said->premises);
}

static void ratios(struct jl_memo *note, const struct jl_grid *g)
{
	const size_t last = g->last_line + 30 < note->n_lines ? g->last_line + 30 : note->n_lines;

	for (size_t l = g->last_line + 1; l < last; l++) {
		const struct jl_line *line = &note->lines[l];
		uint32_t from = line->at;

		if (line->kind == JL_LINE_ROW || line->n_figs > 16 ||
		    !JL_PART_HAS(note, line, "대비|보다|비해|compared|than|vs|versus|over") ||
		    JL_PART_HAS(note, line, "average|평균|about|약|mean"))
			continue;
		for (uint32_t i = line->fig; i < line->fig + line->n_figs; i++) {
			struct jl_line part = *line;

			if (note->figures[i].qty != JL_Q_RATIO && note->figures[i].qty != JL_Q_PERCENT)
				continue;
			part.at = from;
			part.len = note->figures[i].at + note->figures[i].len + 30 < line->at + line->len
					   ? note->figures[i].at + note->figures[i].len + 30 - from
					   : line->at + line->len - from;
			from = note->figures[i].at + note->figures[i].len;
			if (note->verdicts[i] == JL_MEMO_CANNOT)
				ratio_of_rows(note, g, &part, (int32_t)i);
		}
	}
}

void jl_rule_slips(struct jl_memo *note)
{
	for (size_t i = 0; i < note->n_grids && i < 200; i++)
		if (note->grids[i].kind == JL_GRID_TABLE && note->grids[i].has_heads && note->grids[i].n_rows <= 64)
			slips(note, &note->grids[i]), ratios(note, &note->grids[i]);
}

void jl_rule_same(struct jl_memo *note)
{
	const size_t n = note->n_findings;

	for (size_t i = 0; i < n && i < REPEATS_OF; i++)
		if (note->findings[i].figure >= 0 && note->findings[i].verdict <= JL_MEMO_DIFFERS)
			repeats_of(note, (int32_t)i);
}
