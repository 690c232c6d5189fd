/* Claims of a text, recomputed: the counts, what is wrong and why, what cannot be verified. */
#pragma once

#include "base/fields.h"
#include "topics/show.h"

struct jl_claims_audit;
extern const struct jl_schema jl_audit_fields;

/* Mistake by mistake, those with most claims first; with `all` also what follows and what is taken as given. */
void jl_show_claims(struct jl_doc *doc, const struct jl_claims_audit *audit, bool all);
/* For a report: how many there are of each kind, and one line for each root of what differs. */
void jl_show_claims_in_short(struct jl_doc *doc, const struct jl_claims_audit *audit);
