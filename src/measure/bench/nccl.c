/* Collectives between GPUs by NCCL. Without a communicator one process drives its GPUs (ncclCommInitAll); with one,
 * every rank drives the GPU that its place on the host gives it. `size_B` is nccl-tests' size: of the longer of the two
 * buffers. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "bench/backend.h"
#include "bench/nccl_names.h"
#include "gpu/cuda.h"
#include "gpu/nccl.h"

enum { N_GPUS_MAX = 64 };

#define SAMPLE_MIN_S 2e-3
#define REPEAT_MAX   200

struct gpu_part {
	struct jl_gpu_dev *gpu;
	struct ncclComm *comm;
	struct CUevent_st *from, *to;
	int rank;
	uint64_t send, recv, counter; /* send == recv + offset in place */
	uint64_t memory[2];
};

struct jl_bench_state {
	struct jl_bench_task task;
	const struct jl_nccl *nccl;
	int n_ranks, n_parts, n_each;
	size_t buffer_B, count, type_B;
	struct gpu_part parts[N_GPUS_MAX];
};

const int jl_nccl_types[JL_N_COMM_TYPE] = {
	[JL_COMM_INT8] = JL_NCCL_INT8,     [JL_COMM_UINT8] = JL_NCCL_UINT8, [JL_COMM_INT32] = JL_NCCL_INT32,
	[JL_COMM_UINT32] = JL_NCCL_UINT32, [JL_COMM_INT64] = JL_NCCL_INT64, [JL_COMM_UINT64] = JL_NCCL_UINT64,
	[JL_COMM_HALF] = JL_NCCL_HALF,     [JL_COMM_FLOAT] = JL_NCCL_FLOAT, [JL_COMM_DOUBLE] = JL_NCCL_DOUBLE,
	[JL_COMM_BF16] = JL_NCCL_BF16,
};
const int jl_nccl_ops[JL_N_REDOP] = {
	[JL_RED_SUM] = JL_NCCL_SUM, [JL_RED_PROD] = JL_NCCL_PROD, [JL_RED_MIN] = JL_NCCL_MIN,
	[JL_RED_MAX] = JL_NCCL_MAX, [JL_RED_AVG] = JL_NCCL_AVG,
};

static enum jl_status present(struct jl_err *err)
{
	const struct jl_nccl *nccl = NULL;
	enum jl_status status = jl_gpu_present(err);
	return status == JL_OK ? jl_nccl_open(&nccl, err) : status;
}

static bool supports(const struct jl_bench_task *task)
{
	if (task->kind != JL_BENCH_COLL || task->coll == JL_COLL_BARRIER || task->size_B < jl_comm_type_B(task->type))
		return false;
	/* what is sent would be overwritten before it has left */
	return !(task->in_place && (task->coll == JL_COLL_ALLTOALL || task->coll == JL_COLL_SENDRECV));
}

static void release(struct jl_bench_state *s)
{
	for (int i = 0; i < s->n_parts; i++) {
		struct gpu_part *p = &s->parts[i];
		if (!p->gpu)
			continue;
		const struct jl_cuda *cu = p->gpu->cuda;
		cu->CtxSetCurrent(p->gpu->ctx);
		if (p->comm)
			s->nccl->CommDestroy(p->comm);
		if (p->from)
			cu->EventDestroy(p->from);
		if (p->to)
			cu->EventDestroy(p->to);
		for (int j = 0; j < 2; j++)
			jl_gpu_free(p->gpu, p->memory[j], s->buffer_B);
		jl_gpu_free(p->gpu, p->counter, 8);
		jl_gpu_close(p->gpu);
	}
}

static void finish(struct jl_bench_state *s)
{
	if (!s)
		return;
	release(s);
	jl_free(s);
}

