/* Ranks that find each other over TCP, here on loopback: every collective is exact, strangers at the door disturb
 * nobody, and a rank that dies, stops or leaves is named in time by everybody. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/mem.h"
#include "hostile.h"
#include "reference.h"

#define RANKS_MAX 5

struct board {
	struct tally tally;
	_Atomic int port;
	_Atomic int n_seen, n_refused;
	char refused[8][JL_ERR_TEXT_MAX];
	enum jl_status status[RANKS_MAX];
	struct jl_err errs[RANKS_MAX]; /* by process, not by rank */
	int ranks[RANKS_MAX], n_local[RANKS_MAX];
	double took_s[RANKS_MAX];
};

struct job {
	int n;
	enum jl_status (*work)(struct jl_comm *comm, void *shared, void *ctx, struct jl_err *err);
	void *ctx;
	double wait_s;
	int n_missing; /* processes that are not started */
};

static struct board *board;

static void listening(void *ctx, const char *address, int port)
{
	(void)ctx;
	board->tally.marks[15] = strcmp(address, "127.0.0.1") == 0;
	atomic_store(&board->port, port);
}

static void seen(void *ctx, const char *peer, int n_here, const struct jl_err *refused)
{
	(void)ctx, (void)peer;
	if (refused && board->n_refused < 8)
		(void)snprintf(board->refused[board->n_refused], JL_ERR_TEXT_MAX, "%s", refused->en);
	board->n_refused += refused != NULL;
	board->n_seen = n_here;
}

static int port_of_first(void)
{
	const double end_s = jl_clock_s() + 20;

	while (!atomic_load(&board->port) && jl_clock_s() < end_s)
		nap(0.005);
	return board->port;
}

/* The life of one process; number 0 waits for the others. */
static void live(const struct job *job, int i)
{
	const double start_s = jl_clock_s();
	struct jl_comm_tcp how = {
		.what = "test", .wait_s = job->wait_s > 0 ? job->wait_s : 30, .listening = listening, .seen = seen
	};
	struct jl_comm *comm = NULL;
	enum jl_status status;

	if (i == 0) {
		how.n_ranks = job->n;
	} else {
		how.to = "127.0.0.1";
		how.port = port_of_first();
		how.wait_s *= 3; /* the first one gives up first */
	}
	status = jl_comm_tcp(&comm, &how, &board->errs[i]);
	if (!status) {
		board->ranks[i] = comm->rank;
		board->n_local[i] = comm->n_local;
		status = job->work(comm, &board->tally, job->ctx, &board->errs[i]);
	}
	board->status[i] = status;
	board->took_s[i] = jl_clock_s() - start_s;
	jl_comm_destroy(comm);
}

static void release_board(void)
{
	(void)munmap(board, sizeof(*board));
	board = NULL;
}

/* What the processes found is on the board. Those that are still there after `most_s` are killed. */
static void run_job(const struct job *job, double most_s)
{
	pid_t pids[RANKS_MAX];
	const double end_s = jl_clock_s() + most_s;

	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(board != MAP_FAILED);
	for (int i = 0; i < job->n; i++) {
		board->ranks[i] = -1;
		pids[i] = i < job->n - job->n_missing ? fork() : 0;
		if (pids[i] == 0 && i < job->n - job->n_missing) {
			live(job, i);
			_exit(0);
		}
	}
	for (int i = 0; i < job->n; i++)
		while (pids[i] > 0) {
			if (waitpid(pids[i], NULL, WNOHANG) == pids[i])
				break;
			if (jl_clock_s() > end_s) {
				(void)kill(pids[i], SIGKILL);
				(void)waitpid(pids[i], NULL, 0);
				break;
			}
			nap(0.005);
		}
}

static void all_fine(const struct job *job)
{
	int met = 0;

	for (int i = 0; i < job->n; i++) {
		if (board->status[i])
			print_error("process %d: %s\n", i, board->errs[i].en);
		assert_int_equal(board->status[i], JL_OK);
		assert_in_range(board->ranks[i], 0, job->n - 1);
		met |= 1 << board->ranks[i];
		assert_int_equal(board->n_local[i], job->n); /* all on this host */
	}
	assert_int_equal(met, (1 << job->n) - 1); /* each number once */
	assert_int_equal(board->ranks[0], 0);
	assert_int_equal(board->tally.marks[15], 1); /* loopback when no address is given */
}

static void collectives_are_exact(void **state)
{
	static const int sizes[] = { 2, 3, 5 };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		int step = 2;
		const struct job job = { .n = sizes[i], .work = all_kinds, .ctx = &step };

		run_job(&job, 200);
		all_fine(&job);
		assert_int_equal(board->tally.n_done, sizes[i]);
		assert_true(board->tally.n_checked > 500000);
		assert_int_equal(board->tally.n_wrong, 0);
		release_board();
	}
}

