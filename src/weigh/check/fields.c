#include <math.h>
#include <string.h>

#include "check/answer.h"

#define J ((const struct jl_judged *)record)

static const char *id(const void *record, char out[JL_FIELD_TEXT_MAX])
{
	(void)out;
	return *J->record->id ? J->record->id : NULL;
}

static const char *kind(const void *record, char out[JL_FIELD_TEXT_MAX])
{
	(void)out;
	return J->record->kind;
}

static const char *what(const void *record, char out[JL_FIELD_TEXT_MAX])
{
	const struct jl_language *reader = jl_lang_set(jl_languages[0]); /* as every text of the JSON */

	_Static_assert(JL_RECORD_WORDS_MAX <= JL_FIELD_TEXT_MAX, "the words fit");
	(void)jl_record_what(out, J->record);
	jl_lang_set(reader);
	return out;
}

static const char *system_text(const void *record, char out[JL_FIELD_TEXT_MAX])
{
	(void)out;
	return J->sys ? J->sys->text : NULL;
}

static const char *verdict(const void *record, char out[JL_FIELD_TEXT_MAX])
{
	(void)out;
	return jl_verdict_name(J->verdict);
}

static const char *unit(const void *record, char out[JL_FIELD_TEXT_MAX])
{
	const char *suffix = strrchr(J->metric, '_');

	(void)out;
	return suffix ? suffix + 1 : "";
}

static const char *basis(const void *record, char out[JL_FIELD_TEXT_MAX])
{
	(void)out;
	return jl_check_basis_name(J->basis);
}

static bool at_edge(const void *record)
{
	return !J->before && jl_verdict_at_edge(&J->figure, &J->expect);
}

static bool is_coll(const void *record)
{
	return J->is_coll;
}

static bool is_change(const void *record)
{
	return J->before != NULL;
}

static double time_s(const void *record)
{
	return J->coll.c.size_B / J->figure.value;
}

static double expected_lo_s(const void *record)
{
	return J->coll.c.size_B / J->expect.hi;
}

static double expected_s(const void *record)
{
	return J->coll.c.size_B / J->expect.value;
}

static double expected_hi_s(const void *record)
{
	return J->coll.c.size_B / J->expect.lo;
}

static const char *algorithm(const void *record, char out[JL_FIELD_TEXT_MAX])
{
	(void)out;
	return jl_algorithm_name(J->coll.c.algorithm);
}

static const char *against(const void *record, char out[JL_FIELD_TEXT_MAX])
{
	(void)out;
	return J->before->id;
}

static const char *const *next(const void *record)
{
	static _Thread_local const char *texts[JL_NEXT_MAX + 1];
	size_t n = 0;

	for (; n < J->next.n && n < JL_NEXT_MAX; n++)
		texts[n] = J->next.items[n].en;
	texts[n] = NULL;
	return texts;
}
#undef J

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
	{ OF(NUMBER, expect.hi, "expected_hi") },
	{ OF(NUMBER, expect.bound, "bound") },
	{ JL_FIELD_BOOL_OF("at_edge", at_edge) },
	{ OF(TEXT, bound_en, "bound_text") },
	{ OF(SIZE, history.n, "n_history") },
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

static bool is_bad(const void *record)
{
	return jl_verdict_is_bad(((const struct jl_check_answer *)record)->worst->verdict);
}

static bool is_unsteady(const void *record)
{
	return ((const struct jl_check_answer *)record)->steadiness.n_jumps > 0;
}

static const struct jl_field answer[] = {
	{ JL_FIELD_TEXT_OF("verdict", worst) },
	{ JL_FIELD_BOOL_OF("bad", is_bad) },
	{ JL_FIELD_BOOL_OF("unsteady", is_unsteady) },
	{ JL_FIELD_AS(jl_check_answer, SIZE, steadiness.n_jumps, "n_jumps") },
	{ JL_FIELD_MANY(jl_check_answer, LIST, judged, n, "results", &judged_schema) },
};
const struct jl_schema jl_check_fields = JL_SCHEMA("check", jl_check_answer, answer);
