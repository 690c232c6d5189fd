/* The listening side. Everything that a peer says is checked; whatever it does, we go on. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench/net_wire.h"

#define HELLO_WAIT_S  1.0
#define SESSION_MAX_S 600.0
#define TESTS_MAX     64
#define LOOK_MS       250

struct session {
	struct jl_net_listener *listener;
	int fd;
	uint64_t id;
	int n_tests;
	double end_s;
};

static bool stop_asked(const struct jl_net_listener *l)
{
	return l->stop && l->stop(l->ctx);
}

enum jl_status jl_net_listen(struct jl_net_listener *l, const char *address, int port, struct jl_err *err)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC,
					.ai_socktype = SOCK_STREAM,
					.ai_flags = AI_PASSIVE | AI_NUMERICHOST };
	struct addrinfo *found = NULL;
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} bound = { 0 };
	socklen_t len = sizeof(bound);
	const int on = 1;
	char service[16];
	int why;

	(void)snprintf(service, sizeof(service), "%d", port);
	address = address ? address : "127.0.0.1";
	why = getaddrinfo(address, service, &hints, &found);
	if (why)
		return jl_fail(err, JL_E_USAGE, "'%s' is no address of this host; write e.g. 127.0.0.1, 10.0.0.5 or ::",
			       "'%s'은(는) 이 호스트의 주소가 아닙니다. 예: 127.0.0.1, 10.0.0.5, ::", address);
	l->fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd >= 0)
		(void)setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (l->fd < 0 || bind(l->fd, found->ai_addr, found->ai_addrlen) != 0 || listen(l->fd, 128) != 0 ||
	    getsockname(l->fd, &bound.any, &len) != 0) {
		why = errno;
		jl_net_unlisten(l);
		freeaddrinfo(found);
		return jl_fail(err, JL_E_IO, "cannot listen on %s port %d: %s", "%s 포트 %d에서 기다릴 수 없습니다: %s",
			       address, port, strerror(why));
	}
	freeaddrinfo(found);
	l->port = ntohs(bound.any.sa_family == AF_INET6 ? bound.v6.sin6_port : bound.v4.sin_port);
	return JL_OK;
}

void jl_net_unlisten(struct jl_net_listener *l)
{
	if (l->fd >= 0)
		(void)close(l->fd);
	l->fd = -1;
}

/* The next connection, or -1 when the time is over or somebody asked to stop. */
static int next_peer(const struct jl_net_listener *l, double end_s, char ret_name[64])
{
	while (jl_clock_s() < end_s && !stop_asked(l)) {
		struct pollfd wait = { .fd = l->fd, .events = POLLIN };
		struct sockaddr_storage peer;
		socklen_t len = sizeof(peer);
		int fd;

		if (poll(&wait, 1, LOOK_MS) <= 0)
			continue;
		fd = accept4(l->fd, (struct sockaddr *)&peer, &len, SOCK_CLOEXEC);
		if (fd < 0)
			continue;
		if (getnameinfo((struct sockaddr *)&peer, len, ret_name, 64, NULL, 0, NI_NUMERICHOST) != 0)
			(void)snprintf(ret_name, 64, "?");
		net_options(fd, HELLO_WAIT_S);
		return fd;
	}
	return -1;
}

static enum jl_status answer(int fd, uint32_t word, uint64_t session, struct jl_err *err)
{
	return net_send(fd, &(struct net_message){ .word = word, .version = JL_NET_VERSION, .a = session }, err);
}

/* Reads the hello of a new connection. `session` 0: a client is welcome; else only streams of this session are. */
static enum jl_status greet(int fd, uint64_t session, struct jl_err *err)
{
	struct net_message hello;
	enum jl_status status = net_receive(fd, &hello, err);

	if (status)
		return status;
	if (hello.version != JL_NET_VERSION) {
		(void)answer(fd, NET_VERSION, 0, NULL);
		return jl_fail(err, JL_E_IO, "it speaks version %u, this program %d",
			       "상대는 버전 %u, 이 프로그램은 %d입니다", hello.version, JL_NET_VERSION);
	}
	if (hello.word != NET_OK || hello.a != session) {
		(void)answer(fd, session ? NET_BUSY : NET_REFUSED, 0, NULL);
		return jl_fail(err, JL_E_IO, "it is not part of this session", "이 세션의 연결이 아닙니다");
	}
	return JL_OK;
}

static enum jl_status gather(struct session *s, struct net_streams *streams, int n, struct jl_err *err)
{
	const double end_s = jl_clock_s() + NET_WAIT_S;
	char name[64];

