/* Sockets and addresses of control messages. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "comm/wire.h"

#define CONNECT_S 5.0
#define ANSWER_S  8.0  /* limit of the whole greeting; less than JL_COMM_STUCK_S */
#define RETRY_S   10.0 /* how long to retry for a peer that is about to start */
#define BUSY_S    20.0 /* how long to retry for a busy peer; longer than a silent client can block it */
#define LOST_MAX  4

static void no_delay(int fd)
{
	const int on = 1;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

int jl_wire_connect(const struct sockaddr *peer, socklen_t len, double wait_s)
{
	int fd = socket(peer->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), why = 0;
	socklen_t size = sizeof(why);

	if (fd < 0)
		return -1;
	if (connect(fd, peer, len) != 0) {
		why = errno;
		if (why == EINPROGRESS) {
			why = ETIMEDOUT;
			if (poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, (int)(1e3 * wait_s)) == 1)
				(void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &size);
		}
	}
	if (why) {
		(void)close(fd);
		errno = why;
		return -1;
	}
	no_delay(fd);
	return fd;
}

int jl_wire_listen(const struct sockaddr *own, socklen_t len)
{
	const int fd = socket(own->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;

	if (fd < 0)
		return -1;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	no_delay(fd); /* accepted sockets inherit it */
	if (bind(fd, own, len) == 0 && listen(fd, SOMAXCONN) == 0)
		return fd;
	int why = errno;
	(void)close(fd);
	errno = why;
	return -1;
}

int jl_wire_port(const union jl_wire_address *a)
{
	if (a->any.sa_family == AF_INET6)
		return ntohs(((const struct sockaddr_in6 *)(const void *)a)->sin6_port);
	return ntohs(((const struct sockaddr_in *)(const void *)a)->sin_port);
}

void jl_wire_set_port(union jl_wire_address *a, int port)
{
	if (a->any.sa_family == AF_INET6)
		((struct sockaddr_in6 *)(void *)a)->sin6_port = htons((uint16_t)port);
	else
		((struct sockaddr_in *)(void *)a)->sin_port = htons((uint16_t)port);
}

socklen_t jl_wire_len(const union jl_wire_address *a)
{
	return a->any.sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

bool jl_wire_same_host(const union jl_wire_address *a, const union jl_wire_address *b)
{
	if (a->any.sa_family != b->any.sa_family)
		return false;
	if (a->any.sa_family == AF_INET6)
		return memcmp(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr,
			      &((const struct sockaddr_in6 *)(const void *)b)->sin6_addr, sizeof(struct in6_addr)) == 0;
	return ((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr ==
	       ((const struct sockaddr_in *)(const void *)b)->sin_addr.s_addr;
}

const char *jl_wire_name(char ret_name[JL_WIRE_NAME_MAX], const union jl_wire_address *a)
{
	if (getnameinfo(&a->any, jl_wire_len(a), ret_name, JL_WIRE_NAME_MAX, NULL, 0, NI_NUMERICHOST) != 0)
		(void)snprintf(ret_name, JL_WIRE_NAME_MAX, "?");
	return ret_name;
}

const char *jl_wire_peer_name(char ret_name[JL_WIRE_PEER_MAX], const char *host, int port)
{
	(void)snprintf(ret_name, JL_WIRE_PEER_MAX, strchr(host, ':') ? "[%s]:%d" : "%s:%d", host, port);
	return ret_name;
}

enum jl_status jl_wire_open(const char **address, int *port, int *ret_fd, struct jl_err *err)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC,
					.ai_socktype = SOCK_STREAM,
					.ai_flags = AI_PASSIVE | AI_NUMERICHOST };
	struct addrinfo *found = NULL;
	union jl_wire_address bound;
	socklen_t len = sizeof(bound);
	char service[16];

	*address = *address ? *address : "127.0.0.1";
	(void)snprintf(service, sizeof(service), "%d", *port);
	if (getaddrinfo(*address, service, &hints, &found) != 0)
		return jl_fail(err, JL_E_USAGE,
			       "'%s' is not an address of this host; write e.g. 127.0.0.1, 10.0.0.5 or ::", *address);
	int fd = jl_wire_listen(found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	if (fd < 0 || getsockname(fd, &bound.any, &len) != 0) {
		const int why = errno;

		if (fd >= 0)
			(void)close(fd);
		return jl_fail(err, JL_E_IO, "cannot listen on %s port %d: {%s}", *address, *port, strerror(why));
	}
	*port = jl_wire_port(&bound);
	*ret_fd = fd;
	return JL_OK;
}

static int try_addresses(const struct addrinfo *found)
{
	int fd = -1;

	for (const struct addrinfo *a = found; a && fd < 0; a = a->ai_next)
		fd = jl_wire_connect(a->ai_addr, a->ai_addrlen, CONNECT_S);
	return fd;
}

static enum jl_status join_once(const struct jl_wire_peer *p, const struct addrinfo *found,
				struct jl_wire_message *hello, uint32_t word, int *ret_fd, struct jl_wire_message *ret,
				struct jl_err *err)
{
	const struct jl_wire_wait wait = { .end_s = jl_clock_s() + ANSWER_S, .stop = p->stop, .ctx = p->ctx };
	const int fd = try_addresses(found);
	char name[JL_WIRE_PEER_MAX];

	if (fd < 0)
		return jl_fail(err, errno == ECONNREFUSED ? JL_E_ABSENT : JL_E_NOTFOUND,
			       "%s port %d: {%s}; is 'jeoul %s --listen' running there?", p->host, p->port,
			       strerror(errno), p->what);
	(void)jl_wire_peer_name(name, p->host, p->port);
	enum jl_status status = jl_wire_greet(fd, name, hello, &p->secret, &wait, err);
	JL_THEN(status, jl_wire_from(jl_wire_receive(fd, &wait, ret, err), name, err));
	if (!status && (ret->version != JL_WIRE_VERSION || ret->word != word))
		status = jl_wire_refused(ret, name, p->what, &p->secret, err);
	if (status)
		(void)close(fd);
	else
		*ret_fd = fd;
	return status;
}

enum jl_status jl_wire_join(const struct jl_wire_peer *p, struct jl_wire_message *hello, uint32_t word, int *ret_fd,
			    struct jl_wire_message *ret_answer, struct jl_err *err)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
	const struct timespec nap = { .tv_nsec = 200000000 };
	const double start_s = jl_clock_s();
	struct addrinfo *found = NULL;
	char service[16];
	enum jl_status status;
	int n_lost = 0, why;

	(void)snprintf(service, sizeof(service), "%d", p->port);
	(void)snprintf(hello->text, sizeof(hello->text), "%s", p->what);
	why = getaddrinfo(p->host, service, &hints, &found);
	if (why)
		return jl_fail(err, JL_E_NOTFOUND, "host %s: {%s}", p->host, gai_strerror(why));
	for (;;) {
		const double silent_s = jl_clock_s() + ANSWER_S;

		status = join_once(p, found, hello, word, ret_fd, ret_answer, err);
		n_lost += status == JL_E_IO;
		if (!(status == JL_E_LIMIT || (status == JL_E_ABSENT && p->patient) ||
		      (status == JL_E_IO && n_lost < LOST_MAX && jl_clock_s() < silent_s)) ||
		    jl_clock_s() - start_s > (status == JL_E_LIMIT ? BUSY_S : RETRY_S) || (p->stop && p->stop(p->ctx)))
			break;
		(void)nanosleep(&nap, NULL);
	}
	freeaddrinfo(found);
	/* errors of either side during the transfer */
	if (status == JL_E_LIMIT || status == JL_E_ABSENT || status == JL_E_NOTFOUND)
		status = JL_E_IO;
	if (status && err)
		err->status = status;
	return status;
}
