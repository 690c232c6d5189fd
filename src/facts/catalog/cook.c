/* Converts the YAML text of a record to a catalog record. */
#include "catalog/load.h"

#include <limits.h>
#include <string.h>

#include "catalog/find.h"

#define BLANKS " \t\r\n"

struct span {
	const char *at;
	size_t len;
};

static struct span trim(struct span s)
{
	while (s.len && strchr(BLANKS, s.at[0])) {
		s.at++;
		s.len--;
	}
	while (s.len && strchr(BLANKS, s.at[s.len - 1]))
		s.len--;
	return s;
}

/* Removes the last word of `s` and returns it. */
static struct span cut_last_word(struct span *s)
{
	struct span word = { .at = s->at + s->len };

	while (s->len && !strchr(BLANKS, s->at[s->len - 1])) {
		s->len--;
		word.at--;
		word.len++;
	}
	*s = trim(*s);
	return word;
}

static bool origin_by_name(enum jl_origin *ret_origin, struct span word)
{
	static const enum jl_origin all[] = { JL_MEASURED, JL_PUBLISHED, JL_LISTED, JL_ESTIMATED };

	for (size_t i = 0; i < JL_LEN(all); i++) {
		const char *name = jl_origin_name(all[i]);

		if (strlen(name) == word.len && memcmp(name, word.at, word.len) == 0) {
			*ret_origin = all[i];
			return true;
		}
	}
	return false;
}

struct fact_parts {
	struct span quantity, source, note;
	enum jl_origin origin; /* JL_ORIGIN_NONE: unstated */
};

static enum jl_status split_fact(struct fact_parts *ret_parts, const char *text, const char *key, struct jl_err *err)
{
	struct fact_parts parts = { .origin = JL_ORIGIN_NONE };
	struct span rest = trim((struct span){ text, strlen(text) });
	const char *open, *at;

	if (rest.len && rest.at[rest.len - 1] == ')') {
		open = memchr(rest.at, '(', rest.len);
		if (!open)
			return jl_fail(err, JL_E_PARSE,
				       "%s: ')' without '('; write e.g. 900 GB/s @source-id listed (a note)", key);
		parts.note = trim((struct span){ open + 1, (size_t)(rest.at + rest.len - open) - 2 });
		rest = trim((struct span){ rest.at, (size_t)(open - rest.at) });
	}
	at = rest.len ? memchr(rest.at, '@', rest.len) : NULL;
	if (at) {
		struct span tail = trim((struct span){ at + 1, (size_t)(rest.at + rest.len - at) - 1 });
		struct span last = tail;
		struct span word = cut_last_word(&last);

		if (last.len && origin_by_name(&parts.origin, word))
			tail = last;
		if (!tail.len || memchr(tail.at, ' ', tail.len) || memchr(tail.at, '@', tail.len))
			return jl_fail(err, JL_E_PARSE,
				       "%s: '@%.*s' is not a source id and an origin (measured, published, listed, "
				       "estimated); write e.g. %s @source-id listed",
				       key, (int)(tail.len < 60 ? tail.len : 60), tail.at, "900 GB/s");
		parts.source = tail;
		rest = trim((struct span){ rest.at, (size_t)(at - rest.at) });
	} else {
		struct span before = rest;
		struct span word = cut_last_word(&before);

		if (before.len && origin_by_name(&parts.origin, word))
			rest = before;
	}
	parts.quantity = rest;
	*ret_parts = parts;
	return JL_OK;
}

/* The value being converted, and its context. */
struct spot {
	const struct jl_cook *cook;
	const struct jl_schema *schema; /* schema of the record or sub-record */
	const struct jl_field *field;
	const struct jl_yaml *node;
	const char *id;            /* id of the record */
	const char *source, *date; /* defaults for facts without their own */
};

/* Format: QUANTITY [@SOURCE-ID] [ORIGIN] [(NOTE)]. Without a source, the record's source and date apply. */
static enum jl_status cook_fact(const struct spot *spot, struct jl_fact *ret_fact, struct jl_err *err)
{
	const char *key = spot->field->key, *source = spot->source, *date = spot->date;
	struct jl_arena *arena = spot->cook->arena;
	struct jl_fact fact = JL_FACT_UNKNOWN;
	struct fact_parts parts = { .origin = JL_ORIGIN_NONE };

