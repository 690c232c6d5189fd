/* Small things that every room needs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define JL_LEN(array) (sizeof(array) / sizeof((array)[0])) /* elements of an array, not of a pointer */

/* The same letters; a text that is missing (NULL) is only like another that is. */
static inline bool jl_same_text(const char *a, const char *b)
{
	return a == b || (a && b && *a == *b && strcmp(a, b) == 0);
}

/* "8,16,32": the next of a list, cut where it is too long for `item`; false: there is none. */
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

/* For qsort over texts. */
static inline int jl_by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* FNV-1a, from JL_HASH_START on. Guards against accidents, not against an enemy. */
#define JL_HASH_START 0xcbf29ce484222325u
static inline uint64_t jl_hash(uint64_t hash, const void *data, size_t len)
{
	for (const unsigned char *at = data; len > 0; at++, len--)
		hash = (hash ^ *at) * 0x100000001b3u;
	return hash;
}
