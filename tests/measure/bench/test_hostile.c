/* Listeners beside which the whole world knocks, and a rank 0 that asks for nonsense. JEOUL_HOSTILE sets how many connections. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "../comm/hostile.h"
#include "base/meminfo.h"
#include "bench/net.h"
#include "bench/sweep.h"

/* Freed memory is kept aside by the sanitizer for a while. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define GROWTH_MAX_B 64e6
#endif
#endif
#ifndef GROWTH_MAX_B
#define GROWTH_MAX_B 2e6
#endif

struct board {
	_Atomic int port, n_refused, n_fine;
	_Atomic bool ending;
	enum jl_status status[2];
	struct jl_err errs[2];
};

static struct board *board;

static int set_up(void **state)
{
	(void)state;
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return board == MAP_FAILED;
}

static int tear_down(void **state)
{
	(void)state;
	return munmap(board, sizeof(*board));
}

static int port_of_listener(void)
{
	const double end_s = jl_clock_s() + 20;

	while (!atomic_load(&board->port) && jl_clock_s() < end_s)
		nap(0.005);
	return board->port;
}

static bool ending(void *ctx)
{
	(void)ctx;
	return atomic_load(&board->ending);
}

static double resident_B(pid_t pid)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	return jl_mem_proc_B(path, "VmRSS");
}

/* --- the crowd */

struct crowd {
	const char *what;
	int n, n_came;
	_Atomic bool over;
};

#define AT_ONCE 150

/* Every kind in turn, from eight addresses, some of them staying as long as they can; now and then one that is let in and then says nothing. */
static void *flood(void *ctx)
{
	struct crowd *crowd = ctx;
	int fds[AT_ONCE];

	for (int i = 0; i < AT_ONCE; i++)
		fds[i] = -1;
	for (int i = 0; i < crowd->n; i++) {
		int *fd = &fds[i % AT_ONCE];

		if (*fd >= 0)
			(void)close(*fd);
		*fd = knock_from(2 + i % 8, board->port);
		if (*fd < 0)
			continue;
		crowd->n_came++;
		if (i % 97 == 0)
			(void)pass(*fd, crowd->what, 1, 0);
		else
			misbehave_as(*fd, (enum hostile)(i % N_HOSTILE), crowd->what);
	}
	for (int i = 0; i < AT_ONCE; i++)
		if (fds[i] >= 0)
			(void)close(fds[i]);
	atomic_store(&crowd->over, true);
	return NULL;
}

static int crowd_size(void)
{
	const char *wanted = getenv("JEOUL_HOSTILE");

	return wanted && atoi(wanted) > 0 ? atoi(wanted) : 400;
}

/* --- bench net */

static void seen_client(void *ctx, const char *peer, const struct jl_err *how)
{
	(void)ctx, (void)peer;
	if (how)
		board->n_refused++;
	else
		board->n_fine++;
}

static void listen_for_clients(void)
{
	static struct jl_net_listener l;

	l = (struct jl_net_listener){ .door = { .fd = -1 }, .stop = ending, .seen = seen_client };
	if (jl_net_listen(&l, NULL, 0, NULL))
		return;
	atomic_store(&board->port, l.port);
	(void)jl_net_serve(&l, NULL);
	jl_net_unlisten(&l);
}

static enum jl_status one_measurement(double *ret_s, struct jl_err *err)
{
	struct jl_wire_peer peer = { .host = "127.0.0.1", .port = board->port, .what = JL_NET_WHAT };
	static struct jl_net_latency latency;
	static struct jl_net_result result;
	struct jl_net_client *client = NULL;
	const double start_s = jl_clock_s();
	enum jl_status status;

	status = jl_net_connect(&client, &peer, err);
	if (!status)
		status = jl_net_ping(client, 20, &latency, err);
	if (!status)
		status = jl_net_transfer(client, JL_NET_BOTH, 2, 0.5, &result, err);
	jl_net_close(client);
	*ret_s = jl_clock_s() - start_s;
	return status;
}

