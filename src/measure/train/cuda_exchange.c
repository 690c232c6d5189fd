/* Collectives that overlap with computation. Uses NCCL on a separate stream where every worker has its own GPU; otherwise (several workers per
 * GPU, or no NCCL) copies through host memory and uses the workers' communicator. */

#include "base/clock.h"
#include "bench/nccl_names.h"
#include "train/cuda_engine.h"

/* True only if all workers can: if one cannot use NCCL, all exchange through host memory. */
static enum jl_status agree(struct jl_comm *comm, bool can, bool *ret_all, struct jl_err *err)
{
	double all = can;
	enum jl_status status = jl_comm_agree(comm, &all, 1, JL_RED_MIN, err);
	*ret_all = status == JL_OK && all == 1;
	return status;
}

static enum jl_status connect_nccl(struct cuda_engine *e, struct jl_comm *comm, struct jl_err *err)
{
	struct cuda_exchange *x = &e->exchange;
	struct jl_nccl_id id = { { 0 } };
	int n_gpus = jl_cuda_count(e->gpu->cuda);
	bool all = false;
	bool can = comm->n_local <= n_gpus && jl_nccl_open(&x->nccl, NULL) == JL_OK &&
		   (comm->rank != 0 || x->nccl->GetUniqueId(&id) == JL_NCCL_OK);
	enum jl_status status = agree(comm, can, &all, err);
	if (status != JL_OK || !all) {
		x->nccl = NULL;
		return status;
	}
	JL_TRY(jl_comm_tell(comm, &id, sizeof id, err));
	return jl_nccl_check(x->nccl, x->nccl->CommInitRank(&x->comm, comm->n_ranks, id, comm->rank),
			     "ncclCommInitRank", err);
}

enum jl_status jl_cuda_exchange_open(struct cuda_engine *e, struct jl_comm *comm, struct jl_err *err)
{
	struct cuda_exchange *x = &e->exchange;
	const struct jl_cuda *cu = e->gpu->cuda;
	JL_TRY(connect_nccl(e, comm, err));
	JL_TRY(jl_cuda_check(cu, cu->StreamCreate(&x->stream, JL_CU_STREAM_NON_BLOCKING), "cuStreamCreate", err));
	return jl_cuda_check(cu, cu->EventCreate(&x->ready, JL_CU_EVENT_NO_TIMING), "cuEventCreate", err);
}

void jl_cuda_exchange_close(struct cuda_engine *e)
{
	struct cuda_exchange *x = &e->exchange;
	const struct jl_cuda *cu = e->gpu->cuda;
	if (x->comm)
		x->nccl->CommDestroy(x->comm);
	for (int i = 0; i < JL_ENGINE_SLOTS; i++) {
		jl_gpu_event_free(e->gpu, x->slots[i].done);
		jl_gpu_event_free(e->gpu, x->slots[i].before);
		jl_gpu_event_free(e->gpu, x->slots[i].after);
	}
	jl_gpu_event_free(e->gpu, x->ready);
	if (x->stream)
		cu->StreamDestroy(x->stream);
	if (x->host)
		cu->MemFreeHost(x->host);
	*x = (struct cuda_exchange){ 0 };
}

static void sizes_of(const struct jl_comm *comm, const struct jl_coll_call *c, size_t *ret_send_B, size_t *ret_recv_B)
{
	size_t one_B = c->count * jl_comm_type_B(c->type), all_B = one_B * (size_t)comm->n_ranks;
	*ret_send_B = jl_coll_shapes[c->coll].deals ? all_B : one_B;
	*ret_recv_B = jl_coll_shapes[c->coll].gathers ? all_B : one_B;
}

/* Pinned host buffer for sending and receiving; grows during the first step only. */
static bool host_room(struct cuda_engine *e, size_t size_B)
{
	struct cuda_exchange *x = &e->exchange;
	const struct jl_cuda *cu = e->gpu->cuda;
	if (x->host_B >= size_B)
		return true;
	if (x->host)
		cu->MemFreeHost(x->host);
	x->host = NULL;
	x->host_B = 0;
	jl_cuda_keep(e, cu->MemHostAlloc(&x->host, size_B, 0), "cuMemHostAlloc");
	if (x->host)
		x->host_B = size_B;
	return x->host != NULL;
}

