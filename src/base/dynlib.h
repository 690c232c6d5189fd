/* Libraries that are opened when they are needed: one program runs with and without them, and starts fast.
 *
 * A table says which functions are wanted and where their addresses go. A missing library is "unavailable: reason"; a
 * missing optional function leaves NULL and disables what needs it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct jl_dynlib_symbol {
	const char *name;
	size_t offset;       /* of the function pointer inside the struct that jl_dynlib_open fills */
	const char *instead; /* an older name of the same function, or NULL */
	bool optional;
};

struct jl_dynlib {
	void *handle;
	const char *name; /* the one of the names that was opened */
};

/* The library that the variable `env` names; NULL: none, or the program runs with rights that are not its caller's. A path that is
 * not absolute is JL_E_ABSENT: it would depend on the current folder. */
enum jl_status jl_dynlib_named(const char *env, const char **ret_path, struct jl_err *err);

/* Opens the first of `names` (NULL-terminated, newest first; absolute, or looked for where the system has its libraries) that can be
 * opened and fills the pointers of `ret_functions`. What jl_dynlib_named gives for `env` is opened instead of all names: tests put
 * a stand-in there. */
enum jl_status jl_dynlib_open(struct jl_dynlib *ret_lib, const char *env, const char *const *names,
			      const struct jl_dynlib_symbol *symbols, size_t n_symbols, void *ret_functions,
			      struct jl_err *err);
void jl_dynlib_close(struct jl_dynlib *lib);
