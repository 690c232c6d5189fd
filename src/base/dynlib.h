/* Shared libraries opened at run time, so that one program runs with and without them.
 *
 * A table lists the functions and where to store their addresses. A missing library is JL_E_ABSENT with the reason; a missing optional function is
 * a NULL pointer. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct jl_dynlib_symbol {
	const char *name;
	size_t offset;       /* offset of the function pointer in the struct that jl_dynlib_open fills */
	const char *instead; /* older name of the function; NULL: none */
	bool optional;
};

struct jl_dynlib {
	void *handle;
	const char *name; /* the name that was opened */
};

/* Path of the library in the environment variable `env`. NULL: not set, or the program is set-user-ID. A relative path is JL_E_ABSENT, because it
 * depends on the working directory. */
enum jl_status jl_dynlib_named(const char *env, const char **ret_path, struct jl_err *err);

/* Opens the first of `names` that works (NULL-terminated, newest first; absolute paths or names for the system's search path) and fills the
 * pointers of `ret_functions`. A library named by `env` replaces the whole list: tests use this for fakes. */
enum jl_status jl_dynlib_open(struct jl_dynlib *ret_lib, const char *env, const char *const *names,
			      const struct jl_dynlib_symbol *symbols, size_t n_symbols, void *ret_functions,
			      struct jl_err *err);
void jl_dynlib_close(struct jl_dynlib *lib);
