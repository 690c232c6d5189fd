/* Arena allocator: one arena per command or request. Results point into it and are freed together. */
#pragma once

#include <stdarg.h>
#include <stddef.h>

struct jl_arena_block;

struct jl_arena {
	struct jl_arena_block *newest;
	size_t used_B;
	size_t limit_B; /* upper bound on bytes allocated; beyond it, allocation returns NULL */
};

#define JL_ARENA_LIMIT_B ((size_t)256 << 20)

void jl_arena_init(struct jl_arena *arena, size_t limit_B);
void jl_arena_release(struct jl_arena *arena);

/* Zeroed and aligned for any type. NULL: out of memory, or above the limit. */
void *jl_arena_alloc(struct jl_arena *arena, size_t size);

/* Array of n elements of `size` bytes. NULL also when n * size overflows. */
void *jl_arena_array(struct jl_arena *arena, size_t n, size_t size);

char *jl_arena_strndup(struct jl_arena *arena, const char *text, size_t len);
char *jl_arena_strdup(struct jl_arena *arena, const char *text);
char *jl_arena_printf(struct jl_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
