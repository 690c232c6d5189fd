/* Distributes independent work items over threads. */
#include "score/validate.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "base/budget.h"

struct shared {
	const struct jl_turns *turns;
	const struct jl_language *lang; /* language of the calling thread */
	struct jl_budget *budget;
	atomic_int next, n_done, status;
	pthread_mutex_t lock; /* protects err */
	struct jl_err *err;
};

static void *work(void *ctx)
{
	struct shared *s = ctx;
	int turn;

	jl_lang_set(s->lang);
	(void)jl_budget_enter(s->budget);
	while (atomic_load(&s->status) == JL_OK && (turn = atomic_fetch_add(&s->next, 1)) < s->turns->n) {
		struct jl_err err;
		const enum jl_status status = jl_budget_over() ? jl_budget_fail(&err)
							       : s->turns->take(s->turns->ctx, turn, &err);

		if (status) {
			(void)pthread_mutex_lock(&s->lock);
			atomic_store(&s->status, (int)status);
			if (s->err)
				*s->err = err;
			(void)pthread_mutex_unlock(&s->lock);
		}
		atomic_fetch_add(&s->n_done, 1);
	}
	return NULL;
}

static void watch(struct shared *s)
{
	const struct timespec pause = { .tv_nsec = 100000000L };
	int done;

	while ((done = atomic_load(&s->n_done)) < s->turns->n && atomic_load(&s->status) == JL_OK) {
		if (s->turns->watch)
			s->turns->watch(s->turns->watcher, done);
		(void)nanosleep(&pause, NULL);
	}
}

enum jl_status jl_turns_take(const struct jl_turns *turns, struct jl_err *err)
{
	enum { MAX_THREADS = 16 };
	struct shared s = { .turns = turns,
			    .lang = jl_lang(),
			    .budget = jl_budget_current(),
			    .lock = PTHREAD_MUTEX_INITIALIZER,
			    .err = err };
	pthread_t threads[MAX_THREADS];
	const long n_cpu = sysconf(_SC_NPROCESSORS_ONLN);
	int n = 0;

	while (n < MAX_THREADS && n < n_cpu && n < turns->n && pthread_create(&threads[n], NULL, work, &s) == 0)
		n++;
	if (n == 0)
		(void)work(&s);
	else
		watch(&s);
	for (int i = 0; i < n; i++)
		(void)pthread_join(threads[i], NULL);
	return (enum jl_status)atomic_load(&s.status);
}
