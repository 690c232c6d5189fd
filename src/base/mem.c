/* Heap allocation with fault injection for tests. */
#include "base/mem.h"

#include <stdatomic.h>
#include <stdlib.h>

static atomic_size_t n_made;
static atomic_size_t fail_from;
static atomic_bool ran_out;

void *jl_realloc(void *old, size_t size)
{
	void *new;

	if (size == 0) {
		free(old);
		return NULL;
	}
	size_t nth = atomic_fetch_add(&n_made, 1) + 1;
	new = atomic_load(&fail_from) && nth >= atomic_load(&fail_from) ? NULL : realloc(old, size);
	if (!new)
		atomic_store(&ran_out, true);
	return new;
}

bool jl_mem_ran_out(void)
{
	return atomic_load(&ran_out);
}

void jl_free(void *old)
{
	free(old);
}

size_t jl_mem_fail_from(size_t nth)
{
	size_t before = atomic_exchange(&n_made, 0);

	atomic_store(&fail_from, nth);
	return before;
}
