/* Results of this room as JSON: one table for each struct, the same keys wherever it stands. */
#pragma once

#include "base/fields.h"

extern const struct jl_choice jl_recompute_choices[];

extern const struct jl_schema jl_parallel_fields;   /* struct jl_plan: how many ways it is cut */
extern const struct jl_schema jl_note_fields;       /* struct jl_note: {"option", "why"} */
extern const struct jl_schema jl_case_fields;       /* struct jl_case: how it runs */
extern const struct jl_schema jl_prediction_fields; /* struct jl_prediction: what follows */
extern const struct jl_schema jl_assumed_fields;    /* its "assumptions" */
extern const struct jl_schema jl_predicted_fields, jl_sweep_fields, jl_collective_fields,
	jl_explained_fields;                     /* predict/answer.h: what `jeoul predict --json` prints */
extern const struct jl_schema jl_fit_fields;     /* struct jl_fit (predict/technique.h) */
extern const struct jl_schema jl_compare_fields; /* struct jl_compare: all that `jeoul compare --json` prints */
