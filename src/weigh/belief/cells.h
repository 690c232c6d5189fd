/* Columns of a file as a struct of texts. A set lists them once, LIST(X) with X(column) for each; the struct has LIST(JL_CELL_MEMBER)
 * and is filled by JL_SET_READ_CELLS (set_rows.h). NULL or "" where empty. */
#pragma once

#define JL_CELL_MEMBER(column) const char *column;
#define JL_CELL_NAME(column)   #column,
