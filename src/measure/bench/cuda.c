/* The measuring backend for NVIDIA GPUs: matrix products by cuBLASLt, memory by own kernels or the copy engines,
 * whichever is faster, links by the copy engines. Times are those of the GPU's own events. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/mem.h"
#include "bench/cuda_state.h"

/* A sample shorter than this is repeated: the clock between two events ticks in about half microseconds. */
#define SAMPLE_MIN_S 4e-3
#define REPEAT_MAX   2000

enum jl_status jl_bench_cuda_alloc(struct jl_bench_state *s, struct jl_gpu_dev *gpu, int i, size_t size_B,
				   struct jl_err *err)
{
	enum jl_status status = jl_gpu_alloc(gpu, size_B, &s->buffers[i], err);
	if (status == JL_OK)
		s->buffer_B[i] = size_B;
	return status;
}

/* Fill and check kernels: speed does not matter, one shape of grid for all. Waits for them. */
enum jl_status jl_bench_cuda_kernel(struct jl_bench_state *s, struct jl_gpu_dev *gpu, const char *name, void **args,
				    struct jl_err *err)
{
	(void)s;
	struct CUfunc_st *function = NULL;
	enum jl_status status = jl_gpu_function(gpu, name, 0, &function, err);
	if (status == JL_OK)
		status = jl_gpu_launch(gpu, function,
				       &(struct jl_gpu_grid){ .x = 8 * (unsigned)gpu->n_sm, .n_threads = 256 },
				       gpu->stream, args, err);
	return status == JL_OK ? jl_gpu_sync(gpu, err) : status;
}

enum jl_status jl_bench_cuda_counted(struct jl_bench_state *s, size_t *ret_n, struct jl_err *err)
{
	const struct jl_cuda *cu = s->gpu->cuda;
	unsigned long long n = 0, zero = 0;
	enum jl_status status = jl_gpu_sync(s->gpu, err);
	if (status == JL_OK)
		status = jl_cuda_check(cu, cu->MemcpyDtoH(&n, s->counter, sizeof n), "cuMemcpyDtoH", err);
	if (status == JL_OK)
		status = jl_cuda_check(cu, cu->MemcpyHtoD(s->counter, &zero, sizeof zero), "cuMemcpyHtoD", err);
	if (status == JL_OK)
		*ret_n = (size_t)n;
	return status;
}

/* Copies from memory that is not pinned are done by the driver on this thread: only the wall clock sees them whole. */
static enum jl_status time_on_host(struct jl_bench_state *s,
				   enum jl_status (*run)(struct jl_bench_state *s, struct jl_err *err), int n,
				   double *ret_s, struct jl_err *err)
{
	struct timespec a, b;
	enum jl_status status = jl_gpu_sync(s->gpu, err);
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (int i = 0; status == JL_OK && i < n; i++)
		status = run(s, err);
	if (status == JL_OK)
		status = jl_gpu_sync(s->gpu, err);
	clock_gettime(CLOCK_MONOTONIC, &b);
	if (status == JL_OK)
		*ret_s = ((double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) * 1e-9) / n;
	return status;
}

enum jl_status jl_bench_cuda_time(struct jl_bench_state *s,
				  enum jl_status (*run)(struct jl_bench_state *s, struct jl_err *err), int n,
				  double *ret_s, struct jl_err *err)
{
	const struct jl_cuda *cu = s->gpu->cuda;
	float ms = 0.0F;
	if (s->host && !s->host_pinned)
		return time_on_host(s, run, n, ret_s, err);
	enum jl_status status = jl_cuda_check(cu, cu->EventRecord(s->from, s->gpu->stream), "cuEventRecord", err);
	for (int i = 0; status == JL_OK && i < n; i++)
		status = run(s, err);
	if (status == JL_OK)
		status = jl_cuda_check(cu, cu->EventRecord(s->to, s->gpu->stream), "cuEventRecord", err);
	if (status == JL_OK)
		status = jl_cuda_check(cu, cu->EventSynchronize(s->to), "cuEventSynchronize", err);
	if (status == JL_OK)
		status = jl_cuda_check(cu, cu->EventElapsedTime(&ms, s->from, s->to), "cuEventElapsedTime", err);
	if (status == JL_OK)
		*ret_s = (double)ms * 1e-3 / n;
	return status;
}

