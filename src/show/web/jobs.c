/* Queues of requests, run outside the threads that read and write connections. A request starts in the quick queue; one that takes longer than a
 * moment starts again in the long queue, whose processes have low priority. */
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "web/inside.h"

#define THREADS_MAX 64
#define CLIENTS     1024 /* counters, by hash of the address */

static const struct {
	size_t waiting_max;
	int each_max;          /* per client, waiting or running */
	double limit_s, cpu_s; /* cpu_s 0: no limit */
	int nice;              /* of the processes: short requests have priority */
} limits[JL_N_WEB_SPEED] = {
	[JL_WEB_QUICK] = { JL_WEB_OPEN_MAX, JL_WEB_OPEN_MAX / 2, JL_WEB_MOMENT_S, JL_WEB_MOMENT_CPU_S, 0 },
	[JL_WEB_LARGE] = { 256, 64, 2, 0, 2 },
	[JL_WEB_LONG] = { 256, 64, JL_WEB_ANSWER_MAX_S, 0, 5 },
};

struct queue {
	struct jl_web_jobs *jobs;
	struct jl_web_request *first, **last;
	size_t n_waiting;
	pthread_cond_t more;
	int n_of[CLIENTS]; /* waiting or running */
};

struct jl_web_jobs {
	struct jl_web *web;
	pthread_mutex_t lock;
	struct queue queues[JL_N_WEB_SPEED];
	atomic_bool ending;
	int n_threads;
	pthread_t threads[THREADS_MAX];
};

