/* Communication among workers: processes on one host (shm), hosts that connect by themselves (tcp) or are started by mpirun or srun (mpi), GPUs
 * (nccl).
 *
 * The collective and training benchmarks use this interface. A collective names its buffers and counts and blocks until this rank's part is
 * done; `start` and `wait` overlap it with computation. A rank that dies or hangs causes an error that names the rank, within JL_COMM_STUCK_S
 * seconds. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "comm/secret.h"

#define JL_COMM_STUCK_S   10.0
#define JL_COMM_RANKS_MAX 1024 /* shm team */
#define JL_COMM_QUEUE_MAX 256  /* calls started and not yet waited for */

/* One row per collective: its name as in nccl-tests, and its struct jl_coll_shape. In a sendrecv each rank sends to the next one and receives
 * from the previous one (or at `distance`). */
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

/* One call. `count` is as in MPI and NCCL: allreduce, broadcast, reduce: elements of the buffer; allgather: elements that each rank contributes;
 * reducescatter: elements that each rank receives; alltoall: elements per rank; sendrecv: elements sent. In-place calls have send == recv,
 * except allgather (send == recv + rank·count elements) and reducescatter (recv == send + rank·count elements), as in NCCL. A broadcast reads
 * `send` on the root only; a reduce writes `recv` on the root only. Any other overlap is not allowed. */
struct jl_coll_call {
	enum jl_coll coll;
	enum jl_comm_type type;
	enum jl_redop op;
	int root;
	int distance; /* sendrecv: receiver is rank + distance; 0: 1 */
	size_t count;
	const void *send;
	void *recv;
};

/* Data flow of a collective. Transports, buffer layout and checks depend on this, not on the name. Every rank offers `send`; a rank receives the
 * reduction of all offers, all offers concatenated, or one rank's offer. */
struct jl_coll_shape {
	const char *name;
	bool reduces;
	/* `root` is used: with reduces or gathers only the root receives, otherwise only the root sends */
	bool rooted;
	bool deals;       /* the sent buffer has one part per rank */
	bool gathers;     /* the received buffer has one part per rank */
	bool swaps;       /* in place, data that a peer still has to read would be overwritten */
	double bus_scale; /* busbw / algbw; times (n-1)/n if bus_shared */
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
	/* Optional, both or neither, for backends with their own streams (nccl): the call proceeds while the caller computes. Without them
	 * jl_comm_start queues the call on a thread of the communicator. Calls finish in the order in which they were started; all ranks start
	 * the same calls in the same order. */
	enum jl_status (*start)(struct jl_comm *comm, const struct jl_coll_call *call,
				struct jl_comm_request **ret_request, struct jl_err *err);
	enum jl_status (*wait)(struct jl_comm *comm, struct jl_comm_request *request, struct jl_err *err);
	/* Optional: zeroed, page-aligned memory that the backend accesses without a copy (shm: shared pages); NULL if none is left. */
	void *(*alloc)(struct jl_comm *comm, size_t size_B);
	void (*free)(struct jl_comm *comm, void *memory, size_t size_B);
	/* Optional: true if workers should stop (Ctrl-C). Ranks may see it at different times, so they must agree on it by a collective. */
	bool (*stop_asked)(struct jl_comm *comm);
	const char *(*version)(struct jl_comm *comm); /* optional, e.g. "Open MPI 4.1.4" */
};

/* Common head of every communicator; a backend embeds it as its first member. */
struct jl_comm {
	const struct jl_comm_backend *backend;
	int rank, n_ranks;
	int local_rank, n_local; /* rank and number of ranks on this host */
	const char *host;
	struct jl_comm_queue *queue; /* thread for start and wait; NULL until the first start */
};

static inline size_t jl_coll_distance(const struct jl_coll_call *call)
{
	return call->distance > 0 ? (size_t)call->distance : 1;
}
/* Rank whose offer `rank` receives, for collectives that neither reduce nor gather. */
static inline size_t jl_coll_source(const struct jl_coll_call *call, size_t rank, size_t n)
{
	return jl_coll_shapes[call->coll].rooted ? (size_t)call->root : (rank + n - jl_coll_distance(call) % n) % n;
}
/* True if `rank` has data to send; to receive. */
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
/* True if `to` receives part of the offer of `from`, for collectives that do not reduce. */
static inline bool jl_coll_passes(const struct jl_coll_call *call, size_t from, size_t to, size_t n)
{
	return jl_coll_shapes[call->coll].gathers ? jl_coll_receives(call, to) : jl_coll_source(call, to, n) == from;
}

const char *jl_coll_name(enum jl_coll coll);           /* "allreduce" */
const char *jl_comm_type_name(enum jl_comm_type type); /* as in nccl-tests: "float", "bfloat16" */
const char *jl_redop_name(enum jl_redop op);           /* "sum" */
size_t jl_comm_type_B(enum jl_comm_type type);
/* True if the collective computes on the data: allreduce, reducescatter, reduce. */
bool jl_coll_reduces(enum jl_coll coll);
/* busbw / algbw */
double jl_coll_bus_factor(enum jl_coll coll, int n_ranks);

/* --- shm: starts n_ranks processes on this host and runs `work` in each. The caller is not a rank; it waits.
 *
 * Workers ignore SIGINT; the caller's `tick` decides when to stop. They end when the caller ends, in any way. A dead rank is detected at once; a
 * suspended or sleeping rank that others wait for, within JL_COMM_STUCK_S; a computing rank may take `busy_s`. Then the other ranks and
 * jl_comm_team_run fail with a message that names it. */
