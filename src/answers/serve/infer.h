/* jeoul infer: a served model on a system under a load. One question, one answer with every figure shown. */
#pragma once

#include "base/fields.h"
#include "serve/day.h"
#include "serve/load.h"
#include "serve/serve.h"

#define JL_INFER_ROWS 16

enum jl_load_kind { JL_LOAD_CLOSED, JL_LOAD_OPEN, JL_LOAD_USERS, JL_LOAD_TRACE, JL_LOAD_SESSIONS, JL_LOAD_JOB };
extern const struct jl_choice jl_load_choices[];

/* A measured load: means; NAN if the file does not say. */
struct jl_served_seen {
	double ttft_s, tpot_s, prompt, answer, concurrency, rate_hz;
};
enum jl_status jl_served_seen_read(struct jl_served_seen *ret_seen, const char *text, size_t len, const char *file,
				   struct jl_err *err);

/* Default values that were assumed, in display order. */
enum jl_infer_assumed {
	JL_ASSUMED_PROMPT,
	JL_ASSUMED_ANSWER,
	JL_ASSUMED_LOAD,
	JL_ASSUMED_THINK,
	JL_ASSUMED_WEIGHTS,
	JL_ASSUMED_ENGINE,
	JL_ASSUMED_KWH,
	JL_ASSUMED_PUE,
	JL_ASSUMED_TURN,
	JL_ASSUMED_WAIT,
	JL_ASSUMED_START,
	JL_ASSUMED_TARGET,
	JL_N_ASSUMED
};

/* Default load, here and in recommend: tokens of a question and of its answer, concurrent requests, reading time before the next question. */
#define JL_USUAL_PROMPT  1024.0
#define JL_USUAL_ANSWER  256.0
#define JL_USUAL_AT_ONCE 32.0
/* Default targets when only the rate is given: they determine the size; also used by the page. */
#define JL_USUAL_TTFT_S 0.5
#define JL_USUAL_TPOT_S 0.05
#define JL_THINK_S      20.0
#define JL_TURN_TOKENS  500.0 /* new tokens of each further turn: from a tool or a user */
#define JL_TOOL_WAIT_S  5.0

struct jl_infer_ask {
	const struct jl_model_info *model;  /* of the catalog, or NULL: */
	const struct jl_transformer *shape; /* any other shape */
	const char *model_name;
	const char *path;         /* folder or file of a model outside the catalog, as an engine opens it; NULL */
	double context;           /* the model's maximum context in tokens; NAN: not known */
	const char *weights, *kv; /* formats; NULL: as published; keys and values as in recipes */
	int engine;
	int n_gpus;                     /* GPUs per copy; 0: shortest requests, or the fewest that meet the targets */
	int n_copies;                   /* 0: as many as fit the system */
	int least_busy;                 /* 1: requests go to the least busy copy; else randomly to any copy */
	int n_stages, n_ep;             /* pipeline stages; GPUs that share whole experts; 0: 1 */
	bool dp_attention;              /* data-parallel attention: different requests on different GPUs of a copy */
	int prompt_gpus, prompt_copies; /* separate prompt machines: GPUs of each, and their number; 0: none, 1 */
	/* memory of a copy's host and of its drives, for keys and values of preempted requests and of sessions between turns; NAN: none */
	double host_B, disk_B;
	enum jl_load_kind kind;
	double concurrency; /* closed loop; sessions */
	int turns;          /* > 1: turns per session; each sends its history and turn_tokens more, after wait_s */
	double turn_tokens, wait_s;
	double rate_hz; /* open loop */
	double users;   /* users: a closed loop with pauses */
	double n_job;   /* requests all present at the start */
	double think_s;
	double burst;
	const struct jl_arrival *trace;
	size_t n_trace;
	double prompt, answer, spread_ln, cached_frac;
	double answer_most; /* > 0: geometric answer lengths, truncated here; 0: lengths around `answer` */
	int n_draft;
	double accept_frac;
	const char
		*draft; /* draft: "eagle", "mtp" (a layer of the model) or the name of draft_model; NULL: at no cost */
	const struct jl_model_info *draft_model;
	int n_adapters; /* LoRA adapters loaded on the GPUs and served together; 0: none */
	int adapter_rank;
	int max_seqs, batched_tokens;  /* engine limits; 0: its defaults */
	double kv_tokens;              /* room of a copy; NAN: by the memory */
	double ttft_max_s, tpot_max_s; /* targets for nine requests in ten; NAN: none */
	bool find_rate;                /* no load given: finds the largest rate within the targets */
	const struct jl_day_load
		*day; /* the rate over a day, start time of copies start_s (NAN: estimated); NULL: none */
	double start_s;
	const struct jl_served_seen
		*seen; /* measurement of this model on this system with the same layout; NULL: none */
	double usd_per_kWh, pue;
	unsigned assumed; /* bits 1 << enum jl_infer_assumed: values not given */
	uint64_t seed;
};

/* One percentile of the four times. */
struct jl_infer_times {
	struct jl_estimate mean, p50, p90, p99;
};

struct jl_infer_row { /* row of a sweep or of a comparison of formats */
	const char *weights;
	double rate_hz;
	bool fits, knee, keeps_up;
	double weights_B;
	int n_gpus;
	struct jl_estimate ttft_p90_s, tpot_p90_s, output_tps, usd_per_Mtoken_out;
	double busy_frac;
};

