/* Heap allocation with fault injection for tests. */
#include "base/mem.h"

#include <stdatomic.h>
#include <stdlib.h>

static atomic_size_t n_made;
static atomic_size_t fail_from;
static atomic_bool ran_out;

/* Counts an allocation; true: a test wants it to fail. */
static bool fails(void)
{
	const size_t nth = atomic_fetch_add(&n_made, 1) + 1;

	return atomic_load(&fail_from) && nth >= atomic_load(&fail_from);
}

static void *made(void *new)
{
	if (!new)
		atomic_store(&ran_out, true);
	return new;
}

void *jl_realloc(void *old, size_t size)
{
	if (size == 0) {
		free(old);
		return NULL;
	}
	return made(fails() ? NULL : realloc(old, size));
}

void *jl_zeroed(size_t size)
{
	return made(fails() ? NULL : calloc(1, size));
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
