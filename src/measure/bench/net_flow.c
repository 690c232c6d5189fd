/* The streams of a transfer: a thread for each and direction; whoever receives counts, ten times a second. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench/net_wire.h"

#define BLOCK_B  ((size_t)256 << 10)
#define SAMPLE_S 0.1
#define TAIL_S   0.3 /* the sender goes on a little: the receiver's last sample is a full one */

struct stream {
	int fd;
	double end_s;
	_Atomic size_t *count; /* bytes received by all */
	pthread_t sender, receiver;
	bool has_sender, has_receiver;
};

static void *send_all(void *ctx)
{
	struct stream *s = ctx;
	char *block = jl_realloc(NULL, BLOCK_B);

	if (block) {
		memset(block, 0x5a, BLOCK_B);
		while (jl_clock_s() < s->end_s + TAIL_S) {
			const ssize_t n = send(s->fd, block, BLOCK_B, MSG_NOSIGNAL);

			if (n < 0 && errno != EINTR)
				break;
		}
	}
	(void)shutdown(s->fd, SHUT_WR);
	jl_free(block);
	return NULL;
}

static void *receive_all(void *ctx)
{
	struct stream *s = ctx;
	char *block = jl_realloc(NULL, BLOCK_B);

	while (block && jl_clock_s() < s->end_s + TAIL_S + NET_WAIT_S) { /* a peer that never stops is cut off */
		const ssize_t n = recv(s->fd, block, BLOCK_B, 0);

		if (n == 0 || (n < 0 && errno != EINTR))
			break;
		if (n > 0)
			atomic_fetch_add_explicit(s->count, (size_t)n, memory_order_relaxed);
	}
	jl_free(block);
	return NULL;
}

static void sample_until(struct jl_net_flow *flow, _Atomic size_t *count, double end_s)
{
	double last_s = jl_clock_s();
	size_t last = atomic_load(count);

	while (last_s < end_s && flow->n_samples < JL_NET_SAMPLES_MAX) {
		const struct timespec nap = { .tv_nsec = (long)(SAMPLE_S * 1e9) };
		double now_s;
		size_t now;

		(void)nanosleep(&nap, NULL);
		now_s = jl_clock_s();
		now = atomic_load(count);
		if (now_s - last_s < 0.5 * SAMPLE_S) /* woken by a signal */
			continue;
		flow->samples_Bps[flow->n_samples++] = (double)(now - last) / (now_s - last_s);
		last_s = now_s;
		last = now;
	}
}

void net_summarise(struct jl_net_flow *flow)
{
	double scratch[JL_NET_SAMPLES_MAX];

	/* slow start, and the bucket of a shaped link that is full at the beginning */
	flow->n_unsteady = jl_stats_steady_from(flow->samples_Bps, flow->n_samples, scratch);
	jl_stats_of(&flow->rate_Bps, flow->samples_Bps + flow->n_unsteady, flow->n_samples - flow->n_unsteady, scratch);
}

enum jl_status net_run(struct net_streams *streams, struct jl_net_flow *ret_flow, struct jl_err *err)
{
	struct stream s[JL_NET_STREAMS_MAX] = { 0 };
	_Atomic size_t count = 0;
	const double end_s = jl_clock_s() + streams->time_s;
	sigset_t all, before;
	bool failed = false;

	memset(ret_flow, 0, sizeof(*ret_flow));
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	for (int i = 0; i < streams->n && !failed; i++) {
		s[i].fd = streams->fds[i];
		s[i].end_s = end_s;
		s[i].count = &count;
		net_options(s[i].fd, NET_WAIT_S);
		if (streams->sends)
			s[i].has_sender = pthread_create(&s[i].sender, NULL, send_all, &s[i]) == 0;
		if (streams->receives)
			s[i].has_receiver = pthread_create(&s[i].receiver, NULL, receive_all, &s[i]) == 0;
		failed = s[i].has_sender != streams->sends || s[i].has_receiver != streams->receives;
	}
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!failed && streams->receives)
		sample_until(ret_flow, &count, end_s);
	for (int i = 0; i < streams->n; i++) {
		if (failed && s[i].fd > 0)
			(void)shutdown(s[i].fd, SHUT_RDWR);
		if (s[i].has_sender)
			(void)pthread_join(s[i].sender, NULL);
		if (s[i].has_receiver)
			(void)pthread_join(s[i].receiver, NULL);
	}
	if (failed)
		return jl_fail(err, JL_E_NOMEM, "no threads for %d streams",
			       "스트림 %d개를 위한 스레드를 만들 수 없습니다", streams->n);
	net_summarise(ret_flow);
	return JL_OK;
}
