/* Which machine for a purpose: every accelerator of the catalog in every number on offer, the work predicted on it, its cost, and the Pareto
 * front of cost and time. Must not print.
 *
 * jl_recommend_run(&result, &ask, &arena, &err): candidates sorted by cost, flags for limits and the front, the pick. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "predict/observed.h"
#include "predict/predict.h"

/* What the machine is for (catalog/purposes.yaml). */
enum jl_task { JL_TASK_TRAIN, JL_TASK_LORA, JL_TASK_SERVE, JL_N_TASK };

/* Unset numbers are NAN. */
struct jl_purpose {
	const char *id, *en;
	const char *caveat; /* NULL: none */
	enum jl_task task;
	const char *model;
	double seq, global_batch, samples, tokens, epochs; /* of one training run */
	double runs, months;                               /* runs a month, for so many months */
	double wait_s;                                     /* longer is too slow: a run; serve: one token of one user */
	double concurrency, context, tokens_per_s;         /* serve */
};

struct jl_purposes {
	const struct jl_purpose *items;
	size_t n;
};

enum jl_status jl_purposes_parse(struct jl_purposes *ret_list, const char *text, size_t len, const char *name,
				 struct jl_arena *arena, struct jl_err *err);

/* Those built in. */
enum jl_status jl_purposes_embedded(struct jl_purposes *ret_list, struct jl_arena *arena, struct jl_err *err);

/* By id; the error names the nearest id and all ids. */
enum jl_status jl_purpose_find(const struct jl_purpose **ret_purpose, const struct jl_purposes *list, const char *name,
			       struct jl_err *err);

const char *jl_task_key(enum jl_task task);

enum jl_how { JL_HOW_NEW, JL_HOW_USED, JL_HOW_RENT, JL_HOW_SPOT, JL_N_HOW };
const char *jl_how_key(enum jl_how how); /* "buy-new", "buy-used", "rent", "spot" */
const char *jl_how_name(enum jl_how how);

#define JL_RECOMMEND_ONLY_MAX 64
#define JL_RECOMMEND_OLD_DAYS 90     /* older prices get a warning */
#define JL_READ_TOKEN_S       0.1    /* serve: default time per token, reading speed */
#define JL_RECOMMEND_HOURS    730.0  /* of a month */
#define JL_RECOMMEND_MAX      200000 /* candidates */

struct jl_recommend_ask {
	const struct jl_catalog *cat;
	long today;
	enum jl_task task;
	struct jl_request run;            /* the job; its system is ignored */
	const struct jl_observed *seen;   /* an observed run instead of a model; NULL: none */
	const struct jl_machine *seen_on; /* where */
	double seen_epochs;
	double runs_per_month, months;
	double users, think_s; /* serve: users and their time between requests; NAN: see concurrency */
	double concurrency, context, tokens_per_s; /* serve: requests at once, tokens that each keeps */
	double prompt, answer;                     /* tokens of the prompt and of the answer */
	double wait_s;                             /* bearable time; NAN: unknown. A deadline replaces it. */

	double deadline_s, budget_usd, power_W; /* limits; NAN: none */
	const char *region;                     /* for rents; NULL: everywhere */
	double util_frac;   /* utilisation of a bought machine: the work pays its share; NAN: the work pays all of it */
	double setup_s;     /* a rented machine's before each run: boot, image, packages, data, compilation */
	long rent_days_max; /* maximum age of a rent; also of a shop price if above the default */
	bool host_owned;    /* the host for bought cards exists */
	double usd_per_kWh, pue;
	const char *tariff; /* that usd_per_kWh comes from; NULL: none */
	unsigned hows;      /* 1 << enum jl_how; 0: all */
	int gpus_max;       /* 0: no limit */
	int per_node;       /* GPUs per machine; 0: any */
	const struct jl_gpu *only[JL_RECOMMEND_ONLY_MAX];
	size_t n_only;                /* 0: every accelerator */
	const struct jl_gpu *why_not; /* --why-not: evaluated whatever its price; NULL: none */
	int n_threads;                /* 0: as many as there are processors */
};
struct jl_recommend_ask jl_recommend_ask_empty(void);

/* Derives tokens per request and concurrency from users, where given. */
void jl_serve_load(struct jl_recommend_ask *ask);

/* Fills unset members from the purpose. */
void jl_recommend_purpose(struct jl_recommend_ask *ask, const struct jl_purpose *purpose);

/* Defaults of what is still unset: a model is trained once, within the deadline or a year; an observed run four times a month. */
void jl_recommend_defaults(struct jl_recommend_ask *ask);

/* Reason to reject a setup or candidate; the first that applies. */
enum jl_against {
	JL_AGAINST_NOTHING,
	JL_AGAINST_UNKNOWN, /* missing facts, or an impossible machine */
	JL_AGAINST_MEMORY,
	JL_AGAINST_BATCH,    /* the batch does not divide; serve: more machines than users */
	JL_AGAINST_PRICE,    /* rents: older than rent_days_max */
	JL_AGAINST_OFFER,    /* a marketplace offer is one machine */
	JL_AGAINST_SUPPORT,  /* poor software support (catalog/support.yaml) */
	JL_AGAINST_GROUP,    /* unrealistic configuration */
	JL_AGAINST_SPARE,    /* fewer machines are enough */
	JL_AGAINST_MEASURED, /* no measurements of it or its family */
	JL_AGAINST_USE,      /* too slow for all the work */
	JL_AGAINST_WAIT,     /* a run exceeds the deadline or bearable time */
	JL_AGAINST_BUDGET,
	JL_AGAINST_POWER,
	JL_AGAINST_INTERVAL, /* breaks a limit in the worst case, or is too uncertain */
	JL_AGAINST_DEAR,     /* many times the cheapest acceptable cost */
	JL_N_AGAINST
};
const char *jl_against_key(enum jl_against against);
const char *jl_against_en(enum jl_against against);
const char *jl_against_name(enum jl_against against);

