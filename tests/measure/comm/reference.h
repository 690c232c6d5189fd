/* What every communicator is tested against: values that are exact in all types, a plain reference, one call of each kind. */
#ifndef JL_TESTS_COMM_REFERENCE_H
#define JL_TESTS_COMM_REFERENCE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "comm/comm.h"
#include "comm/reduce.h"

struct tally {
	_Atomic long n_checked, n_wrong, n_done;
	_Atomic int marks[16];
};

static uint64_t value_of(int rank, size_t i)
{
	return (i * 5 + (size_t)rank * 3 + i / 97) % 4;
}

static void put(enum jl_comm_type type, void *data, size_t i, uint64_t v)
{
	const size_t size_B = jl_comm_type_B(type);
	char *at = (char *)data + i * size_B;
	const float f = (float)v;
	const double d = (double)v;
	uint16_t h;

	switch (type) {
	case JL_COMM_HALF: h = jl_float_to_half(f), memcpy(at, &h, 2); break;
	case JL_COMM_BF16: h = jl_float_to_bf16(f), memcpy(at, &h, 2); break;
	case JL_COMM_FLOAT: memcpy(at, &f, 4); break;
	case JL_COMM_DOUBLE: memcpy(at, &d, 8); break;
	default: memcpy(at, &v, size_B); break; /* little endian */
	}
}

static uint64_t reduced(enum jl_redop op, int n_ranks, size_t i)
{
	uint64_t all = value_of(0, i);

	for (int r = 1; r < n_ranks; r++) {
		const uint64_t v = value_of(r, i);

		all = op == JL_RED_PROD  ? all * v
		      : op == JL_RED_MIN ? (v < all ? v : all)
		      : op == JL_RED_MAX ? (v > all ? v : all)
					 : all + v;
	}
	return all;
}

static size_t check(struct jl_comm *comm, const struct jl_coll_call *call, size_t n_recv)
{
	const size_t count = call->count, size_B = jl_comm_type_B(call->type);
	const int n = comm->n_ranks, before = (comm->rank + n - 1) % n;
	size_t n_wrong = 0;

	for (size_t i = 0; i < n_recv; i++) {
		uint64_t wanted = 0;
		char as_type[8];

		switch (call->coll) {
		case JL_COLL_ALLREDUCE:
		case JL_COLL_REDUCE: wanted = reduced(call->op, n, i); break;
		case JL_COLL_REDUCESCATTER: wanted = reduced(call->op, n, (size_t)comm->rank * count + i); break;
		case JL_COLL_ALLGATHER: wanted = value_of((int)(i / count), i % count); break;
		case JL_COLL_ALLTOALL:
			wanted = value_of((int)(i / count), (size_t)comm->rank * count + i % count);
			break;
		case JL_COLL_BROADCAST: wanted = value_of(call->root, i); break;
		case JL_COLL_SENDRECV: wanted = value_of(before, i); break;
		default: break;
		}
		put(call->type, as_type, 0, wanted);
		n_wrong += memcmp(as_type, (char *)call->recv + i * size_B, size_B) != 0;
	}
	return n_wrong;
}

