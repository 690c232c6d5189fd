#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "predict/compare.h"

static struct jl_arena arena;
static struct jl_compare compare;

static void near(double got, double wanted, double tolerance)
{
	if (!(fabs(got - wanted) <= tolerance)) {
		print_error("%.9g, wanted %.9g\n", got, wanted);
		fail();
	}
}

static void take(const char *const *systems, size_t n)
{
	compare = (struct jl_compare){ .epochs = NAN, .repeat = NAN, .tune = NAN, .pue = NAN, .n_rows = n };
	for (size_t i = 0; i < n; i++) {
		struct jl_sys sys;
		struct jl_err err = { 0 };

		if (jl_sys_parse(&sys, jl_catalog_embedded(), systems[i], &arena, &err) ||
		    jl_machine_make(&compare.rows[i].machine, jl_catalog_embedded(), &sys, &err)) {
			print_error("%s: %s\n", systems[i], err.en);
			fail();
		}
	}
}

static struct jl_observed dgx_station_run(void)
{
	struct jl_observed run = jl_observed_empty();

	run.step_s = 1.06;
	run.batch = 128;
	run.batches = 19252;
	run.kind = JL_MIX_CNN;
	return run;
}

static const char *const seed_systems[] = { "4x v100-dgxs-32gb via nvlink2-mesh",
					    "rtx-4090",
					    "rtx-3080-10gb",
					    "rtx-3060",
					    "cpu:i9-13900k",
					    "2x a100-sxm4-80gb",
					    "4x a100-sxm4-40gb",
					    "h200-sxm",
					    "2x h200-sxm" };
#define N_SEED (sizeof(seed_systems) / sizeof(*seed_systems))

static void ordered(const struct jl_estimate *e)
{
	assert_true(e->lo > 0 && e->lo <= e->value && e->value <= e->hi && isfinite(e->hi));
}

static void test_the_baseline_row(void **state)
{
	const struct jl_observed run = dgx_station_run();
	const struct jl_compare_at *base = &compare.rows[0].at[JL_AT_SAME_BATCH];
	struct jl_err err = { 0 };

	(void)state;
	take(seed_systems, N_SEED);
	compare.repeat = 10;
	compare.tune = 50;
	assert_int_equal(jl_compare_observed(&compare, &run, &err), JL_OK);
	near(base->epoch_s.value, 19252 * 1.06, 1e-6);
	near(base->epoch_s.value / 3600, 5.67, 0.005);
	near(base->run_s.value / 86400, 2.36, 0.005);
	near(base->repeat_s.value / 86400, 23.6, 0.05);
	near(base->tune_s.value / 86400, 118.1, 0.1);
	near(base->speedup.value, 1, 1e-12);
	assert_true(compare.rows[0].observed && base->epoch_s.lo == base->epoch_s.hi);
}

static void test_rows_are_whole(void **state)
{
	const struct jl_observed run = dgx_station_run();
	struct jl_err err = { 0 };

	(void)state;
	take(seed_systems, N_SEED);
	assert_int_equal(jl_compare_observed(&compare, &run, &err), JL_OK);
	for (size_t i = 0; i < N_SEED; i++)
		for (int a = 0; a < JL_N_AT; a++) {
			const struct jl_compare_at *at = &compare.rows[i].at[a];

			assert_true(at->possible && at->fits);
			ordered(&at->step_s);
			ordered(&at->epoch_s);
			ordered(&at->run_s);
			ordered(&at->speedup);
			ordered(&at->energy_J);
			if (i)
				assert_true(at->step_s.lo < at->step_s.value && at->step_s.value < at->step_s.hi);
			/* batches times batch is the data set, whatever the batch */
			assert_true(at->batches * at->batch >= 19252.0 * 128 &&
				    (at->batches - 1) * at->batch < 19252.0 * 128);
			near(at->epoch_s.value, at->batches * at->step_s.value, 1e-9 * at->epoch_s.value);
			near(at->run_s.value, 10 * at->epoch_s.value, 1e-9 * at->run_s.value);
			assert_true(at->micro_batch <= compare.rows[i].limit);
		}
}

