/* UTF-8: validation, and terminal columns of a text (Korean: two columns per character). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the character at `text` (at most `len`); 0: invalid UTF-8. */
size_t jl_utf8_decode(const char *text, size_t len, uint32_t *ret_char);

bool jl_utf8_valid(const char *text, size_t len, size_t *ret_bad_at);

/* Terminal columns of one character and of a NUL-terminated text; each invalid byte counts one. */
int jl_utf8_char_width(uint32_t c);
size_t jl_utf8_width(const char *text);

/* Bytes of the first cluster (character with zero-width followers) of `text`, `len` > 0; *ret_width: its columns. */
size_t jl_utf8_cluster(const char *text, size_t len, size_t *ret_width);

/* Length in bytes of the longest prefix that fits in `columns`. */
size_t jl_utf8_fit(const char *text, size_t columns);

/* One character for display: `ret_shown` is the character at `text`, ' ' for control characters and those that change the text direction, '?' for
 * invalid bytes. Returns the bytes consumed; 0 at the end. */
#define JL_UTF8_SHOWN_MAX 8
size_t jl_utf8_shown(const char *text, char ret_shown[JL_UTF8_SHOWN_MAX]);

/* First character that is unsafe to display (control, or text direction); NULL: none. Invalid bytes are accepted, because file names may contain
 * them. */
const char *jl_utf8_unshown(const char *text);

/* In place: replaces invalid bytes and control characters (except tab and newline) by '?' and removes a truncated last character. */
void jl_utf8_sanitize(char *text);
