/* Small text helpers for all modules. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define JL_LEN(array) (sizeof(array) / sizeof((array)[0])) /* number of elements of an array (not of a pointer) */

/* String equality; NULL equals only NULL. */
static inline bool jl_same_text(const char *a, const char *b)
{
	return a == b || (a && b && *a == *b && strcmp(a, b) == 0);
}

static inline bool jl_ends(const char *text, const char *end)
{
	const size_t len = strlen(text), n = strlen(end);

	return len >= n && memcmp(text + len - n, end, n) == 0;
}

/* Next item of a list such as "8,16,32", truncated to fit `item`; false: no more. */
#define JL_ITEM_MAX 64
static inline bool jl_next_item(const char **text, char item[JL_ITEM_MAX])
{
	const size_t len = strcspn(*text, ","), keep = len < JL_ITEM_MAX - 1 ? len : JL_ITEM_MAX - 1;

	if (!**text)
		return false;
	memcpy(item, *text, keep);
	item[keep] = '\0';
	*text += len + ((*text)[len] == ',');
	return true;
}

static inline int jl_by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* FNV-1a; start with JL_HASH_START. Not resistant to prepared collisions (see base/hash.h). */
#define JL_HASH_START 0xcbf29ce484222325u
static inline uint64_t jl_hash(uint64_t hash, const void *data, size_t len)
{
	for (const unsigned char *at = data; len > 0; at++, len--)
		hash = (hash ^ *at) * 0x100000001b3u;
	return hash;
}