static void test_speeds_keep_their_order(void **state)
{
	/* each is faster than the one before, whatever the mix */
	static const char *const order[] = { "4x v100-dgxs-32gb via nvlink2-mesh",
					     "cpu:i9-13900k",
					     "rtx-3060",
					     "rtx-4090",
					     "a100-sxm4-80gb",
					     "h200-sxm",
					     "8x h200-sxm" };
	const size_t n = sizeof(order) / sizeof(*order);
	struct jl_err err = { 0 };

	(void)state;
	for (int kind = 0; kind < JL_N_MIX; kind++) {
		struct jl_observed run = dgx_station_run();

		run.kind = (enum jl_mix_kind)kind;
		run.dtype = JL_FP16;
		take(order, n);
		assert_int_equal(jl_compare_observed(&compare, &run, &err), JL_OK);
		for (size_t i = 2; i < n; i++)
			assert_true(compare.rows[i].at[JL_AT_SAME_BATCH].speedup.value >
				    compare.rows[i - 1].at[JL_AT_SAME_BATCH].speedup.value);
		assert_null(compare.rows[1].machine.sys.gpu);
		assert_true(compare.rows[1].at[JL_AT_SAME_BATCH].speedup.hi < 0.5);
	}
}

static void test_measured_watts_and_pue(void **state)
{
	struct jl_observed run = dgx_station_run();
	struct jl_err err = { 0 };

	(void)state;
	run.watts_W = 3000;
	take(seed_systems, 2);
	compare.pue = 1.5;
	assert_int_equal(jl_compare_observed(&compare, &run, &err), JL_OK);
	near(compare.rows[0].at[JL_AT_SAME_BATCH].energy_J.value, 1.5 * 3000 * 10 * 19252 * 1.06, 1);
	near(compare.rows[0].at[JL_AT_SAME_BATCH].energy_J.value / 3.6e6 / 1.5, 170, 0.2);
}

static void test_without_an_epoch(void **state)
{
	struct jl_observed run = dgx_station_run();
	struct jl_err err = { 0 };

	(void)state;
	run.batches = NAN;
	take(seed_systems, N_SEED);
	assert_int_equal(jl_compare_observed(&compare, &run, &err), JL_OK);
	for (size_t i = 0; i < N_SEED; i++) {
		assert_true(isnan(compare.rows[i].at[0].epoch_s.value) && isnan(compare.rows[i].at[0].run_s.value));
		ordered(&compare.rows[i].at[0].step_s);
		ordered(&compare.rows[i].at[0].energy_J); /* of a step */
	}
}

static void test_a_model(void **state)
{
	static const char *const systems[] = { "v100-dgxs-32gb", "v100-dgxs-32gb", "4x a100-sxm4-80gb", "3x h100-sxm5",
					       "h200-sxm" };
	struct jl_request req = jl_request_empty();
	struct jl_subject subject;
	struct jl_err err = { 0 };

	(void)state;
	take(systems, 5);
	req.model = "gpt2-124m";
	req.batch = 8;
	req.seq = 1024;
	req.samples = 100000;
	assert_int_equal(jl_subject_find(&subject, jl_catalog_embedded(), &req, &arena, &err), JL_OK);
	assert_int_equal(jl_compare_model(&compare, jl_catalog_embedded(), &subject, &req, &err), JL_OK);
	near(compare.rows[0].at[JL_AT_SAME_BATCH].batches, 12500, 0);
	near(compare.rows[1].at[JL_AT_SAME_BATCH].speedup.value, 1, 1e-9);
	near(compare.rows[2].at[JL_AT_SAME_BATCH].batch, 8, 0);
	assert_true(compare.rows[2].at[JL_AT_LARGEST_BATCH].batch > 8);
	assert_true(compare.rows[4].at[JL_AT_SAME_BATCH].speedup.value > 1);
	assert_false(compare.rows[3].at[JL_AT_SAME_BATCH].possible); /* 8 samples over 3 devices */
	assert_non_null(strstr(compare.rows[3].at[JL_AT_SAME_BATCH].why.en, "8"));
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
		cmocka_unit_test(test_the_baseline_row),        cmocka_unit_test(test_rows_are_whole),
		cmocka_unit_test(test_speeds_keep_their_order), cmocka_unit_test(test_measured_watts_and_pue),
		cmocka_unit_test(test_without_an_epoch),        cmocka_unit_test(test_a_model),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
