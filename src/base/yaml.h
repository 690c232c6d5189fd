/* YAML that people write for us (the catalog, scenarios, parts lists), as a small tree that knows where each thing stands.
 *
 * The reader is strict: UTF-8, one document, no aliases, anchors or tags, no key twice, limits on size, depth and keys. Scalars
 * stay text; the caller parses quantities with base/units and says file:line:column when it is wrong. */
#pragma once

#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

#define JL_YAML_SIZE_MAX  ((size_t)16 << 20)
#define JL_YAML_NODES_MAX 1000000
#define JL_YAML_DEPTH_MAX 32
#define JL_YAML_KEYS_MAX  1000 /* of one map; they are compared one by one */

enum jl_yaml_kind { JL_YAML_TEXT, JL_YAML_MAP, JL_YAML_LIST };

struct jl_yaml {
	enum jl_yaml_kind kind;
	const char *text;      /* JL_YAML_TEXT */
	const char *key;       /* when it is a value of a map */
	struct jl_where where; /* file is the name that was given */
	struct jl_where key_where;
	struct jl_yaml *items; /* first of a map or list */
	struct jl_yaml *next;
	size_t n_items;
};

/* `name` is for messages and must outlive the tree. An empty document is an empty map. */
enum jl_status jl_yaml_read(const struct jl_yaml **ret_root, const char *name, const char *text, size_t len,
			    struct jl_arena *arena, struct jl_err *err);
enum jl_status jl_yaml_read_file(const struct jl_yaml **ret_root, const char *path, struct jl_arena *arena,
				 struct jl_err *err);

/* A value of a map by its key; NULL: not there. */
const struct jl_yaml *jl_yaml_get(const struct jl_yaml *map, const char *key);
const char *jl_yaml_text(const struct jl_yaml *map, const char *key); /* NULL: not there or no text */

/* The item of a list by its index; NULL: there are not so many. */
const struct jl_yaml *jl_yaml_at(const struct jl_yaml *list, size_t i);

/* Refuses a node that is no map, or a key that is not in `keys` (NULL-terminated), with the nearest one. `what` names the map in the message. */
enum jl_status jl_yaml_check_keys(const struct jl_yaml *map, const char *what, const char *const *keys,
				  struct jl_err *err);
