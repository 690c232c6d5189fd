/* Starts the ranks of a shared-memory team and watches them for crashes, hangs and early exits. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "comm/shm.h"

#define WINDOW_B    ((size_t)1 << 20) /* half a window fits into L2 */
#define WINDOW_MIN  ((size_t)128 << 10)
#define WINDOW_MAX  ((size_t)1 << 30)
#define ZONES_MAX_B ((size_t)1 << 44) /* address space, not memory */
#define ZONE_MIN_B  ((size_t)16 << 20)
#define BUSY_S      600.0
#define TICK_S      0.1
/* no CPU time used while others wait: stuck; less than JL_COMM_STUCK_S to leave time for the report */
#define IDLE_S   8.0
#define PAUSED_S 4.0 /* suspended by a signal for this long: stuck */
#define LEAVE_S  2.0 /* time for the other ranks to leave after a failure */

struct watch {
	pid_t pid;
	int pidfd;
	bool gone;
	double cpu_s, moved_s; /* CPU time used; time when it last grew */
	double paused_s;       /* since when it is suspended; 0: it is not */
};

struct team {
	const struct jl_comm_team *spec;
	int n;
	size_t map_B, window_B, zone_B;
	struct shm_head *head; /* start of the mapping: head with ranks, windows, zones */
	char *windows, *zones;
	void *shared;
	struct watch *watch;
	struct pollfd *fds;
	double stop_s; /* time of the stop request; 0: none yet */
};

static size_t round_up(size_t value, size_t step)
{
	return (value + step - 1) / step * step;
}

/* Maps the zones. Address space costs nothing until it is used; if the system refuses the size, halves it and retries. */
static enum jl_status map_team(struct team *t, struct jl_err *err)
{
	const size_t n = (size_t)t->n, head_B = round_up(sizeof(*t->head) + n * sizeof(*t->head->ranks), 65536);
	const long pages = sysconf(_SC_PHYS_PAGES), page_B = sysconf(_SC_PAGESIZE);
	const size_t memory_B = pages > 0 && page_B > 0 ? (size_t)pages * (size_t)page_B : (size_t)1 << 36;
	void *map = MAP_FAILED;

	t->window_B = t->spec->window_B ? t->spec->window_B : WINDOW_B;
	t->window_B = t->window_B < WINDOW_MIN ? WINDOW_MIN : t->window_B > WINDOW_MAX ? WINDOW_MAX : t->window_B;
	t->window_B = round_up(t->window_B, 65536);
	t->zone_B = round_up(memory_B, 65536);
	while (t->zone_B > ZONES_MAX_B / n)
		t->zone_B = round_up(t->zone_B / 2, 65536);
	for (; map == MAP_FAILED && t->zone_B >= ZONE_MIN_B; t->zone_B = round_up(t->zone_B / 2, 65536)) {
		t->map_B = head_B + n * (t->window_B + t->zone_B);
		map = mmap(NULL, t->map_B, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (map != MAP_FAILED)
			break;
	}
	if (map == MAP_FAILED)
		return jl_fail(err, JL_E_NOMEM, "no shared memory for %d workers: {%s}", t->n, strerror(errno));
	(void)madvise(map, t->map_B, MADV_DONTDUMP);
	t->head = map;
	t->windows = (char *)map + head_B;
	t->zones = t->windows + n * t->window_B;
	(void)madvise(t->zones, n * t->zone_B, MADV_HUGEPAGE);
	t->shared = mmap(NULL, t->spec->shared_B ? t->spec->shared_B : 1, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (t->shared == MAP_FAILED) {
		t->shared = NULL;
		return jl_fail(err, JL_E_NOMEM, "no shared memory of %zu bytes: {%s}", t->spec->shared_B,
			       strerror(errno));
	}
	return JL_OK;
}

/* Runs in each worker process. */
static void live(struct team *t, int rank, pid_t parent)
{
	struct shm_comm c = { .windows = t->windows, .window_B = t->window_B, .zones = t->zones, .zone_B = t->zone_B };
	struct shm_rank *me = &t->head->ranks[rank];

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) /* the parent ended before prctl took effect */
		_exit(1);
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGTERM, SIG_DFL);
	enum jl_status status = jl_shm_open(&c, t->head, rank, t->n, &me->err);
	if (!status) {
		status = t->spec->work(&c.comm, t->shared, t->spec->ctx, &me->err);
		jl_comm_destroy(&c.comm);
	}
	me->status = status;
	if (status)
		atomic_store(&me->ticket, atomic_fetch_add(&t->head->n_tickets, 1) + 1);
	atomic_store(&me->ended, true);
	_exit(status ? 1 : 0);
}

static enum jl_status start_ranks(struct team *t, struct jl_err *err)
{
	const pid_t parent = getpid();