struct jl_comm_team {
	int n_ranks;
	size_t window_B; /* message buffer per rank; 0: default */
	/* Runs in each worker process; its return value becomes the worker's exit status. Results go through `shared`. */
	enum jl_status (*work)(struct jl_comm *comm, void *shared, void *ctx, struct jl_err *err);
	void *ctx;
	size_t shared_B; /* zeroed memory shared by workers and caller */
	double busy_s;   /* longest wait for a computing rank, s; 0: 600 */
	/* Called in the caller ten times a second while workers run. Returns false to stop them. May be NULL. */
	bool (*tick)(void *shared, void *ctx);
};
/* `ret_dead` (may be NULL): the rank that died or hung; -1: none. `ret_shared` is set once workers were started, even if they fail, so that
 * measured results survive; NULL if none was started. Valid until jl_comm_team_release. */
enum jl_status jl_comm_team_run(const struct jl_comm_team *spec, void **ret_shared, int *ret_dead, struct jl_err *err);
void jl_comm_team_release(const struct jl_comm_team *team, void *shared);

/* --- mpi: this process was started by mpirun or srun. The MPI module is loaded at run time. */
bool jl_comm_mpi_wanted(void); /* true if the environment shows a launcher with > 1 rank */
/* number of ranks that the launcher started, 1: no launcher; this process's rank */
int jl_comm_mpi_launched(int *ret_rank);
/* JL_OK if the module and its MPI can be loaded; otherwise JL_E_ABSENT with the package to install. */
enum jl_status jl_comm_mpi_present(struct jl_err *err);
enum jl_status jl_comm_mpi(struct jl_comm **ret_comm, struct jl_err *err);
/* Without overlap: jl_comm_start runs the call at once. MPI then needs no locks, which makes small messages faster. */
enum jl_status jl_comm_mpi_plain(struct jl_comm **ret_comm, struct jl_err *err);

/* Call before jl_comm_mpi. `stuck` is called from another thread, on every rank that detects it, when a call hangs and a rank does not answer
 * within JL_COMM_STUCK_S (ranks ping each other by UDP). An MPI call cannot be cancelled, so `stuck` should report and exit. NULL (default): no
 * watch. */
void jl_comm_mpi_on_stuck(void (*stuck)(int rank));

/* --- tcp: hosts without a launcher. One process listens and becomes rank 0; ranks are numbered in order of arrival; every pair is connected.
 * Rank r > 0 listens for higher ranks on the first free port of port + r, port + r + n, ... (eight attempts). Without a secret any client that
 * speaks the protocol can become a rank: listen on an address that only the other hosts reach. Other clients, and clients that stay silent, are
 * disconnected without delaying the ranks. */
#define JL_COMM_TCP_PORT      5270
#define JL_COMM_TCP_RANKS_MAX 128

struct jl_comm_tcp {
	const char *to;               /* address of rank 0; NULL: this process is rank 0 */
	const char *listen;           /* rank 0: local address to listen on; NULL: loopback */
	int port;                     /* rank 0: 0 selects a free port */
	int n_ranks;                  /* set by rank 0 */
	double wait_s;                /* timeout until all ranks have joined */
	const char *what;             /* e.g. "bench allreduce": clients of other commands get an error */
	uint64_t tag;                 /* must be equal on all ranks: hash of options that are not exchanged */
	struct jl_wire_secret secret; /* from jl_wire_read_secret; the same on all ranks */
	bool (*stop)(void *ctx);      /* may be NULL; checked ten times a second while joining */
	/* Rank 0 only, may be NULL: listening at this address and port; a client joined (`n_here` of n_ranks) or was refused. */
	void (*listening)(void *ctx, const char *address, int port);
	void (*seen)(void *ctx, const char *peer, int n_here, const struct jl_err *refused);
	void *ctx;
};
/* Reports a dead rank at once, a rank that stops answering within JL_COMM_STUCK_S. A computing rank has no time limit. */
enum jl_status jl_comm_tcp(struct jl_comm **ret_comm, const struct jl_comm_tcp *how, struct jl_err *err);

void jl_comm_destroy(struct jl_comm *comm); /* NULL is fine */

enum jl_status jl_comm_run(struct jl_comm *comm, const struct jl_coll_call *call, struct jl_err *err);
/* The buffers must stay valid until `wait`. Every request must be waited for exactly once. */
enum jl_status jl_comm_start(struct jl_comm *comm, const struct jl_coll_call *call,
			     struct jl_comm_request **ret_request, struct jl_err *err);
enum jl_status jl_comm_wait(struct jl_comm *comm, struct jl_comm_request *request, struct jl_err *err);
enum jl_status jl_comm_barrier(struct jl_comm *comm, struct jl_err *err);
enum jl_status jl_comm_tell(struct jl_comm *comm, void *data, size_t size_B, struct jl_err *err);
/* Gathers `own` of each rank into `all`, in rank order. */
enum jl_status jl_comm_share(struct jl_comm *comm, const void *own, void *all, size_t size_B, struct jl_err *err);
/* All-reduces `values` in place; comm NULL or a single rank: leaves them unchanged. */
enum jl_status jl_comm_agree(struct jl_comm *comm, double *values, size_t n, enum jl_redop op, struct jl_err *err);

/* Memory for messages, accessible to the backend without a copy if possible. Zeroed, page-aligned; NULL: none left. */
void *jl_comm_alloc(struct jl_comm *comm, size_t size_B);
void jl_comm_free(struct jl_comm *comm, void *memory, size_t size_B); /* NULL is fine */
bool jl_comm_stop_asked(struct jl_comm *comm);
