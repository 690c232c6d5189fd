#include "catalog/locate.h"

#include <string.h>
#include <yaml.h>

#include "base/buf.h"
#include "base/near.h"
#include "base/utf8.h"

#define PLACES_MAX_B ((size_t)64 << 20)
#define KEY_SHOWN    60 /* of a stranger's text in a message */

struct walk {
	yaml_parser_t parser;
	yaml_event_t event; /* the current one; released by the next next() */
	bool has_event;
	const char *file;
	struct jl_buf places;
	struct jl_err *err;
};

enum jl_status jl_err_prefix(struct jl_err *err, const struct jl_where *where)
{
	struct jl_err en, ko;

	if (!err || !where->file)
		return err ? err->status : JL_E_DATA;
	jl_fail_at(&en, err->status, where, "%s", "%s", err->en);
	jl_fail_at(&ko, err->status, where, "%s", "%s", err->ko);
	memcpy(err->en, en.en, sizeof(err->en));
	memcpy(err->ko, ko.ko, sizeof(err->ko));
	return err->status;
}

static struct jl_where mark_where(const struct walk *walk, const yaml_mark_t *mark)
{
	return (struct jl_where){ .file = walk->file, .line = mark->line + 1, .column = mark->column + 1 };
}

static struct jl_where here(const struct walk *walk)
{
	return mark_where(walk, &walk->event.start_mark);
}

/* libyaml counts characters from a byte offset only while it parses; errors of its reader have the offset alone. */
static struct jl_where offset_where(const char *file, const char *text, size_t offset)
{
	struct jl_where where = { .file = file, .line = 1, .column = 1 };

	for (size_t i = 0; i < offset; i++) {
		if (text[i] == '\n') {
			where.line++;
			where.column = 1;
		} else if (((unsigned char)text[i] & 0xC0) != 0x80) {
			where.column++;
		}
	}
	return where;
}

static enum jl_status syntax_error(struct walk *walk)
{
	const yaml_parser_t *p = &walk->parser;
	struct jl_where where = mark_where(walk, &p->problem_mark);

	if (p->error == YAML_MEMORY_ERROR)
		return jl_fail_nomem(walk->err);
	return jl_fail_at(walk->err, JL_E_PARSE, &where,
			  "not valid YAML: %s; values with ': ' or ' #' in them need quotes",
			  "올바른 YAML이 아닙니다: %s. ': '나 ' #'가 들어 있는 값은 따옴표로 묶으십시오",
			  p->problem ? p->problem : "syntax");
}

static enum jl_status refuse_anchor(struct walk *walk, const char *what_en, const char *what_ko)
{
	struct jl_where where = here(walk);
	struct jl_err *err = walk->err;

	jl_fail_at(err, JL_E_PARSE, &where, "%s have no place in a catalog; write the value out", "%s", what_en);
	if (err) {
		struct jl_err ko;

		jl_fail_at(&ko, JL_E_PARSE, &where, "%s", "카탈로그에는 %s 쓸 수 없습니다. 값을 그대로 적으십시오",
			   what_ko);
		memcpy(err->ko, ko.ko, sizeof(err->ko));
	}
	return JL_E_PARSE;
}

static enum jl_status next(struct walk *walk)
{
	const yaml_char_t *anchor = NULL, *tag = NULL;

	if (walk->has_event)
		yaml_event_delete(&walk->event);
	walk->has_event = false;
	if (!yaml_parser_parse(&walk->parser, &walk->event))
		return syntax_error(walk);
	walk->has_event = true;
	switch (walk->event.type) {
	case YAML_ALIAS_EVENT: return refuse_anchor(walk, "aliases (*name)", "별칭(*name)을");
	case YAML_SCALAR_EVENT:
		anchor = walk->event.data.scalar.anchor;
		tag = walk->event.data.scalar.tag;
		break;
	case YAML_SEQUENCE_START_EVENT:
		anchor = walk->event.data.sequence_start.anchor;
		tag = walk->event.data.sequence_start.tag;
		break;
	case YAML_MAPPING_START_EVENT:
		anchor = walk->event.data.mapping_start.anchor;
		tag = walk->event.data.mapping_start.tag;
		break;
	default: break;
	}
	if (anchor)
		return refuse_anchor(walk, "anchors (&name)", "앵커(&name)를");
	if (tag)
		return refuse_anchor(walk, "tags (!name)", "태그(!name)를");
	return JL_OK;
}

static const char *scalar(const struct walk *walk)
{
	return (const char *)walk->event.data.scalar.value;
}

static enum jl_status wrong_shape(struct walk *walk, const char *key, const char *shape_en, const char *shape_ko)
{
	struct jl_where where = here(walk);
	struct jl_err ko;

