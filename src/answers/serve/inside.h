/* Shared by sim.c and worker.c: requests, a machine's queues and blocks, cached pass times. */
#pragma once

#include "serve/sim.h"

#define NO_ID          (-1)
#define BLOCK_PHASES   128 /* ticks that a block lasts, at most */
#define MEMO_BITS      14
#define HISTOGRAM_BINS 1024

/* A running request. Every decoding sequence gets a token at each tick of its machine, so that it is identified by its end tick, and its
 * blocks by its start tick. */
struct seq {
	double arrival_s, first_s, last_s;
	int prompt, answer, cached;
	int made;     /* answer tokens before it joined the decoding ones */
	int computed; /* tokens of its prompt, and of its answer when it was preempted */
	int target;
	int session, known; /* its first turn; target tokens that the session may hold */
	int blocks;         /* when it joined */
	int phase;          /* fill of its last block, in ticks */
	int heap_at;        /* index in the heap of decoding sequences */
	int next, prev;     /* neighbours in the queue; among decoding sequences, in admission order */
	int64_t tick0, end_tick;
	bool thrown;
	bool fetched; /* read from drives, once */
	bool kept;    /* preempted, with keys and values in host memory */
};

struct memo_entry {
	uint64_t key; /* 0: none */
	double pass_s;
};

struct memo {
	struct memo_entry entries[1 << MEMO_BITS];
};

/* Blocks of a session between turns, and its neighbours in least-recently-used order. */
struct held {
	int worker; /* worker of its turns */
	int64_t blocks[JL_N_KV_TIER], fetched;
	int next[JL_N_KV_TIER], prev[JL_N_KV_TIER];
};

struct tier {
	int64_t room, used, most;
	int oldest, newest;
};

struct worker {
	const struct jl_workers *kind;
	struct memo *memo; /* pass times of its kind */
	bool prompts_only;
	double now_s;   /* start of its next pass */
	double quiet_s; /* no request of it ends before */
	int64_t tick;
	/* waiting: first in, first out; preempted requests at the front */
	int head, tail, n_waiting;
	int partial; /* request with a partial prompt */
	/* decoding */
	int *heap; /* by end_tick */
	int n_run, newest;
	double inverse;              /* sum of 1 / (answer - 1): effect of a pass on the mean time per token */
	double context;              /* sum of contexts */
	double end_ticks;            /* sum, for the remaining work */
	int64_t opens[BLOCK_PHASES]; /* new blocks by tick modulo the ticks of a block */
	int64_t free_blocks, n_blocks;
	double answer_s;                 /* last pass without prompts */
	double ahead_s;                  /* time by which the host can launch the next pass early */
	double stall_s;                  /* stall of answers by prompts since the last tick */
	double host_tokens;              /* kept by its host */
	struct tier tiers[JL_N_KV_TIER]; /* sessions between turns */
	double disk_free_s;
	/* results */
	double busy_s, kv_s, batch_s, tick_s, batch_max;
	int64_t n_passes, used_max;
};

struct sim {
	const struct jl_sim_setup *setup;
	const struct jl_policy *policy;
	const struct jl_load *load;
	struct seq *seqs;
	struct worker *workers; /* prompt machines after the others */
	int n_workers;
	struct held *held; /* by a session's first request; NULL: no sessions */
	double gain;       /* tokens per tick */
	int block_ticks;
	int64_t n_preempted, prompt_tokens, answer_tokens, again, found[JL_N_KV_TIER], missed;
	double itl_tokens[HISTOGRAM_BINS];
	struct jl_passes *profile;                              /* may be NULL */
	void (*ended)(struct sim *sim, int id, double at_s);    /* called at a request's last token */
	void (*prompted)(struct sim *sim, int id, double at_s); /* called when a prompt machine is done with it */
	void (*fetching)(struct sim *sim, int id, double until_s);
};

void jl_worker_queue(struct sim *sim, struct worker *w, int id, bool front);
/* One pass, or as many without prompts as end before `until_s` or at the end of a request. */
void jl_worker_step(struct sim *sim, struct worker *w, double until_s);
bool jl_worker_has_work(const struct worker *w);
/* Blocks of a request at its full length; it is refused if they never fit. */
int64_t jl_blocks_most(const struct sim *sim, const struct jl_arrival *a);

/* Frees blocks by evicting idle sessions; false: not enough. */
bool jl_tiers_make_room(struct sim *sim, struct worker *w, int64_t n);
/* Releases the blocks of an ended or preempted request with this many tokens: to its session, else free. */
void jl_tiers_keep(struct sim *sim, struct worker *w, const struct seq *s, int64_t n_blocks, double tokens);
/* Takes over blocks from the session at admission; the rest of them are freed. */
void jl_tiers_take(struct sim *sim, struct worker *w, struct seq *s);
/* Reads blocks on drives into host memory before admission; others continue meanwhile. True: in progress. */
bool jl_tiers_fetch(struct sim *sim, struct worker *w, int id);

double jl_audit_pass_s(struct memo *memo, const struct jl_workers *kind, const struct jl_policy *policy,
		       const struct jl_pass *pass);
/* End of the bucket of a mean context. */
double jl_context_bucket(double context, double *ret_middle);
void jl_passes_add(struct jl_passes *profile, const struct jl_pass_share *share);
void jl_itl_add(struct sim *sim, double itl_s, double n_tokens);
double jl_itl_quantile(const struct sim *sim, double q);
double jl_itl_mean(const struct sim *sim);
