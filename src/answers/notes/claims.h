/* Checks claims against the scenario's inputs, listed facts and predictions.
 *
 * inputs: {batches: 19252, step_s: 1.06 s}
 * claims:
 *   - {at: 21 58, ko: 에폭당 시간, en: time of an epoch, value: ~5.67 h, from: batches * step_s}
 *   - {at: 114, en: epoch on 2x A100, value: ~2.7 h, from: batches * 128 / 256 * 0.5 s, instead: {larger-batch: batches * 0.5 s}}
 *
 * value with unit; ~ in front: about; < <= > >=: a bound; a..b: a range. Tolerance: half of the last written digit, with ~ all of it;
 *          or as given by `within: 5 %`.
 * from derivation (claims_expr.h). Without it, or if it needs unknown values, the claim cannot be derived and `needs` says what
 *          would help. A claim that only repeats an input is "given".
 * instead reason -> expression: a usual mistake, reported only if the claim equals that expression.
 * of subject: two claims with the same subject and different values contradict each other. */
#pragma once

#include "notes/claims_expr.h"

#define JL_CLAIMS_MAX       5000
#define JL_CLAIM_PLACES_MAX 64
#define JL_CLAIM_TEXT_MAX   64
#define JL_CLAIM_WHY_MAX    JL_ERR_TEXT_MAX

enum jl_claim_verdict { JL_CLAIM_FOLLOWS, JL_CLAIM_DIFFERS, JL_CLAIM_OPEN, JL_CLAIM_GIVEN, JL_N_CLAIM_VERDICT };

enum jl_claim_bound { JL_CLAIM_IS, JL_CLAIM_BELOW, JL_CLAIM_ABOVE };

struct jl_claim {
	struct jl_where where; /* place in the scenario */
	const char *at;        /* as written: lines or sections of the audited text */
	size_t n_places;
	struct jl_words says;
	const char *value_text;
	enum jl_claim_bound bound;
	bool about, is_range;
	double lo, hi;      /* bounds, SI */
	double near;        /* absolute tolerance */
	double within_frac; /* NAN: tolerance by the digits */
	struct jl_val unit; /* value of the unit */
	const char *unit_text;
	int n_decimals;
	const char *from, *of;
	const struct jl_yaml *instead;
	struct jl_words needs, note; /* NULLs: none */

	enum jl_claim_verdict verdict;
	bool derived; /* `result` is valid */
	struct jl_val result;
	char result_text[JL_CLAIM_TEXT_MAX]; /* in the claim's unit: "2.84 h", "0.33..0.41 h" */
	double off_frac;                     /* claimed / derived - 1; 0 if it agrees */
	const char *reason;                  /* id of a usual mistake, or NULL */
	const char *taken_from;              /* expression that yields the claimed value, if one was found */
	char why_en[JL_CLAIM_WHY_MAX], why_text[JL_CLAIM_WHY_MAX];
	const struct jl_claim *against; /* contradicting claim about the same subject */
};

struct jl_claims_audit {
	const struct jl_scenario *scenario;
	struct jl_claim *claims;
	size_t n_claims;
	size_t n_places;                 /* places in the text; a claim may have several */
	size_t n[JL_N_CLAIM_VERDICT];    /* claims per verdict */
	size_t n_at[JL_N_CLAIM_VERDICT]; /* places per verdict */
	size_t n_contradictions;
};

/* Reads scenario->claims and ->inputs and checks every claim. A malformed claim is an error with its place. */
enum jl_status jl_claims_audit_make(struct jl_claims_audit *ret_audit, const struct jl_scenario *scenario,
				    const struct jl_catalog *cat, struct jl_arena *arena, long today,
				    struct jl_err *err);

/* claims_why.c: sets the reason of a differing claim. */
enum jl_status jl_claim_explain(struct jl_claim *claim, struct jl_expr_scope *scope, struct jl_err *err);
bool jl_claim_fits(const struct jl_claim *claim, const struct jl_val *result);
const char *jl_claim_reason_text(const char *id); /* NULL: unknown reason */
const char *jl_claim_need_text(const char *id);

/* Formats a figure (value_text or result_text) in the user's language: "약 5.67시간". Returns `out`. */
#define JL_CLAIM_SAY_MAX 160
const char *jl_claim_say(char out[JL_CLAIM_SAY_MAX], const char *text);

const char *jl_claim_key(enum jl_claim_verdict verdict);  /* "follows", "differs", "open", "given" */
const char *jl_claim_mark(enum jl_claim_verdict verdict); /* "✓" ... */
