/* The CUDA engine: memory, timers, graph capture. Kernels are in cuda_*.cu, their launches in cuda_ops.c and cuda_point.c. */
#include "train/cuda_engine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void jl_cuda_keep_status(struct cuda_engine *e, enum jl_status status, const struct jl_err *err)
{
	if (status == JL_OK || e->base.failed != JL_OK)
		return;
	e->base.failed = status;
	e->base.err = *err;
}

void jl_cuda_keep(struct cuda_engine *e, int code, const char *what)
{
	struct jl_err err;
	if (code != JL_CU_OK && e->base.failed == JL_OK)
		jl_cuda_keep_status(e, jl_cuda_check(e->gpu->cuda, code, what, &err), &err);
}

void jl_cuda_launch(struct cuda_engine *e, struct CUfunc_st *function, struct jl_gpu_grid grid, void **args)
{
	struct jl_err err;
	if (e->base.failed == JL_OK)
		jl_cuda_keep_status(e, jl_gpu_launch(e->gpu, function, &grid, e->gpu->stream, args, &err), &err);
}

unsigned jl_cuda_blocks(const struct cuda_engine *e, size_t n)
{
	size_t wanted = (n + 255) / 256, most = (size_t)e->gpu->n_sm * 16;
	return (unsigned)(wanted < 1 ? 1 : wanted > most ? most : wanted);
}

enum jl_status jl_cuda_take(struct cuda_engine *e, size_t size_B, uint64_t *ret_ptr, struct jl_err *err)
{
	JL_TRY(jl_gpu_alloc(e->gpu, size_B, ret_ptr, err));
	e->base.used_B += size_B;
	if (e->base.used_B > e->base.peak_B)
		e->base.peak_B = e->base.used_B;
	return JL_OK;
}

void jl_cuda_drop(struct cuda_engine *e, uint64_t ptr, size_t size_B)
{
	if (!ptr)
		return;
	jl_gpu_free(e->gpu, ptr, size_B);
	e->base.used_B -= size_B;
}

uint64_t jl_cuda_partials(struct cuda_engine *e, size_t n_rows, size_t width)
{
	size_t want_B = n_rows * width * sizeof(float);
	struct jl_err err;
	if (want_B > e->partials_B && e->base.failed == JL_OK) { /* first step only, never during capture */
		jl_cuda_keep(e, e->gpu->cuda->StreamSynchronize(e->gpu->stream), "cuStreamSynchronize");
		jl_cuda_drop(e, e->partials, e->partials_B);
		e->partials = 0;
		e->partials_B = 0;
		enum jl_status status = jl_cuda_take(e, want_B, &e->partials, &err);
		jl_cuda_keep_status(e, status, &err);
		e->partials_B = status == JL_OK ? want_B : 0;
	}
	return e->partials;
}

static void cuda_destroy(struct jl_engine *engine)
{
	if (!engine)
		return;
	struct cuda_engine *e = cuda_of(engine);
	if (e->gpu) {
		const struct jl_cuda *cu = e->gpu->cuda;
		cu->CtxSetCurrent(e->gpu->ctx);
		cu->StreamSynchronize(e->gpu->stream);
		jl_cuda_exchange_close(e);
		jl_cuda_gemm_release(e);
		jl_lt_close(e->lt);
		for (int i = 0; i < CUDA_STAGES; i++)
			jl_gpu_event_free(e->gpu, e->stage_free[i]);
		for (int i = 0; i < JL_N_MARK; i++)
			jl_gpu_event_free(e->gpu, e->marks[i]);
		if (e->stages)
			cu->MemFreeHost(e->stages);
		jl_gpu_free(e->gpu, e->partials, e->partials_B);
		jl_gpu_free(e->gpu, e->n_done, CUDA_DONE_B);
		jl_gpu_free(e->gpu, e->scalars, sizeof(struct cuda_scalars));
		jl_gpu_close(e->gpu);
	}
	jl_nvml_close(e->nvml);
	jl_free(e);
}

