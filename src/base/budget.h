/* Limits of one command or request: steps of work, time, memory, and cancellation. Every loop whose length depends on input calls jl_budget_spend.
 * An exhausted budget stays exhausted: loops end early with partial results, functions that can fail return jl_budget_fail, and the caller (ask,
 * cli) reports that error instead of the answer. Knows no command.
 *
 * The budget is thread-local; worker threads enter the budget of the thread they work for (jl_pool does this). A thread without a budget has no
 * limits. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "base/err.h"

enum jl_budget_end { JL_BUDGET_OPEN, JL_BUDGET_STEPS, JL_BUDGET_TIME, JL_BUDGET_BYTES, JL_BUDGET_CANCELLED };

struct jl_budget {
	unsigned long long steps_max; /* one step: about a microsecond of work; 0: no limit */
	unsigned long long bytes_max; /* memory limit for parsed input; 0: no limit */
	double begin_s, until_s;      /* begin and deadline, clock of base/clock.h; until_s INFINITY: no limit */
	bool (*cancelled)(void *ctx); /* polled about once per millisecond, from any thread; NULL: never cancelled */
	void *ctx;
	/* enclosing budget: every charge counts towards it too, and its end is this budget's end; NULL: none */
	struct jl_budget *outer;
	atomic_ullong spent, held_B, most_B; /* most_B: peak of held_B */
	atomic_int end;                      /* enum jl_budget_end */
};

/* limit_s: seconds; 0: no time limit. */
void jl_budget_init(struct jl_budget *budget, unsigned long long steps_max, double limit_s);
/* Sets the budget of this thread (NULL: none). Returns the previous one, for the caller to restore. */
struct jl_budget *jl_budget_enter(struct jl_budget *budget);
struct jl_budget *jl_budget_current(void);
void jl_budget_cancel(struct jl_budget *budget); /* async-signal-safe */

/* Charges n_steps to `budget`, which need not be the thread's own. True: it is exhausted. NULL is never exhausted. */
bool jl_budget_charge(struct jl_budget *budget, unsigned n_steps);
/* Reads the clock and calls `cancelled`; returns why the budget ended, or JL_BUDGET_OPEN. */
enum jl_budget_end jl_budget_look(struct jl_budget *budget);
bool jl_budget_over(void); /* jl_budget_look of this thread's budget */
/* Reserves memory; true: the memory limit is exceeded and the budget has ended. jl_budget_let_go releases it. */
bool jl_budget_hold(size_t size_B);
void jl_budget_let_go(size_t size_B);
/* Returns JL_E_LIMIT with a one-line message that names the exhausted limit. */
enum jl_status jl_budget_fail(struct jl_err *err);

/* Steps that this thread has taken from its budget in advance, so that most calls need no atomic operation. */
struct jl_purse {
	struct jl_budget *budget;
	unsigned left;
};
extern _Thread_local struct jl_purse jl_purse;
bool jl_budget_refill(unsigned n_steps);

/* True: the budget is exhausted, end the loop. */
static inline bool jl_budget_spend(unsigned n_steps)
{
	if (n_steps > jl_purse.left)
		return jl_budget_refill(n_steps);
	jl_purse.left -= n_steps;
	return false;
}
