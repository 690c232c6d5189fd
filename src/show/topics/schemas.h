/* JSON schemas of the commands by name: docs/schema/<name>.json is generated from this table (jeoul schema, scripts/schema). */
#pragma once

#include "base/fields.h"

struct jl_output_schema {
	const char *name; /* of the command; NULL-terminated list */
	const struct jl_schema *schema;
};

extern const struct jl_output_schema jl_output_schemas[];
