/* Heap allocation: all memory comes from here, so that tests can make each allocation fail once. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* As realloc(3), but `old` NULL allocates, and `size` 0 frees and returns NULL. */
void *jl_realloc(void *old, size_t size);
/* As calloc(3): large ones are pages that the kernel clears when they are first used. */
void *jl_zeroed(size_t size);
void jl_free(void *old);

/* True once any allocation has failed: results may be incomplete, and the program exits with an error. */
bool jl_mem_ran_out(void);

/* Tests only: makes the n-th allocation from now (1: the next) and all later ones fail; 0 switches this off. Returns the number of allocations
 * since the last call. */
size_t jl_mem_fail_from(size_t nth);