/* Elements of the call, and where each buffer lies. */
static void lay_out(struct jl_bench_state *s)
{
	size_t n = s->task.size_B / s->type_B;
	enum jl_coll coll = s->task.coll;
	bool shared = coll == JL_COLL_ALLGATHER || coll == JL_COLL_REDUCESCATTER || coll == JL_COLL_ALLTOALL;
	s->count = shared ? n / (size_t)s->n_ranks : n;
	if (s->count == 0)
		s->count = 1;
	s->buffer_B = (shared ? s->count * (size_t)s->n_ranks : s->count) * s->type_B;
}

static void place(const struct jl_bench_state *s, struct gpu_part *p)
{
	size_t own_B = (size_t)p->rank * s->count * s->type_B;
	p->send = p->memory[0];
	p->recv = s->task.in_place ? p->memory[0] : p->memory[1];
	if (s->task.in_place && s->task.coll == JL_COLL_ALLGATHER)
		p->send += own_B;
	if (s->task.in_place && s->task.coll == JL_COLL_REDUCESCATTER)
		p->recv += own_B;
}

static enum jl_status open_part(struct jl_bench_state *s, int i, int device, struct jl_err *err)
{
	struct gpu_part *p = &s->parts[i];
	const unsigned long long zero = 0;
	enum jl_status status = JL_OK;
	JL_TRY(jl_gpu_open(device, &p->gpu, err));
	const struct jl_cuda *cu = p->gpu->cuda;
	for (int j = 0; status == JL_OK && j < (s->task.in_place ? 1 : 2); j++)
		status = jl_gpu_alloc(p->gpu, s->buffer_B, &p->memory[j], err);
	if (!status)
		status = jl_gpu_alloc(p->gpu, sizeof zero, &p->counter, err);
	if (!status)
		status = jl_cuda_check(cu, cu->MemcpyHtoD(p->counter, &zero, sizeof zero), "cuMemcpyHtoD", err);
	if (!status)
		status = jl_cuda_check(cu, cu->EventCreate(&p->from, 0), "cuEventCreate", err);
	if (!status)
		status = jl_cuda_check(cu, cu->EventCreate(&p->to, 0), "cuEventCreate", err);
	place(s, p);
	return status;
}

static enum jl_status connect(struct jl_bench_state *s, struct jl_err *err)
{
	struct jl_comm *base = s->task.comm;
	const struct jl_nccl *nccl = s->nccl;
	if (!base) {
		struct ncclComm *comms[N_GPUS_MAX] = { 0 };
		int devices[N_GPUS_MAX];
		for (int i = 0; i < s->n_parts; i++)
			devices[i] = s->parts[i].gpu->device;
		enum jl_status status = jl_nccl_check(nccl, nccl->CommInitAll(comms, s->n_parts, devices),
						      "ncclCommInitAll", err);
		for (int i = 0; i < s->n_parts; i++)
			s->parts[i].comm = comms[i];
		return status;
	}
	struct jl_nccl_id id = { { 0 } };
	int code = base->rank == 0 ? nccl->GetUniqueId(&id) : JL_NCCL_OK;
	enum jl_status status = jl_nccl_check(nccl, code, "ncclGetUniqueId", err);
	struct jl_coll_call call = {
		.coll = JL_COLL_BROADCAST,
		.type = JL_COMM_UINT8,
		.count = sizeof id,
		.send = &id,
		.recv = &id,
	};
	if (status == JL_OK)
		status = jl_comm_run(base, &call, err);
	if (status == JL_OK)
		status = jl_nccl_check(nccl, nccl->CommInitRank(&s->parts[0].comm, base->n_ranks, id, base->rank),
				       "ncclCommInitRank", err);
	return status;
}