	jl_fail_at(walk->err, JL_E_PARSE, &where, "'%.*s' must be %s", "'%.*s'%s", KEY_SHOWN, key, shape_en);
	if (walk->err) {
		jl_fail_at(&ko, JL_E_PARSE, &where, "%.*s%s", "'%.*s'의 값은 %s여야 합니다", KEY_SHOWN, key, shape_ko);
		memcpy(walk->err->ko, ko.ko, sizeof(ko.ko));
	}
	return JL_E_PARSE;
}

static enum jl_status add_place(struct walk *walk, const struct jl_place *at)
{
	struct jl_place place = *at;

	place.line = (uint32_t)walk->event.start_mark.line + 1;
	place.column = (uint32_t)walk->event.start_mark.column + 1;
	jl_buf_add(&walk->places, &place, sizeof(place));
	return walk->places.failed ? jl_fail_nomem(walk->err) : JL_OK;
}

static enum jl_status unknown_key(struct walk *walk, const struct jl_schema *schema, const char *key)
{
	struct jl_where where = here(walk);
	const char *keys[JL_SCHEMA_FIELDS_MAX];
	struct jl_buf all;
	enum jl_status status;
	size_t near;

	for (size_t i = 0; i < schema->n_fields; i++)
		keys[i] = schema->fields[i].key;
	if (jl_near_rank(key, keys, schema->n_fields, &near, 1) == 1)
		return jl_fail_at(walk->err, JL_E_PARSE, &where, "unknown key '%.*s' in a %s; did you mean '%s'?",
				  "알 수 없는 키 '%.*s' (%s). '%s'을(를) 뜻하셨습니까?", KEY_SHOWN, key, schema->en,
				  keys[near]);
	jl_buf_init(&all, 1024);
	for (size_t i = 0; i < schema->n_fields && all.len < 320; i++)
		jl_buf_printf(&all, "%s%s", i ? ", " : "", keys[i]);
	status = jl_fail_at(walk->err, JL_E_PARSE, &where, "unknown key '%.*s' in a %s; it can have: %s",
			    "알 수 없는 키 '%.*s' (%s). 쓸 수 있는 키: %s", KEY_SHOWN, key, schema->en,
			    jl_buf_text(&all));
	jl_buf_release(&all);
	return status;
}

static enum jl_status walk_record(struct walk *walk, const struct jl_schema *schema, struct jl_place at, bool is_sub);

static enum jl_status walk_texts(struct walk *walk, const struct jl_field *field, struct jl_place at)
{
	enum jl_status status;

	if (walk->event.type != YAML_SEQUENCE_START_EVENT)
		return wrong_shape(walk, field->key, "a list: write [one, two]", "목록([하나, 둘])이");
	for (at.item = 0;; at.item++) {
		status = next(walk);
		if (status || walk->event.type == YAML_SEQUENCE_END_EVENT)
			return status;
		if (walk->event.type != YAML_SCALAR_EVENT || at.item >= JL_CATALOG_ITEMS_MAX)
			return wrong_shape(walk, field->key, "a list of at most 200 plain texts",
					   "짧은 글의 목록(200개 이하)이");
		status = add_place(walk, &at);
		if (status)
			return status;
	}
}

static enum jl_status walk_list(struct walk *walk, const struct jl_field *field, struct jl_place at)
{
	enum jl_status status;

	if (walk->event.type != YAML_SEQUENCE_START_EVENT)
		return wrong_shape(walk, field->key, "a list of records ('- key: value' lines)",
				   "레코드 목록('- key: value')이");
	for (at.item = 0;; at.item++) {
		status = next(walk);
		if (status || walk->event.type == YAML_SEQUENCE_END_EVENT)
			return status;
		if (walk->event.type != YAML_MAPPING_START_EVENT || at.item >= JL_CATALOG_ITEMS_MAX)
			return wrong_shape(walk, field->key, "a list of at most 200 records ('- key: value' lines)",
					   "레코드 목록('- key: value', 200개 이하)이");
		status = add_place(walk, &at);
		if (!status)
			status = walk_record(walk, field->sub, at, true);
		if (status)
			return status;
	}
}

static enum jl_status walk_value(struct walk *walk, const struct jl_field *field, struct jl_place at, bool is_sub)
{
	enum jl_status status = add_place(walk, &at);

