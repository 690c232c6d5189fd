/* Columns of a file as a struct of texts. A set lists them once, LIST(X) with X(column) for each; the struct has LIST(JL_CELL_MEMBER)
 * and is filled by JL_SET_READ_CELLS (set_rows.h). NULL or "" where empty. */
#pragma once

#include <string.h>

#include "base/err.h"

#define JL_CELL_MEMBER(column) const char *column;
#define JL_CELL_NAME(column)   #column,

static inline int jl_cell_holds(const char *cell, const char *word)
{
	return cell && strstr(cell, word) != NULL;
}
/* NAN where it is empty; what is no number is an error that names the column. */
enum jl_status jl_row_number(double *ret_value, const char *cell, const char *column, struct jl_err *err);
