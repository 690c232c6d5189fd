/* Answers that were given before: the same question, the same bytes, without weighing anything again. Only of commands that look at nothing but
 * the request and the catalog. Of fixed size: an answer takes the place of the one that was there; any thread may use it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct jl_ask_cache;

struct jl_ask_key { /* the request, byte by byte, and the day */
	const char *command, *request;
	size_t len;
	long today;
	const void *lang;
};

struct jl_ask_cache *jl_ask_cache_create(void);        /* NULL: no memory; everything works without one */
void jl_ask_cache_destroy(struct jl_ask_cache *cache); /* NULL is fine */

bool jl_ask_cache_get(struct jl_ask_cache *cache, const struct jl_ask_key *key, int *ret_code, struct jl_buf *ret_out);
void jl_ask_cache_put(struct jl_ask_cache *cache, const struct jl_ask_key *key, int code, const struct jl_buf *out);
