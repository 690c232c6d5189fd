/* One test for every measuring backend that is present: it does what it says it supports, its times are times, its results are
 * right, and what it does not support it refuses. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "bench/core.h"
#include "../comm/self.h"

static const struct jl_bench_task tasks[] = {
	{ .kind = JL_BENCH_GEMM, .dtype = JL_FP32, .m = 64, .n = 48, .k = 80 },
	{ .kind = JL_BENCH_GEMM, .dtype = JL_FP32, .m = 1, .n = 7, .k = 3 },
	{ .kind = JL_BENCH_GEMM, .dtype = JL_BF16, .m = 128, .n = 128, .k = 128 },
	{ .kind = JL_BENCH_TRIAD, .size_B = 1 << 20 },
	{ .kind = JL_BENCH_TRIAD, .size_B = 8 },
	{ .kind = JL_BENCH_COPY, .size_B = 1000008 },
	{ .kind = JL_BENCH_H2D, .size_B = 1 << 16, .pinned = true },
	{ .kind = JL_BENCH_D2H, .size_B = 1 << 16 },
	{ .kind = JL_BENCH_D2D, .size_B = 1 << 16 },
	{ .kind = JL_BENCH_WRITE, .size_B = 1 << 20, .dir = "." },
	{ .kind = JL_BENCH_READ, .size_B = 16 << 20, .dir = "." },
	{ .kind = JL_BENCH_WRITE, .size_B = 5000, .dir = "." }, /* no whole blocks */
	{ .kind = JL_BENCH_COLL, .coll = JL_COLL_ALLREDUCE, .type = JL_COMM_FLOAT, .size_B = 1 << 16 },
	{ .kind = JL_BENCH_COLL, .coll = JL_COLL_ALLGATHER, .type = JL_COMM_INT8, .size_B = 4096, .in_place = true },
	{ .kind = JL_BENCH_COLL, .coll = JL_COLL_REDUCESCATTER, .type = JL_COMM_DOUBLE, .size_B = 8192 },
	{ .kind = JL_BENCH_COLL, .coll = JL_COLL_ALLTOALL, .type = JL_COMM_HALF, .size_B = 4096 },
};
#define N_TASKS (sizeof(tasks) / sizeof(*tasks))

static size_t run_all(const struct jl_bench_backend *b, struct jl_comm *comm)
{
	const struct jl_bench_plan plan = { .n_iters = 4, .n_warmup = 1, .check = true, .time_s = 1 };
	static struct jl_bench_result result;
	size_t n_run = 0;

	for (size_t i = 0; i < N_TASKS; i++) {
		struct jl_bench_task task = tasks[i];
		struct jl_err err = { 0 };
		enum jl_status status;

		task.comm = task.kind == JL_BENCH_COLL && strcmp(b->name, "nccl") != 0 ? comm : NULL;
		status = jl_bench_measure(b, &task, &plan, &result, &err);
		if (!b->supports(&task)) {
			assert_int_equal(status, JL_E_ABSENT);
			assert_true(err.en[0] && err.text[0]);
			continue;
		}
		if (status)
			print_error("%s task %zu: %s\n", b->name, i, err.en);
		assert_int_equal(status, JL_OK);
		assert_int_equal(result.n_samples, 4);
		for (size_t k = 0; k < 4; k++)
			assert_true(result.samples_s[k] > 0 && result.samples_s[k] < 60);
		assert_true(result.time_s.median > 0);
		assert_true(result.checked);
		assert_true(result.n_wrong == 0);
		n_run++;
	}
	return n_run;
}

static void every_backend_present(void **state)
{
	struct jl_err err = { 0 };
	struct jl_comm *self = NULL;
	size_t n_present = 0;

	(void)state;
	assert_int_equal(comm_self(&self, &err), JL_OK);
	for (const struct jl_bench_backend *const *b = jl_bench_backends; *b; b++) {
		struct jl_err why = { 0 };
		size_t n;

		assert_ptr_equal(jl_bench_find((*b)->name), *b);
		assert_true((*b)->en[0] && strcmp(jl_msg((*b)->en), (*b)->en) != 0);
		if ((*b)->present(&why)) { /* absence is explained, in both languages */
			print_message("%s: %s\n", (*b)->name, why.en);
			assert_true(strlen(why.en) > 10 && strlen(why.text) > 10);
			continue;
		}
		n = run_all(*b, self);
		print_message("%s: %zu tasks\n", (*b)->name, n);
		/* these want a communicator of their own: see below, and tests/show/cli/test_bench_mpi.sh */
		assert_true(n > 0 || strcmp((*b)->name, "mpi") == 0 || strcmp((*b)->name, "tcp") == 0);
		n_present++;
	}
	assert_true(n_present >= 3); /* fake, cpu, shm need nothing */
	jl_comm_destroy(self);
}

/* --- tcp: three ranks on loopback; this process is the first, and starts the others when it knows its port */

#define N_TCP 3

static size_t n_collectives(void)
{
	size_t n = 0;

	for (size_t i = 0; i < N_TASKS; i++)
		n += tasks[i].kind == JL_BENCH_COLL;
	return n;
}

static void join(int port)
{
	const struct jl_comm_tcp how = { .to = "127.0.0.1", .port = port, .what = "contract", .wait_s = 20 };
	struct jl_err err = { 0 };
	struct jl_comm *comm = NULL;
	size_t n = 0;

	if (jl_comm_tcp(&comm, &how, &err) == JL_OK)
		n = run_all(&jl_bench_tcp, comm);
	jl_comm_destroy(comm);
	_exit(n == n_collectives() ? 0 : 1);
}

static void start_others(void *ctx, const char *address, int port)
{
	pid_t *pids = ctx;

	(void)address;
	for (int i = 0; i < N_TCP - 1; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			join(port);
	}
}

static void tcp_between_processes(void **state)
{
	pid_t pids[N_TCP - 1] = { 0 };
	const struct jl_comm_tcp how = {
		.n_ranks = N_TCP, .what = "contract", .wait_s = 20, .listening = start_others, .ctx = pids
	};
	struct jl_err err = { 0 };
	struct jl_comm *comm = NULL;

	(void)state;
	assert_int_equal(jl_comm_tcp(&comm, &how, &err), JL_OK);
	assert_string_equal(comm->backend->name, "tcp");
	assert_int_equal(run_all(&jl_bench_tcp, comm), n_collectives());
	jl_comm_destroy(comm);
	for (int i = 0; i < N_TCP - 1; i++) {
		int how_it_ended = -1;

		assert_int_equal(waitpid(pids[i], &how_it_ended, 0), pids[i]);
		assert_int_equal(how_it_ended, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_backend_present),
					    cmocka_unit_test(tcp_between_processes) };

	jl_lang_set_default(jl_lang_find("ko"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
