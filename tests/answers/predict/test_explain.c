#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "predict/answer.h"

static struct jl_arena arena;

static void near(double got, double wanted, double tolerance)
{
	if (!(fabs(got - wanted) <= tolerance)) {
		print_error("%.9g, wanted %.9g\n", got, wanted);
		fail();
	}
}

static void make(struct jl_case *c, const char *model, const char *system, double batch)
{
	struct jl_request req = jl_request_empty();
	struct jl_err err = { 0 };

	req.model = model;
	req.system = system;
	req.batch = batch;
	if (jl_case_make(c, jl_catalog_embedded(), &req, &arena, &err)) {
		print_error("%s on %s: %s\n", model, system, err.en);
		fail();
	}
}

static void test_the_worked_example(void **state)
{
	const struct jl_cycles k = jl_explain_cycles(32);

	(void)state;
	near(k.without_cycles, 200 + 8 * 20 + 8 * 4, 0);
	near(k.without_cycles, 392, 0);
	near(k.with_cycles, 200 + 20 + 1, 0);
	near(k.with_cycles, 221, 0);
}

static void test_larger_products_take_longer_and_gain_more(void **state)
{
	double gain = 0;

	(void)state;
	for (double n = 32; n <= 4096; n *= 2) {
		const struct jl_cycles k = jl_explain_cycles(n), twice = jl_explain_cycles(2 * n);

		assert_true(k.with_cycles < k.without_cycles);
		assert_true(twice.with_cycles > k.with_cycles && twice.without_cycles > k.without_cycles);
		assert_true(k.without_cycles / k.with_cycles >= gain);
		gain = k.without_cycles / k.with_cycles;
	}
}

static void test_bandwidth_of_a100_over_v100(void **state)
{
	struct jl_case a100, v100;
	struct jl_explain e;
	double sum = 0, base_sum = 0;

	(void)state;
	make(&a100, "bert-large", "a100-sxm4-40gb", 16);
	make(&v100, "bert-large", "v100-dgxs-32gb", 16);
	jl_explain(&e, &a100, &v100);
	near(e.bandwidth_ratio, 1555.0 / 900, 0.02);
	assert_true(e.model_ratio > 1);
	near(e.model_ratio, e.model_device_ratio, 1e-12);
	for (int i = 0; i < JL_N_EX; i++) {
		sum += e.part_s[i];
		base_sum += e.base_part_s[i];
	}
	near(base_sum / sum, e.model_ratio, 1e-6 * e.model_ratio);
	jl_explain(&e, &v100, &v100);
	near(e.model_ratio, 1, 1e-12);
	near(e.bandwidth_ratio, 1, 1e-12);
}

static void test_systems_of_different_size(void **state)
{
	struct jl_case four, one;
	struct jl_explain e;

	(void)state;
	make(&four, "gpt2-124m", "4x a100-sxm4-80gb", 8);
	make(&one, "gpt2-124m", "v100-dgxs-32gb", 8);
	jl_explain(&e, &four, &one);
	near(e.device_ratio, 4, 0);
	near(e.model_ratio, 4 * e.model_device_ratio, 1e-9);
	assert_true(e.part_s[JL_EX_LINKS] > 0 && e.base_part_s[JL_EX_LINKS] == 0);
}

static void test_products_by_the_full_model(void **state)
{
	struct jl_case a100;
	struct jl_product_time small, large;

	(void)state;
	make(&a100, "bert-large", "a100-sxm4-40gb", 16);
	small = jl_explain_product(&a100.machine.dev, 32);
	large = jl_explain_product(&a100.machine.dev, 4096);
	assert_true(small.tensor_s > 0 && small.tensor_s < large.tensor_s);
	assert_true(large.vector_s / large.tensor_s > small.vector_s / small.tensor_s);
	assert_true(small.tensor_cycles > jl_explain_cycles(32).with_cycles); /* a kernel's own cost */
}

static int set_up(void **state)
{
	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	jl_arena_release(&arena);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_worked_example),
		cmocka_unit_test(test_larger_products_take_longer_and_gain_more),
		cmocka_unit_test(test_bandwidth_of_a100_over_v100),
		cmocka_unit_test(test_systems_of_different_size),
		cmocka_unit_test(test_products_by_the_full_model),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
