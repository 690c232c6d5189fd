/* Training runs from logs: steps and pauses stay consistent. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "import/runlog.h"

static void add_steps(struct jl_runlog_reader *r, const char *trainer, int n, double step_s)
{
	for (int i = 1; i <= n; i++)
		jl_runlog_step(r, &(struct jl_run_step){ .trainer = trainer,
							 .label = "",
							 .step = i,
							 .n_total = NAN,
							 .batch = NAN,
							 .at_s = NAN,
							 .step_s = step_s,
							 .tokens_per_s = 9,
							 .samples_per_s = NAN });
}

/* Dropping a progress bar's steps also drops the pauses that refer to them. */
static void test_dropped_series(void **state)
{
	struct jl_arena arena;
	struct jl_runlog_reader r;
	struct jl_runlog log;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	jl_runlog_begin(&r, &arena);
	add_steps(&r, "tqdm", 5000, 1);
	jl_runlog_pause(&r, &(struct jl_run_pause){ .kind = JL_PAUSE_CHECKPOINT, .at_s = NAN, .took_s = NAN });
	add_steps(&r, "torchtitan", 20, 1);
	jl_runlog_pause(&r, &(struct jl_run_pause){ .kind = JL_PAUSE_EVALUATION, .at_s = NAN, .took_s = NAN });
	assert_int_equal(jl_runlog_end(&log, &r, NULL), JL_OK);
	assert_int_equal(log.n_steps, 20);
	assert_int_equal(log.n_pauses, 1);
	assert_int_equal(log.pauses[0].kind, JL_PAUSE_EVALUATION);
	for (size_t i = 0; i < log.n_pauses; i++)
		assert_true(log.pauses[i].after <= log.n_steps);
	jl_arena_release(&arena);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(test_dropped_series) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
