/* Writes structs as JSON, and their JSON Schema, from tables of their members. Knows no particular struct. */
#include "base/fields.h"

#include <assert.h>
#include <math.h>
#include <string.h>

const char *jl_choice_name(const struct jl_choice *choices, int value)
{
	for (; choices->name; choices++)
		if (choices->value == value)
			return choices->name;
	return NULL;
}

struct estimate { /* common first members of every estimate */
	double value, lo, hi;
};

static void text_put(struct jl_json *json, const struct jl_field *f, const char *text, bool omit)
{
	if (text || !omit)
		jl_json_put_string(json, f->member, text);
}

static void number_put(struct jl_json *json, const struct jl_field *f, double value, bool omit)
{
	if (!isnan(value) || !omit)
		jl_json_put_number(json, f->member, value);
}

static void null_put(struct jl_json *json, const struct jl_field *f, bool omit)
{
	if (omit)
		return;
	jl_json_key(json, f->member);
	jl_json_null(json);
}

static void whole_put(struct jl_json *json, const struct jl_field *f, long long n, bool omit)
{
	if (n < 0 && (f->flags & JL_FF_COUNT))
		null_put(json, f, omit);
	else if (f->scale > 0)
		jl_json_put_number(json, f->member, (double)n / f->scale);
	else if (n || !omit)
		jl_json_put_integer(json, f->member, n);
}

static void bool_put(struct jl_json *json, const struct jl_field *f, bool value)
{
	if (value || !(f->flags & JL_FF_OMIT))
		jl_json_put_bool(json, f->member, value);
}

void jl_fact_put(struct jl_json *json, const char *key, const struct jl_fact *fact)
{
	if (!jl_fact_known(fact))
		return;
	jl_json_key(json, key);
	jl_json_pack(json, "{value:f lo?f hi?f origin:s source:s date:s note?s}", fact->value, fact->lo, fact->hi,
		     jl_origin_name(fact->origin), fact->source, fact->date, fact->note);
}

static void fact_put(struct jl_json *json, const struct jl_field *f, const struct jl_fact *fact, bool omit)
{
	if (jl_fact_known(fact))
		jl_fact_put(json, f->member, fact);
	else
		null_put(json, f, omit);
}

static void estimate_put(struct jl_json *json, const struct jl_field *f, const struct estimate *e, bool omit)
{
	if (isnan(e->value) && omit)
		return;
	jl_json_key(json, f->member);
	jl_json_pack(json, "{value:f lo:f hi:f}", e->value, e->lo, e->hi);
}

static void texts_put(struct jl_json *json, const struct jl_field *f, const char *const *texts, bool omit)
{
	if (omit && (!texts || !*texts))
		return;
	jl_json_put_array(json, f->member);
	for (; texts && *texts; texts++)
		jl_json_string(json, *texts);
	jl_json_end_array(json);
}

static size_t count_of(const struct jl_field *f, const void *record)
{
	size_t n = f->count_of ? f->count_of(record) : f->length;

	if (!f->count_of && !f->length)
		memcpy(&n, (const char *)record + f->count_offset, sizeof n);
	return n;
}

static void numbers_put(struct jl_json *json, const struct jl_field *f, const void *record, bool omit)
{
	const double *values = *(const double *const *)jl_field_at(f, record);
	const size_t n = count_of(f, record);

	if (!n && omit)
		return;
	jl_json_put_array(json, f->member);
	for (size_t i = 0; i < n; i++)
		jl_json_number(json, values[i]);
	jl_json_end_array(json);
}

static void list_put(struct jl_json *json, const struct jl_field *f, const void *record, bool omit)
{
	const char *items = f->type == JL_F_ARRAY ? jl_field_at(f, record)
						  : *(const char *const *)jl_field_at(f, record);
	const size_t n = count_of(f, record);

	if (!n && omit)
		return;
	jl_json_put_array(json, f->member);
	for (size_t i = 0; i < n; i++) {
		jl_json_object(json);
		jl_fields_put(json, f->sub, items + i * f->sub->size_B);
		jl_json_end_object(json);
	}
	jl_json_end_array(json);
}

static void struct_put(struct jl_json *json, const struct jl_field *f, const void *at, bool omit)
{
	if (!at)
		null_put(json, f, omit || (f->flags & JL_FF_FLAT));
	else if (f->flags & JL_FF_FLAT)
		jl_fields_put(json, f->sub, at);
	else
		jl_fields_put_object(json, f->member, f->sub, at);
}

