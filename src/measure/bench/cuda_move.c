/* Memory and link tests on a GPU. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "bench/cuda_state.h"

/* Without kernels, the host creates the words and counts wrong ones. */
static enum jl_status host_words(struct jl_bench_state *s, uint64_t buffer, uint32_t seed, size_t *ret_n_wrong,
				 struct jl_err *err)
{
	const struct jl_cuda *cu = s->gpu->cuda;
	const size_t n = s->task.size_B / 4;
	uint32_t *words = jl_realloc(NULL, n * 4);
	JL_TRY(jl_got(words, err));
	enum jl_status status = jl_gpu_sync(s->gpu, err); /* excludes previously queued work */
	if (status == JL_OK && ret_n_wrong)
		status = jl_cuda_check(cu, cu->MemcpyDtoH(words, buffer, n * 4), "cuMemcpyDtoH", err);
	size_t n_wrong = 0;
	for (size_t i = 0; i < n && status == JL_OK; i++) {
		const uint32_t word = (uint32_t)i * 2654435761U ^ seed * 40503U;
		n_wrong += ret_n_wrong && words[i] != word;
		words[i] = word;
	}
	if (ret_n_wrong)
		*ret_n_wrong = n_wrong;
	else
		JL_THEN(status, jl_cuda_check(cu, cu->MemcpyHtoD(buffer, words, n * 4), "cuMemcpyHtoD", err));
	jl_free(words);
	return status;
}

static enum jl_status fill_words(struct jl_bench_state *s, uint64_t buffer, uint32_t seed, struct jl_err *err)
{
	size_t n = s->task.size_B / 4;
	if (s->gpu->cuda->amd)
		return host_words(s, buffer, seed, NULL, err);
	void *args[] = { &buffer, &n, &seed };
	return jl_gpu_run(s->gpu, "bench_kernels/jl_fill_words", args, err);
}

static enum jl_status fill_numbers(struct jl_bench_state *s, uint64_t buffer, uint32_t seed, struct jl_err *err)
{
	size_t n = s->task.size_B / 4;
	int type = 0, small = 1;
	void *args[] = { &buffer, &n, &type, &small, &seed };
	return jl_gpu_run(s->gpu, "bench_kernels/jl_fill_numbers", args, err);
}

static enum jl_status launch(struct jl_bench_state *s, void **args, struct jl_err *err)
{
	return jl_gpu_launch(s->gpu, s->kernel, &(struct jl_gpu_grid){ .x = s->n_blocks, .n_threads = 512 },
			     s->gpu->stream, args, err);
}

/* Chooses the fastest number of blocks; with `copies` also tries the driver's copy. */
static enum jl_status choose(struct jl_bench_state *s, const char *name, bool copies, struct jl_err *err)
{
	static const unsigned per_sm[] = { 0, 2, 4, 8, 16, 32 };
	struct CUfunc_st *kernel = NULL;
	unsigned best_blocks = 0;
	double best_s = INFINITY;
	if (s->gpu->cuda->amd)
		return JL_OK;
	JL_TRY(jl_gpu_function(s->gpu, name, 0, &kernel, err));
	for (size_t i = copies ? 0 : 2; i < JL_LEN(per_sm); i++) {
		double once_s = 0.0;
		s->n_blocks = per_sm[i] * (unsigned)s->gpu->n_sm;
		s->kernel = per_sm[i] ? kernel : NULL;
		JL_TRY(jl_bench_cuda_time(s, jl_bench_cuda_move_run, 8, &once_s, err));
		if (once_s < best_s) {
			best_s = once_s;
			best_blocks = s->n_blocks;
		}
	}
	s->n_blocks = best_blocks;
	s->kernel = best_blocks ? kernel : NULL;
	return JL_OK;
}

