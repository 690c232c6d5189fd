/* How much memory there is for this process. */
#pragma once

/* Bytes that could be allocated now: MemAvailable, or what the cgroup leaves; NAN: not known. */
double jl_mem_available_B(void);
/* "RssAnon:   123 kB" of /proc/self/status, "MemTotal" of /proc/meminfo; NAN: not there. */
double jl_mem_proc_B(const char *path, const char *key);
