/* A few threads that share a loop: tasks 0 .. n-1 are taken in order by the next free thread, including the caller. */
#pragma once

#include <stddef.h>

#include "base/err.h"

#define JL_POOL_THREADS_MAX 1024

struct jl_pool;

/* Processors that this process may run on, and that its control group's quota pays for. At least 1. */
int jl_pool_n_cpus(void);
/* The same shared by `n` processes: at least 1 each. */
int jl_pool_cpus_each(int n);

/* n_threads counts the caller; 0: as many as jl_pool_n_cpus says. */
enum jl_status jl_pool_create(int n_threads, struct jl_pool **ret_pool, struct jl_err *err);
void jl_pool_destroy(struct jl_pool *pool); /* NULL is fine */

int jl_pool_n_threads(const struct jl_pool *pool);

/* Returns when all tasks are done. `thread` is 0 .. n_threads-1: a place for scratch memory. Not from inside a task. */
void jl_pool_run(struct jl_pool *pool, void (*task)(void *ctx, size_t index, int thread), void *ctx, size_t n_tasks);
/* A task for each thread, task i always on thread i: it finds again the memory that it touched first, near it. The threads then wait awake
 * for longer: what is timed must not begin with waking them. */
void jl_pool_each(struct jl_pool *pool, void (*task)(void *ctx, size_t index, int thread), void *ctx);
