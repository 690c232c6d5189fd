/* Columns of a CSV file as a struct of texts. Each data set lists its columns once: #define LIST gpu, model, ...; the struct has `jl_cell LIST;`
 * and JL_SET_READ_CELLS (set_rows.h) fills it. Empty cells are NULL or "". */
#pragma once

#include "base/err.h"

typedef const char *jl_cell;
#define JL_CELL_NAMES(...) #__VA_ARGS__

/* An empty cell gives NAN. Text that is not a number is an error that names the column. */
enum jl_status jl_row_number(double *ret_value, const char *text, const char *column, struct jl_err *err);
