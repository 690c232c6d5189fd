/* Code that all communicators share: names, checks of a call, small calls. */
#include "comm/comm.h"

#include <stdint.h>
#include <sys/mman.h>

#include "comm/queue.h"

#define SHAPE(NAME, ...) [JL_COLL_##NAME] = { __VA_ARGS__ },
const struct jl_coll_shape jl_coll_shapes[JL_N_COLL] = { JL_COLLECTIVES(SHAPE) };

static const char *const op_names[JL_N_REDOP] = {
	[JL_RED_SUM] = "sum", [JL_RED_PROD] = "prod", [JL_RED_MIN] = "min", [JL_RED_MAX] = "max", [JL_RED_AVG] = "avg",
};

static const struct {
	const char *name;
	size_t size_B;
} types[JL_N_COMM_TYPE] = {
	[JL_COMM_INT8] = { "int8", 1 },     [JL_COMM_UINT8] = { "uint8", 1 }, [JL_COMM_INT32] = { "int32", 4 },
	[JL_COMM_UINT32] = { "uint32", 4 }, [JL_COMM_INT64] = { "int64", 8 }, [JL_COMM_UINT64] = { "uint64", 8 },
	[JL_COMM_HALF] = { "half", 2 },     [JL_COMM_FLOAT] = { "float", 4 }, [JL_COMM_DOUBLE] = { "double", 8 },
	[JL_COMM_BF16] = { "bfloat16", 2 },
};

const char *jl_coll_name(enum jl_coll coll)
{
	return (size_t)coll < JL_N_COLL ? jl_coll_shapes[coll].name : "?";
}

const char *jl_redop_name(enum jl_redop op)
{
	return (size_t)op < JL_N_REDOP ? op_names[op] : "?";
}

const char *jl_comm_type_name(enum jl_comm_type type)
{
	return (size_t)type < JL_N_COMM_TYPE ? types[type].name : "?";
}

size_t jl_comm_type_B(enum jl_comm_type type)
{
	return (size_t)type < JL_N_COMM_TYPE ? types[type].size_B : 0;
}

bool jl_coll_reduces(enum jl_coll coll)
{
	return jl_coll_shapes[coll].reduces;
}

double jl_coll_bus_factor(enum jl_coll coll, int n_ranks)
{
	const double n = n_ranks;

	return jl_coll_shapes[coll].bus_scale * (jl_coll_shapes[coll].bus_shared ? (n - 1) / n : 1);
}

static enum jl_status check_call(const struct jl_comm *comm, const struct jl_coll_call *call, struct jl_err *err)
{
	if ((size_t)call->coll >= JL_N_COLL || (size_t)call->type >= JL_N_COMM_TYPE || (size_t)call->op >= JL_N_REDOP)
		return jl_fail(err, JL_E_RANGE, "a collective of an unknown kind, type or operation");
	if (call->coll == JL_COLL_BARRIER)
		return JL_OK;
	if (jl_coll_shapes[call->coll].rooted && (call->root < 0 || call->root >= comm->n_ranks))
		return jl_fail(err, JL_E_RANGE, "root %d: there are ranks 0 to %d", call->root, comm->n_ranks - 1);
	if (call->count > SIZE_MAX / 2 / jl_comm_type_B(call->type) / (size_t)comm->n_ranks)
		return jl_fail(err, JL_E_LIMIT, "%zu elements are more than memory can hold", call->count);
	return JL_OK;
}

enum jl_status jl_comm_run(struct jl_comm *comm, const struct jl_coll_call *call, struct jl_err *err)
{
	enum jl_status status = check_call(comm, call, err);
	struct jl_comm_request *request;

	if (status)
		return status;
	if (!comm->queue)
		return comm->backend->run(comm, call, err);
	/* started calls run first, in order */
	status = jl_queue_start(comm->queue, call, &request, err);
	return status ? status : jl_queue_wait(comm->queue, request, err);
}

enum jl_status jl_comm_start(struct jl_comm *comm, const struct jl_coll_call *call,
			     struct jl_comm_request **ret_request, struct jl_err *err)
{
	JL_TRY(check_call(comm, call, err));
	if (comm->backend->start)
		return comm->backend->start(comm, call, ret_request, err);
	if (!comm->queue) {
		JL_TRY(jl_queue_create(&comm->queue, comm, err));
	}
	return jl_queue_start(comm->queue, call, ret_request, err);
}

enum jl_status jl_comm_wait(struct jl_comm *comm, struct jl_comm_request *request, struct jl_err *err)
{
	if (comm->backend->wait)
		return comm->backend->wait(comm, request, err);
	return jl_queue_wait(comm->queue, request, err);
}

enum jl_status jl_comm_barrier(struct jl_comm *comm, struct jl_err *err)
{
	return jl_comm_run(comm, &(struct jl_coll_call){ .coll = JL_COLL_BARRIER }, err);
}

enum jl_status jl_comm_tell(struct jl_comm *comm, void *data, size_t size_B, struct jl_err *err)
{
	return jl_comm_run(
		comm,
		&(struct jl_coll_call){
			.coll = JL_COLL_BROADCAST, .type = JL_COMM_UINT8, .count = size_B, .send = data, .recv = data },
		err);
}

enum jl_status jl_comm_share(struct jl_comm *comm, const void *own, void *all, size_t size_B, struct jl_err *err)
{
	return jl_comm_run(
		comm,
		&(struct jl_coll_call){
			.coll = JL_COLL_ALLGATHER, .type = JL_COMM_UINT8, .count = size_B, .send = own, .recv = all },
		err);
}

enum jl_status jl_comm_agree(struct jl_comm *comm, double *values, size_t n, enum jl_redop op, struct jl_err *err)
{
	if (!comm || comm->n_ranks == 1)
		return JL_OK;
	return jl_comm_run(
		comm,
		&(struct jl_coll_call){ .type = JL_COMM_DOUBLE, .op = op, .count = n, .send = values, .recv = values },
		err);
}

void *jl_comm_alloc(struct jl_comm *comm, size_t size_B)
{
	void *memory;

	if (comm->backend->alloc)
		return comm->backend->alloc(comm, size_B);
	memory = mmap(NULL, size_B ? size_B : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

void jl_comm_free(struct jl_comm *comm, void *memory, size_t size_B)
{
	if (!memory)
		return;
	if (comm->backend->alloc)
		comm->backend->free(comm, memory, size_B);
	else
		(void)munmap(memory, size_B ? size_B : 1);
}

bool jl_comm_stop_asked(struct jl_comm *comm)
{
	return comm->backend->stop_asked && comm->backend->stop_asked(comm);
}

void jl_comm_destroy(struct jl_comm *comm)
{
	if (!comm)
		return;
	jl_queue_destroy(comm->queue);
	comm->queue = NULL;
	comm->backend->destroy(comm);
}
