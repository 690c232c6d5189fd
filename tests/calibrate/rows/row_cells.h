/* Rows in the spelling of their sources, to test readers on files without derived columns. */
#pragma once

#include <stdio.h>

#include "rows/phrases.h"
#include "rows/set_rows.h"

#define CELL_NAMES(...) JL_CELL_NAMES(__VA_ARGS__)

/* Cells with their column names, "gpu, model". */
struct row_cells_of {
	const char *names;
	const jl_cell *cells;
};

/* Cell by column; NULL: no such column. */
static inline const char *row_cell_at(const void *ctx, const char *column)
{
	const struct row_cells_of *row = ctx;
	const char *names = row->names;
	const size_t len = strlen(column);

	for (const jl_cell *cell = row->cells;; cell++) {
		const size_t n = strcspn(names, ",");

		if (n == len && memcmp(names, column, n) == 0)
			return *cell ? *cell : "";
		if (!names[n])
			return NULL;
		names += n + strspn(names + n, ", ");
	}
}

/* Fills a reader's cells by column names. */
static inline enum jl_status row_cells_fill(jl_cell *ret_cells, const char *names, const struct row_cells_of *row,
					    const char *set, struct jl_arena *arena, struct jl_err *err)
{
	const struct jl_row_cells at = { .at = row_cell_at, .ctx = row };
	struct jl_phrases phrases;
	char column[64];

	JL_TRY(jl_phrases_of(&phrases, set, arena, err));
	for (size_t n; *names; names += n + strspn(names + n, ", ")) {
		n = strcspn(names, ",");
		(void)snprintf(column, sizeof(column), "%.*s", (int)n, names);
		*ret_cells++ = jl_phrase_cell(&phrases, column, &at, arena);
	}
	return JL_OK;
}
