/* The same figure in other places: what repeats a wrong one is wrong too; what should repeat a right one and does not, differs. */
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

void jl_rule_same(struct jl_memo *note)
{
	const size_t n = note->n_findings;

	for (size_t i = 0; i < n && i < REPEATS_OF; i++)
		if (note->findings[i].figure >= 0 && note->findings[i].verdict <= JL_MEMO_DIFFERS)
			repeats_of(note, (int32_t)i);
}
