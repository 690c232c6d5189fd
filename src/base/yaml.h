/* YAML files written by users (catalog, scenarios, parts lists), as a small tree with positions.
 *
 * Strict: UTF-8, one document, no aliases, anchors, tags or duplicate keys; limits on size, depth and keys. Scalars stay text: the caller parses
 * quantities with base/units and reports file:line:column. */
#pragma once

#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

#define JL_YAML_SIZE_MAX  ((size_t)16 << 20)
#define JL_YAML_NODES_MAX 1000000
#define JL_YAML_DEPTH_MAX 32
#define JL_YAML_KEYS_MAX  1000 /* per map; duplicates are found by pairwise comparison */

enum jl_yaml_kind { JL_YAML_TEXT, JL_YAML_MAP, JL_YAML_LIST };

struct jl_yaml {
	enum jl_yaml_kind kind;
	const char *text;      /* content of a JL_YAML_TEXT node */
	const char *key;       /* set for values of a map */
	struct jl_where where; /* its `file` is the name given by the caller */
	struct jl_where key_where;
	struct jl_yaml *items; /* first child of a map or list */
	struct jl_yaml *next;
	size_t n_items;
};

/* `name` is for messages and must outlive the tree. An empty document is an empty map. */
enum jl_status jl_yaml_read(const struct jl_yaml **ret_root, const char *name, const char *text, size_t len,
			    struct jl_arena *arena, struct jl_err *err);
enum jl_status jl_yaml_read_file(const struct jl_yaml **ret_root, const char *path, struct jl_arena *arena,
				 struct jl_err *err);

/* Value of a key; NULL: no such key. */
const struct jl_yaml *jl_yaml_get(const struct jl_yaml *map, const char *key);
const char *jl_yaml_text(const struct jl_yaml *map, const char *key); /* NULL: missing or not text */

/* Item of a list; NULL: index out of range. */
const struct jl_yaml *jl_yaml_at(const struct jl_yaml *list, size_t i);

/* Fails if the node is not a map or has a key that is not in `keys` (NULL-terminated); the error suggests the nearest key. `what` names the map. */
enum jl_status jl_yaml_check_keys(const struct jl_yaml *map, const char *what, const char *const *keys,
				  struct jl_err *err);
