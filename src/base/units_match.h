/* What a unit's spelling can mean. Private to units_*.c. */
#pragma once

#include <stddef.h>

#include "base/units.h"

/* Counted things that have no kind of their own until they are divided by a time. */
#define JL_K_OPS   ((enum jl_kind)(JL_N_KIND + 1))
#define JL_K_COUNT ((enum jl_kind)(JL_N_KIND + 2))

struct jl_meaning {
	enum jl_kind kind;
	double factor;     /* SI base units in one of it */
	char spelling[32]; /* the right way to write it */
};

#define JL_MEANINGS_MAX  8
#define JL_UNIT_TEXT_MAX 48

/* All meanings of `unit` (no blanks in it) that its case allows: exact spelling first, and only if there is none,
 * others. Several meanings with different factors: the spelling is ambiguous. Returns how many; 0: not a unit. */
size_t jl_units_match(const char *unit, struct jl_meaning ret_meanings[JL_MEANINGS_MAX]);
