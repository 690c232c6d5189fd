/* Copies of a served model under a load that follows the hours of a day: a fixed number, and one that follows the load. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define JL_DAY_MINUTES 1440
#define JL_DAY_HOURS   24
#define JL_DAY_READY_S                                                                                                 \
	60.0 /* estimated: process, kernels compiled, graphs captured; reading the weights comes on top */

/* Requests a second, minute by minute. */
struct jl_day_load {
	double hz[JL_DAY_MINUTES];
	double peak_hz, mean_hz;
};

/* A shape by name ("office", "evening", "flat") or CSV text with the columns hour and rate, interpolated around the clock. peak_hz scales
 * its highest rate; NAN: as it stands, which a shape does not. */
enum jl_status jl_day_read(struct jl_day_load *ret_load, const char *shape, const char *text, size_t len,
			   double peak_hz, struct jl_err *err);

/* What one copy does with a rate: of the existing simulation, at several rates from light to more than it answers. */
#define JL_DAY_RATES 12
struct jl_day_copy {
	int n; /* rates that it keeps up with */
	double hz[JL_DAY_RATES], within_frac[JL_DAY_RATES], in_flight[JL_DAY_RATES];
	double held_hz; /* the largest within the targets */
	double most_hz; /* answered at most; */
	double most_within_frac, most_in_flight;
	double wait_max_s; /* longer in line misses the first token's target; INFINITY: there is none */
};

struct jl_day_size {
	double mean, gpu_h, usd; /* copies; usd NAN: no rent is known */
	int least, most;
	double within_frac, worst_frac; /* of the requests: of the day, of its worst hour */
};

struct jl_day_hour {
	double rate_hz, copies, within_frac;
};

struct jl_day {
	bool asked;
	double peak_hz, mean_hz, start_s, load_s; /* from the order to the first request; of it reading the weights */
	double copy_hz;                           /* a copy holds within the targets */
	double target;                            /* requests in flight for each copy, by which their number follows */
	int gpus;                                 /* of a copy */
	struct jl_day_size fixed, scaled, same;   /* for the peak; autoscaled; fixed, with its GPU hours */
	struct jl_day_hour hours[JL_DAY_HOURS];   /* autoscaled */
	size_t n_hours;
	char policy[640]; /* to paste */
};

/* n_fixed > 0: always so many; 0: after the load by day->start_s and `target`. The day is run twice, the second time counts. hours: NULL,
 * or JL_DAY_HOURS. */
struct jl_day_size jl_day_run(const struct jl_day_load *load, const struct jl_day_copy *copy, int n_fixed,
			      double start_s, double target, struct jl_day_hour *hours);
/* fixed, same, scaled and target: the fewest GPU hours whose worst hour meets the targets as the peak's size does. */
void jl_day_weigh(struct jl_day *day, const struct jl_day_load *load, const struct jl_day_copy *copy);
