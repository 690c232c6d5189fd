/* Form of every kind of catalog record. Reading, merging, checking, writing as C and comparing all use these tables. A new field is one row here,
 * or one line of an X-macro in catalog.h. */
#pragma once

#include "base/fields.h"
#include "catalog/catalog.h"

enum jl_catalog_kind {
	JL_R_SOURCE,
	JL_R_FAMILY,
	JL_R_GPU,
	JL_R_CPU,
	JL_R_LINK,
	JL_R_SYSTEM,
	JL_R_TARIFF,
	JL_R_RULE,
	JL_R_RELIABILITY,
	JL_R_MODEL,
	JL_R_NET,
	JL_R_ENGINE,
	JL_R_PARAM,
	JL_R_PRICE, /* CSV; the keys are its columns */
	JL_N_RECORD
};

const struct jl_schema *jl_schema_of(enum jl_catalog_kind kind);

/* Kind of record for a top-level key of a file; false: unknown key. */
bool jl_schema_by_list(enum jl_catalog_kind *ret_kind, const char *list);

/* Index of a key; n_fields: none. */
size_t jl_schema_field(const struct jl_schema *schema, const char *key);

void jl_schema_clear(const struct jl_schema *schema, void *record);

/* Records of one kind: pointer to the first, and their number. */
const void *jl_catalog_list(const struct jl_catalog *cat, enum jl_catalog_kind kind, size_t *ret_n);
void jl_catalog_set_list(struct jl_catalog *cat, enum jl_catalog_kind kind, const void *list, size_t n);

/* Id of a record (price: its item). Never NULL. */
const char *jl_record_id(const struct jl_schema *schema, const void *record);