static enum jl_status load_kernels(struct cuda_engine *e, struct jl_err *err)
{
	static const struct {
		const char *name;
		bool one; /* one kernel for all element types */
	} names[N_CUDA_KERNEL] = {
		[K_GELU] = { "cuda_misc/jl_gelu", false },
		[K_EPILOGUE] = { "cuda_misc/jl_epilogue", false },
		[K_SWIGLU] = { "cuda_misc/jl_swiglu", false },
		[K_SWIGLU_BWD] = { "cuda_misc/jl_swiglu_bwd", false },
		[K_ROPE] = { "cuda_misc/jl_rope", false },
		[K_EMBED] = { "cuda_misc/jl_embed", false },
		[K_EMBED_SORT] = { "cuda_misc/jl_embed_sort", true },
		[K_EMBED_BWD] = { "cuda_misc/jl_embed_bwd", false },
		[K_POSITION_BWD] = { "cuda_misc/jl_position_bwd", false },
		[K_LOSS] = { "cuda_misc/jl_loss", false },
		[K_ADAMW] = { "cuda_misc/jl_adamw", false },
		[K_NORM_SQ] = { "cuda_misc/jl_norm_sq", false },
		[K_NORM_SQ_END] = { "cuda_misc/jl_norm_sq_end", true },
		[K_COLUMN_SUMS] = { "cuda_misc/jl_column_sums", false },
		[K_SUM_ROWS] = { "cuda_norm/jl_sum_rows", false },
		[K_GRAD_ADD] = { "cuda_misc/jl_grad_add", false },
		[K_TO_BF16] = { "cuda_misc/jl_to_bf16", true },
		[K_FROM_BF16] = { "cuda_misc/jl_from_bf16", true },
		[K_KV_KEEP] = { "cuda_misc/jl_kv_keep", false },
		[K_PICK] = { "cuda_misc/jl_pick", false },
		[K_FP8_PLAIN] = { "cuda_fp8/jl_fp8_plain", true },
		[K_FP8_GRADIENT] = { "cuda_fp8/jl_fp8_gradient", true },
		[K_FP8_GELU] = { "cuda_fp8/jl_fp8_gelu", true },
		[K_FP8_GELU_BWD] = { "cuda_fp8/jl_fp8_gelu_bwd", true },
		[K_FP8_SWIGLU] = { "cuda_fp8/jl_fp8_swiglu", true },
		[K_FP8_SWIGLU_BWD] = { "cuda_fp8/jl_fp8_swiglu_bwd", true },
		[K_FP8_SCALES] = { "cuda_fp8/jl_fp8_scales", true },
	};
	enum jl_status status = JL_OK;
	for (int i = 0; status == JL_OK && i < N_CUDA_KERNEL; i++) {
		char name[48];
		snprintf(name, sizeof name, names[i].one ? "%s" : "%s_%c", names[i].name, cuda_half(e) ? 'b' : 'f');
		status = jl_gpu_function(e->gpu, name, 0, &e->kernels[i], err);
	}
	JL_THEN(status, jl_cuda_load_ops(e, err));
	JL_THEN(status, jl_cuda_load_decode(e, err));
	return status;
}

static enum jl_status open_small(struct cuda_engine *e, struct jl_err *err)
{
	const struct jl_cuda *cu = e->gpu->cuda;
	enum jl_status status = JL_OK;
	for (int i = 0; status == JL_OK && i < CUDA_STAGES; i++)
		status = jl_cuda_check(cu, cu->EventCreate(&e->stage_free[i], JL_CU_EVENT_NO_TIMING), "cuEventCreate",
				       err);
	for (int i = 0; status == JL_OK && i < JL_N_MARK; i++)
		status = jl_cuda_check(cu, cu->EventCreate(&e->marks[i], 0), "cuEventCreate", err);
	JL_THEN(status,
		jl_cuda_check(cu, cu->MemHostAlloc(&e->stages, CUDA_STAGES * CUDA_STAGE_B, 0), "cuMemHostAlloc", err));
	JL_THEN(status, jl_cuda_take(e, sizeof(struct cuda_scalars), &e->scalars, err));
	return status;
}

static double cuda_energy_J(struct jl_engine *engine)
{
	struct cuda_engine *e = cuda_of(engine);
	return e->nvml ? jl_nvml_energy_J(e->nvml, e->nvml_gpu) : NAN;
}