/* Hardware, with the work predicted on it. */
struct jl_setup {
	struct jl_sys sys;
	const char *text;            /* as --on takes it */
	const struct jl_setup *like; /* serve: an earlier setup with the same accelerators and links; NULL: none */
	enum jl_against against;
	struct jl_estimate run_s;     /* of one run; serve: of one token of one user */
	double stretch;               /* failures, checkpoints, restarts: elapsed time / run_s; 1: not counted */
	struct jl_estimate per_s;     /* samples, tokens or (serve) output tokens a second */
	double power_W, peak_W;       /* average while it works; what it may draw, hosts included */
	double memory_B, memory_frac; /* of the fullest device */
	double context;               /* serving: tokens of the longest request of the model; NAN: not known */
	double states_B;              /* that a checkpoint of all of it saves; 0: hardly any */
	double memory_hi_frac;        /* the same at the large end of its interval; NAN: not known */
	double bold_times,
		bold_hi_frac; /* the time as predict would run it / run_s, and how full memory may get then */
	bool device_fitted;
	const struct jl_rule *support;            /* what is known of its software; NULL: unknown */
	bool tensor_cores, gpu_seen, family_seen; /* seen: measured at such work, somewhere */
	/* how it was made to fit */
	double tp, pp, vpp, dp;
	int zero;
	enum jl_recompute recompute;
	unsigned offload;
	double micro_batch, n_micro;
	double global_batch;         /* of a step as it is run: may be up to a tenth above the one that was asked for */
	enum jl_dtype dtype;         /* of the products; not for observed runs and serving */
	enum jl_framework framework; /* likewise */
	double seq;                  /* tokens of a sample; 0: it has none */
	double weight_bits;          /* serve */
	double n_requests;           /* serve: at once; of people, at its own pace. 0: not even one has room */
	const char *
		published; /* serve: format that the model is published in, where it is taken; NULL: 16 bit, or made narrower */
};

struct jl_candidate {
	const struct jl_setup *setup;
	enum jl_how how;
	const struct jl_price *price; /* NULL: the list price of the accelerator or system */
	const char *price_date;       /* NULL: not known */
	long price_day;
	struct jl_estimate wall_s; /* run_s with failures and, where it is rented for each run, the set-up before it */
	double unit_usd;           /* one machine: to buy, or an hour of it */
	double host_usd;           /* of unit_usd: what an assumed host around bought cards costs */
	struct jl_estimate cost_usd; /* of all the work */
	struct jl_estimate run_cost_usd;
	double work_h;     /* hours it works for all of it, all machines at once */
	double energy_kWh; /* of all the work, PUE included; NAN: not known */
	enum jl_against against;
	double score; /* trade-off of cost and time, the lower the better; NAN: not priced */
	bool on_front;
};

struct jl_recommendation {
	struct jl_candidate *items; /* those that nothing stands against first, by cost; then the others */
	size_t n, n_ok;
	size_t n_against[JL_N_AGAINST];
	size_t n_setups, n_offers;
	int pick;              /* -1: none */
	int best[JL_N_HOW];    /* the pick among each way to have it; -1: none */
	int fastest, cheapest; /* among the candidates without objection */
	int runner_up;         /* the next best of another accelerator; -1: none */
	double hosts_most; /* a pick has no more machines: what is had on demand, unless more are asked for or needed */
#define JL_REJECTED_MAX 6
	int rejected
		[JL_REJECTED_MAX]; /* would rank before the pick, but something stands against them: one of each accelerator */
	size_t n_rejected;
	int nearest;   /* where nothing will do: the one that misses least, by what stands against it; -1: none */
	double runs;   /* in all */
	double wait_s; /* longest acceptable run; NAN: unknown */
	double elapsed_s;
};

/* Everything lives in `arena`. */
enum jl_status jl_recommend_run(struct jl_recommendation *ret_result, const struct jl_recommend_ask *ask,
				struct jl_arena *arena, struct jl_err *err);

/* Why a shown candidate has its place, and why another is not taken. */
enum jl_place { JL_PLACE_PICK, JL_PLACE_RUNNER_UP, JL_PLACE_CHEAPEST, JL_PLACE_FASTEST, JL_N_PLACE };
struct jl_reason_text {
	char en[JL_NOTE_TEXT_MAX], text[JL_NOTE_TEXT_MAX];
};
void jl_recommend_why(struct jl_reason_text *ret_said, const struct jl_recommendation *result, enum jl_place place);
void jl_recommend_against(struct jl_reason_text *ret_said, const struct jl_recommendation *result,
			  const struct jl_candidate *candidate, const struct jl_recommend_ask *ask);

/* The best candidate of a system expression (catalog/sysexpr.h); -1: no offer. */
int jl_recommend_find(const struct jl_recommendation *result, const struct jl_sys *sys);

/* Caveats of a candidate, most important first. */
#define JL_CAVEATS_MAX 8
struct jl_caveat {
	const char *key;
	char en[JL_NOTE_TEXT_MAX], text[JL_NOTE_TEXT_MAX];
};
size_t jl_recommend_caveats(struct jl_caveat ret_caveats[JL_CAVEATS_MAX], const struct jl_candidate *candidate,
			    const struct jl_recommend_ask *ask);
