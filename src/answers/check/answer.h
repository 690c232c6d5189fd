/* Everything that was judged at once, and its form as JSON. */
#pragma once

#include "base/fields.h"
#include "check/judge.h"

struct jl_check_answer {
	const struct jl_judged *judged;
	size_t n;
	const struct jl_judged *worst; /* of them */
	const char *where;             /* what the results are of (a machine, a file); NULL: nothing to say */
	struct jl_steadiness steadiness;
};

extern const struct jl_schema jl_check_fields; /* struct jl_check_answer: all that `jeoul check --json` prints */
