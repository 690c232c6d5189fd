/* Shapes of published models by the names that sources give them. Inside belief only. */
#pragma once

#include "belief/set_llm.h"

/* Case-blind: does `text` contain `part`? */
int jl_llm_has(const char *text, const char *part);

/* A number in a cell; NAN where it is empty. */
double jl_llm_number(const char *cell);
/* The k-th number after `word` in the text; NAN if there is none. */
double jl_llm_number_after(const char *text, const char *word, int k);

/* The model of a row: stated dimensions first, then the name, then the number of parameters.
 * Sets JL_ASSUMED_SHAPE in *assumed where dimensions were not stated. */
enum jl_status jl_llm_shape(const struct jl_llm_cells *cells, struct jl_transformer *ret_model, unsigned *assumed,
			    struct jl_err *err);