static int exchange(const struct jl_bench_state *s, const struct gpu_part *p, bool to_all)
{
	const struct jl_nccl *nccl = s->nccl;
	struct CUstream_st *stream = p->gpu->stream;
	int type = jl_nccl_types[s->task.type], code = 0, n = s->n_ranks;
	size_t part_B = s->count * s->type_B;
	for (int q = 0; code == 0 && q < (to_all ? n : 1); q++) {
		int to = to_all ? q : (p->rank + 1) % n, from = to_all ? q : (p->rank + n - 1) % n;
		size_t at = to_all ? (size_t)q * part_B : 0;
		code = nccl->Send((const void *)(uintptr_t)(p->send + at), s->count, type, to, p->comm, stream);
		if (code == 0)
			code = nccl->Recv((void *)(uintptr_t)(p->recv + at), s->count, type, from, p->comm, stream);
	}
	return code;
}

static int queue(const struct jl_bench_state *s, const struct gpu_part *p)
{
	const struct jl_nccl *nccl = s->nccl;
	struct CUstream_st *stream = p->gpu->stream;
	const void *send = (const void *)(uintptr_t)p->send;
	void *recv = (void *)(uintptr_t)p->recv;
	int type = jl_nccl_types[s->task.type], op = jl_nccl_ops[s->task.op], root = s->task.root;
	switch (s->task.coll) {
	case JL_COLL_ALLREDUCE: return nccl->AllReduce(send, recv, s->count, type, op, p->comm, stream);
	case JL_COLL_ALLGATHER: return nccl->AllGather(send, recv, s->count, type, p->comm, stream);
	case JL_COLL_REDUCESCATTER: return nccl->ReduceScatter(send, recv, s->count, type, op, p->comm, stream);
	case JL_COLL_BROADCAST: return nccl->Broadcast(send, recv, s->count, type, root, p->comm, stream);
	case JL_COLL_REDUCE: return nccl->Reduce(send, recv, s->count, type, op, root, p->comm, stream);
	default: return exchange(s, p, s->task.coll == JL_COLL_ALLTOALL);
	}
}

static enum jl_status run_all(struct jl_bench_state *s, struct jl_err *err)
{
	enum jl_status status = jl_nccl_check(s->nccl, s->nccl->GroupStart(), "ncclGroupStart", err);
	for (int i = 0; status == JL_OK && i < s->n_parts; i++)
		status = jl_nccl_check(s->nccl, queue(s, &s->parts[i]), jl_coll_name(s->task.coll), err);
	enum jl_status end = jl_nccl_check(s->nccl, s->nccl->GroupEnd(), "ncclGroupEnd", status == JL_OK ? err : NULL);
	return status == JL_OK ? end : status;
}

/* A rank that is gone leaves the others waiting inside NCCL for ever: look every so often, give up after
 * JL_COMM_STUCK_S. */
static enum jl_status wait_part(struct jl_bench_state *s, struct gpu_part *p, struct jl_err *err)
{
	const struct jl_cuda *cu = p->gpu->cuda;
	for (double waited_s = 0.0;; waited_s += 100e-6) {
		int code = cu->EventQuery(p->to), async = 0;
		if (code != JL_CU_NOT_READY)
			return jl_cuda_check(cu, code, "cuEventQuery", err);
		s->nccl->CommGetAsyncError(p->comm, &async);
		if (async != JL_NCCL_OK && async != JL_NCCL_IN_PROGRESS)
			return jl_nccl_check(s->nccl, async, jl_coll_name(s->task.coll), err);
		if (waited_s > JL_COMM_STUCK_S) {
			s->nccl->CommAbort(p->comm);
			p->comm = NULL;
			return jl_fail(err, JL_E_IO, "GPU %d: %s does not finish; another rank is stuck or gone",
				       p->gpu->index, jl_coll_name(s->task.coll));
		}
		nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
	}
}