static void a_client_is_served_in_a_crowd(void **state)
{
	struct crowd crowd = { .what = JL_NET_WHAT, .n = crowd_size() };
	const double start_s = jl_clock_s();
	double before_B = NAN, after_B, longest_s = 0;
	int n_served = 0, code = -1;
	pthread_t thread;
	pid_t pid;

	(void)state;
	pid = fork();
	if (pid == 0) {
		listen_for_clients();
		_exit(0);
	}
	assert_true(port_of_listener() > 0);
	do { /* alone first, so that everything is in memory that ever will be */
		struct jl_err err = { 0 };
		enum jl_status status;
		double took_s;

		if (n_served == 1) {
			before_B = resident_B(pid);
			assert_int_equal(pthread_create(&thread, NULL, flood, &crowd), 0);
		}
		status = one_measurement(&took_s, &err);
		if (status)
			print_error("%s\n", err.en);
		assert_int_equal(status, JL_OK);
		longest_s = took_s > longest_s ? took_s : longest_s;
		n_served++;
	} while (n_served < 3 || !atomic_load(&crowd.over));
	(void)pthread_join(thread, NULL);
	after_B = resident_B(pid);
	atomic_store(&board->ending, true);
	assert_int_equal(waitpid(pid, &code, 0), pid);
	assert_int_equal(code, 0);
	print_message("bench net: %d strangers in %.1f s, %d clients served (longest %.1f s), %d refused, memory %.0f "
		      "-> %.0f kB\n",
		      crowd.n_came, jl_clock_s() - start_s, n_served, longest_s, board->n_refused, before_B / 1024,
		      after_B / 1024);
	assert_true(crowd.n_came > crowd.n / 2);
	assert_true(after_B - before_B < GROWTH_MAX_B);
	assert_true(longest_s < 30);
}

/* --- a collective */

static void listening(void *ctx, const char *address, int port)
{
	(void)ctx, (void)address;
	atomic_store(&board->port, port);
}

static void seen_rank(void *ctx, const char *peer, int n_here, const struct jl_err *refused)
{
	(void)ctx, (void)peer, (void)n_here;
	board->n_refused += refused != NULL;
}

static enum jl_status be_rank(bool first, double numbers[JL_SWEEP_NUMBERS], struct jl_err *err)
{
	struct jl_comm_tcp how = {
		.what = "test", .n_ranks = 2, .wait_s = 120, .stop = ending, .listening = listening, .seen = seen_rank
	};
	struct jl_sweep sweep = { .n_sizes = 0 };
	struct jl_comm *comm = NULL;
	enum jl_status status;

	if (!first) {
		how.to = "127.0.0.1";
		how.port = port_of_listener();
	}
	status = jl_comm_tcp(&comm, &how, err);
	if (!status && first && numbers)
		status = jl_comm_tell(comm, numbers, JL_SWEEP_NUMBERS * sizeof(*numbers), err);
	else if (!status && numbers)
		status = jl_sweep_share(&sweep, comm, err);
	for (int i = 0; i < 20 && !status && !numbers; i++)
		status = jl_comm_barrier(comm, err);
	jl_comm_destroy(comm);
	return status;
}

static pid_t start_rank(bool first, double *numbers)
{
	const pid_t pid = fork();

	if (pid == 0) {
		board->status[!first] = be_rank(first, numbers, &board->errs[!first]);
		_exit(0);
	}
	return pid;
}

static void ranks_find_each_other_in_a_crowd(void **state)
{
	struct crowd crowd = { .what = "test", .n = crowd_size() };
	const pid_t first = start_rank(true, NULL);
	double before_B, after_B = NAN, start_s;
	pthread_t thread;
	pid_t other;
	int code = -1;

	(void)state;
	board->status[0] = board->status[1] = JL_E_IO;
	assert_true(port_of_listener() > 0);
	nap(0.2);
	before_B = resident_B(first);
	assert_int_equal(pthread_create(&thread, NULL, flood, &crowd), 0);
	while (crowd.n_came < crowd.n * 4 / 5 && !atomic_load(&crowd.over)) {
		after_B = resident_B(first);
		nap(0.01);
	}
	start_s = jl_clock_s();
	other = start_rank(false, NULL);
	assert_int_equal(waitpid(other, &code, 0), other);
	assert_int_equal(code, 0);
	assert_int_equal(waitpid(first, &code, 0), first);
	assert_int_equal(code, 0);
	(void)pthread_join(thread, NULL);
	for (int i = 0; i < 2; i++) {
		if (board->status[i])
			print_error("rank %d: %s\n", i, board->errs[i].en);
		assert_int_equal(board->status[i], JL_OK);
	}
	print_message("collective: %d strangers, %d refused, the other rank was in and done after %.1f s, memory %.0f "
		      "-> %.0f kB\n",
		      crowd.n_came, board->n_refused, jl_clock_s() - start_s, before_B / 1024, after_B / 1024);
	assert_true(after_B - before_B < GROWTH_MAX_B);
}

/* --- what rank 0 tells */