	while (streams->n < n) {
		const int fd = next_peer(s->listener, end_s, name);

		if (fd < 0)
			return jl_fail(err, JL_E_IO, "only %d of %d streams came", "스트림 %d/%d개만 연결되었습니다",
				       streams->n, n);
		if (greet(fd, s->id, NULL) || answer(fd, NET_OK, s->id, NULL)) {
			(void)close(fd);
			continue;
		}
		streams->fds[streams->n++] = fd;
	}
	return JL_OK;
}

static enum jl_status report(int fd, const struct jl_net_flow *flow, struct jl_err *err)
{
	enum jl_status status = net_send(
		fd, &(struct net_message){ .word = NET_REPORT, .version = JL_NET_VERSION, .a = flow->n_samples }, err);

	for (size_t i = 0; i < flow->n_samples && !status; i++) {
		unsigned char bytes[8];

		net_number(bytes, (uint64_t)flow->samples_Bps[i]);
		status = net_write(fd, bytes, sizeof(bytes), err);
	}
	return status;
}

static enum jl_status run_test(struct session *s, const struct net_message *wanted, struct jl_err *err)
{
	struct net_streams streams = { .n = 0 };
	struct jl_net_flow *flow;
	enum jl_status status;

	if (wanted->a < JL_NET_SEND || wanted->a > JL_NET_BOTH || wanted->b < 1 || wanted->b > JL_NET_STREAMS_MAX ||
	    wanted->c < 100 || wanted->c > (uint64_t)(1e3 * JL_NET_TIME_MAX_S) || ++s->n_tests > TESTS_MAX) {
		(void)answer(s->fd, NET_REFUSED, 0, NULL);
		return jl_fail(err, JL_E_RANGE, "it asked for too much", "요청이 한도를 넘습니다");
	}
	flow = jl_realloc(NULL, sizeof(*flow));
	if (!flow)
		return jl_fail_nomem(err);
	status = gather(s, &streams, (int)wanted->b, err);
	if (!status)
		status = answer(s->fd, NET_GO, 0, err);
	if (!status) {
		streams.receives = wanted->a & JL_NET_SEND; /* what the client sends */
		streams.sends = wanted->a & JL_NET_RECEIVE;
		streams.time_s = 1e-3 * (double)wanted->c;
		status = net_run(&streams, flow, err);
	}
	for (int i = 0; i < streams.n; i++)
		(void)close(streams.fds[i]);
	if (!status)
		status = report(s->fd, flow, err);
	jl_free(flow);
	return status;
}

static enum jl_status converse(struct session *s, struct jl_err *err)
{
	enum jl_status status = JL_OK;
	int n_pings = 0;

	net_options(s->fd, NET_WAIT_S);
	while (!status && jl_clock_s() < s->end_s && !stop_asked(s->listener)) {
		struct net_message m;

		status = net_receive(s->fd, &m, err);
		if (status)
			break;
		if (m.word == NET_BYE)
			return JL_OK;
		if (m.word == NET_PING && ++n_pings <= TESTS_MAX * JL_NET_PINGS_MAX)
			status = net_send(s->fd, &m, err);
		else if (m.word == NET_TEST)
			status = run_test(s, &m, err);
		else
			status = jl_fail(err, JL_E_DATA, "it said something that makes no sense",
					 "이해할 수 없는 요청입니다");
	}
	return status;
}

static enum jl_status serve_one(struct jl_net_listener *l, int fd, struct jl_err *err)
{
	struct session s = { .listener = l, .fd = fd, .end_s = jl_clock_s() + SESSION_MAX_S };
	enum jl_status status = greet(fd, 0, err);

	if (status)
		return status;
	while (s.id == 0) /* nobody may guess it and join in */
		if (getrandom(&s.id, sizeof(s.id), 0) != (ssize_t)sizeof(s.id))
			return jl_fail(err, JL_E_IO, "no random numbers: %s", "난수를 얻을 수 없습니다: %s",
				       strerror(errno));
	status = answer(fd, NET_OK, s.id, err);
	return status ? status : converse(&s, err);
}

enum jl_status jl_net_serve(struct jl_net_listener *l, struct jl_err *err)
{
	(void)err;
	while (!stop_asked(l)) {
		struct jl_err why = { 0 };
		char name[64];
		const int fd = next_peer(l, 1e300, name);
		enum jl_status status;

		if (fd < 0)
			continue;
		status = serve_one(l, fd, &why);
		(void)close(fd);
		if (l->seen)
			l->seen(l->ctx, name, status ? &why : NULL);
		if (l->once && !status)
			break;
	}
	return JL_OK;
}
