/* Checks the structure of YAML catalog files, and finds positions of values. */
#include "catalog/shape.h"

#include <stdio.h>
#include <string.h>

#define KEY_SHOWN 60 /* bytes of untrusted text shown in a message */
#define WHAT_MAX  64

/* YAML kind required by a field type, and its name in messages. */
struct shape {
	enum jl_yaml_kind kind, item; /* item: kind of a list's items */
	const char *en;
};

static const struct shape *shape_of(enum jl_field_type type)
{
	static const struct shape value = { JL_YAML_TEXT, JL_YAML_TEXT,
					    JL_N("one plain value, not a list or a mapping") };
	static const struct shape texts = { JL_YAML_LIST, JL_YAML_TEXT,
					    JL_N("a list of at most 2000 plain texts: write [one, two]") };
	static const struct shape list = { JL_YAML_LIST, JL_YAML_MAP,
					   JL_N("a list of at most 2000 records ('- key: value' lines)") };
	static const struct shape sub = { JL_YAML_MAP, JL_YAML_TEXT,
					  JL_N("a mapping ('key: value' lines, further in)") };

	return type == JL_F_TEXTS ? &texts : type == JL_F_LIST ? &list : type == JL_F_SUB ? &sub : &value;
}

static enum jl_status wrong_shape(const struct jl_yaml *node, const char *key, const char *en, struct jl_err *err)
{
	return jl_fail_at(err, JL_E_PARSE, &node->where, "'%.*s' must be {%s}", KEY_SHOWN, key, en);
}

static enum jl_status check_record(const struct jl_yaml *map, const struct jl_schema *schema, struct jl_err *err);

static enum jl_status check_field(const struct jl_yaml *node, const struct jl_field *field, struct jl_err *err)
{
	const struct shape *shape = shape_of(field->type);
	size_t n = 0;

	if (node->kind != shape->kind)
		return wrong_shape(node, field->key, shape->en, err);
	if (field->type == JL_F_SUB)
		return check_record(node, field->sub, err);
	for (const struct jl_yaml *item = node->items; item; item = item->next) {
		enum jl_status status = JL_OK;

		if (item->kind != shape->item || ++n > JL_CATALOG_ITEMS_MAX)
			status = wrong_shape(item, field->key, shape->en, err);
		else if (field->type == JL_F_LIST)
			status = check_record(item, field->sub, err);
		if (status)
			return status;
	}
	return JL_OK;
}

static enum jl_status check_record(const struct jl_yaml *map, const struct jl_schema *schema, struct jl_err *err)
{
	const char *keys[JL_SCHEMA_FIELDS_MAX + 1] = { NULL };
	char what[WHAT_MAX];

	for (size_t i = 0; i < schema->n_fields; i++)
		keys[i] = schema->fields[i].key;
	snprintf(what, sizeof(what), "%s %s", strchr("aeiou", schema->en[0]) ? "an" : "a", schema->en);
	JL_TRY(jl_yaml_check_keys(map, what, keys, err));
	for (const struct jl_yaml *item = map->items; item; item = item->next)
		JL_TRY(check_field(item, &schema->fields[jl_schema_field(schema, item->key)], err));
	return JL_OK;
}

static enum jl_status not_records(const struct jl_yaml *node, const struct jl_schema *schema, struct jl_err *err)
{
	return wrong_shape(node, schema->list, JL_N("a list of records ('- id: ...' lines)"), err);
}

static enum jl_status check_records(const struct jl_yaml *list, const struct jl_schema *schema, struct jl_err *err)
{
	enum jl_status status = list->kind == JL_YAML_LIST ? JL_OK : not_records(list, schema, err);
	size_t n = 0;

	for (const struct jl_yaml *item = list->items; item && !status; item = item->next) {
		if (++n > JL_CATALOG_RECORDS_MAX)
			return jl_fail_at(err, JL_E_LIMIT, &item->where, "more than %d records in one file",
					  JL_CATALOG_RECORDS_MAX);
		status = item->kind == JL_YAML_MAP ? check_record(item, schema, err) : not_records(item, schema, err);
	}
	return status;
}

static const char top_is[] = JL_N("a catalog file is one of sources:, families:, gpus:, cpus:, links:, systems:, "
				  "tariffs:, rules:, reliability:, models:, convnets: and its list");

enum jl_status jl_shape_read(enum jl_catalog_kind *ret_kind, const struct jl_yaml **ret_list, const char *file,
			     const char *text, size_t len, struct jl_arena *arena, struct jl_err *err)
{
	const struct jl_yaml *root, *top;
	enum jl_catalog_kind kind;

	JL_TRY(jl_yaml_read(&root, file, text, len, arena, err));
	if (root->kind != JL_YAML_MAP)
		return jl_fail_at(err, JL_E_PARSE, &root->where, "not a catalog file: {%s}", top_is);
	top = root->items;
	if (!top)
		return jl_fail_at(err, JL_E_PARSE, &root->where, "nothing in it; {%s}", top_is);
	if (!jl_schema_by_list(&kind, top->key))
		return jl_fail_at(err, JL_E_PARSE, &top->key_where, "unknown top-level key '%.*s'; {%s}", KEY_SHOWN,
				  top->key, top_is);
	JL_TRY(check_records(top, jl_schema_of(kind), err));
	if (top->next)
		return jl_fail_at(err, JL_E_PARSE, &top->next->key_where, "a second top-level key; {%s}", top_is);
	*ret_kind = kind;
	*ret_list = top;
	return JL_OK;
}

struct jl_where jl_record_where(const struct jl_record_place *place, size_t field, size_t item, size_t sub)
{
	const struct jl_schema *schema = place->schema;
	const struct jl_yaml *path[4] = { place->map };

	if (place->cells)
		return place->cells[field < schema->n_fields ? field : 0];
	if (field < schema->n_fields) {
		const struct jl_schema *inner = schema->fields[field].sub;

		path[1] = jl_yaml_get(place->map, schema->fields[field].key);
		path[2] = path[1] && path[1]->kind == JL_YAML_MAP ? path[1] : jl_yaml_at(path[1], item);
		path[3] = inner && sub < inner->n_fields ? jl_yaml_get(path[2], inner->fields[sub].key) : NULL;
	}
	for (int i = 3; i > 0; i--)
		if (path[i])
			return path[i]->where;
	return path[0]->where;
}
