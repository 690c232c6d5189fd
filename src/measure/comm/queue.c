/* A thread that runs started calls in order. */
#include "comm/queue.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "base/mem.h"

enum request_state { FREE, WAITING, DONE };

struct jl_comm_request {
	struct jl_coll_call call;
	enum request_state state;
	enum jl_status status;
	struct jl_err err;
};

struct jl_comm_queue {
	struct jl_comm *comm;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more, done;
	bool ending;
	struct jl_comm_request requests[JL_COMM_QUEUE_MAX]; /* ring buffer */
	size_t n_started, n_run;                            /* totals since creation */
};

static void *run_calls(void *ctx)
{
	struct jl_comm_queue *q = ctx;

	pthread_mutex_lock(&q->lock);
	for (;;) {
		struct jl_comm_request *r = &q->requests[q->n_run % JL_COMM_QUEUE_MAX];

		while (q->n_run == q->n_started && !q->ending)
			pthread_cond_wait(&q->more, &q->lock);
		if (q->n_run == q->n_started)
			break;
		pthread_mutex_unlock(&q->lock);
		r->status = q->comm->backend->run(q->comm, &r->call, &r->err);
		pthread_mutex_lock(&q->lock);
		r->state = DONE;
		q->n_run++;
		pthread_cond_broadcast(&q->done);
	}
	pthread_mutex_unlock(&q->lock);
	return NULL;
}

enum jl_status jl_queue_create(struct jl_comm_queue **ret_queue, struct jl_comm *comm, struct jl_err *err)
{
	struct jl_comm_queue *q = jl_realloc(NULL, sizeof(*q));
	sigset_t all, before;

	JL_TRY(jl_got(q, err));
	memset(q, 0, sizeof(*q));
	q->comm = comm;
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->more, NULL);
	pthread_cond_init(&q->done, NULL);
	/* block signals in this thread: the computing thread handles them */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	int why = pthread_create(&q->thread, NULL, run_calls, q);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (why) {
		pthread_mutex_destroy(&q->lock);
		pthread_cond_destroy(&q->more);
		pthread_cond_destroy(&q->done);
		jl_free(q);
		return jl_fail(err, JL_E_NOMEM, "no thread for communication: {%s}", strerror(why));
	}
	*ret_queue = q;
	return JL_OK;
}

void jl_queue_destroy(struct jl_comm_queue *q)
{
	if (!q)
		return;
	pthread_mutex_lock(&q->lock);
	q->ending = true;
	pthread_cond_signal(&q->more);
	pthread_mutex_unlock(&q->lock);
	pthread_join(q->thread, NULL);
	pthread_mutex_destroy(&q->lock);
	pthread_cond_destroy(&q->more);
	pthread_cond_destroy(&q->done);
	jl_free(q);
}

enum jl_status jl_queue_start(struct jl_comm_queue *q, const struct jl_coll_call *call,
			      struct jl_comm_request **ret_request, struct jl_err *err)
{
	enum jl_status status = JL_OK;

	pthread_mutex_lock(&q->lock);
	struct jl_comm_request *r = &q->requests[q->n_started % JL_COMM_QUEUE_MAX];
	if (r->state != FREE) {
		status = jl_fail(err, JL_E_LIMIT, "more than %d collectives at once: wait for some first",
				 JL_COMM_QUEUE_MAX);
	} else {
		*r = (struct jl_comm_request){ .call = *call, .state = WAITING };
		q->n_started++;
		*ret_request = r;
		pthread_cond_signal(&q->more);
	}
	pthread_mutex_unlock(&q->lock);
	return status;
}

enum jl_status jl_queue_wait(struct jl_comm_queue *q, struct jl_comm_request *r, struct jl_err *err)
{
	enum jl_status status;

	pthread_mutex_lock(&q->lock);
	while (r->state == WAITING)
		pthread_cond_wait(&q->done, &q->lock);
	status = r->status;
	if (status && err)
		*err = r->err;
	r->state = FREE;
	pthread_mutex_unlock(&q->lock);
	return status;
}