static void field_put(struct jl_json *json, const struct jl_field *f, const void *record, bool all_omit)
{
	const void *at = jl_field_at(f, record);
	const bool omit = all_omit || (f->flags & JL_FF_OMIT);
	char text[JL_FIELD_TEXT_MAX];

	switch (f->type) {
	case JL_F_TEXT:
	case JL_F_DATE:
		text_put(json, f, f->text_of ? f->text_of(record, text) : *(const char *const *)at, omit);
		break;
	case JL_F_CHARS: text_put(json, f, *(const char *)at ? at : NULL, omit); break;
	case JL_F_WHY:
		text_put(json, f, ((const struct jl_err *)at)->status ? ((const struct jl_err *)at)->en : NULL, omit);
		break;
	case JL_F_CHOICE: text_put(json, f, jl_choice_name(f->choices, *(const int *)at), omit); break;
	case JL_F_FACT: fact_put(json, f, at, omit); break;
	case JL_F_ESTIMATE: estimate_put(json, f, at, omit); break;
	case JL_F_NUMBER: number_put(json, f, f->number_of ? f->number_of(record) : *(const double *)at, omit); break;
	case JL_F_INT: whole_put(json, f, *(const int *)at, omit); break;
	case JL_F_LONG: whole_put(json, f, *(const long *)at, omit); break;
	case JL_F_LLONG: whole_put(json, f, *(const long long *)at, omit); break;
	case JL_F_SIZE: whole_put(json, f, (long long)*(const size_t *)at, omit); break;
	case JL_F_BOOL: bool_put(json, f, f->bool_of ? f->bool_of(record) : *(const bool *)at); break;
	case JL_F_TEXTS:
		texts_put(json, f, f->texts_of ? f->texts_of(record) : *(const char *const *const *)at, omit);
		break;
	case JL_F_NUMBERS: numbers_put(json, f, record, omit); break;
	case JL_F_LIST:
	case JL_F_ARRAY: list_put(json, f, record, omit); break;
	case JL_F_SUB: struct_put(json, f, at, omit); break;
	case JL_F_SEEN: struct_put(json, f, *(const void *const *)at, omit); break;
	case JL_F_WRITTEN: jl_json_key(json, f->member); f->write(json, record);
	}
}

void jl_fields_put(struct jl_json *json, const struct jl_schema *schema, const void *record)
{
	/* JSON is English whatever the user's language */
	const struct jl_language *reader = jl_lang_set(jl_languages[0]);

	for (size_t i = 0; i < schema->n_fields; i++)
		if (!schema->fields[i].when || schema->fields[i].when(record))
			field_put(json, &schema->fields[i], record, schema->omit_unknown);
	jl_lang_set(reader);
}

void jl_fields_put_object(struct jl_json *json, const char *key, const struct jl_schema *schema, const void *record)
{
	jl_json_put_object(json, key);
	jl_fields_put(json, schema, record);
	jl_json_end_object(json);
}

void jl_fields_print(struct jl_buf *out, const struct jl_schema *schema, const void *record,
		     const struct jl_schema *more, const void *more_record)
{
	struct jl_json json;

	jl_json_init(&json, out, true);
	jl_json_object(&json);
	jl_fields_put(&json, schema, record);
	if (more_record)
		jl_fields_put(&json, more, more_record);
	jl_json_end_object(&json);
	jl_json_finish(&json);
}

#define DEFS_MAX 128

struct defs { /* every struct type met so far, once: a struct may contain its own type */
	const struct jl_schema *items[DEFS_MAX];
	size_t n;
};

static bool is_struct(enum jl_field_type type)
{
	return type == JL_F_LIST || type == JL_F_ARRAY || type == JL_F_SUB || type == JL_F_SEEN;
}

static void collect(struct defs *defs, const struct jl_schema *schema)
{
	for (size_t i = 0; i < schema->n_fields; i++) {
		const struct jl_field *f = &schema->fields[i];
		size_t k = 0;

		if (!is_struct(f->type))
			continue;
		if (f->flags & JL_FF_FLAT) {
			collect(defs, f->sub);
			continue;
		}
		while (k < defs->n && defs->items[k] != f->sub)
			k++;
		if (k < defs->n)
			continue;
		assert(defs->n < DEFS_MAX);
		defs->items[defs->n++] = f->sub;
		collect(defs, f->sub);
	}
}

static void type_put(struct jl_json *json, const char *type, bool null)
{
	jl_json_pack(json, null ? "type:[s s]" : "type:s", type, "null");
}

static void ref_put(struct jl_json *json, const struct jl_schema *sub)
{
	char text[JL_FIELD_TEXT_MAX] = "#/$defs/";

	strncat(text, sub->en, sizeof text - strlen(text) - 1);
	jl_json_put_string(json, "$ref", text);
}

static void interval_schema(struct jl_json *json, bool null)
{
	type_put(json, "object", null);
	jl_json_pack(json, "properties:{value:{type:[s s]} lo:{type:[s s]} hi:{type:[s s]}} required:[s]", "number",
		     "null", "number", "null", "number", "null", "value");
}

