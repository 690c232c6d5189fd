/* The CPU quota of the own cgroup: how much it allows, and how long it stopped what ran. Versions 1 and 2 of cgroups. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct jl_quota {
	double cpus;      /* CPUs' worth of time; NAN: no quota */
	double stopped_s; /* so far, of all CPUs together; NAN: not known */
	char stat[512];   /* its cpu.stat */
};

/* The smallest quota from the own group up to the root. `root`: where cgroups are mounted; `own`: a copy of /proc/self/cgroup. */
void jl_quota_find(struct jl_quota *ret_quota, const char *root, const char *own);
/* Time since jl_quota_find that threads of the group were stopped, of all CPUs together; NAN: no quota, or not known. */
double jl_quota_stopped_s(const struct jl_quota *quota);
