#include <string.h>
#include <netinet/in.h>
#include <sys/socket.h>

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
	int n_searches; /* of those at work */
	atomic_bool ending;
	int n_threads;
	pthread_t threads[THREADS_MAX];
};

/* Whoever asked has closed the connection, or all is over. */
static bool unwanted(void *ctx)
{
	const struct jl_web_request *r = ctx;
	char next;

	return atomic_load(&r->web->jobs->ending) || recv(r->fd, &next, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

void jl_web_answer(struct jl_web_request *r)
{
	const struct jl_web_options *o = &r->web->options;
	const struct jl_ask ask = { .front = o->front,
				    .cat = o->cat,
				    .cache = r->web->cache,
				    .today = o->fixed_day ? o->fixed_day : (long)(time(NULL) / 86400),
				    .limit_s = JL_WEB_SEARCH_MAX_S,
				    .unwanted = r->is_search ? unwanted : NULL,
				    .unwanted_ctx = r };
	const double begin_s = jl_clock_s();

	jl_ask(&r->answer, &ask, r->command, jl_buf_text(&r->body), r->body.len);
	atomic_fetch_add(&r->web->counts.answered[r->row][r->answer.code & 3], 1);
	atomic_fetch_add(&r->web->counts.answered_us, (unsigned long long)(1e6 * (jl_clock_s() - begin_s)));
	r->answered = true;
}

/* The next that may begin: one thread stays free for what is no search. */
static struct jl_web_request *take(struct jl_web_jobs *jobs)
{
	struct jl_web_request **at = &jobs->first, *r;

	while (*at && (*at)->is_search && jobs->n_searches + 1 >= jobs->n_threads && !atomic_load(&jobs->ending))
		at = &(*at)->next;
	r = *at;
	if (!r)
		return NULL;
	*at = r->next;
	if (!*at)
		jobs->last = at;
	jobs->n_waiting--;
	return r;
}

static void do_job(struct jl_web_jobs *jobs, struct jl_web_request *r)
{
	struct jl_web_request **at_work = jobs->at_work;

	while (*at_work)
		at_work++;
	*at_work = r;
	jobs->n_searches += r->is_search;
	pthread_mutex_unlock(&jobs->lock);
	r->dropped = unwanted(r);
	if (!r->dropped)
		jl_web_answer(r);
	pthread_mutex_lock(&jobs->lock);
	*at_work = NULL;
	jobs->n_searches -= r->is_search;
	if (r->is_search)
		pthread_cond_broadcast(&jobs->more); /* the next search may begin */
	/* from here on it is the reading thread's again */
	jl_mhd.resume_connection(r->connection);
}

static void *work(void *ctx)
{
	struct jl_web_jobs *jobs = ctx;
	struct jl_web_request *r;

	pthread_mutex_lock(&jobs->lock);
	for (;;) {
		while (!(r = take(jobs)) && !atomic_load(&jobs->ending))
			pthread_cond_wait(&jobs->more, &jobs->lock);
		if (!r)
			break;
		do_job(jobs, r);
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
	n_threads = n_threads < 2 ? 2 : n_threads > THREADS_MAX ? THREADS_MAX : n_threads;
	pthread_mutex_lock(&jobs->lock);
	while (jobs->n_threads < n_threads && pthread_create(&jobs->threads[jobs->n_threads], NULL, work, jobs) == 0)
		jobs->n_threads++;
	pthread_mutex_unlock(&jobs->lock);
	if (jobs->n_threads > 1)
		return jobs;
	jl_web_jobs_destroy(jobs);
	return NULL;
}

/* Those that wait are let go: nothing may be left suspended. */
void jl_web_jobs_destroy(struct jl_web_jobs *jobs)
{
	if (!jobs)
		return;
	pthread_mutex_lock(&jobs->lock);
	atomic_store(&jobs->ending, true);
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
	const union MHD_ConnectionInfo *info = jl_mhd.get_connection_info(r->connection,
									  MHD_CONNECTION_INFO_CONNECTION_FD);
	size_t n = 0;
	bool taken;

	r->fd = info ? info->connect_fd : -1;
	pthread_mutex_lock(&jobs->lock);
	for (const struct jl_web_request *o = jobs->first; o; o = o->next)
		n += same_client(o, r);
	for (int i = 0; i < THREADS_MAX; i++)
		n += same_client(jobs->at_work[i], r);
	taken = n < EACH_MAX && jobs->n_waiting < WAITING_MAX && !atomic_load(&jobs->ending);
	if (taken) {
		jl_mhd.suspend_connection(r->connection);
		r->next = NULL;
		*jobs->last = r;
		jobs->last = &r->next;
		jobs->n_waiting++;
		pthread_cond_signal(&jobs->more);
	}
	pthread_mutex_unlock(&jobs->lock);
	return taken;
}
