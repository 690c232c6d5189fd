/* What surrounds the search: narrowing, settings, fleets, batch limits. */
#include "problems.h"

#include "plan/fleet.h"
#include "plan/answer.h"

static void narrows(void **state)
{
	struct jl_plan_narrow n = { 0 };
	struct jl_err err;

	(void)state;
	assert_int_equal(jl_plan_fix(&n, "tp=8,recompute=full,offload=optimizer+params", &err), JL_OK);
	assert_true(jl_plan_allows(&n, JL_AXIS_TP, 8) && !jl_plan_allows(&n, JL_AXIS_TP, 4));
	assert_true(jl_plan_allows(&n, JL_AXIS_RECOMPUTE, JL_RECOMPUTE_FULL) &&
		    !jl_plan_allows(&n, JL_AXIS_RECOMPUTE, 0));
	assert_true(jl_plan_allows(&n, JL_AXIS_OFFLOAD, 3) && !jl_plan_allows(&n, JL_AXIS_OFFLOAD, 1));
	assert_true(jl_plan_allows(&n, JL_AXIS_PP, 4));
	assert_int_equal(jl_plan_forbid(&n, "pp,offload-params", &err), JL_OK);
	assert_true(jl_plan_allows(&n, JL_AXIS_PP, 1) && !jl_plan_allows(&n, JL_AXIS_PP, 4));
	assert_false(jl_plan_allows(&n, JL_AXIS_OFFLOAD, 3));
	assert_int_equal(jl_plan_fix(&n, "tp=x", &err), JL_E_PARSE);
	assert_int_equal(jl_plan_fix(&n, "tp=0", &err), JL_E_RANGE);
	assert_int_equal(jl_plan_fix(&n, "tp", &err), JL_E_USAGE);
	assert_int_equal(jl_plan_fix(&n, "=1", &err), JL_E_USAGE);
	assert_int_equal(jl_plan_fix(&n, "overlap=1", &err), JL_E_USAGE);
	assert_int_equal(jl_plan_forbid(&n, "nothing", &err), JL_E_USAGE);
	/* What failed changed nothing. */
	assert_true(jl_plan_allows(&n, JL_AXIS_TP, 8));
}

/* Every way that the search can return is one that some framework can be told to run. */
static void every_plan_has_settings(void **state)
{
	static const char *const systems[] = { "dgx-a100-80gb", "2x(4x l40s)", "rtx-4090", "2x dgx-h100" };
	static const char *const models[] = { "gpt3-1.3b", "llama-3-8b", "mixtral-8x7b" };
	static const char *const bans[] = { "recompute", "tp", "pp", "zero", "zero3", "full-recompute" };
	static struct jl_plan_site site;
	int n_plans = 0;

	(void)state;
	for (int i = 0; i < 72; i++) {
		struct jl_request req = jl_request_empty();
		struct jl_plan_result result;
		struct jl_plan_ask ask;
		struct jl_arena arena;

		jl_arena_init(&arena, JL_ARENA_LIMIT_B);
		req.model = models[i % 3];
		req.system = systems[i / 3 % 4];
		req.global_batch = 16;
		req.seq = 2048;
		make_site(&site, &req, &arena);
		ask = plain_ask(&site);
		ask.n_best = 8;
		assert_int_equal(jl_plan_forbid(&ask.narrow, bans[i / 12], NULL), JL_OK);
		search(&result, &ask);
		for (int k = 0; k < result.top.n; k++) {
			struct jl_case c;
			struct jl_buf text;

			jl_plan_way_case(&c, &site, &result.top.best[k].way);
			assert_null(jl_plan_settings_absent(jl_plan_settings_of(&c), &c).en);
			jl_buf_init(&text, 65536);
			jl_plan_settings(&text, jl_plan_settings_of(&c), &c);
			assert_int_equal(text.failed, JL_OK);
			assert_true(text.len > 40);
			jl_buf_release(&text);
			n_plans++;
		}
		jl_arena_release(&arena);
	}
	assert_true(n_plans > 100);
}

