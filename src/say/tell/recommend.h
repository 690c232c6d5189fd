/* A recommendation: the pick and why, the best of each way to have it, what nothing beats, what to beware of. */
#pragma once

#include "recommend/answer.h"
#include "tell/tell.h"

void jl_tell_recommended(struct jl_doc *doc, const struct jl_recommended *answer);

/* For reports: "2 × 8x h100-sxm5", who sells it, and a table of candidates (their places in the list). */
const char *jl_tell_machines(struct jl_doc *doc, const struct jl_candidate *candidate);
const char *jl_tell_seller(struct jl_doc *doc, const struct jl_candidate *candidate);
void jl_tell_candidates(struct jl_doc *doc, const struct jl_recommended *answer, const char *title, const int *rows,
			size_t n);
struct jl_num jl_num_run(const struct jl_candidate *candidate);  /* of one run, or one token */
struct jl_num jl_num_cost(const struct jl_candidate *candidate); /* of all the work */
void jl_tell_caveats(struct jl_doc *doc, const struct jl_recommended *answer);