static void good(double numbers[JL_SWEEP_NUMBERS])
{
	memset(numbers, 0, JL_SWEEP_NUMBERS * sizeof(*numbers));
	numbers[JL_SWEEP_TYPE] = JL_COMM_FLOAT;
	numbers[JL_SWEEP_CHECK] = 1;
	numbers[JL_SWEEP_TIME_S] = 0.5;
	numbers[JL_SWEEP_SIZES] = 2;
	numbers[JL_N_SWEEP_NUMBER] = 1024;
	numbers[JL_N_SWEEP_NUMBER + 1] = 1 << 20;
}

static const struct {
	size_t at;
	double value;
} lies[] = { { JL_SWEEP_TYPE, 99 },
	     { JL_SWEEP_TYPE, -5 },
	     { JL_SWEEP_TYPE, 0.5 },
	     { JL_SWEEP_TYPE, (double)NAN },
	     { JL_SWEEP_OP, 5 },
	     { JL_SWEEP_OP, 1e300 },
	     { JL_SWEEP_ROOT, 2 },
	     { JL_SWEEP_ROOT, -1 },
	     { JL_SWEEP_ROOT, (double)INFINITY },
	     { JL_SWEEP_ITERS, 1e300 },
	     { JL_SWEEP_ITERS, (double)NAN },
	     { JL_SWEEP_WARMUP, -5 },
	     { JL_SWEEP_WARMUP, 1e9 },
	     { JL_SWEEP_CHECK, 2 },
	     { JL_SWEEP_TIME_S, (double)NAN },
	     { JL_SWEEP_TIME_S, -1 },
	     { JL_SWEEP_TIME_S, 1e300 },
	     { JL_SWEEP_SIZES, 0 },
	     { JL_SWEEP_SIZES, 257 },
	     { JL_SWEEP_SIZES, 1e300 },
	     { JL_N_SWEEP_NUMBER, 3 }, /* less than a float */
	     { JL_N_SWEEP_NUMBER, 1025.5 },
	     { JL_N_SWEEP_NUMBER, (double)NAN },
	     { JL_N_SWEEP_NUMBER + 1, 1e300 },
	     { JL_N_SWEEP_NUMBER + 1, 6e9 } }; /* 1.5e9 floats: more than the host has */

static void every_figure_is_checked(void **state)
{
	struct jl_sweep sweep = { .n_sizes = 0 };
	double numbers[JL_SWEEP_NUMBERS];
	struct jl_err err = { 0 };

	(void)state;
	good(numbers);
	assert_int_equal(jl_sweep_take(&sweep, numbers, 2, 8e9, &err), JL_OK);
	assert_int_equal(sweep.n_sizes, 2);
	assert_int_equal(sweep.sizes_B[1], 1 << 20);
	assert_int_equal(sweep.task.type, JL_COMM_FLOAT);
	assert_true(sweep.plan.check);
	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		good(numbers);
		numbers[lies[i].at] = lies[i].value;
		sweep.n_sizes = 77;
		assert_in_set(jl_sweep_take(&sweep, numbers, 2, 8e9, &err),
			      ((const LargestIntegralType[]){ JL_E_DATA, JL_E_LIMIT }), 2);
		assert_int_equal(sweep.n_sizes, 77); /* nothing of it was taken */
	}
}

/* Over the wire: the joiner says what was wrong and ends; it does not crash. */
static void a_hostile_rank_0_is_refused(void **state)
{
	static const size_t which[] = { 0, 3, 1, 5 }; /* 99, NaN, -5, 1e300 */

	(void)state;
	for (size_t i = 0; i < sizeof(which) / sizeof(*which); i++) {
		double numbers[JL_SWEEP_NUMBERS];
		pid_t first, other;
		int code = -1;

		good(numbers);
		numbers[lies[which[i]].at] = lies[which[i]].value;
		atomic_store(&board->port, 0);
		first = start_rank(true, numbers);
		other = start_rank(false, numbers);
		assert_int_equal(waitpid(other, &code, 0), other);
		assert_int_equal(code, 0);
		(void)waitpid(first, &code, 0);
		assert_int_equal(board->status[1], JL_E_DATA);
		assert_non_null(strstr(board->errs[1].en, "makes no sense"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_figure_is_checked),
		cmocka_unit_test_setup_teardown(a_hostile_rank_0_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_client_is_served_in_a_crowd, set_up, tear_down),
		cmocka_unit_test_setup_teardown(ranks_find_each_other_in_a_crowd, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