static enum jl_status time_all(struct jl_bench_state *s, int n, double *ret_s, struct jl_err *err)
{
	double longest_s = 0.0;
	enum jl_status status = JL_OK;
	for (int i = 0; status == JL_OK && i < s->n_parts; i++) {
		struct gpu_part *p = &s->parts[i];
		p->gpu->cuda->CtxSetCurrent(p->gpu->ctx);
		status = jl_cuda_check(p->gpu->cuda, p->gpu->cuda->EventRecord(p->from, p->gpu->stream),
				       "cuEventRecord", err);
	}
	for (int i = 0; status == JL_OK && i < n; i++)
		status = run_all(s, err);
	for (int i = 0; status == JL_OK && i < s->n_parts; i++) {
		struct gpu_part *p = &s->parts[i];
		p->gpu->cuda->CtxSetCurrent(p->gpu->ctx);
		status = jl_cuda_check(p->gpu->cuda, p->gpu->cuda->EventRecord(p->to, p->gpu->stream), "cuEventRecord",
				       err);
	}
	for (int i = 0; status == JL_OK && i < s->n_parts; i++) {
		struct gpu_part *p = &s->parts[i];
		float ms = 0.0F;
		status = wait_part(s, p, err);
		if (status == JL_OK)
			status = jl_cuda_check(p->gpu->cuda, p->gpu->cuda->EventElapsedTime(&ms, p->from, p->to),
					       "cuEventElapsedTime", err);
		longest_s = fmax(longest_s, (double)ms * 1e-3);
	}
	if (status == JL_OK)
		*ret_s = longest_s / n;
	return status;
}

static enum jl_status kernel(struct gpu_part *p, const char *name, void **args, struct jl_err *err)
{
	struct CUfunc_st *function = NULL;
	enum jl_status status = jl_gpu_current(p->gpu, err);
	if (status == JL_OK)
		status = jl_gpu_function(p->gpu, name, 0, &function, err);
	if (status == JL_OK)
		status = jl_gpu_launch(p->gpu, function,
				       &(struct jl_gpu_grid){ .x = 4 * (unsigned)p->gpu->n_sm, .n_threads = 256 },
				       p->gpu->stream, args, err);
	return status == JL_OK ? jl_gpu_sync(p->gpu, err) : status;
}

static enum jl_status fill(struct jl_bench_state *s, struct jl_err *err)
{
	enum jl_status status = JL_OK;
	bool contribution = s->task.coll == JL_COLL_ALLGATHER;
	size_t n = contribution ? s->count : s->buffer_B / s->type_B;
	int type = jl_nccl_types[s->task.type], op = jl_nccl_ops[s->task.op];
	for (int i = 0; status == JL_OK && i < s->n_parts; i++) {
		struct gpu_part *p = &s->parts[i];
		status = kernel(p, "bench_kernels/jl_coll_fill",
				(void *[]){ &p->send, &n, &type, &op, &p->rank, &s->n_ranks }, err);
	}
	return status;
}

/* All ranks run as often as the slowest needs; with a communicator the number is rank 0's. */
static enum jl_status set_repeat(struct jl_bench_state *s, struct jl_err *err)
{
	double once_s = 0.0;
	enum jl_status status = run_all(s, err);
	if (status == JL_OK)
		status = time_all(s, 3, &once_s, err);
	int32_t n = once_s * REPEAT_MAX < SAMPLE_MIN_S ? REPEAT_MAX : (int32_t)ceil(SAMPLE_MIN_S / once_s);
	if (status == JL_OK && s->task.comm) {
		struct jl_coll_call call = {
			.coll = JL_COLL_BROADCAST,
			.type = JL_COMM_INT32,
			.count = 1,
			.send = &n,
			.recv = &n,
		};
		status = jl_comm_run(s->task.comm, &call, err);
	}
	s->n_each = n;
	return status;
}

