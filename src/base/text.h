/* Small things that every room needs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define JL_LEN(array) (sizeof(array) / sizeof((array)[0])) /* elements of an array, not of a pointer */

/* The same letters; a text that is missing (NULL) is only like another that is. */
static inline bool jl_same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}
