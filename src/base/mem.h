/* Heap memory goes through these, so that tests can let every allocation fail once. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* As realloc(3): NULL `old` allocates, `size` 0 frees and returns NULL. */
void *jl_realloc(void *old, size_t size);
void jl_free(void *old);

/* Did any allocation fail since the program began? Then its results may be incomplete, and the program exits with an error. */
bool jl_mem_ran_out(void);

/* Tests only: let the n-th allocation from now on (1 = the next) and all after it fail; 0 switches it off.
 * Returns how many allocations were made since the last call. */
size_t jl_mem_fail_from(size_t nth);
