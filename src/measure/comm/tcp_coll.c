/* Collectives over TCP. All ranks choose the same of two algorithms:
 *   small  every rank gets all data, in log2(n) exchanges whose distance doubles
 *   ring   each rank sends to the next and receives from the previous one, and forwards data while more arrives
 * An all-to-all uses pairs instead of a ring: in round i ranks r and s with r + s = i (modulo n) exchange their parts. */
#include <string.h>

#include "base/mem.h"
#include "comm/reduce.h"
#include "comm/tcp.h"

#define STAGE_B  ((size_t)1 << 20)   /* bytes of a message that is only forwarded */
#define SPIN_B   ((size_t)256 << 10) /* up to this size polling is faster than waking up */
#define ALIGN_B  64
#define SEGS_MAX ((size_t)1 << 22)

struct op {
	struct tcp_comm *c;
	const struct jl_coll_call *call;
	size_t size_B; /* bytes per element */
	size_t n, self;
};

static size_t rank_at(const struct op *o, size_t distance) /* rank at `distance` before this one */
{
	return (o->self + o->n - distance % o->n) % o->n;
}

static enum jl_status room_for(struct op *o, size_t scratch_B, size_t n_segs, struct jl_err *err)
{
	struct tcp_comm *c = o->c;

	if (scratch_B > c->scratch_B) {
		char *scratch = jl_realloc(c->scratch, scratch_B);

		JL_TRY(jl_got(scratch, err));
		c->scratch = scratch;
		c->scratch_B = scratch_B;
	}
	if (n_segs > c->n_segs) {
		struct tcp_seg *segs = n_segs <= SEGS_MAX ? jl_realloc(c->segs, n_segs * sizeof(*segs)) : NULL;

		JL_TRY(jl_got(segs, err));
		c->segs = segs;
		c->n_segs = n_segs;
	}
	return JL_OK;
}

/* --- small */

static size_t n_parts(const struct op *o)
{
	return jl_coll_shapes[o->call->coll].deals ? o->n : 1;
}

/* The block contributed by `rank`, after all data has arrived. */
static char *block_of(const struct op *o, size_t rank, size_t block_B)
{
	return o->c->scratch + (o->self + o->n - rank) % o->n * block_B;
}

static void take(const struct op *o, const void *from, size_t at)
{
	memcpy((char *)o->call->recv + at * o->size_B, from, o->call->count * o->size_B);
}

static enum jl_status reduce_blocks(const struct op *o, size_t part, size_t block_B, struct jl_err *err)
{
	const void *few[16], **srcs = o->n <= 16 ? few : jl_realloc(NULL, o->n * sizeof(*srcs));
	void *dsts[1] = { o->call->recv };

	JL_TRY(jl_got(srcs, err));
	for (size_t r = 0; r < o->n; r++) /* the same order on all ranks gives the same bits */
		srcs[r] = block_of(o, r, block_B) + part * o->call->count * o->size_B;
	jl_reduce(&(struct jl_reduce){ .type = o->call->type,
				       .op = o->call->op,
				       .srcs = srcs,
				       .n_srcs = (int)o->n,
				       .dsts = dsts,
				       .n_dsts = 1,
				       .count = o->call->count });
	if (srcs != few)
		jl_free((void *)srcs);
	return JL_OK;
}

static enum jl_status collect(const struct op *o, size_t block_B, struct jl_err *err)
{
	const struct jl_coll_shape *shape = &jl_coll_shapes[o->call->coll];
	const size_t count = o->call->count, mine = shape->deals ? o->self : 0;

	if (!jl_coll_receives(o->call, o->self))
		return JL_OK;
	if (shape->reduces)
		return reduce_blocks(o, mine, block_B, err);
	for (size_t r = 0; r < o->n && shape->gathers; r++)
		take(o, block_of(o, r, block_B) + mine * count * o->size_B, r * count);
	if (!shape->gathers)
		take(o, block_of(o, jl_coll_source(o->call, o->self, o->n), block_B) + mine * count * o->size_B, 0);
	return JL_OK;
}

