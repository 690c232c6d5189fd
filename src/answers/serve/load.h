/* Loads: what arrives when, and how long it is. Deterministic: the same seed, the same load. */
#pragma once

#include <stdint.h>

#include "serve/sim.h"

/* Small and repeatable; not for secrets. */
struct jl_dice {
	uint64_t state;
};
double jl_dice_unit(struct jl_dice *dice); /* 0 to 1, neither included */

struct jl_lengths {
	double prompt, answer; /* nominal tokens */
	double least_frac;     /* uniform from this share of the nominal to all of it; 1: always all */
	double spread_ln;      /* > 0: log-normal about the nominal instead, with this deviation */
	double cached_frac;    /* of each prompt, found in the prefix cache */
	double answer_most;    /* > 0: answers end at any token with the same chance, and there at the latest */
};

struct jl_load_ask {
	size_t n;
	struct jl_lengths lengths;
	double rate_hz;  /* open loop: requests a second; infinite: all at the start */
	double burst;    /* open loop: so many arrive together, 1: Poisson */
	int concurrency; /* closed loop: who has an answer asks again, */
	double pause_s;  /* ... after so long in the mean, everybody by himself */
	int turns; /* > 1: each asks so often in a session: its questions and answers so far, and so many more tokens, */
	double turn_tokens, wait_s; /* ... so long after the answer, in the mean: n counts turns */
	uint64_t seed;
};

/* The client of published runs: so many requests at once, `each` after the other, lengths from 0.8 of the nominal on. Requests of
 * exactly one length would come in waves. */
#define JL_CLIENT_EACH       10
#define JL_CLIENT_LEAST_EACH 3.0 /* of very many, so that the simulation ends */
#define JL_CLIENT_MOST       300000.0
void jl_load_client(struct jl_load_ask *ask, double prompt, double answer, double n_at_once, double each);

/* ret_arrivals has room for ask->n; the load points to it. */
void jl_load_make(struct jl_load *ret_load, struct jl_arrival *ret_arrivals, const struct jl_load_ask *ask);

/* A trace: CSV with a header or one JSON object a line; arrival in seconds (arrival_s, timestamp, time), tokens asked and
 * answered (input_tokens, prompt_tokens, prompt; output_tokens, answer_tokens, answer). Without arrivals: all at once.
 * Sorted by arrival. jl_free what it gives. */
enum jl_status jl_arrivals_read(struct jl_arrival **ret_arrivals, size_t *ret_n, bool *ret_has_arrivals,
				const char *text, size_t len, const char *file, struct jl_err *err);