	if (status)
		return status;
	switch (field->type) {
	case JL_F_TEXTS: return walk_texts(walk, field, at);
	case JL_F_LIST: return walk_list(walk, field, at);
	case JL_F_SUB:
		if (walk->event.type != YAML_MAPPING_START_EVENT)
			return wrong_shape(walk, field->key, "a mapping ('key: value' lines, further in)",
					   "묶음(안쪽에 'key: value')이");
		at.item = 0;
		return is_sub ? JL_OK : walk_record(walk, field->sub, at, true);
	default:
		if (walk->event.type != YAML_SCALAR_EVENT)
			return wrong_shape(walk, field->key, "one plain value, not a list or a mapping",
					   "목록이나 묶음이 아닌 하나의 값이");
		if (strlen(scalar(walk)) != walk->event.data.scalar.length)
			return wrong_shape(walk, field->key, "text without NUL characters", "NUL 문자가 없는 글이");
		return JL_OK;
	}
}

/* The current event is the mapping's start; on success it is its end. */
static enum jl_status walk_record(struct walk *walk, const struct jl_schema *schema, struct jl_place at, bool is_sub)
{
	bool seen[JL_SCHEMA_FIELDS_MAX] = { false };
	struct jl_where where;
	enum jl_status status;
	size_t i;

	for (;;) {
		status = next(walk);
		if (status || walk->event.type == YAML_MAPPING_END_EVENT)
			return status;
		if (walk->event.type != YAML_SCALAR_EVENT)
			return wrong_shape(walk, schema->en, "'key: value' lines with plain keys",
					   "'key: value' 줄의 묶음이");
		i = jl_schema_field(schema, scalar(walk));
		if (i == schema->n_fields)
			return unknown_key(walk, schema, scalar(walk));
		where = here(walk);
		if (seen[i])
			return jl_fail_at(walk->err, JL_E_PARSE, &where,
					  "key '%s' is given twice in one record; keep one of them",
					  "한 레코드에 '%s' 키가 두 번 있습니다. 하나만 남기십시오",
					  schema->fields[i].key);
		seen[i] = true;
		if (is_sub)
			at.sub = (uint16_t)i;
		else
			at.field = (uint16_t)i;
		status = next(walk);
		if (!status)
			status = walk_value(walk, &schema->fields[i], at, is_sub);
		if (status)
			return status;
	}
}

static enum jl_status walk_records(struct walk *walk, const struct jl_schema *schema)
{
	struct jl_place at = { .field = JL_AT_NONE, .item = JL_AT_NONE, .sub = JL_AT_NONE };
	struct jl_where where;
	enum jl_status status;

	if (walk->event.type != YAML_SEQUENCE_START_EVENT)
		return wrong_shape(walk, schema->list, "a list of records ('- id: ...' lines)",
				   "레코드 목록('- id: ...')이");
	for (at.record = 0;; at.record++) {
		status = next(walk);
		if (status || walk->event.type == YAML_SEQUENCE_END_EVENT)
			return status;
		if (walk->event.type != YAML_MAPPING_START_EVENT)
			return wrong_shape(walk, schema->list, "a list of records ('- id: ...' lines)",
					   "레코드 목록('- id: ...')이");
		where = here(walk);
		if (at.record >= JL_CATALOG_RECORDS_MAX)
			return jl_fail_at(walk->err, JL_E_LIMIT, &where, "more than %d records in one file",
					  "한 파일에 레코드가 %d개보다 많습니다", JL_CATALOG_RECORDS_MAX);
		status = add_place(walk, &at);
		if (!status)
			status = walk_record(walk, schema, at, false);
		if (status)
			return status;
	}
}

#define TOP_EN                                                                                                         \
	"a catalog file is one of sources:, families:, gpus:, cpus:, links:, systems:, tariffs:, rules:, models: and " \
	"its list"
#define TOP_KO                                                                                                                     \
	"카탈로그 파일은 sources:, families:, gpus:, cpus:, links:, systems:, tariffs:, rules:, models: 중 하나와 그 " \
	"목록입니다"

static enum jl_status walk_top(struct walk *walk, enum jl_catalog_kind *ret_kind)
{
	struct jl_where where;
	enum jl_catalog_kind kind;
	enum jl_status status = next(walk); /* stream start */

