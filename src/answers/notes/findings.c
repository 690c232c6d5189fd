/* Collects findings: one per figure, in the note's order, roots before their consequences. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "notes/inside.h"

int32_t jl_finding_of(const struct jl_audit_note *note, int32_t figure)
{
	return figure < 0 ? -1 : note->finding_of[figure] - 1;
}

void jl_audit_too_long(struct jl_audit_note *note, uint32_t at)
{
	uint32_t column;

	if (!note->n_too_long++)
		jl_audit_place(note, at, &note->too_long_line, &column);
}

/* Returns NULL if the limit is reached or the figure has a finding already. */
struct jl_audit_finding *jl_finding_new(struct jl_audit_note *note, enum jl_audit_verdict verdict, const char *rule,
					uint32_t at, uint32_t len, int32_t figure)
{
	if (note->n_findings >= JL_AUDIT_FINDINGS_MAX) {
		note->cut = true;
		return NULL;
	}
	if (figure >= 0 && jl_finding_of(note, figure) >= 0)
		return NULL;
	struct jl_audit_finding *f = &note->findings[note->n_findings++];
	*f = (struct jl_audit_finding){
		.verdict = verdict, .rule = rule, .at = at, .len = len, .figure = figure, .root = -1, .shown = true
	};
	jl_audit_place(note, at, &f->line, &f->column);
	f->written = jl_audit_quote(note, at, len > 120 ? 120 : len);
	if (figure >= 0) {
		note->verdicts[figure] = (uint8_t)verdict;
		note->finding_of[figure] = (int32_t)note->n_findings;
	}
	return f;
}

struct jl_audit_finding *jl_finding_on_figure(struct jl_audit_note *note, enum jl_audit_verdict verdict,
					      const char *rule, int32_t figure)
{
	const struct jl_figure *f = &note->figures[figure];

	return jl_finding_new(note, verdict, rule, f->at, f->len, figure);
}

void jl_finding_gives(struct jl_audit_note *note, const struct jl_figure *is, double want, bool fix, const char *a,
		      const char *sign, const char *b)
{
	struct jl_audit_finding *said = jl_finding_on_figure(note, JL_AUDIT_WRONG, "arithmetic",
							     (int32_t)(is - note->figures));
	char sum[128];

	if (!said)
		return;
	jl_fig_text(said->premises, note, is, want, 0);
	if (fix)
		jl_fig_digits(said->fix, is, want, 0);
	snprintf(sum, sizeof sum, "%.50s %s %.50s", a, sign, b);
	jl_audit_finding_explain(said, "%.150s gives %s", sum, said->premises);
}

void jl_audit_judge(struct jl_audit_note *note, int32_t figure, enum jl_audit_verdict verdict)
{
	if (figure < 0)
		return;
	if (note->verdicts[figure] == JL_AUDIT_CANNOT ||
	    (note->verdicts[figure] == JL_AUDIT_GIVEN && verdict != JL_AUDIT_CANNOT))
		note->verdicts[figure] = (uint8_t)verdict;
}

double jl_finding_value(const struct jl_audit_note *note, int32_t figure)
{
	const struct jl_figure *f = &note->figures[figure];
	const int32_t found = jl_finding_of(note, figure);
	const char *should = found < 0 ? "" : note->findings[found].premises;
	struct jl_figure fig;

	should += strcspn(should, "0123456789"); /* skip the currency sign */
	return jl_figure_at(&fig, should, 0, strlen(should)) ? jl_fig_mid(&fig) / fig.scale * f->scale : jl_fig_mid(f);
}

const char *jl_audit_verdict_key(enum jl_audit_verdict verdict)
{
	static const char *const keys[JL_N_AUDIT_VERDICT] = { "wrong",     "differs",     "unlikely", "compatible",
							      "confirmed", "cannot_tell", "given" };

	return (size_t)verdict < JL_N_AUDIT_VERDICT ? keys[verdict] : "";
}

struct order {
	uint32_t root_at, at;
	int32_t index;
};

static int by_place(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	if (x->root_at != y->root_at)
		return x->root_at < y->root_at ? -1 : 1;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* Hides consequences of hidden roots, and shortens chains to their first root. */
static void settle_roots(struct jl_audit_note *note)
{
	for (size_t i = 0; i < note->n_findings; i++) {
		struct jl_audit_finding *f = &note->findings[i];

		for (int hops = 0; f->root >= 0 && note->findings[f->root].root >= 0 && hops < 8; hops++)
			f->root = note->findings[f->root].root;
		if (f->root == (int32_t)i)
			f->root = -1;
		if (f->root < 0)
			continue;
		f->shown &= note->findings[f->root].shown;
		if (!*note->findings[f->root].fix)
			f->fix[0] = '\0'; /* partial corrections would contradict each other */
	}
}

void jl_audit_findings_close(struct jl_audit_note *note)
{
	struct order *order = jl_arena_array(note->arena, note->n_findings + 1, sizeof *order);
	struct jl_audit_finding *sorted = jl_arena_array(note->arena, note->n_findings + 1, sizeof *sorted);
	int32_t *now = jl_arena_array(note->arena, note->n_findings + 1, sizeof *now);

	settle_roots(note);
	for (size_t i = 0; i < note->n_figures; i++) {
		const int32_t found = jl_finding_of(note, (int32_t)i);

		if (found >= 0 && !note->findings[found].shown)
			note->verdicts[i] = JL_AUDIT_CANNOT; /* a suspicion is not a verdict */
		note->n[note->verdicts[i]]++;
	}
	for (size_t i = 0; i < note->n_findings; i++) {
		const struct jl_audit_finding *f = &note->findings[i];

		note->n_shown += f->shown;
		note->n_roots += f->shown && f->root < 0 && f->verdict < JL_AUDIT_UNLIKELY;
		note->n_doubts += f->shown && f->root < 0 && f->verdict == JL_AUDIT_UNLIKELY;
		note->n_hidden_by_rule += !f->shown;
		note->n[f->verdict] += f->figure < 0 && f->shown;
	}
	if (!order || !sorted || !now)
		return; /* ties: order of discovery */
	for (size_t i = 0; i < note->n_findings; i++) {
		const int32_t root = note->findings[i].root;

		order[i] = (struct order){ .root_at = root >= 0 ? note->findings[root].at : note->findings[i].at,
					   .at = root >= 0 ? note->findings[i].at + 1 : 0,
					   .index = (int32_t)i };
	}
	qsort(order, note->n_findings, sizeof *order, by_place);
	for (size_t i = 0; i < note->n_findings; i++)
		now[order[i].index] = (int32_t)i;
	for (size_t i = 0; i < note->n_findings; i++) {
		sorted[i] = note->findings[order[i].index];
		if (sorted[i].root >= 0)
			sorted[i].root = now[sorted[i].root];
	}
	note->findings = sorted;
}
