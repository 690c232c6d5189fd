/* Notes at the end of a document: assumptions, and how names were read. */
#include "topics/show.h"

#include <string.h>

#include "base/utf8.h"

#define ASSUMED_COLUMNS 76

static bool among(const char *const *names, const char *name)
{
	for (; names && *names; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

void jl_show_readings(struct jl_doc *doc, const struct jl_readings *readings)
{
	for (size_t i = 0; i < readings->n; i++) {
		const struct jl_reading *r = &readings->items[i];

		if (r->others[0])
			jl_show_note(doc, JL_("Names"), JL_ESTIMATED, JL_("'%s' is read as %s; for another write %s"),
				     r->written, r->meant, r->others);
		else
			jl_show_note(doc, JL_("Names"), JL_ESTIMATED, JL_("'%s' is read as %s"), r->written, r->meant);
	}
}

/* "bf16" of "bf16: H100 SXM5 80GB has it": an assumption without its reason. */
static const char *without_why(struct jl_doc *doc, const char *text)
{
	return jl_doc_format(doc, "%.*s", (int)strcspn(text, ":;("), text);
}

/* As many as fit one line, and the option that shows the rest. */
static void assumed_line(struct jl_doc *doc, const struct jl_notes *notes)
{
	const char *all = JL_("--assumptions shows why"), *more = JL_("%zu more: --assumptions");
	const size_t room = ASSUMED_COLUMNS - jl_utf8_width(JL_("Assumed")) - jl_utf8_width(more) - 4;
	size_t used = 0, n = 0;

	jl_doc_note(doc, JL_MARK_NONE, JL_("Assumed"));
	for (size_t i = 0; i < notes->n; i++) {
		const char *text = without_why(doc, notes->items[i].text);
		const size_t width = jl_utf8_width(text) + 3;

		if (used + width > room)
			continue;
		jl_doc_sourced(doc, text, JL_ESTIMATED, JL_METHOD);
		jl_doc_text(doc, " · ");
		used += width;
		n++;
	}
	if (n < notes->n)
		jl_doc_textf(doc, more, notes->n - n);
	else
		jl_doc_text(doc, all);
}

void jl_show_assumed(struct jl_doc *doc, const struct jl_notes *notes, const char *const *options)
{
	if (!notes->n)
		return;
	if (doc->brief) {
		assumed_line(doc, notes);
		return;
	}
	jl_doc_note(doc, JL_MARK_NONE, JL_("Assumed"));
	for (size_t i = 0; i < notes->n; i++) {
		const struct jl_note *note = &notes->items[i];

		if (i)
			jl_doc_text(doc, "\xc2\xa0· ");
		jl_doc_sourced(doc, note->text, JL_ESTIMATED, JL_METHOD);
		if (among(options, note->key))
			jl_doc_textf(doc, " (--%s)", note->key);
	}
}
