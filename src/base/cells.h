/* Columns of a file as a struct of texts. A set lists them once, #define LIST gpu, model, ...; the struct has `jl_cell LIST;`
 * and is filled by JL_SET_READ_CELLS (set_rows.h). NULL or "" where empty. */
#pragma once

#include "base/err.h"

typedef const char *jl_cell;
#define JL_CELL_NAMES(...) #__VA_ARGS__

/* NAN where it is empty; what is no number is an error that names the column. */
enum jl_status jl_row_number(double *ret_value, const char *text, const char *column, struct jl_err *err);
