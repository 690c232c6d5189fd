/* What a serving engine does with a load, iteration by iteration: requests arrive, wait for room, pass through the model
 * in pieces, answer token by token, are thrown back when their keys and values no longer fit, and end. Pure: the same
 * load, policy and seed give the same answer; how long a pass takes is asked of a function. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "timeline/serve.h"
#include "parameters/engine.h"

#define JL_SERVING_REQUESTS_MAX 1000000
#define JL_SERVING_TOKENS_MAX   10000000 /* prompt and answer of one request */
#define JL_SERVING_PASSES_MAX   2e9
#define JL_SERVING_WORKERS_MAX  256

/* One request of a load. */
struct jl_arrival {
	double at_s;                /* since the beginning; closed loop: since the answer before it */
	int prompt, answer, cached; /* tokens; cached: of the prompt, whose keys and values are there already */
	int shared; /* > 0: the next turn of the session of the request before it, whose first so many tokens that one left; at_s is the
		     * time from its answer on */
};

struct jl_load {
	const struct jl_arrival *arrivals; /* by time */
	size_t n;
	size_t n_skip;   /* of the first: warm-up, run but not counted */
	int concurrency; /* > 0: closed loop, so many at once, each followed by the next; 0: by at_s */
};

/* Where keys and values of a session lie between its turns. */
enum jl_kv_tier { JL_KV_DEVICE, JL_KV_HOST, JL_KV_DISK, JL_N_KV_TIER };

typedef double jl_pass_s(const void *ctx, const struct jl_pass *pass);

/* Machines that do the same: all of the work, or one part of it. */
struct jl_workers {
	int n;
	jl_pass_s *pass_s;
	const void *ctx;
	double kv_tokens; /* that one of them has room for */
	double budget;    /* tokens of a pass with prompts; 0: the policy's, of each part */
	double ranks; /* parts of it that have the engine's limits each: stages, devices that requests are cut over; 0: 1 */
};

struct jl_sim_setup {
	const struct jl_policy *policy;
	struct jl_workers workers;
	struct jl_workers prompts; /* n > 0: machines of their own for the prompts */
	double n_alike;            /* such sets of machines behind one front end, which all have this load; 0: 1 */
	double line_token_s;       /* each token of a prompt, while the others wait */
	double front_s,
		front_token_s; /* front end: each request, one after another; each token of its prompt, which others need not wait for */
	double first_s;                      /* front end, that others need not wait for */
	double late;                         /* passes by which a first token is handed out later */
	double transfer_s, transfer_token_s; /* keys and values from prompts' machines to answers' */
	/* room of a machine's host for keys and values of requests that are thrown back and of sessions between their turns; seconds of
	 * a token, one way */
	double host_tokens, host_token_s;
	double disk_tokens, disk_token_s; /* of its drives, for sessions */
	int n_draft;                      /* speculative decoding: tokens drafted for each pass */
	double accept_frac;               /* chance that a drafted token is right, given those before it */
	bool means;                       /* percentiles are not computed: they are NAN */
};

/* One request, as it went. */
struct jl_served_request {
	double arrival_s, first_s, last_s; /* NAN: refused, it can never fit */
	int prompt, answer;
};

struct jl_spread {
	double mean, p50, p90, p99;
};

struct jl_sim_result {
	size_t n_ended, n_refused;
	double at_once; /* closed loop: requests, or people */
	struct jl_spread ttft_s, tpot_s, itl_s, e2e_s;
	struct jl_spread later_s; /* TTFT of further turns of sessions */
	double span_s;            /* first arrival to last token */
	double requests_per_s, output_tps, input_tps;
	double user_tps;                  /* answer tokens a second of one user: 1 / mean TPOT */
	double kv_mean_frac, kv_max_frac; /* of the answers' machines */
	double batch_mean, batch_max;     /* sequences that are answered at once, over the time of such passes */
	double busy_frac;                 /* of the answers' machines; of the prompts': */
	double prompt_busy_frac;
	double front_wait_s; /* of the mean TTFT: in the line of the front end, and through it */
	int64_t n_passes, n_preempted;
	int64_t answer_tokens, prompt_tokens; /* given; computed: more where some were preempted */
	int64_t again_tokens;                 /* computed once more after a preemption */
	int64_t found_tokens[JL_N_KV_TIER],
		missed_tokens;          /* of prompts: not computed; computed although a turn before had them */
	double held_frac[JL_N_KV_TIER]; /* of a tier's room, at most */
	int64_t blocks_left;            /* not given back at the end: 0 */
};

/* Which passes the mean times are made of: in a closed loop what runs together does not hang on how long a pass takes, so
 * that the mean TTFT is the sum of ttft * pass time over these, and so on: a fit need not simulate again. */
struct jl_pass_share {
	struct jl_pass pass; /* alike ones, averaged */
	double ttft, tpot;   /* passes of it in a mean time to the first token; in a mean time of each further token */
	double span;         /* in all */
	bool prompts;        /* on a prompts' machine */
};
#define JL_PASSES_MAX 48
struct jl_passes {
	struct jl_pass_share shares[JL_PASSES_MAX];
	int keys[JL_PASSES_MAX];
	int n;
};

/* ret_requests: NULL, or room for load->n. ret_profile: NULL, or what the means are made of. */
enum jl_status jl_simulate(struct jl_sim_result *ret_result, const struct jl_sim_setup *setup,
			   const struct jl_load *load, struct jl_served_request *ret_requests,
			   struct jl_passes *ret_profile, struct jl_err *err);

/* Tokens that a pass gives a sequence, on average. */
double jl_draft_gain(int n_draft, double accept_frac);
