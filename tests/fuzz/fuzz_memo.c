/* Notes: whatever they are, findings that point into them and say something in both languages, or one clear line. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "notes/audit.h"
#include "topics/audit_note.h"

#define ARENA_MAX_B ((size_t)256 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
	if (!holds)
		abort();
}

static void check(const struct jl_audit_note *note, size_t size)
{
	for (size_t i = 0; i < note->n_figures; i++) {
		const struct jl_figure *f = &note->figures[i];

		must(f->at <= f->num_at && f->at + f->len <= size && f->num_at + f->num_len <= size &&
		     isfinite(f->lo) && f->lo <= f->hi && f->scale > 0);
		must(i == 0 || f->num_at > note->figures[i - 1].num_at);
	}
	for (size_t i = 0; i < note->n_findings; i++) {
		const struct jl_audit_finding *f = &note->findings[i];

		must(f->at + f->len <= size && f->line >= 1 && f->line <= note->n_raw_lines && f->en[0] && f->text[0]);
		must(f->root < (int32_t)note->n_findings && f->root != (int32_t)i);
		must(jl_utf8_valid(f->written, strlen(f->written), NULL) && jl_utf8_valid(f->en, strlen(f->en), NULL) &&
		     jl_utf8_valid(f->text, strlen(f->text), NULL) &&
		     jl_utf8_valid(f->premises, strlen(f->premises), NULL));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* the first byte: which kind of file */
	const char *name = size && data[0] & 1 ? "a.html" : "a.md";
	const size_t n = size ? size - 1 : 0;
	char *text = malloc(n + 1);
	struct jl_audit_note *note;
	struct jl_arena arena;
	struct jl_err err = { .en = "" };

	if (!text)
		return 0;
	if (n)
		memcpy(text, data + 1, n);
	text[n] = '\0';
	jl_arena_init(&arena, ARENA_MAX_B);
	if (jl_audit_note_run(&note, text, n, name, jl_catalog_embedded(), &arena, &err) == JL_OK) {
		struct jl_buf out;

		check(note, n);
		jl_buf_init(&out, (size_t)64 << 20);
		jl_audited_page(&out, note, true, "2026-11-15", &err);
		jl_audited_markdown(&out, note, true);
		jl_audited_sarif(&out, note, true, "0");
		must(jl_utf8_valid(out.data ? out.data : "", out.len, NULL));
		jl_audited_diff(&out, note);
		jl_buf_release(&out);
	} else {
		must(err.en[0] && err.text[0] && !strchr(err.en, '\n') && !strchr(err.text, '\n'));
	}
	jl_arena_release(&arena);
	free(text);
	return 0;
}
