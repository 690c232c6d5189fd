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
#include "comm/comm.h"
#include "comm/reduce.h"

struct tally {
	_Atomic long n_checked, n_wrong, n_done;
	_Atomic int marks[16];
};

static uint64_t value_of(int rank, size_t i)
{
	return (i * 5 + (size_t)rank * 3 + i / 97) % 4;
}

static void put(enum jl_comm_type type, void *data, size_t i, uint64_t v)
{
	const size_t size_B = jl_comm_type_B(type);
	char *at = (char *)data + i * size_B;
	const float f = (float)v;
	const double d = (double)v;
	uint16_t h;

	switch (type) {
	case JL_COMM_HALF: h = jl_float_to_half(f), memcpy(at, &h, 2); break;
	case JL_COMM_BF16: h = jl_float_to_bf16(f), memcpy(at, &h, 2); break;
	case JL_COMM_FLOAT: memcpy(at, &f, 4); break;
	case JL_COMM_DOUBLE: memcpy(at, &d, 8); break;
	default: memcpy(at, &v, size_B); break; /* little endian */
	}
}

static uint64_t reduced(enum jl_redop op, int n_ranks, size_t i)
{
	uint64_t all = value_of(0, i);

	for (int r = 1; r < n_ranks; r++) {
		const uint64_t v = value_of(r, i);

		all = op == JL_RED_PROD  ? all * v
		      : op == JL_RED_MIN ? (v < all ? v : all)
		      : op == JL_RED_MAX ? (v > all ? v : all)
					 : all + v;
	}
	return all;
}

static size_t check(struct jl_comm *comm, const struct jl_coll_call *call, size_t n_recv)
{
	const size_t count = call->count, size_B = jl_comm_type_B(call->type);
	const int n = comm->n_ranks, before = (comm->rank + n - 1) % n;
	size_t n_wrong = 0;

	for (size_t i = 0; i < n_recv; i++) {
		uint64_t wanted = 0;
		char as_type[8];

		switch (call->coll) {
		case JL_COLL_ALLREDUCE:
		case JL_COLL_REDUCE: wanted = reduced(call->op, n, i); break;
		case JL_COLL_REDUCESCATTER: wanted = reduced(call->op, n, (size_t)comm->rank * count + i); break;
		case JL_COLL_ALLGATHER: wanted = value_of((int)(i / count), i % count); break;
		case JL_COLL_ALLTOALL:
			wanted = value_of((int)(i / count), (size_t)comm->rank * count + i % count);
			break;
		case JL_COLL_BROADCAST: wanted = value_of(call->root, i); break;
		case JL_COLL_SENDRECV: wanted = value_of(before, i); break;
		default: break;
		}
		put(call->type, as_type, 0, wanted);
		n_wrong += memcmp(as_type, (char *)call->recv + i * size_B, size_B) != 0;
	}
	return n_wrong;
}

/* One call with fresh buffers; shared memory or the rank's own, in place or not. */
static enum jl_status one(struct jl_comm *comm, struct tally *tally, struct jl_coll_call call, bool shared,
			  bool in_place, struct jl_err *err)
{
	const size_t n = (size_t)comm->n_ranks, size_B = jl_comm_type_B(call.type);
	const bool many_out = call.coll == JL_COLL_REDUCESCATTER || call.coll == JL_COLL_ALLTOALL;
	const bool many_in = call.coll == JL_COLL_ALLGATHER || call.coll == JL_COLL_ALLTOALL;
	const size_t n_send = call.count * (many_out ? n : 1), n_recv = call.count * (many_in ? n : 1);
	const size_t most_B = call.count * n * size_B;
	char *a = shared ? jl_comm_alloc(comm, most_B) : calloc(1, most_B + 1);
	char *b = shared ? jl_comm_alloc(comm, most_B) : calloc(1, most_B + 1);
	enum jl_status status;

	call.send = a;
	call.recv = b;
	if (in_place) {
		call.recv = a;
		if (call.coll == JL_COLL_ALLGATHER)
			call.send = a + (size_t)comm->rank * call.count * size_B;
		if (call.coll == JL_COLL_REDUCESCATTER)
			call.recv = a + (size_t)comm->rank * call.count * size_B;
	}
	for (size_t i = 0; i < n_send; i++)
		put(call.type, (void *)(uintptr_t)call.send, i, value_of(comm->rank, i));
	status = jl_comm_run(comm, &call, err);
	if (!status && (call.coll != JL_COLL_REDUCE || comm->rank == call.root)) {
		tally->n_wrong += (long)check(comm, &call, n_recv);
		tally->n_checked += (long)n_recv;
	}
	if (shared) {
		jl_comm_free(comm, a, most_B);
		jl_comm_free(comm, b, most_B);
	} else {
		free(a);
		free(b);
	}
	return status;
}