static enum jl_status small(struct op *o, size_t block_B, struct jl_err *err)
{
	enum jl_status status = JL_OK;

	JL_TRY(room_for(o, o->n * block_B, 0, err));
	if (block_B && jl_coll_sends(o->call, o->self))
		memcpy(o->c->scratch, o->call->send, block_B);
	else if (block_B)
		memset(o->c->scratch, 0, block_B);
	/* the first `have` blocks belong to this rank and the have - 1 ranks before it */
	for (size_t have = 1; have < o->n && !status; have *= 2) {
		const size_t len_B = (o->n - have < have ? o->n - have : have) * block_B;
		struct tcp_seg out = { .from = o->c->scratch, .size_B = len_B, .after = TCP_NONE };
		struct tcp_seg in = { .to = o->c->scratch + have * block_B, .size_B = len_B, .after = TCP_NONE };

		status = jl_tcp_flow(o->c, o->call,
				     &(struct tcp_flow){ .to = (int)((o->self + have) % o->n),
							 .from = (int)rank_at(o, have),
							 .out = &out,
							 .in = &in,
							 .n_out = block_B ? 1 : 0,
							 .n_in = block_B ? 1 : 0,
							 .small = true },
				     err);
	}
	return status || block_B == 0 ? status : collect(o, block_B, err);
}

static enum jl_status run_ring(struct op *o, struct tcp_seg *out, size_t n_out, struct tcp_seg *in, size_t n_in,
			       struct jl_err *err)
{
	return jl_tcp_flow(o->c, o->call,
			   &(struct tcp_flow){ .to = n_out ? (int)((o->self + 1) % o->n) : -1,
					       .from = n_in ? (int)rank_at(o, 1) : -1,
					       .out = out,
					       .in = in,
					       .n_out = n_out,
					       .n_in = n_in,
					       .small = o->call->count * o->size_B <= SPIN_B },
			   err);
}

/* Chunk `rank` of `count` elements, split at multiples of a cache line. */
static void chunk_of(const struct op *o, size_t rank, size_t *ret_at_B, size_t *ret_B)
{
	const size_t all_B = o->call->count * o->size_B;
	const size_t step_B = (all_B / o->n + ALIGN_B - 1) / ALIGN_B * ALIGN_B;
	const size_t at_B = rank * step_B < all_B ? rank * step_B : all_B;

	*ret_at_B = at_B;
	*ret_B = rank == o->n - 1 || all_B - at_B < step_B ? all_B - at_B : step_B;
}

/* First chunks are reduced on their way to their owner, then the results circulate. Outgoing segment k + 1 is incoming segment k. */
static enum jl_status allreduce(struct op *o, struct jl_err *err)
{
	const size_t n_steps = 2 * (o->n - 1);
	const char *send = o->call->send;
	char *recv = o->call->recv;
	enum jl_status status = room_for(o, 0, 2 * n_steps, err);
	struct tcp_seg *out = o->c->segs, *in = out + n_steps;

	if (status)
		return status;
	for (size_t k = 0; k < n_steps; k++) {
		const bool sums = k < o->n - 1;
		size_t at_B, len_B;

		chunk_of(o, rank_at(o, sums ? k + 1 : k - (o->n - 1)), &at_B, &len_B);
		out[k] = (struct tcp_seg){ .from = (k ? recv : send) + at_B,
					   .size_B = len_B,
					   .after = k ? k - 1 : TCP_NONE };
		chunk_of(o, rank_at(o, sums ? k + 2 : k - (o->n - 1) + 1), &at_B, &len_B);
		in[k] = (struct tcp_seg){ .to = recv + at_B,
					  .own = sums ? send + at_B : NULL,
					  .size_B = len_B,
					  .after = TCP_NONE,
					  .last = k == o->n - 2 };
	}
	return run_ring(o, out, n_steps, in, n_steps, err);
}