/* An observation: predicted before and after the correction. */
struct jl_infer_seen {
	double ttft_s, tpot_s, ttft_before_s, tpot_before_s, ttft_after_s, tpot_after_s;
	double pass_factor; /* ratio of observed to predicted pass time; 0: no observation */
	double first_s;     /* front-end time of a request */
};

/* Sessions with several turns: keys and values between turns. */
struct jl_infer_sessions {
	int turns; /* 0: no sessions */
	double turn_tokens, wait_s, longest;
	double held; /* concurrent sessions within the targets; NAN: not asked for */
	double found_frac[JL_N_KV_TIER],
		computed_frac;         /* share of the tokens of earlier turns: by tier, and recomputed */
	struct jl_infer_times later_s; /* TTFT of all turns but the first */
	/* without host memory, or, if none is given, with this much; other_host_B NAN: not known */
	double other_host_B, other_held, other_computed_frac;
	struct jl_estimate other_p90_s;
};

struct jl_infer {
	const char *model, *system, *engine, *weights, *kv;
	bool published; /* weights in the published format (default) */
	bool embeds;    /* embedding or ranking model: only the prompt's pass */
	enum jl_load_kind kind;
	double concurrency, rate_hz, users, think_s, prompt, answer;
	double longest, context; /* tokens of the longest request; the model's maximum context, or NAN */
	double usd_per_kWh, pue;
	unsigned assumed;
	int n_gpus, n_copies, n_gpus_system; /* n_gpus share each layer of a copy */
	int n_stages, n_ep, prompt_gpus, prompt_copies, n_gpus_used;
	bool dp_attention;
	double prompt_busy_frac; /* utilisation of the prompt machines; NAN: none */
	bool published_pair;     /* a source measured this engine on this device; true without a given engine */
	const char *draft;
	double draft_B, draft_frac; /* draft weights per device; share of an answer pass */
	int n_adapters, adapter_rank;
	double adapters_B, adapters_frac;                    /* all adapters per device; share of an answer pass */
	bool fits, checked;                                  /* without fits no times are computed */
	bool narrow_fits;                                    /* 4-bit weights would fit */
	double weights_B, capacity_B, kv_token_B, kv_tokens; /* per device; per copy */
	double context_max;                                  /* tokens of the longest request that fits */
	struct jl_infer_times ttft_s, tpot_s, itl_s, e2e_s;
	double n_job;
	struct jl_estimate job_s; /* until the last answer */
	struct jl_estimate requests_per_s, output_tps, input_tps, user_tps;
	double kv_mean_frac, kv_max_frac, busy_frac, batch_mean, batch_max;
	long long n_requests, n_refused, n_preempted;
	bool keeps_up;     /* no overload */
	const char *bound; /* message: the largest part of an answer token's time */
	double bound_frac;
	struct jl_serve_step step;
	double power_W, energy_J_token; /* GPUs and hosts in use; per answer token */
	struct jl_rent rent;
	struct jl_estimate usd_per_Mtoken_out, usd_per_Mtoken_in; /* by rent */
	double power_usd_per_Mtoken;                              /* electricity per answer tokens */
	double ttft_max_s, tpot_max_s;
	bool has_target, meets;
	double rate_max_hz;  /* largest rate within the targets; NAN: not asked for */
	double rate_held_hz; /* largest rate without overload; NAN: not overloaded */
	double users_held;   /* users served within the targets; NAN: all of them */
	char flags[3][520];  /* engine command lines; the first is of the requested engine */
	int n_flags;
	double flags_rate_hz;                    /* rate of the settings: a sweep's knee; 0: the given load */
	char started[96];                        /* engines that `flags` start */
	bool processor;                          /* no GPU */
	struct jl_infer_row rows[JL_INFER_ROWS]; /* sweep or formats */
	size_t n_rows;
	bool compared;
	struct jl_infer_seen seen;
	struct jl_infer_sessions sessions;
	struct jl_day day;
};
extern const struct jl_schema jl_infer_fields;

enum jl_status jl_infer(struct jl_infer *ret_infer, const struct jl_catalog *cat, const struct jl_machine *machine,
			const struct jl_infer_ask *ask, struct jl_err *err);
/* The same load at several rates; formats that the device supports, one after another. */
enum jl_status jl_infer_sweep(struct jl_infer *infer, const struct jl_catalog *cat, const struct jl_machine *machine,
			      const struct jl_infer_ask *ask, const double *rates_hz, size_t n, struct jl_err *err);
enum jl_status jl_infer_compare_weights(struct jl_infer *infer, const struct jl_catalog *cat,
					const struct jl_machine *machine, const struct jl_infer_ask *ask,
					struct jl_err *err);
/* Under overload: the rate or number of users that would be served. */
enum jl_status jl_infer_held(struct jl_infer *infer, const struct jl_catalog *cat, const struct jl_machine *machine,
			     const struct jl_infer_ask *ask, struct jl_err *err);
/* Copies over a day, if the answer is the largest rate within the targets. */
enum jl_status jl_infer_day(struct jl_infer *infer, const struct jl_catalog *cat, const struct jl_machine *machine,
			    const struct jl_infer_ask *ask, struct jl_err *err);
/* flags.c: command lines of the engine; without a given engine, of all known ones that run on the device. gpu NULL: a CPU. */
void jl_infer_flags(struct jl_infer *answer, const struct jl_infer_ask *ask, const struct jl_serve_job *job,
		    const struct jl_gpu *gpu);
