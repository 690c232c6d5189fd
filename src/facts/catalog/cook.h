/* From the texts of a YAML record to a record of catalog.h. */
#pragma once

#include "catalog/check.h"

struct jl_cook {
	struct jl_arena *arena;
	const struct jl_catalog *cat; /* its sources give facts their origin and date */
	struct jl_findings *findings;
	const struct jl_schema *schema;
	bool amends; /* the record exists already: only what is given changes */
};

/* `map` has the shape of a record (shape.h); its texts become the record's. `record` holds what is known so far (cleared, or a copy of the
 * record that is amended). What is wrong goes to the findings and leaves the field as it was; the status is JL_OK or JL_E_NOMEM. */
enum jl_status jl_cook_record(const struct jl_cook *cook, const struct jl_yaml *map, void *record, struct jl_err *err);