	if (!status)
		status = next(walk);
	if (status)
		return status;
	where = here(walk);
	if (walk->event.type == YAML_STREAM_END_EVENT)
		return jl_fail_at(walk->err, JL_E_PARSE, &where, "nothing in it; " TOP_EN, "비어 있습니다. " TOP_KO);
	status = next(walk);
	if (status)
		return status;
	where = here(walk);
	if (walk->event.type != YAML_MAPPING_START_EVENT)
		return jl_fail_at(walk->err, JL_E_PARSE, &where, "not a catalog file: " TOP_EN,
				  "카탈로그 파일이 아닙니다. " TOP_KO);
	status = next(walk);
	if (status)
		return status;
	where = here(walk);
	if (walk->event.type != YAML_SCALAR_EVENT || !jl_schema_by_list(&kind, scalar(walk)))
		return jl_fail_at(walk->err, JL_E_PARSE, &where, "unknown top-level key '%.*s'; " TOP_EN,
				  "알 수 없는 맨 위 키 '%.*s'. " TOP_KO, KEY_SHOWN,
				  walk->event.type == YAML_SCALAR_EVENT ? scalar(walk) : "?");
	status = next(walk);
	if (!status)
		status = walk_records(walk, jl_schema_of(kind));
	if (!status)
		status = next(walk);
	if (status)
		return status;
	where = here(walk);
	if (walk->event.type != YAML_MAPPING_END_EVENT)
		return jl_fail_at(walk->err, JL_E_PARSE, &where, "a second top-level key; " TOP_EN,
				  "맨 위 키가 둘입니다. " TOP_KO);
	status = next(walk); /* document end */
	if (!status)
		status = next(walk);
	if (status)
		return status;
	where = here(walk);
	if (walk->event.type != YAML_STREAM_END_EVENT)
		return jl_fail_at(walk->err, JL_E_PARSE, &where, "a second YAML document; one file has one list",
				  "YAML 문서가 둘입니다. 한 파일에는 목록이 하나입니다");
	*ret_kind = kind;
	return JL_OK;
}

/* What libyaml's reader would refuse, refused with a place. */
static enum jl_status check_text(const char *file, const char *text, size_t len, struct jl_err *err)
{
	size_t bad_at = 0;
	struct jl_where where;

	if (!jl_utf8_valid(text, len, &bad_at)) {
		where = offset_where(file, text, bad_at);
		return jl_fail_at(err, JL_E_PARSE, &where, "byte 0x%02x is not valid UTF-8; save the file as UTF-8",
				  "0x%02x 바이트는 올바른 UTF-8이 아닙니다. 파일을 UTF-8로 저장하십시오",
				  (unsigned)(unsigned char)text[bad_at]);
	}
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F) {
			where = offset_where(file, text, i);
			return jl_fail_at(err, JL_E_PARSE, &where, "control character 0x%02x; this is not a text file",
					  "제어 문자 0x%02x이(가) 있습니다. 글 파일이 아닙니다", (unsigned)c);
		}
	}
	return JL_OK;
}

enum jl_status jl_yaml_inspect(enum jl_catalog_kind *ret_kind, struct jl_places *ret_places, const char *file,
			       const char *text, size_t len, struct jl_arena *arena, struct jl_err *err)
{
	struct walk walk = { .file = file, .err = err };
	struct jl_place *copy;
	enum jl_catalog_kind kind = JL_R_SOURCE;
	enum jl_status status = check_text(file, text, len, err);

	if (status)
		return status;
	if (!yaml_parser_initialize(&walk.parser))
		return jl_fail_nomem(err);
	jl_buf_init(&walk.places, PLACES_MAX_B);
	yaml_parser_set_encoding(&walk.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&walk.parser, (const unsigned char *)text, len);
	status = walk_top(&walk, &kind);
	if (status)
		goto out;
	copy = jl_arena_array(arena, walk.places.len, 1);
	if (!copy) {
		status = jl_fail_nomem(err);
		goto out;
	}
	if (walk.places.len)
		memcpy(copy, walk.places.data, walk.places.len);
	*ret_kind = kind;
	*ret_places = (struct jl_places){ .file = file, .at = copy, .n = walk.places.len / sizeof(*copy) };
out:
	if (walk.has_event)
		yaml_event_delete(&walk.event);
	yaml_parser_delete(&walk.parser);
	jl_buf_release(&walk.places);
	return status;
}

struct jl_where jl_places_find(const struct jl_places *places, size_t record, size_t field, size_t item, size_t sub)
{
	struct jl_where where = { .file = places->file };
	int best = -1;

	for (size_t i = 0; i < places->n; i++) {
		const struct jl_place *at = &places->at[i];
		int fit = 0;

		if (at->record != record)
			continue;
		/* An enclosing thing has NONE from some level on; the deepest that agrees is wanted. */
		if (at->field != JL_AT_NONE)
			fit = at->field == field ? 1 : -9;
		if (at->item != JL_AT_NONE)
			fit += at->item == item ? 1 : -9;
		if (at->sub != JL_AT_NONE)
			fit += at->sub == sub ? 1 : -9;
		if (fit > best) {
			best = fit;
			where.line = at->line;
			where.column = at->column;
		}
	}
	return where;
}
