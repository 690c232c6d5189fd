/* Inside of the shm communicator: processes of one host over pages that all of them map at the same address.
 *
 * Each rank has a line that only it writes: how many times it has arrived at a meeting point, and what it is about to do. Small
 * messages travel in windows beside it; large ones are read straight from the peer's memory where that came from jl_comm_alloc. */
#pragma once

#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "comm/comm.h"

#define JL_SHM_LINE_B 128 /* two cache lines: neighbours are fetched in pairs */

/* What a rank is about to do; compared with all others, so that a mismatch is an error and not a wrong number. */
struct shm_call {
	struct jl_coll_call call;
	bool send_shared, recv_shared; /* peers can reach the buffer */
	bool in_place;
};

struct shm_rank {
	alignas(JL_SHM_LINE_B) _Atomic uint32_t arrived; /* also what sleepers sleep on */
	_Atomic uint32_t n_sleepers;
	/* two, in turn: a peer may still look at the last one when this rank is at the next call */
	alignas(JL_SHM_LINE_B) struct shm_call calls[2];
	/* for the caller that watches over the team */
	alignas(JL_SHM_LINE_B) _Atomic int waits_for; /* rank + 1; 0: none */
	_Atomic double waits_since_s;
	_Atomic bool ended;
	_Atomic uint32_t ticket; /* order in which ranks failed; 0: not */
	enum jl_status status;
	struct jl_err err;
};

enum shm_trouble { SHM_FINE, SHM_DIED, SHM_STUCK, SHM_LEFT, SHM_FAILED, SHM_STOPPED };

struct shm_head {
	_Atomic int trouble; /* enum shm_trouble: everybody leaves */
	_Atomic int culprit;
	_Atomic int reason; /* the signal that killed it */
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
	char *windows; /* n_ranks of window_B */
	size_t window_B;
	char *zones; /* n_ranks of zone_B: each allocates in its own */
	size_t zone_B;
	uint32_t n_arrived, n_calls, n_chunks;
	int n_spin;
	struct shm_extent *used; /* of the own zone, sorted */
	size_t n_used, room_used;
	const void **srcs; /* n_ranks, scratch of a call */
	void **dsts;
};

/* shm.c */
enum jl_status jl_shm_open(struct shm_comm *c, struct shm_head *head, int rank, int n_ranks, struct jl_err *err);
/* Meet: returns when all ranks have arrived here, or when one never will. */
enum jl_status jl_shm_meet(struct shm_comm *c, struct jl_err *err);
enum jl_status jl_shm_trouble(const struct shm_head *head, struct jl_err *err);
bool jl_shm_shared(const struct shm_comm *c, const void *memory);
void jl_shm_wake(_Atomic uint32_t *word);

/* shm_coll.c */
enum jl_status jl_shm_run(struct jl_comm *comm, const struct jl_coll_call *call, struct jl_err *err);