static enum jl_status all_kinds(struct jl_comm *comm, void *shared, void *ctx, struct jl_err *err)
{
	static const size_t counts[] = { 0, 1, 3, 1000, 70001 };
	struct tally *tally = shared;
	enum jl_status status = JL_OK;

	(void)ctx;
	for (int coll = 0; coll < JL_COLL_BARRIER; coll++)
		for (int type = 0; type < JL_N_COMM_TYPE; type++)
			for (int op = 0; op < (jl_coll_reduces((enum jl_coll)coll) ? JL_RED_AVG : 1); op++)
				for (size_t k = 0; k < 5; k++)
					for (int how = 0; how < 4 && !status; how++) {
						if (k == 4 && type != JL_COMM_FLOAT && type != JL_COMM_INT8 && op > 0)
							continue; /* enough at this size */
						status = one(comm, tally,
							     (struct jl_coll_call){ .coll = (enum jl_coll)coll,
										    .type = (enum jl_comm_type)type,
										    .op = (enum jl_redop)op,
										    .root = how % comm->n_ranks,
										    .count = counts[k] },
							     how & 1, how & 2, err);
					}
	tally->n_done++;
	return status;
}

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

/* Several all-reduces at once, computation in between; order is kept. */
static enum jl_status overlapped(struct jl_comm *comm, void *shared, void *ctx, struct jl_err *err)
{
	enum { N = 40000, CALLS = 12 };
	struct tally *tally = shared;
	struct jl_comm_request *requests[CALLS];
	float *data = jl_comm_alloc(comm, CALLS * N * sizeof(float));
	enum jl_status status = JL_OK;

	(void)ctx;
	for (size_t i = 0; i < (size_t)CALLS * N; i++)
		data[i] = (float)((size_t)comm->rank + i / N);
	for (int c = 0; c < CALLS && !status; c++) {
		const struct jl_coll_call call = {
			.type = JL_COMM_FLOAT, .count = N, .send = data + (size_t)c * N, .recv = data + (size_t)c * N
		};

		status = jl_comm_start(comm, &call, &requests[c], err);
	}
	if (!status)
		status = jl_comm_barrier(comm, err); /* a plain call comes behind them */
	for (int c = 0; c < CALLS && !status; c++)
		status = jl_comm_wait(comm, requests[c], err);
	for (size_t i = 0; i < (size_t)CALLS * N; i++) {
		const int n = comm->n_ranks;

		tally->n_wrong += data[i] != (float)((size_t)(n * (n - 1) / 2) + (size_t)n * (i / N));
	}
	tally->n_done++;
	jl_comm_free(comm, data, CALLS * N * sizeof(float));
	return status;
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
			case FAILS: return jl_fail(err, JL_E_DATA, "no luck %d", "운이 없음 %d", 7);
			case DISAGREES: call.coll = JL_COLL_ALLGATHER; break;
			}
		}
		status = jl_comm_run(comm, &call, err);
		if (!status)
			tally->marks[comm->rank] = i + 1;
	}
	return status;
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
	struct jl_comm *comm;
	float x[3] = { 1, 2, 3 }, y[3] = { 0 };
	struct jl_coll_call call = { .type = JL_COMM_FLOAT, .count = 3, .send = x, .recv = y };
	struct jl_comm_request *request;

	(void)state;
	assert_int_equal(jl_comm_self(&comm, &err), JL_OK);
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
		cmocka_unit_test(a_failure_keeps_its_words),
		cmocka_unit_test(disagreement_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
