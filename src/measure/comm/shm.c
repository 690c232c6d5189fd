/* Synchronisation and memory of the shm communicator. */
#include "comm/shm.h"

#include <linux/futex.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

#define PAGE_B     ((size_t)65536) /* allocation granularity: the largest page size of arm64 */
#define EXTENT_MAX 65536
#define N_SPIN     1500 /* about 20 µs, then yield the core */
#define N_YIELD    100
#define SLEEP_S    0.05

static void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("isb" ::: "memory");
#endif
}

void jl_shm_wake(_Atomic uint32_t *word)
{
	(void)syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static void sleep_on(_Atomic uint32_t *word, uint32_t seen)
{
	const struct timespec most = { .tv_nsec = (long)(SLEEP_S * 1e9) };

	(void)syscall(SYS_futex, word, FUTEX_WAIT, seen, &most, NULL, 0);
}

enum jl_status jl_shm_trouble(const struct shm_head *head, struct jl_err *err)
{
	const int trouble = atomic_load(&head->trouble), rank = atomic_load(&head->culprit);
	const int reason = atomic_load(&head->reason);

	switch ((enum shm_trouble)trouble) {
	case SHM_FINE: return JL_OK;
	case SHM_DIED:
		if (reason == 9)
			return jl_fail(err, JL_E_IO, "rank %d was killed (signal 9); out of memory?", rank);
		return jl_fail(err, JL_E_IO, "rank %d died: signal %d (%s)", rank, reason, strsignal(reason));
	case SHM_STUCK: return jl_fail(err, JL_E_IO, "rank %d is stuck: others waited for it and it did nothing", rank);
	case SHM_LEFT: return jl_fail(err, JL_E_DATA, "rank %d ended while others waited for it", rank);
	case SHM_FAILED: return jl_fail(err, JL_E_IO, "rank %d failed; see its message", rank);
	case SHM_STOPPED: break;
	}
	return jl_fail(err, JL_E_IO, "the workers were stopped");
}

/* Waits with yields, then sleeps. `waits_for` tells the watching parent which rank is awaited. */
static enum jl_status wait_long(struct shm_comm *c, int rank, uint32_t wanted, struct jl_err *err)
{
	struct shm_rank *peer = &c->head->ranks[rank];
	enum jl_status status = JL_OK;
	uint32_t seen;

	atomic_store(&c->me->waits_since_s, jl_clock_s());
	atomic_store(&c->me->waits_for, rank + 1);
	for (int i = 0;; i++) {
		seen = atomic_load(&peer->arrived);
		if ((int32_t)(seen - wanted) >= 0)
			break;
		status = jl_shm_trouble(c->head, err);
		if (status)
			break;
		if (i < N_YIELD) {
			(void)sched_yield();
			continue;
		}
		atomic_fetch_add(&peer->n_sleepers, 1);
		sleep_on(&peer->arrived, seen);
		atomic_fetch_sub(&peer->n_sleepers, 1);
	}
	atomic_store(&c->me->waits_for, 0);
	return status;
}

enum jl_status jl_shm_meet(struct shm_comm *c, struct jl_err *err)
{
	const uint32_t wanted = ++c->n_arrived;

	atomic_store(&c->me->arrived, wanted); /* seq_cst: must precede the check for sleepers */
	if (atomic_load(&c->me->n_sleepers))
		jl_shm_wake(&c->me->arrived);
	for (int rank = 0; rank < c->comm.n_ranks; rank++) {
		struct shm_rank *peer = &c->head->ranks[rank];
		bool here = false;

		for (int i = 0; i < c->n_spin + 1 && !here; i++) {
			here = (int32_t)(atomic_load_explicit(&peer->arrived, memory_order_acquire) - wanted) >= 0;
			if (!here)
				relax();
		}
		JL_TRY(here ? JL_OK : wait_long(c, rank, wanted, err));
	}
	return JL_OK;
}

/* --- memory: first fit in the rank's own zone */

bool jl_shm_shared(const struct shm_comm *c, const void *memory)
{
	const uintptr_t at = (uintptr_t)memory, from = (uintptr_t)c->zones;

	return at >= from && at - from < c->zone_B * (size_t)c->comm.n_ranks;
}

static enum jl_status grow_used(struct shm_comm *c)
{
	size_t room = c->room_used ? 2 * c->room_used : 64;
	struct shm_extent *used;

	if (c->n_used < c->room_used)
		return JL_OK;
	used = room <= EXTENT_MAX ? jl_realloc(c->used, room * sizeof(*used)) : NULL;
	if (!used)
		return JL_E_NOMEM;
	c->used = used;
	c->room_used = room;
	return JL_OK;
}

static void *shm_alloc(struct jl_comm *comm, size_t size_B)
{
	struct shm_comm *c = (struct shm_comm *)comm;
	char *zone = c->zones + (size_t)comm->rank * c->zone_B;
	size_t at = 0, i;

	if (size_B > c->zone_B - PAGE_B || grow_used(c))
		return NULL;
	size_B = size_B ? (size_B + PAGE_B - 1) / PAGE_B * PAGE_B : PAGE_B;
	for (i = 0; i < c->n_used && c->used[i].at - at < size_B; i++)
		at = c->used[i].at + c->used[i].size_B;
	if (i == c->n_used && c->zone_B - at < size_B)
		return NULL;
	memmove(&c->used[i + 1], &c->used[i], (c->n_used - i) * sizeof(*c->used));
	c->used[i] = (struct shm_extent){ .at = at, .size_B = size_B };
	c->n_used++;
	return zone + at;
}

static void shm_free(struct jl_comm *comm, void *memory, size_t size_B)
{
	struct shm_comm *c = (struct shm_comm *)comm;
	const size_t at = (size_t)((char *)memory - (c->zones + (size_t)comm->rank * c->zone_B));

	(void)size_B;
	for (size_t i = 0; i < c->n_used; i++) {
		if (c->used[i].at != at)
			continue;
		/* frees the pages; they read as zeros later */
		(void)madvise(memory, c->used[i].size_B, MADV_REMOVE);
		memmove(&c->used[i], &c->used[i + 1], (c->n_used - i - 1) * sizeof(*c->used));
		c->n_used--;
		return;
	}
}

static bool shm_stop_asked(struct jl_comm *comm)
{
	return atomic_load(&((struct shm_comm *)comm)->head->stop_asked);
}

static void shm_destroy(struct jl_comm *comm)
{
	struct shm_comm *c = (struct shm_comm *)comm;

	jl_free(c->used);
	jl_free(c->srcs);
	jl_free(c->dsts);
	c->used = NULL;
	c->srcs = NULL;
	c->dsts = NULL;
}

static const struct jl_comm_backend shm_backend = {
	.name = "shm",
	.destroy = shm_destroy,
	.run = jl_shm_run,
	.alloc = shm_alloc,
	.free = shm_free,
	.stop_asked = shm_stop_asked,
};

enum jl_status jl_shm_open(struct shm_comm *c, struct shm_head *head, int rank, int n_ranks, struct jl_err *err)
{
	cpu_set_t cpus;
	int n_cpus = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : 1;

	c->comm = (struct jl_comm){ .backend = &shm_backend,
				    .rank = rank,
				    .n_ranks = n_ranks,
				    .local_rank = rank,
				    .n_local = n_ranks,
				    .host = "localhost" };
	c->head = head;
	c->me = &head->ranks[rank];
	/* fewer CPUs than ranks: spinning would take the CPU from the awaited peer */
	c->n_spin = n_ranks <= n_cpus ? N_SPIN : 0;
	c->srcs = jl_realloc(NULL, (size_t)n_ranks * sizeof(*c->srcs));
	c->dsts = jl_realloc(NULL, (size_t)n_ranks * sizeof(*c->dsts));
	return c->srcs && c->dsts ? JL_OK : jl_fail_nomem(err);
}