/* One call with fresh buffers; shared memory or the rank's own, in place or not. */
static enum jl_status one(struct jl_comm *comm, struct tally *tally, struct jl_coll_call call, bool shared,
			  bool in_place, struct jl_err *err)
{
	const size_t n = (size_t)comm->n_ranks, size_B = jl_comm_type_B(call.type);
	const bool many_out = call.coll == JL_COLL_REDUCESCATTER || call.coll == JL_COLL_ALLTOALL;
	const bool many_in = call.coll == JL_COLL_ALLGATHER || call.coll == JL_COLL_ALLTOALL;
	const size_t n_send = call.count * (many_out ? n : 1), n_recv = call.count * (many_in ? n : 1);
	const size_t most_B = call.count * n * size_B;
	char *a = shared ? jl_comm_alloc(comm, most_B) : calloc(1, most_B + 1);
	char *b = shared ? jl_comm_alloc(comm, most_B) : calloc(1, most_B + 1);
	enum jl_status status;

	call.send = a;
	call.recv = b;
	if (in_place) {
		call.recv = a;
		if (call.coll == JL_COLL_ALLGATHER)
			call.send = a + (size_t)comm->rank * call.count * size_B;
		if (call.coll == JL_COLL_REDUCESCATTER)
			call.recv = a + (size_t)comm->rank * call.count * size_B;
	}
	for (size_t i = 0; i < n_send; i++)
		put(call.type, (void *)(uintptr_t)call.send, i, value_of(comm->rank, i));
	status = jl_comm_run(comm, &call, err);
	if (!status && (call.coll != JL_COLL_REDUCE || comm->rank == call.root)) {
		tally->n_wrong += (long)check(comm, &call, n_recv);
		tally->n_checked += (long)n_recv;
	}
	if (shared) {
		jl_comm_free(comm, a, most_B);
		jl_comm_free(comm, b, most_B);
	} else {
		free(a);
		free(b);
	}
	return status;
}

static enum jl_status all_kinds(struct jl_comm *comm, void *shared, void *ctx, struct jl_err *err)
{
	struct tally *tally = shared;
	const int step = ctx ? *(const int *)ctx : 1; /* 2: only the rank's own memory */
	const size_t counts[] = { 0, 1, 3, 1000, step > 1 ? 20011 : 70001 };
	enum jl_status status = JL_OK;

	for (int coll = 0; coll < JL_COLL_BARRIER; coll++)
		for (int type = 0; type < JL_N_COMM_TYPE; type++)
			for (int op = 0; op < (jl_coll_reduces((enum jl_coll)coll) ? JL_RED_AVG : 1); op++)
				for (size_t k = 0; k < 5; k++)
					for (int how = 0; how < 4 && !status; how += step) {
						if (k == 4 && type != JL_COMM_FLOAT && type != JL_COMM_INT8 &&
						    (op > 0 || step > 1))
							continue; /* enough at this size */
						status = one(comm, tally,
							     (struct jl_coll_call){ .coll = (enum jl_coll)coll,
										    .type = (enum jl_comm_type)type,
										    .op = (enum jl_redop)op,
										    .root = how % comm->n_ranks,
										    .count = counts[k] },
							     how & 1, how & 2, err);
					}
	tally->n_done++;
	return status;
}

/* Several all-reduces at once, computation in between; order is kept. */
static enum jl_status overlapped(struct jl_comm *comm, void *shared, void *ctx, struct jl_err *err)
{
	enum { N = 40000, CALLS = 12 };
	struct tally *tally = shared;
	struct jl_comm_request *requests[CALLS];
	float *data = jl_comm_alloc(comm, CALLS * N * sizeof(float));
	enum jl_status status = JL_OK;

	(void)ctx;
	for (size_t i = 0; i < (size_t)CALLS * N; i++)
		data[i] = (float)((size_t)comm->rank + i / N);
	for (int c = 0; c < CALLS && !status; c++) {
		const struct jl_coll_call call = {
			.type = JL_COMM_FLOAT, .count = N, .send = data + (size_t)c * N, .recv = data + (size_t)c * N
		};

		status = jl_comm_start(comm, &call, &requests[c], err);
	}
	if (!status)
		status = jl_comm_barrier(comm, err); /* a plain call comes behind them */
	for (int c = 0; c < CALLS && !status; c++)
		status = jl_comm_wait(comm, requests[c], err);
	for (size_t i = 0; i < (size_t)CALLS * N; i++) {
		const int n = comm->n_ranks;

		tally->n_wrong += data[i] != (float)((size_t)(n * (n - 1) / 2) + (size_t)n * (i / N));
	}
	tally->n_done++;
	jl_comm_free(comm, data, CALLS * N * sizeof(float));
	return status;
}

#endif
