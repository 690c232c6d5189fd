/* The measuring backend for NVIDIA GPUs: products by cuBLASLt, memory by own kernels or the copy engine, whichever is faster, links by the copy
 * engine. Times come from GPU events. */
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench/cuda_state.h"

/* Minimum duration of a sample: events have a resolution of about 0.5 µs, so shorter work is repeated. */
#define SAMPLE_MIN_S 4e-3
#define SHORT_S      30e-6 /* longest time of a launch on an idle host */
#define REPEAT_MAX   2000

enum jl_status jl_bench_cuda_alloc(struct jl_bench_state *s, struct jl_gpu_dev *gpu, int i, size_t size_B,
				   struct jl_err *err)
{
	JL_TRY(jl_gpu_alloc(gpu, size_B, &s->buffers[i], err));
	s->buffer_B[i] = size_B;
	return JL_OK;
}

/* The driver copies unpinned memory on the calling thread, so these copies are timed by the wall clock. */
static enum jl_status time_on_host(struct jl_bench_state *s,
				   enum jl_status (*run)(struct jl_bench_state *s, struct jl_err *err), int n,
				   double *ret_s, struct jl_err *err)
{
	JL_TRY(jl_gpu_sync(s->gpu, err));
	const double from_s = jl_clock_s();
	for (int i = 0; i < n; i++)
		JL_TRY(run(s, err));
	JL_TRY(jl_gpu_sync(s->gpu, err));
	*ret_s = (jl_clock_s() - from_s) / n;
	return JL_OK;
}

enum jl_status jl_bench_cuda_time(struct jl_bench_state *s,
				  enum jl_status (*run)(struct jl_bench_state *s, struct jl_err *err), int n,
				  double *ret_s, struct jl_err *err)
{
	const struct jl_cuda *cu = s->gpu->cuda;
	float ms = 0.0F;
	if (s->host && !s->host_pinned)
		return time_on_host(s, run, n, ret_s, err);
	JL_TRY(jl_cuda_check(cu, cu->EventRecord(s->from, s->gpu->stream), "cuEventRecord", err));
	if (s->replay && n == s->n_each)
		JL_TRY(jl_cuda_check(cu, cu->GraphLaunch(s->replay, s->gpu->stream), "cuGraphLaunch", err));
	else
		for (int i = 0; i < n; i++)
			JL_TRY(run(s, err));
	JL_TRY(jl_cuda_check(cu, cu->EventRecord(s->to, s->gpu->stream), "cuEventRecord", err));
	JL_TRY(jl_cuda_check(cu, cu->EventSynchronize(s->to), "cuEventSynchronize", err));
	JL_TRY(jl_cuda_check(cu, cu->EventElapsedTime(&ms, s->from, s->to), "cuEventElapsedTime", err));
	*ret_s = (double)ms * 1e-3 / n;
	return JL_OK;
}

static bool is_gemm(const struct jl_bench_state *s)
{
	return s->task.kind == JL_BENCH_GEMM;
}

static enum jl_status run(struct jl_bench_state *s, struct jl_err *err)
{
	return is_gemm(s) ? jl_bench_cuda_gemm_run(s, err) : jl_bench_cuda_move_run(s, err);
}

static void forget(struct jl_bench_state *s)
{
	if (s->replay)
		s->gpu->cuda->GraphExecDestroy(s->replay);
	if (s->recorded)
		s->gpu->cuda->GraphDestroy(s->recorded);
	s->replay = NULL;
	s->recorded = NULL;
}

/* Captures short runs as a graph and replays it: a busy host may need longer to launch a product of microseconds than the GPU to compute it. If
 * the driver cannot capture, they are launched one by one. */
static void record(struct jl_bench_state *s)
{
	const struct jl_cuda *cu = s->gpu->cuda;
	struct jl_err ignored;
	bool whole = true;

	if (cu->StreamBeginCapture(s->gpu->stream, JL_CU_CAPTURE_RELAXED) != JL_CU_OK)
		return;
	for (int i = 0; i < s->n_each && whole; i++)
		whole = run(s, &ignored) == JL_OK;
	whole = cu->StreamEndCapture(s->gpu->stream, &s->recorded) == JL_CU_OK && whole;
	if (!whole || cu->GraphInstantiate(&s->replay, s->recorded, 0) != JL_CU_OK)
		forget(s);
}

