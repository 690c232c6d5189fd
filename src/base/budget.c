/* Work, time and memory limits of a command or request. Knows no command. */
#include "base/budget.h"

#include <limits.h>
#include <math.h>

#include "base/clock.h"

#define PURSE_STEPS 1000u /* steps taken from the budget per refill: about 1 ms of work */

_Thread_local struct jl_purse jl_purse;

void jl_budget_init(struct jl_budget *budget, unsigned long long steps_max, double limit_s)
{
	*budget = (struct jl_budget){ .steps_max = steps_max, .begin_s = jl_clock_s(), .until_s = INFINITY };
	if (limit_s > 0)
		budget->until_s = budget->begin_s + limit_s;
}

struct jl_budget *jl_budget_enter(struct jl_budget *budget)
{
	struct jl_budget *before = jl_purse.budget;

	jl_purse = (struct jl_purse){ .budget = budget };
	return before;
}

struct jl_budget *jl_budget_current(void)
{
	return jl_purse.budget;
}

/* Only the first reason is kept. */
static void end(struct jl_budget *budget, enum jl_budget_end why)
{
	int open = JL_BUDGET_OPEN;

	(void)atomic_compare_exchange_strong(&budget->end, &open, (int)why);
}

void jl_budget_cancel(struct jl_budget *budget)
{
	end(budget, JL_BUDGET_CANCELLED);
}

enum jl_budget_end jl_budget_look(struct jl_budget *budget)
{
	if (atomic_load(&budget->end) == JL_BUDGET_OPEN) {
		if (budget->steps_max && atomic_load(&budget->spent) > budget->steps_max)
			end(budget, JL_BUDGET_STEPS);
		else if (isfinite(budget->until_s) && jl_clock_s() > budget->until_s)
			end(budget, JL_BUDGET_TIME);
		else if (budget->cancelled && budget->cancelled(budget->ctx))
			end(budget, JL_BUDGET_CANCELLED);
		else if (budget->outer && jl_budget_look(budget->outer))
			end(budget, jl_budget_look(budget->outer));
	}
	return (enum jl_budget_end)atomic_load(&budget->end);
}

bool jl_budget_charge(struct jl_budget *budget, unsigned n_steps)
{
	for (struct jl_budget *b = budget; b; b = b->outer)
		atomic_fetch_add(&b->spent, n_steps);
	return budget && jl_budget_look(budget);
}

bool jl_budget_over(void)
{
	return jl_purse.budget && jl_budget_look(jl_purse.budget);
}

bool jl_budget_refill(unsigned n_steps)
{
	if (!jl_purse.budget) {
		jl_purse.left = UINT_MAX;
		return false;
	}
	jl_purse.left = jl_budget_charge(jl_purse.budget, n_steps - jl_purse.left + PURSE_STEPS) ? 0 : PURSE_STEPS;
	return jl_purse.left == 0;
}

bool jl_budget_hold(size_t size_B)
{
	for (struct jl_budget *b = jl_purse.budget; b; b = b->outer) {
		const unsigned long long held = atomic_fetch_add(&b->held_B, size_B) + size_B;

		if (held > atomic_load(&b->most_B))
			atomic_store(&b->most_B, held);
		if (b->bytes_max && held > b->bytes_max)
			end(b, JL_BUDGET_BYTES);
	}
	return jl_budget_over();
}

void jl_budget_let_go(size_t size_B)
{
	for (struct jl_budget *b = jl_purse.budget; b; b = b->outer)
		for (unsigned long long held = atomic_load(&b->held_B);
		     !atomic_compare_exchange_weak(&b->held_B, &held, held > size_B ? held - size_B : 0);)
			; /* clamp at 0: the memory may have been allocated before this budget began */
}

enum jl_status jl_budget_fail(struct jl_err *err)
{
	const struct jl_budget *b = jl_purse.budget;

	switch (b ? (enum jl_budget_end)atomic_load(&b->end) : JL_BUDGET_CANCELLED) {
	case JL_BUDGET_TIME:
		return jl_fail(err, JL_E_LIMIT,
			       "stopped after %.0f s, the time limit of one question: ask for less, or run it with "
			       "'jeoul' on the command line",
			       b->until_s - b->begin_s);
	case JL_BUDGET_STEPS:
		return jl_fail(err, JL_E_LIMIT,
			       "stopped after %llu million steps, the work limit of one question: ask for less",
			       b->steps_max / 1000000);
	case JL_BUDGET_BYTES:
		return jl_fail(err, JL_E_LIMIT, "stopped at %llu MB, the memory limit of one question: ask for less",
			       b->bytes_max / 1000000);
	case JL_BUDGET_OPEN:
	case JL_BUDGET_CANCELLED: break;
	}
	return jl_fail(err, JL_E_LIMIT, "cancelled");
}
