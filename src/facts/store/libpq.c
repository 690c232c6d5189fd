#include "store/libpq.h"

#include <stddef.h>

#define SYMBOL(RETURNS, NAME, TEXT, ...) { .name = (TEXT), .offset = offsetof(struct jl_libpq, NAME) },
static const struct jl_dynlib_symbol symbols[] = { JL_LIBPQ_FUNCTIONS(SYMBOL) };

enum jl_status jl_libpq(const struct jl_libpq **ret_pq, struct jl_err *err)
{
	static const char *const names[] = { "libpq.so.5", "libpq.so", NULL };
	static struct jl_libpq pq; /* the library stays until the program ends: it registers handlers */
	static struct jl_dynlib lib;
	struct jl_err why;

	if (!lib.handle && jl_dynlib_open(&lib, "JEOUL_LIBPQ", names, symbols, JL_LEN(symbols), &pq, &why))
		return jl_fail_from(err, JL_E_ABSENT, NULL, &why,
				    "PostgreSQL is not available: {}; install the package libpq5");
	*ret_pq = &pq;
	return JL_OK;
}
