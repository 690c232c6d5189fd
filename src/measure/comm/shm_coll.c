/* Collectives over shared memory. All ranks choose the same of three algorithms:
 *   small   the message is in the window before a single barrier; then each rank copies what it needs
 *   direct  barrier, read peers' memory, barrier
 *   staged  for memory that peers cannot access: piece by piece through the windows
 * A window has two alternating halves. A half is rewritten only after a later barrier, when no rank reads it any more. */
#include <string.h>

#include "comm/reduce.h"
#include "comm/shm.h"

#define SMALL_B  ((size_t)16384)
#define STREAM_B ((size_t)8 << 20) /* exceeds a core's private caches */

struct op {
	struct shm_comm *c;
	const struct jl_coll_call *call;
	size_t size_B;  /* bytes per element */
	size_t n_parts; /* messages offered by a rank: one, or one per rank */
};

static size_t n_ranks(const struct op *o)
{
	return (size_t)o->c->comm.n_ranks;
}

static size_t self(const struct op *o)
{
	return (size_t)o->c->comm.rank;
}

static const struct jl_coll_shape *shape(const struct op *o)
{
	return &jl_coll_shapes[o->call->coll];
}

static const struct shm_call *call_of(const struct op *o, size_t rank)
{
	return &o->c->head->ranks[rank].calls[o->c->n_calls & 1];
}

static char *window(const struct op *o, size_t rank)
{
	const size_t half_B = o->c->window_B / 2;

	return o->c->windows + rank * o->c->window_B + (o->c->n_chunks & 1) * half_B;
}

/* Copies elements [at, at + n) of each own message into the own window, one after another. */
static void stage(const struct op *o, size_t at, size_t n)
{
	char *to = window(o, self(o));

	if (!jl_coll_sends(o->call, self(o)))
		return;
	for (size_t part = 0; part < o->n_parts; part++)
		memcpy(to + part * n * o->size_B,
		       (const char *)o->call->send + (part * o->call->count + at) * o->size_B, n * o->size_B);
}

static void take(const struct op *o, const void *from, size_t at, size_t n)
{
	char *to = (char *)o->call->recv + at * o->size_B;

	if (n && to != (const char *)from)
		memcpy(to, from, n * o->size_B);
}

static void reduce_windows(const struct op *o, size_t part, size_t stride, size_t skip, size_t n, void *dst)
{
	void *dsts[1] = { dst };

	for (size_t r = 0; r < n_ranks(o); r++)
		o->c->srcs[r] = window(o, r) + (part * stride + skip) * o->size_B;
	jl_reduce(&(struct jl_reduce){ .type = o->call->type,
				       .op = o->call->op,
				       .srcs = o->c->srcs,
				       .n_srcs = o->c->comm.n_ranks,
				       .dsts = dsts,
				       .n_dsts = 1,
				       .count = n });
}

/* Copies this rank's share of elements [at, at + n) out of the windows. */
static void collect(const struct op *o, size_t at, size_t n)
{
	const size_t mine = shape(o)->deals ? self(o) : 0;

	if (!jl_coll_receives(o->call, self(o)))
		return;
	if (shape(o)->reduces)
		reduce_windows(o, mine, n, 0, n, (char *)o->call->recv + at * o->size_B);
	else if (shape(o)->gathers)
		for (size_t r = 0; r < n_ranks(o); r++)
			take(o, window(o, r) + mine * n * o->size_B, r * o->call->count + at, n);
	else
		take(o, window(o, jl_coll_source(o->call, self(o), n_ranks(o))) + mine * n * o->size_B, at, n);
}

/* --- direct */

/* This rank's share of `count` elements, split at multiples of 64 so that no cache line has two writers. */
static void share(const struct op *o, size_t *ret_from, size_t *ret_n)
{
	const size_t count = o->call->count, step = (count / n_ranks(o) + 63) / 64 * 64;
	const size_t from = self(o) * step < count ? self(o) * step : count;

	*ret_from = from;
	*ret_n = self(o) == n_ranks(o) - 1 || count - from < step ? count - from : step;
}

static const char *send_of(const struct op *o, size_t rank)
{
	return call_of(o, rank)->call.send;
}

static bool large(const struct op *o)
{
	return o->call->count * o->size_B > STREAM_B;
}

/* Reduces elements [from, from + n) of all ranks' `send` into each of `n_dsts` buffers. */
static void reduce_direct(const struct op *o, size_t from, size_t n, int n_dsts)
{
	for (size_t r = 0; r < n_ranks(o); r++)
		o->c->srcs[r] = send_of(o, r) + from * o->size_B;
	jl_reduce(&(struct jl_reduce){ .type = o->call->type,
				       .op = o->call->op,
				       .srcs = o->c->srcs,
				       .n_srcs = o->c->comm.n_ranks,
				       .dsts = o->c->dsts,
				       .n_dsts = n_dsts,
				       .count = n,
				       .stream = large(o) });
}

static void take_direct(const struct op *o, const void *from, size_t at)
{
	char *to = (char *)o->call->recv + at * o->size_B;

	if (to != (const char *)from)
		jl_copy_stream(to, from, o->call->count * o->size_B, large(o));
}