static bool rooted(enum jl_coll coll)
{
	return coll == JL_COLL_BROADCAST || coll == JL_COLL_REDUCE;
}

/* Sizes around every border: of the small way, of a piece, of a chunk; every root; in place and not. */
static enum jl_status borders(struct jl_comm *comm, void *shared, void *ctx, struct jl_err *err)
{
	static const size_t counts[] = { 8191, 8193, 65537, 262143, 524289 };
	enum jl_status status = JL_OK;

	(void)ctx;
	for (size_t k = 0; k < sizeof(counts) / sizeof(*counts) && !status; k++)
		for (int coll = 0; coll < JL_COLL_BARRIER; coll++)
			for (int root = 0; root < (rooted((enum jl_coll)coll) && k < 4 ? comm->n_ranks : 2) && !status;
			     root++) {
				const struct jl_coll_call call = { .coll = (enum jl_coll)coll,
								   .type = k & 1 ? JL_COMM_INT8 : JL_COMM_BF16,
								   .root = root,
								   .count = counts[k] };

				status = one(comm, shared, call, false, root & 1, err);
			}
	((struct tally *)shared)->n_done++;
	return status;
}

static void borders_are_exact(void **state)
{
	(void)state;
	for (int n = 2; n <= 4; n += 2) {
		const struct job job = { .n = n, .work = borders };

		run_job(&job, 120);
		all_fine(&job);
		assert_int_equal(board->tally.n_done, n);
		assert_int_equal(board->tally.n_wrong, 0);
		release_board();
	}
}

static enum jl_status averages(struct jl_comm *comm, void *shared, void *ctx, struct jl_err *err)
{
	static const size_t counts[] = { 5, 100003 };
	static float x[100003 * RANKS_MAX], y[100003 * RANKS_MAX];
	static const enum jl_coll colls[] = { JL_COLL_ALLREDUCE, JL_COLL_REDUCE, JL_COLL_REDUCESCATTER };
	struct tally *tally = shared;
	enum jl_status status = JL_OK;

	(void)ctx;
	for (size_t k = 0; k < 6 && !status; k++) {
		const size_t count = counts[k & 1], n = (size_t)comm->n_ranks;
		const bool scatter = colls[k / 2] == JL_COLL_REDUCESCATTER;
		struct jl_coll_call call = { .coll = colls[k / 2], .type = JL_COMM_FLOAT, .op = JL_RED_AVG, .root = 1 };

		call.count = count;
		call.send = x;
		call.recv = y;
		for (size_t i = 0; i < count * (scatter ? n : 1); i++)
			x[i] = (float)value_of(comm->rank, i);
		status = jl_comm_run(comm, &call, err);
		for (size_t i = 0; i < count && !status && (colls[k / 2] != JL_COLL_REDUCE || comm->rank == 1); i++)
			tally->n_wrong += y[i] != (float)reduced(JL_RED_SUM, comm->n_ranks,
								 i + (scatter ? (size_t)comm->rank * count : 0)) /
							  (float)comm->n_ranks;
	}
	tally->n_done++;
	return status;
}

static void averages_are_exact(void **state)
{
	const struct job job = { .n = 3, .work = averages };

	(void)state;
	run_job(&job, 60);
	all_fine(&job);
	assert_int_equal(board->tally.n_done, 3);
	assert_int_equal(board->tally.n_wrong, 0);
	release_board();
}

static void calls_overlap(void **state)
{
	const struct job job = { .n = 3, .work = overlapped };

	(void)state;
	run_job(&job, 60);
	all_fine(&job);
	assert_int_equal(board->tally.n_done, 3);
	assert_int_equal(board->tally.n_wrong, 0);
	release_board();
}

/* --- trouble */

enum misdeed { DIES, STOPS, SLEEPS, LEAVES, DISAGREES, COMPUTES };

/* Rank 1 misbehaves after three calls. */
static enum jl_status misbehave(struct jl_comm *comm, void *shared, void *ctx, struct jl_err *err)
{
	struct tally *tally = shared;
	const enum misdeed deed = *(const enum misdeed *)ctx;
	enum jl_status status = JL_OK;
	double until_s;

	for (int i = 0; i < 6 && !status; i++) {
		float x = 1, y;
		struct jl_coll_call call = { .type = JL_COMM_FLOAT, .count = 1, .send = &x, .recv = &y };

		if (i == 3 && comm->rank == 1) {
			switch (deed) {
			case DIES: (void)raise(SIGKILL); break;
			case STOPS: (void)raise(SIGSTOP); break;
			case SLEEPS: (void)sleep(20); break;
			case LEAVES: return JL_OK;
			case DISAGREES: call.coll = JL_COLL_ALLGATHER; break;
			case COMPUTES: /* longer than anybody who is stuck is waited for */
				for (until_s = jl_clock_s() + 9; jl_clock_s() < until_s;)
					y = x;
				break;
			}
		}
		status = jl_comm_run(comm, &call, err);
		if (!status)
			tally->marks[comm->rank] = i + 1;
		else if (jl_comm_run(comm, &call, NULL) == JL_OK) /* once failed it stays so, at once */
			tally->n_wrong++;
	}
	return status;
}

