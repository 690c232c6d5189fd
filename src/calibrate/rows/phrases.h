/* What the free text of published rows says, as columns of their own: scripts/normalise writes them into data/validation by the rules of
 * data/phrases.csv; an empty cell is read by the same rules. Readers of sets see columns with known words only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

/* A cell of the current row by its column; NULL: the file has no such column. */
struct jl_row_cells {
	const char *(*at)(const void *ctx, const char *column);
	const void *ctx;
};

struct jl_phrases {
	const struct jl_phrase *rules; /* in the order of the file */
	size_t n;
};

/* The rules of one set. */
enum jl_status jl_phrases_of(struct jl_phrases *ret_phrases, const char *set, struct jl_arena *arena,
			     struct jl_err *err);
/* The row's own cell, else what the rules make of its text; "" where they make nothing. Made texts live in the arena. */
const char *jl_phrase_cell(const struct jl_phrases *phrases, const char *column, const struct jl_row_cells *row,
			   struct jl_arena *arena);

/* Words of a column and what they stand for; the last has no word. */
struct jl_word {
	const char *word;
	int value;
};
extern const struct jl_word jl_word_yes[]; /* y: 1 */

/* A column and the member that takes it: an int of one word (empty: 0), an unsigned of several ("+a+b"), or a number (empty: NAN). */
struct jl_said {
	const char *column;
	size_t offset;
	const struct jl_word *words; /* NULL: a number */
	bool several;
};
/* A word or a number that is not known is an error with its column. */
enum jl_status jl_said_read(void *ret, const struct jl_said *columns, size_t n, const struct jl_phrases *phrases,
			    const struct jl_row_cells *row, struct jl_arena *arena, struct jl_err *err);
