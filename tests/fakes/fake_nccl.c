/* A stand-in for NCCL within one process: the calls of a group are done on the host when the group ends and every rank
 * has spoken. Floats are reduced; other types are copied. Ranks of other processes do not exist here. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))
#define FN(name, ...)                                                                                                  \
	API int name(__VA_ARGS__);                                                                                     \
	int name(__VA_ARGS__)

enum { OK = 0, BAD = 4, N_OPS_MAX = 1024, N_RANKS_MAX = 8, FLOAT = 7 };
enum kind { ALLREDUCE, ALLGATHER, REDUCESCATTER, BROADCAST, REDUCE, SEND, RECV };

struct comm {
	int rank, n_ranks;
	struct comm **all;
};

struct op {
	enum kind kind;
	const char *send;
	char *recv;
	size_t count;
	int type, op, root;
	struct comm *comm;
	bool done;
};

struct id {
	char bytes[128];
};

static struct op ops[N_OPS_MAX];
static int n_ops, depth;

static size_t size_of(int type)
{
	static const size_t sizes[] = { 1, 1, 4, 4, 8, 8, 2, 4, 8, 2 };
	return sizes[type];
}

static struct op *op_of(enum kind kind, int rank)
{
	for (int i = 0; i < n_ops; i++)
		if (ops[i].kind == kind && ops[i].comm->rank == rank && !ops[i].done)
			return &ops[i];
	return NULL;
}

static float combine(float a, float b, int op)
{
	return op == 1 ? a * b : op == 2 ? (a > b ? a : b) : op == 3 ? (a < b ? a : b) : a + b;
}

/* out[i] = all ranks' send[first + i] */
static void reduce(struct op **all, int n, size_t first, size_t count, int op, float *out)
{
	for (size_t i = 0; i < count; i++) {
		float sum = ((const float *)all[0]->send)[first + i];
		for (int q = 1; q < n; q++)
			sum = combine(sum, ((const float *)all[q]->send)[first + i], op);
		out[i] = op == 4 ? sum / (float)n : sum;
	}
}

static int run_collective(struct op *first)
{
	struct op *all[N_RANKS_MAX];
	float *results[N_RANKS_MAX] = { 0 };
	int n = first->comm->n_ranks;
	size_t B = size_of(first->type), count = first->count;
	size_t n_out = first->kind == ALLGATHER ? count * (size_t)n : count;
	for (int q = 0; q < n; q++)
		if (!(all[q] = op_of(first->kind, q)) || all[q]->count != count)
			return BAD;   /* a rank is missing or says something else */
	for (int q = 0; q < n; q++) { /* all read before any writes: buffers may be the same */
		results[q] = calloc(n_out ? n_out : 1, B < 4 ? 4 : B);
		if (!results[q])
			abort();
		if (first->kind == ALLGATHER)
			for (int r = 0; r < n; r++)
				memcpy((char *)results[q] + (size_t)r * count * B, all[r]->send, count * B);
		else if (first->kind == BROADCAST)
			memcpy(results[q], all[first->root]->send, count * B);
		else if (first->type == FLOAT)
			reduce(all, n, first->kind == REDUCESCATTER ? (size_t)q * count : 0, count, first->op,
			       results[q]);
	}
	for (int q = 0; q < n; q++) {
		if (first->kind != REDUCE || q == first->root)
			memcpy(all[q]->recv, results[q], n_out * B);
		free(results[q]);
		all[q]->done = true;
	}
	return OK;
}

static int run_send(struct op *send)
{
	for (int i = 0; i < n_ops; i++) {
		struct op *o = &ops[i];
		if (o->kind == RECV && !o->done && o->comm->rank == send->root && o->root == send->comm->rank) {
			memmove(o->recv, send->send, send->count * size_of(send->type));
			send->done = o->done = true;
			return OK;
		}
	}
	return BAD;
}

static int run_all(void)
{
	int code = OK;
	for (int i = 0; i < n_ops && code == OK; i++)
		if (!ops[i].done && ops[i].kind != RECV)
			code = ops[i].kind == SEND ? run_send(&ops[i]) : run_collective(&ops[i]);
	n_ops = 0;
	return code;
}

static int add(struct op op)
{
	if (n_ops == N_OPS_MAX)
		return BAD;
	ops[n_ops++] = op;
	return depth ? OK : run_all();
}

FN(ncclGetVersion, int *version)
{
	*version = 22809;
	return OK;
}
FN(ncclGetUniqueId, struct id *id)
{
	memset(id, 1, sizeof *id);
	return OK;
}
API const char *ncclGetErrorString(int code);
const char *ncclGetErrorString(int code)
{
	return code == BAD ? "invalid argument" : "an error";
}
FN(ncclCommInitAll, struct comm **comms, int n, const int *devices)
{
	(void)devices;
	if (n > N_RANKS_MAX)
		return BAD;
	for (int i = 0; i < n; i++) {
		comms[i] = malloc(sizeof **comms);
		if (!comms[i])
			return BAD;
		*comms[i] = (struct comm){ .rank = i, .n_ranks = n };
	}
	return OK;
}
FN(ncclCommInitRank, struct comm **comm, int n_ranks, struct id id, int rank)
{
	int device = 0;
	(void)id;
	return n_ranks == 1 && rank == 0 ? ncclCommInitAll(comm, 1, &device) : BAD;
}
FN(ncclCommDestroy, struct comm *comm)
{
	free(comm);
	return OK;
}
FN(ncclCommAbort, struct comm *comm)
{
	return ncclCommDestroy(comm);
}
FN(ncclCommGetAsyncError, struct comm *comm, int *code)
{
	(void)comm;
	*code = OK;
	return OK;
}
FN(ncclGroupStart, void)
{
	depth++;
	return OK;
}
FN(ncclGroupEnd, void)
{
	return --depth == 0 ? run_all() : OK;
}
FN(ncclAllReduce, const void *send, void *recv, size_t count, int type, int op, struct comm *comm, void *stream)
{
	(void)stream;
	return add((struct op){ ALLREDUCE, send, recv, count, type, op, 0, comm, false });
}
FN(ncclAllGather, const void *send, void *recv, size_t count, int type, struct comm *comm, void *stream)
{
	(void)stream;
	return add((struct op){ ALLGATHER, send, recv, count, type, 0, 0, comm, false });
}
FN(ncclReduceScatter, const void *send, void *recv, size_t count, int type, int op, struct comm *comm, void *stream)
{
	(void)stream;
	return add((struct op){ REDUCESCATTER, send, recv, count, type, op, 0, comm, false });
}
FN(ncclBroadcast, const void *send, void *recv, size_t count, int type, int root, struct comm *comm, void *stream)
{
	(void)stream;
	return add((struct op){ BROADCAST, send, recv, count, type, 0, root, comm, false });
}
FN(ncclReduce, const void *send, void *recv, size_t count, int type, int op, int root, struct comm *comm, void *stream)
{
	(void)stream;
	return add((struct op){ REDUCE, send, recv, count, type, op, root, comm, false });
}
FN(ncclSend, const void *send, size_t count, int type, int peer, struct comm *comm, void *stream)
{
	(void)stream;
	return add((struct op){ SEND, send, NULL, count, type, 0, peer, comm, false });
}
FN(ncclRecv, void *recv, size_t count, int type, int peer, struct comm *comm, void *stream)
{
	(void)stream;
	return add((struct op){ RECV, NULL, recv, count, type, 0, peer, comm, false });
}
