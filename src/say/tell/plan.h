/* The best way to run it: on one system, over kinds and numbers of GPUs, the largest batch; and every technique that makes it fit. */
#pragma once

#include "plan/answer.h"
#include "predict/technique.h"
#include "tell/tell.h"

void jl_tell_plan(struct jl_doc *doc, const struct jl_plan_answer *answer, long today);
void jl_tell_fleet(struct jl_doc *doc, const struct jl_fleet_answer *answer, long today);
void jl_tell_batches(struct jl_doc *doc, const struct jl_batch_answer *answer);
void jl_tell_fit(struct jl_doc *doc, const struct jl_fit *fit);

/* Inside the topic. */
void jl_tell_plan_case(struct jl_doc *doc, const struct jl_case *c); /* an entry: how it is cut */
void jl_tell_searched(struct jl_doc *doc, const struct jl_plan_effort *effort);
