/* AMD's libraries behind the tables of NVIDIA's, on stand-ins: every copy and every collective is right, what needs a kernel is refused, and
 * each call that fails is said and everything given back. */
#include "../train/models.h"

#include <dlfcn.h>

#include "bench/backend.h"
#include "gpu/cuda.h"

static size_t (*held)(void);
static int (*recount)(void);

static int use_fakes(void **state)
{
	const char *hip = getenv("JEOUL_FAKE_HIP"), *rccl = getenv("JEOUL_FAKE_NCCL");

	(void)state;
	if (!hip || !rccl)
		return 0;
	setenv("JEOUL_HIP", hip, 1);
	setenv("JEOUL_RCCL", rccl, 1);
	setenv("FAKE_CUDA_GPUS", "3", 1);
	void *handle = dlopen(hip, RTLD_NOW);
	assert_non_null(handle);
	*(void **)&held = dlsym(handle, "fake_cuda_held");
	*(void **)&recount = dlsym(handle, "fake_cuda_recount");
	assert_true(held && recount);
	return 0;
}

static const struct jl_bench_task tasks[] = {
	{ .kind = JL_BENCH_COPY, .size_B = 4096, .device = 1 },
	{ .kind = JL_BENCH_H2D, .size_B = 4096, .pinned = true },
	{ .kind = JL_BENCH_H2D, .size_B = 4096 },
	{ .kind = JL_BENCH_D2H, .size_B = 1004, .pinned = true },
	{ .kind = JL_BENCH_D2D, .size_B = 4096 },
	{ .kind = JL_BENCH_D2D, .size_B = 4096, .device = 0, .peer = 1 },
	{ .kind = JL_BENCH_D2D, .size_B = 4096, .device = 1, .peer = 2 },
	{ .kind = JL_BENCH_COLL, .coll = JL_COLL_ALLREDUCE, .type = JL_COMM_FLOAT, .size_B = 1200, .n_gpus = 3 },
	{ .kind = JL_BENCH_COLL, .coll = JL_COLL_ALLGATHER, .type = JL_COMM_FLOAT, .size_B = 1200, .in_place = true },
	{ .kind = JL_BENCH_COLL, .coll = JL_COLL_REDUCESCATTER, .type = JL_COMM_FLOAT, .size_B = 1200 },
	{ .kind = JL_BENCH_COLL, .coll = JL_COLL_BROADCAST, .type = JL_COMM_BF16, .size_B = 1200, .root = 2 },
	{ .kind = JL_BENCH_COLL, .coll = JL_COLL_ALLTOALL, .type = JL_COMM_INT32, .size_B = 1200 },
	{ .kind = JL_BENCH_COLL, .coll = JL_COLL_SENDRECV, .type = JL_COMM_HALF, .size_B = 1200 },
};
#define N_TASKS (sizeof tasks / sizeof *tasks)

static enum jl_status run_task(const struct jl_bench_task *task, struct jl_err *err)
{
	const struct jl_bench_backend *b = task->kind == JL_BENCH_COLL ? &jl_bench_rccl : &jl_bench_hip;
	struct jl_bench_state *state = NULL;
	double once_s = -1;
	size_t n_wrong = 99;
	assert_true(b->supports(task));
	enum jl_status status = b->prepare(task, &state, err);
	JL_THEN(status, b->run_once(state, &once_s, err));
	JL_THEN(status, b->verify(state, &n_wrong, err));
	if (status == JL_OK) {
		assert_true(once_s >= 0);
		assert_int_equal(n_wrong, 0);
	}
	b->finish(state);
	return status;
}

static void every_task(void **state)
{
	struct jl_err err = { 0 };

	(void)state;
	if (!held)
		skip();
	assert_ok(jl_bench_hip.present(&err));
	assert_ok(jl_bench_rccl.present(&err));
	assert_string_equal(jl_bench_hip.versions(), "hip=6.3");
	assert_string_equal(jl_bench_rccl.versions(), "rccl=2.28.9");
	for (size_t i = 0; i < N_TASKS; i++) {
		assert_ok(run_task(&tasks[i], &err));
		assert_int_equal(held(), 0);
	}
	assert_false(jl_bench_hip.supports(&(struct jl_bench_task){ .kind = JL_BENCH_TRIAD, .size_B = 4096 }));
	assert_false(jl_bench_hip.supports(
		&(struct jl_bench_task){ .kind = JL_BENCH_GEMM, .dtype = JL_BF16, .m = 64, .n = 64, .k = 64 }));
}

static void every_failure(void **state)
{
	(void)state;
	if (!held)
		skip();
	for (size_t i = 0; i < N_TASKS; i++) {
		struct jl_err err = { 0 };
		char text[16];
		recount();
		assert_ok(run_task(&tasks[i], &err));
		const int n = recount();
		assert_true(n > 5);
		for (int at = 1; at <= n; at += 1 + at / 16) { /* what repeats fails alike */
			snprintf(text, sizeof text, "%d", at);
			setenv("FAKE_CUDA_FAIL_AT", text, 1);
			recount();
			const enum jl_status status = run_task(&tasks[i], &err);
			unsetenv("FAKE_CUDA_FAIL_AT");
			if (status)
				assert_non_null(strstr(err.en, "HIP error"));
			assert_int_equal(held(), 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_task), cmocka_unit_test(every_failure) };
	return cmocka_run_group_tests(tests, use_fakes, NULL);
}
