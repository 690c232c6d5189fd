/* The MPI communicator. Built as a separate module (jeoul-mpi.so) that the program loads when a launcher is present. */
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "comm/mpi/rollcall.h"
#include "comm/mpi_module.h"
#include "comm/reduce.h"

#define PIECE_MAX ((size_t)1 << 30) /* elements per MPI call; MPI counts are int */

struct mpi_comm {
	struct jl_comm comm;
	MPI_Comm world;
	struct rollcall *roll; /* NULL: no watch */
	struct rollcall_card *cards;
	bool initialised; /* this module called MPI_Init, so it calls MPI_Finalize */
	MPI_Datatype types[JL_N_COMM_TYPE];
	MPI_Op ops16[2][JL_N_REDOP]; /* half, bf16: MPI has no such types */
	char host[MPI_MAX_PROCESSOR_NAME];
	char version[MPI_MAX_LIBRARY_VERSION_STRING];
};

/* Callback of MPI's user-defined operations; the types have 16 bits. */
static void reduce16(enum jl_comm_type type, enum jl_redop op, void *in, void *inout, const int *len)
{
	const void *srcs[2] = { in, inout };
	void *dsts[1] = { inout };

	jl_reduce(&(struct jl_reduce){
		.type = type, .op = op, .srcs = srcs, .n_srcs = 2, .dsts = dsts, .n_dsts = 1, .count = (size_t)*len });
}

#define OP16(name, type, op)                                                                                           \
	static void name(void *in, void *inout, int *len, MPI_Datatype *unused)                                        \
	{                                                                                                              \
		(void)unused;                                                                                          \
		reduce16(type, op, in, inout, len);                                                                    \
	}

OP16(half_sum, JL_COMM_HALF, JL_RED_SUM)
OP16(half_prod, JL_COMM_HALF, JL_RED_PROD)
OP16(half_min, JL_COMM_HALF, JL_RED_MIN)
OP16(half_max, JL_COMM_HALF, JL_RED_MAX)
OP16(bf16_sum, JL_COMM_BF16, JL_RED_SUM)
OP16(bf16_prod, JL_COMM_BF16, JL_RED_PROD)
OP16(bf16_min, JL_COMM_BF16, JL_RED_MIN)
OP16(bf16_max, JL_COMM_BF16, JL_RED_MAX)

static enum jl_status failed(int code, enum jl_coll coll, struct jl_err *err)
{
	char text[MPI_MAX_ERROR_STRING] = "?";
	int len;

	if (code == MPI_SUCCESS)
		return JL_OK;
	(void)MPI_Error_string(code, text, &len);
	return jl_fail(err, JL_E_IO, "MPI: %s failed: %.200s", jl_coll_name(coll), text);
}

static MPI_Op op_of(const struct mpi_comm *c, const struct jl_coll_call *call)
{
	switch (call->type) {
	case JL_COMM_HALF: return c->ops16[0][call->op];
	case JL_COMM_BF16: return c->ops16[1][call->op];
	default: break;
	}
	switch (call->op) {
	case JL_RED_PROD: return MPI_PROD;
	case JL_RED_MIN: return MPI_MIN;
	case JL_RED_MAX: return MPI_MAX;
	case JL_RED_SUM:
	case JL_RED_AVG:
	case JL_N_REDOP: break;
	}
	return MPI_SUM;
}

/* Runs one piece of a collective whose buffers can be split anywhere. */
static int run_piece(struct mpi_comm *c, const struct jl_coll_call *call, const char *send, char *recv, int count)
{
	const MPI_Datatype type = c->types[call->type];
	const bool in_place = call->send == call->recv;
	const int n = c->comm.n_ranks, rank = c->comm.rank, far = (int)jl_coll_distance(call) % n,
		  next = (rank + far) % n, before = (rank + n - far) % n;

	switch (call->coll) {
	case JL_COLL_ALLREDUCE:
		return MPI_Allreduce(in_place ? MPI_IN_PLACE : send, recv, count, type, op_of(c, call), c->world);
	case JL_COLL_REDUCE:
		return MPI_Reduce(in_place && rank == call->root ? MPI_IN_PLACE : send, recv, count, type,
				  op_of(c, call), call->root, c->world);
	case JL_COLL_BROADCAST:
		if (rank == call->root && !in_place)
			memcpy(recv, send, (size_t)count * jl_comm_type_B(call->type));
		return MPI_Bcast(recv, count, type, call->root, c->world);
	case JL_COLL_SENDRECV:
		if (in_place)
			return MPI_Sendrecv_replace(recv, count, type, next, 0, before, 0, c->world, MPI_STATUS_IGNORE);
		return MPI_Sendrecv(send, count, type, next, 0, recv, count, type, before, 0, c->world,
				    MPI_STATUS_IGNORE);
	default: break;
	}
	return MPI_SUCCESS;
}

