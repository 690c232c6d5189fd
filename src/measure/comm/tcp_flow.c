/* One flow: sends to one rank and receives from another at the same time. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "comm/reduce.h"
#include "comm/tcp.h"

#define PIECE_MIN_B ((size_t)16 << 10)
#define TAKE_B      ((size_t)512 << 10) /* bytes per system call */
#define LOOK_MS     100
#define MARK        0x6a6c7463u

/* Progress of one direction. */
struct side {
	size_t i, at;   /* current segment, and bytes of it done */
	size_t head_at; /* bytes of the header done */
	size_t fill;    /* incoming: bytes in the piece not reduced yet */
	bool blocked;   /* the socket returned EAGAIN; cleared when poll reports it ready */
	bool idle;      /* nothing to do now, even if the socket is ready */
};

struct run {
	struct tcp_comm *c;
	const struct jl_coll_call *call;
	const struct tcp_flow *flow;
	struct tcp_head head, got;
	struct side out, in;
	size_t piece_B;
};

static bool out_done(const struct run *r)
{
	return r->flow->to < 0 || (r->out.head_at == sizeof(r->head) && r->out.i == r->flow->n_out);
}

static bool in_done(const struct run *r)
{
	return r->flow->from < 0 || (r->in.head_at == sizeof(r->got) && r->in.i == r->flow->n_in);
}

static void skip_done(struct side *side, const struct tcp_seg *segs, size_t n)
{
	while (side->i < n && side->at == segs[side->i].size_B) {
		side->i++;
		side->at = 0;
	}
}

/* Bytes of the current outgoing segment that may be sent now. */
static size_t may_leave(const struct run *r)
{
	if (r->out.i == r->flow->n_out)
		return 0;
	const struct tcp_seg *seg = &r->flow->out[r->out.i];
	size_t limit = seg->size_B;
	if (seg->after != TCP_NONE && r->in.i <= seg->after)
		limit = r->in.i == seg->after ? r->in.at : 0;
	return limit - r->out.at;
}

/* Bytes of the current incoming segment that may be received now. */
static size_t may_come(const struct run *r)
{
	if (r->in.i == r->flow->n_in)
		return 0;
	const struct tcp_seg *seg = &r->flow->in[r->in.i];
	size_t limit = seg->size_B;
	if (seg->after != TCP_NONE && r->out.i <= seg->after)
		return 0;
	if (r->flow->swap && r->out.i <= r->in.i)
		limit = r->out.i == r->in.i ? r->out.at : 0;
	return limit - r->in.at;
}

static enum jl_status push(struct run *r, bool *moved, struct jl_err *err)
{
	const size_t head_left = sizeof(r->head) - r->out.head_at, most = may_leave(r);
	const struct tcp_seg *seg = most ? &r->flow->out[r->out.i] : NULL;
	struct iovec parts[2] = { { .iov_base = (char *)&r->head + r->out.head_at, .iov_len = head_left } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };

	r->out.idle = head_left == 0 && most == 0;
	if (r->out.idle)
		return JL_OK;
	if (seg)
		parts[1] = (struct iovec){ .iov_base = (char *)(uintptr_t)(seg->from + r->out.at),
					   .iov_len = most < TAKE_B ? most : TAKE_B };
	ssize_t n = sendmsg(r->c->fds[r->flow->to], &message, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n < 0) {
		r->out.blocked = errno == EAGAIN || errno == EWOULDBLOCK;
		return r->out.blocked || errno == EINTR ? JL_OK : jl_tcp_watch_lost(r->c->watch, r->flow->to, err);
	}
	*moved = true;
	jl_tcp_watch_moved(r->c->watch, 0, (size_t)n);
	if ((size_t)n < head_left) {
		r->out.head_at += (size_t)n;
		return JL_OK;
	}
	r->out.head_at = sizeof(r->head);
	r->out.at += (size_t)n - head_left;
	skip_done(&r->out, r->flow->out, r->flow->n_out);
	return JL_OK;
}

static enum jl_status check_head(const struct run *r, struct jl_err *err)
{
	const struct tcp_head *mine = &r->head, *its = &r->got;

	if (memcmp(mine, its, sizeof(*mine)) == 0)
		return JL_OK;
	if (its->mark != MARK || its->coll >= JL_N_COLL || its->type >= JL_N_COMM_TYPE)
		return jl_fail(err, JL_E_DATA, "rank %d sent an invalid message", r->flow->from);
	return jl_fail(err, JL_E_DATA, "ranks disagree: rank %d calls %s of %zu %s, rank %d %s of %zu %s",
		       r->c->comm.rank, jl_coll_name(r->call->coll), r->call->count, jl_comm_type_name(r->call->type),
		       r->flow->from, jl_coll_name((enum jl_coll)its->coll), (size_t)its->count,
		       jl_comm_type_name((enum jl_comm_type)its->type));
}

/* Reduces the piece when it is full or its segment has ended. */
static void reduce_piece(struct run *r, const struct tcp_seg *seg)
{
	const void *srcs[2] = { r->c->piece, seg->own + r->in.at };
	void *dst = seg->to + r->in.at;
	const size_t count = r->in.fill / jl_comm_type_B(r->call->type);
	const bool average = r->call->op == JL_RED_AVG;

	jl_reduce(&(struct jl_reduce){ .type = r->call->type,
				       .op = average ? JL_RED_SUM : r->call->op,
				       .srcs = srcs,
				       .n_srcs = 2,
				       .dsts = &dst,
				       .n_dsts = 1,
				       .count = count });
	if (average && seg->last)
		jl_reduce_divide(r->call->type, dst, count, r->c->comm.n_ranks);
	r->in.at += r->in.fill;
	r->in.fill = 0;
}

