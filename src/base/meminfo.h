/* Memory available to this process. */
#pragma once

/* Bytes that can be allocated now: the lower of MemAvailable and the control group's remainder. NAN: unknown. */
double jl_mem_available_B(void);
/* Value in bytes of a line such as "RssAnon:   123 kB" in /proc/self/status or /proc/meminfo. NAN: no such line. */
double jl_mem_proc_B(const char *path, const char *key);
