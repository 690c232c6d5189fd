#include "comm/wire.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define LOOK_MS 100
#define SEND_S  5.0

static const unsigned char magic[8] = { 'j', 'e', 'o', 'u', 'l', 't', 'c', 'p' };

static void put(unsigned char ret[8], uint64_t value)
{
	for (int i = 0; i < 8; i++)
		ret[i] = (unsigned char)(value >> (56 - 8 * i));
}

static uint64_t get(const unsigned char bytes[8])
{
	uint64_t value = 0;

	for (int i = 0; i < 8; i++)
		value = value << 8 | bytes[i];
	return value;
}

void jl_wire_pack(unsigned char ret_bytes[JL_WIRE_MESSAGE_B], const struct jl_wire_message *m)
{
	memcpy(ret_bytes, magic, 8);
	put(ret_bytes + 8, (uint64_t)JL_WIRE_VERSION << 32 | m->word);
	for (size_t i = 0; i < JL_WIRE_NUMBERS; i++)
		put(ret_bytes + 16 + 8 * i, m->n[i]);
	memcpy(ret_bytes + 16 + (size_t)8 * JL_WIRE_NUMBERS, m->text, JL_WIRE_TEXT_B);
}

bool jl_wire_plausible(const unsigned char *bytes, size_t n)
{
	return memcmp(bytes, magic, n < sizeof(magic) ? n : sizeof(magic)) == 0;
}

void jl_wire_unpack(const unsigned char bytes[JL_WIRE_MESSAGE_B], struct jl_wire_message *ret)
{
	const uint64_t words = get(bytes + 8);
	bool over = false;

	ret->word = (uint32_t)words;
	ret->version = (uint32_t)(words >> 32);
	for (size_t i = 0; i < JL_WIRE_NUMBERS; i++)
		ret->n[i] = get(bytes + 16 + 8 * i);
	memcpy(ret->text, bytes + 16 + (size_t)8 * JL_WIRE_NUMBERS, JL_WIRE_TEXT_B);
	ret->text[JL_WIRE_TEXT_B - 1] = '\0';
	/* it may be printed; nothing behind its end is ever looked at */
	for (size_t i = 0; i < JL_WIRE_TEXT_B; i++) {
		over |= ret->text[i] == '\0';
		if (over)
			ret->text[i] = '\0';
		else if (ret->text[i] < ' ' || ret->text[i] > '~')
			ret->text[i] = '?';
	}
}

static enum jl_status lost(int why, struct jl_err *err)
{
	if (why == 0)
		return jl_fail(err, JL_E_IO, "the other side closed the connection", "상대가 연결을 닫았습니다");
	return jl_fail(err, JL_E_IO, "connection lost: %s", "연결이 끊겼습니다: %s", strerror(why));
}

enum jl_status jl_wire_send(int fd, const struct jl_wire_message *m, struct jl_err *err)
{
	const double end_s = jl_clock_s() + SEND_S;
	unsigned char bytes[JL_WIRE_MESSAGE_B];
	size_t at = 0;

	jl_wire_pack(bytes, m);
	while (at < sizeof(bytes)) {
		const ssize_t n = send(fd, bytes + at, sizeof(bytes) - at, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n > 0) {
			at += (size_t)n;
			continue;
		}
		if (errno == EAGAIN || errno == EWOULDBLOCK) {
			if (jl_clock_s() > end_s)
				return lost(ETIMEDOUT, err);
			(void)poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, LOOK_MS);
		} else if (errno != EINTR) {
			return lost(errno, err);
		}
	}
	return JL_OK;
}

static enum jl_status wait_for(int fd, const struct jl_wire_wait *wait, struct jl_err *err)
{
	if (wait->stop && wait->stop(wait->ctx))
		return jl_fail(err, JL_E_IO, "stopped", "중단했습니다");
	if (jl_clock_s() > wait->end_s)
		return jl_fail(err, JL_E_IO, "the other side does not answer", "상대가 응답하지 않습니다");
	(void)poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, LOOK_MS);
	return JL_OK;
}

enum jl_status jl_wire_receive(int fd, const struct jl_wire_wait *wait, struct jl_wire_message *ret, struct jl_err *err)
{
	unsigned char bytes[JL_WIRE_MESSAGE_B];
	size_t at = 0;
	enum jl_status status = JL_OK;

	while (at < sizeof(bytes) && !status) {
		const ssize_t n = recv(fd, bytes + at, sizeof(bytes) - at, MSG_DONTWAIT);

		if (n > 0) {
			at += (size_t)n;
			if (!jl_wire_plausible(bytes, at))
				status = jl_fail(err, JL_E_DATA, "the other side is no rank of jeoul",
						 "상대가 jeoul 랭크가 아닙니다");
		} else if (n == 0) {
			status = lost(0, err);
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			status = wait_for(fd, wait, err);
		} else if (errno != EINTR) {
			status = lost(errno, err);
		}
	}
	if (!status)
		jl_wire_unpack(bytes, ret);
	return status;
}

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
	int why;

	if (fd < 0)
		return -1;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	no_delay(fd); /* what is accepted inherits it */
	if (bind(fd, own, len) == 0 && listen(fd, SOMAXCONN) == 0)
		return fd;
	why = errno;
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

const char *jl_wire_name(char ret_name[JL_WIRE_NAME_MAX], const union jl_wire_address *a)
{
	if (getnameinfo(&a->any, jl_wire_len(a), ret_name, JL_WIRE_NAME_MAX, NULL, 0, NI_NUMERICHOST) != 0)
		(void)snprintf(ret_name, JL_WIRE_NAME_MAX, "?");
	return ret_name;
}
