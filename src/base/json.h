/* Streaming JSON writer: builds no tree.
 *
 * Text is always valid UTF-8 (invalid bytes become U+FFFD), numbers round-trip to the same double, NAN and infinities become null. Calls in an
 * invalid order (a value without its key, an unmatched end) are programming errors and assert. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define JL_JSON_DEPTH_MAX 64

struct jl_json {
	struct jl_buf *out; /* its `failed` reports errors */
	bool pretty;        /* indent by two spaces per level; false: one line */
	bool has_key;       /* a key is written and its value is next */
	bool done;          /* the top-level value is complete */
	size_t depth;
	struct {
		bool is_object, has_items;
	} levels[JL_JSON_DEPTH_MAX];
};

void jl_json_init(struct jl_json *json, struct jl_buf *out, bool pretty);
/* Ends the document; indented documents end with a newline. */
void jl_json_finish(struct jl_json *json);

void jl_json_object(struct jl_json *json);
void jl_json_end_object(struct jl_json *json);
void jl_json_array(struct jl_json *json);
void jl_json_end_array(struct jl_json *json);
void jl_json_key(struct jl_json *json, const char *key);

void jl_json_string(struct jl_json *json, const char *text); /* NULL writes null */
void jl_json_number(struct jl_json *json, double value);
void jl_json_integer(struct jl_json *json, long long value);
void jl_json_bool(struct jl_json *json, bool value);
void jl_json_null(struct jl_json *json);

void jl_json_put_object(struct jl_json *json, const char *key);
void jl_json_put_array(struct jl_json *json, const char *key);
void jl_json_put_string(struct jl_json *json, const char *key, const char *text);
void jl_json_put_number(struct jl_json *json, const char *key, double value);
void jl_json_put_integer(struct jl_json *json, const char *key, long long value);
void jl_json_put_bool(struct jl_json *json, const char *key, bool value);

/* Writes several items from a format: jl_json_pack(json, "{uri:s region:{line:i}}", uri, line). Letters take the next argument: s text (NULL:
 * null), f double, i int, l long long, z size_t, b bool. "key?s" leaves the key out for NULL, NAN and false. A format may leave levels open, or
 * close levels opened earlier. */
void jl_json_pack(struct jl_json *json, const char *form, ...);

/* Writes text as a quoted JSON string; safe inside a <script> element too. */
void jl_json_escape(struct jl_buf *out, const char *text);
