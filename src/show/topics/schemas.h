/* Every command's JSON by name: the table that writes it, from which docs/schema/<name>.json is made (jeoul schema, scripts/schema). */
#pragma once

#include "base/fields.h"

struct jl_told {
	const char *name; /* of the command; NULL ends the list */
	const struct jl_schema *schema;
};

extern const struct jl_told jl_told[];
