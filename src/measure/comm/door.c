#include "comm/tcp_door.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define HELLO_S 1.0
#define LOOK_MS 100

static void let_in(struct tcp_door *door)
{
	struct tcp_guest *guest = &door->guests[door->n];
	socklen_t len = sizeof(guest->address);
	const int on = 1;

	*guest = (struct tcp_guest){ .end_s = jl_clock_s() + HELLO_S };
	guest->fd = accept4(door->fd, &guest->address.any, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (guest->fd < 0)
		return;
	(void)setsockopt(guest->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	door->n++;
}

static enum jl_status listen_to(struct tcp_guest *guest, struct jl_err *err)
{
	const ssize_t n = recv(guest->fd, guest->bytes + guest->n, sizeof(guest->bytes) - guest->n, MSG_DONTWAIT);

	if (n == 0)
		return jl_fail(err, JL_E_IO, "it closed the connection without a word",
			       "아무 말 없이 연결을 닫았습니다");
	if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
		return jl_fail(err, JL_E_IO, "connection lost: %s", "연결이 끊겼습니다: %s", strerror(errno));
	guest->n += n > 0 ? (size_t)n : 0;
	if (!jl_wire_plausible(guest->bytes, guest->n))
		return jl_fail(err, JL_E_DATA, "it is no rank of jeoul", "jeoul 랭크가 아닙니다");
	if (guest->n < sizeof(guest->bytes) && jl_clock_s() > guest->end_s)
		return jl_fail(err, JL_E_IO, "it does not say who it is", "누구인지 밝히지 않습니다");
	return JL_OK;
}

enum tcp_visit jl_tcp_door_look(struct tcp_door *door, struct tcp_guest *ret_guest, struct jl_wire_message *ret_hello,
				struct jl_err *err)
{
	struct pollfd fds[TCP_GUESTS_MAX + 1];

	for (size_t i = 0; i < door->n; i++)
		fds[i] = (struct pollfd){ .fd = door->guests[i].fd, .events = POLLIN };
	/* who finds no room waits in the queue of the kernel */
	fds[door->n] = (struct pollfd){ .fd = door->n < TCP_GUESTS_MAX ? door->fd : -1, .events = POLLIN };
	if (poll(fds, (nfds_t)door->n + 1, LOOK_MS) > 0 && fds[door->n].revents)
		let_in(door);
	for (size_t i = 0; i < door->n; i++) {
		struct tcp_guest *guest = &door->guests[i];
		const bool bad = listen_to(guest, err) != JL_OK;

		if (!bad && guest->n < sizeof(guest->bytes))
			continue;
		*ret_guest = *guest;
		*guest = door->guests[--door->n];
		if (bad) {
			(void)close(ret_guest->fd);
			return TCP_REFUSED;
		}
		jl_wire_unpack(ret_guest->bytes, ret_hello);
		return TCP_HELLO;
	}
	return TCP_NOBODY;
}

void jl_tcp_door_close(struct tcp_door *door)
{
	for (size_t i = 0; i < door->n; i++)
		(void)close(door->guests[i].fd);
	door->n = 0;
	if (door->fd >= 0)
		(void)close(door->fd);
	door->fd = -1;
}
