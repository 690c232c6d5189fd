/* Strict YAML parser over libyaml. Knows no particular file. */
#include "base/yaml.h"

#include <string.h>
#include <yaml.h>

#include "base/budget.h"
#include "base/buf.h"
#include "base/near.h"
#include "base/utf8.h"

#define KEY_SHOWN 60 /* bytes of untrusted text shown in a message */

struct reader {
	yaml_parser_t parser;
	const char *name;
	struct jl_arena *arena;
	struct jl_err *err;
	size_t n_nodes;
};

static struct jl_where at(const struct reader *r, yaml_mark_t mark)
{
	return (struct jl_where){ .file = r->name, .line = mark.line + 1, .column = mark.column + 1 };
}

static enum jl_status next_event(struct reader *r, yaml_event_t *ret_event)
{
	if (jl_budget_spend(1))
		return jl_budget_fail(r->err);
	if (yaml_parser_parse(&r->parser, ret_event))
		return JL_OK;
	if (r->parser.error == YAML_MEMORY_ERROR)
		return jl_fail_nomem(r->err);
	struct jl_where where = at(r, r->parser.problem_mark);
	return jl_fail_at(r->err, JL_E_PARSE, &where,
			  "not valid YAML: {%s}; values with ': ' or ' #' in them need quotes",
			  r->parser.problem ? r->parser.problem : "?");
}

static enum jl_status read_node(struct reader *r, const yaml_event_t *event, int depth, struct jl_yaml **ret_node);

/* Refuses escapes such as "\\e[31m" and "\\u202e" in quoted text: they control the terminal or change the text direction. */
static enum jl_status check_visible(struct reader *r, const struct jl_where *where, const char *text)
{
	char shown[JL_UTF8_SHOWN_MAX];
	uint32_t c = 0;

	for (size_t n; (n = jl_utf8_shown(text, shown)); text += n) {
		if (strncmp(shown, text, n) == 0 || *text == '\n' || *text == '\t')
			continue;
		(void)jl_utf8_decode(text, n, &c);
		return jl_fail_at(r->err, JL_E_PARSE, where,
				  "control character U+%04X, or one that turns the text around; take it out",
				  (unsigned)c);
	}
	return JL_OK;
}

/* Reads the key of the next value of `map`. */
static enum jl_status read_key(struct reader *r, const struct jl_yaml *map, const yaml_event_t *event,
			       const char **ret_key)
{
	const struct jl_where where = at(r, event->start_mark);
	const char *text = (const char *)event->data.scalar.value;

	if (event->type != YAML_SCALAR_EVENT || strlen(text) != event->data.scalar.length)
		return jl_fail_at(r->err, JL_E_PARSE, &where, "a key must be a word: write 'key: value' lines");
	if (jl_yaml_get(map, text))
		return jl_fail_at(r->err, JL_E_PARSE, &where, "key '%.*s' is given twice; keep one of them", KEY_SHOWN,
				  text);
	if (map->n_items >= JL_YAML_KEYS_MAX)
		return jl_fail_at(r->err, JL_E_LIMIT, &where, "more than %d keys in one place", JL_YAML_KEYS_MAX);
	if (check_visible(r, &where, text))
		return JL_E_PARSE;
	*ret_key = jl_arena_strdup(r->arena, text);
	return *ret_key ? JL_OK : jl_fail_nomem(r->err);
}

/* Reads everything up to the end of a map or list. */
static enum jl_status read_items(struct reader *r, struct jl_yaml *parent, yaml_event_type_t end, int depth)
{
	struct jl_yaml **tail = &parent->items;
	enum jl_status status = JL_OK;

	while (!status) {
		const char *key = NULL;
		struct jl_where key_where = { .file = NULL };
		yaml_event_t event;

		JL_TRY(next_event(r, &event));
		bool done = event.type == end;
		if (!done && parent->kind == JL_YAML_MAP) {
			status = read_key(r, parent, &event, &key);
			key_where = at(r, event.start_mark);
			yaml_event_delete(&event);
			if (status || (status = next_event(r, &event)))
				return status;
		}
		if (!done)
			status = read_node(r, &event, depth, tail);
		yaml_event_delete(&event);
		if (done)
			return JL_OK;
		if (!status) {
			(*tail)->key = key;
			(*tail)->key_where = key_where;
			tail = &(*tail)->next;
			parent->n_items++;
		}
	}
	return status;
}

/* Refuses aliases, anchors and tags: aliases can expand a small file to a huge tree, and none of them is needed. */
static enum jl_status refuse_marks(struct reader *r, const yaml_event_t *event)
{
	const struct jl_where where = at(r, event->start_mark);
	const yaml_char_t *anchor = NULL, *tag = NULL;