/* Assigns a GPU to each worker of this host. JEOUL_SHARE_GPU lets tests share one. */
static enum jl_status choose_device(const struct jl_engine_in *in, int *ret_device, struct jl_err *err)
{
	const struct jl_cuda *cuda = NULL;
	const char *share = getenv("JEOUL_SHARE_GPU");
	enum jl_status status = jl_cuda_open(&cuda, err);
	if (status != JL_OK || !in->comm)
		return status;
	int n_gpus = jl_cuda_count(cuda);
	if (in->comm->n_local > n_gpus && !(share && *share == '1'))
		return jl_fail(err, JL_E_RANGE, "%d workers on this host for %d GPUs: --workers up to %d",
			       in->comm->n_local, n_gpus, n_gpus);
	*ret_device = in->device % n_gpus;
	return JL_OK;
}

static enum jl_status cuda_create(const struct jl_engine_in *in, struct jl_engine **ret_engine, struct jl_err *err)
{
	struct cuda_engine *e = jl_realloc(NULL, sizeof *e);
	JL_TRY(jl_got(e, err));
	memset(e, 0, sizeof *e);
	bool half = in->precision >= JL_TRAIN_BF16;
	e->base = (struct jl_engine){
		.k = &jl_engine_cuda,
		.precision = in->precision,
		.elem_B = half ? 2 : 4,
		.grad_B = half ? 2 : 4,
		.elem_type = half ? JL_COMM_BF16 : JL_COMM_FLOAT,
		.grad_type = half ? JL_COMM_BF16 : JL_COMM_FLOAT,
		.device = in->device,
	};
	int device = in->device;
	enum jl_status status = choose_device(in, &device, err);
	JL_THEN(status, jl_gpu_open(device, &e->gpu, err));
	if (status == JL_OK && e->gpu->cc_major < 8)
		status = jl_fail(err, JL_E_ABSENT, "%s (compute capability %d.%d) is too old: 8.0 or newer is needed",
				 e->gpu->name, e->gpu->cc_major, e->gpu->cc_minor);
	if (status == JL_OK && in->precision == JL_TRAIN_FP8 && e->gpu->cc_major * 10 + e->gpu->cc_minor < 89)
		status = jl_fail(
			err, JL_E_ABSENT,
			"%s (compute capability %d.%d) has no fp8 products: 8.9 or newer is needed (--precision bf16)",
			e->gpu->name, e->gpu->cc_major, e->gpu->cc_minor);
	JL_THEN(status, jl_lt_open(e->gpu, &e->lt, err));
	JL_THEN(status, open_small(e, err));
	JL_THEN(status, load_kernels(e, err));
	if (status == JL_OK && in->comm && in->comm->n_ranks > 1)
		status = jl_cuda_exchange_open(e, in->comm, err);
	if (status) {
		cuda_destroy(&e->base);
		return status;
	}
	e->nvml = jl_nvml_open_at(e->gpu->bus_id, &e->nvml_gpu); /* NULL: no energy figure */
	e->base.used_B = e->base.peak_B = e->gpu->held_B;
	*ret_engine = &e->base;
	return JL_OK;
}

static size_t cuda_available_B(struct jl_engine *engine)
{
	struct cuda_engine *e = cuda_of(engine);
	size_t free_B = 0, total_B = 0;
	return e->gpu->cuda->MemGetInfo(&free_B, &total_B) == JL_CU_OK ? free_B : 0;
}

static const char *cuda_versions(struct jl_engine *engine)
{
	struct cuda_engine *e = cuda_of(engine);
	size_t lt = jl_lt_version();
	int driver = jl_cuda_driver_version(e->gpu->cuda);
	snprintf(e->versions, sizeof e->versions, "cuda_driver=%d.%d cublaslt=%zu.%zu.%zu", driver / 1000,
		 driver % 1000 / 10, lt / 10000, lt % 10000 / 100, lt % 100);
	return e->versions;
}

static enum jl_status cuda_alloc(struct jl_engine *engine, size_t size_B, enum jl_engine_mem mem, void **ret_memory,
				 struct jl_err *err)
{
	(void)mem; /* on a GPU collectives can use any memory */
	struct cuda_engine *e = cuda_of(engine);
	uint64_t ptr = 0;
	enum jl_status status = JL_OK;
	JL_TRY(jl_gpu_current(e->gpu, err));
	JL_TRY(jl_cuda_take(e, size_B, &ptr, err));
	status = jl_cuda_check(e->gpu->cuda, e->gpu->cuda->MemsetD8Async(ptr, 0, size_B, e->gpu->stream),
			       "cuMemsetD8Async", err);
	if (!status)
		*ret_memory = (void *)(uintptr_t)ptr;
	else
		jl_cuda_drop(e, ptr, size_B);
	return status;
}

