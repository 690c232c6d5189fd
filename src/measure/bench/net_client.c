#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench/net_wire.h"

#define ETHERNET_B 14
#define IPV4_B     20
#define IPV6_B     40
#define TCP_B      32 /* with time stamps, as everybody has them */

struct jl_net_client {
	int fd;
	struct sockaddr_storage peer;
	socklen_t peer_len;
	uint64_t session;
};

/* connect(2) with an end. */
static int connect_within(const struct sockaddr *peer, socklen_t len, double wait_s)
{
	int fd = socket(peer->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), why = 0;
	socklen_t size = sizeof(why);
	struct pollfd wait = { .fd = fd, .events = POLLOUT };

	if (fd < 0)
		return -1;
	if (connect(fd, peer, len) != 0) {
		why = errno;
		if (why == EINPROGRESS) {
			why = ETIMEDOUT;
			if (poll(&wait, 1, (int)(1e3 * wait_s)) == 1)
				(void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &size);
		}
	}
	if (why) {
		(void)close(fd);
		errno = why;
		return -1;
	}
	(void)fcntl(fd, F_SETFL, 0); /* waits from here on, with time-outs */
	return fd;
}

static enum jl_status hello(int fd, uint64_t session, uint64_t stream, struct net_message *ret_answer,
			    struct jl_err *err)
{
	enum jl_status status;

	net_options(fd, NET_WAIT_S);
	status = net_send(
		fd, &(struct net_message){ .word = NET_OK, .version = JL_NET_VERSION, .a = session, .b = stream }, err);
	if (!status)
		status = net_receive(fd, ret_answer, err);
	if (status)
		return status;
	switch (ret_answer->word) {
	case NET_OK: return JL_OK;
	case NET_BUSY:
		return jl_fail(err, JL_E_IO, "the listener serves somebody else; try again later",
			       "상대가 다른 클라이언트를 처리 중입니다. 나중에 다시 하세요");
	case NET_VERSION:
		return jl_fail(err, JL_E_IO,
			       "the listener speaks version %u, this program %d: use the same jeoul on both",
			       "상대는 버전 %u, 이 프로그램은 %d입니다. 양쪽에 같은 jeoul을 쓰세요",
			       ret_answer->version, JL_NET_VERSION);
	default: break;
	}
	return jl_fail(err, JL_E_IO, "the listener refused the request", "상대가 요청을 거절했습니다");
}

enum jl_status jl_net_connect(struct jl_net_client **ret_client, const char *host, int port, struct jl_err *err)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;
	struct jl_net_client *c = jl_realloc(NULL, sizeof(*c));
	struct net_message answer;
	char service[16];
	enum jl_status status = JL_OK;
	int why;

	if (!c)
		return jl_fail_nomem(err);
	*c = (struct jl_net_client){ .fd = -1 };
	(void)snprintf(service, sizeof(service), "%d", port);
	why = getaddrinfo(host, service, &hints, &found);
	if (why) {
		jl_free(c);
		return jl_fail(err, JL_E_NOTFOUND, "host %s: %s", "호스트 %s: %s", host, gai_strerror(why));
	}
	for (struct addrinfo *a = found; a && c->fd < 0; a = a->ai_next) {
		c->fd = connect_within(a->ai_addr, a->ai_addrlen, NET_WAIT_S);
		if (c->fd >= 0) {
			memcpy(&c->peer, a->ai_addr, a->ai_addrlen);
			c->peer_len = a->ai_addrlen;
		}
	}
	if (c->fd < 0)
		status = jl_fail(err, JL_E_IO, "%s port %d: %s; is 'jeoul bench net --listen' running there?",
				 "%s 포트 %d: %s. 상대에서 'jeoul bench net --listen'을 실행했나요?", host, port,
				 strerror(errno));
	freeaddrinfo(found);
	if (!status)
		status = hello(c->fd, 0, 0, &answer, err);
	if (status) {
		jl_net_close(c);
		return status;
	}
	c->session = answer.a;
	*ret_client = c;
	return JL_OK;
}

void jl_net_close(struct jl_net_client *c)
{
	if (!c)
		return;
	if (c->fd >= 0) {
		(void)net_send(c->fd, &(struct net_message){ .word = NET_BYE, .version = JL_NET_VERSION }, NULL);
		(void)close(c->fd);
	}
	jl_free(c);
}

enum jl_status jl_net_ping(struct jl_net_client *c, size_t n, struct jl_net_latency *ret, struct jl_err *err)
{
	double *scratch = jl_realloc(NULL, JL_NET_PINGS_MAX * sizeof(*scratch));
	const size_t n_warm = 20;
	enum jl_status status = scratch ? JL_OK : jl_fail_nomem(err);

	ret->n_samples = 0;
	n = n < JL_NET_PINGS_MAX - n_warm ? n : JL_NET_PINGS_MAX - n_warm;
	for (size_t i = 0; i < n + n_warm && !status; i++) {
		const struct net_message ping = { .word = NET_PING, .version = JL_NET_VERSION, .a = i };
		struct net_message answer;
		const double start_s = jl_clock_s();

		status = net_send(c->fd, &ping, err);
		if (!status)
			status = net_receive(c->fd, &answer, err);
		if (!status && (answer.word != NET_PING || answer.a != i))
			status = jl_fail(err, JL_E_DATA, "the listener answered something else",
					 "상대의 응답이 다릅니다");
		if (!status && i >= n_warm)
			ret->samples_s[ret->n_samples++] = jl_clock_s() - start_s;
	}
	if (!status)
		jl_stats_of(&ret->round_s, ret->samples_s, ret->n_samples, scratch);
	jl_free(scratch);
	return status;
}

