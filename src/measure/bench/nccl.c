/* Collectives between GPUs by NCCL, or by RCCL for AMD. Without a communicator one process drives all its GPUs (ncclCommInitAll); with one, each
 * rank drives the GPU with its local rank. `size_B` is as in nccl-tests: the longer of the two buffers. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench/nccl_names.h"
#include "bench/pattern.h"

enum { N_GPUS_MAX = 64 };

#define SAMPLE_MIN_S 2e-3
#define REPEAT_MAX   200

struct gpu_part {
	struct jl_gpu_dev *gpu;
	struct ncclComm *comm;
	struct CUevent_st *from, *to;
	int rank;
	struct jl_coll_call call;
	uint64_t memory[2], counter;
};

struct vendor {
	enum jl_status (*driver)(const struct jl_cuda **ret_cuda, struct jl_err *err);
	enum jl_status (*nccl)(const struct jl_nccl **ret_nccl, struct jl_err *err);
	enum jl_status (*gpu)(int index, struct jl_gpu_dev **ret_gpu, struct jl_err *err);
};
static const struct vendor nvidia = { jl_cuda_open, jl_nccl_open, jl_gpu_open },
			   amd = { jl_hip_open, jl_rccl_open, jl_gpu_open_amd };

struct jl_bench_state {
	struct jl_bench_task task;
	const struct vendor *vendor;
	const struct jl_nccl *nccl;
	int n_ranks, n_parts, n_each;
	size_t buffer_B, count;
	struct gpu_part parts[N_GPUS_MAX];
};

static const int types[JL_N_COMM_TYPE] = {
	[JL_COMM_INT8] = JL_NCCL_INT8,     [JL_COMM_UINT8] = JL_NCCL_UINT8, [JL_COMM_INT32] = JL_NCCL_INT32,
	[JL_COMM_UINT32] = JL_NCCL_UINT32, [JL_COMM_INT64] = JL_NCCL_INT64, [JL_COMM_UINT64] = JL_NCCL_UINT64,
	[JL_COMM_HALF] = JL_NCCL_HALF,     [JL_COMM_FLOAT] = JL_NCCL_FLOAT, [JL_COMM_DOUBLE] = JL_NCCL_DOUBLE,
	[JL_COMM_BF16] = JL_NCCL_BF16,
};
static const int ops[JL_N_REDOP] = {
	[JL_RED_SUM] = JL_NCCL_SUM, [JL_RED_PROD] = JL_NCCL_PROD, [JL_RED_MIN] = JL_NCCL_MIN,
	[JL_RED_MAX] = JL_NCCL_MAX, [JL_RED_AVG] = JL_NCCL_AVG,
};

static enum jl_status present(struct jl_err *err)
{
	const struct jl_nccl *nccl = NULL;
	JL_TRY(jl_gpu_present(err));
	return jl_nccl_open(&nccl, err);
}

static bool supports(const struct jl_bench_task *task)
{
	if (task->kind != JL_BENCH_COLL || task->coll == JL_COLL_BARRIER || task->size_B < jl_comm_type_B(task->type))
		return false;
	/* in place, data would be overwritten before it is sent */
	return !(task->in_place && jl_coll_shapes[task->coll].swaps);
}

