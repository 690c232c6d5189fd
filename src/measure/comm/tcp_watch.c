/* Liveness of ranks. A thread per rank answers on the connection to rank 0, even while the rank computes. Rank 0 detects a closed connection at
 * once, and asks all ranks when a call takes long. It sends its finding to all ranks, so that all report the same culprit instead of a rank that
 * left because of it. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "comm/tcp.h"
#include "comm/wire.h"

#define QUIET_S  4.0 /* a call may take this long before ranks are asked */
#define ANSWER_S 3.0 /* silent this long after being asked: stuck; with QUIET_S less than JL_COMM_STUCK_S */
#define ASLEEP_S 4.5 /* no CPU time outside a call for this long after being asked: asleep; sum as above */
/* all ranks in a call and no byte transferred for this long: one sends nothing; sum as above */
#define IDLE_S      4.0
#define ASLEEP_FRAC 0.02 /* share of a processor that answering needs at most */
#define ASK_S       0.5
#define LOOK_MS     200
#define BLAME_S     1.0 /* how long a broken connection waits for rank 0's finding */

enum how { HOW_FINE, HOW_LEFT, HOW_DIED, HOW_STUCK, HOW_ASLEEP, HOW_IDLE };

struct line {
	struct jl_wire_line wire; /* fd -1: none, or closed */
	double heard_s;
	uint64_t crossed;            /* number of call boundaries, as last reported */
	double cpu_s, moved_s;       /* reported CPU time; since when the rank is idle, 0: not asked yet */
	uint64_t in_B, out_B, waits; /* bytes and 1 + awaited rank of the current call, as last reported */
	double still_s;              /* since when nothing has moved anywhere; 0: not asked yet */
	bool bye;
};

struct tcp_watch {
	int n, own;
	struct line *lines; /* by rank */
	struct pollfd *fds; /* one per line, then `wake` */
	int wake;
	pthread_t thread;
	_Atomic bool ending;
	_Atomic uint64_t n_crossed; /* odd: inside a call */
	_Atomic uint64_t in_B, out_B;
	_Atomic int waits;
	_Atomic int left, fallen; /* how << 16 | rank + 1: first rank that left; first that died or is stuck; 0: none */
	double asked_s, last_s;   /* start of the current roll call, 0: none */
	double wanted_s;          /* rank 0: when another rank last requested a roll call */
};

static int pack(enum how how, int rank)
{
	return (int)how << 16 | (rank + 1);
}

static void note(struct tcp_watch *w, enum how how, int rank)
{
	int none = 0;

	(void)atomic_compare_exchange_strong(how == HOW_LEFT ? &w->left : &w->fallen, &none, pack(how, rank));
}

/* Never blocks: a peer that does not read its line will be found silent. */
static void say(const struct line *line, uint32_t word, uint64_t a, uint64_t b)
{
	if (line->wire.fd >= 0)
		(void)jl_wire_try_send(line->wire.fd, &(struct jl_wire_message){ .word = word, .n = { a, b } });
}

static void spread(struct tcp_watch *w, enum how how, int rank)
{
	note(w, how, rank);
	for (int r = 1; r < w->n && w->own == 0; r++)
		if (r != rank)
			say(&w->lines[r], JL_WIRE_GONE, (uint64_t)rank, (uint64_t)how);
}

/* A computing rank uses CPU time; a waiting rank is inside a call. */
static void hear_of_work(struct tcp_watch *w, int rank, const struct jl_wire_message *m, double now_s)
{
	struct line *line = &w->lines[rank];
	const double cpu_s = 1e-6 * (double)m->n[1];

	if (line->moved_s == 0 || (m->n[0] & 1) || m->n[0] != line->crossed ||
	    cpu_s - line->cpu_s > ASLEEP_FRAC * fmax(now_s - line->moved_s, 1)) {
		line->moved_s = now_s;
		line->cpu_s = cpu_s;
		line->crossed = m->n[0];
	}
	if (w->asked_s > 0 && now_s - line->moved_s > ASLEEP_S)
		spread(w, HOW_ASLEEP, rank);
}

static void hear_of_data(struct line *line, const struct jl_wire_message *m, double now_s)
{
	if (line->still_s == 0 || line->crossed != m->n[0] || line->waits != m->n[2] || line->in_B != m->n[3] ||
	    line->out_B != m->n[4])
		line->still_s = now_s;
	line->waits = m->n[2];
	line->in_B = m->n[3];
	line->out_B = m->n[4];
}

static struct jl_wire_message here(struct tcp_watch *w)
{
	return (struct jl_wire_message){ .word = JL_WIRE_HERE,
					 .n = { atomic_load(&w->n_crossed), (uint64_t)(1e6 * jl_clock_cpu_s()),
						(uint64_t)atomic_load(&w->waits), atomic_load(&w->in_B),
						atomic_load(&w->out_B) } };
}

/* True if no bytes are transferred. Two ranks must report progress, since every transfer involves two; a single report is not trusted. Only rank
 * 0 gets all reports. */
