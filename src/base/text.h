/* Small things that every room needs. */
#ifndef JL_BASE_TEXT_H
#define JL_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define JL_LEN(array) (sizeof(array) / sizeof((array)[0])) /* elements of an array, not of a pointer */

/* The same letters; a text that is missing (NULL) is only like another that is. */
static inline bool jl_same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* One remark in both languages, with the same arguments; each of `size_B` bytes. */
void jl_both_text(char *ret_en, char *ret_ko, size_t size_B, const char *en, const char *ko, va_list args)
	__attribute__((format(printf, 4, 0), format(printf, 5, 0)));

#endif