/* True if the client has disconnected, or the server ends. */
static bool is_unwanted(void *ctx)
{
	const struct jl_web_request *r = ctx;
	char next;

	return atomic_load(&r->web->jobs->ending) || recv(r->fd, &next, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

long jl_web_today(const struct jl_web *web)
{
	return web->options.fixed_day ? web->options.fixed_day : (long)(time(NULL) / 86400);
}

static struct jl_ask ask_of(struct jl_web_request *r)
{
	const struct jl_web_options *o = &r->web->options;

	return (struct jl_ask){
		.front = o->front, .cat = o->cat, .cache = r->web->cache, .today = jl_web_today(r->web)
	};
}

static void count(struct jl_web_request *r, double begin_s)
{
	atomic_fetch_add(&r->web->counts.answered[r->row][r->answer.code & 3], 1);
	atomic_fetch_add(&r->web->counts.answered_us, (unsigned long long)(1e6 * (jl_clock_s() - begin_s)));
	r->answered = true;
}

bool jl_web_recall(struct jl_web_request *r)
{
	const struct jl_ask ask = ask_of(r);
	const double begin_s = jl_clock_s();

	if (!jl_ask_recall(&r->answer, &ask, r->command, jl_buf_text(&r->body), r->body.len))
		return false;
	count(r, begin_s);
	return true;
}

/* False: too slow for this queue; not answered yet. */
static bool answer(struct jl_web_request *r)
{
	const struct jl_ask ask = ask_of(r);
	const double begin_s = jl_clock_s();

	if (r->make) {
		jl_buf_init(&r->answer.out, JL_WEB_PAGE_MAX_B);
		r->make(r, &r->answer.out);
		r->answered = true;
		return true;
	}
	jl_web_workers_ask(r->web->workers, r, limits[r->speed].limit_s, limits[r->speed].cpu_s);
	if (r->answer.end == JL_BUDGET_TIME && r->speed != JL_WEB_LONG) {
		jl_answer_release(&r->answer);
		return false;
	}
	jl_ask_keep(&r->answer, &ask, r->command, jl_buf_text(&r->body), r->body.len);
	count(r, begin_s);
	r->busy = !jl_web_hold(r, r->answer.out.len);
	return true;
}

static int *n_of(struct queue *q, const struct jl_web_request *r)
{
	return &q->n_of[jl_hash_keyed(r->client, sizeof(r->client)) % CLIENTS];
}

/* Requires the lock. */
static bool put(struct jl_web_jobs *jobs, struct jl_web_request *r)
{
	const enum jl_web_speed speed = r->speed;
	struct queue *q = &jobs->queues[speed];

	if (*n_of(q, r) >= limits[speed].each_max || q->n_waiting >= limits[speed].waiting_max ||
	    atomic_load(&jobs->ending))
		return false;
	++*n_of(q, r);
	r->next = NULL;
	*q->last = r;
	q->last = &r->next;
	q->n_waiting++;
	pthread_cond_signal(&q->more);
	return true;
}

static struct jl_web_request *take(struct queue *q)
{
	struct jl_web_request *r = q->first;

	if (!r)
		return NULL;
	q->first = r->next;
	if (!q->first)
		q->last = &q->first;
	q->n_waiting--;
	return r;
}

static void do_job(struct jl_web_jobs *jobs, struct queue *q, struct jl_web_request *r, struct jl_web_worker *workers)
{
	bool again;

	pthread_mutex_unlock(&jobs->lock);
	r->workers = workers;
	r->dropped = is_unwanted(r);
	again = !r->dropped && !answer(r);
	pthread_mutex_lock(&jobs->lock);
	--*n_of(q, r);
	if (again) {
		r->speed = JL_WEB_LONG;
		if (put(jobs, r))
			return;
		r->busy = true;
	}
	jl_mhd.resume_connection(r->connection); /* ownership returns to the connection thread */
}

static void work(struct jl_web_jobs *jobs, struct queue *q)
{
	const int nice = limits[q - jobs->queues].nice;
	struct jl_web_worker workers[JL_WEB_KINDS] = { { .nice = nice }, { .nice = nice } };
	struct jl_web_request *r;

	pthread_mutex_lock(&jobs->lock);
	for (;;) {
		while (!(r = take(q)) && !atomic_load(&jobs->ending))
			pthread_cond_wait(&q->more, &jobs->lock);
		if (!r)
			break;
		do_job(jobs, q, r, workers);
	}
	pthread_mutex_unlock(&jobs->lock);
}

static void *work_of(void *ctx)
{
	struct queue *q = ctx;

	work(q->jobs, q);
	return NULL;
}

static bool start(struct jl_web_jobs *jobs, int n, enum jl_web_speed speed)
{
	int n_started = 0;

	while (n_started < n &&
	       pthread_create(&jobs->threads[jobs->n_threads], NULL, work_of, &jobs->queues[speed]) == 0) {
		n_started++;
		jobs->n_threads++;
	}
	return n_started > 0;
}

struct jl_web_jobs *jl_web_jobs_create(struct jl_web *web, int n_threads)
{
	struct jl_web_jobs *jobs = jl_realloc(NULL, sizeof(*jobs));
	const int n_quick = n_threads < 2 ? 2 : n_threads > THREADS_MAX / 4 ? THREADS_MAX / 4 : n_threads;

	if (!jobs)
		return NULL;
	memset(jobs, 0, sizeof(*jobs));
	jobs->web = web;
	(void)pthread_mutex_init(&jobs->lock, NULL);
	for (enum jl_web_speed s = JL_WEB_QUICK; s < JL_N_WEB_SPEED; s++) {
		jobs->queues[s].jobs = jobs;
		jobs->queues[s].last = &jobs->queues[s].first;
		(void)pthread_cond_init(&jobs->queues[s].more, NULL);
	}
	if (start(jobs, n_quick, JL_WEB_QUICK) && start(jobs, n_quick / 2, JL_WEB_LARGE) &&
	    start(jobs, n_quick, JL_WEB_LONG))
		return jobs;
	jl_web_jobs_destroy(jobs);
	return NULL;
}

/* Answers all waiting requests with an error: no connection stays suspended. */
void jl_web_jobs_end(struct jl_web_jobs *jobs)
{
	if (!jobs)
		return;
	pthread_mutex_lock(&jobs->lock);
	atomic_store(&jobs->ending, true);
	for (enum jl_web_speed s = JL_WEB_QUICK; s < JL_N_WEB_SPEED; s++)
		pthread_cond_broadcast(&jobs->queues[s].more);
	pthread_mutex_unlock(&jobs->lock);
	jl_web_workers_end(jobs->web->workers);
	for (int i = 0; i < jobs->n_threads; i++)
		(void)pthread_join(jobs->threads[i], NULL);
	jobs->n_threads = 0;
}

void jl_web_jobs_destroy(struct jl_web_jobs *jobs)
{
	if (!jobs)
		return;
	jl_web_jobs_end(jobs);
	for (enum jl_web_speed s = JL_WEB_QUICK; s < JL_N_WEB_SPEED; s++)
		(void)pthread_cond_destroy(&jobs->queues[s].more);
	(void)pthread_mutex_destroy(&jobs->lock);
	jl_free(jobs);
}

bool jl_web_jobs_put(struct jl_web_jobs *jobs, struct jl_web_request *r)
{
	const union MHD_ConnectionInfo *info = jl_mhd.get_connection_info(r->connection,
									  MHD_CONNECTION_INFO_CONNECTION_FD);
	bool taken;

	r->fd = info ? info->connect_fd : -1;
	pthread_mutex_lock(&jobs->lock);
	taken = put(jobs, r);
	if (taken) /* before any thread can resume it: that requires the lock */
		jl_mhd.suspend_connection(r->connection);
	pthread_mutex_unlock(&jobs->lock);
	return taken;
}