static void through_host(struct cuda_engine *e, struct jl_comm *comm, const struct jl_coll_call *call)
{
	struct cuda_exchange *x = &e->exchange;
	const struct jl_cuda *cu = e->gpu->cuda;
	size_t send_B = 0, recv_B = 0;
	struct jl_err err;
	sizes_of(comm, call, &send_B, &recv_B);
	size_t gap_B = (send_B + 63) / 64 * 64;
	if (!host_room(e, gap_B + recv_B))
		return;
	struct jl_coll_call host = *call;
	host.send = x->host;
	host.recv = (char *)x->host + gap_B;
	jl_cuda_keep(e, cu->MemcpyDtoHAsync(x->host, (uint64_t)(uintptr_t)call->send, send_B, e->gpu->stream),
		     "cuMemcpyDtoHAsync");
	jl_cuda_keep(e, cu->StreamSynchronize(e->gpu->stream), "cuStreamSynchronize");
	double from_s = jl_clock_s();
	if (e->base.failed == JL_OK)
		jl_cuda_keep_status(e, jl_comm_run(comm, &host, &err), &err);
	if (e->base.failed == JL_OK)
		jl_cuda_keep(e, cu->MemcpyHtoDAsync((uint64_t)(uintptr_t)call->recv, host.recv, recv_B, e->gpu->stream),
			     "cuMemcpyHtoDAsync");
	jl_cuda_keep(e, cu->StreamSynchronize(e->gpu->stream), "cuStreamSynchronize");
	x->waited_s += jl_clock_s() - from_s;
}

static bool slot_events(struct cuda_engine *e, struct cuda_slot *slot)
{
	const struct jl_cuda *cu = e->gpu->cuda;
	if (!slot->done)
		jl_cuda_keep(e, cu->EventCreate(&slot->done, JL_CU_EVENT_NO_TIMING), "cuEventCreate");
	if (!slot->before)
		jl_cuda_keep(e, cu->EventCreate(&slot->before, 0), "cuEventCreate");
	if (!slot->after)
		jl_cuda_keep(e, cu->EventCreate(&slot->after, 0), "cuEventCreate");
	return e->base.failed == JL_OK;
}

void jl_cuda_exchange_start(struct jl_engine *engine, struct jl_comm *comm, const struct jl_coll_call *call, int slot)
{
	struct cuda_engine *e = cuda_of(engine);
	struct cuda_exchange *x = &e->exchange;
	const struct jl_cuda *cu = e->gpu->cuda;
	struct jl_err err;
	if (engine->failed != JL_OK)
		return;
	if (!x->nccl) {
		through_host(e, comm, call);
		return;
	}
	if (!slot_events(e, &x->slots[slot]))
		return;
	jl_cuda_keep(e, cu->EventRecord(x->ready, e->gpu->stream), "cuEventRecord");
	jl_cuda_keep(e, cu->StreamWaitEvent(x->stream, x->ready, 0), "cuStreamWaitEvent");
	jl_cuda_keep_status(e,
			    jl_nccl_check(x->nccl,
					  jl_nccl_queue(x->nccl, call, comm->rank, comm->n_ranks, x->comm, x->stream),
					  jl_coll_name(call->coll), &err),
			    &err);
	jl_cuda_keep(e, cu->EventRecord(x->slots[slot].done, x->stream), "cuEventRecord");
}

void jl_cuda_exchange_finish(struct jl_engine *engine, struct jl_comm *comm, int slot)
{
	(void)comm;
	struct cuda_engine *e = cuda_of(engine);
	struct cuda_exchange *x = &e->exchange;
	const struct jl_cuda *cu = e->gpu->cuda;
	if (engine->failed != JL_OK || !x->nccl)
		return;
	struct cuda_slot *s = &x->slots[slot];
	jl_cuda_keep(e, cu->EventRecord(s->before, e->gpu->stream), "cuEventRecord");
	jl_cuda_keep(e, cu->StreamWaitEvent(e->gpu->stream, s->done, 0), "cuStreamWaitEvent");
	jl_cuda_keep(e, cu->EventRecord(s->after, e->gpu->stream), "cuEventRecord");
	s->waited = true;
}

double jl_cuda_exchange_waited_s(struct jl_engine *engine)
{
	struct cuda_engine *e = cuda_of(engine);
	struct cuda_exchange *x = &e->exchange;
	double sum_s = x->waited_s;
	for (int i = 0; i < JL_ENGINE_SLOTS; i++) {
		float ms = 0.0F;
		if (x->slots[i].waited &&
		    e->gpu->cuda->EventElapsedTime(&ms, x->slots[i].before, x->slots[i].after) == JL_CU_OK)
			sum_s += (double)ms * 1e-3;
		x->slots[i].waited = false;
	}
	x->waited_s = 0.0;
	return sum_s;
}

enum jl_status jl_cuda_exchange_sync(struct cuda_engine *e, struct jl_err *err)
{
	struct cuda_exchange *x = &e->exchange;
	const struct jl_cuda *cu = e->gpu->cuda;
	if (!x->nccl || !x->comm)
		return jl_cuda_check(cu, cu->StreamSynchronize(e->gpu->stream), "cuStreamSynchronize", err);
	JL_TRY(jl_cuda_check(cu, cu->EventRecord(x->ready, e->gpu->stream), "cuEventRecord", err));
	return jl_nccl_wait(x->nccl, &x->comm, e->gpu, x->ready, "NCCL", err);
}
