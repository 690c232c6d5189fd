/* All judged results and their JSON. */
#pragma once

#include "base/fields.h"
#include "check/judge.h"

struct jl_check_answer {
	const struct jl_judged *judged;
	size_t n;
	const struct jl_judged *worst; /* most severe */
	const char *where;             /* origin of the results (machine, file); NULL: not shown */
	struct jl_steadiness steadiness;
};

extern const struct jl_schema jl_check_fields; /* struct jl_check_answer: all that `jeoul check --json` prints */