/* Two alternating buffers: partial sums arrive in one while the other is sent. */
static enum jl_status reduce_scatter(struct op *o, struct jl_err *err)
{
	const size_t n_steps = o->n - 1, part_B = o->call->count * o->size_B;
	const char *send = o->call->send;
	enum jl_status status = room_for(o, o->n > 2 ? 2 * part_B : 0, 2 * n_steps, err);
	struct tcp_seg *out = o->c->segs, *in = out + n_steps;

	if (status)
		return status;
	for (size_t k = 0; k < n_steps; k++) {
		const bool last = k == n_steps - 1;

		out[k] = (struct tcp_seg){ .from = k ? o->c->scratch + (k - 1) % 2 * part_B
						     : send + rank_at(o, 1) * part_B,
					   .size_B = part_B,
					   .after = k ? k - 1 : TCP_NONE };
		in[k] = (struct tcp_seg){ .to = last ? (char *)o->call->recv : o->c->scratch + k % 2 * part_B,
					  .own = send + rank_at(o, k + 2) * part_B,
					  .size_B = part_B,
					  .after = !last && k >= 2 ? k - 1 : TCP_NONE,
					  .last = last };
	}
	return run_ring(o, out, n_steps, in, n_steps, err);
}

static enum jl_status all_gather(struct op *o, struct jl_err *err)
{
	const size_t n_steps = o->n - 1, part_B = o->call->count * o->size_B;
	char *recv = o->call->recv, *mine = recv + o->self * part_B;
	enum jl_status status = room_for(o, 0, 2 * n_steps, err);
	struct tcp_seg *out = o->c->segs, *in = out + n_steps;

	if (status)
		return status;
	if (mine != (const char *)o->call->send)
		memcpy(mine, o->call->send, part_B);
	for (size_t k = 0; k < n_steps; k++) {
		out[k] = (struct tcp_seg){ .from = recv + rank_at(o, k) * part_B,
					   .size_B = part_B,
					   .after = k ? k - 1 : TCP_NONE };
		in[k] = (struct tcp_seg){ .to = recv + rank_at(o, k + 1) * part_B,
					  .size_B = part_B,
					  .after = TCP_NONE };
	}
	return run_ring(o, out, n_steps, in, n_steps, err);
}

/* Passes data along the ring from the root to the rank before it. */
static enum jl_status broadcast(struct op *o, struct jl_err *err)
{
	const size_t root = (size_t)o->call->root, all_B = o->call->count * o->size_B;
	const bool is_root = o->self == root, is_last = (o->self + 1) % o->n == root;
	struct tcp_seg out = { .from = is_root ? o->call->send : o->call->recv,
			       .size_B = all_B,
			       .after = is_root ? TCP_NONE : 0 };
	struct tcp_seg in = { .to = o->call->recv, .size_B = all_B, .after = TCP_NONE };
	enum jl_status status = run_ring(o, &out, is_last ? 0 : 1, &in, is_root ? 0 : 1, err);

	if (!status && is_root && o->call->send != o->call->recv)
		memcpy(o->call->recv, o->call->send, all_B);
	return status;
}

/* Reduces along the ring from the rank after the root to the root, stage by stage. */
static enum jl_status reduce(struct op *o, struct jl_err *err)
{
	const size_t root = (size_t)o->call->root, all_B = o->call->count * o->size_B;
	const bool is_root = o->self == root, is_first = (root + 1) % o->n == o->self;
	const size_t n_steps = (all_B + STAGE_B - 1) / STAGE_B;
	const char *send = o->call->send;
	enum jl_status status = room_for(o, is_root || is_first ? 0 : 2 * STAGE_B, 2 * n_steps, err);
	struct tcp_seg *out = o->c->segs, *in = out + n_steps;

