/* Caches answers of commands that depend only on the request and the catalog: the same request returns the same bytes. Fixed size with
 * replacement; thread-safe. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct jl_ask_cache;

struct jl_ask_key { /* the request's bytes and the day */
	const char *command, *request;
	size_t len;
	long today;
	const void *lang;
};

struct jl_ask_cache *jl_ask_cache_create(void);        /* NULL: out of memory; the cache is optional */
void jl_ask_cache_destroy(struct jl_ask_cache *cache); /* accepts NULL */

bool jl_ask_cache_get(struct jl_ask_cache *cache, const struct jl_ask_key *key, int *ret_code, struct jl_buf *ret_out);
void jl_ask_cache_put(struct jl_ask_cache *cache, const struct jl_ask_key *key, int code, const struct jl_buf *out);
