/* Recommends machines for a purpose: predicts the work on every accelerator of the catalog in every quantity on offer, computes the cost, and
 * finds the Pareto front of cost and time. Must not print.
 *
 * jl_recommend_run(&result, &ask, &arena, &err) returns candidates sorted by cost, with rejections, the front and the pick. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "predict/observed.h"
#include "predict/predict.h"

/* Kind of work (catalog/purposes.yaml). */
enum jl_task { JL_TASK_TRAIN, JL_TASK_LORA, JL_TASK_SERVE, JL_N_TASK };

/* Unset numbers are NAN. */
struct jl_purpose {
	const char *id, *en;
	const char *caveat; /* NULL: none */
	enum jl_task task;
	const char *model;
	double seq, global_batch, samples, tokens, epochs; /* per training run */
	double runs, months;                               /* runs per month, number of months */
	double wait_s;                                     /* acceptable time: of a run; serve: per token and user */
	double concurrency, context, tokens_per_s;         /* serve */
};

struct jl_purposes {
	const struct jl_purpose *items;
	size_t n;
};

enum jl_status jl_purposes_parse(struct jl_purposes *ret_list, const char *text, size_t len, const char *name,
				 struct jl_arena *arena, struct jl_err *err);

/* The built-in purposes. */
enum jl_status jl_purposes_embedded(struct jl_purposes *ret_list, struct jl_arena *arena, struct jl_err *err);

/* Finds a purpose by id; the error lists the nearest id and all ids. */
enum jl_status jl_purpose_find(const struct jl_purpose **ret_purpose, const struct jl_purposes *list, const char *name,
			       struct jl_err *err);

const char *jl_task_key(enum jl_task task);

enum jl_how { JL_HOW_NEW, JL_HOW_USED, JL_HOW_RENT, JL_HOW_SPOT, JL_N_HOW };
const char *jl_how_key(enum jl_how how); /* "buy-new", "buy-used", "rent", "spot" */
const char *jl_how_name(enum jl_how how);

#define JL_RECOMMEND_ONLY_MAX 64
#define JL_RECOMMEND_OLD_DAYS 90     /* older prices get a warning */
#define JL_READ_TOKEN_S       0.1    /* serve: default time per token, reading speed */
#define JL_RECOMMEND_HOURS    730.0  /* hours per month */
#define JL_RECOMMEND_MAX      200000 /* candidates */

struct jl_recommend_ask {
	const struct jl_catalog *cat;
	long today;
	enum jl_task task;
	struct jl_request run;            /* the job; its system is ignored */
	const struct jl_observed *seen;   /* observed run instead of a model; NULL: none */
	const struct jl_machine *seen_on; /* machine of the observed run */
	double seen_epochs;
	double runs_per_month, months;
	double users, think_s; /* serve: users and their time between requests; NAN: see concurrency */
	double concurrency, context, tokens_per_s; /* serve: concurrent requests; tokens in the KV cache per request */
	double prompt, answer;                     /* serve: tokens per request */
	double wait_s;                             /* acceptable time, s; NAN: unknown. A deadline replaces it. */

	double deadline_s, budget_usd, power_W; /* limits; NAN: none */
	const char *region;                     /* for rents; NULL: all */
	/* bought machines: utilisation, the work pays its share; NAN: the work pays the whole machine */
	double util_frac;
	double setup_s; /* rented machines: set-up time before each run (boot, image, packages, data, compilation) */
	long rent_days_max; /* maximum age of rental prices, days; also of shop prices if larger than their default */
	bool host_owned;    /* bought cards need no new host */
	double usd_per_kWh, pue;
	const char *tariff; /* tariff behind usd_per_kWh; NULL: none */
	unsigned hows;      /* 1 << enum jl_how; 0: all */
	int gpus_max;       /* 0: no limit */
	int per_node;       /* GPUs per machine; 0: any */
	const struct jl_gpu *only[JL_RECOMMEND_ONLY_MAX];
	size_t n_only;                /* 0: every accelerator */
	const struct jl_gpu *why_not; /* --why-not: evaluated regardless of its price; NULL: none */
	int n_threads;                /* 0: number of processors */
};
struct jl_recommend_ask jl_recommend_ask_empty(void);

/* Derives tokens per request and concurrency from the number of users, if given. */
void jl_serve_load(struct jl_recommend_ask *ask);

/* Fills unset members from the purpose. */
void jl_recommend_purpose(struct jl_recommend_ask *ask, const struct jl_purpose *purpose);

/* Defaults of unset members: a model is trained once, within the deadline or a year; an observed run four times a month. */
void jl_recommend_defaults(struct jl_recommend_ask *ask);

