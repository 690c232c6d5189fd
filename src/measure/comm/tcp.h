/* Internals of the TCP communicator. Each pair of ranks has one data connection. In addition each rank keeps its connection to rank 0, where a
 * thread answers liveness requests. A collective consists of *flows*: one rank is sent to while another is received from. A flow's bytes are
 * split into segments that may depend on each other, so that received and reduced data can be passed on. A flow starts with a header naming the
 * operation, so that mismatched ranks are detected. */
#pragma once

#include <stdint.h>

#include "comm/comm.h"

#define TCP_NONE       SIZE_MAX
#define TCP_HOST_MAX   256
#define JL_TCP_PIECE_B ((size_t)256 << 10) /* bytes reduced at a time: still in the cache */
/* threshold of the small algorithm: bytes that a rank gets from all others together */
#define JL_TCP_SMALL_B ((size_t)64 << 10)

struct tcp_watch;

/* Native byte order: ranks with another byte order are refused when they join. */
struct tcp_head {
	uint32_t mark, n_calls;
	uint32_t coll, type, op;
	int32_t root;
	uint64_t count;
};

struct tcp_seg {
	const char *from; /* outgoing: source */
	char *to;         /* incoming: destination */
	const char *own;  /* incoming: operand to reduce with; NULL: none */
	size_t size_B;
	/* outgoing: incoming segment that it forwards; incoming: outgoing segment that must be sent first; TCP_NONE: none */
	size_t after;
	bool last; /* incoming: final result; an average is divided here */
};

struct tcp_flow {
	int to, from; /* ranks; -1: none */
	struct tcp_seg *out, *in;
	size_t n_out, n_in;
	bool swap;  /* in place: bytes are received only where they were already sent */
	bool small; /* poll a few times before sleeping */
};

struct tcp_comm {
	struct jl_comm comm;
	int *fds; /* by rank; -1: this rank */
	struct tcp_watch *watch;
	char *piece; /* received data about to be reduced; stays in the cache */
	char *scratch;
	size_t scratch_B;
	struct tcp_seg *segs;
	size_t n_segs;
	uint32_t n_calls;
	int n_spin;
	bool broken; /* a call failed; the streams are out of sync */
	struct jl_err why;
	char host[TCP_HOST_MAX];
};

/* tcp_join.c: fills rank, n_ranks, local ranks, host and the connections. `ret_controls`: by rank; rank 0 has all, others only [0]. */
enum jl_status jl_tcp_join(struct tcp_comm *c, const struct jl_comm_tcp *how, int **ret_controls, struct jl_err *err);

/* tcp_watch.c: takes ownership of `controls`. */
enum jl_status jl_tcp_watch_start(struct tcp_watch **ret_watch, int *controls, int n, int own, struct jl_err *err);
void jl_tcp_watch_cross(struct tcp_watch *watch); /* call before and after each call of a collective */
void jl_tcp_watch_moved(struct tcp_watch *watch, size_t in_B, size_t out_B);
void jl_tcp_watch_waits(struct tcp_watch *watch, int rank); /* cleared when data arrives from it or is sent to it */
/* Fails if a rank is dead, does not answer or sends nothing, so that the call cannot end. */
enum jl_status jl_tcp_watch_look(struct tcp_watch *watch, struct jl_err *err);
/* Call when the connection to `rank` broke. Reports the rank that failed first, which may be another one. */
enum jl_status jl_tcp_watch_lost(struct tcp_watch *watch, int rank, struct jl_err *err);
void jl_tcp_watch_end(struct tcp_watch *watch); /* sends BYE; accepts NULL */

/* tcp_flow.c */
enum jl_status jl_tcp_flow(struct tcp_comm *c, const struct jl_coll_call *call, const struct tcp_flow *flow,
			   struct jl_err *err);

/* tcp_coll.c */
enum jl_status jl_tcp_run(struct jl_comm *comm, const struct jl_coll_call *call, struct jl_err *err);
