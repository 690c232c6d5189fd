/* Where in a YAML file each value stands.
 *
 * libcyaml fills structs but forgets positions, and explains a wrong key without saying what would be right. So
 * every file is first walked once with libyaml's events against the same tables: that refuses what has no place in
 * a catalog (aliases, tags, unknown or repeated keys, other shapes) at its line and column, and notes where each
 * value is for the checks that follow. */
#ifndef JL_CATALOG_LOCATE_H
#define JL_CATALOG_LOCATE_H

#include <stdint.h>

#include "catalog/schema.h"

#define JL_AT_NONE UINT16_MAX

struct jl_place {
	uint32_t record;
	uint16_t field; /* JL_AT_NONE: the record itself */
	uint16_t item;  /* of a list; JL_AT_NONE: the field itself */
	uint16_t sub;   /* field of that item */
	uint32_t line, column;
};

struct jl_places { /* of one file */
	const char *file;
	const struct jl_place *at;
	size_t n;
};

#define JL_CATALOG_FILE_MAX_B  ((size_t)4 * 1000 * 1000)
#define JL_CATALOG_RECORDS_MAX 4000 /* of one kind; ids are compared one by one */
#define JL_CATALOG_ITEMS_MAX   200  /* of a list inside a record */

enum jl_status jl_yaml_inspect(enum jl_catalog_kind *ret_kind, struct jl_places *ret_places, const char *file,
			       const char *text, size_t len, struct jl_arena *arena, struct jl_err *err);

/* The place of a value; of the nearest thing around it that has one otherwise. */
struct jl_where jl_places_find(const struct jl_places *places, size_t record, size_t field, size_t item, size_t sub);

/* Put "file:line:column: " in front of a message that is there already. */
enum jl_status jl_err_prefix(struct jl_err *err, const struct jl_where *where);

#endif
