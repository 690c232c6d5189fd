/* A global batch is cut into the largest passes that fit and divide it, and large primes cost no more than others. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "catalog/load.h"
#include "predict/predict.h"

static struct jl_case case_of(double global_batch, struct jl_arena *arena)
{
	struct jl_request req = jl_request_empty();
	struct jl_case c;
	struct jl_err err;

	req.model = "gpt2-124m";
	req.system = "rtx-4090";
	req.global_batch = global_batch;
	if (jl_case_make(&c, jl_catalog_embedded(), &req, arena, &err) != JL_OK)
		fail_msg("%s", err.en);
	return c;
}

static void test_as_all_divisors_tried(void **state)
{
	struct jl_arena arena;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	for (int n = 1; n <= 600; n++) {
		const struct jl_case c = case_of(n, &arena);
		int micro = (int)fmin(jl_case_max_micro_batch(&c), n);

		while (micro > 1 && n % micro != 0)
			micro--;
		assert_int_equal(c.shard.micro_batch, micro);
		assert_int_equal(c.plan.n_micro, n / micro);
	}
	jl_arena_release(&arena);
}

static void test_large_primes(void **state)
{
	static const double batches[] = { 999999937, 1e9, 999999937.0 - 1, 2.0 * 499999993 };
	struct jl_arena arena;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	const double begin_s = jl_clock_thread_s();

	for (size_t i = 0; i < sizeof(batches) / sizeof(*batches); i++) {
		const struct jl_case c = case_of(batches[i], &arena);

		assert_true(fmod(batches[i], c.shard.micro_batch) == 0);
		assert_true(c.shard.micro_batch * c.plan.n_micro == batches[i]);
	}
	assert_true(jl_clock_thread_s() - begin_s < 1); /* the first alone took 24 s */
	jl_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_as_all_divisors_tried),
					    cmocka_unit_test(test_large_primes) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
