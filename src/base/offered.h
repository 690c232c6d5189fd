/* Files that come inside a request. While a thread has a list of them, it reads no other file that the request names, and it
 * writes none: a request may come from anywhere. Besides, the caller may name files and folders of this machine that may be read. What
 * the program itself lays out is read with jl_buf_read_own. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct jl_offered {
	const char *name; /* NULL ends the list */
	const char *text; /* NULL: the machine's own file of that name, or what lies below that folder */
	size_t len;
};

/* For this thread; NULL: files are the machine's again. Returns what was there before, to be put back. */
const struct jl_offered *jl_offer(const struct jl_offered *files);
bool jl_answering(void); /* does this thread answer a request? */
/* ... and is this name not one of the machine's that may be read? Then `ret_file` is the file of that name, or NULL. */
bool jl_offered(const struct jl_offered **ret_file, const char *name);
enum jl_status jl_offered_fail(const char *name, struct jl_err *err); /* that there is none */
/* True where such a file was offered with the request, or exists on the machine where files may be read. */
bool jl_file_exists(const char *name);
