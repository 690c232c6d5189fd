/* Files sent inside a request. While a thread has such a list, it reads no other file that the request names and writes none, because requests are
 * untrusted. The list may also allow files and folders of this machine. Built-in paths are read with jl_buf_read_own. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct jl_offered {
	const char *name; /* NULL ends the list */
	/* content; NULL: the file of this name on this machine, or any file below that folder, may be read */
	const char *text;
	size_t len;
};

/* Sets the list of this thread; NULL: no restriction. Returns the previous list, for the caller to restore. */
const struct jl_offered *jl_offer(const struct jl_offered *files);
bool jl_answering(void); /* true while this thread answers a request */
/* True if a request is being answered and `name` is not a file of this machine that may be read. `ret_file` is then the file sent under that name,
 * or NULL. */
bool jl_offered(const struct jl_offered **ret_file, const char *name);
enum jl_status jl_offered_fail(const char *name, struct jl_err *err); /* error: no such file in the request */
/* True if the request contains the file, or it exists on this machine and may be read. */
bool jl_file_exists(const char *name);
