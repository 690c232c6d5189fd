#include <string.h>

#include "check/answer.h"

JL_TEXT_OF(id, jl_judged, *r->record->id ? r->record->id : NULL);
JL_TEXT_OF(kind, jl_judged, r->record->kind);

static const char *what(const void *record, char out[JL_FIELD_TEXT_MAX])
{
	_Static_assert(JL_RECORD_WORDS_MAX <= JL_FIELD_TEXT_MAX, "the words fit");
	return jl_record_what(out, ((const struct jl_judged *)record)->record);
}

JL_TEXT_OF(system_text, jl_judged, r->sys ? r->sys->text : NULL);
JL_TEXT_OF(verdict, jl_judged, jl_verdict_name(r->verdict));
JL_NUMBER_OF(low_below, jl_judged, jl_judged_turn(r, true));
JL_NUMBER_OF(good_above, jl_judged, jl_judged_turn(r, false));
JL_NUMBER_OF(high_above, jl_judged, r->expect.most > 0 && r->expect.most < r->expect.bound ? r->expect.most : NAN);

JL_TEXT_OF(unit, jl_judged, strchr(r->metric, '_') ? strrchr(r->metric, '_') + 1 : "");

/* `notice` as a relative loss: 1.25 times as slow is 20 % less. */
JL_NUMBER_OF(would_notice, jl_judged, r->expect.unproven || !(r->expect.notice > 1) ? NAN : 1 - 1 / r->expect.notice);
JL_TEXT_OF(cause, jl_judged, *r->cause.en ? r->cause.en : NULL);
JL_TEXT_OF(neighbour, jl_judged, *r->neighbour.en ? r->neighbour.en : NULL);

JL_TEXT_OF(basis, jl_judged, jl_check_basis_name(r->basis));
JL_BOOL_OF(at_edge, jl_judged, !r->before && jl_verdict_at_edge(&r->figure, &r->expect));
JL_BOOL_OF(is_coll, jl_judged, r->is_coll);
JL_BOOL_OF(is_change, jl_judged, r->before != NULL);
JL_NUMBER_OF(time_s, jl_judged, r->coll.c.size_B / r->figure.value);
JL_NUMBER_OF(expected_lo_s, jl_judged, r->coll.c.size_B / r->expect.hi);
JL_NUMBER_OF(expected_s, jl_judged, r->coll.c.size_B / r->expect.value);
JL_NUMBER_OF(expected_hi_s, jl_judged, r->coll.c.size_B / r->expect.lo);
JL_TEXT_OF(algorithm, jl_judged, jl_algorithm_name(r->coll.c.algorithm));
JL_TEXT_OF(against, jl_judged, r->before->id);

static const char *const *next(const void *record)
{
	static _Thread_local const char *texts[JL_NEXT_MAX + 1];
	size_t n = 0;

	for (; n < ((const struct jl_judged *)record)->next.n && n < JL_NEXT_MAX; n++)
		texts[n] = ((const struct jl_judged *)record)->next.items[n].en;
	texts[n] = NULL;
	return texts;
}

