/* A unified diff of the note with corrected figures: a proposal to be read, then applied with patch(1). */
#include "topics/audit_note.h"

#include <stdlib.h>

#define CONTEXT 2 /* lines around a change */

struct edit {
	uint32_t at, len; /* digits to remove */
	uint32_t line;    /* from 0 */
	const char *text;
};

static int by_at(const void *a, const void *b)
{
	const struct edit *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static struct edit *edits_of(const struct jl_audit_note *note, size_t *ret_n)
{
	struct edit *edits = jl_arena_array(note->arena, note->n_findings + 1, sizeof *edits);

	*ret_n = 0;
	for (size_t i = 0; edits && i < note->n_findings; i++) {
		const struct jl_audit_finding *f = &note->findings[i];

		if (!jl_audited_is_fixable(note, f))
			continue;
		edits[(*ret_n)++] = (struct edit){ note->figures[f->figure].num_at, note->figures[f->figure].num_len,
						   f->line - 1, f->fix };
	}
	if (edits)
		qsort(edits, *ret_n, sizeof *edits, by_at);
	return edits;
}

/* Lines that depend on a changed figure but cannot be corrected with it (a range, a figure in words): listed before the diff, where patch
 * ignores them. */
static void left_as_is(struct jl_buf *out, const struct jl_audit_note *note)
{
	uint32_t last = 0;

	for (size_t i = 0; i < note->n_findings; i++) {
		const struct jl_audit_finding *f = &note->findings[i];

		if (!f->shown || f->root < 0 || f->line == last || jl_audited_is_fixable(note, f) ||
		    !jl_audited_is_fixable(note, &note->findings[f->root]))
			continue;
		jl_buf_printf(out,
			      JL_("Line %u follows from line %u, which is changed, and has to be written anew: %s\n"),
			      f->line, note->findings[f->root].line, f->written);
		last = f->line;
	}
}

/* A line of the note after its sign, with `n` edits. */
static void line(struct jl_buf *out, const struct jl_audit_note *note, size_t l, char sign, const struct edit *edits,
		 size_t n)
{
	uint32_t at = note->raw_line_at[l];
	const uint32_t end = l + 1 < note->n_raw_lines ? note->raw_line_at[l + 1] - 1 : (uint32_t)note->len;

	jl_buf_putc(out, sign);
	for (size_t i = 0; i < n; i++) {
		jl_buf_add(out, note->raw + at, edits[i].at - at);
		jl_buf_puts(out, edits[i].text);
		at = edits[i].at + edits[i].len;
	}
	jl_buf_add(out, note->raw + at, end - at);
	jl_buf_puts(out, l + 1 == note->n_raw_lines ? "\n\\ No newline at end of file\n" : "\n");
}

static size_t same_line(const struct edit *edits, size_t i, size_t n)
{
	size_t k = i;

	while (k < n && edits[k].line == edits[i].line)
		k++;
	return k;
}

void jl_audited_diff(struct jl_buf *out, const struct jl_audit_note *note)
{
	/* an empty last line is only the final newline */
	const size_t n_lines = note->n_raw_lines - (note->len && note->raw[note->len - 1] == '\n');
	size_t n, i = 0;
	const struct edit *edits = edits_of(note, &n);

	if (!edits || !n)
		return;
	left_as_is(out, note);
	jl_buf_printf(out, "--- a/%s\n+++ b/%s\n", note->file, note->file);
	while (i < n) {
		size_t last = i, from, to;

		/* neighbouring changes share a hunk */
		while (last + 1 < n && edits[last + 1].line <= edits[last].line + 2 * CONTEXT + 1)
			last++;
		from = edits[i].line > CONTEXT ? edits[i].line - CONTEXT : 0;
		to = edits[last].line + CONTEXT < n_lines ? edits[last].line + CONTEXT + 1 : n_lines;
		jl_buf_printf(out, "@@ -%zu,%zu +%zu,%zu @@\n", from + 1, to - from, from + 1, to - from);
		for (size_t l = from; l < to; l++) {
			if (i < n && edits[i].line == l) {
				const size_t next = same_line(edits, i, n);

				line(out, note, l, '-', NULL, 0);
				line(out, note, l, '+', edits + i, next - i);
				i = next;
			} else {
				line(out, note, l, ' ', NULL, 0);
			}
		}
	}
}
