/* An audit as part of a document. Figures of the audited text and of the derivation are kept as they are said, with their origin. */
#include "audit/claims.h"
#include "doc/doc.h"

static void counts(struct jl_doc *doc, const struct jl_audit *audit)
{
	const size_t *n = audit->n;
	const char *text = jl_arena_printf(
		doc->arena,
		JL_("%zu claims in %zu places: ⚠ %zu differ, ✅ %zu follow, ❓ %zu cannot be derived, 📄 %zu are inputs."),
		audit->n_claims, audit->n_places, n[JL_CLAIM_DIFFERS], n[JL_CLAIM_FOLLOWS], n[JL_CLAIM_OPEN],
		n[JL_CLAIM_GIVEN]);

	jl_doc_para(doc);
	jl_doc_said(doc, text ? text : "", JL_ESTIMATED, audit->scenario->file);
}

/* One claim as an item that wraps: where, what, says → should be; why. */
static void one(struct jl_doc *doc, const struct jl_audit *audit, const struct jl_claim *c)
{
	const char *why = c->why_text, *note = jl_words_in(c->note), *stop = JL_C("claim", "; ");
	char figure[JL_CLAIM_SAY_MAX];

	jl_doc_item(doc);
	jl_doc_textf(doc, "%s ", jl_verdict_mark(c->verdict));
	jl_doc_name(doc, jl_arena_printf(doc->arena, "%s%s", c->at[0] >= '0' && c->at[0] <= '9' ? "L" : "", c->at));
	jl_doc_text(doc, " ");
	jl_doc_said(doc, jl_words_in(c->says), JL_PUBLISHED, audit->scenario->file);
	jl_doc_text(doc, ": ");
	jl_doc_said(doc, jl_claim_say(figure, c->value_text), JL_PUBLISHED, audit->scenario->file);
	if (c->verdict == JL_CLAIM_DIFFERS && c->derived) {
		jl_doc_text(doc, " → ");
		jl_doc_said(doc, jl_claim_say(figure, c->result_text), JL_ESTIMATED, c->from);
	}
	for (int i = 0; i < 2; i++)
		if ((i ? note : why) && *(i ? note : why)) {
			jl_doc_text(doc, stop);
			jl_doc_said(doc, i ? note : why, JL_ESTIMATED, c->from);
		}
}

static void group(struct jl_doc *doc, const struct jl_audit *audit, enum jl_verdict verdict, const char *title)
{
	if (!audit->n[verdict])
		return;
	jl_doc_subsection(doc, jl_arena_printf(doc->arena, "claims-%s", jl_verdict_key(verdict)), title);
	for (size_t i = 0; i < audit->n_claims; i++)
		if (audit->claims[i].verdict == verdict)
			one(doc, audit, &audit->claims[i]);
}

void jl_audit_to_doc(struct jl_doc *doc, const struct jl_audit *audit, bool all)
{
	counts(doc, audit);
	group(doc, audit, JL_CLAIM_DIFFERS, JL_("What differs (says → should be)"));
	if (!all)
		return;
	group(doc, audit, JL_CLAIM_OPEN, JL_("What cannot be derived"));
	group(doc, audit, JL_CLAIM_FOLLOWS, JL_("What follows"));
	group(doc, audit, JL_CLAIM_GIVEN, JL_("Inputs"));
}
