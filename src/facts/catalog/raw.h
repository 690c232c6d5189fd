/* A YAML file as libcyaml loads it: every scalar still text, one slot per field of the schema. */
#ifndef JL_CATALOG_RAW_H
#define JL_CATALOG_RAW_H

#include <stdint.h>

#include "catalog/schema.h"

/* What `data` is depends on the field: char * for scalars, char ** for texts, slots of the sub-records one after
 * another for lists and of one sub-record for a struct. NULL: the key is not there. */
struct jl_raw_slot {
	void *data;
	uint32_t n; /* texts, list */
};

struct jl_raw {
	const struct jl_schema *schema;
	const void *cyaml_schema; /* in the arena given to load */
	void *top;
	const struct jl_raw_slot *slots; /* n_records times schema->n_fields */
	size_t n_records;
};

enum jl_status jl_raw_load(struct jl_raw *ret_raw, const struct jl_schema *schema, const char *file, const char *text,
			   size_t len, struct jl_arena *arena, struct jl_err *err);
void jl_raw_release(struct jl_raw *raw); /* a zeroed one is fine */

#endif
