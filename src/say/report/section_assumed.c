/* What was assumed on the way. */
#include "report/section.h"

void jl_section_assumed(struct jl_section *s)
{
	const struct jl_notes *list = s->w->compare                               ? &s->w->compare->notes
				      : s->w->advised && s->w->advised->predicted ? &s->w->advised->how.notes
										  : NULL;

	if (!list || !list->n)
		return;
	jl_section_open(s, "assumed", "Chosen where nothing was said");
	for (size_t i = 0; i < list->n; i++) {
		jl_doc_item(s->doc);
		jl_doc_code(s->doc, list->items[i].key ? list->items[i].key : "");
		jl_doc_text(s->doc, " ");
		jl_doc_said(s->doc, list->items[i].text, JL_ESTIMATED, JL_METHOD);
	}
}
