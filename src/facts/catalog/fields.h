/* Facts of a record as table rows, for loading, checking, display and JSON. */
#pragma once

#include "catalog/catalog.h"

struct jl_fact_field {
	const char *member; /* C member and JSON key: mem_Bps */
	const char *key;    /* YAML key: mem_rate */
	enum jl_kind kind;
	const char *en;
	size_t offset; /* offset of the struct jl_fact in the record */
};

struct jl_fact_fields {
	const struct jl_fact_field *rows;
	size_t n;
};

extern const struct jl_fact_fields jl_gpu_fields, jl_cpu_fields, jl_system_fields;

static inline const struct jl_fact *jl_field_fact(const void *record, const struct jl_fact_field *field)
{
	return (const struct jl_fact *)(const void *)((const char *)record + field->offset);
}
