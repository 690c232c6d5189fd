/* Thread-local list of the files that a request may read. */
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

bool jl_answering(void)
{
	return offered != NULL;
}

static bool goes_up(const char *name)
{
	for (const char *part = name; part; part = strchr(part, '/'), part = part ? part + 1 : NULL)
		if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || !part[2]))
			return true;
	return false;
}

static bool is_named(const struct jl_offered *file, const char *name)
{
	size_t len = strlen(file->name);

	if (strcmp(file->name, name) == 0)
		return true;
	while (len > 1 && file->name[len - 1] == '/')
		len--;
	return !file->text && len > 0 && strncmp(file->name, name, len) == 0 && (name[len] == '/' || !name[len]) &&
	       !goes_up(name + len);
}

bool jl_offered(const struct jl_offered **ret_file, const char *name)
{
	const struct jl_offered *file = offered;

	while (file && file->name && !is_named(file, name))
		file++;
	*ret_file = file && file->name ? file : NULL;
	return offered && !(*ret_file && !(*ret_file)->text);
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
