/* JSON, written as it comes: no tree is built.
 *
 * Text is always valid UTF-8 (bytes that are not become U+FFFD), numbers read back as the same double, NAN and
 * infinities are null. Calls in an order that makes no JSON (a value without its key, an end that does not fit) are
 * errors of the program: they assert. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define JL_JSON_DEPTH_MAX 64

struct jl_json {
	struct jl_buf *out; /* its `failed` is where trouble shows */
	bool pretty;        /* two spaces a level, otherwise everything on one line */
	bool has_key;       /* a key was written and waits for its value */
	bool done;          /* the one value at the top is complete */
	size_t depth;
	struct {
		bool is_object, has_items;
	} levels[JL_JSON_DEPTH_MAX];
};

void jl_json_init(struct jl_json *json, struct jl_buf *out, bool pretty);
/* The document is complete; pretty ones end with a newline. */
void jl_json_finish(struct jl_json *json);

void jl_json_object(struct jl_json *json);
void jl_json_end_object(struct jl_json *json);
void jl_json_array(struct jl_json *json);
void jl_json_end_array(struct jl_json *json);
void jl_json_key(struct jl_json *json, const char *key);

void jl_json_string(struct jl_json *json, const char *text); /* NULL: null */
void jl_json_number(struct jl_json *json, double value);
void jl_json_integer(struct jl_json *json, long long value);
void jl_json_bool(struct jl_json *json, bool value);
void jl_json_null(struct jl_json *json);

/* Key and value in one. */
void jl_json_put_object(struct jl_json *json, const char *key);
void jl_json_put_array(struct jl_json *json, const char *key);
void jl_json_put_string(struct jl_json *json, const char *key, const char *text);
void jl_json_put_number(struct jl_json *json, const char *key, double value);
void jl_json_put_integer(struct jl_json *json, const char *key, long long value);
void jl_json_put_bool(struct jl_json *json, const char *key, bool value);

/* A stretch of it by its form: jl_json_pack(json, "{uri:s region:{line:i}}", uri, line). A letter takes the next argument: s a text (NULL: null),
 * f a double, i an int, l a long long, z a size_t, b a bool; "key?s": no key where the text is NULL, the number NAN, the bool false. Levels may stay open, and those be closed that were open before. */
void jl_json_pack(struct jl_json *json, const char *form, ...);

/* A text as a JSON string with its quotation marks; also safe inside a <script> element. */
void jl_json_escape(struct jl_buf *out, const char *text);
