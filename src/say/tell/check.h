/* Verdicts: one in full, or a table of many with the worst in full. */
#pragma once

#include "check/answer.h"
#include "tell/tell.h"

void jl_tell_check(struct jl_doc *doc, const struct jl_check_answer *answer);
