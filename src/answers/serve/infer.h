/* jeoul infer: a served model on a system under a load. One question, one answer with every figure that is said of it. */
#pragma once

#include "base/fields.h"
#include "serve/day.h"
#include "serve/load.h"
#include "serve/serve.h"

#define JL_INFER_ROWS 16

enum jl_load_kind { JL_LOAD_CLOSED, JL_LOAD_OPEN, JL_LOAD_USERS, JL_LOAD_TRACE, JL_LOAD_SESSIONS, JL_LOAD_JOB };
extern const struct jl_choice jl_load_choices[];

/* A load as it was measured: means; NAN where the file does not say. */
struct jl_served_seen {
	double ttft_s, tpot_s, prompt, answer, concurrency, rate_hz;
};
enum jl_status jl_served_seen_read(struct jl_served_seen *ret_seen, const char *text, size_t len, const char *file,
				   struct jl_err *err);

/* What is filled in where nobody says it, in the order in which it is told. */
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

/* The load where nobody says one, here and in recommend: tokens of a question and of its answer, requests at once; and so long people read an
 * answer before they ask again. */
#define JL_USUAL_PROMPT  1024.0
#define JL_USUAL_ANSWER  256.0
#define JL_USUAL_AT_ONCE 32.0
/* Targets of a service whose rate alone is said: its size follows from them, here and on the page. */
#define JL_USUAL_TTFT_S 0.5
#define JL_USUAL_TPOT_S 0.05
#define JL_THINK_S      20.0
#define JL_TURN_TOKENS  500.0 /* of a session's further turns: what a tool or a person says */
#define JL_TOOL_WAIT_S  5.0

struct jl_infer_ask {
	const struct jl_model_info *model;  /* of the catalog, or NULL: */
	const struct jl_transformer *shape; /* any other */
	const char *model_name;
	const char *path; /* folder or file of a model that is not from the catalog, as an engine opens it; NULL */
	double context;   /* tokens of the longest request that the model was made for; NAN: not known */
	const char *weights, *kv; /* formats; NULL: as it is published, keys and values as recipes keep them */
	int engine;
	int n_gpus;   /* that share a copy; 0: as requests are answered soonest, or the fewest that meet the targets */
	int n_copies; /* 0: as many as the system holds */
	int least_busy; /* 1: a request goes to the copy with the fewest; else every copy has its share of them, in no order */
	int n_stages, n_ep; /* that hold different layers; that share the experts whole; 0: 1 */
	bool dp_attention;  /* attention of different requests on different GPUs of a copy */
	int prompt_gpus,
		prompt_copies; /* machines of their own for the prompts: GPUs of each, and how many; 0: none, 1 */
	/* of a copy's host and of its drives, for keys and values of requests that are thrown back and of sessions between their turns;
	 * NAN: none */
	double host_B, disk_B;
	enum jl_load_kind kind;
	double concurrency; /* closed loop; sessions */
	int turns; /* > 1: of a session, an agent's or a talk's; each asks all that was said, turn_tokens more, wait_s later */
	double turn_tokens, wait_s;
	double rate_hz; /* open loop */
	double users;   /* people: a closed loop with pauses */
	double n_job;   /* requests that are all there at the start */
	double think_s;
	double burst;
	const struct jl_arrival *trace;
	size_t n_trace;
	double prompt, answer, spread_ln, cached_frac;
	double answer_most; /* answers end at any token with the same chance, and there at the latest; 0: lengths lie about `answer` */
	int n_draft;
	double accept_frac;
	const char *
		draft; /* what drafts: "eagle", "mtp" (a layer of the model's own) or the name of draft_model; NULL: at no cost */
	const struct jl_model_info *draft_model;
	int n_adapters; /* that lie on the GPUs and are served together (LoRA); 0: none */
	int adapter_rank;
	int max_seqs, batched_tokens;  /* of the engine; 0: its defaults */
	double kv_tokens;              /* room of a copy; NAN: what the memory leaves */
	double ttft_max_s, tpot_max_s; /* targets, of nine requests in ten; NAN: none */
	bool find_rate;                /* no load was said: the largest rate that meets the targets */
	const struct jl_day_load
		*day; /* the rate over a day, whose copies start in start_s (NAN: estimated); NULL: none */
	double start_s;
	const struct jl_served_seen *seen; /* of this model on this system, cut as it is asked for; NULL: nothing */
	double usd_per_kWh, pue;
	unsigned assumed; /* 1 << enum jl_infer_assumed: what nobody gave */
	uint64_t seed;
};

/* One percentile of the four times. */
struct jl_infer_times {
	struct jl_estimate mean, p50, p90, p99;
};

struct jl_infer_row { /* of a sweep or a comparison of formats */
	const char *weights;
	double rate_hz;
	bool fits, knee, keeps_up;
	double weights_B;
	int n_gpus;
	struct jl_estimate ttft_p90_s, tpot_p90_s, output_tps, usd_per_Mtoken_out;
	double busy_frac;
};

