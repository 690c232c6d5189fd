/* Serving from catalog records: does it fit, how fast. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "catalog/find.h"
#include "serving/serve.h"

#define assert_near(a, b, within) assert_true(fabs((a) - (b)) <= (within))

static struct jl_arena arena;

static int set_up(void **state)
{
	(void)state;
	jl_arena_init(&arena, 1 << 20);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	jl_arena_release(&arena);
	return 0;
}

static struct jl_machine machine_of(const char *text)
{
	struct jl_machine machine;
	struct jl_sys sys;
	struct jl_err err;

	assert_int_equal(jl_sys_parse(&sys, jl_catalog_embedded(), text, &arena, &err), JL_OK);
	assert_int_equal(jl_machine_make(&machine, jl_catalog_embedded(), &sys, &err), JL_OK);
	return machine;
}

static struct jl_serve_answer serve(const char *system, const char *model, const char *weights, int n_gpus, double n)
{
	const struct jl_machine machine = machine_of(system);
	const struct jl_serve_ask ask = { .model = jl_model_by_id(jl_catalog_embedded(), model),
					  .weights = weights,
					  .engine = JL_ENGINE_VLLM,
					  .n_gpus = n_gpus,
					  .n_requests = n,
					  .prompt = 1024,
					  .output = 512 };
	struct jl_serve_answer a;
	struct jl_err err;

	assert_non_null(ask.model);
	assert_int_equal(jl_serve_predict(&a, jl_catalog_embedded(), &machine, &ask, &err), JL_OK);
	return a;
}

static void test_a_model_that_is_too_large_says_so(void **state)
{
	const struct jl_serve_answer a = serve("rtx-4090", "llama-3-70b", "bf16", 1, 1);

	(void)state;
	assert_false(a.fits);
	assert_true(a.weights_B > a.capacity_B);
	assert_true(serve("8x h100-sxm5", "llama-3-70b", "bf16", 8, 1).fits);
}

static void test_the_fewest_devices_that_hold_it(void **state)
{
	(void)state;
	assert_int_equal(serve("8x h100-sxm5", "llama-3-8b", "bf16", 0, 4).n_gpus, 1);
	assert_int_equal(serve("8x h100-sxm5", "llama-3-70b", "bf16", 0, 100).n_gpus, 4);
	assert_int_equal(serve("8x h100-sxm5", "llama-3-70b", "fp8", 0, 100).n_gpus, 2);
}

static void test_figures_hang_together(void **state)
{
	const struct jl_serve_answer one = serve("8x h100-sxm5", "llama-3-70b", "fp8", 8, 1),
				     many = serve("8x h100-sxm5", "llama-3-70b", "fp8", 8, 64);

	(void)state;
	assert_true(one.checked && one.half_ln > 0);
	assert_true(many.total_tps.value > 8 * one.total_tps.value);
	assert_true(many.request_tps.value < one.request_tps.value);
	assert_true(one.ttft_s.lo < one.ttft_s.value && one.ttft_s.value < one.ttft_s.hi);
	assert_near(one.request_tps.value * one.tpot_s.value, 1, 1e-9);
	/* no device reads its weights faster than its memory gives them */
	assert_true(one.tpot_s.value > one.weights_B / 3.36e12);
}

static void test_impossible_questions(void **state)
{
	const struct jl_machine machine = machine_of("rtx-4090");
	struct jl_serve_ask ask = { .model = jl_model_by_id(jl_catalog_embedded(), "llama-3-8b"),
				    .n_requests = 0,
				    .prompt = 10,
				    .output = 10 };
	struct jl_serve_answer a;
	struct jl_err err;

	(void)state;
	assert_int_equal(jl_serve_predict(&a, jl_catalog_embedded(), &machine, &ask, &err), JL_E_RANGE);
	ask.n_requests = 1;
	ask.n_gpus = 2;
	assert_int_equal(jl_serve_predict(&a, jl_catalog_embedded(), &machine, &ask, &err), JL_E_RANGE);
	ask.n_gpus = 1;
	ask.weights = "int3";
	assert_int_equal(jl_serve_predict(&a, jl_catalog_embedded(), &machine, &ask, &err), JL_E_DATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_model_that_is_too_large_says_so),
		cmocka_unit_test(test_the_fewest_devices_that_hold_it),
		cmocka_unit_test(test_figures_hang_together),
		cmocka_unit_test(test_impossible_questions),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
