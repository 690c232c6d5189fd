#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/cpu.h"

#define THREADS_MAX 1024
#define N_SPIN      20000 /* a few hundred µs: between two iterations nobody should have to be woken */

struct jl_cpu_team {
	int n;
	void (*part)(void *ctx, int i, int n);
	void *ctx;
	_Atomic uint32_t round; /* grows when there is work */
	_Atomic uint32_t n_left;
	_Atomic bool ending;
	struct worker {
		pthread_t thread;
		struct jl_cpu_team *team;
		int i;
	} workers[];
};

int jl_cpu_count(void)
{
	cpu_set_t cpus;

	return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
}

static void wait_while(_Atomic uint32_t *word, uint32_t value, int n_spin)
{
	for (int i = 0; i < n_spin; i++) {
		if (atomic_load_explicit(word, memory_order_acquire) != value)
			return;
#if defined(__x86_64__)
		__builtin_ia32_pause();
#elif defined(__aarch64__)
		__asm__ volatile("yield" ::: "memory");
#endif
	}
	while (atomic_load(word) == value)
		(void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void wake(_Atomic uint32_t *word)
{
	(void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

static void *work(void *ctx)
{
	const struct worker *me = ctx;
	struct jl_cpu_team *t = me->team;
	uint32_t round = 0;

	for (;;) {
		wait_while(&t->round, round, N_SPIN);
		round++;
		if (atomic_load(&t->ending))
			return NULL;
		t->part(t->ctx, me->i, t->n);
		if (atomic_fetch_sub(&t->n_left, 1) == 1)
			wake(&t->n_left);
	}
}

void jl_cpu_team_run(struct jl_cpu_team *t, void (*part)(void *ctx, int i, int n), void *ctx)
{
	uint32_t left;

	t->part = part;
	t->ctx = ctx;
	atomic_store(&t->n_left, (uint32_t)t->n - 1);
	atomic_fetch_add(&t->round, 1);
	if (t->n > 1)
		wake(&t->round);
	part(ctx, 0, t->n);
	while ((left = atomic_load(&t->n_left)) != 0)
		wait_while(&t->n_left, left, N_SPIN);
}

enum jl_status jl_cpu_team_create(struct jl_cpu_team **ret_team, int n_threads, struct jl_err *err)
{
	const int n = n_threads < 1 ? 1 : n_threads > THREADS_MAX ? THREADS_MAX : n_threads;
	const size_t size_B = sizeof(struct jl_cpu_team) + (size_t)n * sizeof(struct worker);
	struct jl_cpu_team *t = jl_realloc(NULL, size_B);
	sigset_t all, before;
	int why = 0;

	JL_TRY(jl_got(t, err));
	memset(t, 0, size_B);
	t->n = n;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	for (int i = 1; i < n && !why; i++) {
		t->workers[i].team = t;
		t->workers[i].i = i;
		why = pthread_create(&t->workers[i].thread, NULL, work, &t->workers[i]);
		if (why)
			t->n = i;
	}
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (why) {
		jl_cpu_team_destroy(t);
		return jl_fail(err, JL_E_NOMEM, "%d threads cannot be started: %s", n, strerror(why));
	}
	*ret_team = t;
	return JL_OK;
}

void jl_cpu_team_destroy(struct jl_cpu_team *t)
{
	if (!t)
		return;
	atomic_store(&t->ending, true);
	atomic_fetch_add(&t->round, 1);
	wake(&t->round);
	for (int i = 1; i < t->n; i++)
		pthread_join(t->workers[i].thread, NULL);
	jl_free(t);
}
