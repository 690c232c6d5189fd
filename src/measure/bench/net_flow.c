/* Runs the streams of a transfer: one thread per stream and direction. The receiver counts bytes ten times a second. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench/net_flow.h"

#define BLOCK_B ((size_t)256 << 10)

/* Totals over all streams. */
struct sums {
	_Atomic size_t received_B, sent_B;
	_Atomic int n_busy;
	_Atomic bool stood; /* no data for JL_NET_WAIT_S */
};

struct stream {
	int fd;
	double end_s;
	struct sums *sums;
	pthread_t sender, receiver;
	bool has_sender, has_receiver;
};

static void *send_all(void *ctx)
{
	struct stream *s = ctx;
	char *block = jl_realloc(NULL, BLOCK_B);

	if (block) {
		memset(block, 0x5a, BLOCK_B);
		while (jl_clock_s() < s->end_s + JL_NET_TAIL_S) {
			const ssize_t n = send(s->fd, block, BLOCK_B, MSG_NOSIGNAL);

			if (n < 0 && errno != EINTR) {
				if (errno == EAGAIN)
					atomic_store(&s->sums->stood, true);
				break;
			}
			atomic_fetch_add_explicit(&s->sums->sent_B, n > 0 ? (size_t)n : 0, memory_order_relaxed);
		}
	}
	(void)shutdown(s->fd, SHUT_WR);
	jl_free(block);
	atomic_fetch_sub(&s->sums->n_busy, 1);
	return NULL;
}

static void *receive_all(void *ctx)
{
	struct stream *s = ctx;
	char *block = jl_realloc(NULL, BLOCK_B);

	while (block &&
	       jl_clock_s() < s->end_s + JL_NET_TAIL_S + JL_NET_WAIT_S) { /* cuts off a peer that never stops */
		const ssize_t n = recv(s->fd, block, BLOCK_B, 0);

		if (n < 0 && errno == EAGAIN)
			atomic_store(&s->sums->stood, true);
		if (n == 0 || (n < 0 && errno != EINTR))
			break;
		if (n > 0)
			atomic_fetch_add_explicit(&s->sums->received_B, (size_t)n, memory_order_relaxed);
	}
	jl_free(block);
	atomic_fetch_sub(&s->sums->n_busy, 1);
	return NULL;
}

/* Makes the socket blocking with time-outs; each thread handles only one stream. */
static void make_blocking(int fd)
{
	const struct timeval wait = { .tv_sec = (time_t)JL_NET_WAIT_S };

	(void)fcntl(fd, F_SETFL, 0);
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
}

/* Counts received bytes until end_s, from the first byte on; waits up to JL_NET_WAIT_S longer for the first one. Returns false on a stop request. Ends
 * early when all streams have ended. */
static bool watch(const struct jl_net_streams *streams, struct jl_net_flow *flow, struct sums *sums, double end_s)
{
	double last_s = jl_clock_s();
	size_t last = atomic_load(&sums->received_B);

	while (last_s < end_s + (streams->receives && last == 0 ? JL_NET_WAIT_S : 0) &&
	       atomic_load(&sums->n_busy) > 0) {
		const struct timespec nap = { .tv_nsec = (long)(JL_NET_SAMPLE_S * 1e9) };

		(void)nanosleep(&nap, NULL);
		if (streams->stop && streams->stop(streams->ctx))
			return false;
		double now_s = jl_clock_s();
		size_t now = atomic_load(&sums->received_B);
		if (now_s - last_s < 0.5 * JL_NET_SAMPLE_S) /* woken by a signal */
			continue;
		if (streams->receives && now > 0 && flow->n_samples < JL_NET_SAMPLES_MAX)
			flow->samples_Bps[flow->n_samples++] = (double)(now - last) / (now_s - last_s);
		last_s = now_s;
		last = now;
	}
	return true;
}

void jl_net_summarise(struct jl_net_flow *flow)
{
	double scratch[JL_NET_SAMPLES_MAX];

	/* skips TCP slow start and the initial burst of shaped links */
	flow->n_unsteady = jl_stats_steady_from(flow->samples_Bps, flow->n_samples, scratch);
	jl_stats_of(&flow->rate_Bps, flow->samples_Bps + flow->n_unsteady, flow->n_samples - flow->n_unsteady, scratch);
}

void jl_net_close_streams(struct jl_net_streams *streams)
{
	for (int i = 0; i < streams->n; i++)
		(void)close(streams->fds[i]);
	streams->n = 0;
}

static bool start(const struct jl_net_streams *streams, struct stream s[JL_NET_STREAMS_MAX], struct sums *sums,
		  double end_s)
{
	bool failed = false;

	for (int i = 0; i < streams->n && !failed; i++) {
		s[i] = (struct stream){ .fd = streams->fds[i], .end_s = end_s, .sums = sums };
		make_blocking(s[i].fd);
		if (streams->sends)
			s[i].has_sender = pthread_create(&s[i].sender, NULL, send_all, &s[i]) == 0;
		if (streams->receives)
			s[i].has_receiver = pthread_create(&s[i].receiver, NULL, receive_all, &s[i]) == 0;
		failed = s[i].has_sender != streams->sends || s[i].has_receiver != streams->receives;
	}
	return !failed;
}

enum jl_status jl_net_run(struct jl_net_streams *streams, struct jl_net_flow *ret_flow, struct jl_err *err)
{
	struct stream s[JL_NET_STREAMS_MAX] = { 0 };
	struct sums sums = { .n_busy = streams->n * (streams->sends + streams->receives) };
	const double end_s = jl_clock_s() + streams->time_s;
	sigset_t all, before;

	memset(ret_flow, 0, sizeof(*ret_flow));
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	bool started = start(streams, s, &sums, end_s);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	bool stopped = started && !watch(streams, ret_flow, &sums, end_s);
	for (int i = 0; i < streams->n; i++) {
		if (!started || stopped)
			(void)shutdown(streams->fds[i], SHUT_RDWR);
		if (s[i].has_sender)
			(void)pthread_join(s[i].sender, NULL);
		if (s[i].has_receiver)
			(void)pthread_join(s[i].receiver, NULL);
	}
	if (!started)
		return jl_fail(err, JL_E_NOMEM, "no threads for %d streams", streams->n);
	if (stopped)
		return jl_fail(err, JL_E_IO, "stopped");
	streams->sent_B = atomic_load(&sums.sent_B);
	jl_net_summarise(ret_flow);
	if (streams->receives && !(ret_flow->rate_Bps.median > 0))
		return jl_fail(err, JL_E_IO, "no data came");
	if (atomic_load(&sums.stood))
		return jl_fail(err, JL_E_IO, "data stood still for %.0f s", JL_NET_WAIT_S);
	return JL_OK;
}