#define OF(TYPE, M, KEY)     JL_FIELD_AS(jl_judged, TYPE, M, KEY)
#define COLL(TYPE, M, KEY)   OF(TYPE, M, KEY), .when = is_coll
#define CHANGE(TYPE, M, KEY) OF(TYPE, M, KEY), .when = is_change
static const struct jl_field judged[] = {
	{ JL_FIELD_TEXT_OF("id", id) },
	{ JL_FIELD_TEXT_OF("kind", kind) },
	{ JL_FIELD_TEXT_OF("what", what) },
	{ JL_FIELD_TEXT_OF("system", system_text) },
	{ JL_FIELD_TEXT_OF("verdict", verdict) },
	{ OF(TEXT, metric, "metric") },
	{ JL_FIELD_TEXT_OF("unit", unit) },
	{ OF(NUMBER, figure.value, "value") },
	{ OF(NUMBER, figure.lo95, "value_lo95") },
	{ OF(NUMBER, figure.hi95, "value_hi95") },
	{ OF(BOOL, figure.noisy, "noisy") },
	{ OF(NUMBER, age_s, "age_s") },
	{ JL_FIELD_TEXT_OF("basis", basis) },
	{ OF(NUMBER, expect.lo, "expected_lo") },
	{ OF(NUMBER, expect.value, "expected") },
	{ OF(NUMBER, expect.hi, "expected_hi"), .about = "80 % interval, as `predict` gives it" },
	{ JL_FIELD_NUMBER_OF("low_below", low_below) },
	{ JL_FIELD_NUMBER_OF("good_above", good_above), .about = "beyond these the verdict is low or good" },
	{ JL_FIELD_NUMBER_OF("high_above", high_above),
	  .about = "beyond this it is too high to be true; null: only the bound is known" },
	{ JL_FIELD_NUMBER_OF("would_notice_frac", would_notice),
	  .about = "a slow-down of this share is called low in 95 of 100 cases; null: only the bound speaks" },
	{ OF(NUMBER, expect.bound, "bound") },
	{ JL_FIELD_BOOL_OF("at_edge", at_edge) },
	{ OF(BOOL, half_lanes, "half_lanes"),
	  .about = "two cards of a desktop: half of the PCIe lanes each is normal" },
	{ OF(TEXT, bound_en, "bound_text") },
	{ OF(TEXT, from_en, "expected_from") },
	{ OF(SIZE, history.n, "n_history") },
	{ OF(NUMBER, history.drift_frac, "drift_frac"), .about = "newer half of its runs over the older, minus 1" },
	{ JL_FIELD_TEXT_OF("cause", cause) },
	{ JL_FIELD_TEXT_OF("neighbour", neighbour) },
	{ COLL(INT, coll.c.n_nodes, "n_nodes") },
	{ COLL(INT, coll.c.n_ranks, "n_ranks") },
	{ COLL(NUMBER, coll.c.size_B, "size_B") },
	{ JL_FIELD_NUMBER_OF("time_s", time_s), .when = is_coll },
	{ JL_FIELD_NUMBER_OF("expected_time_lo_s", expected_lo_s), .when = is_coll },
	{ JL_FIELD_NUMBER_OF("expected_time_s", expected_s), .when = is_coll },
	{ JL_FIELD_NUMBER_OF("expected_time_hi_s", expected_hi_s), .when = is_coll },
	{ COLL(BOOL, coll.by_time, "judged_by_time") },
	{ COLL(NUMBER, coll.c.busbw_factor, "busbw_factor") },
	{ COLL(BOOL, coll.c.in_network, "in_network_reduction") },
	{ JL_FIELD_TEXT_OF("algorithm", algorithm), .when = is_coll },
	{ COLL(SIZE, coll.n_near, "n_published") },
	{ JL_FIELD_TEXT_OF("against", against), .when = is_change },
	{ CHANGE(NUMBER, change.ratio, "ratio") },
	{ CHANGE(NUMBER, change.p, "p") },
	{ CHANGE(BOOL, change.apart, "intervals_apart") },
	{ CHANGE(NUMBER, change.least, "least_change_frac") },
	{ .member = "next", .type = JL_F_TEXTS, .texts_of = next },
};
static const struct jl_schema judged_schema = JL_SCHEMA("judged", jl_judged, judged);

static const char *worst(const void *record, char out[JL_FIELD_TEXT_MAX])
{
	return verdict(((const struct jl_check_answer *)record)->worst, out);
}

JL_BOOL_OF(is_bad, jl_check_answer, jl_verdict_is_bad(r->worst->verdict));
JL_BOOL_OF(is_unsteady, jl_check_answer, r->steadiness.n_jumps > 0);

static const struct jl_field answer[] = {
	{ JL_FIELD_TEXT_OF("verdict", worst) },
	{ JL_FIELD_BOOL_OF("bad", is_bad) },
	{ JL_FIELD_BOOL_OF("unsteady", is_unsteady) },
	{ JL_FIELD_AS(jl_check_answer, SIZE, steadiness.n_jumps, "n_jumps") },
	{ JL_FIELD_MANY(jl_check_answer, LIST, judged, n, "results", &judged_schema) },
};
const struct jl_schema jl_check_fields = JL_SCHEMA("check", jl_check_answer, answer);
