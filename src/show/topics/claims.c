#include "topics/claims.h"

#include <math.h>
#include <string.h>

#include "notes/claims.h"

#define PLACES_SHOWN 6

/* " (2.0x too high)", " (2.4 % too low)" */
static const char *how_far(struct jl_doc *doc, const struct jl_claim *c)
{
	const double ratio = 1 + c->off_frac, larger = ratio > 1 ? ratio : 1 / ratio;
	const char *word = c->off_frac > 0 ? JL_("high") : JL_C("claim", "low");

	if (!isfinite(larger) || !*c->unit_text) /* a count or a year: a ratio has no meaning */
		return "";
	if (larger >= 1.5)
		return jl_doc_format(doc, JL_(" (%.1fx too %s)"), larger, word);
	return jl_doc_format(doc, JL_(" (%.*f %% too %s)"), fabs(c->off_frac) < 0.095, fabs(c->off_frac) * 100, word);
}

/* "✗ L21 58 93", "✗ L21 58 93 128 138 208 +2" */
static const char *places(struct jl_doc *doc, const struct jl_claim *c)
{
	const char *letter = c->at[0] >= '0' && c->at[0] <= '9' ? "L" : "", *end = c->at;

	if (c->n_places <= PLACES_SHOWN + 1)
		return jl_doc_format(doc, "%s %s%s", jl_claim_mark(c->verdict), letter, c->at);
	for (size_t i = 0; i < PLACES_SHOWN; i++) {
		end += strspn(end, " ,");
		end += strcspn(end, " ,");
	}
	return jl_doc_format(doc, "%s %s%.*s +%zu", jl_claim_mark(c->verdict), letter, (int)(end - c->at), c->at,
			     c->n_places - PLACES_SHOWN);
}

/* "line 166", "line 166 and 2 more" */
static const char *first_place(struct jl_doc *doc, const struct jl_claim *c)
{
	const bool line = c->at[0] >= '0' && c->at[0] <= '9';

	if (c->n_places > 1)
		return jl_doc_format(doc, line ? JL_("line %.*s and %zu more") : JL_("%.*s and %zu more"),
				     (int)strcspn(c->at, " "), c->at, c->n_places - 1);
	return line ? jl_doc_format(doc, JL_("line %s"), c->at) : c->at;
}

static bool differs(const struct jl_claim *c)
{
	return c->verdict == JL_CLAIM_DIFFERS && c->derived;
}

/* "time of an epoch: ~2.7 h → 1.3 h" */
static void figures(struct jl_doc *doc, const struct jl_claim *c)
{
	jl_doc_sourced(doc, jl_words_in(c->says), JL_ORIGIN_NONE, NULL);
	jl_doc_text(doc, ": ");
	jl_doc_sourced(doc, jl_claim_say(JL_TXT, c->value_text), JL_ORIGIN_NONE, NULL);
	if (differs(c)) {
		jl_doc_text(doc, " → ");
		jl_doc_sourced(doc, jl_claim_say(JL_TXT, c->result_text), JL_ESTIMATED, c->from);
	}
}

/* A claim: place, value, derived value; `why`: with the reason, unless the group's heading states it. */
static void claim(struct jl_doc *doc, const struct jl_claim *c, bool why)
{
	const bool given = c->verdict == JL_CLAIM_FOLLOWS || c->verdict == JL_CLAIM_GIVEN;
	const char *is = c->result.estimate ? JL_("; estimated (80 %): ") : JL_("; it is "), *stop = JL_("; ");
	const char *const more[] = {
		differs(c) ? how_far(doc, c) : "",
		given ? jl_doc_format(doc, " = %s", c->from) : "",
		why && c->why_text[0] ? jl_doc_format(doc, "%s%s", stop, c->why_text) : "",
		c->taken_from ? jl_doc_format(doc, JL_("; the figure is %s"), c->taken_from)
		: differs(c)  ? jl_doc_format(doc, "%s%s", is, c->from)
			      : "",
		c->note.en ? jl_doc_format(doc, "%s%s", stop, jl_words_in(c->note)) : "",
		c->against ? jl_doc_format(doc, JL_(" [L%s says %s]"), c->against->at,
					   jl_claim_say(JL_TXT, c->against->value_text))
			   : "",
	};

	jl_doc_item(doc);
	jl_doc_name(doc, jl_doc_format(doc, "%s: ", places(doc, c)));
	figures(doc, c);
	for (size_t i = 0; i < JL_LEN(more); i++)
		if (*more[i])
			jl_doc_sourced(doc, more[i], JL_ESTIMATED, c->from);
}

static void in_a_sentence(struct jl_doc *doc, const struct jl_claims_audit *audit)
{
	const size_t *n = audit->n;

	JL_SENTENCE(doc,
		    JL_("Of |1 claims |2 follow from the text's own figures and |3 do not; |4 cannot be derived, |5 "
			"are inputs."),
		    JL_COUNT(audit->n_claims), JL_COUNT(n[JL_CLAIM_FOLLOWS]), JL_COUNT(n[JL_CLAIM_DIFFERS]),
		    JL_COUNT(n[JL_CLAIM_OPEN]), JL_COUNT(n[JL_CLAIM_GIVEN]));
}

