/* Table rows shared by parsing and printing of quantities. Private to units_*.c. */
#pragma once

#include "base/units.h"

/* One unit for printing, used for values of at least `from` of it (2 d, but 47 h). */
struct jl_units_rung {
	const char *prefix;
	double size;
	double from;
};

struct jl_kind_row {
	const char *en; /* name in a sentence: "wanted is a data rate" */
	const char *example;
	const char *suffix;
	const char *unit;                   /* base unit, printed after the number and the prefix */
	const struct jl_units_rung *ladder; /* ascending, ended by size 0 */
};

/* Never NULL: an invalid kind gives the row of plain numbers. */
const struct jl_kind_row *jl_kind_row(enum jl_kind kind);

#define JL_HOUR_S  3600.0
#define JL_DAY_S   86400.0
#define JL_YEAR_S  (365.0 * JL_DAY_S) /* 8,760 h, as rents and tariffs count it */
#define JL_MONTH_S (JL_YEAR_S / 12.0) /* 730 h */
#define JL_KWH_J   3.6e6
