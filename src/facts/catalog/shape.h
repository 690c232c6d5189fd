/* Has a YAML file the form of a catalog file: one list of one kind, records with known keys, values of the right shape?
 * And where in its file each value stands. */
#pragma once

#include <stdint.h>

#include "base/yaml.h"
#include "catalog/schema.h"

#define JL_CATALOG_FILE_MAX_B  ((size_t)4 * 1000 * 1000)
#define JL_CATALOG_RECORDS_MAX 8000 /* of one kind; ids are compared one by one */
#define JL_CATALOG_ITEMS_MAX   2000 /* of a list inside a record */
#define JL_NO_FIELD            SIZE_MAX

/* The list of records of a catalog file, and what they are. */
enum jl_status jl_shape_read(enum jl_catalog_kind *ret_kind, const struct jl_yaml **ret_list, const char *file,
			     const char *text, size_t len, struct jl_arena *arena, struct jl_err *err);

/* Where a record was read: the newest file that speaks of it first. */
struct jl_record_place {
	const struct jl_schema *schema;
	const struct jl_yaml *map;    /* YAML */
	const struct jl_where *cells; /* CSV: one for each field of the schema */
	const void *folder;           /* those read together have the same one */
	const struct jl_record_place *older;
};

/* The place of a value (JL_NO_FIELD from some level on: of what is around it); of the nearest thing around it that has one. */
struct jl_where jl_record_where(const struct jl_record_place *place, size_t field, size_t item, size_t sub);
