/* Thread pool. Knows nothing of the tasks. */
#include "base/pool.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/budget.h"
#include "base/mem.h"
#include "base/msg.h"

/* Spin iterations before sleeping: only microseconds lie between two loops of a training step, less than a sleep and a wake-up cost. */
#define SPINS      4000
#define SPINS_EACH 20000 /* spinning lasts a few hundred µs */

struct worker {
	struct jl_pool *pool;
	pthread_t thread;
	int number;
};

struct jl_pool {
	int n_threads, n_started;
	struct worker *workers;
	pthread_mutex_t lock;
	pthread_cond_t wake, done;
	/* task of the current loop; written before `round` is incremented */
	void (*task)(void *ctx, size_t index, int thread);
	void *ctx;
	size_t n_tasks;
	bool each; /* task i runs on thread i */
	int n_spin;
	const struct jl_language *lang; /* the caller's language */
	struct jl_budget *budget;       /* the caller's budget, which the workers enter */
	atomic_size_t next;
	atomic_ulong round;
	atomic_int n_busy; /* worker threads still in this round */
	atomic_bool stop;
};

/* CPU quota of cgroup v2 in processors: "200000 100000" is 2, "max 100000" is NAN (no quota). */
static double quota_cpus(void)
{
	double cpus = NAN, quota, period;
	FILE *file = fopen("/sys/fs/cgroup/cpu.max", "re");
	if (!file)
		return NAN;
	if (fscanf(file, "%lf %lf", &quota, &period) == 2 && period > 0)
		cpus = quota / period;
	fclose(file);
	return cpus;
}

int jl_pool_n_cpus(void)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
	double quota = quota_cpus();
	if (isfinite(quota) && quota < n)
		n = (int)ceil(quota);
	return n < 1 ? 1 : n > JL_POOL_THREADS_MAX ? JL_POOL_THREADS_MAX : n;
}

int jl_pool_cpus_each(int n)
{
	int each = jl_pool_n_cpus() / (n > 0 ? n : 1);
	return each > 1 ? each : 1;
}

static void relax(void)
{
#if defined(__aarch64__)
	__asm__ volatile("yield");
#elif defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

static void take_tasks(struct jl_pool *pool, int number)
{
	if (pool->each) {
		pool->task(pool->ctx, (size_t)number, number);
		return;
	}
	for (;;) {
		size_t index = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
		if (index >= pool->n_tasks)
			return;
		pool->task(pool->ctx, index, number);
	}
}

static unsigned long next_round(struct jl_pool *pool, unsigned long seen, int n_spin)
{
	for (int i = 0; i < n_spin; i++) {
		unsigned long round = atomic_load_explicit(&pool->round, memory_order_acquire);
		if (round != seen)
			return round;
		relax();
	}
	pthread_mutex_lock(&pool->lock);
	while (atomic_load(&pool->round) == seen)
		pthread_cond_wait(&pool->wake, &pool->lock);
	unsigned long round = atomic_load(&pool->round);
	pthread_mutex_unlock(&pool->lock);
	return round;
}

static void *work(void *ctx)
{
	struct worker *worker = ctx;
	struct jl_pool *pool = worker->pool;
	unsigned long seen = 0;
	int n_spin = SPINS;
	for (;;) {
		seen = next_round(pool, seen, n_spin);
		if (atomic_load(&pool->stop))
			return NULL;
		n_spin = pool->n_spin;
		jl_lang_set(pool->lang);
		(void)jl_budget_enter(pool->budget);
		take_tasks(pool, worker->number);
		if (atomic_fetch_sub(&pool->n_busy, 1) == 1) {
			pthread_mutex_lock(&pool->lock);
			pthread_cond_signal(&pool->done);
			pthread_mutex_unlock(&pool->lock);
		}
	}
}

static void announce(struct jl_pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	atomic_fetch_add_explicit(&pool->round, 1, memory_order_release);
	pthread_cond_broadcast(&pool->wake);
	pthread_mutex_unlock(&pool->lock);
}

enum jl_status jl_pool_create(int n_threads, struct jl_pool **ret_pool, struct jl_err *err)
{
	if (n_threads <= 0)
		n_threads = jl_pool_n_cpus();
	if (n_threads > JL_POOL_THREADS_MAX)
		n_threads = JL_POOL_THREADS_MAX;
	struct jl_pool *pool = jl_realloc(NULL, sizeof *pool);
	struct worker *workers = jl_realloc(NULL, (size_t)n_threads * sizeof *workers);
	if (!pool || !workers) {
		jl_free(pool);
		jl_free(workers);
		return jl_fail_nomem(err);
	}
	*pool = (struct jl_pool){ .n_threads = n_threads, .workers = workers };
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->wake, NULL);
	pthread_cond_init(&pool->done, NULL);
	/* block signals in workers: Ctrl-C must interrupt the caller's waits */
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (int i = 1; i < n_threads; i++) {
		workers[i] = (struct worker){ .pool = pool, .number = i };
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
			break;
		pool->n_started++;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (pool->n_started < n_threads - 1) {
		int n_started = pool->n_started + 1;
		jl_pool_destroy(pool);
		return jl_fail(err, JL_E_LIMIT, "only %d of %d threads could be started", n_started, n_threads);
	}
	*ret_pool = pool;
	return JL_OK;
}

void jl_pool_destroy(struct jl_pool *pool)
{
	if (!pool)
		return;
	atomic_store(&pool->stop, true);
	announce(pool);
	for (int i = 1; i <= pool->n_started; i++)
		pthread_join(pool->workers[i].thread, NULL);
	pthread_mutex_destroy(&pool->lock);
	pthread_cond_destroy(&pool->wake);
	pthread_cond_destroy(&pool->done);
	jl_free(pool->workers);
	jl_free(pool);
}

int jl_pool_n_threads(const struct jl_pool *pool)
{
	return pool->n_threads;
}

static void run(struct jl_pool *pool, void (*task)(void *ctx, size_t index, int thread), void *ctx, size_t n_tasks,
		bool each)
{
	if (pool->n_threads == 1 || n_tasks <= 1) {
		for (size_t i = 0; i < n_tasks; i++)
			task(ctx, i, 0);
		return;
	}
	pool->task = task;
	pool->ctx = ctx;
	pool->n_tasks = n_tasks;
	pool->each = each;
	pool->n_spin = each ? SPINS_EACH : SPINS;
	pool->lang = jl_lang();
	pool->budget = jl_budget_current();
	atomic_store(&pool->next, 0);
	atomic_store(&pool->n_busy, pool->n_started);
	announce(pool);
	take_tasks(pool, 0);
	for (int i = 0; i < pool->n_spin && atomic_load_explicit(&pool->n_busy, memory_order_acquire) > 0; i++)
		relax();
	pthread_mutex_lock(&pool->lock);
	while (atomic_load(&pool->n_busy) > 0)
		pthread_cond_wait(&pool->done, &pool->lock);
	pthread_mutex_unlock(&pool->lock);
}

void jl_pool_run(struct jl_pool *pool, void (*task)(void *ctx, size_t index, int thread), void *ctx, size_t n_tasks)
{
	run(pool, task, ctx, n_tasks, false);
}

void jl_pool_each(struct jl_pool *pool, void (*task)(void *ctx, size_t index, int thread), void *ctx)
{
	run(pool, task, ctx, (size_t)pool->n_threads, true);
}