static void cuda_free(struct jl_engine *engine, void *memory, size_t size_B, enum jl_engine_mem mem)
{
	(void)mem;
	struct cuda_engine *e = cuda_of(engine);
	e->gpu->cuda->StreamSynchronize(e->gpu->stream);
	jl_cuda_drop(e, (uint64_t)(uintptr_t)memory, size_B);
}

static void cuda_zero(struct jl_engine *engine, void *memory, size_t size_B)
{
	struct cuda_engine *e = cuda_of(engine);
	if (engine->failed == JL_OK)
		jl_cuda_keep(e, e->gpu->cuda->MemsetD8Async((uint64_t)(uintptr_t)memory, 0, size_B, e->gpu->stream),
			     "cuMemsetD8Async");
}

static void cuda_copy(struct jl_engine *engine, void *to, const void *from, size_t size_B)
{
	struct cuda_engine *e = cuda_of(engine);
	if (engine->failed == JL_OK)
		jl_cuda_keep(e,
			     e->gpu->cuda->MemcpyDtoDAsync((uint64_t)(uintptr_t)to, (uint64_t)(uintptr_t)from, size_B,
							   e->gpu->stream),
			     "cuMemcpyDtoDAsync");
}

/* Copies in pieces through pinned memory, so that neither the caller nor the GPU waits. */
static void cuda_from_host(struct jl_engine *engine, void *to, const void *from, size_t size_B)
{
	struct cuda_engine *e = cuda_of(engine);
	const struct jl_cuda *cu = e->gpu->cuda;
	for (size_t at = 0; at < size_B && engine->failed == JL_OK; at += CUDA_STAGE_B) {
		size_t n = size_B - at < CUDA_STAGE_B ? size_B - at : CUDA_STAGE_B;
		int stage = e->next_stage;
		char *room = (char *)e->stages + (size_t)stage * CUDA_STAGE_B;
		e->next_stage = (stage + 1) % CUDA_STAGES;
		jl_cuda_keep(e, cu->EventSynchronize(e->stage_free[stage]), "cuEventSynchronize");
		memcpy(room, (const char *)from + at, n);
		jl_cuda_keep(e, cu->MemcpyHtoDAsync((uint64_t)(uintptr_t)to + at, room, n, e->gpu->stream),
			     "cuMemcpyHtoDAsync");
		jl_cuda_keep(e, cu->EventRecord(e->stage_free[stage], e->gpu->stream), "cuEventRecord");
	}
}

static void cuda_to_host(struct jl_engine *engine, void *to, const void *from, size_t size_B)
{
	struct cuda_engine *e = cuda_of(engine);
	const struct jl_cuda *cu = e->gpu->cuda;
	if (engine->failed != JL_OK)
		return;
	jl_cuda_keep(e, cu->MemcpyDtoHAsync(to, (uint64_t)(uintptr_t)from, size_B, e->gpu->stream),
		     "cuMemcpyDtoHAsync");
	struct jl_err err;
	if (engine->failed == JL_OK)
		jl_cuda_keep_status(e, jl_cuda_exchange_sync(e, &err), &err);
}

static enum jl_status cuda_sync(struct jl_engine *engine, struct jl_err *err)
{
	struct cuda_engine *e = cuda_of(engine);
	struct jl_err waiting;
	jl_cuda_keep_status(e, jl_cuda_exchange_sync(e, &waiting), &waiting);
	enum jl_status failed = engine->failed;
	if (failed != JL_OK && err)
		*err = engine->err;
	engine->failed = JL_OK;
	return failed;
}

static void cuda_mark(struct jl_engine *engine, enum jl_engine_phase phase)
{
	struct cuda_engine *e = cuda_of(engine);
	if (engine->failed == JL_OK)
		jl_cuda_keep(e,
			     e->gpu->cuda->EventRecordWithFlags(e->marks[phase], e->gpu->stream,
								e->capturing ? JL_CU_EVENT_RECORD_EXTERNAL : 0),
			     "cuEventRecordWithFlags");
	e->marked[phase] = true;
}

static double cuda_between_s(struct jl_engine *engine, enum jl_engine_phase from, enum jl_engine_phase to)
{
	struct cuda_engine *e = cuda_of(engine);
	float ms = 0.0F;
	if (!e->marked[from] || !e->marked[to] ||
	    e->gpu->cuda->EventElapsedTime(&ms, e->marks[from], e->marks[to]) != JL_CU_OK)
		return NAN;
	return (double)ms * 1e-3;
}

