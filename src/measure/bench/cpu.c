/* The measuring backend for this machine's CPUs. */
#include "bench/cpu.h"

#include <limits.h>

#include "base/mem.h"
#include "bench/cpu_libs.h"

#define EXACT_K_MAX ((size_t)1 << 22) /* beyond this k, float sums of the test data are not exact */

struct jl_bench_state {
	struct jl_cpu_gemm *gemm;
	struct jl_cpu_mem *mem;
};

static enum jl_status present(struct jl_err *err)
{
	(void)err; /* memory benchmarks need no library; gemm reports a missing one itself */
	return JL_OK;
}

static bool supports(const struct jl_bench_task *task)
{
	if (task->kind == JL_BENCH_GEMM)
		return task->dtype == JL_FP32 && task->m && task->n && task->k && task->m <= INT_MAX &&
		       task->n <= INT_MAX && task->k <= EXACT_K_MAX;
	return (task->kind == JL_BENCH_TRIAD || task->kind == JL_BENCH_COPY) && task->size_B >= sizeof(double);
}

/* Products pack their operands into buffers of their own, so placement does not matter. */
static size_t place_B(const struct jl_bench_task *task)
{
	return task->kind == JL_BENCH_GEMM ? 0 : (task->kind == JL_BENCH_TRIAD ? 3 : 2) * task->size_B;
}

static void finish(struct jl_bench_state *s)
{
	if (!s)
		return;
	jl_cpu_gemm_finish(s->gemm);
	jl_cpu_mem_finish(s->mem);
	jl_free(s);
}

static enum jl_status prepare(const struct jl_bench_task *task, struct jl_bench_state **ret_state, struct jl_err *err)
{
	struct jl_bench_state *s = jl_realloc(NULL, sizeof(*s));

	JL_TRY(jl_got(s, err));
	*s = (struct jl_bench_state){ 0 };
	enum jl_status status = task->kind == JL_BENCH_GEMM
					? jl_cpu_gemm_prepare(task, &s->gemm, err)
					: jl_cpu_mem_prepare(task, task->first ? task->first->mem : NULL, &s->mem, err);
	if (status)
		finish(s);
	else
		*ret_state = s;
	return status;
}

static enum jl_status run_once(struct jl_bench_state *s, double *ret_s, struct jl_err *err)
{
	(void)err;
	if (s->gemm)
		jl_cpu_gemm_run(s->gemm, ret_s);
	else
		jl_cpu_mem_run(s->mem, ret_s);
	return JL_OK;
}

static enum jl_status verify(struct jl_bench_state *s, size_t *ret_n_wrong, struct jl_err *err)
{
	(void)err;
	*ret_n_wrong = s->gemm ? jl_cpu_gemm_wrong(s->gemm) : jl_cpu_mem_wrong(s->mem);
	return JL_OK;
}

const struct jl_bench_backend jl_bench_cpu = {
	.name = "cpu",
	.en = JL_N("matrix products (OpenBLAS, oneDNN, BLIS) and memory of the CPUs"),
	.present = present,
	.supports = supports,
	.prepare = prepare,
	.run_once = run_once,
	.verify = verify,
	.finish = finish,
	.place_B = place_B,
	.versions = jl_cpu_libs_version,
};