static bool nothing_moves(const struct tcp_watch *w, double now_s)
{
	int n_moving = 0;

	for (int r = 0; r < w->n; r++) {
		const struct line *line = &w->lines[r];

		if (r != w->own && line->wire.fd < 0)
			continue;
		if (line->still_s == 0 || !(line->crossed & 1))
			return false;
		n_moving += now_s - line->still_s < IDLE_S ? r == w->own ? 2 : 1 : 0;
	}
	return n_moving <= (w->own == 0 || w->n == 2 ? 1 : 0);
}

/* Finds the rank at fault: follows "waits for" from this rank to one that waits for none or has not sent its flow's header. In a cycle it is the
 * peer of the rank that received least. */
static void find_idle(struct tcp_watch *w, double now_s)
{
	uint64_t least_B = UINT64_MAX;
	int rank = w->own, idle = -1;

	if (!nothing_moves(w, now_s))
		return;
	for (int i = 0; i < w->n; i++) {
		const struct line *line = &w->lines[rank];
		const int next = (int)line->waits - 1;

		if (rank != w->own && (next < 0 || next >= w->n || next == rank || line->out_B == 0)) {
			idle = rank;
			break;
		}
		if (next < 0 || (next != w->own && w->lines[next].wire.fd < 0))
			return; /* rank 0 decides */
		if (next != w->own && line->in_B < least_B) {
			least_B = line->in_B;
			idle = next;
		}
		if (next == w->own)
			break;
		rank = next;
	}
	if (idle >= 0)
		spread(w, HOW_IDLE, idle);
}

static void hear(struct tcp_watch *w, int rank, const struct jl_wire_message *m, double now_s)
{
	struct line *line = &w->lines[rank];
	const struct jl_wire_message own = here(w);

	line->heard_s = now_s;
	switch (m->word) {
	case JL_WIRE_ASK:
		if (line->wire.fd >= 0)
			(void)jl_wire_try_send(line->wire.fd, &own);
		w->wanted_s = now_s;
		break;
	case JL_WIRE_HERE:
		hear_of_data(line, m, now_s);
		hear_of_work(w, rank, m, now_s);
		break;
	case JL_WIRE_GONE:
		if (rank == 0 && m->n[0] < (uint64_t)w->n)
			note(w, (enum how)m->n[1], (int)m->n[0]);
		break;
	case JL_WIRE_BYE: line->bye = true; break;
	default: break;
	}
}

/* A rank that sends an invalid message is treated as dead. */
static void read_line(struct tcp_watch *w, int rank, double now_s)
{
	struct line *line = &w->lines[rank];

	for (int i = 0; i < 64 && line->wire.fd >= 0; i++) {
		struct jl_wire_message m;
		bool whole;
		const enum jl_status status = jl_wire_take(&line->wire, &whole, &m, NULL);

		if (status || (whole && m.version != JL_WIRE_VERSION)) {
			(void)close(line->wire.fd);
			line->wire.fd = -1;
			spread(w, line->bye ? HOW_LEFT : HOW_DIED, rank);
		} else if (whole) {
			hear(w, rank, &m, now_s);
		} else {
			return;
		}
	}
}

static void call_the_roll(struct tcp_watch *w, bool wanted, double now_s)
{
	if (!wanted) {
		w->asked_s = 0;
		for (int r = 0; r < w->n; r++)
			w->lines[r].moved_s = w->lines[r].still_s = 0;
		return;
	}
	if (now_s - w->last_s > ASK_S) {
		for (int r = 0; r < w->n; r++)
			say(&w->lines[r], JL_WIRE_ASK, 0, 0);
		w->last_s = now_s;
		w->asked_s = w->asked_s > 0 ? w->asked_s : now_s;
	}
	for (int r = 0; r < w->n; r++)
		if (w->lines[r].wire.fd >= 0 && w->lines[r].heard_s < w->asked_s && now_s - w->asked_s > ANSWER_S)
			spread(w, HOW_STUCK, r);
	const struct jl_wire_message own = here(w);
	hear_of_data(&w->lines[w->own], &own, now_s);
	w->lines[w->own].crossed = own.n[0];
	find_idle(w, now_s);
}

static void *watch(void *ctx)
{
	struct tcp_watch *w = ctx;
	double moved_s = jl_clock_s();
	uint64_t seen = 0;

	while (!atomic_load(&w->ending)) {
		const uint64_t crossed = atomic_load(&w->n_crossed);
		const double now_s = jl_clock_s();

		if (crossed != seen) {
			seen = crossed;
			moved_s = now_s;
		}
		for (int r = 0; r < w->n; r++)
			w->fds[r] = (struct pollfd){ .fd = w->lines[r].wire.fd, .events = POLLIN };
		w->fds[w->n] = (struct pollfd){ .fd = w->wake, .events = POLLIN };
		if (poll(w->fds, (nfds_t)w->n + 1, LOOK_MS) > 0)
			for (int r = 0; r < w->n; r++)
				if (w->fds[r].revents)
					read_line(w, r, jl_clock_s());
		/* Uses the time before answers were read, so that a rank that was suspended itself blames no other. Rank 0 also asks on behalf
		 * of other ranks; their request proves that they are alive. */
		call_the_roll(w,
			      ((seen & 1) && now_s - moved_s > QUIET_S) ||
				      (w->own == 0 && w->wanted_s > 0 && now_s - w->wanted_s < 2 * ASK_S),
			      now_s);
	}
	return NULL;
}