static bool supports(const struct jl_bench_task *task)
{
	switch (task->kind) {
	case JL_BENCH_GEMM:
		/* FP8 rows must be multiples of 16 bytes */
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

static void finish(struct jl_bench_state *s)
{
	if (!s)
		return;
	if (s->gpu) {
		const struct jl_cuda *cu = s->gpu->cuda;
		cu->CtxSetCurrent(s->gpu->ctx);
		forget(s);
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
		jl_gpu_event_free(s->gpu, s->from);
		jl_gpu_event_free(s->gpu, s->to);
	}
	if (s->peer) {
		s->peer->cuda->CtxSetCurrent(s->peer->ctx);
		jl_gpu_free(s->peer, s->buffers[1], s->buffer_B[1]);
		jl_gpu_close(s->peer);
	}
	jl_nvml_close(s->nvml);
	jl_gpu_close(s->gpu);
	jl_free(s);
}

/* Chooses the number of runs per sample by timing a few. */
static enum jl_status set_repeat(struct jl_bench_state *s, struct jl_err *err)
{
	double once_s = 0.0;
	enum jl_status status = run(s, err);
	JL_THEN(status, jl_bench_cuda_time(s, run, 3, &once_s, err));
	s->n_each = once_s * REPEAT_MAX < SAMPLE_MIN_S ? REPEAT_MAX : (int)ceil(SAMPLE_MIN_S / once_s);
	if (status == JL_OK && is_gemm(s) && once_s < SHORT_S)
		record(s);
	return status;
}

static enum jl_status prepare_on(jl_bench_gpu_open *open, const struct jl_bench_task *task,
				 struct jl_bench_state **ret_state, struct jl_err *err)
{
	struct jl_bench_state *s = jl_realloc(NULL, sizeof *s);
	JL_TRY(jl_got(s, err));
	*s = (struct jl_bench_state){ .task = *task, .open = open };
	enum jl_status status = open(task->device, &s->gpu, err);
	JL_THEN(status, jl_gpu_events(s->gpu, &s->from, &s->to, err));
	JL_THEN(status, jl_gpu_counter(s->gpu, &s->counter, err));
	JL_THEN(status, is_gemm(s) ? jl_bench_cuda_gemm_prepare(s, err) : jl_bench_cuda_move_prepare(s, err));
	JL_THEN(status, set_repeat(s, err));
	if (status) {
		finish(s);
		return status;
	}
	if (!s->gpu->cuda->amd)
		s->nvml = jl_nvml_open_at(s->gpu->bus_id, &s->nvml_index);
	*ret_state = s;
	return JL_OK;
}

static enum jl_status prepare(const struct jl_bench_task *task, struct jl_bench_state **ret_state, struct jl_err *err)
{
	return prepare_on(jl_gpu_open, task, ret_state, err);
}

static enum jl_status run_once(struct jl_bench_state *s, double *ret_s, struct jl_err *err)
{
	JL_TRY(jl_gpu_current(s->gpu, err));
	return jl_bench_cuda_time(s, run, s->n_each, ret_s, err);
}

static enum jl_status verify(struct jl_bench_state *s, size_t *ret_n_wrong, struct jl_err *err)
{
	JL_TRY(jl_gpu_current(s->gpu, err));
	return is_gemm(s) ? jl_bench_cuda_gemm_verify(s, ret_n_wrong, err)
			  : jl_bench_cuda_move_verify(s, ret_n_wrong, err);
}

static void watch(struct jl_bench_state *s, struct jl_record_noise *n)
{
	struct jl_nvml_gpu now;

	if (!s->nvml)
		return;
	jl_nvml_watch(s->nvml, s->nvml_index, &now);
	if (jl_nvml_neighbour(s->nvml, s->nvml_index, s->neighbour, sizeof(s->neighbour), &n->neighbour_B))
		n->neighbour = s->neighbour;
	if (now.throttle < 0)
		return;
	n->clock_Hz = now.sm_Hz;
	n->clock_max_Hz = now.sm_max_Hz;
	n->limit_W = now.limit_W;
	n->limit_default_W = now.limit_default_W;
	n->held_by = jl_nvml_held_by(&now);
	/* A clock lowered by the power limit is normal at full load, so it is not reported as low. */
	if (!(now.throttle & JL_THROTTLE_POWER_CAP))
		n->clock_frac = now.sm_Hz / now.sm_max_Hz;
	n->thermal = (now.throttle & (JL_THROTTLE_SW_THERMAL | JL_THROTTLE_HW_THERMAL)) != 0;
	n->power = (now.throttle & (JL_THROTTLE_HW_SLOWDOWN | JL_THROTTLE_POWER_BRAKE)) != 0;
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
	.present = jl_gpu_present,
	.supports = supports,
	.prepare = prepare,
	.run_once = run_once,
	.verify = verify,
	.finish = finish,
	.watch = watch,
	.versions = versions,
};

/* ---- AMD: tasks that need no kernel */

static enum jl_status hip_present(struct jl_err *err)
{
	const struct jl_cuda *hip = NULL;
	return jl_hip_open(&hip, err);
}

static bool hip_supports(const struct jl_bench_task *task)
{
	return task->kind != JL_BENCH_GEMM && task->kind != JL_BENCH_TRIAD && supports(task);
}

static enum jl_status hip_prepare(const struct jl_bench_task *task, struct jl_bench_state **ret_state,
				  struct jl_err *err)
{
	return prepare_on(jl_gpu_open_amd, task, ret_state, err);
}

static const char *hip_versions(void)
{
	static char text[48];
	const struct jl_cuda *hip = NULL;
	if (jl_hip_open(&hip, NULL) != JL_OK)
		return "";
	const int v = jl_cuda_driver_version(hip); /* e.g. 60342134 is 6.3 */
	snprintf(text, sizeof text, "hip=%d.%d", v / 10000000, v / 100000 % 100);
	return text;
}

const struct jl_bench_backend jl_bench_hip = {
	.name = "hip",
	.en = JL_N("AMD GPUs: copies, host and GPU-to-GPU links (written by its interface, never seen running)"),
	.present = hip_present,
	.supports = hip_supports,
	.prepare = hip_prepare,
	.run_once = run_once,
	.verify = verify,
	.finish = finish,
	.versions = hip_versions,
};
