/* UTF-8: checking, and how many terminal columns a text takes (Korean is two columns a character). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length in bytes of the character at `text` (of at most `len` bytes), 0 if it is not valid UTF-8. */
size_t jl_utf8_decode(const char *text, size_t len, uint32_t *ret_char);

bool jl_utf8_valid(const char *text, size_t len, size_t *ret_bad_at);

/* Terminal columns of one character and of a NUL-terminated text; invalid bytes count one each. */
int jl_utf8_char_width(uint32_t c);
size_t jl_utf8_width(const char *text);

/* Bytes of the first character of `text` (of `len` > 0 bytes) with the widthless ones that belong to it, and its columns. */
size_t jl_utf8_cluster(const char *text, size_t len, size_t *ret_width);

/* Bytes of the longest prefix that fits in `columns`. */
size_t jl_utf8_fit(const char *text, size_t columns);

/* One character for a person's eyes: `ret_shown` is the character at `text`, a blank for what a terminal takes for an order or what turns
 * the direction of the text around, '?' for what is no character. Returns the bytes that it has there; 0 at the end. */
#define JL_UTF8_SHOWN_MAX 8
size_t jl_utf8_shown(const char *text, char ret_shown[JL_UTF8_SHOWN_MAX]);

/* The first character that is not to be shown so (a control character, one that turns the text around); NULL: there is none. Invalid bytes may
 * be part of a file name. */
const char *jl_utf8_unshown(const char *text);

/* In place: invalid bytes and control characters (except tab and newline) become '?'; a character cut at the end goes.
 */
void jl_utf8_sanitize(char *text);
