/* Processes on one host: every collective is exact, and a rank that dies, hangs or leaves is named in time. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "reference.h"
#include "self.h"

static void collectives_are_exact(void **state)
{
	static const int sizes[] = { 1, 2, 3, 5 };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		const struct jl_comm_team team = { .n_ranks = sizes[i],
						   .work = all_kinds,
						   .shared_B = sizeof(struct tally) };
		struct jl_err err = { 0 };
		void *shared;
		int dead;
		const enum jl_status status = jl_comm_team_run(&team, &shared, &dead, &err);
		struct tally *tally = shared;

		if (status)
			print_error("%s\n", err.en);
		assert_int_equal(status, JL_OK);
		assert_int_equal(dead, -1);
		assert_int_equal(tally->n_done, sizes[i]);
		assert_true(tally->n_checked > 1000000);
		assert_int_equal(tally->n_wrong, 0);
		jl_comm_team_release(&team, shared);
	}
}

static void calls_overlap(void **state)
{
	const struct jl_comm_team team = { .n_ranks = 3, .work = overlapped, .shared_B = sizeof(struct tally) };
	struct jl_err err = { 0 };
	void *shared;

	(void)state;
	assert_int_equal(jl_comm_team_run(&team, &shared, NULL, &err), JL_OK);
	assert_int_equal(((struct tally *)shared)->n_done, 3);
	assert_int_equal(((struct tally *)shared)->n_wrong, 0);
	jl_comm_team_release(&team, shared);
}

enum misdeed { DIES, STOPS, SLEEPS, LEAVES, FAILS, DISAGREES };

/* Rank 1 misbehaves after three barriers. */
static enum jl_status misbehave(struct jl_comm *comm, void *shared, void *ctx, struct jl_err *err)
{
	struct tally *tally = shared;
	const enum misdeed deed = *(const enum misdeed *)ctx;
	enum jl_status status = JL_OK;

	for (int i = 0; i < 1000 && !status; i++) {
		float x = 1, y;
		struct jl_coll_call call = { .type = JL_COMM_FLOAT, .count = 1, .send = &x, .recv = &y };

		if (i == 3 && comm->rank == 1) {
			switch (deed) {
			case DIES: (void)raise(SIGKILL); break;
			case STOPS: (void)raise(SIGSTOP); break;
			case SLEEPS: (void)sleep(60); break;
			case LEAVES: return JL_OK;
			case FAILS: return jl_fail(err, JL_E_DATA, "no luck %d", 7);
			case DISAGREES: call.coll = JL_COLL_ALLGATHER; break;
			}
		}
		status = jl_comm_run(comm, &call, err);
		if (!status)
			tally->marks[comm->rank] = i + 1;
	}
	return status;
}

/* Rank 0 waits, is not let run while rank 1 arrives and ends well, and goes on later: nobody did anything wrong. */
static enum jl_status overtaken(struct jl_comm *comm, void *shared, void *ctx, struct jl_err *err)
{
	struct tally *tally = shared;
	float x = 1, y;
	const struct jl_coll_call call = { .type = JL_COMM_FLOAT, .count = 1, .send = &x, .recv = &y };

	(void)ctx;
	if (comm->rank == 0) {
		tally->marks[0] = (int)getpid();
	} else {
		pid_t waiter;

		while ((waiter = (pid_t)((volatile struct tally *)tally)->marks[0]) == 0)
			(void)usleep(1000);
		(void)usleep(300000); /* it sleeps by now */
		(void)kill(waiter, SIGSTOP);
		if (fork() == 0) { /* long enough for the watch to look around a few times */
			(void)usleep(1000000);
			(void)kill(waiter, SIGCONT);
			_exit(0);
		}
	}
	return jl_comm_run(comm, &call, err);
}

static void ending_first_is_no_fault(void **state)
{
	const struct jl_comm_team team = { .n_ranks = 2, .work = overtaken, .shared_B = sizeof(struct tally) };
	struct jl_err err = { 0 };
	void *shared;
	int dead;

	(void)state;
	if (jl_comm_team_run(&team, &shared, &dead, &err))
		print_error("%s\n", err.en);
	assert_int_equal(err.status, JL_OK);
	assert_int_equal(dead, -1);
	jl_comm_team_release(&team, shared);
}

static void trouble(enum misdeed deed, int wanted_dead, const char *word)
{
	enum misdeed ctx = deed;
	const struct jl_comm_team team = {
		.n_ranks = 3, .work = misbehave, .ctx = &ctx, .shared_B = sizeof(struct tally)
	};
	struct jl_err err = { 0 };
	void *shared;
	int dead;
	const double start_s = jl_clock_s();

	assert_true(jl_comm_team_run(&team, &shared, &dead, &err) != JL_OK);
	assert_true(jl_clock_s() - start_s < JL_COMM_STUCK_S + 1); /* a bound of the contract, not a speed */
	assert_int_equal(dead, wanted_dead);
	if (!strstr(err.en, word))
		print_error("'%s' lacks '%s'\n", err.en, word);
	assert_non_null(strstr(err.en, word));
	assert_int_equal(((struct tally *)shared)->marks[0], 3); /* what was done is kept */
	jl_comm_team_release(&team, shared);
}

static void a_dead_rank_is_named(void **state)
{
	(void)state;
	trouble(DIES, 1, "rank 1 was killed");
}

static void a_stopped_rank_is_named(void **state)
{
	(void)state;
	trouble(STOPS, 1, "rank 1 is stuck");
}

