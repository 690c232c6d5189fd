/* An audit as part of a document: one line for each root of what differs, with how often it is met and the first place as its example.
 * Figures of the audited text and of the derivation are kept as they are said, with their origin. */
#include <string.h>

#include "audit/claims.h"
#include "tell/tell.h"

/* "line 166", "line 166 and 2 more" */
static const char *place(struct jl_doc *doc, const struct jl_claim *c)
{
	const size_t len = strcspn(c->at, " ");
	const bool line = c->at[0] >= '0' && c->at[0] <= '9';

	if (c->n_places > 1)
		return jl_tell_text(doc, line ? JL_("line %.*s and %zu more") : JL_("%.*s and %zu more"), (int)len,
				    c->at, c->n_places - 1);
	return line ? jl_tell_text(doc, JL_("line %s"), c->at) : c->at;
}

static void one(struct jl_doc *doc, const struct jl_audit *audit, const struct jl_claim *c)
{
	jl_doc_said(doc, jl_words_in(c->says), JL_ORIGIN_NONE, NULL);
	jl_doc_text(doc, ": ");
	jl_doc_said(doc, jl_claim_say(JL_TXT, c->value_text), JL_PUBLISHED, audit->scenario->file);
	if (c->verdict == JL_CLAIM_DIFFERS && c->derived) {
		jl_doc_text(doc, " → ");
		jl_doc_said(doc, jl_claim_say(JL_TXT, c->result_text), JL_ESTIMATED, c->from);
	}
	jl_doc_text(doc, " (");
	jl_doc_name(doc, place(doc, c));
	jl_doc_text(doc, ")");
}

static size_t same_reason(const struct jl_audit *audit, const char *reason, size_t *ret_first)
{
	size_t n = 0;

	for (size_t i = audit->n_claims; i-- > 0;) {
		const struct jl_claim *c = &audit->claims[i];

		if (c->verdict == JL_CLAIM_DIFFERS && c->reason && strcmp(c->reason, reason) == 0) {
			n++;
			*ret_first = i;
		}
	}
	return n;
}

/* Those of one root are told with the first of them. */
static void differs(struct jl_doc *doc, const struct jl_audit *audit)
{
	for (size_t i = 0; i < audit->n_claims; i++) {
		const struct jl_claim *c = &audit->claims[i];
		const char *note = jl_words_in(c->note),
			   *why = c->reason ? jl_claim_reason_text(c->reason) : c->why_text;
		size_t first = i, n = c->reason ? same_reason(audit, c->reason, &first) : 1;

		if (c->verdict != JL_CLAIM_DIFFERS || first != i)
			continue;
		jl_doc_item(doc);
		if (n > 1) {
			jl_doc_strong(doc, why ? jl_msg(why) : "");
			JL_SENTENCE(doc, JL_(": |1 times, first "), JL_FIG(jl_num_count((double)n)));
			one(doc, audit, c);
			continue;
		}
		one(doc, audit, c);
		for (int k = 0; k < 2; k++)
			if ((k ? note : why) && *(k ? note : why)) {
				jl_doc_text(doc, JL_C("claim", "; "));
				jl_doc_said(doc, k ? note : jl_msg(why), JL_ESTIMATED, c->from);
			}
	}
}

void jl_audit_to_doc(struct jl_doc *doc, const struct jl_audit *audit)
{
	const size_t *n = audit->n;

	jl_doc_para(doc);
	JL_SENTENCE(doc,
		    JL_("Of |1 claims |2 follow from the text's own figures and |3 do not; |4 cannot be derived, |5 "
			"are inputs."),
		    JL_FIG(jl_num_count((double)audit->n_claims)), JL_FIG(jl_num_count((double)n[JL_CLAIM_FOLLOWS])),
		    JL_FIG(jl_num_count((double)n[JL_CLAIM_DIFFERS])), JL_FIG(jl_num_count((double)n[JL_CLAIM_OPEN])),
		    JL_FIG(jl_num_count((double)n[JL_CLAIM_GIVEN])));
	differs(doc, audit);
	jl_doc_note(doc, JL_MARK_NONE, JL_("Every claim"));
	jl_doc_code(doc, "jeoul audit");
}
