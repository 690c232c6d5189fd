#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "build/upgrade.h"

static struct jl_arena arena;

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

static struct jl_upgrade_ask ask_for(const char *system)
{
	struct jl_upgrade_ask ask = {
		.system = system, .run = jl_request_empty(), .budget_usd = NAN, .bridge_usd = NAN
	};

	ask.run.model = "gpt-305m";
	ask.run.batch = 4;
	ask.run.seq = 512;
	return ask;
}

static struct jl_upgrades *find(const struct jl_upgrade_ask *ask)
{
	struct jl_upgrades *found = jl_arena_alloc(&arena, sizeof *found);
	struct jl_err err;

	assert_non_null(found);
	if (jl_upgrades_find(found, ask, jl_catalog_embedded(), &arena, &err))
		fail_msg("%s: %s", ask->system, err.en);
	return found;
}

/* The best that a setting gives for nothing is where a purchase begins. */
static void the_machine_as_it_is_runs_at_its_best(void **state)
{
	const struct jl_upgrade_ask ask = ask_for("10x rtx-3090 via pcie4-no-p2p");
	const struct jl_upgrades *found = find(&ask);

	(void)state;
	for (int zero = 0; zero <= 3; zero++) {
		struct jl_request run = ask.run;
		struct jl_prediction p;
		struct jl_case c;
		struct jl_err err;

		run.system = ask.system;
		run.plan.zero = zero;
		assert_int_equal(jl_case_make(&c, jl_catalog_embedded(), &run, &arena, &err), JL_OK);
		jl_predict(&p, NULL, &c);
		assert_true(found->now_per_s.value >= p.samples_per_s.value || p.room == JL_ROOM_NONE);
	}
	for (size_t i = 0; i < found->n; i++) {
		const struct jl_upgrade *u = &found->items[i];

		assert_true(u->before_per_s.value == found->now_per_s.value);
		assert_true(fabs(u->gain_frac - (u->after_per_s.value / found->now_per_s.value - 1)) < 1e-12);
	}
}

/* A card with less memory and less compute is no upgrade. */
static void a_smaller_card_does_not_win(void **state)
{
	const struct jl_upgrade_ask ask = ask_for("10x rtx-3090 via pcie4-no-p2p");
	const struct jl_upgrades *found = find(&ask);

	(void)state;
	for (size_t i = 0; i < found->n; i++)
		assert_null(strstr(found->items[i].after, "rtx-3080"));
}

static void bridges_are_judged_by_the_whole_machine(void **state)
{
	const struct jl_upgrade_ask ask = ask_for("10x rtx-3090 via pcie4-no-p2p");
	const struct jl_upgrades *found = find(&ask);
	const struct jl_upgrade *bridge = NULL;

	(void)state;
	for (size_t i = 0; i < found->n; i++)
		if (strcmp(found->items[i].kind, "bridge") == 0)
			bridge = &found->items[i];
	assert_non_null(bridge);
	assert_int_equal(bridge->n_items, 5);
	assert_non_null(strstr(bridge->after, "10x rtx-3090 via nvlink-bridge"));
	assert_true(bridge->pair_after_per_s > bridge->pair_before_per_s);
	assert_true(bridge->after_per_s.value > bridge->before_per_s.value);
}

/* Eight SXM sockets are eight: boards are not added one by one, nor taken out for cards. */
static void boards_are_bought_with_their_machine(void **state)
{
	static const char *const systems[] = { "dgx-h100", "8x h100-sxm5" };

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		const struct jl_upgrade_ask ask = ask_for(systems[k]);
		const struct jl_upgrades *found = find(&ask);

		assert_true(found->n >= 1);
		for (size_t i = 0; i < found->n; i++)
			assert_string_equal(found->items[i].kind, "more-machines");
	}
}

/* No host takes twenty cards. */
static void hosts_have_an_end(void **state)
{
	const struct jl_upgrade_ask ten = ask_for("10x rtx-3090 via pcie4-no-p2p"), two = ask_for("2x rtx-3090");
	const struct jl_upgrades *found = find(&ten);
	bool more = false;

	(void)state;
	for (size_t i = 0; i < found->n; i++)
		assert_string_not_equal(found->items[i].kind, "more-gpus");
	found = find(&two);
	for (size_t i = 0; i < found->n; i++)
		more |= strcmp(found->items[i].kind, "more-gpus") == 0;
	assert_true(more);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_machine_as_it_is_runs_at_its_best),
		cmocka_unit_test(a_smaller_card_does_not_win),
		cmocka_unit_test(bridges_are_judged_by_the_whole_machine),
		cmocka_unit_test(boards_are_bought_with_their_machine),
		cmocka_unit_test(hosts_have_an_end),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