static enum jl_status open_streams(struct jl_net_client *c, struct net_streams *s, int n, struct jl_err *err)
{
	enum jl_status status = JL_OK;

	for (s->n = 0; s->n < n && !status;) {
		const int fd = connect_within((struct sockaddr *)&c->peer, c->peer_len, NET_WAIT_S);
		struct net_message answer;

		if (fd < 0)
			return jl_fail(err, JL_E_IO, "stream %d of %d: %s", "스트림 %d/%d: %s", s->n + 1, n,
				       strerror(errno));
		s->fds[s->n] = fd;
		status = hello(fd, c->session, (uint64_t)s->n, &answer, err);
		s->n++;
	}
	return status;
}

/* What the listener received, sample by sample. */
static enum jl_status read_report(struct jl_net_client *c, struct jl_net_flow *ret_flow, struct jl_err *err)
{
	struct net_message report;
	enum jl_status status;

	net_options(c->fd, 4 * NET_WAIT_S); /* it waits for its last stream first */
	status = net_receive(c->fd, &report, err);
	net_options(c->fd, NET_WAIT_S);
	if (status)
		return status;
	if (report.word != NET_REPORT || report.a > JL_NET_SAMPLES_MAX)
		return jl_fail(err, JL_E_DATA, "the listener's report makes no sense",
			       "상대의 보고를 이해할 수 없습니다");
	memset(ret_flow, 0, sizeof(*ret_flow));
	for (uint64_t i = 0; i < report.a && !status; i++) {
		unsigned char bytes[8];
		double rate;

		status = net_read(c->fd, bytes, sizeof(bytes), err);
		rate = status ? 0 : (double)net_value(bytes);
		if (rate > 1e15)
			return jl_fail(err, JL_E_DATA, "the listener's report makes no sense",
				       "상대의 보고를 이해할 수 없습니다");
		ret_flow->samples_Bps[ret_flow->n_samples++] = rate;
	}
	if (!status)
		net_summarise(ret_flow);
	return status;
}

static void look_at_headers(const struct jl_net_client *c, int fd, struct jl_net_result *result)
{
	int mss = 0;
	socklen_t size = sizeof(mss);

	result->mss_B = getsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &mss, &size) == 0 && mss > 0 ? mss : (double)NAN;
	result->header_B = ETHERNET_B + TCP_B + (c->peer.ss_family == AF_INET6 ? IPV6_B : IPV4_B);
}

double jl_net_wire_Bps(const struct jl_net_result *result, double payload_Bps)
{
	return payload_Bps * (result->mss_B + result->header_B) / result->mss_B;
}

static enum jl_status transfer(struct jl_net_client *c, struct net_streams *s, struct jl_net_result *r,
			       struct jl_err *err)
{
	struct net_message go;
	enum jl_status status = net_send(c->fd,
					 &(struct net_message){ .word = NET_TEST,
								.version = JL_NET_VERSION,
								.a = (uint64_t)r->direction,
								.b = (uint64_t)r->n_streams,
								.c = (uint64_t)llround(1e3 * r->time_s) },
					 err);

	if (!status)
		status = open_streams(c, s, r->n_streams, err);
	if (!status)
		status = net_receive(c->fd, &go, err);
	if (!status && go.word != NET_GO)
		status = jl_fail(err, JL_E_IO, "the listener refused the request", "상대가 요청을 거절했습니다");
	if (status)
		return status;
	look_at_headers(c, s->fds[0], r);
	s->sends = r->direction & JL_NET_SEND;
	s->receives = r->direction & JL_NET_RECEIVE;
	s->time_s = r->time_s;
	status = net_run(s, &r->receive, err);
	if (!status)
		status = read_report(c, &r->send, err);
	return status;
}

enum jl_status jl_net_transfer(struct jl_net_client *c, enum jl_net_direction direction, int n_streams, double time_s,
			       struct jl_net_result *r, struct jl_err *err)
{
	struct net_streams streams = { .n = 0 };
	struct jl_noise_watch watch;
	enum jl_status status;

	if (n_streams < 1 || n_streams > JL_NET_STREAMS_MAX || !(time_s >= 0.5 && time_s <= JL_NET_TIME_MAX_S))
		return jl_fail(err, JL_E_RANGE, "1 to %d streams, 0.5 to %.0f s", "스트림 1~%d개, 0.5~%.0f초",
			       JL_NET_STREAMS_MAX, JL_NET_TIME_MAX_S);
	memset(r, 0, sizeof(*r));
	r->direction = direction;
	r->n_streams = n_streams;
	r->time_s = time_s;
	jl_noise_begin(&watch);
	status = transfer(c, &streams, r, err);
	for (int i = 0; i < streams.n; i++)
		(void)close(streams.fds[i]);
	if (!status)
		status = jl_noise_end(&watch, NULL, &r->noise, err);
	if (!status)
		jl_noise_judge(&r->noise, r->why);
	if (!status && r->noise.noisy) { /* what was seen is all that can be said */
		r->send.rate_Bps.lo95 = r->send.rate_Bps.min;
		r->send.rate_Bps.hi95 = r->send.rate_Bps.max;
		r->receive.rate_Bps.lo95 = r->receive.rate_Bps.min;
		r->receive.rate_Bps.hi95 = r->receive.rate_Bps.max;
	}
	return status;
}
