/* A job that fails, restarts and writes checkpoints, as a renewal process: how much of the elapsed time is useful, by closed form and by
 * simulation. Pure: it knows neither models nor machines. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One level of checkpoints. */
struct jl_level {
	double work_s;    /* useful work between two of them */
	double stall_s;   /* the job waits so long for each */
	double lag_s;     /* behind the job: until it can be restored from */
	double restart_s; /* start, load, warm up; a failure inside starts it again */
};

/* Failures are a Poisson process while the job computes, writes or restarts. After each nothing runs for `down_s`. */
struct jl_cycle {
	double rate_hz;
	double down_s;          /* detection, waiting for a node; nothing fails meanwhile */
	double memory_frac;     /* of failures that copies in memory survive; 0: all go back to the store */
	struct jl_level memory; /* unused where memory_frac is 0 */
	struct jl_level store;
};

/* Where elapsed time goes: seconds, or shares of it. */
struct jl_spent {
	double useful, checkpoint, lost, down, restart;
	double planned; /* in a calendar */
};
double jl_spent_sum(const struct jl_spent *spent);

/* Shares, in the long run; sum is 1. Where the job makes no progress useful is 0. */
struct jl_spent jl_cycle_spent(const struct jl_cycle *cycle);

/* Work between checkpoints that makes the most of the time (exact for exponential failures), and the two usual approximations. INFINITY
 * where nothing fails. */
double jl_interval_best_s(double rate_hz, double stall_s);
double jl_interval_young_s(double rate_hz, double stall_s);
double jl_interval_daly_s(double rate_hz, double stall_s);

/* Sets the intervals of both levels to their best: whole steps, at least the lag, at most `most_s`. */
void jl_cycle_tune(struct jl_cycle *cycle, double step_s, double most_s);

/* Share of failures that find all spare nodes out for repair, and time a failure waits on average: `n_spares` spares, `load` nodes out
 * on average if all failures were replaced. */
double jl_spares_wait_s(int n_spares, double load, double repair_s);

/* Expected maximum of n standard normal values: the slowest of n nodes in standard deviations. */
double jl_slowest_of(double n);

/* What is missing on average of `load` nodes out, all of them replaced as spares last, where the others go on: failures keep coming. */
double jl_spares_missing(int n_spares, double load);

/* --- random numbers: the same on every machine */
struct jl_draws {
	uint64_t state;
};
double jl_draw_uniform(struct jl_draws *draws); /* above 0, below 1 */
double jl_draw_normal(struct jl_draws *draws);
double jl_draw_gamma(struct jl_draws *draws, double shape); /* scale 1 */

/* Where the time of a run goes, slot by slot: seconds. What has to be done again is lost where it was done. */
#define JL_CALENDAR_MAX 60
struct jl_calendar {
	double slot_s;
	double planned_s, every_s; /* a planned stop takes so long, so much of other time lies between two; 0: none */
	double since_s;            /* the last one */
	size_t n;                  /* slots that the run reaches, up to JL_CALENDAR_MAX */
	struct jl_spent slots[JL_CALENDAR_MAX];
};

/* One run until `work_s` of useful work is done, or `most_s` have passed. */
struct jl_run_in {
	struct jl_cycle cycle;
	double work_s, most_s;
	struct jl_calendar *calendar; /* filled in; NULL: none */
};
struct jl_run_out {
	struct jl_spent spent; /* seconds */
	double n_failures;
	bool done;
};
void jl_cycle_run(struct jl_run_out *ret_run, const struct jl_run_in *in, struct jl_draws *draws);