static void take(struct run *r, const struct tcp_seg *seg, size_t n, size_t wanted)
{
	if (!seg->own) {
		r->in.at += n;
	} else {
		r->in.fill += n;
		if (n == wanted)
			reduce_piece(r, seg);
	}
	skip_done(&r->in, r->flow->in, r->flow->n_in);
}

static enum jl_status pull(struct run *r, bool *moved, struct jl_err *err)
{
	const size_t head_left = sizeof(r->got) - r->in.head_at, most = may_come(r);
	const struct tcp_seg *seg = most ? &r->flow->in[r->in.i] : NULL;
	struct iovec parts[2] = { { .iov_base = (char *)&r->got + r->in.head_at, .iov_len = head_left } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
	size_t wanted = 0;

	r->in.idle = head_left == 0 && most == 0;
	if (r->in.idle)
		return JL_OK;
	if (seg && seg->own) {
		wanted = (most < r->piece_B ? most : r->piece_B) - r->in.fill;
		parts[1] = (struct iovec){ .iov_base = r->c->piece + r->in.fill, .iov_len = wanted };
	} else if (seg) {
		wanted = most < TAKE_B ? most : TAKE_B;
		parts[1] = (struct iovec){ .iov_base = seg->to + r->in.at, .iov_len = wanted };
	}
	ssize_t n = recvmsg(r->c->fds[r->flow->from], &message, MSG_DONTWAIT);
	if (n < 0) {
		r->in.blocked = errno == EAGAIN || errno == EWOULDBLOCK;
		if (r->in.blocked || errno == EINTR)
			return JL_OK;
	}
	if (n <= 0)
		return jl_tcp_watch_lost(r->c->watch, r->flow->from, err);
	*moved = true;
	jl_tcp_watch_moved(r->c->watch, (size_t)n, 0);
	if ((size_t)n < head_left) {
		r->in.head_at += (size_t)n;
		return JL_OK;
	}
	if (head_left) {
		JL_TRY(check_head(r, err));
		r->in.head_at = sizeof(r->got);
	}
	if (seg)
		take(r, seg, (size_t)n - head_left, wanted);
	return JL_OK;
}

/* Sleeps until one direction can proceed. */
static enum jl_status rest(struct run *r, struct jl_err *err)
{
	const bool out = !out_done(r) && !r->out.idle, in = !in_done(r) && !r->in.idle;
	struct pollfd fds[2] = { { .fd = -1 }, { .fd = -1 } };
	struct pollfd *reader = &fds[r->flow->from == r->flow->to ? 0 : 1];

	if (out)
		fds[0] = (struct pollfd){ .fd = r->c->fds[r->flow->to], .events = POLLOUT };
	if (in) {
		reader->fd = r->c->fds[r->flow->from];
		reader->events |= POLLIN;
	}
	jl_tcp_watch_waits(r->c->watch, in ? r->flow->from : r->flow->to);
	if (poll(fds, 2, LOOK_MS) <= 0)
		return jl_tcp_watch_look(r->c->watch, err);
	if (fds[0].revents & ~POLLIN)
		r->out.blocked = false;
	if (reader->revents & ~POLLOUT)
		r->in.blocked = false;
	return JL_OK;
}

/* Piece size of a segment: several pieces, so that the first are forwarded while others arrive; limited by the cache size. */
static size_t piece_of(const struct tcp_flow *flow)
{
	const size_t quarter_B = flow->n_in ? flow->in[0].size_B / 4 / 64 * 64 : 0;

	return quarter_B < PIECE_MIN_B ? PIECE_MIN_B : quarter_B > JL_TCP_PIECE_B ? JL_TCP_PIECE_B : quarter_B;
}

enum jl_status jl_tcp_flow(struct tcp_comm *c, const struct jl_coll_call *call, const struct tcp_flow *flow,
			   struct jl_err *err)
{
	struct run r = { .c = c, .call = call, .flow = flow, .piece_B = piece_of(flow) };
	int n_spin = flow->small ? c->n_spin : 0;
	enum jl_status status = JL_OK;

	memset(&r.head, 0, sizeof(r.head));
	r.head = (struct tcp_head){ .mark = MARK,
				    .n_calls = c->n_calls,
				    .coll = (uint32_t)call->coll,
				    .type = (uint32_t)call->type,
				    .op = (uint32_t)call->op,
				    .root = call->root,
				    .count = call->count };
	skip_done(&r.out, flow->out, flow->n_out);
	skip_done(&r.in, flow->in, flow->n_in);
	while (!status && !(out_done(&r) && in_done(&r))) {
		bool moved = false;

		if (!out_done(&r) && !r.out.blocked)
			status = push(&r, &moved, err);
		if (!status && !in_done(&r) && !r.in.blocked)
			status = pull(&r, &moved, err);
		if (status || moved)
			continue;
		if (n_spin > 0) { /* the answer to a small message often arrives before a sleeping thread would wake */
			n_spin--;
			r.out.blocked = r.in.blocked = false;
			continue;
		}
		status = rest(&r, err);
	}
	return status;
}
