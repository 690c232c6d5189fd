/* Records without knowing their kind: what they are called and whether two are the same. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "catalog/schema.h"

const char *jl_record_id(const struct jl_schema *schema, const void *record)
{
	const char *id = NULL;

	for (size_t i = 0; i < schema->n_fields && !id; i++) {
		const struct jl_field *field = &schema->fields[i];

		if (field->flags & JL_FF_ID || (field->key && strcmp(field->key, "item") == 0))
			id = *(const char *const *)jl_field_at(field, record);
	}
	return id ? id : "?";
}

static bool same_number(double a, double b)
{
	return (isnan(a) && isnan(b)) || !(a < b || a > b || isnan(a) || isnan(b));
}

static bool same_fact(const struct jl_fact *a, const struct jl_fact *b)
{
	return same_number(a->value, b->value) && same_number(a->lo, b->lo) && same_number(a->hi, b->hi) &&
	       a->origin == b->origin && jl_same_text(a->source, b->source) && jl_same_text(a->date, b->date) &&
	       jl_same_text(a->note, b->note);
}

static bool same_texts(const char *const *a, const char *const *b)
{
	if (!a || !b)
		return a == b;
	while (*a && *b && strcmp(*a, *b) == 0) {
		a++;
		b++;
	}
	return !*a && !*b;
}

static bool same_list(const struct jl_field *field, const void *a, const void *b)
{
	size_t n_a = *(const size_t *)(const void *)((const char *)a + field->count_offset);
	size_t n_b = *(const size_t *)(const void *)((const char *)b + field->count_offset);
	const char *at_a = *(const char *const *)jl_field_at(field, a);
	const char *at_b = *(const char *const *)jl_field_at(field, b);

	if (n_a != n_b)
		return false;
	for (size_t i = 0; i < n_a; i++) {
		if (jl_record_differs(field->sub, at_a + i * field->sub->size_B, at_b + i * field->sub->size_B))
			return false;
	}
	return true;
}

static bool same_field(const struct jl_field *field, const void *a, const void *b)
{
	const void *at_a = jl_field_at(field, a);
	const void *at_b = jl_field_at(field, b);

	switch (field->type) {
	case JL_F_TEXT:
	case JL_F_DATE: return jl_same_text(*(const char *const *)at_a, *(const char *const *)at_b);
	case JL_F_FACT: return same_fact(at_a, at_b);
	case JL_F_NUMBER: return same_number(*(const double *)at_a, *(const double *)at_b);
	case JL_F_INT:
	case JL_F_CHOICE: return *(const int *)at_a == *(const int *)at_b;
	case JL_F_BOOL: return *(const bool *)at_a == *(const bool *)at_b;
	case JL_F_TEXTS: return same_texts(*(const char *const *const *)at_a, *(const char *const *const *)at_b);
	case JL_F_LIST: return same_list(field, a, b);
	case JL_F_SUB: return !jl_record_differs(field->sub, at_a, at_b);
	default: return false; /* of results, not of records */
	}
}

const char *jl_record_differs(const struct jl_schema *schema, const void *a, const void *b)
{
	for (size_t i = 0; i < schema->n_fields; i++) {
		if (!same_field(&schema->fields[i], a, b))
			return schema->fields[i].key ? schema->fields[i].key : schema->fields[i].member;
	}
	return NULL;
}
