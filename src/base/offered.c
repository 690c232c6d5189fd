#include "base/offered.h"

#include <string.h>
#include <unistd.h>

static _Thread_local const struct jl_offered *offered;

const struct jl_offered *jl_offer(const struct jl_offered *files)
{
	const struct jl_offered *before = offered;

	offered = files;
	return before;
}

bool jl_offered(const struct jl_offered **ret_file, const char *name)
{
	const struct jl_offered *file = offered;

	while (file && file->name && strcmp(file->name, name) != 0)
		file++;
	*ret_file = file && file->name ? file : NULL;
	return offered != NULL;
}

enum jl_status jl_offered_fail(const char *name, struct jl_err *err)
{
	return jl_fail(err, JL_E_NOTFOUND, "%s: no such file in the request; send its text under \"files\"", name);
}

bool jl_file_exists(const char *name)
{
	const struct jl_offered *file;

	return jl_offered(&file, name) ? file != NULL : access(name, F_OK) == 0;
}
