/* Several workers that speak with each other: processes on one host (shm), hosts that find each other by themselves (tcp) or were started
 * by mpirun or srun (mpi), GPUs (nccl).
 *
 * Benchmarks of collectives and the training benchmark use the same communicator. A collective names its buffers and counts; it
 * blocks until this rank's part is done. `start` and `wait` let it run beside computation. A rank that died or hangs is an error
 * that names the rank, within JL_COMM_STUCK_S. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "comm/secret.h"

#define JL_COMM_STUCK_S   10.0
#define JL_COMM_RANKS_MAX 1024 /* of one shm team */
#define JL_COMM_QUEUE_MAX 256  /* calls started and not yet waited for */

/* Every collective, each once: its name as in nccl-tests, and what struct jl_coll_shape says of it. In a sendrecv each rank sends to the next and receives
 * from the one before, or by `distance`. */
#define JL_COLLECTIVES(X)                                                                                              \
	X(ALLREDUCE, "allreduce", .reduces = true, .bus_scale = 2, .bus_shared = true)                                 \
	X(ALLGATHER, "allgather", .gathers = true, .bus_scale = 1, .bus_shared = true)                                 \
	X(REDUCESCATTER, "reducescatter", .reduces = true, .deals = true, .bus_scale = 1, .bus_shared = true)          \
	X(BROADCAST, "broadcast", .rooted = true, .bus_scale = 1)                                                      \
	X(REDUCE, "reduce", .reduces = true, .rooted = true, .bus_scale = 1)                                           \
	X(ALLTOALL, "alltoall", .deals = true, .gathers = true, .swaps = true, .bus_scale = 1, .bus_shared = true)     \
	X(SENDRECV, "sendrecv", .swaps = true, .bus_scale = 1)                                                         \
	X(BARRIER, "barrier", .bus_scale = 1)

#define JL_COLL_PLACE(NAME, ...) JL_COLL_##NAME,
enum jl_coll { JL_COLLECTIVES(JL_COLL_PLACE) JL_N_COLL };

enum jl_redop { JL_RED_SUM, JL_RED_PROD, JL_RED_MIN, JL_RED_MAX, JL_RED_AVG, JL_N_REDOP };

enum jl_comm_type {
	JL_COMM_INT8,
	JL_COMM_UINT8,
	JL_COMM_INT32,
	JL_COMM_UINT32,
	JL_COMM_INT64,
	JL_COMM_UINT64,
	JL_COMM_HALF,
	JL_COMM_FLOAT,
	JL_COMM_DOUBLE,
	JL_COMM_BF16,
	JL_N_COMM_TYPE
};

/* One call. `count` is as in MPI and NCCL: allreduce, broadcast, reduce: elements of the buffer; allgather: elements that each rank
 * contributes; reducescatter: elements that each rank receives; alltoall: elements to each rank; sendrecv: elements sent. In place is send
 * == recv, except allgather: send == recv + rank·count elements, and reducescatter: recv == send + rank·count elements, as in NCCL. `send`
 * of a broadcast matters on the root only, `recv` of a reduce likewise. Other overlaps of the two are not allowed. */
struct jl_coll_call {
	enum jl_coll coll;
	enum jl_comm_type type;
	enum jl_redop op;
	int root;
	int distance; /* sendrecv: to the rank that comes so many later; 0: 1 */
	size_t count;
	const void *send;
	void *recv;
};

/* What a collective does to its buffers. Transports, buffer layout and checks of results use this, not the name: every rank offers `send` to all
 * and receives the reduction of all offers, all offers in a row, or the offer of one rank. */
struct jl_coll_shape {
	const char *name;
	bool reduces;
	bool rooted;      /* `root` matters: only it receives (a reduction, what is gathered), else only it sends */
	bool deals;       /* what is sent has a part for each rank */
	bool gathers;     /* what is received has a part from each rank */
	bool swaps;       /* in place, what one rank still has to read is overwritten by another */
	double bus_scale; /* busbw / algbw, times (n-1)/n where each rank keeps a part to itself */
	bool bus_shared;
};
extern const struct jl_coll_shape jl_coll_shapes[JL_N_COLL];

struct jl_comm;
struct jl_comm_request;
struct jl_comm_queue;

