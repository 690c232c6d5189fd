/* Peers that speak the protocol and mean no good: one that joins and says nothing, one that says all the time that it is at work and sends
 * nothing, listeners that fall silent or lie. Nobody is kept waiting by them, and each is named within JL_COMM_STUCK_S. */
#include <fcntl.h>
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
#include <sys/wait.h>
#include <cmocka.h>

#include "comm/tcp.h"
#include "hostile.h"

#define N_MAX 4

struct board {
	_Atomic int port, n_here, n_refused;
	enum jl_status status[N_MAX];
	struct jl_err errs[N_MAX];
	double took_s[N_MAX];
	int ranks[N_MAX];
};

static struct board *board;
static pid_t pids[N_MAX];

static int set_up(void **state)
{
	(void)state;
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	memset(pids, 0, sizeof(pids));
	return board == MAP_FAILED;
}

static int tear_down(void **state)
{
	(void)state;
	for (int i = 0; i < N_MAX; i++)
		if (pids[i] > 0 && kill(pids[i], SIGKILL) == 0)
			(void)waitpid(pids[i], NULL, 0);
	return munmap(board, sizeof(*board));
}

static void listening(void *ctx, const char *address, int port)
{
	(void)ctx, (void)address;
	atomic_store(&board->port, port);
}

static void seen(void *ctx, const char *peer, int n_here, const struct jl_err *refused)
{
	(void)ctx, (void)peer;
	board->n_refused += refused != NULL;
	atomic_store(&board->n_here, n_here);
}

/* One process that takes part, honestly; rank 0 when `port` is 0. */
static void take_part(int i, int n, int port, double wait_s)
{
	const struct jl_comm_tcp how = { .to = port ? "127.0.0.1" : NULL,
					 .port = port,
					 .n_ranks = n,
					 .what = "test",
					 .wait_s = wait_s,
					 .listening = listening,
					 .seen = seen };

	board->status[i] = JL_E_NOMEM; /* killed before its end */
	board->ranks[i] = -1;
	pids[i] = fork();
	if (pids[i] == 0) {
		const double start_s = jl_clock_s();
		struct jl_comm *comm = NULL;
		enum jl_status status = jl_comm_tcp(&comm, &how, &board->errs[i]);

		if (!status)
			board->ranks[i] = comm->rank;
		for (int k = 0; k < 20 && !status; k++)
			status = jl_comm_barrier(comm, &board->errs[i]);
		jl_comm_destroy(comm);
		board->took_s[i] = jl_clock_s() - start_s;
		board->status[i] = status;
		_exit(0);
	}
	for (const double end_s = jl_clock_s() + 20; !port && !board->port && jl_clock_s() < end_s;)
		nap(0.005);
}

/* Whoever is still there after `most_s` is killed, and has no result. */
static void wait_for(int i, double most_s)
{
	const double end_s = jl_clock_s() + most_s;

	while (waitpid(pids[i], NULL, WNOHANG) == 0) {
		if (jl_clock_s() > end_s)
			(void)kill(pids[i], SIGKILL);
		nap(0.01);
	}
	pids[i] = 0;
	print_message("%d: %.1f s: %s\n", i, board->took_s[i], board->errs[i].en);
}

/* --- who joins and says nothing */

static int join_silently(void)
{
	struct jl_wire_message m;
	const int fd = knock(board->port);

	assert_int_equal(pass(fd, "test", 1, 0), JL_OK);
	assert_int_equal(word_from(fd, &m), JL_WIRE_WELCOME);
	return fd;
}

/* From the same address as everybody. */
static void silent_strangers_keep_nobody_waiting(void **state)
{
	int fds[6];

	(void)state;
	take_part(0, 2, 0, 30);
	for (int i = 0; i < 6; i++)
		fds[i] = join_silently();
	take_part(1, 2, board->port, 30);
	wait_for(1, 20);
	wait_for(0, 20);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(board->status[i], JL_OK);
		assert_true(board->took_s[i] < 3);
	}
	for (int i = 0; i < 6; i++)
		(void)close(fds[i]);
}

/* A rank that is there already has to come back for its connections. */
static void a_rank_that_is_there_stays(void **state)
{
	int fd;

	(void)state;
	take_part(0, 3, 0, 30);
	take_part(1, 3, board->port, 30);
	while (board->n_here < 2)
		nap(0.01);
	fd = join_silently();
	nap(3.5); /* it is sent away meanwhile */
	take_part(2, 3, board->port, 30);
	for (int i = 2; i >= 0; i--) {
		wait_for(i, 20);
		assert_int_equal(board->status[i], JL_OK);
	}
	assert_int_equal(board->n_refused, 1);
	(void)close(fd);
}

