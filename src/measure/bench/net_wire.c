#include "bench/net_wire.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static const unsigned char magic[8] = { 'j', 'e', 'o', 'u', 'l', 'n', 'e', 't' };

#define MESSAGE_B 40

void net_number(unsigned char ret[8], uint64_t value)
{
	for (int i = 0; i < 8; i++)
		ret[i] = (unsigned char)(value >> (56 - 8 * i));
}

uint64_t net_value(const unsigned char bytes[8])
{
	uint64_t value = 0;

	for (int i = 0; i < 8; i++)
		value = value << 8 | bytes[i];
	return value;
}

void net_options(int fd, double wait_s)
{
	const struct timeval wait = { .tv_sec = (time_t)wait_s,
				      .tv_usec = (suseconds_t)(1e6 * (wait_s - (double)(time_t)wait_s)) };
	const int on = 1;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
}

static enum jl_status lost(int why, struct jl_err *err)
{
	if (why == EAGAIN || why == EWOULDBLOCK)
		return jl_fail(err, JL_E_IO, "the other side does not answer", "상대가 응답하지 않습니다");
	if (why == 0)
		return jl_fail(err, JL_E_IO, "the other side closed the connection", "상대가 연결을 닫았습니다");
	return jl_fail(err, JL_E_IO, "connection lost: %s", "연결이 끊겼습니다: %s", strerror(why));
}

enum jl_status net_write(int fd, const void *data, size_t size_B, struct jl_err *err)
{
	const char *at = data;

	while (size_B) {
		const ssize_t n = send(fd, at, size_B, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return lost(n < 0 ? errno : 0, err);
		at += n;
		size_B -= (size_t)n;
	}
	return JL_OK;
}

enum jl_status net_read(int fd, void *ret_data, size_t size_B, struct jl_err *err)
{
	char *at = ret_data;

	while (size_B) {
		const ssize_t n = recv(fd, at, size_B, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return lost(n < 0 ? errno : 0, err);
		at += n;
		size_B -= (size_t)n;
	}
	return JL_OK;
}

enum jl_status net_send(int fd, const struct net_message *m, struct jl_err *err)
{
	unsigned char bytes[MESSAGE_B];

	memcpy(bytes, magic, 8);
	net_number(bytes + 8, (uint64_t)m->version << 32 | m->word);
	net_number(bytes + 16, m->a);
	net_number(bytes + 24, m->b);
	net_number(bytes + 32, m->c);
	return net_write(fd, bytes, sizeof(bytes), err);
}

enum jl_status net_receive(int fd, struct net_message *ret_message, struct jl_err *err)
{
	unsigned char bytes[MESSAGE_B];
	uint64_t words;
	enum jl_status status = net_read(fd, bytes, 8, err);

	/* somebody else's protocol may be shorter: its first bytes already tell */
	if (!status && memcmp(bytes, magic, 8) != 0)
		return jl_fail(err, JL_E_DATA, "the other side is not 'jeoul bench net'",
			       "상대가 'jeoul bench net'이 아닙니다");
	if (!status)
		status = net_read(fd, bytes + 8, sizeof(bytes) - 8, err);
	if (status)
		return status;
	words = net_value(bytes + 8);
	*ret_message = (struct net_message){ .word = (uint32_t)words,
					     .version = (uint32_t)(words >> 32),
					     .a = net_value(bytes + 16),
					     .b = net_value(bytes + 24),
					     .c = net_value(bytes + 32) };
	return JL_OK;
}
