/* How wide intervals must be: the parameters of physics/interval.h, found on rows that were predicted without their source. */
#pragma once

#include "belief/set.h"

/* Rows with what was left out together when each was predicted: its source, or its group where a set has one source only. */
struct jl_width_rows {
	const struct jl_set_row **rows; /* scored */
	const char **unit;
	size_t n;
	size_t *n_alike, *before; /* of each row: how many of its unit and kind there are, and how many before it */
	size_t (*pairs)[2];       /* that a person would compare: the same model, of one source, on two devices */
	size_t n_pairs;
};

/* Fills in what follows from rows and units. */
enum jl_status jl_widths_prepare(struct jl_width_rows *rows, struct jl_arena *arena, struct jl_err *err);

/* Fits on the rows of all other units (without NULL: on all): the 80 % quantile of |ln(pred/meas)|, by its asymmetric absolute
 * loss. Rows of one unit and kind share what its source does not say: together they count as few. Then the correlation of two
 * answers' errors: four fifths of the pairs have their ratio inside. Extents of `widths` stay as they are. */
enum jl_status jl_widths_fit(const struct jl_width_rows *rows, const char *without, struct jl_widths *widths,
			     struct jl_err *err);

/* How many pairs of the unit `of` (NULL: of all) have their ratio inside. */
size_t jl_widths_pairs_in(const struct jl_width_rows *rows, const char *of, const struct jl_widths *widths,
			  size_t *ret_pairs);
