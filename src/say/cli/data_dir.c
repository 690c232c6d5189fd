#include "cli/data_dir.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_dir(const char *path)
{
	struct stat info;

	return path && stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

const char *jl_data_dir(struct jl_cli *cli)
{
	const char *own = getenv("JEOUL_DATA");
	char exe[4096];
	ssize_t len;

	if (own && *own) {
		const char *inside = jl_arena_printf(&cli->arena, "%s/validation", own);

		return is_dir(inside) ? inside : own;
	}
	len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	if (len > 0) {
		exe[len] = '\0';
		*strrchr(exe, '/') = '\0';
		const char *installed = jl_arena_printf(&cli->arena, "%s/../share/jeoul/validation", exe);

		if (is_dir(installed))
			return installed;
	}
	return "data/validation";
}
