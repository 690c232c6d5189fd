/* Arena allocator. Knows nothing of what it stores. */
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/budget.h"
#include "base/mem.h"
#include "base/msg.h"

#define BLOCK_MIN_B ((size_t)16 << 10)
#define ALIGN_B     _Alignof(max_align_t)

struct jl_arena_block {
	struct jl_arena_block *older;
	size_t size_B;
	size_t used_B;
	_Alignas(max_align_t) unsigned char data[];
};

void jl_arena_init(struct jl_arena *arena, size_t limit_B)
{
	*arena = (struct jl_arena){ .limit_B = limit_B };
}

void jl_arena_release(struct jl_arena *arena)
{
	struct jl_arena_block *block = arena->newest;

	while (block) {
		struct jl_arena_block *older = block->older;
		jl_budget_let_go(block->size_B);
		jl_free(block);
		block = older;
	}
	*arena = (struct jl_arena){ .limit_B = arena->limit_B };
}

static struct jl_arena_block *add_block(struct jl_arena *arena, size_t need_B)
{
	/* Doubling keeps the number of blocks small whatever the size of the result. */
	size_t size_B = arena->newest ? arena->newest->size_B * 2 : BLOCK_MIN_B;
	struct jl_arena_block *block;

	if (size_B > (size_t)4 << 20)
		size_B = (size_t)4 << 20;
	if (size_B < need_B)
		size_B = need_B;
	if (jl_budget_hold(size_B))
		return NULL;
	block = jl_zeroed(sizeof(*block) + size_B); /* no part of it is given out twice */
	if (!block)
		return NULL;
	block->older = arena->newest;
	block->size_B = size_B;
	arena->newest = block;
	return block;
}

void *jl_arena_alloc(struct jl_arena *arena, size_t size)
{
	struct jl_arena_block *block = arena->newest;

	if (size > arena->limit_B || size > SIZE_MAX / 2)
		return NULL;
	size = size ? (size + ALIGN_B - 1) / ALIGN_B * ALIGN_B : ALIGN_B;
	/* padding counts towards the limit */
	if (size > arena->limit_B || arena->used_B > arena->limit_B - size)
		return NULL;
	if (!block || block->size_B - block->used_B < size)
		block = add_block(arena, size);
	if (!block)
		return NULL;
	block->used_B += size;
	arena->used_B += size;
	return block->data + block->used_B - size;
}

void *jl_arena_array(struct jl_arena *arena, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / size)
		return NULL;
	return jl_arena_alloc(arena, n * size);
}

char *jl_arena_strndup(struct jl_arena *arena, const char *text, size_t len)
{
	char *copy = len < SIZE_MAX ? jl_arena_alloc(arena, len + 1) : NULL;

	if (copy)
		memcpy(copy, text, len);
	return copy;
}

char *jl_arena_strdup(struct jl_arena *arena, const char *text)
{
	return jl_arena_strndup(arena, text, strlen(text));
}

char *jl_arena_printf(struct jl_arena *arena, const char *format, ...)
{
	char room[JL_MSG_FORMAT_MAX];
	const char *hidden = jl_msg_hide(room, format);
	va_list args;

	va_start(args, format);
	int n = vsnprintf(NULL, 0, hidden, args);
	va_end(args);
	char *text = n < 0 ? NULL : jl_arena_alloc(arena, (size_t)n + 1);
	if (!text)
		return NULL;
	va_start(args, format);
	vsnprintf(text, (size_t)n + 1, hidden, args);
	va_end(args);
	if (hidden != format)
		jl_msg_resolve(text);
	return text;
}