/* What was observed, predicted before, and after the physics were corrected by it. */
struct jl_infer_seen {
	double ttft_s, tpot_s, ttft_before_s, tpot_before_s, ttft_after_s, tpot_after_s;
	double pass_factor; /* a pass takes so many times what was thought; 0: nothing was observed */
	double first_s;     /* and a request's front end this long */
};

/* Sessions of several turns: what becomes of their keys and values between these. */
struct jl_infer_sessions {
	int turns; /* 0: requests are by themselves */
	double turn_tokens, wait_s, longest;
	double held; /* so many at once meet the targets; NAN: not asked for */
	double found_frac[JL_N_KV_TIER],
		computed_frac;         /* of the tokens that an earlier turn had: by where they lay, computed again */
	struct jl_infer_times later_s; /* TTFT of all turns but the first */
	/* the same without memory of the host, or, where none is given, with so much of it; other_host_B NAN: not known */
	double other_host_B, other_held, other_computed_frac;
	struct jl_estimate other_p90_s;
};

struct jl_infer {
	const char *model, *system, *engine, *weights, *kv;
	bool published; /* the weights: nobody asked for another format */
	bool embeds;    /* an answer is a vector or a score, of the prompt's pass */
	enum jl_load_kind kind;
	double concurrency, rate_hz, users, think_s, prompt, answer;
	double longest, context; /* tokens of the longest request; of the longest that the model was made for, or NAN */
	double usd_per_kWh, pue;
	unsigned assumed;
	int n_gpus, n_copies, n_gpus_system; /* n_gpus share each layer of a copy */
	int n_stages, n_ep, prompt_gpus, prompt_copies, n_gpus_used;
	bool dp_attention;
	double prompt_busy_frac; /* of the prompts' machines; NAN: there are none */
	bool published_pair;     /* a source measured this engine on this device; true where no engine is asked for */
	const char *draft;
	double draft_B, draft_frac; /* weights of what drafts on each device; its share of an answer's pass */
	int n_adapters, adapter_rank;
	double adapters_B, adapters_frac; /* all of them on each device; their share of an answer's pass */
	bool fits, checked;               /* where it does not fit, nothing is timed */
	bool narrow_fits;                 /* but in 4 bits it would */
	double weights_B, capacity_B, kv_token_B, kv_tokens; /* on each device; of a copy */
	double context_max;                                  /* tokens of the longest request that fits */
	struct jl_infer_times ttft_s, tpot_s, itl_s, e2e_s;
	double n_job;
	struct jl_estimate job_s; /* until its last answer */
	struct jl_estimate requests_per_s, output_tps, input_tps, user_tps;
	double kv_mean_frac, kv_max_frac, busy_frac, batch_mean, batch_max;
	long long n_requests, n_refused, n_preempted;
	bool keeps_up;     /* what arrives is answered as fast as it comes */
	const char *bound; /* English, a message: what most of an answer token's time is */
	double bound_frac;
	struct jl_serve_step step;
	double power_W, energy_J_token; /* the GPUs and hosts in use; for an answer token */
	struct jl_rent rent;
	struct jl_estimate usd_per_Mtoken_out, usd_per_Mtoken_in; /* by rent */
	double power_usd_per_Mtoken;                              /* electricity, answer tokens */
	double ttft_max_s, tpot_max_s;
	bool has_target, meets;
	double rate_max_hz;  /* that meets the targets; NAN: not asked for */
	double rate_held_hz; /* the largest that is answered as fast as it comes; NAN: what arrives is */
	double users_held;   /* so many people it answers as fast as they ask, within the targets; NAN: all of them */
	char flags[3][520];  /* of the engine, ready to paste; the first is the one that was asked for */
	int n_flags;
	double flags_rate_hz;                    /* they are for: a sweep's knee; 0: the load that was asked for */
	char started[96];                        /* names of the engines that `flags` start */
	bool processor;                          /* there is no GPU */
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
/* The same load at several rates; the formats that the device can compute in, one after another. */
enum jl_status jl_infer_sweep(struct jl_infer *infer, const struct jl_catalog *cat, const struct jl_machine *machine,
			      const struct jl_infer_ask *ask, const double *rates_hz, size_t n, struct jl_err *err);
enum jl_status jl_infer_compare_weights(struct jl_infer *infer, const struct jl_catalog *cat,
					const struct jl_machine *machine, const struct jl_infer_ask *ask,
					struct jl_err *err);
/* Where more arrives than is answered, or more people ask than are served well: how much would be, how many. */
enum jl_status jl_infer_held(struct jl_infer *infer, const struct jl_catalog *cat, const struct jl_machine *machine,
			     const struct jl_infer_ask *ask, struct jl_err *err);
/* Copies over a day, where the answer is the largest rate that the system holds within targets. */
enum jl_status jl_infer_day(struct jl_infer *infer, const struct jl_catalog *cat, const struct jl_machine *machine,
			    const struct jl_infer_ask *ask, struct jl_err *err);
/* flags.c: the lines that start the engine; of all known ones that run on the device where none was asked for. gpu NULL: a CPU. */
void jl_infer_flags(struct jl_infer *answer, const struct jl_infer_ask *ask, const struct jl_serve_job *job,
		    const struct jl_gpu *gpu);
