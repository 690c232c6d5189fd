/* Line wrapping: at blanks, never between a number and its unit; Korean characters take two columns. */
#pragma once

#include <stddef.h>

#include "base/buf.h"

/* Separates two pieces of a line: " · ", or nothing at the start of a line; a piece that fits a line is not broken. */
#define JL_WRAP_DOT "\x1f"

struct jl_wrap {
	size_t width;  /* of a line */
	size_t at;     /* current column */
	size_t indent; /* of continuation lines */
};

/* '\n' always breaks; no-break spaces never do; colour has no width. Ends with a newline. */
void jl_wrap(struct jl_buf *out, const char *text, const struct jl_wrap *how);
