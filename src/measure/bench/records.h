/* Results as records, for the store and for --json.
 *
 *   kind         params                                                           metrics (the first is judged)
 *   gemm         dtype m n k [n_threads] [device]                                 gemm_flopps, time_s
 *   memory       test (triad, copy) size_B [n_threads] [device]                   mem_Bps, time_s
 *   link         test (h2d, d2h, d2d) size_B device [peer] pinned                 link_Bps, time_s
 *   allreduce …  size_B count dtype redop root n_ranks in_place                   algbw_Bps, busbw_Bps, time_s
 *   net          direction (send, receive, both) n_streams host                   net_Bps, [wire_Bps, latency_s]
 * and everywhere n_wrong where it was checked, n_warmup, n_unsteady, n_outliers. */
#pragma once

#include "base/arena.h"
#include "bench/core.h"
#include "record/record.h"

/* What all records of one run share. */
struct jl_bench_where {
	const char *run;                    /* id */
	const char *machine, *machine_name; /* of the probe; may be NULL */
	const char *node;                   /* --node or the environment; may be NULL */
	const char *note;                   /* may be NULL */
	const char *version;                /* of this program */
	const char *mpi_version;            /* may be NULL */
};

/* Makes a fresh id. What the record points to lies in the arena, or in `result`, which must outlive it. */
enum jl_status jl_bench_record(const struct jl_bench_result *result, const struct jl_bench_backend *backend,
			       const struct jl_bench_where *where, struct jl_arena *arena, struct jl_record *ret_record,
			       struct jl_err *err);

/* Work per second of a series of times. */
struct jl_summary jl_bench_rate(const struct jl_bench_result *result, double work);
struct jl_summary jl_bench_summary(const struct jl_stats *stats);
/* kernel and jeoul, then `more` ("key=value key=value", may be NULL). */
enum jl_status jl_bench_versions(const struct jl_bench_where *where, const char *more, struct jl_arena *arena,
				 struct jl_record *record, struct jl_err *err);
