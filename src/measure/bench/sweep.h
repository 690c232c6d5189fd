/* Runs a collective over a range of sizes, out of place and in place, like nccl-tests. Rows are reported as they finish. */
#pragma once

#include "bench/core.h"

#define JL_SWEEP_ROWS_MAX   256
#define JL_SWEEP_WARMUP_MAX 100000
#define JL_SWEEP_SIZE_MAX_B 0x1p46

struct jl_sweep_row {
	size_t size_B, count; /* as nccl-tests prints them */
	bool has_out, has_in;
	struct jl_bench_result out, in; /* out of place, in place */
};

struct jl_sweep {
	const struct jl_bench_backend *backend;
	struct jl_bench_task task; /* coll, type, op, root; the size is set per row */
	size_t sizes_B[JL_SWEEP_ROWS_MAX];
	size_t n_sizes;
	struct jl_bench_plan plan; /* time_s per measurement; stop and progress run in the printing process */
	int n_ranks;               /* shm: processes to start; nccl without comm: GPUs */
	/* Called in the printing process (the caller of a shm team; rank 0 under MPI). */
	void (*row)(void *ctx, const struct jl_sweep_row *row);
	void *ctx;
};

/* Sizes from min_B, times `factor` (if > 1) or plus `step_B`, up to max_B. JL_E_LIMIT: too many rows. */
enum jl_status jl_sweep_sizes(struct jl_sweep *sweep, size_t min_B, size_t max_B, double factor, size_t step_B,
			      struct jl_err *err);

/* Numbers that describe a sweep, sent by rank 0; the sizes follow. */
enum jl_sweep_number {
	JL_SWEEP_TYPE,
	JL_SWEEP_OP,
	JL_SWEEP_ROOT,
	JL_SWEEP_ITERS,
	JL_SWEEP_WARMUP,
	JL_SWEEP_CHECK,
	JL_SWEEP_TIME_S,
	JL_SWEEP_SIZES,
	JL_N_SWEEP_NUMBER
};
#define JL_SWEEP_NUMBERS (JL_N_SWEEP_NUMBER + JL_SWEEP_ROWS_MAX)
/* Distributes rank 0's sweep; all ranks must call it. */
enum jl_status jl_sweep_share(struct jl_sweep *sweep, struct jl_comm *comm, struct jl_err *err);
/* Sets the sweep from rank 0's numbers; unchanged on JL_E_DATA and JL_E_LIMIT. `free_B`: free memory of this host. */
enum jl_status jl_sweep_take(struct jl_sweep *sweep, const double numbers[JL_SWEEP_NUMBERS], int n_ranks, double free_B,
			     struct jl_err *err);

/* All ranks of `comm` must call this; NULL: one process (nccl drives its GPUs itself; fake). */
enum jl_status jl_sweep_run(const struct jl_sweep *sweep, struct jl_comm *comm, struct jl_err *err);
/* Starts the processes. `ret_dead`: rank that died or hung; -1: none. Finished rows are reported in any case. */
enum jl_status jl_sweep_shm(const struct jl_sweep *sweep, int *ret_dead, struct jl_err *err);
