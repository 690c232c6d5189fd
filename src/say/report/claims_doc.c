/* An audit as part of a document. Figures of the audited text and of the derivation are kept as they are said, with their origin. */
#include "audit/claims.h"
#include "doc/doc.h"

static void counts(struct jl_doc *doc, const struct jl_audit *audit)
{
	const size_t *n = audit->n;
	const char *text = jl_arena_printf(
		doc->arena,
		JL_T(doc->lang,
		     "%zu claims in %zu places: ⚠ %zu differ, ✅ %zu follow, ❓ %zu cannot be derived, 📄 %zu are inputs.",
		     "주장 %zu개, %zu곳: ⚠ 다름 %zu, ✅ 맞음 %zu, ❓ 확인 불가 %zu, 📄 입력값 %zu."),
		audit->n_claims, audit->n_places, n[JL_CLAIM_DIFFERS], n[JL_CLAIM_FOLLOWS], n[JL_CLAIM_OPEN],
		n[JL_CLAIM_GIVEN]);

	jl_doc_para(doc);
	jl_doc_said(doc, text ? text : "", JL_ESTIMATED, audit->scenario->file);
}

/* One claim as an item that wraps: where, what, says → should be; why. */
static void one(struct jl_doc *doc, const struct jl_audit *audit, const struct jl_claim *c)
{
	const bool ko = doc->lang == JL_KO;
	const char *why = ko ? c->why_ko : c->why_en, *note = ko ? c->note.ko : c->note.en;
	const char *stop = ko ? ". " : "; ";
	char figure[JL_CLAIM_SAY_MAX];

	jl_doc_item(doc);
	jl_doc_textf(doc, "%s ", jl_verdict_mark(c->verdict));
	jl_doc_name(doc, jl_arena_printf(doc->arena, "%s%s", c->at[0] >= '0' && c->at[0] <= '9' ? "L" : "", c->at));
	jl_doc_text(doc, " ");
	jl_doc_said(doc, ko ? c->says.ko : c->says.en, JL_PUBLISHED, audit->scenario->file);
	jl_doc_text(doc, ": ");
	jl_doc_said(doc, jl_claim_say(figure, c->value_text, doc->lang), JL_PUBLISHED, audit->scenario->file);
	if (c->verdict == JL_CLAIM_DIFFERS && c->derived) {
		jl_doc_text(doc, " → ");
		jl_doc_said(doc, jl_claim_say(figure, c->result_text, doc->lang), JL_ESTIMATED, c->from);
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
	group(doc, audit, JL_CLAIM_DIFFERS,
	      JL_T(doc->lang, "What differs (says → should be)", "계산과 다른 주장 (적힌 값 → 계산한 값)"));
	if (!all)
		return;
	group(doc, audit, JL_CLAIM_OPEN, JL_T(doc->lang, "What cannot be derived", "확인할 수 없는 주장"));
	group(doc, audit, JL_CLAIM_FOLLOWS, JL_T(doc->lang, "What follows", "맞는 주장"));
	group(doc, audit, JL_CLAIM_GIVEN, JL_T(doc->lang, "Inputs", "입력값"));
}
