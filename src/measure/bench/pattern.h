/* Data for collectives whose results are known exactly in every type: small whole numbers that repeat with a prime period, so that a
 * message that lands in the wrong place shows. */
#pragma once

#include "bench/backend.h"

#define JL_PATTERN_PERIOD 1021

/* nccl-tests' sizes: `size_B` of a task is that of the longer of the two buffers. Elements of one call; for collectives that deal in
 * parts, of one part. */
size_t jl_pattern_count(const struct jl_bench_task *task, int n_ranks);
/* Bytes of the longer buffer that this count really makes. */
size_t jl_pattern_size_B(const struct jl_bench_task *task, int n_ranks);

/* The call of one rank. `recv` counts where it is not in place; there its own part lies within the other's. */
struct jl_coll_call jl_pattern_call(const struct jl_bench_task *task, int rank, int n_ranks, char *send, char *recv);

struct jl_pattern {
	const struct jl_bench_task *task;
	int rank, n_ranks;
	size_t count;
};

/* What this rank sends. */
void jl_pattern_fill(const struct jl_pattern *pattern, void *send);
/* Number of received elements that differ from the expected ones. */
size_t jl_pattern_wrong(const struct jl_pattern *pattern, const void *recv);
