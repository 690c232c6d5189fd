/* Every command's JSON by name: the table that writes it, from which docs/schema/<name>.json is made (jeoul schema, scripts/schema). */
#pragma once

#include "base/fields.h"

struct jl_output_schema {
	const char *name; /* of the command; NULL ends the list */
	const struct jl_schema *schema;
};

extern const struct jl_output_schema jl_output_schemas[];