static size_t count_same(const struct jl_claims_audit *audit, const struct jl_claim *c,
			 const struct jl_claim **ret_first)
{
	size_t n = 0;

	for (const struct jl_claim *k = audit->claims; k < audit->claims + audit->n_claims; k++)
		if (k->verdict == c->verdict && jl_same_text(k->reason, c->reason) && !n++)
			*ret_first = k;
	return n;
}

static void mistake(struct jl_doc *doc, const struct jl_claims_audit *audit, const struct jl_claim *first, size_t n)
{
	jl_doc_para(doc);
	jl_doc_sourced(
		doc,
		first->reason
			? jl_doc_format(doc, "%s: %s", jl_doc_format(doc, JL_("Mistake (%zu)"), n), first->why_text)
			: jl_doc_format(doc, "%s: %s", jl_doc_format(doc, JL_("Otherwise (%zu)"), n),
					JL_("the recomputed value differs, and no common mistake gives this figure")),
		JL_ORIGIN_NONE, NULL);
	for (const struct jl_claim *c = first; c < audit->claims + audit->n_claims; c++)
		if (c->verdict == first->verdict && jl_same_text(c->reason, first->reason))
			claim(doc, c, false);
}

/* Groups claims by mistake: largest group first, unknown causes last. */
static void mistakes(struct jl_doc *doc, const struct jl_claims_audit *audit)
{
	size_t *n = jl_arena_array(doc->arena, audit->n_claims + 1, sizeof *n), best;
	const struct jl_claim *first = NULL, *other = NULL;

	for (size_t i = 0; n && i < audit->n_claims; i++) {
		const size_t same = count_same(audit, &audit->claims[i], &first);

		if (audit->claims[i].verdict != JL_CLAIM_DIFFERS || first != &audit->claims[i])
			continue;
		if (first->reason)
			n[i] = same;
		else
			other = first;
	}
	while (n) {
		best = 0;
		for (size_t i = 1; i < audit->n_claims; i++)
			best = n[i] > n[best] ? i : best;
		if (!n[best])
			break;
		mistake(doc, audit, &audit->claims[best], n[best]);
		n[best] = 0;
	}
	if (other)
		mistake(doc, audit, other, count_same(audit, other, &first));
}

static void group(struct jl_doc *doc, const struct jl_claims_audit *audit, enum jl_claim_verdict verdict,
		  const char *title)
{
	if (audit->n[verdict])
		jl_doc_subsection(doc, jl_claim_key(verdict), title);
	for (size_t i = 0; i < audit->n_claims; i++)
		if (audit->claims[i].verdict == verdict)
			claim(doc, &audit->claims[i], true);
}

void jl_show_claims(struct jl_doc *doc, const struct jl_claims_audit *audit, bool all)
{
	const size_t *n = audit->n;

	if (audit->scenario->title.en) {
		JL_LEAD(doc, jl_words_in(audit->scenario->title));
	}
	jl_doc_lead(doc);
	in_a_sentence(doc, audit);
	if (audit->n_contradictions) {
		jl_doc_lead(doc);
		jl_doc_textf(doc, JL_("The text contradicts itself in %zu place(s)."), audit->n_contradictions);
	}
	mistakes(doc, audit);
	group(doc, audit, JL_CLAIM_OPEN, JL_("Cannot be derived, and what would be needed"));
	if (all) {
		group(doc, audit, JL_CLAIM_FOLLOWS, JL_("Follows"));
		group(doc, audit, JL_CLAIM_GIVEN, JL_("Inputs, taken as given"));
	} else if (n[JL_CLAIM_FOLLOWS]) {
		jl_doc_para(doc);
		jl_doc_textf(doc, JL_("%zu that follow and %zu inputs are listed with --all."), n[JL_CLAIM_FOLLOWS],
			     n[JL_CLAIM_GIVEN]);
	}
}

/* --- in a report: claims of one root appear with the first of them */

static void root(struct jl_doc *doc, const struct jl_claim *c, size_t n)
{
	const char *why = c->reason ? jl_claim_reason_text(c->reason) : c->why_text, *note = jl_words_in(c->note);

	jl_doc_item(doc);
	if (n > 1) {
		jl_doc_strong(doc, why ? jl_msg(why) : "");
		JL_SENTENCE(doc, JL_(": |1 times, first "), JL_COUNT(n));
	}
	figures(doc, c);
	jl_doc_text(doc, " (");
	jl_doc_name(doc, first_place(doc, c));
	jl_doc_text(doc, ")");
	for (int k = 0; k < 2 && n == 1; k++)
		if ((k ? note : why) && *(k ? note : why)) {
			jl_doc_text(doc, JL_C("claim", "; "));
			jl_doc_sourced(doc, k ? note : jl_msg(why), JL_ESTIMATED, c->from);
		}
}

