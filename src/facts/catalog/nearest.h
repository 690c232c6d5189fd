/* "Did you mean": the ids whose names cost the fewest slips to get from what was written. */
#pragma once

#include <stddef.h>

#define JL_NEAREST_MAX 3

struct jl_nearest {
	size_t n;
	const char *id[JL_NEAREST_MAX]; /* nearest first; equals stay in the order they were added */
	unsigned cost[JL_NEAREST_MAX];
};

/* What it costs to mean `name` and write `asked` (both as in jl_words.glued): 4 for a letter too many, missing, wrong, or two swapped; only
 * 1 for each letter left off at the end, since people shorten names. UINT_MAX where the two are not alike. */
unsigned jl_nearest_cost(const char *asked, const char *name);

void jl_nearest_add(struct jl_nearest *nearest, const char *id, unsigned cost);