static int run_parts(struct mpi_comm *c, const struct jl_coll_call *call)
{
	const MPI_Datatype type = c->types[call->type];
	const int count = (int)call->count;
	const char *send = call->send, *recv = call->recv;
	const size_t own_B = (size_t)c->comm.rank * call->count * jl_comm_type_B(call->type);

	switch (call->coll) {
	case JL_COLL_ALLGATHER:
		return MPI_Allgather(send == recv + own_B ? MPI_IN_PLACE : send, count, type, call->recv, count, type,
				     c->world);
	case JL_COLL_ALLTOALL:
		return MPI_Alltoall(send == recv ? MPI_IN_PLACE : send, count, type, call->recv, count, type, c->world);
	case JL_COLL_REDUCESCATTER: {
		if (recv != send + own_B)
			return MPI_Reduce_scatter_block(send, call->recv, count, type, op_of(c, call), c->world);
		/* MPI puts the result of an in-place call at the start of the buffer */
		int code = MPI_Reduce_scatter_block(MPI_IN_PLACE, (void *)(uintptr_t)send, count, type, op_of(c, call),
						    c->world);
		if (code == MPI_SUCCESS && own_B)
			memcpy(call->recv, send, call->count * jl_comm_type_B(call->type));
		return code;
	}
	default: break;
	}
	return MPI_SUCCESS;
}

static enum jl_status run_call(struct jl_comm *comm, const struct jl_coll_call *call, struct jl_err *err)
{
	struct mpi_comm *c = (struct mpi_comm *)comm;
	const size_t size_B = jl_comm_type_B(call->type);
	const bool in_parts = jl_coll_shapes[call->coll].deals || jl_coll_shapes[call->coll].gathers;
	int code = MPI_SUCCESS;

	if (call->coll == JL_COLL_BARRIER)
		return failed(MPI_Barrier(c->world), call->coll, err);
	if (in_parts && call->count > INT_MAX)
		return jl_fail(err, JL_E_LIMIT, "%s: more than %d elements a rank; MPI counts in int",
			       jl_coll_name(call->coll), INT_MAX);
	if (in_parts)
		code = run_parts(c, call);
	for (size_t at = 0; !in_parts && at < call->count && code == MPI_SUCCESS; at += PIECE_MAX) {
		const size_t left = call->count - at;

		code = run_piece(c, call, (const char *)call->send + at * size_B, (char *)call->recv + at * size_B,
				 (int)(left < PIECE_MAX ? left : PIECE_MAX));
	}
	if (code == MPI_SUCCESS && call->op == JL_RED_AVG && jl_coll_reduces(call->coll) &&
	    jl_coll_receives(call, (size_t)comm->rank))
		jl_reduce_divide(call->type, call->recv, call->count, comm->n_ranks); /* AVG was run as SUM */
	return failed(code, call->coll, err);
}

static enum jl_status mpi_run(struct jl_comm *comm, const struct jl_coll_call *call, struct jl_err *err)
{
	struct rollcall *roll = ((struct mpi_comm *)comm)->roll;

	rollcall_cross(roll);
	enum jl_status status = run_call(comm, call, err);
	rollcall_cross(roll);
	return status;
}

static void mpi_destroy(struct jl_comm *comm)
{
	struct mpi_comm *c = (struct mpi_comm *)comm;
	int finalized = 0;

	rollcall_close(c->roll);
	free(c->cards);
	(void)MPI_Finalized(&finalized);
	if (!finalized) {
		for (int k = 0; k < 2; k++) {
			(void)MPI_Op_free(&c->ops16[k][JL_RED_SUM]);
			(void)MPI_Op_free(&c->ops16[k][JL_RED_PROD]);
			(void)MPI_Op_free(&c->ops16[k][JL_RED_MIN]);
			(void)MPI_Op_free(&c->ops16[k][JL_RED_MAX]);
		}
		(void)MPI_Comm_free(&c->world);
		if (c->initialised)
			(void)MPI_Finalize();
	}
	free(c);
}

static const char *mpi_version(struct jl_comm *comm)
{
	return ((struct mpi_comm *)comm)->version;
}

static const struct jl_comm_backend mpi_backend = {
	.name = "mpi",
	.destroy = mpi_destroy,
	.run = mpi_run,
	.version = mpi_version,
};

/* Without a thread, jl_comm_start runs the call before it returns. */
static enum jl_status run_now(struct jl_comm *comm, const struct jl_coll_call *call,
			      struct jl_comm_request **ret_request, struct jl_err *err)
{
	*ret_request = NULL;
	return mpi_run(comm, call, err);
}

static enum jl_status is_done(struct jl_comm *comm, struct jl_comm_request *request, struct jl_err *err)
{
	(void)comm, (void)request, (void)err;
	return JL_OK;
}

