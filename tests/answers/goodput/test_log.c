/* The rest of a job from its own log: steps, checkpoints and restarts as they were, beside what is known of other sites. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "goodput/goodput.h"

#define assert_near(a, b, eps) assert_true(fabs((a) - (b)) <= (eps))
#define DAY_S                  86400.0

static struct jl_goodput weighed(double tokens, const struct jl_runlog *log, const struct jl_run_spent *spent,
				 struct jl_goodput_ask ask, struct jl_arena *arena, struct jl_job *job)
{
	struct jl_request req = jl_request_empty();
	static struct jl_goodput g;
	struct jl_err err;

	req.model = "llama-3-70b";
	req.system = "128x dgx-h100";
	req.tokens = tokens;
	assert_int_equal(jl_job_make(job, jl_catalog_embedded(), &req, arena, &err), JL_OK);
	if (log)
		assert_int_equal(jl_goodput_take_log(job, &ask, log, spent, &err), JL_OK);
	assert_int_equal(jl_goodput_weigh(&g, jl_catalog_embedded(), job, &ask, &err), JL_OK);
	return g;
}

/* 20 days: 40,000 of 100,000 steps of 40 s, 30 restarts of 40 min, a checkpoint every 60 steps that holds the job for 5 s. */
static struct jl_run_step steps[] = { { .step = 1 }, { .step = 40000 } };
static const struct jl_runlog log_of_20_days = { .trainer = "Megatron-LM",
						 .steps = steps,
						 .n_steps = 2,
						 .n_gpus = NAN,
						 .batch = NAN,
						 .seq = NAN,
						 .n_total = 100000 };
static const struct jl_run_spent spent_in_20_days = { .elapsed_s = 20 * DAY_S,
						      .useful_s = 40000 * 40,
						      .checkpoint_s = 667 * 5,
						      .stall_s = 16000,
						      .restart_s = 30 * 2400,
						      .repeated_s = 30 * 1200,
						      .step_s = 40,
						      .n_checkpoints = 667,
						      .n_restarts = 30,
						      .interval_steps = 60,
						      .stall_each_s = 5 };

static void a_log_gives_its_own_rates(void **state)
{
	struct jl_arena arena;
	static struct jl_job job;

	(void)state;
	jl_arena_init(&arena, (size_t)64 << 20);
	const struct jl_goodput g = weighed(NAN, &log_of_20_days, &spent_in_20_days, jl_goodput_ask_empty(), &arena,
					    &job);

	assert_near(g.setting.step_s, 40, 1e-9);
	assert_near(g.setting.restart_s, 2400, 1e-9);
	assert_near(g.setting.detect_s, 0, 0);
	assert_near(g.point.cycle.store.work_s, 60 * 40, 1e-6);
	assert_near(g.point.cycle.store.stall_s, 5, 1e-9);
	assert_near(g.setting.straggle_frac, 0.01, 1e-9);
	assert_near(g.failures_per_day.value, 1.5, 0.1); /* thirty counted outweigh other sites */
	assert_true(g.failures_per_day.lo < 1.5 && 1.5 < g.failures_per_day.hi);
	assert_true(g.failures_per_day.hi / g.failures_per_day.lo < 1.8);
	assert_true(g.whole_run && g.ask.left_steps == 60000);
	assert_near(g.plain_s, 60000 * 40, 1e-6);
	/* the rest goes as it went so far: a week of restarts, checkpoints and repeated steps in a month */
	const double so_far = spent_in_20_days.useful_s / spent_in_20_days.elapsed_s;

	assert_near(g.goodput_frac.value, so_far, 0.04);
	assert_true(g.elapsed_s.lo < 60000 * 40 / so_far && 60000 * 40 / so_far < g.elapsed_s.hi);
	jl_arena_release(&arena);
}

/* A young log says little of failures: what other sites see still counts. */
static void a_short_log_keeps_what_is_known(void **state)
{
	struct jl_run_spent young = spent_in_20_days;
	struct jl_arena arena;
	static struct jl_job job;

	(void)state;
	jl_arena_init(&arena, (size_t)64 << 20);
	young.elapsed_s = young.useful_s = 7200;
	young.n_restarts = 0;
	const struct jl_goodput other = weighed(1e12, NULL, NULL, jl_goodput_ask_empty(), &arena, &job);
	const struct jl_goodput own = weighed(1e12, &log_of_20_days, &young, jl_goodput_ask_empty(), &arena, &job);

	assert_near(own.failures_per_day.value / other.failures_per_day.value, 1, 0.4);
	assert_near(own.setting.restart_s, other.setting.restart_s, 0); /* none was seen */
	jl_arena_release(&arena);
}

/* Waiting for a node is in the restarts that the log has, and what an unnamed checkpoint holds the job for is in its stalls. */
static void waits_are_counted_once(void **state)
{
	struct jl_goodput_ask ask = jl_goodput_ask_empty();
	struct jl_run_spent unnamed = spent_in_20_days;
	struct jl_arena arena;
	static struct jl_job job;

	(void)state;
	jl_arena_init(&arena, (size_t)64 << 20);
	ask.n_spares = 0;
	const struct jl_goodput none = weighed(NAN, &log_of_20_days, &spent_in_20_days, ask, &arena, &job);

	assert_near(none.point.frac[JL_CAUSE_WAIT], 0, 0);
	unnamed.n_checkpoints = 0;
	unnamed.checkpoint_s = 0;
	unnamed.stall_s = 16000 + 667 * 5;
	unnamed.interval_steps = unnamed.stall_each_s = NAN;
	const struct jl_goodput g = weighed(NAN, &log_of_20_days, &unnamed, jl_goodput_ask_empty(), &arena, &job);
	const double held = (g.point.frac[JL_CAUSE_CHECKPOINT] + g.point.frac[JL_CAUSE_STRAGGLE]) /
			    g.point.frac[JL_CAUSE_USEFUL];

	assert_true(g.point.frac[JL_CAUSE_CHECKPOINT] > 0);
	assert_near(held / (unnamed.stall_s / unnamed.useful_s), 1, 0.02);
	jl_arena_release(&arena);
}

static void what_is_said_stays_said(void **state)
{
	struct jl_goodput_ask ask = jl_goodput_ask_empty();
	struct jl_arena arena;
	static struct jl_job job;
	struct jl_err err;

	(void)state;
	jl_arena_init(&arena, (size_t)64 << 20);
	ask.restart_s = 60;
	ask.interval_s = 500;
	ask.node_per_day = 0.5;
	const struct jl_goodput g = weighed(NAN, &log_of_20_days, &spent_in_20_days, ask, &arena, &job);

	assert_near(g.setting.restart_s, 60, 0);
	assert_near(g.point.cycle.store.work_s, 500, 40);
	assert_near(g.rates.node.per_day, 0.5, 0);
	const struct jl_run_spent nothing = { .step_s = NAN };

	ask = jl_goodput_ask_empty();
	assert_int_equal(jl_goodput_take_log(&job, &ask, &log_of_20_days, &nothing, &err), JL_E_DATA);
	assert_non_null(strstr(err.en, "--log"));
	jl_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_log_gives_its_own_rates),
		cmocka_unit_test(a_short_log_keeps_what_is_known),
		cmocka_unit_test(waits_are_counted_once),
		cmocka_unit_test(what_is_said_stays_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