/* Each rank reduces its share for all receiving ranks, or its own part. */
static void reduce_all(const struct op *o)
{
	const bool deals = shape(o)->deals;
	size_t from = self(o) * o->call->count, n = o->call->count;
	int n_dsts = 0;

	if (!deals)
		share(o, &from, &n);
	for (size_t r = 0; r < n_ranks(o); r++)
		if (deals ? r == self(o) : jl_coll_receives(o->call, r))
			o->c->dsts[n_dsts++] = (char *)call_of(o, r)->call.recv + (deals ? 0 : from * o->size_B);
	reduce_direct(o, from, n, n_dsts);
}

static void direct(const struct op *o)
{
	const size_t count = o->call->count, mine_B = shape(o)->deals ? self(o) * count * o->size_B : 0;

	if (shape(o)->reduces)
		reduce_all(o);
	else if (shape(o)->gathers)
		for (size_t i = 0; i < n_ranks(o) && jl_coll_receives(o->call, self(o));
		     i++) { /* start with the own rank, so that ranks read different memory at a time */
			const size_t r = (self(o) + i) % n_ranks(o);

			take_direct(o, send_of(o, r) + mine_B, r * count);
		}
	else
		take_direct(o, send_of(o, jl_coll_source(o->call, self(o), n_ranks(o))) + mine_B, 0);
}

/* True if peers can access all buffers that this collective needs. All ranks get the same answer. */
static bool can_direct(const struct op *o)
{
	for (size_t r = 0; r < n_ranks(o); r++) {
		const struct shm_call *call = call_of(o, r);

		if (!call->send_shared && jl_coll_sends(o->call, r))
			return false;
		if (!call->recv_shared && shape(o)->reduces && !shape(o)->deals && jl_coll_receives(o->call, r))
			return false;
		if (shape(o)->swaps && call->in_place) /* a peer would read data that is being overwritten */
			return false;
	}
	return true;
}

/* --- staged */

/* Each rank reduces a share of the piece into its window; then all ranks copy the shares. */
static enum jl_status allreduce_piece(const struct op *o, size_t at, size_t n, struct jl_err *err)
{
	const size_t step = (n / n_ranks(o) + 63) / 64 * 64;

	for (size_t pass = 0; pass < 2; pass++) {
		for (size_t r = 0; r < n_ranks(o); r++) {
			const size_t from = r * step < n ? r * step : n;
			const size_t len = r == n_ranks(o) - 1 || n - from < step ? n - from : step;

			if (pass == 0 && r == self(o))
				reduce_windows(o, 0, n, from, len, window(o, r) + from * o->size_B);
			else if (pass == 1)
				take(o, window(o, r) + from * o->size_B, at + from, len);
		}
		JL_TRY(pass == 0 ? jl_shm_meet(o->c, err) : JL_OK);
	}
	return JL_OK;
}

static enum jl_status staged(const struct op *o, struct jl_err *err)
{
	const size_t step = o->c->window_B / 2 / o->n_parts / o->size_B;
	enum jl_status status = JL_OK;

	for (size_t at = 0; at < o->call->count && !status; at += step) {
		const size_t n = o->call->count - at < step ? o->call->count - at : step;

		o->c->n_chunks++;
		stage(o, at, n);
		status = jl_shm_meet(o->c, err);
		if (status)
			break;
		if (o->call->coll == JL_COLL_ALLREDUCE)
			status = allreduce_piece(o, at, n, err);
		else
			collect(o, at, n);
	}
	return status;
}

static enum jl_status check_same(const struct op *o, struct jl_err *err)
{
	const struct jl_coll_call *mine = o->call;

	for (size_t r = 0; r < n_ranks(o); r++) {
		const struct jl_coll_call *its = &call_of(o, r)->call;

		if (its->coll == mine->coll && its->type == mine->type && its->op == mine->op &&
		    its->root == mine->root && its->count == mine->count)
			continue;
		return jl_fail(err, JL_E_DATA, "ranks disagree: rank %d calls %s of %zu %s, rank %zu %s of %zu %s",
			       o->c->comm.rank, jl_coll_name(mine->coll), mine->count, jl_comm_type_name(mine->type), r,
			       jl_coll_name(its->coll), its->count, jl_comm_type_name(its->type));
	}
	return JL_OK;
}

static void announce(const struct op *o)
{
	struct shm_call *mine = &o->c->me->calls[o->c->n_calls & 1];
	const char *send = o->call->send, *recv = o->call->recv;

	*mine = (struct shm_call){
		.call = *o->call,
		.send_shared = jl_shm_shared(o->c, send),
		.recv_shared = jl_shm_shared(o->c, recv),
		.in_place = send == recv,
	};
}

enum jl_status jl_shm_run(struct jl_comm *comm, const struct jl_coll_call *call, struct jl_err *err)
{
	struct shm_comm *c = (struct shm_comm *)comm;
	const struct op o = { .c = c,
			      .call = call,
			      .size_B = jl_comm_type_B(call->type),
			      .n_parts = jl_coll_shapes[call->coll].deals ? (size_t)comm->n_ranks : 1 };
	const bool nothing = call->coll == JL_COLL_BARRIER || call->count == 0;
	const bool small = nothing || call->count * o.size_B * o.n_parts <= SMALL_B;

	c->n_calls++;
	announce(&o);
	if (small && !nothing) {
		c->n_chunks++;
		stage(&o, 0, call->count);
	}
	enum jl_status status = jl_shm_meet(c, err);
	JL_THEN(status, check_same(&o, err));
	if (status || nothing)
		return status;
	if (small) {
		collect(&o, 0, call->count);
		return JL_OK;
	}
	if (!can_direct(&o))
		return staged(&o, err);
	direct(&o);
	return jl_shm_meet(c, err);
}
