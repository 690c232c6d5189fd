/* Interface of a measuring backend: it prepares one task and times one iteration of it. The core (bench/core.h) does warm-up, repetition, steady
 * state, time budget, outliers, statistics and noise. One contract test runs every backend that is present. */
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
	JL_BENCH_D2D, /* between two GPUs, or within one */
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
	size_t size_B;       /* other kinds: bytes of one array or message */
	int device, peer;    /* GPU; for a copy between two GPUs, the other one */
	bool pinned;         /* the copy's host memory is pinned */
	int n_threads;       /* cpu: 0 means all */
	enum jl_coll coll;
	enum jl_comm_type type;
	enum jl_redop op;
	int root;
	bool in_place;
	struct jl_comm *comm; /* collectives only. nccl: NULL uses this process's GPUs, otherwise one GPU per rank */
	const char *dir;      /* storage: folder to test */
	char disk[JL_DISK_NAME_MAX]; /* storage: drive of that folder; "": unknown */
	/* storage: polled between pieces, since a file may be long; NULL: not interruptible */
	bool (*stop)(void *ctx);
	int n_gpus; /* nccl without comm: number of GPUs, 0: all */
	int place;  /* 0 .. JL_BENCH_PLACES - 1: which memory placement to use, see place_B */
	const struct jl_bench_state
		*first; /* state of place 0, whose resources other than memory may be shared; NULL: this is place 0 */
};

/* The kernel hands out memory in order, so consecutive buffers would have the same cache alignment in every run. To vary it, buffers start at
 * different offsets below JL_BENCH_SHIFT_B, spread evenly over one way of a cache. `buffer` numbers all buffers of all ranks that are used
 * together. */
#define JL_BENCH_PLACES  5
#define JL_BENCH_SHIFT_B ((size_t)64 * 4096)
static inline size_t jl_bench_shift_B(const struct jl_bench_task *task, int buffer)
{
	return (size_t)task->place * (size_t)buffer * 13 % 64 * 4096;
}

struct jl_bench_state; /* private to the backend */

struct jl_bench_backend {
	const char *name; /* fake cpu disk shm tcp mpi cuda nccl hip rccl */
	const char *en;   /* one line: what it measures */
	/* JL_OK, or JL_E_ABSENT with the reason and what to install (package, driver, launcher). */
	enum jl_status (*present)(struct jl_err *err);
	bool (*supports)(const struct jl_bench_task *task);
	enum jl_status (*prepare)(const struct jl_bench_task *task, struct jl_bench_state **ret_state,
				  struct jl_err *err);
	/* Times one iteration with the backend's best clock (CUDA events, CLOCK_MONOTONIC). May run a very short task several times and return
	 * the mean. */
	enum jl_status (*run_once)(struct jl_bench_state *state, double *ret_s, struct jl_err *err);
	/* Checks the result exactly: number of wrong elements. */
	enum jl_status (*verify)(struct jl_bench_state *state, size_t *ret_n_wrong, struct jl_err *err);
	void (*finish)(struct jl_bench_state *state); /* accepts NULL */
	/* Optional: adds the device's clock, power limit, throttling and other processes to the noise, right after the last iteration. */
	void (*watch)(struct jl_bench_state *state, struct jl_record_noise *io_noise);
	/* Optional: bytes of memory whose cache placement affects this task's times; 0 or NULL: none. Pages that conflict in the cache do so
	 * while they are mapped: one placement gives steady times that differ by up to 10 % from the next run's. The core prepares such a task
	 * in several placements (task->place) and measures all of them. */
	size_t (*place_B)(const struct jl_bench_task *task);
	bool simulated; /* times are not this machine's: the host's noise is ignored */
	/* Optional: library versions as key=value, e.g. "cublas=13.0.2". */
	const char *(*versions)(void);
};

extern const struct jl_bench_backend jl_bench_fake, jl_bench_cpu, jl_bench_disk, jl_bench_shm, jl_bench_tcp,
	jl_bench_mpi, jl_bench_cuda, jl_bench_nccl, jl_bench_hip, jl_bench_rccl;
extern const struct jl_bench_backend *const jl_bench_backends[]; /* NULL-terminated */