static void release(struct tcp_watch *w)
{
	for (int r = 0; w->lines && r < w->n; r++)
		if (w->lines[r].wire.fd >= 0)
			(void)close(w->lines[r].wire.fd);
	if (w->wake >= 0)
		(void)close(w->wake);
	jl_free(w->lines);
	jl_free(w->fds);
	jl_free(w);
}

enum jl_status jl_tcp_watch_start(struct tcp_watch **ret_watch, int *controls, int n, int own, struct jl_err *err)
{
	struct tcp_watch *w = jl_realloc(NULL, sizeof(*w));
	struct line *lines = jl_realloc(NULL, (size_t)n * sizeof(*lines));
	struct pollfd *fds = jl_realloc(NULL, ((size_t)n + 1) * sizeof(*fds));
	sigset_t all, before;

	if (!w || !lines || !fds) {
		jl_free(w);
		jl_free(lines);
		jl_free(fds);
		return jl_fail_nomem(err);
	}
	memset(w, 0, sizeof(*w));
	*w = (struct tcp_watch){ .n = n, .own = own, .lines = lines, .fds = fds };
	w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	for (int r = 0; r < n; r++) {
		lines[r] = (struct line){ .wire = { .fd = controls[r] } };
		controls[r] = -1;
	}
	/* block signals in this thread: the working thread handles them */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	int why = w->wake < 0 ? errno : pthread_create(&w->thread, NULL, watch, w);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (why) {
		release(w);
		return jl_fail(err, JL_E_NOMEM, "no thread that answers other ranks: {%s}", strerror(why));
	}
	*ret_watch = w;
	return JL_OK;
}

static void add(_Atomic uint64_t *sum, uint64_t n) /* single writer */
{
	atomic_store_explicit(sum, atomic_load_explicit(sum, memory_order_relaxed) + n, memory_order_relaxed);
}

void jl_tcp_watch_moved(struct tcp_watch *w, size_t in_B, size_t out_B)
{
	add(&w->in_B, in_B);
	add(&w->out_B, out_B);
}

void jl_tcp_watch_waits(struct tcp_watch *w, int rank)
{
	atomic_store_explicit(&w->waits, rank + 1, memory_order_relaxed);
}

void jl_tcp_watch_cross(struct tcp_watch *w)
{
	atomic_store_explicit(&w->in_B, 0, memory_order_relaxed);
	atomic_store_explicit(&w->out_B, 0, memory_order_relaxed);
	jl_tcp_watch_waits(w, -1);
	add(&w->n_crossed, 1);
}

static enum jl_status name(int found, struct jl_err *err)
{
	const int rank = (found & 0xffff) - 1;

	switch ((enum how)(found >> 16)) {
	case HOW_STUCK:
		return jl_fail(err, JL_E_IO, "rank %d is stuck or cannot be reached: it does not answer any more",
			       rank);
	case HOW_ASLEEP:
		return jl_fail(err, JL_E_IO, "rank %d is connected but does nothing while others wait for it", rank);
	case HOW_IDLE:
		return jl_fail(err, JL_E_IO,
			       "rank %d reports that it is working but sends nothing while others wait for its data",
			       rank);
	case HOW_DIED: return jl_fail(err, JL_E_IO, "rank %d died: its connection ended", rank);
	case HOW_LEFT:
	case HOW_FINE: break;
	}
	return jl_fail(err, JL_E_IO, "rank %d ended while others waited for it", rank);
}

enum jl_status jl_tcp_watch_look(struct tcp_watch *w, struct jl_err *err)
{
	const int fallen = atomic_load(&w->fallen);

	return fallen ? name(fallen, err) : JL_OK;
}

enum jl_status jl_tcp_watch_lost(struct tcp_watch *w, int rank, struct jl_err *err)
{
	const double end_s = jl_clock_s() + BLAME_S;
	const struct timespec nap = { .tv_nsec = 5000000 };
	int found = 0;

	while (!found && jl_clock_s() < end_s) {
		found = atomic_load(&w->fallen);
		found = found ? found : atomic_load(&w->left);
		if (!found)
			(void)nanosleep(&nap, NULL);
	}
	return name(found ? found : pack(HOW_DIED, rank), err);
}

void jl_tcp_watch_end(struct tcp_watch *w)
{
	const uint64_t one = 1;

	if (!w)
		return;
	atomic_store(&w->ending, true);
	(void)!write(w->wake, &one, sizeof(one));
	(void)pthread_join(w->thread, NULL);
	for (int r = 0; r < w->n; r++)
		say(&w->lines[r], JL_WIRE_BYE, 0, 0);
	release(w);
}