/* Whose number was taken by somebody else meanwhile gets another while there is one. */
static void a_number_that_is_taken_is_changed(void **state)
{
	const struct jl_wire_message ready = { .word = JL_WIRE_READY, .n = { 5000 } };
	struct jl_wire_message m;
	int fds[5];

	(void)state;
	take_part(0, 3, 0, 30);
	for (int i = 0; i < 5; i++)
		fds[i] = join_silently(); /* as 1, 2, 1, 2, 1 */
	assert_true(jl_wire_try_send(fds[0], &ready));
	while (board->n_here < 2)
		nap(0.01);
	assert_true(jl_wire_try_send(fds[2], &ready));
	assert_int_equal(word_from(fds[2], &m), JL_WIRE_WELCOME);
	assert_int_equal(m.n[1], 2);
	assert_true(jl_wire_try_send(fds[2], &ready));
	assert_int_equal(word_from(fds[2], &m), JL_WIRE_PEER); /* all are there */
	assert_int_equal(word_from(fds[4], &m), JL_WIRE_BUSY);
	for (int i = 0; i < 5; i++)
		(void)close(fds[i]);
}

/* --- a rank that is always at work */

static void pretend(int n, uint64_t waits_for)
{
	const struct jl_comm_tcp how = { .to = "127.0.0.1", .port = board->port, .n_ranks = n, .what = "test" };
	struct tcp_comm c = { .fds = NULL };
	struct jl_wire_message m;
	uint64_t cpu_us = 0;
	int *controls;

	if (jl_tcp_join(&c, &how, &controls, NULL))
		_exit(1);
	for (;;)
		if (word_from(controls[0], &m) == JL_WIRE_ASK)
			(void)jl_wire_try_send(controls[0],
					       &(struct jl_wire_message){ .word = JL_WIRE_HERE,
									  .n = { 1, cpu_us += 500000, waits_for } });
}

static void idle_at_work(int n, int rank, uint64_t waits_for)
{
	char word[32];

	(void)snprintf(word, sizeof(word), "rank %d ", rank);
	take_part(0, n, 0, 30);
	for (int r = 1; r < n; r++) {
		if (r == rank) {
			pids[r] = fork();
			if (pids[r] == 0)
				pretend(n, waits_for);
		} else {
			take_part(r, n, board->port, 30);
		}
		while (r < n - 1 && board->n_here < r + 1)
			nap(0.01);
	}
	for (int r = 0; r < n; r++) {
		if (r == rank)
			continue;
		wait_for(r, 20);
		assert_int_equal(board->status[r], JL_E_IO);
		assert_non_null(strstr(board->errs[r].en, word));
		assert_true(board->took_s[r] < JL_COMM_STUCK_S + 2); /* what a busy machine adds */
	}
}

static void a_rank_that_sends_nothing_is_named(void **state)
{
	(void)state;
	idle_at_work(2, 1, 0);
}

static void so_is_one_that_says_it_waits(void **state)
{
	(void)state;
	idle_at_work(2, 1, 1); /* for rank 0 */
}

static void so_is_one_of_several(void **state)
{
	(void)state;
	idle_at_work(4, 2, 2); /* it says that it waits for rank 1 */
}

/* --- listeners that joiners wait for in vain */

enum deed { ACCEPTS, SENDS_HALF, TRICKLES, WELCOMES, RENAMES, FAR_PORT, N_DEEDS };

static void greet(int fd)
{
	struct jl_wire_message hello, m, challenge = { .word = JL_WIRE_CHALLENGE }, proven = { .word = JL_WIRE_PROVEN };
	const struct jl_wire_secret secret = { .given = false };
	unsigned char said[JL_WIRE_MESSAGE_B];

	(void)word_from(fd, &hello);
	jl_wire_pack(said, &hello);
	(void)jl_wire_try_send(fd, &challenge);
	(void)word_from(fd, &m);
	jl_wire_proof(proven.n, &secret, JL_WIRE_LISTENS, said, &challenge);
	(void)jl_wire_try_send(fd, &proven);
}

