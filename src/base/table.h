/* Text tables that keep their columns straight, whatever language the cells are in.
 *
 *     jl_table_init(&table, &arena, columns, n_columns);
 *     jl_table_cell(&table, "H100"); jl_table_cell(&table, "8"); jl_table_end_row(&table);
 *     status = jl_table_print(&table, &(struct jl_table_style){ .width = 80, .indent = 2 }, &out, err);
 *
 * Cells may carry colour (JL_TABLE_RED and its like); it takes no width, and goes when the style says no colour. Other
 * control characters never reach the output: line breaks and tabs become blanks, the rest '?'. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

enum jl_align { JL_LEFT, JL_RIGHT };

struct jl_table_column {
	const char *head; /* NULL or "" in all columns: no header */
	enum jl_align align;
	bool flexible;    /* wraps if the table is too wide */
	size_t min_width; /* lower bound for a flexible column; 0: 4 */
};

enum jl_table_flavour { JL_TABLE_TEXT, JL_TABLE_MARKDOWN };

struct jl_table_style {
	enum jl_table_flavour flavour;
	size_t width; /* terminal width; 0: no limit; ignored for Markdown */
	size_t indent;
	bool colour;
};

#define JL_TABLE_COLUMNS_MAX 64

struct jl_table {
	struct jl_arena *arena;
	const struct jl_table_column *columns; /* must outlive the table */
	size_t n_columns;
	const char **cells; /* copies of the cells, row-major */
	size_t n_cells, room;
	size_t n_in_row;
	enum jl_status failed; /* sticky, as in jl_buf */
};

/* Colour codes for parts of a cell: "\033[31m" ... "\033[0m". */
#define JL_TABLE_RED    "\033[31m"
#define JL_TABLE_GREEN  "\033[32m"
#define JL_TABLE_YELLOW "\033[33m"
#define JL_TABLE_DIM    "\033[2m"
#define JL_TABLE_BOLD   "\033[1m"
#define JL_TABLE_RESET  "\033[0m"

void jl_table_init(struct jl_table *table, struct jl_arena *arena, const struct jl_table_column *columns,
		   size_t n_columns);
void jl_table_cell(struct jl_table *table, const char *text); /* copies `text` */
void jl_table_end_row(struct jl_table *table);                /* missing cells are empty */
enum jl_status jl_table_print(const struct jl_table *table, const struct jl_table_style *style, struct jl_buf *out,
			      struct jl_err *err);