static void sizes_of_a_range(void **state)
{
	static const int wanted[] = { 8, 16, 24, 32, 48, 64, 96, 100 };
	static struct jl_fleet_ask ask;
	struct jl_err err;

	(void)state;
	assert_int_equal(jl_fleet_sizes(&ask, "8..100", &err), JL_OK);
	assert_int_equal(ask.n_sizes, sizeof(wanted) / sizeof(*wanted));
	for (size_t i = 0; i < ask.n_sizes; i++)
		assert_int_equal(ask.sizes[i], wanted[i]);
	ask.n_sizes = 0;
	assert_int_equal(jl_fleet_sizes(&ask, "4,2,4", &err), JL_OK);
	assert_int_equal(ask.n_sizes, 2);
	assert_int_equal(jl_fleet_sizes(&ask, "", &err), JL_OK);
	ask.n_sizes = 0;
	assert_int_equal(jl_fleet_sizes(&ask, "", &err), JL_E_USAGE);
	assert_int_equal(jl_fleet_sizes(&ask, "9..3", &err), JL_E_USAGE);
	assert_int_equal(jl_fleet_sizes(&ask, "8..x", &err), JL_E_PARSE);
}

/* The point of a fleet is the plan of that system searched alone. */
static void fleet_is_each_search(void **state)
{
	static struct jl_fleet_ask ask;
	static struct jl_plan_site site;
	struct jl_request req = jl_request_empty();
	struct jl_subject subject;
	struct jl_fleet fleet;
	struct jl_arena arena;
	struct jl_err err = { 0 };

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	req.model = "llama-3-8b";
	req.global_batch = 32;
	req.tokens = 1e9;
	assert_int_equal(jl_subject_find(&subject, jl_catalog_embedded(), &req, &arena, &err), JL_OK);
	ask = (struct jl_fleet_ask){ .cat = jl_catalog_embedded(),
				     .req = &req,
				     .subject = &subject,
				     .n_kinds = 2,
				     .kinds = { "a100-sxm4-80gb", "h100-sxm5" },
				     .n_sizes = 2,
				     .sizes = { 8, 16 },
				     .deadline_s = NAN,
				     .budget_usd = NAN,
				     .plan = plain_ask(NULL) };
	assert_int_equal(jl_fleet_search(&fleet, &ask, &arena, &err), JL_OK);
	assert_int_equal(fleet.n, 4);
	assert_true(fleet.whole_run && fleet.cheapest >= 0 && fleet.points[fleet.cheapest].on_front);
	for (size_t i = 0; i < fleet.n; i++) {
		struct jl_plan_ask alone;
		struct jl_plan_result result;

		req.system = i == 0   ? "8x a100-sxm4-80gb"
			     : i == 1 ? "2x(8x a100-sxm4-80gb)"
			     : i == 2 ? "8x h100-sxm5"
				      : "2x(8x h100-sxm5)";
		make_site(&site, &req, &arena);
		alone = plain_ask(&site);
		search(&result, &alone);
		assert_true(fleet.points[i].fits);
		assert_true(fabs(fleet.points[i].prediction.step_s.value / result.top.best[0].step_s - 1) < 1e-12);
	}
	jl_arena_release(&arena);
}

/* One sample more does not fit; no batch up to it is faster than the fastest of those that were tried. */
static void batch_limit_is_the_limit(void **state)
{
	static struct jl_plan_site site;
	static struct jl_batch_limit limit;
	const struct jl_plan_narrow narrow = { 0 };
	struct jl_request req = jl_request_empty();
	struct jl_arena arena;
	struct jl_case more;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	req.model = "gpt2-355m";
	req.system = "rtx-4090";
	make_site(&site, &req, &arena);
	jl_plan_batch_limit(
		&limit, &(struct jl_batch_ask){
				.cat = jl_catalog_embedded(), .site = &site, .narrow = &narrow, .memory_frac = 0.94 });
	assert_true(limit.largest.batch >= 1 && limit.most.batch > limit.largest.batch);
	assert_true(limit.largest.prediction.memory.total_B <= 0.94 * limit.capacity_B);
	more = limit.largest.how;
	more.shard.micro_batch++;
	assert_true(jl_case_price(&more).memory.total_B > 0.94 * limit.capacity_B);
	assert_true(limit.fastest.prediction.samples_per_s.value >= limit.largest.prediction.samples_per_s.value);
	/* one margin: predict says the same */
	assert_true(limit.largest.worker == jl_case_max_micro_batch(&limit.largest.how));
	jl_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(narrows),
		cmocka_unit_test(every_plan_has_settings),
		cmocka_unit_test(sizes_of_a_range),
		cmocka_unit_test(fleet_is_each_search),
		cmocka_unit_test(batch_limit_is_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
