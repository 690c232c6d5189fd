/* Results of this room as JSON: one table for each struct, the same keys wherever it stands. */
#ifndef JL_PREDICT_FIELDS_H
#define JL_PREDICT_FIELDS_H

#include "base/fields.h"

extern const struct jl_choice jl_recompute_choices[];

extern const struct jl_schema jl_parallel_fields; /* struct jl_plan: how many ways it is cut */
extern const struct jl_schema jl_note_fields;     /* struct jl_note: {"option", "why"} */
extern const struct jl_schema jl_compare_fields;  /* struct jl_compare: all that `jeoul compare --json` prints */

#endif