static const struct jl_comm_backend plain_backend = {
	.name = "mpi",
	.destroy = mpi_destroy,
	.run = mpi_run,
	.start = run_now,
	.wait = is_done,
	.version = mpi_version,
};

static void make_ops(struct mpi_comm *c)
{
	static MPI_User_function *const functions[2][JL_N_REDOP] = {
		{ [JL_RED_SUM] = half_sum,
		  [JL_RED_PROD] = half_prod,
		  [JL_RED_MIN] = half_min,
		  [JL_RED_MAX] = half_max },
		{ [JL_RED_SUM] = bf16_sum,
		  [JL_RED_PROD] = bf16_prod,
		  [JL_RED_MIN] = bf16_min,
		  [JL_RED_MAX] = bf16_max },
	};
	const MPI_Datatype types[JL_N_COMM_TYPE] = {
		[JL_COMM_INT8] = MPI_INT8_T,     [JL_COMM_UINT8] = MPI_UINT8_T, [JL_COMM_INT32] = MPI_INT32_T,
		[JL_COMM_UINT32] = MPI_UINT32_T, [JL_COMM_INT64] = MPI_INT64_T, [JL_COMM_UINT64] = MPI_UINT64_T,
		[JL_COMM_HALF] = MPI_UINT16_T,   [JL_COMM_FLOAT] = MPI_FLOAT,   [JL_COMM_DOUBLE] = MPI_DOUBLE,
		[JL_COMM_BF16] = MPI_UINT16_T,
	};

	memcpy(c->types, types, sizeof(types));
	for (int k = 0; k < 2; k++) {
		for (int op = 0; op < JL_RED_AVG; op++)
			(void)MPI_Op_create(functions[k][op], 1, &c->ops16[k][op]);
		c->ops16[k][JL_RED_AVG] = c->ops16[k][JL_RED_SUM];
	}
}

/* Starts the watch on all ranks or on none. A rank without a socket has an empty card and is never reported. */
static void start_watch(struct mpi_comm *c, void (*stuck)(int rank))
{
	struct rollcall_card own;

	c->cards = calloc((size_t)c->comm.n_ranks, sizeof(*c->cards));
	c->roll = rollcall_open(&own);
	if (!c->cards) {
		rollcall_close(c->roll);
		c->roll = NULL;
		return;
	}
	(void)MPI_Allgather(&own, (int)sizeof(own), MPI_BYTE, c->cards, (int)sizeof(own), MPI_BYTE, c->world);
	if (c->roll)
		rollcall_start(c->roll, c->cards, c->comm.n_ranks, c->comm.rank, stuck);
}

static enum jl_status mpi_open(bool overlap, void (*stuck)(int rank), struct jl_comm **ret_comm, struct jl_err *err)
{
	struct mpi_comm *c = calloc(1, sizeof(*c));
	int already = 0, provided = 0, len = 0;
	MPI_Comm local;

	JL_TRY(jl_got(c, err));
	(void)MPI_Initialized(&already);
	/* calls come from one thread at a time: the caller's or the one of jl_comm_start. Open MPI's locks for that cost 0.3 µs of a 0.4 µs
	 * all-reduce, so they are off without overlap. */
	if (!already && MPI_Init_thread(NULL, NULL, overlap ? MPI_THREAD_SERIALIZED : MPI_THREAD_SINGLE, &provided) !=
				MPI_SUCCESS) {
		free(c);
		return jl_fail(err, JL_E_ABSENT, "MPI cannot be started");
	}
	c->initialised = !already;
	if (already)
		(void)MPI_Query_thread(&provided);
	(void)MPI_Comm_dup(MPI_COMM_WORLD, &c->world);
	(void)MPI_Comm_set_errhandler(c->world, MPI_ERRORS_RETURN);
	(void)MPI_Comm_rank(c->world, &c->comm.rank);
	(void)MPI_Comm_size(c->world, &c->comm.n_ranks);
	(void)MPI_Comm_split_type(c->world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &local);
	(void)MPI_Comm_rank(local, &c->comm.local_rank);
	(void)MPI_Comm_size(local, &c->comm.n_local);
	(void)MPI_Comm_free(&local);
	(void)MPI_Get_processor_name(c->host, &len);
	(void)MPI_Get_library_version(c->version, &len);
	c->version[strcspn(c->version, ",\n")] = '\0';
	c->comm.host = c->host;
	c->comm.backend = overlap && provided >= MPI_THREAD_SERIALIZED ? &mpi_backend : &plain_backend;
	make_ops(c);
	if (stuck && c->comm.n_ranks > 1)
		start_watch(c, stuck);
	*ret_comm = &c->comm;
	return JL_OK;
}

extern const struct jl_mpi_module jl_mpi_module;
const struct jl_mpi_module jl_mpi_module = { .abi = JL_MPI_MODULE_ABI, .open = mpi_open };
