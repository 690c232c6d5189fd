/* Clocks in seconds. The zero of each is arbitrary. */
#pragma once

#include <time.h>

static inline double jl_clock_of(clockid_t id)
{
	struct timespec now;

	(void)clock_gettime(id, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
#define jl_clock_s()        jl_clock_of(CLOCK_MONOTONIC)
#define jl_clock_cpu_s()    jl_clock_of(CLOCK_PROCESS_CPUTIME_ID) /* of the process, all threads */
#define jl_clock_thread_s() jl_clock_of(CLOCK_THREAD_CPUTIME_ID)
