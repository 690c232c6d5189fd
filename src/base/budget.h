/* What one command or request may spend: steps of work, time, and whether its answer is still wanted. Every loop that input can lengthen calls
 * jl_budget_spend. Once spent, a budget stays spent: loops end early with what they hold, functions that can fail return jl_budget_fail,
 * and the front door (ask, cli) gives that error in place of the answer. Knows no command.
 *
 * The budget belongs to the thread; threads that work for it enter it, too (jl_pool does so). A thread without one spends nothing. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "base/err.h"

enum jl_budget_end { JL_BUDGET_OPEN, JL_BUDGET_STEPS, JL_BUDGET_TIME, JL_BUDGET_BYTES, JL_BUDGET_CANCELLED };

struct jl_budget {
	unsigned long long steps_max; /* a step is about a microsecond of work; 0: no limit */
	unsigned long long bytes_max; /* that what is read may take in memory; 0: no limit */
	double begin_s, until_s;      /* base/clock.h; INFINITY: no limit */
	bool (*cancelled)(void *ctx); /* asked every millisecond or so, by any thread; NULL: never */
	void *ctx;
	struct jl_budget *outer;             /* ends with it, and spends from both; NULL: none */
	atomic_ullong spent, held_B, most_B; /* most_B: the most that was held at once */
	atomic_int end;                      /* enum jl_budget_end */
};

/* limit_s 0: no limit. */
void jl_budget_init(struct jl_budget *budget, unsigned long long steps_max, double limit_s);
/* For this thread; NULL: none. Returns the one before, to be put back. */
struct jl_budget *jl_budget_enter(struct jl_budget *budget);
struct jl_budget *jl_budget_current(void);
void jl_budget_cancel(struct jl_budget *budget); /* also from a signal handler */

/* Spends of this one, whatever the thread's own is; true: it is over. NULL never is. */
bool jl_budget_charge(struct jl_budget *budget, unsigned n_steps);
/* Has it ended? Looks at clock and `cancelled` itself. */
enum jl_budget_end jl_budget_look(struct jl_budget *budget);
bool jl_budget_over(void); /* the same of this thread's */
/* Takes memory in advance, and gives it back; true: that is more than there may be, and the budget is over. */
bool jl_budget_hold(size_t size_B);
void jl_budget_let_go(size_t size_B);
/* JL_E_LIMIT: what ended, in one line. */
enum jl_status jl_budget_fail(struct jl_err *err);

/* Steps that this thread has taken from its budget in advance. */
struct jl_purse {
	struct jl_budget *budget;
	unsigned left;
};
extern _Thread_local struct jl_purse jl_purse;
bool jl_budget_refill(unsigned n_steps);

/* True: the budget is over, end the loop. */
static inline bool jl_budget_spend(unsigned n_steps)
{
	if (n_steps > jl_purse.left)
		return jl_budget_refill(n_steps);
	jl_purse.left -= n_steps;
	return false;
}
