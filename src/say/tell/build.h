/* Is a parts list sound, and what to buy next. */
#pragma once

#include "build/answer.h"
#include "tell/tell.h"

/* All findings of a command; of a report those that stand against it. */
void jl_tell_build(struct jl_doc *doc, const struct jl_build_answer *answer, bool all);
void jl_tell_upgrades(struct jl_doc *doc, const struct jl_upgrade_answer *answer, long today);
