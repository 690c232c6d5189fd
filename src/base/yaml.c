#include "base/yaml.h"

#include <string.h>
#include <yaml.h>

#include "base/buf.h"
#include "base/near.h"

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
	struct jl_where where;

	if (yaml_parser_parse(&r->parser, ret_event))
		return JL_OK;
	where = at(r, r->parser.problem_mark);
	return jl_fail_at(r->err, JL_E_PARSE, &where, "not YAML: %s", "YAML이 아닙니다: %s",
			  r->parser.problem ? r->parser.problem : "?");
}

static enum jl_status read_node(struct reader *r, const yaml_event_t *event, const char *key, int depth,
				struct jl_yaml **ret_node);

static enum jl_status refuse_twice(const struct reader *r, const struct jl_yaml *map, const char *key, yaml_mark_t mark)
{
	const struct jl_where where = at(r, mark);

	if (!jl_yaml_get(map, key))
		return JL_OK;
	return jl_fail_at(r->err, JL_E_PARSE, &where, "the key '%s' is here twice", "키 '%s'이(가) 두 번 나옵니다",
			  key);
}

static enum jl_status read_key(struct reader *r, const struct jl_yaml *map, const yaml_event_t *event,
			       const char **ret_key)
{
	const struct jl_where where = at(r, event->start_mark);

	if (event->type != YAML_SCALAR_EVENT)
		return jl_fail_at(r->err, JL_E_PARSE, &where, "a key must be a word", "키는 단어여야 합니다");
	*ret_key = jl_arena_strndup(r->arena, (const char *)event->data.scalar.value, event->data.scalar.length);
	return *ret_key ? refuse_twice(r, map, *ret_key, event->start_mark) : jl_fail_nomem(r->err);
}

/* Everything up to the end of a map or list. */
static enum jl_status read_items(struct reader *r, struct jl_yaml *parent, yaml_event_type_t end, int depth)
{
	struct jl_yaml **tail = &parent->items;
	enum jl_status status = JL_OK;

	while (!status) {
		const char *key = NULL;
		yaml_event_t event;
		bool done;

		if ((status = next_event(r, &event)))
			return status;
		done = event.type == end;
		if (!done && parent->kind == JL_YAML_MAP) {
			status = read_key(r, parent, &event, &key);
			yaml_event_delete(&event);
			if (status || (status = next_event(r, &event)))
				return status;
		}
		if (!done)
			status = read_node(r, &event, key, depth, tail);
		yaml_event_delete(&event);
		if (done)
			return JL_OK;
		if (!status) {
			tail = &(*tail)->next;
			parent->n_items++;
		}
	}
	return status;
}

static enum jl_status check_limits(struct reader *r, const yaml_event_t *event, int depth)
{
	const struct jl_where where = at(r, event->start_mark);

	if (event->type == YAML_ALIAS_EVENT)
		return jl_fail_at(r->err, JL_E_PARSE, &where, "aliases (*name) are not taken; write it out",
				  "별칭(*name)은 쓸 수 없습니다. 그대로 쓰세요");
	if (depth > JL_YAML_DEPTH_MAX)
		return jl_fail_at(r->err, JL_E_LIMIT, &where, "nested more than %d deep",
				  "%d단계보다 깊이 중첩되었습니다", JL_YAML_DEPTH_MAX);
	if (++r->n_nodes > JL_YAML_NODES_MAX)
		return jl_fail_at(r->err, JL_E_LIMIT, &where, "more than %d entries", "항목이 %d개를 넘습니다",
				  JL_YAML_NODES_MAX);
	return JL_OK;
}

static enum jl_status read_scalar(struct reader *r, const yaml_event_t *event, struct jl_yaml *node)
{
	const struct jl_where where = at(r, event->start_mark);
	const char *value = (const char *)event->data.scalar.value;

	if (memchr(value, '\0', event->data.scalar.length))
		return jl_fail_at(r->err, JL_E_PARSE, &where, "a zero byte inside text",
				  "텍스트 안에 0 바이트가 있습니다");
	node->kind = JL_YAML_TEXT;
	node->text = jl_arena_strndup(r->arena, value, event->data.scalar.length);
	return node->text ? JL_OK : jl_fail_nomem(r->err);
}