static void trouble(enum misdeed deed, const char *word, double most_s)
{
	enum misdeed ctx = deed;
	const struct job job = { .n = 4, .work = misbehave, .ctx = &ctx };
	int n_named = 0;

	run_job(&job, 3 * most_s + 2);
	for (int i = 0; i < 4; i++) {
		if (board->ranks[i] == 1 || board->ranks[i] < 0)
			continue;
		assert_true(board->status[i] != JL_OK);
		assert_true(board->took_s[i] <
			    3 * most_s); /* the bound of the contract, and what a busy machine adds */
		if (strstr(board->errs[i].en, word))
			n_named++;
		else
			print_error("rank %d: '%s' lacks '%s'\n", board->ranks[i], board->errs[i].en, word);
	}
	if (deed == DISAGREES)
		assert_true(n_named >= 1); /* whoever meets it; the others see them leave */
	else
		assert_int_equal(n_named, 3);       /* everybody names the same */
	assert_int_equal(board->tally.marks[0], 3); /* what was done is kept */
	assert_int_equal(board->tally.n_wrong, 0);
	release_board();
}

static void a_dead_rank_is_named(void **state)
{
	(void)state;
	trouble(DIES, "rank 1 died", 5);
}

static void a_stopped_rank_is_named(void **state)
{
	(void)state;
	trouble(STOPS, "rank 1 is stuck", JL_COMM_STUCK_S);
}

static void a_rank_that_sleeps_is_named(void **state)
{
	(void)state;
	trouble(SLEEPS, "rank 1 is connected but does nothing", JL_COMM_STUCK_S);
}

static void a_rank_that_left_is_named(void **state)
{
	(void)state;
	trouble(LEAVES, "rank 1 ended", 5);
}

static void disagreement_is_an_error(void **state)
{
	(void)state;
	trouble(DISAGREES, "ranks disagree", 5);
}

static void a_rank_that_computes_is_waited_for(void **state)
{
	enum misdeed ctx = COMPUTES;
	const struct job job = { .n = 3, .work = misbehave, .ctx = &ctx };

	(void)state;
	run_job(&job, 40);
	all_fine(&job);
	for (int r = 0; r < 3; r++)
		assert_int_equal(board->tally.marks[r], 6);
	release_board();
}

/* --- the door */

static enum jl_status a_few(struct jl_comm *comm, void *shared, void *ctx, struct jl_err *err)
{
	enum jl_status status = JL_OK;

	(void)ctx;
	for (int i = 0; i < 50 && !status; i++)
		status = jl_comm_barrier(comm, err);
	((struct tally *)shared)->n_done++;
	return status;
}

static enum jl_status join_as(struct board *b, const char *what, uint64_t tag, struct jl_err *err)
{
	struct jl_comm *comm = NULL;

	return jl_comm_tcp(
		&comm,
		&(struct jl_comm_tcp){ .to = "127.0.0.1", .port = b->port, .what = what, .tag = tag, .wait_s = 5 },
		err);
}

/* A browser, a scanner that says nothing, one that closes at once, half a message, another version, somebody for something else, one that
 * joins and leaves again, one that joins and says nothing, one that joins and says what makes no sense. */
static int silent; /* stays until the end */