	JL_TRY(split_fact(&parts, spot->node->text, key, err));
	const char *copy = jl_arena_strndup(arena, parts.quantity.at, parts.quantity.len);
	JL_TRY(jl_got(copy, err));
	JL_TRY(jl_units_parse(&fact.value, copy, spot->field->kind, key, err));
	if (parts.source.len) {
		source = jl_arena_strndup(arena, parts.source.at, parts.source.len);
		date = NULL;
		JL_TRY(jl_got(source, err));
	}
	if (!source)
		return jl_fail(err, JL_E_DATA, "%s: no source; add 'source: ID' to the record or '@ID' to the value",
			       key);
	const struct jl_source *found = jl_source_by_id(spot->cook->cat, source);
	if (!found)
		return jl_fail(err, JL_E_NOTFOUND,
			       "%s: unknown source '%s'; add it to sources.yaml, or use an id that is there", key,
			       source);
	fact.source = found->id;
	fact.date = date ? date : found->date;
	fact.origin = parts.origin ? parts.origin : found->origin;
	if (parts.note.len) {
		fact.note = jl_arena_strndup(arena, parts.note.at, parts.note.len);
		JL_TRY(jl_got(fact.note, err));
	}
	*ret_fact = fact;
	return JL_OK;
}

/* Returns JL_E_NOMEM; any other error becomes a finding: "file:line:column: gpu h100-sxm5: mem_rate: ...". */
static enum jl_status settle(const struct spot *spot, enum jl_status status, const struct jl_err *err)
{
	const struct jl_schema *schema = spot->cook->schema;
	struct jl_err said;

	if (status == JL_OK || status == JL_E_NOMEM)
		return status;
	if (jl_findings_full(spot->cook->findings)) {
		spot->cook->findings->n++;
		return JL_OK;
	}
	jl_fail_from(&said, err->status, &spot->node->where, err, "{%s} %.80s: {}", schema->en, spot->id);
	jl_findings_add(spot->cook->findings, &said);
	return JL_OK;
}

static enum jl_status cook_choice(const struct jl_field *field, const char *text, int *ret_value, struct jl_err *err)
{
	struct jl_buf names;

	for (const struct jl_choice *c = field->choices; c->name; c++) {
		if (strcmp(c->name, text) == 0) {
			*ret_value = c->value;
			return JL_OK;
		}
	}
	jl_buf_init(&names, 512);
	for (const struct jl_choice *c = field->choices; c->name; c++)
		jl_buf_printf(&names, "%s%s", c == field->choices ? "" : ", ", c->name);
	enum jl_status status = jl_fail(err, JL_E_PARSE, "%s: '%.60s' is none of %s", field->key, text,
					jl_buf_text(&names));
	jl_buf_release(&names);
	return status;
}

static enum jl_status cook_bool(const struct jl_field *field, const char *text, bool *ret_value, struct jl_err *err)
{
	static const struct {
		const char *name;
		bool value;
	} words[] = { { "true", true }, { "false", false }, { "yes", true }, { "no", false } };

	for (size_t i = 0; i < JL_LEN(words); i++) {
		if (strcmp(words[i].name, text) == 0) {
			*ret_value = words[i].value;
			return JL_OK;
		}
	}
	return jl_fail(err, JL_E_PARSE, "%s: '%.60s' is neither true nor false", field->key, text);
}

static enum jl_status cook_scalar(const struct spot *spot, void *at, struct jl_err *err)
{
	const struct jl_field *field = spot->field;
	const char *text = spot->node->text;
	enum jl_status status;
	long long n;
	double number;

	if (!text[strspn(text, BLANKS)])
		return jl_fail(err, JL_E_PARSE, "%s: empty; leave the key out when the value is not known", field->key);
	switch (field->type) {
	case JL_F_FACT: return cook_fact(spot, at, err);
	case JL_F_NUMBER:
		status = jl_units_parse(&number, text, JL_K_NUMBER, field->key, err);
		if (!status)
			*(double *)at = number * field->scale;
		return status;
	case JL_F_INT:
		status = jl_units_parse_count(&n, text, 0, INT_MAX, field->key, err);
		if (!status)
			*(int *)at = (int)n;
		return status;
	case JL_F_BOOL: return cook_bool(field, text, at, err);
	case JL_F_CHOICE: return cook_choice(field, text, at, err);
	default: *(const char **)at = text; return JL_OK;
	}
}

static enum jl_status cook_texts(const struct spot *spot, void *at, struct jl_err *err)
{
	const char **texts = jl_arena_array(spot->cook->arena, spot->node->n_items + 1, sizeof(*texts));
	size_t n = 0;

	JL_TRY(jl_got(texts, err));
	for (const struct jl_yaml *item = spot->node->items; item; item = item->next)
		texts[n++] = item->text;
	*(const char *const **)at = texts;
	return JL_OK;
}

static enum jl_status cook_all(struct spot *spot, void *record, bool amends, struct jl_err *err);

static enum jl_status cook_list(const struct spot *spot, void *record, struct jl_err *err)
{
	const struct jl_schema *sub = spot->field->sub;
	char *list = jl_arena_array(spot->cook->arena, spot->node->n_items, sub->size_B);
	char *at = list;
	size_t n = spot->node->n_items;

