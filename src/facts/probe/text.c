/* Small parsers for the text of /proc and /sys. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "probe/read.h"

bool jl_text_line(const char **at, char *line, size_t size)
{
	if (!**at)
		return false;
	size_t len = strcspn(*at, "\n");
	size_t kept = len < size ? len : size - 1;
	memcpy(line, *at, kept);
	line[kept] = '\0';
	*at += len + ((*at)[len] == '\n');
	return true;
}

long long jl_text_whole(const char *text, long long otherwise)
{
	char *end;

	if (!text)
		return otherwise;
	long long value = strtoll(text, &end, 0);
	return end == text ? otherwise : value;
}

const char *jl_text_value(struct jl_arena *arena, const char *text, const char *key)
{
	char line[1024];

	while (text && jl_text_line(&text, line, sizeof(line))) {
		const char *at = line + strlen(key);

		if (strncmp(line, key, strlen(key)) != 0)
			continue;
		at += strspn(at, " \t");
		if (*at != ':' && *at != '=')
			continue;
		at++;
		at += strspn(at, " \t\"'");
		size_t len = strlen(at);
		while (len > 0 && strchr(" \t\"'", at[len - 1]))
			len--;
		return jl_arena_strndup(arena, at, len);
	}
	return NULL;
}

int jl_text_cpus(const char *list, bool seen[JL_PROBE_CPUS_MAX])
{
	int n = 0;

	while (list && isdigit((unsigned char)*list)) {
		char *end;
		long from = strtol(list, &end, 10), to = from;

		if (*end == '-')
			to = strtol(end + 1, &end, 10);
		if (from < 0 || to < from || to >= JL_PROBE_CPUS_MAX)
			break;
		n += (int)(to - from + 1);
		for (long i = from; seen && i <= to; i++)
			seen[i] = true;
		list = *end == ',' ? end + 1 : end;
	}
	return n < JL_PROBE_CPUS_MAX ? n : JL_PROBE_CPUS_MAX;
}

const char *jl_text_base(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

int jl_pci_at(const struct jl_probe_machine *machine, const char *bus)
{
	for (size_t i = 0; bus && i < machine->n_pci; i++)
		if (strcmp(machine->pci[i].bus, bus) == 0)
			return (int)i;
	return -1;
}