static enum jl_status prepare_triad(struct jl_bench_state *s, struct jl_err *err)
{
	JL_TRY(jl_bench_cuda_alloc(s, s->gpu, 2, s->task.size_B, err));
	JL_TRY(fill_numbers(s, s->buffers[1], 1, err));
	JL_TRY(fill_numbers(s, s->buffers[2], 2, err));
	return choose(s, "bench_kernels/jl_triad", false, err);
}

static enum jl_status prepare_host(struct jl_bench_state *s, struct jl_err *err)
{
	const struct jl_cuda *cu = s->gpu->cuda;
	s->host_pinned = s->task.pinned;
	if (s->task.pinned)
		return jl_cuda_check(cu, cu->MemHostAlloc(&s->host, s->task.size_B, 0), "cuMemHostAlloc", err);
	s->host = jl_realloc(NULL, s->task.size_B);
	JL_TRY(jl_got(s->host, err));
	memset(s->host, 0x5a, s->task.size_B); /* maps the pages before the first copy */
	return JL_OK;
}

/* Enables peer access in both directions: either GPU may execute the copy. */
static enum jl_status prepare_peer(struct jl_bench_state *s, struct jl_err *err)
{
	const struct jl_cuda *cu = s->gpu->cuda;
	int can = 0, can_back = 0;
	enum jl_status status = JL_OK;
	JL_TRY(s->open(s->task.peer, &s->peer, err));
	cu->DeviceCanAccessPeer(&can, s->gpu->device, s->peer->device);
	cu->DeviceCanAccessPeer(&can_back, s->peer->device, s->gpu->device);
	if (can && can_back) {
		cu->CtxSetCurrent(s->peer->ctx);
		(void)cu->CtxEnablePeerAccess(s->gpu->ctx, 0);
		cu->CtxSetCurrent(s->gpu->ctx);
		(void)cu->CtxEnablePeerAccess(s->peer->ctx, 0);
	}
	status = jl_gpu_current(s->peer, err);
	JL_THEN(status, jl_bench_cuda_alloc(s, s->peer, 1, s->task.size_B, err));
	enum jl_status back = jl_gpu_current(s->gpu, err);
	return status == JL_OK ? back : status;
}

enum jl_status jl_bench_cuda_move_prepare(struct jl_bench_state *s, struct jl_err *err)
{
	const struct jl_bench_task *t = &s->task;
	bool between = t->kind == JL_BENCH_D2D && t->peer != t->device;
	bool one_side = t->kind == JL_BENCH_H2D || t->kind == JL_BENCH_D2H;
	JL_TRY(jl_bench_cuda_alloc(s, s->gpu, 0, t->size_B, err));
	if (!between && !one_side)
		JL_TRY(jl_bench_cuda_alloc(s, s->gpu, 1, t->size_B, err));
	if (between)
		JL_TRY(prepare_peer(s, err));
	if (one_side)
		JL_TRY(prepare_host(s, err));
	JL_TRY(fill_words(s, s->buffers[0], 7, err));
	if (t->kind == JL_BENCH_TRIAD)
		JL_TRY(prepare_triad(s, err));
	if (t->kind == JL_BENCH_COPY || (t->kind == JL_BENCH_D2D && !between))
		JL_TRY(choose(s, "bench_kernels/jl_copy", true, err));
	return JL_OK;
}

enum jl_status jl_bench_cuda_move_run(struct jl_bench_state *s, struct jl_err *err)
{
	const struct jl_cuda *cu = s->gpu->cuda;
	struct CUstream_st *stream = s->gpu->stream;
	size_t n = s->task.size_B;
	uint64_t a = s->buffers[0], b = s->buffers[1];
	size_t n16 = n / 16;
	float scale = JL_BENCH_SCALE;
	int code = 0;
	switch (s->task.kind) {
	case JL_BENCH_TRIAD: return launch(s, (void *[]){ &a, &b, &s->buffers[2], &scale, &n16 }, err);
	case JL_BENCH_H2D: code = cu->MemcpyHtoDAsync(a, s->host, n, stream); break;
	case JL_BENCH_D2H: code = cu->MemcpyDtoHAsync(s->host, a, n, stream); break;
	default:
		if (s->peer)
			code = cu->MemcpyPeerAsync(b, s->peer->ctx, a, s->gpu->ctx, n, stream);
		else if (s->kernel)
			return launch(s, (void *[]){ &b, &a, &n16 }, err);
		else
			code = cu->MemcpyDtoDAsync(b, a, n, stream);
	}
	return jl_cuda_check(cu, code, "cuMemcpyAsync", err);
}