struct jl_comm_backend {
	const char *name; /* "shm", "tcp", "mpi", "nccl" */
	void (*destroy)(struct jl_comm *comm);
	enum jl_status (*run)(struct jl_comm *comm, const struct jl_coll_call *call, struct jl_err *err);
	/* Optional, both or none, for backends that have streams of their own (nccl): the call proceeds while the caller computes.
	 * Without them jl_comm_start hands the call to a thread of the communicator, which runs one after the other. Calls finish
	 * in the order they were started; all ranks start the same calls in the same order. */
	enum jl_status (*start)(struct jl_comm *comm, const struct jl_coll_call *call,
				struct jl_comm_request **ret_request, struct jl_err *err);
	enum jl_status (*wait)(struct jl_comm *comm, struct jl_comm_request *request, struct jl_err *err);
	/* Optional: memory that the backend reaches without a further copy (shared pages for shm): zeroed, page-aligned, NULL when
	 * there is none left. */
	void *(*alloc)(struct jl_comm *comm, size_t size_B);
	void (*free)(struct jl_comm *comm, void *memory, size_t size_B);
	/* Optional: workers should stop (Ctrl-C). Ranks may see it at different moments: agree on it with
	 * a collective before acting on it. */
	bool (*stop_asked)(struct jl_comm *comm);
	const char *(*version)(struct jl_comm *comm); /* optional: "Open MPI 4.1.4" */
};

/* Common head of every communicator; a backend embeds it. */
struct jl_comm {
	const struct jl_comm_backend *backend;
	int rank, n_ranks;
	int local_rank, n_local; /* among the ranks on this host */
	const char *host;
	struct jl_comm_queue *queue; /* the thread behind start and wait; NULL until the first start */
};

static inline size_t jl_coll_distance(const struct jl_coll_call *call)
{
	return call->distance > 0 ? (size_t)call->distance : 1;
}
/* Whose offer `rank` receives, of a collective that neither reduces nor gathers. */
static inline size_t jl_coll_source(const struct jl_coll_call *call, size_t rank, size_t n)
{
	return jl_coll_shapes[call->coll].rooted ? (size_t)call->root : (rank + n - jl_coll_distance(call) % n) % n;
}
/* Whether `rank` has data to send, and to receive. */
static inline bool jl_coll_sends(const struct jl_coll_call *call, size_t rank)
{
	const struct jl_coll_shape *shape = &jl_coll_shapes[call->coll];

	return !shape->rooted || shape->reduces || shape->gathers || (int)rank == call->root;
}
static inline bool jl_coll_receives(const struct jl_coll_call *call, size_t rank)
{
	const struct jl_coll_shape *shape = &jl_coll_shapes[call->coll];

	return !shape->rooted || !(shape->reduces || shape->gathers) || (int)rank == call->root;
}
/* Does `to` receive of what `from` offers, of a collective that does not reduce? */
static inline bool jl_coll_passes(const struct jl_coll_call *call, size_t from, size_t to, size_t n)
{
	return jl_coll_shapes[call->coll].gathers ? jl_coll_receives(call, to) : jl_coll_source(call, to, n) == from;
}

const char *jl_coll_name(enum jl_coll coll);           /* "allreduce" */
const char *jl_comm_type_name(enum jl_comm_type type); /* nccl-tests' names: "float", "bfloat16" */
const char *jl_redop_name(enum jl_redop op);           /* "sum" */
size_t jl_comm_type_B(enum jl_comm_type type);
/* Reads the data of others and makes a new value of it: allreduce, reducescatter, reduce. */
bool jl_coll_reduces(enum jl_coll coll);
/* busbw / algbw */
double jl_coll_bus_factor(enum jl_coll coll, int n_ranks);

/* --- shm: starts n_ranks processes on this host and runs `work` in each; the caller is not a rank and waits.
 *
 * The workers ignore SIGINT: the caller's `tick` says when to stop. They end with the caller, however it ends. A rank that died is
 * noticed at once, one that is stopped or sleeps while others wait for it within JL_COMM_STUCK_S; one that computes is given
 * `busy_s`. The others then fail with a message that names it, and so does jl_comm_team_run. */
struct jl_comm_team {
	int n_ranks;
	size_t window_B; /* shared buffer of each rank for messages; 0: default */
	/* Runs in each worker process; what it returns is the worker's exit. Results travel through `shared`. */
	enum jl_status (*work)(struct jl_comm *comm, void *shared, void *ctx, struct jl_err *err);
	void *ctx;
	size_t shared_B; /* zeroed memory that all workers and the caller see */
	double busy_s;   /* how long others may wait for a rank that computes; 0: ten minutes */
	/* Called in the caller while the workers run, ten times a second: progress; false asks them to stop. May be NULL. */
	bool (*tick)(void *shared, void *ctx);
};
/* `ret_dead` (may be NULL): the rank that died or hung, -1 none. `ret_shared` is written as soon as workers were started, also when
 * they fail: what they measured is kept. It stays readable until jl_comm_team_release; it is NULL if nothing was started. */
