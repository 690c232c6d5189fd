/* Thread pool: every task runs once, on a thread with its own scratch index. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/pool.h"

#define N 10000

struct counts {
	atomic_int done[N];
	atomic_int n_bad;
	int n_threads;
};

static void count(void *ctx, size_t index, int thread)
{
	struct counts *c = ctx;
	atomic_fetch_add(&c->done[index], 1);
	if (thread < 0 || thread >= c->n_threads)
		atomic_fetch_add(&c->n_bad, 1);
}

static void each_task_once(void **state)
{
	static const int sizes[] = { 1, 2, 3, 7 };
	static const size_t n_tasks[] = { 0, 1, 2, 5, N };
	static struct counts c;
	struct jl_err err;
	(void)state;
	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
		struct jl_pool *pool;
		assert_int_equal(jl_pool_create(sizes[s], &pool, &err), JL_OK);
		c.n_threads = jl_pool_n_threads(pool);
		assert_int_equal(c.n_threads, sizes[s]);
		for (int round = 0; round < 20; round++)
			for (size_t t = 0; t < sizeof n_tasks / sizeof *n_tasks; t++) {
				for (size_t i = 0; i < N; i++)
					atomic_store(&c.done[i], 0);
				jl_pool_run(pool, count, &c, n_tasks[t]);
				for (size_t i = 0; i < N; i++)
					assert_int_equal(atomic_load(&c.done[i]), i < n_tasks[t]);
			}
		jl_pool_destroy(pool);
	}
	assert_int_equal(atomic_load(&c.n_bad), 0);
}

static void cpus(void **state)
{
	(void)state;
	assert_true(jl_pool_n_cpus() >= 1);
	assert_int_equal(jl_pool_cpus_each(1), jl_pool_n_cpus());
	assert_int_equal(jl_pool_cpus_each(1 << 20), 1);
	jl_pool_destroy(NULL);
}

static void no_memory(void **state)
{
	struct jl_pool *pool;
	struct jl_err err;
	(void)state;
	for (size_t nth = 1; nth <= 2; nth++) {
		(void)jl_mem_fail_from(nth);
		assert_int_equal(jl_pool_create(2, &pool, &err), JL_E_NOMEM);
	}
	(void)jl_mem_fail_from(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each_task_once), cmocka_unit_test(cpus),
					    cmocka_unit_test(no_memory) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