/* Reason to reject a setup or candidate; the first that applies. */
enum jl_against {
	JL_AGAINST_NOTHING,
	JL_AGAINST_UNKNOWN, /* missing facts, or an impossible machine */
	JL_AGAINST_MEMORY,
	JL_AGAINST_BATCH,    /* the batch does not divide; serve: more machines than users */
	JL_AGAINST_STEPS,    /* several hosts would cut the run into too few steps, at the default batch */
	JL_AGAINST_PRICE,    /* rents: older than rent_days_max */
	JL_AGAINST_OFFER,    /* not offered in this form, e.g. several hosts from a marketplace */
	JL_AGAINST_SUPPORT,  /* poor software support (catalog/support.yaml) */
	JL_AGAINST_GROUP,    /* unrealistic configuration */
	JL_AGAINST_SPARE,    /* fewer machines suffice */
	JL_AGAINST_MEASURED, /* no measurements of it or its family */
	JL_AGAINST_USE,      /* too slow for the total work */
	JL_AGAINST_WAIT,     /* a run exceeds the deadline or bearable time */
	JL_AGAINST_BUDGET,
	JL_AGAINST_POWER,
	JL_AGAINST_INTERVAL, /* violates a limit in the worst case, or too uncertain */
	JL_AGAINST_DEAR,     /* many times the cheapest acceptable cost */
	JL_N_AGAINST
};
const char *jl_against_key(enum jl_against against);
const char *jl_against_en(enum jl_against against);
const char *jl_against_name(enum jl_against against);

/* Hardware, with the work predicted on it. */
struct jl_setup {
	struct jl_sys sys;
	const char *text;            /* as accepted by --on */
	const struct jl_setup *like; /* serve: earlier setup with the same accelerators and links; NULL: none */
	enum jl_against against;
	struct jl_estimate run_s;     /* one run; serve: one token of one user */
	struct jl_estimate elapsed_s; /* run_s with failures, checkpoints, restarts; NAN: not modelled */
	struct jl_estimate per_s;     /* samples, tokens or (serve) output tokens per second */
	double power_W, peak_W;       /* average under load; maximum with hosts */
	double memory_B, memory_frac; /* of the device with the least free memory */
	double context;               /* serve: longest supported request, tokens; NAN: unknown */
	double states_B;              /* bytes of a full checkpoint; 0: negligible */
	double memory_hi_frac;        /* memory_frac at the upper end of its interval; NAN: unknown */
	double bold_times,
		bold_hi_frac; /* time of predict's own plan / run_s; memory_frac of that plan at the upper end */
	bool device_fitted;
	const struct jl_rule *support;            /* software support (catalog/support.yaml); NULL: unknown */
	bool tensor_cores, gpu_seen, family_seen; /* seen: measured in this kind of work */
	/* plan */
	double tp, pp, vpp, dp;
	int zero;
	enum jl_recompute recompute;
	unsigned offload;
	double micro_batch, n_micro;
	double global_batch;         /* batch per step as run: up to 10 % above the requested one */
	enum jl_dtype dtype;         /* of matrix products; unset for observed runs and serving */
	enum jl_framework framework; /* unset for observed runs and serving */
	double seq;                  /* tokens per sample; 0: none */
	double weight_bits;          /* serve */
	double n_requests;           /* serve: concurrent requests, of people at reading pace. 0: not one fits */
	const char *published;       /* serve: published weight format; NULL: 16 bit or quantized further */
};

struct jl_candidate {
	const struct jl_setup *setup;
	enum jl_how how;
	const struct jl_price *price; /* NULL: the list price of the accelerator or system */
	const char *price_date;       /* NULL: not known */
	long price_day;
	struct jl_estimate wall_s;   /* run_s with failures and, if rented per run, the preceding set-up */
	double unit_usd;             /* one machine: purchase price, or price per hour */
	double host_usd;             /* part of unit_usd that is an assumed host */
	struct jl_estimate cost_usd; /* total work */
	struct jl_estimate run_cost_usd;
	double work_h;     /* hours of work in total, with all machines in parallel */
	double energy_kWh; /* total work, with PUE; NAN: unknown */
	enum jl_against against;
	double score; /* rank by cost and time, lower is better; NAN: not priced */
	bool on_front;
};

struct jl_recommendation {
	struct jl_candidate *items; /* accepted candidates by cost, then rejected ones */
	size_t n, n_ok;
	size_t n_against[JL_N_AGAINST];
	size_t n_setups, n_offers;
	int pick;              /* -1: none */
	int best[JL_N_HOW];    /* best pick per way of payment; -1: none */
	int fastest, cheapest; /* among accepted candidates */
	int runner_up;         /* best candidate with another accelerator; -1: none */
	/* maximum number of machines of a pick: those available on demand, unless more are requested or needed */
	double hosts_most;
#define JL_REJECTED_MAX 6
	int rejected[JL_REJECTED_MAX]; /* rejected although they would rank before the pick; one per accelerator */
	size_t n_rejected;
	int nearest;   /* if none is accepted: the candidate nearest to acceptance; -1: none */
	double runs;   /* total number of runs */
	double wait_s; /* longest acceptable run; NAN: unknown */
	double elapsed_s;
};

/* Everything lives in `arena`. */
enum jl_status jl_recommend_run(struct jl_recommendation *ret_result, const struct jl_recommend_ask *ask,
				struct jl_arena *arena, struct jl_err *err);

/* Reason for a shown candidate's place, and for another one's rejection. */
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