static void items_schema(struct jl_json *json, const struct jl_field *f)
{
	jl_json_pack(json, "type:s items:{", "array");
	if (f->sub)
		ref_put(json, f->sub);
	else
		type_put(json, f->type == JL_F_NUMBERS ? "number" : "string", f->type == JL_F_NUMBERS);
	jl_json_end_object(json);
}

static void choices_schema(struct jl_json *json, const struct jl_choice *choices, bool null)
{
	jl_json_put_array(json, "enum");
	for (const struct jl_choice *c = choices; c->name; c++)
		jl_json_string(json, c->name);
	if (null)
		jl_json_null(json);
	jl_json_end_array(json);
}

static void struct_schema(struct jl_json *json, const struct jl_field *f, bool null)
{
	if (f->type == JL_F_SUB || !null) {
		ref_put(json, f->sub);
		return;
	}
	jl_json_pack(json, "anyOf:[{");
	ref_put(json, f->sub);
	jl_json_pack(json, "} {type:s}]", "null");
}

static void field_schema(struct jl_json *json, const struct jl_field *f, bool omit)
{
	const bool null = !omit;

	jl_json_put_object(json, f->member);
	if (f->about)
		jl_json_put_string(json, "description", f->about);
	switch (f->type) {
	case JL_F_TEXT:
	case JL_F_DATE:
	case JL_F_CHARS:
	case JL_F_WHY: type_put(json, "string", null); break;
	case JL_F_CHOICE: choices_schema(json, f->choices, null); break;
	case JL_F_NUMBER: type_put(json, "number", null); break;
	case JL_F_INT:
	case JL_F_LONG:
	case JL_F_LLONG:
	case JL_F_SIZE: type_put(json, f->scale > 0 ? "number" : "integer", null && (f->flags & JL_FF_COUNT)); break;
	case JL_F_BOOL: type_put(json, "boolean", false); break;
	case JL_F_FACT: interval_schema(json, null); break;
	case JL_F_ESTIMATE: interval_schema(json, false); break;
	case JL_F_TEXTS:
	case JL_F_NUMBERS:
	case JL_F_LIST:
	case JL_F_ARRAY: items_schema(json, f); break;
	case JL_F_SUB:
	case JL_F_SEEN: struct_schema(json, f, null); break;
	case JL_F_WRITTEN: break; /* JSON Schema without a type: any value */
	}
	jl_json_end_object(json);
}

static bool may_lack(const struct jl_schema *schema, const struct jl_field *f)
{
	return f->when || (f->flags & JL_FF_OMIT) ||
	       (schema->omit_unknown && f->type != JL_F_BOOL && f->type != JL_F_SUB);
}

static void properties(struct jl_json *json, const struct jl_schema *schema)
{
	for (size_t i = 0; i < schema->n_fields; i++) {
		const struct jl_field *f = &schema->fields[i];

		if (f->flags & JL_FF_FLAT)
			properties(json, f->sub);
		else
			field_schema(json, f, schema->omit_unknown || (f->flags & JL_FF_OMIT));
	}
}

static void required(struct jl_json *json, const struct jl_schema *schema)
{
	for (size_t i = 0; i < schema->n_fields; i++) {
		const struct jl_field *f = &schema->fields[i];

		if (may_lack(schema, f) || (f->type == JL_F_SEEN && (f->flags & JL_FF_FLAT)))
			continue;
		if (f->flags & JL_FF_FLAT)
			required(json, f->sub);
		else
			jl_json_string(json, f->member);
	}
}

static void object_schema(struct jl_json *json, const struct jl_schema *schema, const struct jl_schema *more)
{
	jl_json_pack(json, "type:s properties:{", "object");
	properties(json, schema);
	if (more)
		properties(json, more);
	jl_json_pack(json, "} required:[");
	required(json, schema);
	jl_json_pack(json, "] additionalProperties:b", false);
}

void jl_fields_schema(struct jl_buf *out, const struct jl_schema *schema, const struct jl_schema *more,
		      const char *title)
{
	struct defs defs = { 0 };
	struct jl_json json;

	collect(&defs, schema);
	if (more)
		collect(&defs, more);
	jl_json_init(&json, out, true);
	jl_json_pack(&json, "{$schema:s title:s", "https://json-schema.org/draft/2020-12/schema", title);
	object_schema(&json, schema, more);
	if (defs.n) {
		jl_json_put_object(&json, "$defs");
		for (size_t i = 0; i < defs.n; i++) {
			jl_json_put_object(&json, defs.items[i]->en);
			object_schema(&json, defs.items[i], NULL);
			jl_json_end_object(&json);
		}
		jl_json_end_object(&json);
	}
	jl_json_end_object(&json);
	jl_json_finish(&json);
}
