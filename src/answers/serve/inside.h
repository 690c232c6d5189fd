/* What sim.c and worker.c share: requests, a machine's queues and blocks, the memory of pass times. */
#pragma once

#include "serve/sim.h"

#define NOBODY         (-1)
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
	int blocks;     /* when it joined */
	int phase;      /* ticks that its last block was filled */
	int heap_at;    /* among those that answer */
	int next, prev; /* in the queue; among those that answer, in the order in which they were let in */
	int64_t tick0, end_tick;
	bool thrown;
	bool kept; /* thrown back, and its keys and values lie in the host's memory */
};

struct memo_entry {
	uint64_t key; /* 0: nothing */
	double pass_s;
};

struct memo {
	struct memo_entry entries[1 << MEMO_BITS];
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
	double answer_s;    /* its last pass without prompts */
	double stall_s;     /* answers waited for prompts since the last tick */
	double host_tokens; /* kept by its host */
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
	double gain; /* tokens of a tick */
	int block_ticks;
	int64_t n_preempted, prompt_tokens, answer_tokens;
	double itl_tokens[HISTOGRAM_BINS];
	struct jl_passes *profile;                              /* may be NULL */
	void (*ended)(struct sim *sim, int id, double at_s);    /* a request has its last token */
	void (*prompted)(struct sim *sim, int id, double at_s); /* a prompts' machine is done with it */
};

void jl_worker_queue(struct sim *sim, struct worker *w, int id, bool front);
/* One pass, or as many without prompts as end before `until_s` or with the end of a request. */
void jl_worker_step(struct sim *sim, struct worker *w, double until_s);
bool jl_worker_has_work(const struct worker *w);
/* Blocks that a request holds at its longest, and without which it is refused. */
int64_t jl_blocks_most(const struct sim *sim, const struct jl_arrival *a);

double jl_memo_pass_s(struct memo *memo, const struct jl_workers *kind, const struct jl_policy *policy,
		      const struct jl_pass *pass);
/* Where the bucket of a mean context ends. */
double jl_context_bucket(double context, double *ret_middle);
void jl_passes_add(struct jl_passes *profile, const struct jl_pass_share *share);
void jl_itl_add(struct sim *sim, double itl_s, double n_tokens);
double jl_itl_quantile(const struct sim *sim, double q);
double jl_itl_mean(const struct sim *sim);