static bool is_gemm(const struct jl_bench_state *s)
{
	return s->task.kind == JL_BENCH_GEMM;
}

static enum jl_status run(struct jl_bench_state *s, struct jl_err *err)
{
	return is_gemm(s) ? jl_bench_cuda_gemm_run(s, err) : jl_bench_cuda_move_run(s, err);
}

static enum jl_status present(struct jl_err *err)
{
	return jl_gpu_present(err);
}

static bool supports(const struct jl_bench_task *task)
{
	switch (task->kind) {
	case JL_BENCH_GEMM:
		/* 8-bit rows must be whole 16-byte words */
		if (task->dtype == JL_FP8)
			return task->k % 16 == 0 && task->n % 16 == 0;
		return task->dtype == JL_FP32 || task->dtype == JL_TF32 || task->dtype == JL_FP16 ||
		       task->dtype == JL_BF16;
	case JL_BENCH_TRIAD:
	case JL_BENCH_COPY: return task->size_B >= 16 && task->size_B % 16 == 0;
	case JL_BENCH_H2D:
	case JL_BENCH_D2H:
	case JL_BENCH_D2D: return task->size_B >= 4;
	default: return false;
	}
}

/* NVML counts GPUs by bus, CUDA by speed: the bus id says which is which. */
static void open_watch(struct jl_bench_state *s)
{
	struct jl_arena arena;
	struct jl_nvml_snapshot snapshot;
	char bus[32] = "";
	if (jl_nvml_open(&s->nvml, NULL) != JL_OK)
		return;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	bool found = false;
	if (jl_nvml_read(s->nvml, &arena, &snapshot, NULL) == JL_OK) {
		jl_nvml_bus_id(bus, s->gpu->bus_id);
		for (size_t i = 0; i < snapshot.n_gpus && !found; i++)
			if (!strcmp(snapshot.gpus[i].bus, bus)) {
				found = true;
				s->nvml_index = i;
				s->clock_max_Hz = snapshot.gpus[i].sm_max_Hz;
			}
	}
	jl_arena_release(&arena);
	if (!found) {
		jl_nvml_close(s->nvml);
		s->nvml = NULL;
	}
}

static void finish(struct jl_bench_state *s)
{
	if (!s)
		return;
	if (s->gpu) {
		const struct jl_cuda *cu = s->gpu->cuda;
		cu->CtxSetCurrent(s->gpu->ctx);
		jl_matmul_free(s->plan);
		jl_lt_close(s->lt);
		if (s->host && s->host_pinned)
			cu->MemFreeHost(s->host);
		else
			jl_free(s->host);
		for (int i = 0; i < 3; i++)
			if (!(s->peer && i == 1))
				jl_gpu_free(s->gpu, s->buffers[i], s->buffer_B[i]);
		jl_gpu_free(s->gpu, s->counter, 8);
		if (s->from)
			cu->EventDestroy(s->from);
		if (s->to)
			cu->EventDestroy(s->to);
	}
	if (s->peer) {
		s->peer->cuda->CtxSetCurrent(s->peer->ctx);
		jl_gpu_free(s->peer, s->buffers[1], s->buffer_B[1]);
		jl_gpu_close(s->peer);
	}
	if (s->nvml)
		jl_nvml_close(s->nvml);
	jl_gpu_close(s->gpu);
	jl_free(s);
}

/* How many runs make a sample, from a few timed ones. */
static enum jl_status set_repeat(struct jl_bench_state *s, struct jl_err *err)
{
	double once_s = 0.0;
	enum jl_status status = run(s, err);
	if (status == JL_OK)
		status = jl_bench_cuda_time(s, run, 3, &once_s, err);
	s->n_each = once_s * REPEAT_MAX < SAMPLE_MIN_S ? REPEAT_MAX : (int)ceil(SAMPLE_MIN_S / once_s);
	return status;
}

