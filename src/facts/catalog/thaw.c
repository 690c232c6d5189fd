#include "catalog/thaw.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "catalog/schema.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; refused before, and the pages come one by one */
#endif

/* All pages are written to: at once instead of fault by fault. */
static void get_pages(void *tables, size_t size_B)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	const uintptr_t from = ((uintptr_t)tables + page - 1) / page * page;
	const uintptr_t to = ((uintptr_t)tables + size_B) / page * page;

	if (from < to)
		(void)madvise((char *)tables + (from - (uintptr_t)tables), to - from, MADV_POPULATE_WRITE);
}

void jl_catalog_thaw(struct jl_catalog *cat, void *tables, size_t size_B, const char *texts, const uint32_t *places,
		     size_t n_places)
{
	char *const start = tables;

	get_pages(tables, size_B);
	for (size_t i = 0; i < n_places; i++) {
		uintptr_t distance;
		const char *to;

		memcpy(&distance, start + places[i], sizeof(distance));
		to = distance < size_B ? start + distance : texts + (distance - size_B);
		memcpy(start + places[i], &to,
		       sizeof(to)); /* NOLINT(bugprone-multi-level-implicit-pointer-conversion) */
	}
	for (int kind = 0; kind < JL_N_RECORD; kind++) {
		size_t n;
		const void *distance = jl_catalog_list(cat, (enum jl_catalog_kind)kind, &n);

		if (n)
			jl_catalog_set_list(cat, (enum jl_catalog_kind)kind, start + (uintptr_t)distance, n);
	}
}
