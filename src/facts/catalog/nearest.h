/* "Did you mean": ids with the lowest edit cost from the request. */
#pragma once

#include <stddef.h>

#define JL_NEAREST_MAX 3

struct jl_nearest {
	size_t n;
	const char *id[JL_NEAREST_MAX]; /* nearest first; ties keep insertion order */
	unsigned cost[JL_NEAREST_MAX];
};

/* Cost of `asked` as a misspelling of `name` (both as jl_words.glued): 4 per inserted, missing, wrong or swapped letter, 1 per letter missing at
 * the end, because users abbreviate names. UINT_MAX: too different. */
unsigned jl_nearest_cost(const char *asked, const char *name);

void jl_nearest_add(struct jl_nearest *nearest, const char *id, unsigned cost);
