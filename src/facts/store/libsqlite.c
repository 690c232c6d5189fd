#include "store/libsqlite.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/dynlib.h"
#include "base/msg.h"
#include "base/text.h"

#define SYMBOL(NAME) { .name = "sqlite3_" #NAME, .offset = offsetof(struct jl_libsqlite, NAME) },
static const struct jl_dynlib_symbol symbols[] = { JL_LIBSQLITE_FUNCTIONS(SYMBOL) };

static struct {
	struct jl_dynlib lib;
	struct jl_libsqlite functions;
	struct jl_err why;
} opened;

static void open_library(void)
{
	static const char *const names[] = { "libsqlite3.so.0", "libsqlite3.so", NULL };

	(void)jl_dynlib_open(&opened.lib, "JEOUL_SQLITE", names, symbols, JL_LEN(symbols), &opened.functions,
			     &opened.why);
}

enum jl_status jl_libsqlite(const struct jl_libsqlite **ret_sqlite, struct jl_err *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, open_library);
	if (!opened.lib.handle)
		return jl_fail_from(err, JL_E_ABSENT, NULL, &opened.why,
				    getenv("JEOUL_SQLITE")
					    ? JL_N("SQLite is not available: {}; JEOUL_SQLITE names it: unset it")
					    : JL_N("SQLite is not available: {}; install the package libsqlite3-0"));
	*ret_sqlite = &opened.functions;
	return JL_OK;
}
