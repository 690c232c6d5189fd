/* What a measuring backend is: it prepares one task and times one iteration of it. The core (bench/core.h) owns warm-up,
 * repetition, steady state, time budget, outliers, statistics and noise; one contract test runs every backend that is present. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/dtype.h"
#include "base/err.h"
#include "comm/comm.h"
#include "record/record.h"

enum jl_bench_kind {
	JL_BENCH_GEMM,
	JL_BENCH_TRIAD, /* a = b + s·c */
	JL_BENCH_COPY,  /* within one memory */
	JL_BENCH_H2D,
	JL_BENCH_D2H,
	JL_BENCH_D2D, /* from one GPU to another, or to itself */
	JL_BENCH_COLL,
	JL_BENCH_READ, /* storage */
	JL_BENCH_WRITE,
	JL_N_BENCH_KIND
};

#define JL_DISK_NAME_MAX 32

struct jl_bench_task {
	enum jl_bench_kind kind;
	enum jl_dtype dtype; /* gemm */
	size_t m, n, k;      /* gemm: C[m×n] = A[m×k]·B[k×n] */
	size_t size_B;       /* the others: bytes of one array or message */
	int device, peer;    /* GPU; peer: the other end of a copy between two */
	bool pinned;         /* host memory of a copy */
	int n_threads;       /* cpu: 0 = all */
	enum jl_coll coll;
	enum jl_comm_type type;
	enum jl_redop op;
	int root;
	bool in_place;
	struct jl_comm
		*comm;   /* collectives; NULL otherwise. nccl: NULL = the GPUs of this process, else one GPU a rank */
	const char *dir; /* storage: the folder; NULL otherwise */
	char disk[JL_DISK_NAME_MAX]; /* ... and the drive that it is on; "": not known */
	bool (*stop)(void *ctx);     /* ... asked between its pieces, for a file may be long; NULL: it is not stopped */
	int n_gpus;                  /* nccl without comm: how many GPUs, 0 = all */
	int place;                   /* 0 to JL_BENCH_PLACES - 1: which of the places in memory, see place_B */
	const struct jl_bench_state
		*first; /* state of place 0, which the other places may use for shared things beside memory */
};

/* The kernel hands out memory in order, so buffers prepared in a row have the same cache alignment every time. To vary it, buffers begin at
 * different offsets: less than JL_BENCH_SHIFT_B, spread evenly over a way of a cache. `buffer` numbers all buffers of all ranks that are used
 * together. */
#define JL_BENCH_PLACES  5
#define JL_BENCH_SHIFT_B ((size_t)64 * 4096)
static inline size_t jl_bench_shift_B(const struct jl_bench_task *task, int buffer)
{
	return (size_t)task->place * (size_t)buffer * 13 % 64 * 4096;
}

struct jl_bench_state; /* the backend's own */

struct jl_bench_backend {
	const char *name; /* fake cpu disk shm tcp mpi cuda nccl hip rccl */
	const char *en;   /* one line: what it measures */
	/* JL_OK, or JL_E_ABSENT with the reason and what would bring it (package, driver, launcher). */
	enum jl_status (*present)(struct jl_err *err);
	bool (*supports)(const struct jl_bench_task *task);
	enum jl_status (*prepare)(const struct jl_bench_task *task, struct jl_bench_state **ret_state,
				  struct jl_err *err);
	/* Times one iteration by the backend's best clock (CUDA events, CLOCK_MONOTONIC). A task too short to time may run several times; the
	 * mean is returned. */
	enum jl_status (*run_once)(struct jl_bench_state *state, double *ret_s, struct jl_err *err);
	/* Exact check of the result: number of wrong elements. */
	enum jl_status (*verify)(struct jl_bench_state *state, size_t *ret_n_wrong, struct jl_err *err);
	void (*finish)(struct jl_bench_state *state); /* NULL is fine */
	/* Optional: clock, power limit, throttling and other processes of the device into the record's noise, right after the last
	 * iteration. */
	void (*watch)(struct jl_bench_state *state, struct jl_record_noise *io_noise);
	/* Optional: bytes of memory whose place in the caches shows in the times of this task. Pages that fall on one another's cache
	 * lines stay there for as long as they are mapped: a run in one place is steady, and off by a tenth from the next run. The core
	 * prepares such a task in several places (task->place) and measures in all of them. 0, or without this: it does not matter. */
	size_t (*place_B)(const struct jl_bench_task *task);
	bool simulated; /* its times are not this machine's: noise of the host means nothing */
	/* Optional: key=value pairs of library versions, "cublas=13.0.2". */
	const char *(*versions)(void);
};

extern const struct jl_bench_backend jl_bench_fake, jl_bench_cpu, jl_bench_disk, jl_bench_shm, jl_bench_tcp,
	jl_bench_mpi, jl_bench_cuda, jl_bench_nccl, jl_bench_hip, jl_bench_rccl;
extern const struct jl_bench_backend *const jl_bench_backends[]; /* NULL-terminated */