static enum jl_status prepare(const struct jl_bench_task *task, struct jl_bench_state **ret_state, struct jl_err *err)
{
	struct jl_bench_state *s = jl_realloc(NULL, sizeof *s);
	JL_TRY(jl_got(s, err));
	*s = (struct jl_bench_state){ .task = *task, .clock_max_Hz = NAN };
	enum jl_status status = jl_gpu_open(task->device, &s->gpu, err);
	if (status)
		goto out;
	const struct jl_cuda *cu = s->gpu->cuda;
	unsigned long long zero = 0;
	status = jl_cuda_check(cu, cu->EventCreate(&s->from, 0), "cuEventCreate", err);
	if (!status)
		status = jl_cuda_check(cu, cu->EventCreate(&s->to, 0), "cuEventCreate", err);
	if (!status)
		status = jl_gpu_alloc(s->gpu, sizeof zero, &s->counter, err);
	if (!status)
		status = jl_cuda_check(cu, cu->MemcpyHtoD(s->counter, &zero, sizeof zero), "cuMemcpyHtoD", err);
	if (!status)
		status = is_gemm(s) ? jl_bench_cuda_gemm_prepare(s, err) : jl_bench_cuda_move_prepare(s, err);
	if (!status)
		status = set_repeat(s, err);
	if (!status)
		open_watch(s);
out:
	if (!status)
		*ret_state = s;
	else
		finish(s);
	return status;
}

static enum jl_status run_once(struct jl_bench_state *s, double *ret_s, struct jl_err *err)
{
	enum jl_status status = jl_gpu_current(s->gpu, err);
	return status == JL_OK ? jl_bench_cuda_time(s, run, s->n_each, ret_s, err) : status;
}

static enum jl_status verify(struct jl_bench_state *s, size_t *ret_n_wrong, struct jl_err *err)
{
	JL_TRY(jl_gpu_current(s->gpu, err));
	return is_gemm(s) ? jl_bench_cuda_gemm_verify(s, ret_n_wrong, err)
			  : jl_bench_cuda_move_verify(s, ret_n_wrong, err);
}

static void watch(struct jl_bench_state *s, double *ret_clock_frac, bool *ret_thermal, bool *ret_power)
{
	struct jl_nvml_gpu now;
	*ret_clock_frac = NAN;
	*ret_thermal = *ret_power = false;
	if (!s->nvml)
		return;
	jl_nvml_gpu_clear(&now);
	jl_nvml_watch(s->nvml, s->nvml_index, &now);
	if (now.throttle < 0)
		return;
	/* At full load a GPU sets its clock by its power limit: that is no disturbance, and says nothing of a clock
	 * that is too low. */
	if (!(now.throttle & JL_THROTTLE_POWER_CAP))
		*ret_clock_frac = now.sm_Hz / s->clock_max_Hz;
	*ret_thermal = (now.throttle & (JL_THROTTLE_SW_THERMAL | JL_THROTTLE_HW_THERMAL)) != 0;
	*ret_power = (now.throttle & (JL_THROTTLE_HW_SLOWDOWN | JL_THROTTLE_POWER_BRAKE)) != 0;
}

static const char *versions(void)
{
	static char text[96];
	const struct jl_cuda *cuda = NULL;
	if (jl_cuda_open(&cuda, NULL) != JL_OK)
		return "";
	int v = jl_cuda_driver_version(cuda);
	size_t lt = jl_lt_version();
	int n = snprintf(text, sizeof text, "cuda_driver=%d.%d", v / 1000, v % 1000 / 10);
	if (lt)
		snprintf(text + n, sizeof text - (size_t)n, " cublaslt=%zu.%zu.%zu", lt / 10000, lt % 10000 / 100,
			 lt % 100);
	return text;
}

const struct jl_bench_backend jl_bench_cuda = {
	.name = "cuda",
	.en = JL_N("NVIDIA GPUs: matrix products (cuBLASLt), memory, host and GPU-to-GPU links"),
	.present = present,
	.supports = supports,
	.prepare = prepare,
	.run_once = run_once,
	.verify = verify,
	.finish = finish,
	.watch = watch,
	.versions = versions,
};