void jl_show_claims_in_short(struct jl_doc *doc, const struct jl_claims_audit *audit)
{
	jl_doc_para(doc);
	in_a_sentence(doc, audit);
	for (const struct jl_claim *c = audit->claims, *first = c; c < audit->claims + audit->n_claims; c++) {
		const size_t same = c->reason ? count_same(audit, c, &first) : 1;

		if (c->verdict == JL_CLAIM_DIFFERS && (!c->reason || first == c))
			root(doc, c, same);
	}
	jl_doc_note(doc, JL_MARK_NONE, JL_("Every claim"));
	jl_doc_code(doc, "jeoul audit");
}

/* --- JSON */

static const struct jl_choice verdicts[] = {
	{ "follows", JL_CLAIM_FOLLOWS },
	{ "differs", JL_CLAIM_DIFFERS },
	{ "open", JL_CLAIM_OPEN },
	{ "given", JL_CLAIM_GIVEN },
	{ NULL, 0 },
};

JL_TEXT_OF(si_unit, jl_claim, jl_dim_text(out, &r->unit.dim));
JL_TEXT_OF(derived, jl_claim, r->derived ? r->result_text : NULL);
JL_TEXT_OF(against, jl_claim, r->against ? r->against->at : NULL);
JL_NUMBER_OF(result, jl_claim, r->derived ? r->result.v : NAN);
JL_NUMBER_OF(result_lo, jl_claim, r->derived ? r->result.lo : NAN);
JL_NUMBER_OF(result_hi, jl_claim, r->derived ? r->result.hi : NAN);
JL_NUMBER_OF(off, jl_claim, r->derived ? r->off_frac : NAN);
JL_TEXT_OF(file, jl_claims_audit, r->scenario->file);
JL_TEXT_OF(title, jl_claims_audit, r->scenario->title.en);

static const struct jl_field claim_rows[] = {
	{ JL_FIELD(jl_claim, TEXT, at), .about = "lines or sections of the text" },
	{ JL_FIELD(jl_claim, SIZE, n_places) },
	{ JL_FIELD_AS(jl_claim, SIZE, where.line, "line"), .about = "of the scenario" },
	{ JL_FIELD_AS(jl_claim, TEXT, says.en, "says") },
	{ JL_FIELD_AS(jl_claim, TEXT, value_text, "value") },
	{ JL_FIELD(jl_claim, CHOICE, verdict), .choices = verdicts },
	{ JL_FIELD_TEXT_OF("si_unit", si_unit) },
	{ JL_FIELD_AS(jl_claim, NUMBER, lo, "claimed_lo_si") },
	{ JL_FIELD_AS(jl_claim, NUMBER, hi, "claimed_hi_si") },
	{ JL_FIELD(jl_claim, TEXT, from) },
	{ JL_FIELD_NUMBER_OF("derived_si", result) },
	{ JL_FIELD_NUMBER_OF("derived_lo_si", result_lo) },
	{ JL_FIELD_NUMBER_OF("derived_hi_si", result_hi) },
	{ JL_FIELD_TEXT_OF("derived", derived) },
	{ JL_FIELD_NUMBER_OF("off_frac", off) },
	{ JL_FIELD(jl_claim, TEXT, reason) },
	{ JL_FIELD_AS(jl_claim, TEXT, taken_from, "figure_is") },
	{ JL_FIELD_AS(jl_claim, CHARS, why_en, "why") },
	{ JL_FIELD_AS(jl_claim, TEXT, note.en, "note") },
	{ JL_FIELD_TEXT_OF("contradicts_at", against) },
};
static const struct jl_schema claim_fields = JL_SCHEMA("claim", jl_claim, claim_rows);

static const struct jl_field rows[] = {
	{ JL_FIELD_TEXT_OF("file", file) },
	{ JL_FIELD_TEXT_OF("title", title) },
	{ JL_FIELD(jl_claims_audit, SIZE, n_claims) },
	{ JL_FIELD(jl_claims_audit, SIZE, n_places) },
	{ JL_FIELD_AS(jl_claims_audit, SIZE, n[JL_CLAIM_FOLLOWS], "n_follows") },
	{ JL_FIELD_AS(jl_claims_audit, SIZE, n[JL_CLAIM_DIFFERS], "n_differs") },
	{ JL_FIELD_AS(jl_claims_audit, SIZE, n[JL_CLAIM_OPEN], "n_open") },
	{ JL_FIELD_AS(jl_claims_audit, SIZE, n[JL_CLAIM_GIVEN], "n_given") },
	{ JL_FIELD(jl_claims_audit, SIZE, n_contradictions) },
	{ JL_FIELD_MANY(jl_claims_audit, LIST, claims, n_claims, "claims", &claim_fields) },
};
const struct jl_schema jl_audit_fields = JL_SCHEMA("audit", jl_claims_audit, rows);