static enum jl_status set_up(struct jl_bench_state *s, struct jl_err *err)
{
	const struct jl_cuda *cuda = NULL;
	struct jl_comm *base = s->task.comm;
	enum jl_status status = JL_OK;
	JL_TRY(jl_cuda_open(&cuda, err));
	JL_TRY(jl_nccl_open(&s->nccl, err));
	int n_all = jl_cuda_count(cuda), n_wanted = s->task.n_gpus ? s->task.n_gpus : n_all;
	if (!base && (n_wanted < 1 || n_wanted > n_all || n_wanted > N_GPUS_MAX))
		return jl_fail(err, JL_E_RANGE, "%d GPUs wanted, this machine has %d", n_wanted, n_all);
	if (base && base->n_local > n_all)
		return jl_fail(err, JL_E_RANGE, "%d ranks on this host for %d GPUs: NCCL wants a GPU for each",
			       base->n_local, n_all);
	s->type_B = jl_comm_type_B(s->task.type);
	s->n_parts = base ? 1 : n_wanted;
	s->n_ranks = base ? base->n_ranks : n_wanted;
	lay_out(s);
	for (int i = 0; status == JL_OK && i < s->n_parts; i++) {
		s->parts[i].rank = base ? base->rank : i;
		status = open_part(s, i, base ? base->local_rank : i, err);
	}
	if (!status)
		status = connect(s, err);
	if (!status)
		status = fill(s, err);
	return status == JL_OK ? set_repeat(s, err) : status;
}

static enum jl_status prepare(const struct jl_bench_task *task, struct jl_bench_state **ret_state, struct jl_err *err)
{
	struct jl_bench_state *s = jl_realloc(NULL, sizeof *s);
	JL_TRY(jl_got(s, err));
	memset(s, 0, sizeof *s);
	s->task = *task;
	enum jl_status status = set_up(s, err);
	if (!status)
		*ret_state = s;
	else
		finish(s);
	return status;
}

static enum jl_status run_once(struct jl_bench_state *s, double *ret_s, struct jl_err *err)
{
	return time_all(s, s->n_each, ret_s, err);
}

static enum jl_status verify(struct jl_bench_state *s, size_t *ret_n_wrong, struct jl_err *err)
{
	enum jl_coll coll = s->task.coll;
	size_t n = coll == JL_COLL_REDUCESCATTER ? s->count : s->buffer_B / s->type_B, n_wrong = 0;
	int kind = (int)coll, type = jl_nccl_types[s->task.type], op = jl_nccl_ops[s->task.op];
	double once_s = 0.0;
	enum jl_status status = fill(s, err);
	if (status == JL_OK)
		status = time_all(s, 1, &once_s, err);
	for (int i = 0; status == JL_OK && i < s->n_parts; i++) {
		struct gpu_part *p = &s->parts[i];
		unsigned long long wrong = 0, zero = 0;
		if (coll == JL_COLL_REDUCE && p->rank != s->task.root)
			continue;
		status = kernel(p, "bench_kernels/jl_coll_check",
				(void *[]){ &p->recv, &n, &s->count, &kind, &type, &op, &s->task.root, &p->rank,
					    &s->n_ranks, &p->counter },
				err);
		const struct jl_cuda *cu = p->gpu->cuda;
		if (status == JL_OK)
			status = jl_cuda_check(cu, cu->MemcpyDtoH(&wrong, p->counter, sizeof wrong), "cuMemcpyDtoH",
					       err);
		if (status == JL_OK)
			status = jl_cuda_check(cu, cu->MemcpyHtoD(p->counter, &zero, sizeof zero), "cuMemcpyHtoD", err);
		n_wrong += (size_t)wrong;
	}
	if (status == JL_OK)
		*ret_n_wrong = n_wrong;
	return status;
}

static const char *versions(void)
{
	static char text[64];
	const struct jl_nccl *nccl = NULL;
	int v = 0;
	if (jl_nccl_open(&nccl, NULL) != JL_OK || nccl->GetVersion(&v) != JL_NCCL_OK)
		return "";
	snprintf(text, sizeof text, "nccl=%d.%d.%d", v / 10000, v % 10000 / 100, v % 100);
	return text;
}

const struct jl_bench_backend jl_bench_nccl = {
	.name = "nccl",
	.en = JL_N("collectives between NVIDIA GPUs, of one process or one rank each"),
	.present = present,
	.supports = supports,
	.prepare = prepare,
	.run_once = run_once,
	.verify = verify,
	.finish = finish,
	.versions = versions,
};
