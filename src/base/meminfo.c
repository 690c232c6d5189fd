/* Reads free memory from /proc and the control group. */
#include "base/meminfo.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double jl_mem_proc_B(const char *path, const char *key)
{
	const size_t len = strlen(key);
	double found = NAN, kib;
	FILE *file = fopen(path, "re");
	char line[128];

	if (!file)
		return NAN;
	while (isnan(found) && fgets(line, sizeof(line), file))
		if (strncmp(line, key, len) == 0 && sscanf(line + len, ": %lf", &kib) == 1)
			found = kib * 1024;
	(void)fclose(file);
	return found;
}

static double cgroup_B(const char *path)
{
	FILE *file = fopen(path, "re");
	double value;

	if (!file)
		return NAN;
	if (fscanf(file, "%lf", &value) != 1)
		value = NAN; /* "max": no limit */
	(void)fclose(file);
	return value;
}

double jl_mem_available_B(void)
{
	const double free_B = jl_mem_proc_B("/proc/meminfo", "MemAvailable");
	const double limit_B = cgroup_B("/sys/fs/cgroup/memory.max") - cgroup_B("/sys/fs/cgroup/memory.current");

	return isfinite(limit_B) && !(limit_B > free_B) ? limit_B : free_B;
}
