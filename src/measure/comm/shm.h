/* Internals of the shm communicator: processes of one host share pages mapped at the same address in each.
 *
 * Each rank has a record that only it writes: a counter of barriers it has reached, and its next call. Small messages are copied through
 * windows; large ones are read directly from the peer's memory if that came from jl_comm_alloc. */
#pragma once

#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "comm/comm.h"

#define JL_SHM_LINE_B 128 /* two cache lines: processors prefetch lines in pairs */

/* A rank's call. Ranks compare it with those of all others, so that a mismatch is an error instead of a wrong result. */
struct shm_call {
	struct jl_coll_call call;
	bool send_shared, recv_shared; /* peers can access the buffer directly */
	bool in_place;
};

struct shm_rank {
	alignas(JL_SHM_LINE_B) _Atomic uint32_t arrived; /* barriers reached; also the futex that others sleep on */
	_Atomic uint32_t n_sleepers;
	/* alternate: a peer may still read the previous one while this rank posts the next */
	alignas(JL_SHM_LINE_B) struct shm_call calls[2];
	/* for the parent that watches the team */
	alignas(JL_SHM_LINE_B) _Atomic int waits_for; /* rank + 1; 0: none */
	_Atomic double waits_since_s;
	_Atomic bool ended;
	_Atomic uint32_t ticket; /* order in which ranks failed; 0: has not failed */
	enum jl_status status;
	struct jl_err err;
};

enum shm_trouble { SHM_FINE, SHM_DIED, SHM_STUCK, SHM_LEFT, SHM_FAILED, SHM_STOPPED };

struct shm_head {
	_Atomic int trouble; /* enum shm_trouble; not SHM_FINE: all ranks leave */
	_Atomic int culprit;
	_Atomic int reason; /* the signal that killed the culprit */
	_Atomic bool stop_asked;
	_Atomic uint32_t n_tickets;
	struct shm_rank ranks[];
};

struct shm_extent {
	size_t at, size_B;
};

struct shm_comm {
	struct jl_comm comm;
	struct shm_head *head;
	struct shm_rank *me;
	char *windows; /* n_ranks × window_B */
	size_t window_B;
	char *zones; /* n_ranks × zone_B: each rank allocates in its own */
	size_t zone_B;
	uint32_t n_arrived, n_calls, n_chunks;
	int n_spin;
	struct shm_extent *used; /* allocations in the own zone, sorted */
	size_t n_used, room_used;
	const void **srcs; /* n_ranks entries, scratch of a call */
	void **dsts;
};

/* shm.c */
enum jl_status jl_shm_open(struct shm_comm *c, struct shm_head *head, int rank, int n_ranks, struct jl_err *err);
/* Barrier: returns when all ranks have arrived, or with an error if a rank never will. */
enum jl_status jl_shm_meet(struct shm_comm *c, struct jl_err *err);
enum jl_status jl_shm_trouble(const struct shm_head *head, struct jl_err *err);
bool jl_shm_shared(const struct shm_comm *c, const void *memory);
void jl_shm_wake(_Atomic uint32_t *word);

/* shm_coll.c */
enum jl_status jl_shm_run(struct jl_comm *comm, const struct jl_coll_call *call, struct jl_err *err);
