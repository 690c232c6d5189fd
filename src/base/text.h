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
	return a == b || (a && b && strcmp(a, b) == 0);
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
