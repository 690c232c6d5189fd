/* The core of all benchmarks: warm-up, repetition, steady state, time budget, statistics, noise, exact checks. A backend only times
 * one iteration.
 *
 * Under a communicator all ranks run the same code: samples are averaged over the ranks after each block of iterations, and every
 * decision is taken from figures that all of them have, so that they stay in step. */
#pragma once

#include "base/stats.h"
#include "bench/backend.h"
#include "bench/noise.h"
#include "record/record.h"

#define JL_BENCH_SAMPLES_MAX 1000

struct jl_bench_plan {
	double time_s;    /* budget of one task, warm-up included; 0: 2 s */
	size_t n_warmup;  /* at least; 0: 5 */
	size_t n_iters;   /* exactly; 0: until the interval is narrow enough or the time is over */
	double want_frac; /* half width of the interval over the median; 0: 0.005 */
	bool check;
	/* Optional: true ends the measurement, what was measured counts. */
	bool (*stop)(void *ctx);
	/* Optional: how much of the task is done, 0 to 1. */
	void (*progress)(void *ctx, double frac);
	void *ctx;
};

/* Plain memory without pointers into a process: it travels through shared pages. */
struct jl_bench_result {
	struct jl_bench_task task; /* its comm is NULL */
	int n_ranks;               /* 1 without a communicator */
	struct jl_stats time_s;    /* of one iteration, in steady state */
	size_t n_warmup;           /* iterations before the first sample */
	size_t n_unsteady;         /* samples at the beginning that were left out */
	size_t n_outliers;
	size_t n_places; /* pages that were tried, in turn: sample i is from place i mod n_places */
	size_t n_samples;
	double samples_s[JL_BENCH_SAMPLES_MAX]; /* all of them, in order */
	bool checked, stopped;
	double n_wrong; /* elements, over all ranks */
	double took_s;
	struct jl_record_noise noise; /* `why` is NULL: see below */
	char why[JL_NOISE_WHY_MAX];
	char neighbour[JL_NEIGHBOUR_MAX]; /* likewise; "": none */
};

/* Whether the backend measures such a thing. */
enum jl_status jl_bench_can(const struct jl_bench_backend *backend, const struct jl_bench_task *task,
			    struct jl_err *err);
/* JL_E_ABSENT when the backend does not do this task. */
enum jl_status jl_bench_measure(const struct jl_bench_backend *backend, const struct jl_bench_task *task,
				const struct jl_bench_plan *plan, struct jl_bench_result *ret_result,
				struct jl_err *err);

/* Bytes or FLOP that one iteration counts for: 2mnk; 3 arrays for a triad, 2 for a copy, 1 for a transfer; nccl-tests' size for
 * collectives. */
double jl_bench_work(const struct jl_bench_task *task);

const struct jl_bench_backend *jl_bench_find(const char *name); /* NULL: no such backend */
const char *jl_bench_kind_name(enum jl_bench_kind kind);        /* gemm triad copy h2d d2h d2d read write */
