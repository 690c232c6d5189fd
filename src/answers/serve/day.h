/* Copies of a served model under a daily load: a fixed number, and an autoscaled one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define JL_DAY_MINUTES 1440
#define JL_DAY_HOURS   24
#define JL_DAY_READY_S                                                                                                 \
	60.0 /* estimated: process start, kernel compilation, graph capture; reading the weights is added */

/* Requests a second, minute by minute. */
struct jl_day_load {
	double hz[JL_DAY_MINUTES];
	double peak_hz, mean_hz;
};

/* A shape by name ("office", "evening", "flat") or CSV text with the columns hour and rate, interpolated cyclically. peak_hz scales its
 * maximum; NAN: unscaled, not possible for a shape. */
enum jl_status jl_day_read(struct jl_day_load *ret_load, const char *shape, const char *text, size_t len,
			   double peak_hz, struct jl_err *err);

/* Behaviour of one copy by rate: from simulations at rates from light to overload. */
#define JL_DAY_RATES 12
struct jl_day_copy {
	int n; /* rates without overload */
	double hz[JL_DAY_RATES], within_frac[JL_DAY_RATES], in_flight[JL_DAY_RATES];
	double held_hz; /* the largest within the targets */
	double most_hz; /* maximum throughput; */
	double most_within_frac, most_in_flight;
	double wait_max_s; /* longer waits miss the first token's target; INFINITY: no target */
};

struct jl_day_size {
	double mean, gpu_h, usd; /* mean copies; usd NAN: no rent */
	int least, most;
	double within_frac, worst_frac; /* share of requests within the targets: of the day, of its worst hour */
};

struct jl_day_hour {
	double rate_hz, copies, within_frac;
};

struct jl_day {
	bool asked;
	double peak_hz, mean_hz, start_s, load_s; /* from request to readiness; of this, reading the weights */
	double copy_hz;                           /* rate of a copy within the targets */
	double target;                            /* autoscaling target: requests in flight per copy */
	int gpus;                                 /* of a copy */
	struct jl_day_size fixed, scaled, same;   /* for the peak; autoscaled; fixed with the same GPU hours */
	struct jl_day_hour hours[JL_DAY_HOURS];   /* autoscaled */
	size_t n_hours;
	char policy[640]; /* configuration text */
};

/* n_fixed > 0: fixed number; 0: autoscaled with day->start_s and `target`. Simulates the day twice; the second pass counts. hours: NULL, or
 * JL_DAY_HOURS. */
struct jl_day_size jl_day_run(const struct jl_day_load *load, const struct jl_day_copy *copy, int n_fixed,
			      double start_s, double target, struct jl_day_hour *hours);
/* Finds fixed, same, scaled and target: fewest GPU hours whose worst hour meets the targets like the peak size. */
void jl_day_weigh(struct jl_day *day, const struct jl_day_load *load, const struct jl_day_copy *copy);