	for (int rank = 0; rank < t->n; rank++) {
		struct watch *w = &t->watch[rank];

		w->pid = fork();
		if (w->pid == 0)
			live(t, rank, parent);
		if (w->pid < 0) {
			w->gone = true;
			return jl_fail(err, JL_E_NOMEM, "worker %d of %d cannot be started: {%s}", rank, t->n,
				       strerror(errno));
		}
		w->gone = false;
		w->moved_s = jl_clock_s();
		w->pidfd = (int)syscall(SYS_pidfd_open, w->pid, 0); /* -1 is ignored by poll */
		t->fds[rank] = (struct pollfd){ .fd = w->pidfd, .events = POLLIN };
	}
	return JL_OK;
}

static void raise_trouble(struct team *t, enum shm_trouble trouble, int rank, int reason)
{
	int fine = SHM_FINE;

	if (atomic_load(&t->head->trouble) == SHM_FINE) {
		atomic_store(&t->head->culprit, rank);
		atomic_store(&t->head->reason, reason);
	}
	(void)atomic_compare_exchange_strong(&t->head->trouble, &fine, (int)trouble);
	for (int r = 0; r < t->n; r++)
		jl_shm_wake(&t->head->ranks[r].arrived);
}

/* Collects the exit status of a rank. Returns true while it still runs. */
static bool reap(struct team *t, int rank)
{
	struct watch *w = &t->watch[rank];
	int how = 0;
	pid_t pid;

	if (w->gone)
		return false;
	while ((pid = waitpid(w->pid, &how, WNOHANG | WUNTRACED | WCONTINUED)) == w->pid) {
		if (WIFSTOPPED(how)) {
			w->paused_s = jl_clock_s();
			continue;
		}
		if (WIFCONTINUED(how)) {
			w->paused_s = 0;
			continue;
		}
		break;
	}
	if (pid == 0)
		return true;
	w->gone = true;
	t->fds[rank].fd = -1;
	if (w->pidfd >= 0)
		(void)close(w->pidfd);
	if (pid == w->pid && WIFSIGNALED(how))
		raise_trouble(t, SHM_DIED, rank, WTERMSIG(how));
	else if (!atomic_load(&t->head->ranks[rank].ended)) /* the rank has exited */
		raise_trouble(t, SHM_LEFT, rank, 0);
	else if (t->head->ranks[rank].status)
		raise_trouble(t, SHM_FAILED, rank, 0);
	return false;
}

/* CPU seconds used by a process. */
static double cpu_time_s(pid_t pid)
{
	char path[64], text[1024];
	unsigned long user = 0, kernel = 0;
	const char *after;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ssize_t len = read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	if (len <= 0)
		return -1;
	text[len] = '\0';
	after = strrchr(text, ')'); /* the process name may contain ')' */
	if (!after || sscanf(after + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &kernel) != 2)
		return -1;
	return (double)(user + kernel) / (double)sysconf(_SC_CLK_TCK);
}

/* Checks a rank that others wait for: gone, suspended or asleep, or computing. */
static void look_at(struct team *t, int rank, double waited_s)
{
	struct watch *w = &t->watch[rank];
	const double now_s = jl_clock_s(), busy_s = t->spec->busy_s > 0 ? t->spec->busy_s : BUSY_S;
	const double cpu_s = cpu_time_s(w->pid);

	if (w->gone) {
		raise_trouble(t, SHM_LEFT, rank, 0);
		return;
	}
	if (cpu_s < 0 || cpu_s > w->cpu_s) {
		w->cpu_s = cpu_s;
		w->moved_s = now_s;
	}
	if (atomic_load(&t->head->ranks[rank].waits_for)) /* it is waiting itself: another rank is the cause */
		return;
	if ((waited_s > IDLE_S && now_s - w->moved_s > IDLE_S) || waited_s > busy_s)
		raise_trouble(t, SHM_STUCK, rank, 0);
}

/* True if the awaited rank has arrived. On a busy machine the waiting rank may not have run since then, so this is checked before the peer is
 * declared gone. */
static bool has_come(const struct team *t, int rank, int peer)
{
	return (int32_t)(atomic_load(&t->head->ranks[peer].arrived) - atomic_load(&t->head->ranks[rank].arrived)) >= 0;
}

static void look_around(struct team *t)
{
	const double now_s = jl_clock_s();

	for (int r = 0; r < t->n; r++) {
		const struct shm_rank *rank = &t->head->ranks[r];
		const int peer = atomic_load(&rank->waits_for) - 1;
		const struct watch *w = &t->watch[r];

		if (!w->gone && w->paused_s > 0 && now_s - w->paused_s > PAUSED_S)
			raise_trouble(t, SHM_STUCK, r, 0);
		if (!w->gone && peer >= 0 && peer < t->n && !has_come(t, r, peer) &&
		    now_s - atomic_load(&rank->waits_since_s) > TICK_S)
			look_at(t, peer, now_s - atomic_load(&rank->waits_since_s));
	}
}

