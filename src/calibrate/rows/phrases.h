/* Columns derived from the free text of published rows. scripts/normalise writes them into data/validation by the rules of data/phrases.csv; empty
 * cells are derived by the same rules when read. Readers of sets use only columns with known words. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

/* A cell of the current row by column; NULL: the file has no such column. */
struct jl_row_cells {
	const char *(*at)(const void *ctx, const char *column);
	const void *ctx;
};

struct jl_phrases {
	const struct jl_phrase *rules; /* rules in file order */
	size_t n;
};

enum jl_status jl_phrases_of(struct jl_phrases *ret_phrases, const char *set, struct jl_arena *arena,
			     struct jl_err *err);
/* The row's own cell, else the text derived by the rules, else "". Derived texts live in the arena. */
const char *jl_phrase_cell(const struct jl_phrases *phrases, const char *column, const struct jl_row_cells *row,
			   struct jl_arena *arena);

/* Words of a column and their values; ends with a NULL word. */
struct jl_word {
	const char *word;
	int value;
};
extern const struct jl_word jl_word_yes[]; /* the word y, with value 1 */

/* A column and the member it sets: an int from one word (empty: 0), an unsigned from several ("+a+b"), or a number (empty: NAN). */
struct jl_phrase_column {
	const char *column;
	size_t offset;
	const struct jl_word *words; /* NULL: a number */
	bool several;
};
/* Unknown words and invalid numbers are errors that name the column. */
enum jl_status jl_phrase_read(void *ret, const struct jl_phrase_column *columns, size_t n,
			      const struct jl_phrases *phrases, const struct jl_row_cells *row, struct jl_arena *arena,
			      struct jl_err *err);
/* Parses `text` as a cell of that column. */
enum jl_status jl_phrase_parse(void *ret, const struct jl_phrase_column *column, const char *text, struct jl_err *err);