static void release(struct jl_bench_state *s)
{
	for (int i = 0; i < s->n_parts; i++) {
		struct gpu_part *p = &s->parts[i];
		if (!p->gpu)
			continue;
		p->gpu->cuda->CtxSetCurrent(p->gpu->ctx);
		if (p->comm)
			s->nccl->CommDestroy(p->comm);
		jl_gpu_event_free(p->gpu, p->from);
		jl_gpu_event_free(p->gpu, p->to);
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

static enum jl_status open_part(struct jl_bench_state *s, int i, int device, struct jl_err *err)
{
	struct gpu_part *p = &s->parts[i];
	JL_TRY(s->vendor->gpu(device, &p->gpu, err));
	for (int j = 0; j < (s->task.in_place ? 1 : 2); j++)
		JL_TRY(jl_gpu_alloc(p->gpu, s->buffer_B, &p->memory[j], err));
	p->call = jl_pattern_call(&s->task, p->rank, s->n_ranks, (void *)(uintptr_t)p->memory[0],
				  (void *)(uintptr_t)p->memory[1]);
	JL_TRY(jl_gpu_counter(p->gpu, &p->counter, err));
	return jl_gpu_events(p->gpu, &p->from, &p->to, err);
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
	JL_TRY(jl_nccl_check(nccl, code, "ncclGetUniqueId", err));
	JL_TRY(jl_comm_tell(base, &id, sizeof id, err));
	return jl_nccl_check(nccl, nccl->CommInitRank(&s->parts[0].comm, base->n_ranks, id, base->rank),
			     "ncclCommInitRank", err);
}

/* Collectives that NCCL lacks, composed of sends and receives. */
static int exchange(const struct jl_nccl *nccl, const struct jl_coll_call *c, int rank, int n, struct ncclComm *comm,
		    struct CUstream_st *stream)
{
	const struct jl_coll_shape *shape = &jl_coll_shapes[c->coll];
	const size_t all = (size_t)n, self = (size_t)rank, part_B = c->count * jl_comm_type_B(c->type);
	int code = 0;
	for (size_t q = 0; code == 0 && q < all; q++) {
		if (jl_coll_passes(c, self, q, all))
			code = nccl->Send((const char *)c->send + (shape->deals ? q * part_B : 0), c->count,
					  types[c->type], (int)q, comm, stream);
		if (code == 0 && jl_coll_passes(c, q, self, all))
			code = nccl->Recv((char *)c->recv + (shape->gathers ? q * part_B : 0), c->count, types[c->type],
					  (int)q, comm, stream);
	}
	return code;
}

int jl_nccl_queue(const struct jl_nccl *nccl, const struct jl_coll_call *c, int rank, int n_ranks,
		  struct ncclComm *comm, struct CUstream_st *stream)
{
	int type = types[c->type], op = ops[c->op];
	switch (c->coll) {
	case JL_COLL_ALLREDUCE: return nccl->AllReduce(c->send, c->recv, c->count, type, op, comm, stream);
	case JL_COLL_ALLGATHER: return nccl->AllGather(c->send, c->recv, c->count, type, comm, stream);
	case JL_COLL_REDUCESCATTER: return nccl->ReduceScatter(c->send, c->recv, c->count, type, op, comm, stream);
	case JL_COLL_BROADCAST: return nccl->Broadcast(c->send, c->recv, c->count, type, c->root, comm, stream);
	case JL_COLL_REDUCE: return nccl->Reduce(c->send, c->recv, c->count, type, op, c->root, comm, stream);
	default: return exchange(nccl, c, rank, n_ranks, comm, stream);
	}
}

static enum jl_status run_all(struct jl_bench_state *s, struct jl_err *err)
{
	enum jl_status status = jl_nccl_check(s->nccl, s->nccl->GroupStart(), "ncclGroupStart", err);
	for (int i = 0; status == JL_OK && i < s->n_parts; i++)
		status = jl_nccl_check(s->nccl,
				       jl_nccl_queue(s->nccl, &s->parts[i].call, s->parts[i].rank, s->n_ranks,
						     s->parts[i].comm, s->parts[i].gpu->stream),
				       jl_coll_name(s->task.coll), err);
	enum jl_status end = jl_nccl_check(s->nccl, s->nccl->GroupEnd(), "ncclGroupEnd", status == JL_OK ? err : NULL);
	return status == JL_OK ? end : status;
}

enum jl_status jl_nccl_wait(const struct jl_nccl *nccl, struct ncclComm **comm, const struct jl_gpu_dev *gpu,
			    struct CUevent_st *event, const char *what, struct jl_err *err)
{
	for (double from_s = jl_clock_s();;) {
		int code = gpu->cuda->EventQuery(event), async = 0;
		enum jl_status status = JL_OK;
		if (code != JL_CU_NOT_READY)
			return jl_cuda_check(gpu->cuda, code, "cuEventQuery", err);
		nccl->CommGetAsyncError(*comm, &async);
		if (async != JL_NCCL_OK && async != JL_NCCL_IN_PROGRESS)
			status = jl_nccl_check(nccl, async, what, err);
		else if (jl_clock_s() - from_s > JL_COMM_STUCK_S)
			status = jl_fail(err, JL_E_IO, "GPU %d: %s does not finish; another rank is stuck or gone",
					 gpu->index, what);
		if (status) {
			nccl->CommAbort(*comm);
			*comm = NULL;
			return status;
		}
		nanosleep(&(struct timespec){ .tv_nsec = 20000 }, NULL);
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
		status = jl_nccl_wait(s->nccl, &p->comm, p->gpu, p->to, jl_coll_name(s->task.coll), err);
		JL_THEN(status, jl_cuda_check(p->gpu->cuda, p->gpu->cuda->EventElapsedTime(&ms, p->from, p->to),
					      "cuEventElapsedTime", err));
		longest_s = fmax(longest_s, (double)ms * 1e-3);
	}
	if (status == JL_OK)
		*ret_s = longest_s / n;
	return status;
}

/* Without kernels: the host creates the data, or counts wrong elements (`ret_n_wrong`). */
static enum jl_status by_host(struct jl_bench_state *s, const struct gpu_part *p, size_t *ret_n_wrong,
			      struct jl_err *err)
{
	const struct jl_coll_shape *shape = &jl_coll_shapes[s->task.coll];
	const struct jl_pattern pattern = { &s->task, p->rank, s->n_ranks, s->count };
	const struct jl_cuda *cu = p->gpu->cuda;
	const bool many = ret_n_wrong ? shape->gathers : shape->deals;
	const size_t size_B = s->count * (size_t)(many ? s->n_ranks : 1) * jl_comm_type_B(s->task.type);
	void *host = jl_realloc(NULL, size_B);
	JL_TRY(jl_got(host, err));
	enum jl_status status = jl_gpu_current(p->gpu, err);
	JL_THEN(status, jl_gpu_sync(p->gpu, err));
	if (status == JL_OK && ret_n_wrong) {
		status = jl_cuda_check(cu, cu->MemcpyDtoH(host, (uintptr_t)p->call.recv, size_B), "cuMemcpyDtoH", err);
		*ret_n_wrong = status ? 0 : jl_pattern_wrong(&pattern, host);
	} else if (status == JL_OK) {
		jl_pattern_fill(&pattern, host);
		status = jl_cuda_check(cu, cu->MemcpyHtoD((uintptr_t)p->call.send, host, size_B), "cuMemcpyHtoD", err);
	}
	jl_free(host);
	return status;
}

static enum jl_status fill(struct jl_bench_state *s, struct jl_err *err)
{
	size_t n = s->count * (size_t)(jl_coll_shapes[s->task.coll].deals ? s->n_ranks : 1);
	int type = types[s->task.type], op = ops[s->task.op];
	for (int i = 0; i < s->n_parts; i++) {
		struct gpu_part *p = &s->parts[i];
		JL_TRY(p->gpu->cuda->amd
			       ? by_host(s, p, NULL, err)
			       : jl_gpu_run(p->gpu, "bench_kernels/jl_coll_fill",
					    (void *[]){ (void *)&p->call.send, &n, &type, &op, &p->rank, &s->n_ranks },
					    err));
	}
	return JL_OK;
}

/* All ranks use the same number of runs, from the slowest one's time; with a communicator rank 0 decides. */
static enum jl_status set_repeat(struct jl_bench_state *s, struct jl_err *err)
{
	double once_s = 0.0;
	JL_TRY(run_all(s, err));
	JL_TRY(time_all(s, 3, &once_s, err));
	s->n_each = once_s * REPEAT_MAX < SAMPLE_MIN_S ? REPEAT_MAX : (int)ceil(SAMPLE_MIN_S / once_s);
	return s->task.comm ? jl_comm_tell(s->task.comm, &s->n_each, sizeof s->n_each, err) : JL_OK;
}

static enum jl_status set_up(struct jl_bench_state *s, struct jl_err *err)
{
	const struct jl_cuda *cuda = NULL;
	struct jl_comm *base = s->task.comm;
	JL_TRY(s->vendor->driver(&cuda, err));
	JL_TRY(s->vendor->nccl(&s->nccl, err));
	int n_all = jl_cuda_count(cuda), n_wanted = s->task.n_gpus ? s->task.n_gpus : n_all;
	if (!base && (n_wanted < 1 || n_wanted > n_all || n_wanted > N_GPUS_MAX))
		return jl_fail(err, JL_E_RANGE, "%d GPUs requested, this machine has %d", n_wanted, n_all);
	if (base && base->n_local > n_all)
		return jl_fail(err, JL_E_RANGE, "%d ranks on this host for %d GPUs: NCCL wants a GPU for each",
			       base->n_local, n_all);
	s->n_parts = base ? 1 : n_wanted;
	s->n_ranks = base ? base->n_ranks : n_wanted;
	s->count = jl_pattern_count(&s->task, s->n_ranks);
	s->buffer_B = jl_pattern_size_B(&s->task, s->n_ranks);
	for (int i = 0; i < s->n_parts; i++) {
		s->parts[i].rank = base ? base->rank : i;
		JL_TRY(open_part(s, i, base ? base->local_rank : i, err));
	}
	JL_TRY(connect(s, err));
	JL_TRY(fill(s, err));
	return set_repeat(s, err);
}

static enum jl_status prepare_on(const struct vendor *vendor, const struct jl_bench_task *task,
				 struct jl_bench_state **ret_state, struct jl_err *err)
{
	struct jl_bench_state *s = jl_realloc(NULL, sizeof *s);
	JL_TRY(jl_got(s, err));
	memset(s, 0, sizeof *s);
	s->task = *task;
	s->vendor = vendor;
	enum jl_status status = set_up(s, err);
	if (!status)
		*ret_state = s;
	else
		finish(s);
	return status;
}

static enum jl_status prepare(const struct jl_bench_task *task, struct jl_bench_state **ret_state, struct jl_err *err)
{
	return prepare_on(&nvidia, task, ret_state, err);
}

static enum jl_status run_once(struct jl_bench_state *s, double *ret_s, struct jl_err *err)
{
	return time_all(s, s->n_each, ret_s, err);
}

static enum jl_status verify(struct jl_bench_state *s, size_t *ret_n_wrong, struct jl_err *err)
{
	const struct jl_coll_shape *shape = &jl_coll_shapes[s->task.coll];
	size_t n = s->count * (size_t)(shape->gathers ? s->n_ranks : 1), each = shape->gathers ? s->count : 0,
	       n_wrong = 0;
	int type = types[s->task.type], op = ops[s->task.op];
	double once_s = 0.0;
	JL_TRY(fill(s, err));
	JL_TRY(time_all(s, 1, &once_s, err));
	for (int i = 0; i < s->n_parts; i++) {
		struct gpu_part *p = &s->parts[i];
		size_t rank = (size_t)p->rank, first = shape->deals ? rank * s->count : 0, wrong = 0;
		int from = shape->reduces ? -1 : (int)jl_coll_source(&p->call, rank, (size_t)s->n_ranks);
		if (!jl_coll_receives(&p->call, rank))
			continue;
		if (p->gpu->cuda->amd) {
			JL_TRY(by_host(s, p, &wrong, err));
			n_wrong += wrong;
			continue;
		}
		JL_TRY(jl_gpu_run(
			p->gpu, "bench_kernels/jl_coll_check",
			(void *[]){ &p->call.recv, &n, &first, &each, &from, &type, &op, &s->n_ranks, &p->counter },
			err));
		JL_TRY(jl_gpu_counted(p->gpu, p->counter, &wrong, err));
		n_wrong += wrong;
	}
	*ret_n_wrong = n_wrong;
	return JL_OK;
}

static const char *version_of(const struct vendor *vendor, const char *name)
{
	static char text[64];
	const struct jl_nccl *nccl = NULL;
	int v = 0;
	if (vendor->nccl(&nccl, NULL) != JL_OK || nccl->GetVersion(&v) != JL_NCCL_OK)
		return "";
	snprintf(text, sizeof text, "%s=%d.%d.%d", name, v / 10000, v % 10000 / 100, v % 100);
	return text;
}

static const char *versions(void)
{
	return version_of(&nvidia, "nccl");
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

/* ---- AMD */

static enum jl_status rccl_present(struct jl_err *err)
{
	const struct jl_cuda *hip = NULL;
	const struct jl_nccl *rccl = NULL;
	JL_TRY(jl_hip_open(&hip, err));
	return jl_rccl_open(&rccl, err);
}

static enum jl_status rccl_prepare(const struct jl_bench_task *task, struct jl_bench_state **ret_state,
				   struct jl_err *err)
{
	return prepare_on(&amd, task, ret_state, err);
}

static const char *rccl_versions(void)
{
	return version_of(&amd, "rccl");
}

const struct jl_bench_backend jl_bench_rccl = {
	.name = "rccl",
	.en = JL_N("collectives between AMD GPUs (written by its interface, never seen running)"),
	.present = rccl_present,
	.supports = supports,
	.prepare = rccl_prepare,
	.run_once = run_once,
	.verify = verify,
	.finish = finish,
	.versions = rccl_versions,
};
