/* A job that fails, restarts and writes checkpoints, as a renewal process: share of useful time by closed form and by simulation. Knows
 * neither models nor machines. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One level of checkpoints. */
struct jl_level {
	double work_s;    /* useful work between two checkpoints */
	double stall_s;   /* the job waits for each */
	double lag_s;     /* asynchronous: until it can be restored from */
	double restart_s; /* start, load, warm up; a failure during it starts it again */
};

/* Failures are a Poisson process while the job computes, writes or restarts. Each is followed by `down_s` without activity. */
struct jl_cycle {
	double rate_hz;
	double down_s;          /* detection, waiting for a node; no failures meanwhile */
	double memory_frac;     /* failures that in-memory copies survive; 0: all return to the store */
	struct jl_level memory; /* unused where memory_frac is 0 */
	struct jl_level store;
};

/* Split of elapsed time: seconds, or shares. */
struct jl_spent {
	double useful, checkpoint, lost, down, restart;
	double planned; /* in a calendar */
};
double jl_spent_sum(const struct jl_spent *spent);

/* Long-run shares; the sum is 1. `useful` is 0 for a job without progress. */
struct jl_spent jl_cycle_spent(const struct jl_cycle *cycle);

/* Work between checkpoints that maximizes the useful share (exact for exponential failures), and the two usual approximations. INFINITY
 * without failures. */
double jl_interval_best_s(double rate_hz, double stall_s);
double jl_interval_young_s(double rate_hz, double stall_s);
double jl_interval_daly_s(double rate_hz, double stall_s);

/* Sets the intervals of both levels to the optimum: whole steps, at least the lag, at most `most_s`. */
void jl_cycle_tune(struct jl_cycle *cycle, double step_s, double most_s);

/* Share of failures that find all spare nodes out, and the mean waiting time per failure: `n_spares` spares, `load` nodes out on average if
 * all failures were replaced. */
double jl_spares_wait_s(int n_spares, double load, double repair_s);

/* Expected maximum of n standard normal values: the slowest of n nodes in standard deviations. */
double jl_slowest_of(double n);

/* Expected number of missing nodes out of `load` with elastic recovery: failures continue meanwhile. */
double jl_spares_missing(int n_spares, double load);

/* --- random numbers: the same on every machine */
struct jl_draws {
	uint64_t state;
};
double jl_draw_uniform(struct jl_draws *draws); /* above 0, below 1 */
double jl_draw_normal(struct jl_draws *draws);
double jl_draw_gamma(struct jl_draws *draws, double shape); /* scale 1 */

/* Time of a run by slot, in seconds. Repeated work is counted as lost where it was first done. */
#define JL_CALENDAR_MAX 60
struct jl_calendar {
	double slot_s;
	double planned_s, every_s; /* duration of a planned stop, time between two; 0: none */
	double since_s;            /* since the last one */
	size_t n;                  /* slots reached by the run, up to JL_CALENDAR_MAX */
	struct jl_spent slots[JL_CALENDAR_MAX];
};

/* Simulates one run until `work_s` of useful work is done, or `most_s` have passed. */
struct jl_run_in {
	struct jl_cycle cycle;
	double work_s, most_s;
	struct jl_calendar *calendar; /* filled; NULL: none */
};
struct jl_run_out {
	struct jl_spent spent; /* seconds */
	double n_failures;
	bool done;
};
void jl_cycle_run(struct jl_run_out *ret_run, const struct jl_run_in *in, struct jl_draws *draws);
