/* What sim.c and worker.c share: requests, a machine's queues and blocks, the memory of pass times. */
#pragma once

#include "serve/sim.h"

#define NO_ID          (-1)
#define BLOCK_PHASES   128 /* ticks that a block lasts, at most */
#define MEMO_BITS      14
#define HISTOGRAM_BINS 1024

/* A request under way. All sequences that answer get a token at each tick of their machine, so that a sequence is known
 * by the tick at which it ends, and its blocks by the tick at which it began. */
struct seq {
	double arrival_s, first_s, last_s;
	int prompt, answer, cached;
	int made;     /* answer tokens before it joined those that answer */
	int computed; /* of its prompt, and of what it had answered when it was thrown back */
	int target;
	int session, known; /* its first turn; tokens of the target that may be found among what the session holds */
	int blocks;         /* when it joined */
	int phase;          /* ticks that its last block was filled */
	int heap_at;        /* among those that answer */
	int next, prev;     /* in the queue; among those that answer, in the order in which they were let in */
	int64_t tick0, end_tick;
	bool thrown;
	bool fetched; /* from drives, once */
	bool kept;    /* thrown back, and its keys and values lie in the host's memory */
};

struct memo_entry {
	uint64_t key; /* 0: nothing */
	double pass_s;
};

struct memo {
	struct memo_entry entries[1 << MEMO_BITS];
};

/* Blocks of a session between its turns, and its neighbours among those that hold any, by when they were used. */
struct held {
	int worker; /* that its turns go to */
	int64_t blocks[JL_N_KV_TIER], fetched;
	int next[JL_N_KV_TIER], prev[JL_N_KV_TIER];
};

struct tier {
	int64_t room, used, most;
	int oldest, newest;
};

struct worker {
	const struct jl_workers *kind;
	struct memo *memo; /* of its kind */
	bool prompts_only;
	double now_s;   /* its next pass begins */
	double quiet_s; /* no request of it ends before this */
	int64_t tick;
	/* waiting: first in, first out; those thrown back go to the front */
	int head, tail, n_waiting;
	int partial; /* whose prompt is in the middle */
	/* those that answer */
	int *heap; /* by end_tick */
	int n_run, newest;
	double inverse;              /* sum of 1 / (answer - 1) of them: what a pass adds to the mean time of a token */
	double context;              /* of all of them */
	double end_ticks;            /* sum, for what is still to come */
	int64_t opens[BLOCK_PHASES]; /* by tick modulo a block's ticks: how many open a new block */
	int64_t free_blocks, n_blocks;
	double answer_s;                 /* its last pass without prompts */
	double ahead_s;                  /* by which the host may have launched the next pass before it begins */
	double stall_s;                  /* answers waited for prompts since the last tick */
	double host_tokens;              /* kept by its host */
	struct tier tiers[JL_N_KV_TIER]; /* of sessions between their turns */
	double disk_free_s;
	/* what came of it */
	double busy_s, kv_s, batch_s, tick_s, batch_max;
	int64_t n_passes, used_max;
};

struct sim {
	const struct jl_sim_setup *setup;
	const struct jl_policy *policy;
	const struct jl_load *load;
	struct seq *seqs;
	struct worker *workers; /* prompts' machines behind the others */
	int n_workers;
	struct held *held; /* by a session's first request; NULL: every request is by itself */
	double gain;       /* tokens of a tick */
	int block_ticks;
	int64_t n_preempted, prompt_tokens, answer_tokens, again, found[JL_N_KV_TIER], missed;
	double itl_tokens[HISTOGRAM_BINS];
	struct jl_passes *profile;                              /* may be NULL */
	void (*ended)(struct sim *sim, int id, double at_s);    /* a request has its last token */
	void (*prompted)(struct sim *sim, int id, double at_s); /* a prompts' machine is done with it */
	void (*fetching)(struct sim *sim, int id, double until_s);
};

void jl_worker_queue(struct sim *sim, struct worker *w, int id, bool front);
/* One pass, or as many without prompts as end before `until_s` or with the end of a request. */
void jl_worker_step(struct sim *sim, struct worker *w, double until_s);
bool jl_worker_has_work(const struct worker *w);
/* Blocks that a request holds at its longest, and without which it is refused. */
int64_t jl_blocks_most(const struct sim *sim, const struct jl_arrival *a);

/* Free blocks, sessions that rest pushed out of their way; false: there are not so many. */
bool jl_tiers_make_room(struct sim *sim, struct worker *w, int64_t n);
/* Blocks of a request that has ended or is thrown back, with so many tokens: its session's, else free. */
void jl_tiers_keep(struct sim *sim, struct worker *w, const struct seq *s, int64_t n_blocks, double tokens);
/* What its session holds of a request that is let in: computed already. The rest of it is let go. */
void jl_tiers_take(struct sim *sim, struct worker *w, struct seq *s);
/* What lies on drives is read into the host's memory before it is let in, others go on meanwhile. True: it is under way. */
bool jl_tiers_fetch(struct sim *sim, struct worker *w, int id);

double jl_audit_pass_s(struct memo *memo, const struct jl_workers *kind, const struct jl_policy *policy,
		       const struct jl_pass *pass);
/* Where the bucket of a mean context ends. */
double jl_context_bucket(double context, double *ret_middle);
void jl_passes_add(struct jl_passes *profile, const struct jl_pass_share *share);
void jl_itl_add(struct sim *sim, double itl_s, double n_tokens);
double jl_itl_quantile(const struct sim *sim, double q);
double jl_itl_mean(const struct sim *sim);
