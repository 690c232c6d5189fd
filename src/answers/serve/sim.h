/* Simulates a serving engine iteration by iteration: requests arrive, wait for room, pass through the model in chunks, decode token by token,
 * are preempted when their keys and values no longer fit, and end. Pure: deterministic by load, policy and seed; pass times come from a
 * callback. */
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
	double at_s;                /* since the start; closed loop: since the answer before it */
	int prompt, answer, cached; /* tokens; cached: prompt tokens in the prefix cache */
	int shared; /* > 0: next turn of the previous request's session, with this many shared tokens; at_s is the time after its answer */
};

struct jl_load {
	const struct jl_arrival *arrivals; /* by time */
	size_t n;
	size_t n_skip;   /* warm-up requests at the start, not counted */
	int concurrency; /* > 0: closed loop, requests at once, each followed by the next; 0: by at_s */
};

/* Memory tiers of a session's keys and values between turns. */
enum jl_kv_tier { JL_KV_DEVICE, JL_KV_HOST, JL_KV_DISK, JL_N_KV_TIER };

typedef double jl_pass_s(const void *ctx, const struct jl_pass *pass);

/* Identical machines: for all work, or for one part of it. */
struct jl_workers {
	int n;
	jl_pass_s *pass_s;
	const void *ctx;
	double kv_tokens; /* room of one machine */
	double budget;    /* tokens of a pass with prompts; 0: the policy's, per part */
	double ranks;     /* parts with their own engine limits: stages, data-parallel ranks; 0: 1 */
};

struct jl_sim_setup {
	const struct jl_policy *policy;
	struct jl_workers workers;
	struct jl_workers prompts;     /* n > 0: separate prompt machines */
	double n_alike;                /* identical sets of machines behind one front end, each with this load; 0: 1 */
	double line_token_s;           /* per prompt token, while the others wait */
	double front_s, front_token_s; /* front end: per request, serial; per prompt token, in parallel */
	double first_s;                /* front end, in parallel */
	double late;                   /* delay of the first token, in passes */
	double transfer_s, transfer_token_s; /* keys and values from prompt to answer machines */
	/* host memory of a machine for keys and values of preempted requests and of sessions between turns; seconds per token, one way */
	double host_tokens, host_token_s;
	double disk_tokens, disk_token_s; /* drives, for sessions */
	int n_draft;                      /* speculative decoding: drafted tokens per pass */
	double accept_frac;               /* acceptance probability of a drafted token, given those before it */
	bool means;                       /* no percentiles: they are NAN */
};

/* Result of one request. */
struct jl_served_request {
	double arrival_s, first_s, last_s; /* NAN: refused, it can never fit */
	int prompt, answer;
};

struct jl_spread {
	double mean, p50, p90, p99;
};

struct jl_sim_result {
	size_t n_ended, n_refused;
	double at_once; /* closed loop: requests, or users */
	struct jl_spread ttft_s, tpot_s, itl_s, e2e_s;
	struct jl_spread later_s; /* TTFT of further turns */
	double span_s;            /* first arrival to last token */
	double requests_per_s, output_tps, input_tps;
	double user_tps;                  /* answer tokens a second of one user: 1 / mean TPOT */
	double kv_mean_frac, kv_max_frac; /* of the answer machines */
	double batch_mean, batch_max;     /* concurrent decoding sequences, weighted by pass time */
	double busy_frac;                 /* utilisation of the answer machines; of the prompt machines: */
	double prompt_busy_frac;
	double front_wait_s; /* part of the mean TTFT: queue and service of the front end */
	int64_t n_passes, n_preempted;
	int64_t answer_tokens, prompt_tokens; /* requested; computed: more after preemptions */
	int64_t again_tokens;                 /* computed again after a preemption */
	int64_t found_tokens[JL_N_KV_TIER],
		missed_tokens;          /* of prompts: not computed; computed although an earlier turn had them */
	double held_frac[JL_N_KV_TIER]; /* maximum use of a tier's room */
	int64_t blocks_left;            /* not released at the end: 0 */
};

/* The passes that the mean times consist of: in a closed loop the schedule is independent of pass times, so that the mean TTFT is the sum of
 * ttft * pass time over these, and likewise the others: a fit need not simulate again. */
struct jl_pass_share {
	struct jl_pass pass; /* similar passes, averaged */
	double ttft, tpot; /* its passes in the mean time to the first token; in the mean time of each further token */
	double span;       /* total number */
	bool prompts;      /* on a prompt machine */
};
#define JL_PASSES_MAX 48
struct jl_passes {
	struct jl_pass_share shares[JL_PASSES_MAX];
	int keys[JL_PASSES_MAX];
	int n;
};

/* ret_requests: NULL, or room for load->n. ret_profile: NULL, or the composition of the means. */
enum jl_status jl_simulate(struct jl_sim_result *ret_result, const struct jl_sim_setup *setup,
			   const struct jl_load *load, struct jl_served_request *ret_requests,
			   struct jl_passes *ret_profile, struct jl_err *err);

/* Mean tokens per pass and sequence. */
double jl_draft_gain(int n_draft, double accept_frac);