	JL_TRY(jl_got(list, err));
	for (const struct jl_yaml *item = spot->node->items; item; item = item->next, at += sub->size_B) {
		struct spot inner = *spot;

		jl_schema_clear(sub, at);
		inner.schema = sub;
		inner.node = item;
		JL_TRY(cook_all(&inner, at, false, err));
	}
	memcpy((char *)record + spot->field->offset, &list, sizeof(list));
	memcpy((char *)record + spot->field->count_offset, &n, sizeof(n));
	return JL_OK;
}

static enum jl_status cook_field(struct spot *spot, void *record, struct jl_err *err)
{
	void *at = (char *)record + spot->field->offset;

	switch (spot->field->type) {
	case JL_F_TEXTS: return cook_texts(spot, at, err);
	case JL_F_LIST: return cook_list(spot, record, err);
	case JL_F_SUB: spot->schema = spot->field->sub; return cook_all(spot, at, true, err);
	default: return settle(spot, cook_scalar(spot, at, err), err);
	}
}

/* Converts plain fields first, because facts need the record's source and date. */
static enum jl_status cook_fields(const struct spot *around, void *record, bool facts, struct jl_err *err)
{
	for (size_t i = 0; i < around->schema->n_fields; i++) {
		struct spot spot = *around;

		spot.field = &around->schema->fields[i];
		spot.node = jl_yaml_get(around->node, spot.field->key);
		if (!spot.node || facts != (spot.field->type == JL_F_FACT || spot.field->type == JL_F_LIST))
			continue;
		JL_TRY(cook_field(&spot, record, err));
	}
	return JL_OK;
}

/* Default source and date for the record's facts: its own, else those of the enclosing record. */
static void set_defaults(struct spot *spot, void *record, bool amends)
{
	bool own_source = false, own_date = false;
	const char **source = NULL, **date = NULL;

	for (size_t i = 0; i < spot->schema->n_fields; i++) {
		const struct jl_field *field = &spot->schema->fields[i];
		char *at = (char *)record + field->offset;

		if (field->flags & JL_FF_SOURCE) {
			source = (const char **)(void *)at;
			own_source = jl_yaml_get(spot->node, field->key) != NULL;
		}
		if (field->flags & JL_FF_DATED) {
			date = (const char **)(void *)at;
			own_date = jl_yaml_get(spot->node, field->key) != NULL;
		}
	}
	if (!source)
		return;
	if (!*source)
		*source = spot->source;
	const struct jl_source *found = *source ? jl_source_by_id(spot->cook->cat, *source) : NULL;
	if (date && !own_date && found && (own_source || !*date))
		*date = !own_source && spot->date ? spot->date : found->date;
	/* new values in an existing record must not be attributed to that record's source */
	spot->source = amends && !own_source ? NULL : *source;
	spot->date = date ? *date : NULL;
}

/* Missing choices are errors, because 0 is a valid value. */
static enum jl_status check_choices(const struct spot *around, struct jl_err *err)
{
	for (size_t i = 0; i < around->schema->n_fields; i++) {
		const struct jl_field *field = &around->schema->fields[i];

		if (field->type != JL_F_CHOICE || !(field->flags & JL_FF_REQUIRED) ||
		    jl_yaml_get(around->node, field->key))
			continue;
		enum jl_status status = jl_fail(err, JL_E_DATA,
						"missing: every {%s} needs '%s: %s' or another of its values",
						around->schema->en, field->key, field->choices->name);
		JL_TRY(settle(around, status, err));
	}
	return JL_OK;
}

static enum jl_status cook_all(struct spot *spot, void *record, bool amends, struct jl_err *err)
{
	JL_TRY(cook_fields(spot, record, false, err));
	set_defaults(spot, record, amends);
	enum jl_status status = cook_fields(spot, record, true, err);
	return status || amends ? status : check_choices(spot, err);
}

/* Sets a model's derived values. */
static void finish_model(struct jl_model_info *model)
{
	if (!(model->kv_heads > 0))
		model->kv_heads = model->heads;
	if (!(model->head_dim > 0) && model->heads > 0)
		model->head_dim = model->hidden / model->heads;
}

enum jl_status jl_cook_record(const struct jl_cook *cook, const struct jl_yaml *map, void *record, struct jl_err *err)
{
	const char *id = jl_yaml_text(map, "id");
	struct spot spot = { .cook = cook, .schema = cook->schema, .node = map, .id = id ? id : "?" };
	struct jl_err local;

	if (!err)
		err = &local;
	enum jl_status status = cook_all(&spot, record, cook->amends, err);
	if (!status && cook->schema == jl_schema_of(JL_R_MODEL))
		finish_model(record);
	return status;
}