static void kill_rest(struct team *t)
{
	for (int r = 0; r < t->n; r++) {
		struct watch *w = &t->watch[r];

		if (w->gone || w->pid <= 0)
			continue;
		(void)kill(w->pid, SIGKILL);
		while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
			;
		w->gone = true;
		if (w->pidfd >= 0)
			(void)close(w->pidfd);
	}
}

static void watch_over(struct team *t)
{
	double ticked_s = 0, trouble_s = 0;

	for (;;) {
		const double now_s = jl_clock_s();
		int n_there = 0;

		for (int r = 0; r < t->n; r++)
			n_there += reap(t, r);
		if (n_there == 0)
			break;
		if (atomic_load(&t->head->trouble) && trouble_s == 0)
			trouble_s = now_s;
		if (trouble_s > 0 && now_s - trouble_s > LEAVE_S)
			break;
		if (now_s - ticked_s >= TICK_S) {
			ticked_s = now_s;
			look_around(t);
			if (t->spec->tick && !t->spec->tick(t->shared, t->spec->ctx) && t->stop_s == 0) {
				t->stop_s = now_s;
				atomic_store(&t->head->stop_asked, true);
			}
			if (t->stop_s > 0 && now_s - t->stop_s > JL_COMM_STUCK_S)
				raise_trouble(t, SHM_STOPPED, 0, 0);
		}
		(void)poll(t->fds, (nfds_t)t->n, t->fds[0].fd >= 0 || trouble_s == 0 ? 50 : 10);
	}
	kill_rest(t);
	if (t->spec->tick)
		(void)t->spec->tick(t->shared, t->spec->ctx); /* reports the last results */
}

/* The error of the rank that failed first; the other ranks' errors follow from it. */
static enum jl_status verdict(struct team *t, int *ret_dead, struct jl_err *err)
{
	const int trouble = atomic_load(&t->head->trouble), culprit = atomic_load(&t->head->culprit);
	int first = -1;

	if (trouble == SHM_FINE)
		return JL_OK;
	if (trouble == SHM_DIED || trouble == SHM_STUCK || trouble == SHM_LEFT) {
		*ret_dead = culprit;
		return jl_shm_trouble(t->head, err);
	}
	for (int r = 0; r < t->n; r++) {
		const uint32_t ticket = atomic_load(&t->head->ranks[r].ticket);

		if (ticket && (first < 0 || ticket < atomic_load(&t->head->ranks[first].ticket)))
			first = r;
	}
	if (first < 0 || trouble == SHM_STOPPED)
		return jl_shm_trouble(t->head, err);
	if (err)
		*err = t->head->ranks[first].err;
	return t->head->ranks[first].status;
}

enum jl_status jl_comm_team_run(const struct jl_comm_team *spec, void **ret_shared, int *ret_dead, struct jl_err *err)
{
	struct team t = { .spec = spec, .n = spec->n_ranks };
	int dead = -1;

	*ret_shared = NULL;
	if (t.n < 1 || t.n > JL_COMM_RANKS_MAX)
		return jl_fail(err, JL_E_RANGE, "%d workers: write a number from 1 to %d", t.n, JL_COMM_RANKS_MAX);
	t.watch = jl_realloc(NULL, (size_t)t.n * sizeof(*t.watch));
	t.fds = jl_realloc(NULL, (size_t)t.n * sizeof(*t.fds));
	enum jl_status status = t.watch && t.fds ? map_team(&t, err) : jl_fail_nomem(err);
	if (status)
		goto out;
	for (int r = 0; r < t.n; r++) {
		t.watch[r] = (struct watch){ .gone = true, .pidfd = -1 };
		t.fds[r] = (struct pollfd){ .fd = -1 };
	}
	status = start_ranks(&t, err);
	if (status) {
		kill_rest(&t);
		goto out;
	}
	watch_over(&t);
	*ret_shared = t.shared;
	status = verdict(&t, &dead, err);
out:
	if (t.head)
		(void)munmap(t.head, t.map_B);
	if (!*ret_shared)
		jl_comm_team_release(spec, t.shared);
	if (ret_dead)
		*ret_dead = dead;
	jl_free(t.watch);
	jl_free(t.fds);
	return status;
}

void jl_comm_team_release(const struct jl_comm_team *team, void *shared)
{
	if (shared)
		(void)munmap(shared, team->shared_B ? team->shared_B : 1);
}