static void a_sleeping_rank_is_named(void **state)
{
	(void)state;
	trouble(SLEEPS, 1, "rank 1 is stuck");
}

static void a_rank_that_left_is_named(void **state)
{
	(void)state;
	trouble(LEAVES, 1, "rank 1 ended");
}

static void a_failure_keeps_its_words(void **state)
{
	(void)state;
	trouble(FAILS, -1, "no luck 7");
}

static void disagreement_is_an_error(void **state)
{
	(void)state;
	trouble(DISAGREES, -1, "ranks disagree");
}

static enum jl_status until_stopped(struct jl_comm *comm, void *shared, void *ctx, struct jl_err *err)
{
	enum jl_status status = JL_OK;
	int stop = 0;

	(void)ctx;
	while (!stop && !status) {
		const int mine = jl_comm_stop_asked(comm);

		status = jl_comm_run(
			comm,
			&(struct jl_coll_call){
				.type = JL_COMM_INT32, .op = JL_RED_MAX, .count = 1, .send = &mine, .recv = &stop },
			err);
	}
	((struct tally *)shared)->n_done++;
	return status;
}

static bool stop_at_once(void *shared, void *ctx)
{
	(void)shared;
	return ++*(int *)ctx < 3;
}

static void workers_stop_when_asked(void **state)
{
	int n_ticks = 0;
	const struct jl_comm_team team = { .n_ranks = 2,
					   .work = until_stopped,
					   .ctx = &n_ticks,
					   .tick = stop_at_once,
					   .shared_B = sizeof(struct tally) };
	struct jl_err err = { 0 };
	void *shared;

	(void)state;
	assert_int_equal(jl_comm_team_run(&team, &shared, NULL, &err), JL_OK);
	assert_int_equal(((struct tally *)shared)->n_done, 2);
	jl_comm_team_release(&team, shared);
}

static enum jl_status fill_memory(struct jl_comm *comm, void *shared, void *ctx, struct jl_err *err)
{
	struct tally *tally = shared;
	char *a = jl_comm_alloc(comm, 100000), *b = jl_comm_alloc(comm, 1), *c;

	(void)ctx, (void)err;
	tally->n_wrong += !a || !b || a == b;
	memset(a, 7, 100000);
	jl_comm_free(comm, a, 100000);
	c = jl_comm_alloc(comm, 100000); /* the same place, and zero again */
	tally->n_wrong += c != a || c[5] != 0 || c[99999] != 0;
	tally->n_wrong += jl_comm_alloc(comm, SIZE_MAX / 2) != NULL;
	tally->n_done++;
	return JL_OK;
}

static void memory_comes_back(void **state)
{
	const struct jl_comm_team team = { .n_ranks = 2, .work = fill_memory, .shared_B = sizeof(struct tally) };
	struct jl_err err = { 0 };
	void *shared;

	(void)state;
	assert_int_equal(jl_comm_team_run(&team, &shared, NULL, &err), JL_OK);
	assert_int_equal(((struct tally *)shared)->n_done, 2);
	assert_int_equal(((struct tally *)shared)->n_wrong, 0);
	jl_comm_team_release(&team, shared);
}

static void alone(void **state)
{
	struct jl_err err = { 0 };
	struct jl_comm *comm = NULL;
	float x[3] = { 1, 2, 3 }, y[3] = { 0 };
	struct jl_coll_call call = { .type = JL_COMM_FLOAT, .count = 3, .send = x, .recv = y };
	struct jl_comm_request *request;

	(void)state;
	assert_int_equal(comm_self(&comm, &err), JL_OK);
	assert_int_equal(jl_comm_run(comm, &call, &err), JL_OK);
	assert_true(y[2] == 3);
	y[2] = 0;
	assert_int_equal(jl_comm_start(comm, &call, &request, &err), JL_OK);
	assert_int_equal(jl_comm_wait(comm, request, &err), JL_OK);
	assert_true(y[2] == 3);
	call.coll = JL_COLL_BROADCAST;
	call.root = 1;
	assert_int_equal(jl_comm_run(comm, &call, &err), JL_E_RANGE);
	call.root = 0;
	call.count = SIZE_MAX;
	assert_int_equal(jl_comm_run(comm, &call, &err), JL_E_LIMIT);
	jl_comm_destroy(comm);
}

static void factors(void **state)
{
	(void)state;
	assert_true(jl_coll_bus_factor(JL_COLL_ALLREDUCE, 1000) == 2.0 * 999 / 1000);
	assert_true(jl_coll_bus_factor(JL_COLL_ALLGATHER, 4) == 0.75);
	assert_true(jl_coll_bus_factor(JL_COLL_BROADCAST, 4) == 1);
	assert_string_equal(jl_comm_type_name(JL_COMM_BF16), "bfloat16");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alone),
		cmocka_unit_test(factors),
		cmocka_unit_test(collectives_are_exact),
		cmocka_unit_test(calls_overlap),
		cmocka_unit_test(memory_comes_back),
		cmocka_unit_test(workers_stop_when_asked),
		cmocka_unit_test(a_dead_rank_is_named),
		cmocka_unit_test(a_stopped_rank_is_named),
		cmocka_unit_test(a_sleeping_rank_is_named),
		cmocka_unit_test(a_rank_that_left_is_named),
		cmocka_unit_test(ending_first_is_no_fault),
		cmocka_unit_test(a_failure_keeps_its_words),
		cmocka_unit_test(disagreement_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