	if (event->type == YAML_SCALAR_EVENT) {
		anchor = event->data.scalar.anchor;
		tag = event->data.scalar.tag;
	} else if (event->type == YAML_SEQUENCE_START_EVENT) {
		anchor = event->data.sequence_start.anchor;
		tag = event->data.sequence_start.tag;
	} else if (event->type == YAML_MAPPING_START_EVENT) {
		anchor = event->data.mapping_start.anchor;
		tag = event->data.mapping_start.tag;
	} else {
		return jl_fail_at(r->err, JL_E_PARSE, &where, "aliases (*name) are not taken; write the value out");
	}
	if (anchor)
		return jl_fail_at(r->err, JL_E_PARSE, &where, "anchors (&name) are not taken; write the value out");
	if (tag)
		return jl_fail_at(r->err, JL_E_PARSE, &where, "tags (!name) are not taken; write the value out");
	return JL_OK;
}

static enum jl_status check_limits(struct reader *r, const yaml_event_t *event, int depth)
{
	const struct jl_where where = at(r, event->start_mark);

	if (depth > JL_YAML_DEPTH_MAX)
		return jl_fail_at(r->err, JL_E_LIMIT, &where, "nested more than %d deep", JL_YAML_DEPTH_MAX);
	if (++r->n_nodes > JL_YAML_NODES_MAX)
		return jl_fail_at(r->err, JL_E_LIMIT, &where, "more than %d entries", JL_YAML_NODES_MAX);
	return refuse_marks(r, event);
}

static enum jl_status read_scalar(struct reader *r, const yaml_event_t *event, struct jl_yaml *node)
{
	const struct jl_where where = at(r, event->start_mark);
	const char *value = (const char *)event->data.scalar.value;

	if (memchr(value, '\0', event->data.scalar.length))
		return jl_fail_at(r->err, JL_E_PARSE, &where, "a value must be text without NUL characters");
	if (check_visible(r, &where, value))
		return JL_E_PARSE;
	node->kind = JL_YAML_TEXT;
	node->text = jl_arena_strndup(r->arena, value, event->data.scalar.length);
	return node->text ? JL_OK : jl_fail_nomem(r->err);
}

static enum jl_status read_node(struct reader *r, const yaml_event_t *event, int depth, struct jl_yaml **ret_node)
{
	struct jl_yaml *node;
	enum jl_status status;

	JL_TRY(check_limits(r, event, depth));
	node = jl_arena_alloc(r->arena, sizeof *node);
	if (!node)
		return jl_fail_nomem(r->err);
	node->where = at(r, event->start_mark);
	if (event->type == YAML_SCALAR_EVENT) {
		status = read_scalar(r, event, node);
	} else if (event->type == YAML_MAPPING_START_EVENT) {
		node->kind = JL_YAML_MAP;
		status = read_items(r, node, YAML_MAPPING_END_EVENT, depth + 1);
	} else {
		node->kind = JL_YAML_LIST;
		status = read_items(r, node, YAML_SEQUENCE_END_EVENT, depth + 1);
	}
	if (!status)
		*ret_node = node;
	return status;
}

static enum jl_status read_document(struct reader *r, struct jl_yaml **ret_root)
{
	struct jl_yaml *root = NULL;
	yaml_event_type_t type = YAML_NO_EVENT;
	size_t n_documents = 0;

	while (type != YAML_STREAM_END_EVENT) {
		yaml_event_t event;
		enum jl_status status = JL_OK;

		JL_TRY(next_event(r, &event));
		type = event.type;
		if (type == YAML_DOCUMENT_START_EVENT && n_documents++) {
			const struct jl_where where = at(r, event.start_mark);

			status = jl_fail_at(r->err, JL_E_PARSE, &where, "a second YAML document; one file has one");
		} else if (type == YAML_SCALAR_EVENT || type == YAML_MAPPING_START_EVENT ||
			   type == YAML_SEQUENCE_START_EVENT || type == YAML_ALIAS_EVENT) {
			status = read_node(r, &event, 0, &root);
		}
		yaml_event_delete(&event);
		if (status)
			return status;
	}
	if (!root || (root->kind == JL_YAML_TEXT && !*root->text)) {
		root = jl_arena_alloc(r->arena, sizeof *root);
		if (!root)
			return jl_fail_nomem(r->err);
		root->kind = JL_YAML_MAP;
		root->where = (struct jl_where){ .file = r->name, .line = 1, .column = 1 };
	}
	*ret_root = root;
	return JL_OK;
}

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

/* Refuses bytes that libyaml rejects without a position. */
static enum jl_status check_bytes(const char *file, const char *text, size_t len, struct jl_err *err)
{
	size_t bad_at = 0;
	struct jl_where where;

