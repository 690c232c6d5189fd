/* A budget ends by steps, time or cancellation, stays ended, and applies to the threads of a pool. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/budget.h"
#include "base/clock.h"
#include "base/pool.h"

static unsigned long long spend_all(void)
{
	unsigned long long n = 0;

	while (n < 100000000 && !jl_budget_spend(1))
		n++;
	return n;
}

static void ends_by_steps(void **state)
{
	struct jl_budget budget;
	struct jl_err err;

	(void)state;
	jl_budget_init(&budget, 5000000, 0);
	assert_null(jl_budget_enter(&budget));
	const unsigned long long n = spend_all();

	assert_true(n > 4990000 && n < 5010000);
	assert_true(jl_budget_spend(1) && jl_budget_over());
	assert_int_equal(jl_budget_fail(&err), JL_E_LIMIT);
	assert_string_equal(err.en, "stopped after 5 million steps, the work limit of one question: ask for less");
	assert_ptr_equal(jl_budget_enter(NULL), &budget);
	assert_false(jl_budget_over()); /* a thread without a budget has no limit */
	assert_int_equal(spend_all(), 100000000);
}

static void ends_by_time(void **state)
{
	struct jl_budget budget;
	struct jl_err err;

	(void)state;
	const double begin_s = jl_clock_s();

	jl_budget_init(&budget, 0, 0.05);
	(void)jl_budget_enter(&budget);
	while (!jl_budget_spend(1))
		;
	assert_true(jl_clock_s() - begin_s >= 0.05);
	assert_int_equal(jl_budget_look(&budget), JL_BUDGET_TIME);
	(void)jl_budget_fail(&err);
	assert_non_null(strstr(err.en, "time limit"));
	(void)jl_budget_enter(NULL);
}

static bool said_so(void *ctx)
{
	return ++*(int *)ctx > 3;
}

static void ends_by_cancellation(void **state)
{
	struct jl_budget budget, inner;
	int n_asked = 0;

	(void)state;
	jl_budget_init(&budget, 0, 0);
	budget.cancelled = said_so;
	budget.ctx = &n_asked;
	(void)jl_budget_enter(&budget);
	assert_true(spend_all() < 10000);
	assert_int_equal(jl_budget_look(&budget), JL_BUDGET_CANCELLED);
	/* an inner budget ends with the outer one, but not vice versa */
	jl_budget_init(&inner, 0, 0);
	inner.outer = &budget;
	assert_int_equal(jl_budget_look(&inner), JL_BUDGET_CANCELLED);
	jl_budget_init(&budget, 0, 0);
	jl_budget_init(&inner, 0, 0);
	inner.outer = &budget;
	jl_budget_cancel(&inner);
	assert_true(jl_budget_charge(&inner, 7));
	assert_int_equal(jl_budget_look(&budget), JL_BUDGET_OPEN);
	assert_int_equal(budget.spent, 7);
	(void)jl_budget_enter(NULL);
}

static void spend_in_thread(void *ctx, size_t index, int thread)
{
	(void)index;
	(void)thread;
	atomic_fetch_add((atomic_int *)ctx, jl_budget_current() != NULL && spend_all() < 100000000);
}

static void reaches_a_pool(void **state)
{
	struct jl_budget budget;
	struct jl_pool *pool;
	atomic_int n_ended = 0;

	(void)state;
	assert_int_equal(jl_pool_create(4, &pool, NULL), JL_OK);
	jl_budget_init(&budget, 1000000, 0);
	(void)jl_budget_enter(&budget);
	jl_pool_each(pool, spend_in_thread, &n_ended);
	(void)jl_budget_enter(NULL);
	jl_pool_destroy(pool);
	assert_int_equal(n_ended, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_by_steps),
		cmocka_unit_test(ends_by_time),
		cmocka_unit_test(ends_by_cancellation),
		cmocka_unit_test(reaches_a_pool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
