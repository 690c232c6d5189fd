/* Edit cost between a request and record names. */
#include "catalog/nearest.h"

#include <limits.h>
#include <string.h>

#include "base/near.h"

#define SLIP      4
#define SLIPS_MAX 4  /* more than four edits mean another name */
#define TEXT_MAX  48 /* longer names are compared by their first characters */

unsigned jl_nearest_cost(const char *asked, const char *name)
{
	size_t n_asked = strnlen(asked, TEXT_MAX);
	size_t n_name = strnlen(name, TEXT_MAX);
	size_t limit = n_asked / 4 < SLIPS_MAX ? 1 + n_asked / 4 : SLIPS_MAX; /* allows one edit per four letters */
	size_t best = SLIP * limit + 1;
	char begin[TEXT_MAX + 1];
	size_t cost;

	if (n_name + limit < n_asked)
		return UINT_MAX;
	if (n_name <= n_asked + limit)
		best = SLIP * jl_near_distance(asked, name, limit);
	/* compare with the beginning of the name: the rest was left out */
	if (n_name > n_asked) {
		memcpy(begin, name, n_asked);
		begin[n_asked] = '\0';
		cost = SLIP * jl_near_distance(asked, begin, limit) + n_name - n_asked;
		best = cost < best ? cost : best;
	}
	return best <= SLIP * limit ? (unsigned)best : UINT_MAX;
}

void jl_nearest_add(struct jl_nearest *nearest, const char *id, unsigned cost)
{
	size_t at, i;

	if (cost == UINT_MAX)
		return;
	for (at = nearest->n; at > 0 && nearest->cost[at - 1] > cost; at--)
		;
	if (at == JL_NEAREST_MAX)
		return;
	if (nearest->n < JL_NEAREST_MAX)
		nearest->n++;
	for (i = nearest->n - 1; i > at; i--) {
		nearest->id[i] = nearest->id[i - 1];
		nearest->cost[i] = nearest->cost[i - 1];
	}
	nearest->id[at] = id;
	nearest->cost[at] = cost;
}
