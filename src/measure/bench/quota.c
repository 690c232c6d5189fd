#include "bench/quota.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A small file as text; "" where there is none. */
static const char *read_text(const char *folder, const char *name, char *out, size_t size)
{
	char path[640];
	FILE *file = snprintf(path, sizeof(path), "%s/%s", folder, name) < (int)sizeof(path) ? fopen(path, "re") : NULL;
	size_t n = file ? fread(out, 1, size - 1, file) : 0;

	if (file)
		(void)fclose(file);
	out[n] = '\0';
	return out;
}

/* Version 2: "150000 100000" or "max 100000"; version 1: two files, -1 for none. */
static double cpus_of(const char *folder)
{
	char text[64], period_text[64];
	double quota, period;

	if (sscanf(read_text(folder, "cpu.max", text, sizeof(text)), "%lf %lf", &quota, &period) == 2 && period > 0)
		return quota / period;
	quota = strtod(read_text(folder, "cpu.cfs_quota_us", text, sizeof(text)), NULL);
	period = strtod(read_text(folder, "cpu.cfs_period_us", period_text, sizeof(period_text)), NULL);
	return quota > 0 && period > 0 ? quota / period : NAN;
}

/* Microseconds in version 2, nanoseconds in version 1. */
static double stopped_s(const char *folder)
{
	char text[1024];
	const char *us, *ns;

	(void)read_text(folder, "cpu.stat", text, sizeof(text));
	us = strstr(text, "throttled_usec ");
	ns = strstr(text, "throttled_time ");
	if (us)
		return 1e-6 * strtod(us + strlen("throttled_usec "), NULL);
	return ns ? 1e-9 * strtod(ns + strlen("throttled_time "), NULL) : NAN;
}

/* From `path` below `root` up: groups above bind those in them. */
static void find_in(struct jl_quota *q, const char *root, const char *path)
{
	char folder[512];

	if (strstr(path, "/..") || snprintf(folder, sizeof(folder), "%s%s", root, path) >= (int)sizeof(folder))
		return;
	for (;;) {
		const double cpus = cpus_of(folder);
		char *slash = strrchr(folder, '/');

		if (cpus > 0 && !(q->cpus <= cpus)) {
			q->cpus = cpus;
			(void)snprintf(q->stat, sizeof(q->stat), "%s", folder);
		}
		if (strlen(folder) <= strlen(root) || !slash)
			return;
		*slash = '\0';
	}
}

void jl_quota_find(struct jl_quota *ret_quota, const char *root, const char *own)
{
	struct jl_quota q = { .cpus = NAN, .stopped_s = NAN };
	char line[512], folder[512];
	FILE *file = fopen(own, "re");

	while (file && fgets(line, sizeof(line), file)) { /* "4:cpu,cpuacct:/a/b", "0::/a/b" */
		char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;

		line[strcspn(line, "\n")] = '\0';
		if (!path)
			continue;
		*path++ = '\0';
		names++;
		if (!*names)
			find_in(&q, root, path);
		for (char *save, *name = strtok_r(names, ",", &save); name; name = strtok_r(NULL, ",", &save))
			if (strcmp(name, "cpu") == 0) {
				(void)snprintf(folder, sizeof(folder), "%s/cpu", root);
				find_in(&q, folder, path);
			}
	}
	if (file)
		(void)fclose(file);
	if (!isnan(q.cpus))
		q.stopped_s = stopped_s(q.stat);
	*ret_quota = q;
}

double jl_quota_stopped_s(const struct jl_quota *quota)
{
	return isnan(quota->cpus) ? NAN : stopped_s(quota->stat) - quota->stopped_s;
}
