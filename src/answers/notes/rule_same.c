/* The same figure in several places: repetitions of a wrong figure are wrong, and a repetition that differs from a right one is reported. */
#include <string.h>

#include "notes/inside.h"

/* Number of significant digits: 83.5 has three, 2.4 two, 10 one. */
static int n_digits(const struct jl_audit_note *note, const struct jl_figure *f)
{
	int n = 0;

	for (uint32_t i = f->num_at; i < f->num_at + f->num_len; i++)
		n += note->text[i] >= '0' && note->text[i] <= '9' && (n || note->text[i] != '0');
	return n;
}

/* True if equal, or if one end of a range is equal. */
static bool same_figure(const struct jl_figure *a, const struct jl_figure *b)
{
	if (a->qty != b->qty || a->qty == JL_Q_NUMBER || a->qty == JL_Q_COUNT)
		return false;
	if (a->lo == b->lo && a->hi == b->hi)
		return true;
	return a->scale == b->scale && ((a->lo == a->hi && (b->lo == a->lo || b->hi == a->lo)) ||
					(b->lo == b->hi && (a->lo == b->lo || a->hi == b->lo)));
}

/* The hardware of a figure: from its table row or its line. */
static const struct jl_mention *about(const struct jl_audit_note *note, const struct jl_figure *f)
{
	const struct jl_line *line = &note->lines[f->line];

	if (line->kind == JL_LINE_ROW) {
		/* the first name in a row is its label */
		return line->n_mentions ? &note->mentions[line->mention] : NULL;
	}
	return jl_audit_speaks_of(note, f->at);
}

#define REPEATS_OF 64 /* maximum number of findings whose repetitions are searched */

static void repeats_of(struct jl_audit_note *note, int32_t index)
{
	const struct jl_audit_finding *root = &note->findings[index];
	const struct jl_figure *f = &note->figures[root->figure];
	const struct jl_mention *on = about(note, f);
	const bool rare = n_digits(note, f) >= 4;

	if (!on && !rare)
		return;
	for (size_t i = 0; i < note->n_figures; i++) {
		const struct jl_figure *g = &note->figures[i];
		struct jl_audit_finding *said;

		if (g == f || !same_figure(f, g) || note->verdicts[i] <= JL_AUDIT_UNLIKELY)
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
		jl_audit_finding_explain(said, "repeats line %u", root->line);
	}
}

/* --- a sentence that repeats a table's figure with a typing error */

static bool is_slip(const struct jl_audit_note *note, const struct jl_figure *a, const struct jl_figure *b)
{
	return a->num_len == b->num_len && a->decimals == b->decimals && n_digits(note, a) >= 3 &&
	       jl_is_slip(note->text + a->num_at, a->num_len, note->text + b->num_at, b->num_len) == 2;
}

/* True if the line names the row by its count ("8 GPUs" for row 8) or its label. */
static bool names_row(const struct jl_audit_note *note, const struct jl_line *line, const struct jl_grid *g, uint32_t r)
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

static bool stands_in(const struct jl_audit_note *note, const struct jl_grid *g, const struct jl_figure *f)
{
	for (uint32_t i = 0; i < g->n_rows * g->n_cols; i++)
		if (g->cells[i].fig >= 0 && note->figures[g->cells[i].fig].lo == f->lo)
			return true;
	return false;
}

/* The figure of the row that this one should equal; NULL: none, or they are equal. */
static const struct jl_figure *meant_by(const struct jl_audit_note *note, const struct jl_grid *g,
					const struct jl_figure *f)
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

static void slips(struct jl_audit_note *note, const struct jl_grid *g)
{
	const size_t last = g->last_line + 60 < note->n_lines ? g->last_line + 60 : note->n_lines;

	for (size_t l = g->last_line + 1; l < last; l++) {
		const struct jl_line *line = &note->lines[l];

		if (line->kind == JL_LINE_ROW || line->n_figs > 16)
			continue;
		for (uint32_t i = line->fig; i < line->fig + line->n_figs; i++) {
			const struct jl_figure *f = &note->figures[i], *h;
			struct jl_audit_finding *said;
			uint32_t at, column;

			if (note->verdicts[i] != JL_AUDIT_CANNOT || f->qty == JL_Q_NUMBER || f->qty == JL_Q_COUNT ||
			    !(h = meant_by(note, g, f)) ||
			    !(said = jl_finding_on_figure(note, JL_AUDIT_WRONG, "same-fact", (int32_t)i)))
				continue;
			jl_audit_place(note, h->at, &at, &column);
			jl_fig_text(said->premises, note, f, h->lo, 0);
			jl_audit_finding_explain(said, "the table has %s in line %u", said->premises, at);
		}
	}
}

void jl_rule_slips(struct jl_audit_note *note)
{
	for (size_t i = 0; i < note->n_grids && i < 200; i++)
		if (note->grids[i].kind == JL_GRID_TABLE && note->grids[i].has_heads && note->grids[i].n_rows <= 64)
			slips(note, &note->grids[i]);
}

void jl_rule_same(struct jl_audit_note *note)
{
	const size_t n = note->n_findings;

	for (size_t i = 0; i < n && i < REPEATS_OF; i++)
		if (note->findings[i].figure >= 0 && note->findings[i].verdict <= JL_AUDIT_DIFFERS)
			repeats_of(note, (int32_t)i);
}
