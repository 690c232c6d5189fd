/* Text broken into lines: at blanks, never between a number and its unit, Korean two columns a character. */
#pragma once

#include <stddef.h>

#include "base/buf.h"

/* Parts two pieces of a line: " · " between them, nothing where the second begins a new line; a piece that fits a line is not broken. */
#define JL_WRAP_DOT "\x1f"

struct jl_wrap {
	size_t width;  /* of a line */
	size_t at;     /* column that the line has come to */
	size_t indent; /* of the lines that follow */
};

/* '\n' always breaks; a no-break space is a blank that never does; colour takes no width. Ends with a newline. */
void jl_wrap(struct jl_buf *out, const char *text, const struct jl_wrap *how);
