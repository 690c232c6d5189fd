/* Thread pool for loops: the next free thread, the caller included, takes tasks 0 .. n-1 in order. */
#pragma once

#include <stddef.h>

#include "base/err.h"

#define JL_POOL_THREADS_MAX 1024

struct jl_pool;

/* Number of processors allowed by CPU affinity and the control group's quota, at least 1. */
int jl_pool_n_cpus(void);
/* The same divided among `n` processes, at least 1 each. */
int jl_pool_cpus_each(int n);

/* n_threads includes the caller; 0: jl_pool_n_cpus(). */
enum jl_status jl_pool_create(int n_threads, struct jl_pool **ret_pool, struct jl_err *err);
void jl_pool_destroy(struct jl_pool *pool); /* NULL is allowed */

int jl_pool_n_threads(const struct jl_pool *pool);

/* Returns when all tasks are done. `thread` (0 .. n_threads-1) indexes per-thread scratch memory. Must not be called from inside a task. */
void jl_pool_run(struct jl_pool *pool, void (*task)(void *ctx, size_t index, int thread), void *ctx, size_t n_tasks);
/* Runs task i on thread i, so that each thread works on the memory it touched first (NUMA). Workers spin longer between calls, so that timed loops
 * do not include wake-ups. */
void jl_pool_each(struct jl_pool *pool, void (*task)(void *ctx, size_t index, int thread), void *ctx);