static enum jl_status read_node(struct reader *r, const yaml_event_t *event, const char *key, int depth,
				struct jl_yaml **ret_node)
{
	struct jl_yaml *node;
	enum jl_status status = check_limits(r, event, depth);

	if (status)
		return status;
	node = jl_arena_alloc(r->arena, sizeof *node);
	if (!node)
		return jl_fail_nomem(r->err);
	node->key = key;
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
	enum jl_status status;

	for (;;) {
		yaml_event_t event;
		yaml_event_type_t type;

		if ((status = next_event(r, &event)))
			return status;
		type = event.type;
		if (type == YAML_SCALAR_EVENT || type == YAML_MAPPING_START_EVENT ||
		    type == YAML_SEQUENCE_START_EVENT || type == YAML_ALIAS_EVENT) {
			if (root) {
				const struct jl_where where = at(r, event.start_mark);
				status = jl_fail_at(r->err, JL_E_PARSE, &where, "a second document; one is taken",
						    "문서가 둘입니다. 하나만 받습니다");
			} else {
				status = read_node(r, &event, NULL, 0, &root);
			}
		}
		yaml_event_delete(&event);
		if (status)
			return status;
		if (type == YAML_STREAM_END_EVENT)
			break;
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

enum jl_status jl_yaml_read(const struct jl_yaml **ret_root, const char *name, const char *text, size_t len,
			    struct jl_arena *arena, struct jl_err *err)
{
	struct reader r = { .name = name, .arena = arena, .err = err };
	struct jl_yaml *root = NULL;
	enum jl_status status;

	if (len > JL_YAML_SIZE_MAX)
		return jl_fail(err, JL_E_LIMIT, "%s is larger than %zu MiB", "%s이(가) %zu MiB보다 큽니다", name,
			       JL_YAML_SIZE_MAX >> 20);
	if (!yaml_parser_initialize(&r.parser))
		return jl_fail_nomem(err);
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, len);
	status = read_document(&r, &root);
	yaml_parser_delete(&r.parser);
	if (!status)
		*ret_root = root;
	return status;
}

enum jl_status jl_yaml_read_file(const struct jl_yaml **ret_root, const char *path, struct jl_arena *arena,
				 struct jl_err *err)
{
	struct jl_buf text;
	enum jl_status status;

	status = jl_buf_read_file(&text, path, JL_YAML_SIZE_MAX, err);
	if (status)
		return status;
	status = jl_yaml_read(ret_root, path, jl_buf_text(&text), text.len, arena, err);
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

const char *jl_yaml_text(const struct jl_yaml *map, const char *key)
{
	const struct jl_yaml *item = jl_yaml_get(map, key);

	return item && item->kind == JL_YAML_TEXT ? item->text : NULL;
}

enum jl_status jl_yaml_check_keys(const struct jl_yaml *map, const char *what, const char *const *keys,
				  struct jl_err *err)
{
	size_t n = 0;

	if (map->kind != JL_YAML_MAP)
		return jl_fail_at(err, JL_E_PARSE, &map->where, "%s must have keys, e.g. %s: ...",
				  "%s에는 키가 있어야 합니다. 예: %s: ...", what, keys[0]);
	while (keys[n])
		n++;
	for (const struct jl_yaml *item = map->items; item; item = item->next) {
		bool known = false;
		size_t near;

		for (size_t i = 0; i < n && !known; i++)
			known = strcmp(keys[i], item->key) == 0;
		if (known)
			continue;
		if (jl_near_rank(item->key, keys, n, &near, 1))
			return jl_fail_at(err, JL_E_PARSE, &item->where, "%s has no key '%.60s'; did you mean %s?",
					  "%s에 '%.60s' 키는 없습니다. %s 인가요?", what, item->key, keys[near]);
		return jl_fail_at(err, JL_E_PARSE, &item->where, "%s has no key '%.60s'; the first of its keys is %s",
				  "%s에 '%.60s' 키는 없습니다. 키의 예: %s", what, item->key, keys[0]);
	}
	return JL_OK;
}