	if (!jl_utf8_valid(text, len, &bad_at)) {
		where = offset_where(file, text, bad_at);
		return jl_fail_at(err, JL_E_PARSE, &where, "byte 0x%02x is not valid UTF-8; save the file as UTF-8",
				  (unsigned)(unsigned char)text[bad_at]);
	}
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if ((c >= 0x20 && c != 0x7F) || c == '\t' || c == '\n' || c == '\r')
			continue;
		where = offset_where(file, text, i);
		return jl_fail_at(err, JL_E_PARSE, &where, "control character 0x%02x; this is not a text file",
				  (unsigned)c);
	}
	return JL_OK;
}

/* libyaml compares each %TAG line with all earlier ones (quadratic), and tags are refused anyway. */
static enum jl_status check_directives(const char *file, const char *text, size_t len, struct jl_err *err)
{
	for (const char *at = text, *end = text + len; (at = memmem(at, (size_t)(end - at), "%TAG", 4)); at += 4) {
		/* line starts: after any line break, including NEL, LS and PS, or after a byte order mark */
		const bool first = at == text || strchr("\n\r\x85\xa8\xa9\xbf", at[-1]);
		struct jl_where where;

		if (!first)
			continue;
		where = offset_where(file, text, (size_t)(at - text));
		return jl_fail_at(err, JL_E_PARSE, &where, "tags (!name) are not taken; write the value out");
	}
	return JL_OK;
}

enum jl_status jl_yaml_read(const struct jl_yaml **ret_root, const char *name, const char *text, size_t len,
			    struct jl_arena *arena, struct jl_err *err)
{
	struct reader r = { .name = name, .arena = arena, .err = err };
	struct jl_yaml *root = NULL;

	if (len > JL_YAML_SIZE_MAX)
		return jl_fail(err, JL_E_LIMIT, "%s is larger than %zu MiB", name, JL_YAML_SIZE_MAX >> 20);
	JL_TRY(check_bytes(name, text, len, err));
	JL_TRY(check_directives(name, text, len, err));
	if (!yaml_parser_initialize(&r.parser))
		return jl_fail_nomem(err);
	yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, len);
	enum jl_status status = read_document(&r, &root);
	yaml_parser_delete(&r.parser);
	if (!status)
		*ret_root = root;
	return status;
}

enum jl_status jl_yaml_read_file(const struct jl_yaml **ret_root, const char *path, struct jl_arena *arena,
				 struct jl_err *err)
{
	struct jl_buf text;

	JL_TRY(jl_buf_read_file(&text, path, JL_YAML_SIZE_MAX, err));
	enum jl_status status = jl_yaml_read(ret_root, path, jl_buf_text(&text), text.len, arena, err);
	jl_buf_release(&text);
	return status;
}

const struct jl_yaml *jl_yaml_get(const struct jl_yaml *map, const char *key)
{
	if (!map || map->kind != JL_YAML_MAP)
		return NULL;
	for (const struct jl_yaml *item = map->items; item; item = item->next)
		if (strcmp(item->key, key) == 0)
			return item;
	return NULL;
}

const struct jl_yaml *jl_yaml_at(const struct jl_yaml *list, size_t i)
{
	const struct jl_yaml *item = list ? list->items : NULL;

	while (item && i--)
		item = item->next;
	return item;
}

const char *jl_yaml_text(const struct jl_yaml *map, const char *key)
{
	const struct jl_yaml *item = jl_yaml_get(map, key);

	return item && item->kind == JL_YAML_TEXT ? item->text : NULL;
}

static enum jl_status unknown_key(const struct jl_yaml *item, const char *what, const char *const *keys, size_t n,
				  struct jl_err *err)
{
	struct jl_buf all;
	size_t near;

	if (jl_near_rank(item->key, keys, n, &near, 1))
		return jl_fail_at(err, JL_E_PARSE, &item->key_where, "unknown key '%.*s' in {%s}; did you mean '%s'?",
				  KEY_SHOWN, item->key, what, keys[near]);
	jl_buf_init(&all, 1024);
	for (size_t i = 0; i < n && all.len < 320; i++)
		jl_buf_printf(&all, "%s%s", i ? ", " : "", keys[i]);
	enum jl_status status = jl_fail_at(err, JL_E_PARSE, &item->key_where,
					   "unknown key '%.*s' in {%s}; it can have: %s", KEY_SHOWN, item->key, what,
					   jl_buf_text(&all));
	jl_buf_release(&all);
	return status;
}

enum jl_status jl_yaml_check_keys(const struct jl_yaml *map, const char *what, const char *const *keys,
				  struct jl_err *err)
{
	size_t n = 0;

	if (map->kind != JL_YAML_MAP)
		return jl_fail_at(err, JL_E_PARSE, &map->where, "{%s} must have keys, e.g. %s: ...", what, keys[0]);
	while (keys[n])
		n++;
	for (const struct jl_yaml *item = map->items; item; item = item->next) {
		bool known = false;

		for (size_t i = 0; i < n && !known; i++)
			known = strcmp(keys[i], item->key) == 0;
		if (!known)
			return unknown_key(item, what, keys, n, err);
	}
	return JL_OK;
}
