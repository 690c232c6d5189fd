/* Load generators: arrival times and lengths. Deterministic by seed. */
#pragma once

#include <stdint.h>

#include "serve/sim.h"

/* Small and repeatable; not cryptographic. */
struct jl_dice {
	uint64_t state;
};
double jl_dice_unit(struct jl_dice *dice); /* 0 to 1, exclusive */

struct jl_lengths {
	double prompt, answer; /* nominal tokens */
	double least_frac;     /* uniform from this share of the nominal length to all of it; 1: constant */
	double spread_ln;      /* > 0: log-normal around the nominal length with this deviation */
	double cached_frac;    /* of each prompt, in the prefix cache */
	double answer_most;    /* > 0: geometric answer lengths, truncated here */
};

struct jl_load_ask {
	size_t n;
	struct jl_lengths lengths;
	double rate_hz;             /* open loop: requests a second; infinite: all at the start */
	double burst;               /* open loop: arrivals per burst, 1: Poisson */
	int concurrency;            /* closed loop: the next request follows each answer, */
	double pause_s;             /* ... after this mean pause, independently */
	int turns;                  /* > 1: turns per session; each sends its history and this many more tokens, */
	double turn_tokens, wait_s; /* ... this mean time after the answer: n counts turns */
	uint64_t seed;
};

/* The client of published runs: concurrent requests, `each` in sequence, lengths from 0.8 of the nominal. Equal lengths would synchronise the
 * requests. */
#define JL_CLIENT_EACH       10
#define JL_CLIENT_LEAST_EACH 3.0 /* with very many, so that the simulation ends */
#define JL_CLIENT_MOST       300000.0
void jl_load_client(struct jl_load_ask *ask, double prompt, double answer, double n_at_once, double each);

/* ret_arrivals has room for ask->n; the load refers to it. */
void jl_load_make(struct jl_load *ret_load, struct jl_arrival *ret_arrivals, const struct jl_load_ask *ask);

/* Reads a trace: CSV with a header, or one JSON object per line; arrival in seconds (arrival_s, timestamp, time), tokens asked and answered
 * (input_tokens, prompt_tokens, prompt; output_tokens, answer_tokens, answer). Without arrivals: all at once. Sorted by arrival. Free with
 * jl_free. */
enum jl_status jl_arrivals_read(struct jl_arrival **ret_arrivals, size_t *ret_n, bool *ret_has_arrivals,
				const char *text, size_t len, const char *file, struct jl_err *err);
