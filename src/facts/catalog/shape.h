/* Structure of a YAML catalog file: one list of one kind, records with known keys, values of the right YAML kind. Also gives the file position of
 * each value. */
#pragma once

#include <stdint.h>

#include "base/yaml.h"
#include "catalog/schema.h"

#define JL_CATALOG_FILE_MAX_B  ((size_t)4 * 1000 * 1000)
#define JL_CATALOG_RECORDS_MAX 8000 /* per kind; ids are compared pairwise */
#define JL_CATALOG_ITEMS_MAX   2000 /* per list inside a record */
#define JL_NO_FIELD            SIZE_MAX

/* Reads the list of records of a catalog file, and their kind. */
enum jl_status jl_shape_read(enum jl_catalog_kind *ret_kind, const struct jl_yaml **ret_list, const char *file,
			     const char *text, size_t len, struct jl_arena *arena, struct jl_err *err);

/* Where a record was read; starts with the newest file that defines it. */
struct jl_record_place {
	const struct jl_schema *schema;
	const struct jl_yaml *map;    /* the record in a YAML file */
	const struct jl_where *cells; /* CSV: one per field of the schema */
	const void *folder;           /* identifies files read together */
	const struct jl_record_place *older;
};

/* Position of a value. JL_NO_FIELD at some level: position of the enclosing item; the nearest enclosing one that has a position. */
struct jl_where jl_record_where(const struct jl_record_place *place, size_t field, size_t item, size_t sub);
