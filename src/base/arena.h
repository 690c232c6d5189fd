/* One arena per command or request: results point into it and all go at once. */
#pragma once

#include <stdarg.h>
#include <stddef.h>

struct jl_arena_block;

struct jl_arena {
	struct jl_arena_block *newest;
	size_t used_B;
	size_t limit_B; /* more than this is refused: growth is bounded */
};

#define JL_ARENA_LIMIT_B ((size_t)256 << 20)

void jl_arena_init(struct jl_arena *arena, size_t limit_B);
void jl_arena_release(struct jl_arena *arena);

/* Zeroed and aligned for any type; NULL when memory or the limit is reached. */
void *jl_arena_alloc(struct jl_arena *arena, size_t size);

/* n elements of `size`; NULL also when the product overflows. */
void *jl_arena_array(struct jl_arena *arena, size_t n, size_t size);

char *jl_arena_strndup(struct jl_arena *arena, const char *text, size_t len);
char *jl_arena_strdup(struct jl_arena *arena, const char *text);
char *jl_arena_printf(struct jl_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
