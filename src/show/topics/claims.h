/* Recomputed claims of a text: counts, wrong ones with reasons, unverifiable ones. */
#pragma once

#include "base/fields.h"
#include "topics/show.h"

struct jl_claims_audit;
extern const struct jl_schema jl_audit_fields;

/* By mistake, largest group first; `all`: also confirmed claims and inputs. */
void jl_show_claims(struct jl_doc *doc, const struct jl_claims_audit *audit, bool all);
/* For a report: counts by kind, and one line per root of the differences. */
void jl_show_claims_in_short(struct jl_doc *doc, const struct jl_claims_audit *audit);
