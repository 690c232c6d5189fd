/* Internals of the TCP communicator. Every pair of ranks has one data connection; besides, each rank keeps its connection to rank 0, where a
 * thread answers liveness requests. A collective consists of *flows*: bytes to one rank while bytes arrive from another, without waiting for one
 * direction alone. A flow's bytes are cut into segments that may depend on each other, so that data which has arrived and was reduced can be
 * passed on. A flow begins with a head that names the operation, so that ranks which disagree notice. */
#pragma once

#include <stdint.h>

#include "comm/comm.h"

#define TCP_NONE       SIZE_MAX
#define TCP_HOST_MAX   256
#define JL_TCP_PIECE_B ((size_t)256 << 10) /* handed to the reduction while it is in the cache */
#define JL_TCP_SMALL_B ((size_t)64 << 10)  /* that a rank gets from all others together */

struct tcp_watch;

/* Native byte order: ranks of another one are refused when they join. */
struct tcp_head {
	uint32_t mark, n_calls;
	uint32_t coll, type, op;
	int32_t root;
	uint64_t count;
};

struct tcp_seg {
	const char *from; /* out: where the bytes lie */
	char *to;         /* in: where they go */
	const char *own;  /* in: they are reduced with these; NULL: taken as they are */
	size_t size_B;
	size_t after; /* out: the segment in that it passes on; in: the one out that must have left; TCP_NONE */
	bool last;    /* in: nothing is added after this; an average is divided */
};

struct tcp_flow {
	int to, from; /* ranks; -1: none */
	struct tcp_seg *out, *in;
	size_t n_out, n_in;
	bool swap;  /* in place: bytes are received only where they have been sent already */
	bool small; /* worth looking a few times before sleeping */
};

struct tcp_comm {
	struct jl_comm comm;
	int *fds; /* by rank; -1: oneself */
	struct tcp_watch *watch;
	char *piece; /* what came in and is about to be reduced: stays in the cache */
	char *scratch;
	size_t scratch_B;
	struct tcp_seg *segs;
	size_t n_segs;
	uint32_t n_calls;
	int n_spin;
	bool broken; /* a call failed: the streams are out of step from then on */
	struct jl_err why;
	char host[TCP_HOST_MAX];
};

/* tcp_join.c: fills rank, n_ranks, local ranks, host and the connections; `ret_controls`: by rank, rank 0 has all, the others only [0]. */
enum jl_status jl_tcp_join(struct tcp_comm *c, const struct jl_comm_tcp *how, int **ret_controls, struct jl_err *err);

/* tcp_watch.c. `controls` are closed by it. */
enum jl_status jl_tcp_watch_start(struct tcp_watch **ret_watch, int *controls, int n, int own, struct jl_err *err);
void jl_tcp_watch_cross(struct tcp_watch *watch); /* before and after each call */
void jl_tcp_watch_moved(struct tcp_watch *watch, size_t in_B, size_t out_B);
void jl_tcp_watch_waits(struct tcp_watch *watch, int rank); /* until data comes from it, or it takes some */
/* A rank is dead, does not answer or sends nothing: the call cannot end. JL_OK: none. */
enum jl_status jl_tcp_watch_look(struct tcp_watch *watch, struct jl_err *err);
/* The connection to `rank` broke. Reports the rank that failed first, which may be another one. */
enum jl_status jl_tcp_watch_lost(struct tcp_watch *watch, int rank, struct jl_err *err);
void jl_tcp_watch_end(struct tcp_watch *watch); /* says good-bye; NULL is fine */

/* tcp_flow.c */
enum jl_status jl_tcp_flow(struct tcp_comm *c, const struct jl_coll_call *call, const struct tcp_flow *flow,
			   struct jl_err *err);

/* tcp_coll.c */
enum jl_status jl_tcp_run(struct jl_comm *comm, const struct jl_coll_call *call, struct jl_err *err);
