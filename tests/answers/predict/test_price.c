#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <string.h>

#include "base/units.h"
#include "catalog/find.h"
#include "predict/predict.h"

static struct jl_rent rent_of(const struct jl_catalog *cat, const char *system)
{
	struct jl_arena arena;
	struct jl_sys sys;
	struct jl_rent rent;
	struct jl_err err;

	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	if (jl_sys_parse(&sys, cat, system, &arena, &err))
		fail_msg("%s: %s", system, err.en);
	rent = jl_rent_find(cat, &sys);
	jl_arena_release(&arena);
	return rent;
}

static struct jl_catalog catalog_of(const char *day)
{
	struct jl_catalog cat = *jl_catalog_embedded();

	assert_int_equal(jl_date_parse(&cat.today, day, NULL), JL_OK);
	return cat;
}

/* A price of the last year before an older one, machines of the size before others, no marketplace offer many times. */
static void rents_are_fresh_and_whole(void **state)
{
	const struct jl_catalog cat = catalog_of("2026-11-15");
	const struct jl_rent rent = rent_of(&cat, "64x(8x h100-sxm5)");

	(void)state;
	assert_true(rent.usdps > 0 && rent.n_gpu == 8 && !rent.stale);
	assert_in_range(rent.age_days, 0, JL_PRICE_STALE_DAYS);
	assert_string_not_equal(rent.provider, "Vast.ai");
}

/* Several hosts are those of an offer whose hosts are joined; where nobody offers such, that is said. */
static void several_hosts_can_be_joined(void **state)
{
	const struct jl_catalog cat = catalog_of("2026-11-15");
	const struct jl_rent one = rent_of(&cat, "8x h100-sxm5"), many = rent_of(&cat, "64x(8x h100-sxm5)"),
			     apart = rent_of(&cat, "2x(2x rtx-4090)");

	(void)state;
	assert_true(!one.apart && !many.apart && many.usdps > one.usdps);
	assert_non_null(jl_price_system(&cat, many.price)->net);
	assert_true(apart.usdps > 0 && apart.apart);
}

/* More of the same GPU in a host never cost less, and no offer wins by its count alone; of a larger machine all is paid. */
static void more_gpus_cost_more(void **state)
{
	static const char *const gpus[] = { "a100-sxm4-80gb", "rtx-4090",       "h100-sxm5",
					    "l40s",           "a100-sxm4-40gb", "v100-sxm2-16gb" };
	const struct jl_catalog cat = catalog_of("2026-11-15");

	(void)state;
	for (size_t i = 0; i < sizeof(gpus) / sizeof(*gpus); i++) {
		double before_usd = 0, one_usd = 0;

		for (int n = 1; n <= 8; n++) {
			char system[64];

			snprintf(system, sizeof(system), "%dx %s", n, gpus[i]);
			const struct jl_rent rent = rent_of(&cat, system);
			const double usd = rent.usdps * 3600 * n;

			if (n == 1)
				one_usd = usd;
			if (!(usd >= before_usd * (1 - 1e-9)))
				fail_msg("%s costs %g USD/h, one less %g", system, usd, before_usd);
			assert_true(usd <= 1.5 * n * one_usd * (1 + 1e-9));
			if (rent.n_gpu > n)
				assert_true(fabs(usd / (rent.price->on_demand_usdps * 3600) - 1) < 1e-9);
			before_usd = usd;
		}
	}
}

static void an_old_rent_says_so(void **state)
{
	struct jl_catalog cat = catalog_of("2026-11-15");
	struct jl_rent rent = rent_of(&cat, "aws:p3.2xlarge");

	(void)state;
	assert_true(rent.usdps > 0 && rent.stale && rent.age_days > JL_PRICE_STALE_DAYS);
	cat.today = 0; /* without a day nothing is old */
	rent = rent_of(&cat, "aws:p3.2xlarge");
	assert_true(!rent.stale && rent.age_days == -1);
}

static void offers_are_machines_or_not(void **state)
{
	const struct jl_price whole = { .n_gpu = 8 }, half = { .n_gpu = 0.5 },
			      bare = { .n_gpu = 1, .note = "accelerator only: add the N1 VM price" },
			      single = { .n_gpu = 1, .note = "marketplace offer snapshot", .date = "2025-10-27" };
	long today;

	(void)state;
	assert_int_equal(jl_date_parse(&today, "2026-11-15", NULL), JL_OK);
	assert_true(jl_price_is_machine(&whole) && jl_price_is_machine(&single));
	assert_false(jl_price_is_machine(&half) || jl_price_is_machine(&bare));
	assert_true(jl_price_may_repeat(&whole) && !jl_price_may_repeat(&single));
	assert_int_equal(jl_price_age_days(&single, today), 384);
	assert_int_equal(jl_price_age_days(&whole, today), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rents_are_fresh_and_whole),  cmocka_unit_test(several_hosts_can_be_joined),
		cmocka_unit_test(more_gpus_cost_more),        cmocka_unit_test(an_old_rent_says_so),
		cmocka_unit_test(offers_are_machines_or_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
