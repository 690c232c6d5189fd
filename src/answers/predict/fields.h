/* Predictions as JSON: one table per struct, with the same keys wherever it appears. */
#pragma once

#include "base/fields.h"

extern const struct jl_choice jl_recompute_choices[];

extern const struct jl_schema jl_parallel_fields;   /* struct jl_plan: degrees of parallelism */
extern const struct jl_schema jl_note_fields;       /* struct jl_note: {"option", "why"} */
extern const struct jl_schema jl_case_fields;       /* struct jl_case: model, system and plan */
extern const struct jl_schema jl_prediction_fields; /* struct jl_prediction */
extern const struct jl_schema jl_assumed_fields;    /* "assumptions" of a case */
extern const struct jl_schema jl_predicted_fields, jl_sweep_fields, jl_collective_fields,
	jl_explained_fields;                     /* predict/answer.h: `jeoul predict --json` */
extern const struct jl_schema jl_fit_fields;     /* struct jl_fit (predict/technique.h) */
extern const struct jl_schema jl_compare_fields; /* struct jl_compare: `jeoul compare --json` */
