/* Possible meanings of a unit's spelling. Private to units_*.c. */
#pragma once

#include <stddef.h>

#include "base/units.h"

/* Counts that become a kind only when divided by a time. */
#define JL_K_OPS   ((enum jl_kind)(JL_N_KIND + 1))
#define JL_K_COUNT ((enum jl_kind)(JL_N_KIND + 2))

struct jl_meaning {
	enum jl_kind kind;
	double factor;     /* SI value of one such unit */
	char spelling[32]; /* correct spelling */
};

#define JL_MEANINGS_MAX  8
#define JL_UNIT_TEXT_MAX 48

/* Finds all meanings of `unit` (without blanks): exact spelling first; other cases only if there is no exact one. Several meanings with different
 * factors: ambiguous. Returns their number; 0: not a unit. */
size_t jl_units_match(const char *unit, struct jl_meaning ret_meanings[JL_MEANINGS_MAX]);
