/* Test data for collectives with exactly known results in every type: small integers that repeat with a prime period, so that misplaced messages
 * are detected. */
#pragma once

#include "bench/backend.h"

#define JL_PATTERN_PERIOD 1021

/* Elements per call, for collectives with parts per part. As in nccl-tests, a task's `size_B` is that of the longer buffer. */
size_t jl_pattern_count(const struct jl_bench_task *task, int n_ranks);
/* Actual bytes of the longer buffer for this count. */
size_t jl_pattern_size_B(const struct jl_bench_task *task, int n_ranks);

/* The call of one rank. Out of place `recv` is used; in place, the rank's part lies inside the other buffer. */
struct jl_coll_call jl_pattern_call(const struct jl_bench_task *task, int rank, int n_ranks, char *send, char *recv);

struct jl_pattern {
	const struct jl_bench_task *task;
	int rank, n_ranks;
	size_t count;
};

/* Fills `send` with this rank's data. */
void jl_pattern_fill(const struct jl_pattern *pattern, void *send);
/* Number of received elements that differ from the expected ones. */
size_t jl_pattern_wrong(const struct jl_pattern *pattern, const void *recv);