static void deceive(int door, enum deed deed)
{
	struct jl_wire_message m = { .word = JL_WIRE_WELCOME, .n = { 7, 1, 2, 5270 } };
	struct jl_wire_message again;
	unsigned char bytes[JL_WIRE_MESSAGE_B];
	const int fd = accept(door, NULL, NULL);

	if (deed == FAR_PORT)
		m = (struct jl_wire_message){ .word = JL_WIRE_WELCOME, .n = { 7, 127, 128, 65535 } };
	if (deed >= WELCOMES)
		greet(fd);
	jl_wire_pack(bytes, &m);
	if (deed == RENAMES) { /* then rank 2 of 3, and that all places are taken */
		(void)jl_wire_try_send(fd,
				       &(struct jl_wire_message){ .word = JL_WIRE_WELCOME, .n = { 7, 1, 3, 5270 } });
		(void)word_from(fd, &m);
		(void)jl_wire_try_send(fd,
				       &(struct jl_wire_message){ .word = JL_WIRE_WELCOME, .n = { 7, 2, 3, 5270 } });
		if (word_from(fd, &again) == JL_WIRE_READY && again.n[0] == m.n[0])
			(void)jl_wire_try_send(fd, &(struct jl_wire_message){ .word = JL_WIRE_BUSY });
	} else if (deed != ACCEPTS)
		(void)send(fd, bytes, deed >= WELCOMES ? sizeof(bytes) : deed == TRICKLES ? 0 : 40, MSG_NOSIGNAL);
	for (size_t i = 0; deed == TRICKLES; i++) { /* NOLINT(bugprone-infinite-loop): until it is ended */
		(void)send(fd, bytes + i % sizeof(bytes), 1, MSG_NOSIGNAL);
		nap(1);
	}
	for (;;)
		(void)pause();
}

static void listeners_are_named_in_time(void **state)
{
	int doors[N_DEEDS], ports[N_DEEDS];
	pid_t liars[N_DEEDS];

	(void)state;
	for (int i = 0; i < N_DEEDS; i++) {
		const char *address = NULL;

		ports[i] = 0;
		assert_int_equal(jl_wire_open(&address, &ports[i], &doors[i], NULL), JL_OK);
		(void)fcntl(doors[i], F_SETFL, 0);
		liars[i] = fork();
		if (liars[i] == 0)
			deceive(doors[i], (enum deed)i);
	}
	for (int i = 0; i < N_DEEDS; i += N_MAX) { /* side by side */
		for (int k = 0; k < N_MAX && i + k < N_DEEDS; k++)
			take_part(k, 2, ports[i + k], 40);
		for (int k = 0; k < N_MAX && i + k < N_DEEDS; k++) {
			char where[64];

			(void)snprintf(where, sizeof(where), "127.0.0.1:%d", ports[i + k]);
			wait_for(k, 45);
			assert_int_equal(board->status[k], i + k == FAR_PORT  ? JL_E_DATA
							   : i + k == RENAMES ? JL_E_LIMIT
									      : JL_E_IO);
			assert_true(board->took_s[k] < JL_COMM_STUCK_S);
			assert_non_null(strstr(board->errs[k].en, where));
			assert_null(strstr(board->errs[k].en, "gave up"));
		}
	}
	for (int i = 0; i < N_DEEDS; i++) {
		(void)kill(liars[i], SIGKILL);
		(void)waitpid(liars[i], NULL, 0);
		(void)close(doors[i]);
	}
}

/* One that waits for others itself says so all the time, and is waited for. */
static void a_patient_listener_is_waited_for(void **state)
{
	(void)state;
	take_part(0, 3, 0, 11);
	take_part(1, 3, board->port, 40);
	wait_for(0, 20);
	wait_for(1, 20);
	assert_non_null(strstr(board->errs[0].en, "only 2 of 3 ranks came"));
	assert_non_null(strstr(board->errs[1].en, "gave up before all ranks were there"));
	assert_true(board->took_s[1] > 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(silent_strangers_keep_nobody_waiting, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_rank_that_is_there_stays, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_number_that_is_taken_is_changed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_rank_that_sends_nothing_is_named, set_up, tear_down),
		cmocka_unit_test_setup_teardown(so_is_one_that_says_it_waits, set_up, tear_down),
		cmocka_unit_test_setup_teardown(so_is_one_of_several, set_up, tear_down),
		cmocka_unit_test_setup_teardown(listeners_are_named_in_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_patient_listener_is_waited_for, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