struct jl_engine_graph {
	struct CUgraph_st *graph;
	struct CUgraphExec_st *exec;
};

static enum jl_status cuda_capture_begin(struct jl_engine *engine, struct jl_err *err)
{
	struct cuda_engine *e = cuda_of(engine);
	enum jl_status status = jl_cuda_check(e->gpu->cuda,
					      e->gpu->cuda->StreamBeginCapture(e->gpu->stream, JL_CU_CAPTURE_RELAXED),
					      "cuStreamBeginCapture", err);
	e->capturing = status == JL_OK;
	return status;
}

static enum jl_status cuda_capture_end(struct jl_engine *engine, struct jl_engine_graph **ret_graph, struct jl_err *err)
{
	struct cuda_engine *e = cuda_of(engine);
	const struct jl_cuda *cu = e->gpu->cuda;
	struct jl_engine_graph made = { 0 };
	e->capturing = false;
	enum jl_status status = jl_cuda_check(cu, cu->StreamEndCapture(e->gpu->stream, &made.graph),
					      "cuStreamEndCapture", err);
	if (status == JL_OK && engine->failed != JL_OK) {
		status = engine->failed;
		*err = engine->err;
	}
	JL_THEN(status, jl_cuda_check(cu, cu->GraphInstantiate(&made.exec, made.graph, 0), "cuGraphInstantiate", err));
	struct jl_engine_graph *graph = status == JL_OK ? jl_realloc(NULL, sizeof *graph) : NULL;
	if (status == JL_OK && !graph)
		status = jl_fail_nomem(err);
	if (status == JL_OK) {
		*graph = made;
		*ret_graph = graph;
		return JL_OK;
	}
	if (made.exec)
		cu->GraphExecDestroy(made.exec);
	if (made.graph)
		cu->GraphDestroy(made.graph);
	return status;
}

static void cuda_replay(struct jl_engine *engine, struct jl_engine_graph *graph)
{
	struct cuda_engine *e = cuda_of(engine);
	if (engine->failed == JL_OK)
		jl_cuda_keep(e, e->gpu->cuda->GraphLaunch(graph->exec, e->gpu->stream), "cuGraphLaunch");
}

static void cuda_graph_free(struct jl_engine *engine, struct jl_engine_graph *graph)
{
	struct cuda_engine *e = cuda_of(engine);
	if (!graph)
		return;
	e->gpu->cuda->StreamSynchronize(e->gpu->stream);
	e->gpu->cuda->GraphExecDestroy(graph->exec);
	e->gpu->cuda->GraphDestroy(graph->graph);
	jl_free(graph);
}

/* Logits get at most 1/20 of the GPU's memory. Fewer and larger products run faster. */
static size_t cuda_loss_rows(struct jl_engine *engine, size_t n_rows, size_t vocab)
{
	struct cuda_engine *e = cuda_of(engine);
	size_t rows = e->gpu->mem_B / 20 / (vocab * engine->elem_B) / 128 * 128;
	return rows < 128 ? (n_rows < 128 ? n_rows : 128) : rows < n_rows ? rows : n_rows;
}

const struct jl_engine_kernels jl_engine_cuda = {
	.name = "cuda",
	.en = JL_N("NVIDIA GPU, cuBLASLt and own kernels"),
	.present = jl_gpu_present,
	.create = cuda_create,
	.destroy = cuda_destroy,
	.available_B = cuda_available_B,
	.versions = cuda_versions,
	.alloc = cuda_alloc,
	.free = cuda_free,
	.zero = cuda_zero,
	.copy = cuda_copy,
	.from_host = cuda_from_host,
	.to_host = cuda_to_host,
	.sync = cuda_sync,
	.mark = cuda_mark,
	.between_s = cuda_between_s,
	.capture_begin = cuda_capture_begin,
	.capture_end = cuda_capture_end,
	.replay = cuda_replay,
	.graph_free = cuda_graph_free,
	.energy_J = cuda_energy_J,
	.fp8 = jl_cuda_fp8,
	.fp8_scales = jl_cuda_fp8_scales,
	.loss_rows = cuda_loss_rows,
	.supports_head_dim = jl_cuda_supports_head_dim,
	JL_ENGINE_ROWS(cuda),
};