static enum jl_status check_words(struct jl_bench_state *s, struct jl_gpu_dev *gpu, uint64_t buffer, uint32_t seed,
				  size_t *ret_n_wrong, struct jl_err *err)
{
	size_t n = s->task.size_B / 4;
	/* the error counter is on this GPU: copy the data back first */
	if (gpu != s->gpu) {
		JL_TRY(jl_cuda_check(
			gpu->cuda,
			gpu->cuda->MemcpyPeerAsync(s->buffers[0], s->gpu->ctx, buffer, gpu->ctx, n * 4, s->gpu->stream),
			"cuMemcpyPeerAsync", err));
		buffer = s->buffers[0];
	}
	if (s->gpu->cuda->amd)
		return host_words(s, buffer, seed, ret_n_wrong, err);
	void *args[] = { &buffer, &n, &seed, &s->counter };
	JL_TRY(jl_gpu_run(s->gpu, "bench_kernels/jl_check_words", args, err));
	return jl_gpu_counted(s->gpu, s->counter, ret_n_wrong, err);
}

/* Copies to the host and back; the device's data is overwritten in between. */
static enum jl_status verify_host(struct jl_bench_state *s, size_t *ret_n_wrong, struct jl_err *err)
{
	const struct jl_cuda *cu = s->gpu->cuda;
	size_t n = s->task.size_B;
	JL_TRY(fill_words(s, s->buffers[0], 11, err));
	JL_TRY(jl_cuda_check(cu, cu->MemcpyDtoHAsync(s->host, s->buffers[0], n, s->gpu->stream), "cuMemcpyDtoHAsync",
			     err));
	JL_TRY(fill_words(s, s->buffers[0], 12, err));
	JL_TRY(jl_cuda_check(cu, cu->MemcpyHtoDAsync(s->buffers[0], s->host, n, s->gpu->stream), "cuMemcpyHtoDAsync",
			     err));
	return check_words(s, s->gpu, s->buffers[0], 11, ret_n_wrong, err);
}

enum jl_status jl_bench_cuda_move_verify(struct jl_bench_state *s, size_t *ret_n_wrong, struct jl_err *err)
{
	if (s->host)
		return verify_host(s, ret_n_wrong, err);
	if (s->task.kind == JL_BENCH_TRIAD) {
		size_t n = s->task.size_B / 16 * 4;
		float scale = JL_BENCH_SCALE;
		void *args[] = { &s->buffers[0], &s->buffers[1], &s->buffers[2], &scale, &n, &s->counter };
		JL_TRY(fill_words(s, s->buffers[0], 13, err));
		JL_TRY(jl_bench_cuda_move_run(s, err));
		JL_TRY(jl_gpu_run(s->gpu, "bench_kernels/jl_check_triad", args, err));
		return jl_gpu_counted(s->gpu, s->counter, ret_n_wrong, err);
	}
	JL_TRY(fill_words(s, s->buffers[0], 14, err));
	if (!s->peer)
		JL_TRY(fill_words(s, s->buffers[1], 15, err));
	JL_TRY(jl_bench_cuda_move_run(s, err));
	if (s->peer) /* makes the copy back read the peer's data */
		JL_TRY(fill_words(s, s->buffers[0], 16, err));
	return check_words(s, s->peer ? s->peer : s->gpu, s->buffers[1], 14, ret_n_wrong, err);
}
