/* Money as JSON: one table for each struct. */
#pragma once

#include "base/fields.h"

extern const struct jl_schema jl_cost_fields;         /* struct jl_cost_study: all that `jeoul cost --json` prints */
extern const struct jl_schema jl_machine_bill_fields; /* struct jl_machine_bill: `jeoul cost --bill-of --json` */
extern const struct jl_schema jl_bill_fields;         /* struct jl_bill_asked: `jeoul cost --bill --json` */
