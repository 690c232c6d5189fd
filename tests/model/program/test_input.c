/* Input pipelines: threads, storage, intervals. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "program/input.h"

static void test_threads_and_storage(void **state)
{
	struct jl_input in = jl_input_of(jl_catalog_embedded(), JL_INPUT_IMAGES, 224.0 * 224.0, 0);
	struct jl_input_time t;

	(void)state;
	/* 5 ms per image: 10 threads prepare 2,000 per second */
	in.n_threads = 10;
	t = jl_input_time(&in, 2000);
	assert_true(fabs(t.threads_s - 1) < 0.01 && t.storage_s == 0 && t.input_s == t.threads_s);
	in.storage_Bps = 108e6; /* 1,000 images per second */
	t = jl_input_time(&in, 2000);
	assert_true(fabs(t.storage_s - 2) < 0.01 && t.input_s == t.storage_s);
	assert_true(t.half_ln < in.half_ln); /* a stated rate has a narrower interval than an estimate */
	in.n_threads = 20;
	assert_true(jl_input_time(&in, 2000).threads_s < t.threads_s);
}

static void test_kinds(void **state)
{
	const struct jl_input none = jl_input_of(jl_catalog_embedded(), JL_INPUT_SYNTHETIC, 0, 0),
			      tokens = jl_input_of(jl_catalog_embedded(), JL_INPUT_TOKENS, 0, 4096);
	const struct jl_input cpu = jl_input_of(jl_catalog_embedded(), JL_INPUT_IMAGES, 0, 0),
			      gpu = jl_input_of(jl_catalog_embedded(), JL_INPUT_IMAGES_GPU, 0, 0);
	const struct jl_input large = jl_input_of(jl_catalog_embedded(), JL_INPUT_IMAGES, 300.0 * 300.0, 0);

	(void)state;
	assert_true(jl_input_time(&none, 1e9).input_s == 0);
	assert_true(tokens.sample_B == 8192 && tokens.sample_s < cpu.sample_s / 10);
	assert_true(gpu.sample_s < cpu.sample_s / 3 && gpu.sample_B == cpu.sample_B);
	assert_true(large.sample_s > cpu.sample_s && large.sample_B > cpu.sample_B);
	for (int kind = 0; kind < JL_N_INPUT; kind++)
		assert_non_null(jl_input_name((enum jl_input_kind)kind));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_threads_and_storage), cmocka_unit_test(test_kinds) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
