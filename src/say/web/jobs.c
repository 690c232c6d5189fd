#include <string.h>
#include <netinet/in.h>

#include "base/clock.h"
#include "base/mem.h"
#include "web/inside.h"

#define THREADS_MAX 16
#define WAITING_MAX 256
#define EACH_MAX    64 /* waiting or at work for one client */

struct jl_web_jobs {
	struct jl_web *web;
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct jl_web_request *first, **last;
	size_t n_waiting;
	struct jl_web_request *at_work[THREADS_MAX];
	bool ending;
	int n_threads;
	pthread_t threads[THREADS_MAX];
};

void jl_web_answer(struct jl_web_request *r)
{
	const struct jl_web_options *o = &r->web->options;
	const struct jl_ask ask = { .front = o->front,
				    .cat = o->cat,
				    .cache = r->web->cache,
				    .today = o->fixed_day ? o->fixed_day : (long)(time(NULL) / 86400),
				    .limit_s = JL_WEB_SEARCH_MAX_S };
	const double begin_s = jl_clock_s();

	jl_ask(&r->answer, &ask, r->command, jl_buf_text(&r->body), r->body.len);
	atomic_fetch_add(&r->web->counts.answered[r->row][r->answer.code & 3], 1);
	atomic_fetch_add(&r->web->counts.answered_us, (unsigned long long)(1e6 * (jl_clock_s() - begin_s)));
	r->answered = true;
}

static void *work(void *ctx)
{
	struct jl_web_jobs *jobs = ctx;
	struct jl_web_request **at_work = NULL;

	pthread_mutex_lock(&jobs->lock);
	for (;;) {
		struct jl_web_request *r;

		while (!jobs->first && !jobs->ending)
			pthread_cond_wait(&jobs->more, &jobs->lock);
		if (!jobs->first)
			break;
		r = jobs->first;
		jobs->first = r->next;
		if (!jobs->first)
			jobs->last = &jobs->first;
		jobs->n_waiting--;
		for (at_work = jobs->at_work; *at_work; at_work++)
			;
		*at_work = r;
		pthread_mutex_unlock(&jobs->lock);
		jl_web_answer(r);
		pthread_mutex_lock(&jobs->lock);
		*at_work = NULL;
		/* from here on it is the reading thread's again */
		MHD_resume_connection(r->connection);
	}
	pthread_mutex_unlock(&jobs->lock);
	return NULL;
}

struct jl_web_jobs *jl_web_jobs_create(struct jl_web *web, int n_threads)
{
	struct jl_web_jobs *jobs = jl_realloc(NULL, sizeof(*jobs));

	if (!jobs)
		return NULL;
	*jobs = (struct jl_web_jobs){ .web = web };
	jobs->last = &jobs->first;
	(void)pthread_mutex_init(&jobs->lock, NULL);
	(void)pthread_cond_init(&jobs->more, NULL);
	while (jobs->n_threads < n_threads && jobs->n_threads < THREADS_MAX &&
	       pthread_create(&jobs->threads[jobs->n_threads], NULL, work, jobs) == 0)
		jobs->n_threads++;
	if (jobs->n_threads)
		return jobs;
	jl_web_jobs_destroy(jobs);
	return NULL;
}

/* Those that wait are answered first: nothing may be left suspended. */
void jl_web_jobs_destroy(struct jl_web_jobs *jobs)
{
	if (!jobs)
		return;
	pthread_mutex_lock(&jobs->lock);
	jobs->ending = true;
	pthread_cond_broadcast(&jobs->more);
	pthread_mutex_unlock(&jobs->lock);
	for (int i = 0; i < jobs->n_threads; i++)
		(void)pthread_join(jobs->threads[i], NULL);
	(void)pthread_cond_destroy(&jobs->more);
	(void)pthread_mutex_destroy(&jobs->lock);
	jl_free(jobs);
}

static bool same_client(const struct jl_web_request *a, const struct jl_web_request *b)
{
	return a && memcmp(a->client, b->client, sizeof(a->client)) == 0;
}

bool jl_web_jobs_put(struct jl_web_jobs *jobs, struct jl_web_request *r)
{
	size_t n = 0;
	bool taken;

	pthread_mutex_lock(&jobs->lock);
	for (const struct jl_web_request *o = jobs->first; o; o = o->next)
		n += same_client(o, r);
	for (int i = 0; i < THREADS_MAX; i++)
		n += same_client(jobs->at_work[i], r);
	taken = n < EACH_MAX && jobs->n_waiting < WAITING_MAX && !jobs->ending;
	if (taken) {
		MHD_suspend_connection(r->connection);
		r->next = NULL;
		*jobs->last = r;
		jobs->last = &r->next;
		jobs->n_waiting++;
		pthread_cond_signal(&jobs->more);
	}
	pthread_mutex_unlock(&jobs->lock);
	return taken;
}
