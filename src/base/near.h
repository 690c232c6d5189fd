/* "Did you mean ...?": edit distance and the nearest of many names. */
#pragma once

#include <stddef.h>

/* Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`, ignoring case. Bounded work: compares the first 64
 * characters; distances above `limit` are returned as limit + 1. */
size_t jl_near_distance(const char *a, const char *b, size_t limit);

/* Indices of the names that `text` may have meant, nearest first, at most `max` (up to 16); ties keep the array's order. A name that begins with
 * `text` counts as near. Returns their number. */
size_t jl_near_rank(const char *text, const char *const *names, size_t n_names, size_t *ret_indices, size_t max);