static void strangers(struct board *b)
{
	struct jl_wire_message m;
	struct jl_err err = { 0 };
	int fds[N_HOSTILE], mad, leaver;
	char byte;

	for (int kind = 0; kind < N_HOSTILE; kind++) {
		fds[kind] = knock_from(2, b->port);
		assert_true(fds[kind] >= 0);
		misbehave_as(fds[kind], (enum hostile)kind, "test");
	}
	(void)close(knock_from(2, b->port));
	assert_int_equal(word_from(fds[OLD], &m), JL_WIRE_VERSION_IS);
	assert_int_equal(join_as(b, "bench allgather", 0, &err), JL_E_USAGE);
	assert_non_null(strstr(err.en, "'jeoul test --to'"));
	assert_int_equal(join_as(b, "test", 7, &err), JL_E_USAGE);
	assert_non_null(strstr(err.en, "other options"));
	leaver = knock(b->port);
	assert_int_equal(pass(leaver, "test", 1, 0), JL_OK);
	assert_int_equal(word_from(leaver, &m), JL_WIRE_WELCOME);
	assert_true(jl_wire_try_send(leaver, &(struct jl_wire_message){ .word = JL_WIRE_READY, .n = { 1 } }));
	while (b->n_seen < 2)
		nap(0.01);
	(void)close(leaver);
	while (b->n_seen > 1)
		nap(0.01);
	/* both numbers are taken by people who will never be ranks; who comes next finds room all the same */
	silent = knock_from(3, b->port);
	mad = knock_from(4, b->port);
	assert_int_equal(pass(silent, "test", 1, 0), JL_OK);
	assert_int_equal(pass(mad, "test", 1, 0), JL_OK);
	assert_int_equal(word_from(silent, &m), JL_WIRE_WELCOME);
	assert_int_equal(word_from(mad, &m), JL_WIRE_WELCOME);
	assert_true(jl_wire_try_send(mad, &(struct jl_wire_message){ .word = JL_WIRE_READY, .n = { 1 << 20 } }));
	assert_int_equal(recv(mad, &byte, 1, 0), 0);
	(void)close(mad);
	nap(1.2); /* the idle ones are sent away meanwhile */
	assert_int_equal(recv(fds[IDLE], &byte, 1, 0), 0);
	assert_int_equal(recv(fds[HALF], &byte, 1, 0), 0);
	for (int kind = 0; kind < N_HOSTILE; kind++)
		(void)close(fds[kind]);
}

static void strangers_disturb_nobody(void **state)
{
	const struct job job = { .n = 3, .work = a_few };
	pid_t pids[3];

	(void)state;
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(board != MAP_FAILED);
	for (int i = 0; i < 3; i++) {
		if (i == 1) {
			assert_true(port_of_first() > 0);
			strangers(board);
		}
		pids[i] = fork();
		if (pids[i] == 0) {
			live(&job, i);
			_exit(0);
		}
	}
	for (int i = 0; i < 3; i++)
		(void)waitpid(pids[i], NULL, 0);
	all_fine(&job);
	assert_int_equal(board->tally.n_done, 3);
	(void)close(silent);
	/* who says nothing keeps nobody waiting: all may be there before it is sent away */
	assert_in_range(board->n_refused, N_HOSTILE + 5, N_HOSTILE + 6);
	for (int i = 0; i < 8; i++)
		assert_true(strlen(board->refused[i]) > 10);
	release_board();
}

static void who_does_not_come_is_missed(void **state)
{
	const struct job job = { .n = 3, .work = a_few, .wait_s = 3, .n_missing = 1 };

	(void)state;
	run_job(&job, 20);
	assert_int_equal(board->status[0], JL_E_IO);
	if (!strstr(board->errs[0].en, "only 2 of 3 ranks came"))
		print_error("'%s'; '%s'\n", board->errs[0].en, board->errs[1].en);
	assert_non_null(strstr(board->errs[0].en, "only 2 of 3 ranks came"));
	assert_int_equal(board->status[1], JL_E_IO);
	assert_int_equal(board->tally.n_done, 0);
	release_board();
}

static void limits(void **state)
{
	struct jl_err err = { 0 };
	struct jl_comm *comm = NULL;
	struct jl_comm_tcp how = { .what = "test", .n_ranks = 1 };

	(void)state;
	assert_int_equal(jl_comm_tcp(&comm, &how, &err), JL_E_RANGE);
	how.n_ranks = JL_COMM_TCP_RANKS_MAX + 1;
	assert_int_equal(jl_comm_tcp(&comm, &how, &err), JL_E_RANGE);
	how.n_ranks = 2;
	how.listen = "no.such.address";
	assert_int_equal(jl_comm_tcp(&comm, &how, &err), JL_E_USAGE);
	how.listen = NULL;
	how.wait_s = 0.2;
	for (size_t nth = 1; nth <= 5; nth++) { /* every allocation fails once */
		(void)jl_mem_fail_from(nth);
		assert_int_equal(jl_comm_tcp(&comm, &how, &err), JL_E_NOMEM);
	}
	(void)jl_mem_fail_from(0);
	assert_int_equal(jl_comm_tcp(&comm, &how, &err), JL_E_IO); /* nobody came */
	assert_null(comm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits),
		cmocka_unit_test(collectives_are_exact),
		cmocka_unit_test(borders_are_exact),
		cmocka_unit_test(averages_are_exact),
		cmocka_unit_test(calls_overlap),
		cmocka_unit_test(a_dead_rank_is_named),
		cmocka_unit_test(a_stopped_rank_is_named),
		cmocka_unit_test(a_rank_that_sleeps_is_named),
		cmocka_unit_test(a_rank_that_left_is_named),
		cmocka_unit_test(disagreement_is_an_error),
		cmocka_unit_test(a_rank_that_computes_is_waited_for),
		cmocka_unit_test(strangers_disturb_nobody),
		cmocka_unit_test(who_does_not_come_is_missed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
