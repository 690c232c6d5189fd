/* Common code of all benchmarks: warm-up, repetition, steady state, time budget, statistics, noise, exact checks. A backend only times one
 * iteration.
 *
 * With a communicator all ranks run the same code. Samples are averaged over the ranks after each block of iterations, and every decision uses
 * values common to all ranks, so that they stay in step. */
#pragma once

#include "base/stats.h"
#include "bench/backend.h"
#include "bench/noise.h"
#include "record/record.h"

#define JL_BENCH_SAMPLES_MAX 1000

struct jl_bench_plan {
	double time_s;    /* budget per task with warm-up, s; 0: 2 s */
	size_t n_warmup;  /* minimum; 0: 5 */
	size_t n_iters;   /* exact number; 0: until the interval is narrow enough or the time is over */
	double want_frac; /* target half-width of the interval relative to the median; 0: 0.005 */
	bool check;
	/* Optional: returns true to stop early; samples so far are kept. */
	bool (*stop)(void *ctx);
	/* Optional: reports progress, 0 to 1. */
	void (*progress)(void *ctx, double frac);
	void *ctx;
};

/* Contains no pointers except names in static memory, so that it can be passed through shared pages. */
struct jl_bench_result {
	struct jl_bench_task task; /* with comm NULL */
	int n_ranks;               /* 1 without a communicator */
	struct jl_stats time_s;    /* one iteration, steady state */
	size_t n_warmup;           /* iterations before the first sample */
	size_t n_unsteady;         /* samples left out at the beginning */
	size_t n_outliers;
	size_t n_places; /* memory placements; sample i is from place i mod n_places */
	size_t n_samples;
	double samples_s[JL_BENCH_SAMPLES_MAX]; /* all samples in order */
	bool checked, stopped;
	double n_wrong; /* wrong elements, over all ranks */
	double took_s;
	struct jl_record_noise noise; /* its `why` and `neighbour` are NULL: see below */
	char why[JL_NOISE_WHY_MAX];
	char neighbour[JL_NEIGHBOUR_MAX]; /* process that used the device; "": none */
};

/* JL_OK if the backend is present and supports the task. */
enum jl_status jl_bench_can(const struct jl_bench_backend *backend, const struct jl_bench_task *task,
			    struct jl_err *err);
/* JL_E_ABSENT if the backend does not support the task. */
enum jl_status jl_bench_measure(const struct jl_bench_backend *backend, const struct jl_bench_task *task,
				const struct jl_bench_plan *plan, struct jl_bench_result *ret_result,
				struct jl_err *err);

/* Bytes or FLOP that one iteration counts for: gemm 2mnk; triad 3 arrays, copy 2, transfer 1; collectives: size as in nccl-tests. */
double jl_bench_work(const struct jl_bench_task *task);

const struct jl_bench_backend *jl_bench_find(const char *name); /* NULL: no such backend */
const char *jl_bench_kind_name(enum jl_bench_kind kind);        /* gemm triad copy h2d d2h d2d read write */