	if (status)
		return status;
	for (size_t k = 0; k < n_steps; k++) {
		const size_t at_B = k * STAGE_B, len_B = all_B - at_B < STAGE_B ? all_B - at_B : STAGE_B;
		char *stage = is_root ? (char *)o->call->recv + at_B : o->c->scratch + k % 2 * STAGE_B;

		out[k] = (struct tcp_seg){ .from = is_first ? send + at_B : stage,
					   .size_B = len_B,
					   .after = is_first ? TCP_NONE : k };
		in[k] = (struct tcp_seg){ .to = stage,
					  .own = send + at_B,
					  .size_B = len_B,
					  .after = is_root || k < 2 ? TCP_NONE : k - 2,
					  .last = is_root };
	}
	return run_ring(o, out, is_root ? 0 : n_steps, in, is_first ? 0 : n_steps, err);
}

static enum jl_status send_receive(struct op *o, struct jl_err *err)
{
	const size_t all_B = o->call->count * o->size_B;
	struct tcp_seg out = { .from = o->call->send, .size_B = all_B, .after = TCP_NONE };
	struct tcp_seg in = { .to = o->call->recv, .size_B = all_B, .after = TCP_NONE };

	return jl_tcp_flow(o->c, o->call,
			   &(struct tcp_flow){ .to = (int)((o->self + jl_coll_distance(o->call)) % o->n),
					       .from = (int)rank_at(o, jl_coll_distance(o->call)),
					       .out = &out,
					       .in = &in,
					       .n_out = 1,
					       .n_in = 1,
					       .swap = o->call->send == o->call->recv },
			   err);
}

static enum jl_status all_to_all(struct op *o, struct jl_err *err)
{
	const size_t part_B = o->call->count * o->size_B;
	const bool in_place = o->call->send == o->call->recv;
	const char *send = o->call->send;
	char *recv = o->call->recv;
	enum jl_status status = JL_OK;

	if (!in_place)
		memcpy(recv + o->self * part_B, send + o->self * part_B, part_B);
	for (size_t i = 0; i < o->n && !status; i++) {
		const size_t peer = (i + o->n - o->self) % o->n;
		struct tcp_seg out = { .from = send + peer * part_B, .size_B = part_B, .after = TCP_NONE };
		struct tcp_seg in = { .to = recv + peer * part_B, .size_B = part_B, .after = TCP_NONE };

		if (peer == o->self)
			continue;
		status = jl_tcp_flow(o->c, o->call,
				     &(struct tcp_flow){ .to = (int)peer,
							 .from = (int)peer,
							 .out = &out,
							 .in = &in,
							 .n_out = 1,
							 .n_in = 1,
							 .swap = in_place },
				     err);
	}
	return status;
}

/* Collectives without an algorithm for large messages use the small one. */
static enum jl_status (*const large[JL_N_COLL])(struct op *o, struct jl_err *err) = {
	[JL_COLL_ALLREDUCE] = allreduce,   [JL_COLL_ALLGATHER] = all_gather, [JL_COLL_REDUCESCATTER] = reduce_scatter,
	[JL_COLL_BROADCAST] = broadcast,   [JL_COLL_REDUCE] = reduce,        [JL_COLL_ALLTOALL] = all_to_all,
	[JL_COLL_SENDRECV] = send_receive,
};

enum jl_status jl_tcp_run(struct jl_comm *comm, const struct jl_coll_call *call, struct jl_err *err)
{
	struct tcp_comm *c = (struct tcp_comm *)comm;
	struct op o = { .c = c,
			.call = call,
			.size_B = jl_comm_type_B(call->type),
			.n = (size_t)comm->n_ranks,
			.self = (size_t)comm->rank };
	const size_t count = call->coll == JL_COLL_BARRIER ? 0 : call->count, block_B = count * o.size_B * n_parts(&o);

	if (c->broken) {
		if (err)
			*err = c->why;
		return c->why.status;
	}
	c->n_calls++;
	jl_tcp_watch_cross(c->watch);
	enum jl_status status = block_B <= JL_TCP_SMALL_B / (o.n - 1) || !large[call->coll]
					? small(&o, block_B, &c->why)
					: large[call->coll](&o, &c->why);
	jl_tcp_watch_cross(c->watch);
	if (status) {
		c->broken = true;
		if (err)
			*err = c->why;
	}
	return status;
}
