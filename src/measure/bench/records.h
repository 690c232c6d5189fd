/* Results as records, for the store and for --json.
 *
 *   kind         params                                            metrics (the first decides comparisons)
 *   gemm         dtype m n k [n_threads] [device]                  gemm_flopps, time_s
 *   memory       test (triad, copy) size_B [n_threads] [device]    mem_Bps, time_s
 *   link         test (h2d, d2h, d2d) size_B device [peer] pinned  link_Bps, time_s
 *   storage      test (read, write) size_B, disk or else dir       storage_Bps, time_s
 *   allreduce …  size_B count dtype redop root n_ranks in_place    algbw_Bps, busbw_Bps, time_s
 *   net          direction (send, receive, both) n_streams host    net_Bps, [wire_Bps, latency_s]
 * All kinds: n_wrong if it was checked, n_warmup, n_unsteady, n_outliers. */
#pragma once

#include "bench/core.h"
#include "record/record.h"

/* Fields common to all records of one run. */
struct jl_bench_where {
	const char *run;                    /* id */
	const char *machine, *machine_name; /* from the probe; may be NULL */
	const char *node;                   /* from --node or the environment; may be NULL */
	const char *note;                   /* may be NULL */
	const char *version;                /* of this program */
	const char *mpi_version;            /* may be NULL */
};

/* The record of a result; the caller adds the common fields. It points into the draft and into `result`. */
struct jl_record jl_bench_record(struct jl_draft *draft, const struct jl_bench_result *result,
				 const struct jl_bench_backend *backend);

/* Converts a series of times to work per second. */
struct jl_stats jl_bench_rate(const struct jl_bench_result *result, double work);