enum jl_status jl_comm_team_run(const struct jl_comm_team *spec, void **ret_shared, int *ret_dead, struct jl_err *err);
void jl_comm_team_release(const struct jl_comm_team *team, void *shared);

/* --- mpi: this process was started by mpirun or srun. The module that knows MPI is loaded at run time. */
bool jl_comm_mpi_wanted(void);           /* the environment shows a launcher with more than one rank */
int jl_comm_mpi_launched(int *ret_rank); /* how many ranks the launcher says it started, 1 if none; this one's rank */
/* JL_OK when the module and its MPI can be loaded; JL_E_ABSENT with what would bring it. */
enum jl_status jl_comm_mpi_present(struct jl_err *err);
enum jl_status jl_comm_mpi(struct jl_comm **ret_comm, struct jl_err *err);
/* The same without overlap (jl_comm_start runs the call at once): MPI needs no locks then, and small messages are faster. */
enum jl_status jl_comm_mpi_plain(struct jl_comm **ret_comm, struct jl_err *err);

/* Call before jl_comm_mpi. `stuck` is called from another thread, on every rank that notices, when a call hangs and a rank does not answer within
 * JL_COMM_STUCK_S (ranks ping each other by UDP). MPI cannot be left from there: report it and exit. NULL (the default): no watch. */
void jl_comm_mpi_on_stuck(void (*stuck)(int rank));

/* --- tcp: hosts without a launcher. One process waits for the others and becomes rank 0; ranks are numbered in order of arrival, and every pair
 * is connected. Rank r > 0 listens for higher ranks on the first free port of port + r, port + r + n, ... (eight are tried). Without a secret any
 * client that speaks the protocol can become a rank: listen on an address that only the other hosts reach. A client that is no rank of this run,
 * or joins and stays silent, is disconnected without delaying the others. */
#define JL_COMM_TCP_PORT      5270
#define JL_COMM_TCP_RANKS_MAX 128

struct jl_comm_tcp {
	const char *to;               /* where rank 0 waits; NULL: this process is rank 0 */
	const char *listen;           /* rank 0: an address of this host; NULL: loopback */
	int port;                     /* rank 0: 0 is any free one */
	int n_ranks;                  /* rank 0 says how many */
	double wait_s;                /* for all to come */
	const char *what;             /* "bench allreduce": a client of another command gets an error */
	uint64_t tag;                 /* must be the same on all ranks: options that the ranks do not tell each other */
	struct jl_wire_secret secret; /* jl_wire_read_secret; all ranks must know it */
	bool (*stop)(void *ctx);      /* may be NULL: looked at ten times a second until all are there */
	/* Rank 0, may be NULL: it waits now, at this address and port; a client joined (`n_here` of n_ranks) or was refused. */
	void (*listening)(void *ctx, const char *address, int port);
	void (*seen)(void *ctx, const char *peer, int n_here, const struct jl_err *refused);
	void *ctx;
};
/* A rank that died is named at once, one that does not answer any more within JL_COMM_STUCK_S; one that computes is waited for. */
enum jl_status jl_comm_tcp(struct jl_comm **ret_comm, const struct jl_comm_tcp *how, struct jl_err *err);

void jl_comm_destroy(struct jl_comm *comm); /* NULL is fine */

enum jl_status jl_comm_run(struct jl_comm *comm, const struct jl_coll_call *call, struct jl_err *err);
/* The buffers belong to the call until `wait`; every request is waited for, once. */
enum jl_status jl_comm_start(struct jl_comm *comm, const struct jl_coll_call *call,
			     struct jl_comm_request **ret_request, struct jl_err *err);
enum jl_status jl_comm_wait(struct jl_comm *comm, struct jl_comm_request *request, struct jl_err *err);
enum jl_status jl_comm_barrier(struct jl_comm *comm, struct jl_err *err);
/* Broadcasts `data` of rank 0. */
enum jl_status jl_comm_tell(struct jl_comm *comm, void *data, size_t size_B, struct jl_err *err);
/* Gathers `own` of every rank into `all`, in rank order. */
enum jl_status jl_comm_share(struct jl_comm *comm, const void *own, void *all, size_t size_B, struct jl_err *err);
/* The reduction of what all have there, in its place; alone (NULL, or one rank) it stays as it is. */
enum jl_status jl_comm_agree(struct jl_comm *comm, double *values, size_t n, enum jl_redop op, struct jl_err *err);

/* Memory for messages: what the backend reaches without a copy, else plain pages. Zeroed, page-aligned; NULL: none left. */
void *jl_comm_alloc(struct jl_comm *comm, size_t size_B);
void jl_comm_free(struct jl_comm *comm, void *memory, size_t size_B); /* NULL is fine */
bool jl_comm_stop_asked(struct jl_comm *comm);
