/* Power: limits, idle power, published measurements. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "power/power.h"
#include "parameters/power_params.h"

static const struct jl_priors four_nm = { .flop_gain = 1, .byte_gain = 1 };
static const struct jl_device h100 = { .tdp_W = 700, .priors = &four_nm, .mem_Bps = 3.35e12 };
static const struct jl_device b200 = { .tdp_W = 1000, .priors = &four_nm, .mem_Bps = 7.7e12 };

static double watts(const struct jl_device *dev, double moved_Bps, double flopps)
{
	const struct jl_power_fit fit = jl_power_shipped(jl_catalog_embedded());

	return jl_power_W(dev, &fit, &(struct jl_power_in){ .moved_Bps = moved_Bps, .flopps = flopps, .limit_W = NAN });
}

static void test_idle_and_cap(void **state)
{
	(void)state;
	const struct jl_power_fit fit = jl_power_shipped(jl_catalog_embedded());
	const double idle_W = watts(&h100, 0, 0);

	assert_true(fabs(idle_W / jl_power_idle_W(&h100, &fit) - 1) < 0.01);
	assert_true(idle_W > 70 && idle_W < 200);
	assert_true(watts(&h100, 3e12, 600e12) <= 700);
	assert_true(watts(&h100, 3e12, 600e12) > 0.95 * 0.97 * 700);
	assert_true(isfinite(watts(&h100, 1e300, 1e300)));
}

static void test_more_work_draws_more(void **state)
{
	(void)state;
	double last_W = 0;

	for (double share = 0; share <= 1; share += 0.05) {
		const double here_W = watts(&h100, share * 3e12, share * 5e14);

		assert_true(here_W >= last_W);
		assert_true(watts(&h100, share * 3e12 + 1e11, share * 5e14) >= here_W);
		assert_true(watts(&h100, share * 3e12, share * 5e14 + 1e13) >= here_W);
		last_W = here_W;
	}
}

static void test_a_limit_holds(void **state)
{
	(void)state;
	const struct jl_power_fit fit = jl_power_shipped(jl_catalog_embedded());
	struct jl_power_in in = { .moved_Bps = 2e12, .flopps = 3e14, .limit_W = 300 };

	assert_true(jl_power_W(&h100, &fit, &in) <= 300);
	in.limit_W = 5000; /* above the TDP: the TDP applies */
	assert_true(jl_power_W(&h100, &fit, &in) <= 700);
	const struct jl_device unknown = { .tdp_W = NAN, .priors = &four_nm };

	in.limit_W = NAN;
	assert_true(isnan(jl_power_W(&unknown, &fit, &in)));
	in.limit_W = 300;
	assert_true(jl_power_W(&unknown, &fit, &in) <= 300);
}

/* Published board power of decoding Llama-3.1-70B and Qwen3-32B (ml-energy leaderboard): 16-bit weights read once per step, keys and values of
 * about 1,000 tokens, 2 FLOP per parameter and token. */
static void test_published_rows(void **state)
{
	(void)state;
	static const struct {
		const struct jl_device *dev;
		double moved_Bps, flopps, meas_W;
	} rows[] = {
		{ &h100, 2.1e12, 23e12, 441 },   { &h100, 1.29e12, 191e12, 546 }, { &h100, 0.63e12, 337e12, 637 },
		{ &h100, 2.61e12, 29e12, 538 },  { &b200, 4.25e12, 47e12, 849 },  { &b200, 4.0e12, 164e12, 849 },
		{ &b200, 2.65e12, 393e12, 957 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const double pred_W = watts(rows[i].dev, rows[i].moved_Bps, rows[i].flopps);

		if (fabs(log(pred_W / rows[i].meas_W)) > 0.15)
			fail_msg("row %zu: predicted %.0f W, measured %.0f W", i, pred_W, rows[i].meas_W);
	}
}

static void test_kinds_of_work(void **state)
{
	(void)state;
	const struct jl_power_fit fit = jl_power_shipped(jl_catalog_embedded());
	const struct jl_power_in plain = { .moved_Bps = 1e12, .flopps = 1e13, .limit_W = NAN };
	struct jl_power_in in = plain;
	const double plain_W = jl_power_W(&h100, &fit, &plain);

	in.narrow = 1;
	assert_true(jl_power_W(&h100, &fit, &in) > plain_W);
	in = plain;
	in.routed = 1;
	assert_true(jl_power_W(&h100, &fit, &in) > plain_W);
	in = plain;
	in.vector = 1;
	assert_true(jl_power_W(&h100, &fit, &in) > plain_W);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_idle_and_cap),  cmocka_unit_test(test_more_work_draws_more),
		cmocka_unit_test(test_a_limit_holds), cmocka_unit_test(test_published_rows),
		cmocka_unit_test(test_kinds_of_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
