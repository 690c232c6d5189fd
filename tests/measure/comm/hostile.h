/* Peers that lie, stall or speak something else, for the tests of both listeners. Loopback only. */
#ifndef TESTS_COMM_HOSTILE_H
#define TESTS_COMM_HOSTILE_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "comm/wire.h"

static inline void nap(double s)
{
	const struct timespec t = { .tv_sec = (time_t)s, .tv_nsec = (long)(1e9 * (s - (double)(time_t)s)) };

	(void)nanosleep(&t, NULL);
}

/* A connection from 127.0.0.`host`; -1: none. */
static inline int knock_from(int host, int port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) }, from = to;
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	from.sin_addr.s_addr = htonl(0x7f000000u + (uint32_t)host);
	from.sin_port = 0;
	if (fd >= 0 && bind(fd, (struct sockaddr *)&from, sizeof(from)) == 0 &&
	    connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
		return fd;
	if (fd >= 0)
		(void)close(fd);
	return -1;
}

static inline int knock(int port)
{
	return knock_from(1, port);
}

/* Says hello and proves what is asked, as a real peer would. */
static inline enum jl_status pass(int fd, const char *what, uint64_t who, uint64_t tag)
{
	struct jl_wire_message hello = { .n = { who, tag } };
	const struct jl_wire_secret secret = { .given = false };
	const struct jl_wire_wait wait = { .end_s = jl_clock_s() + 5 };

	(void)snprintf(hello.text, sizeof(hello.text), "%s", what);
	return jl_wire_greet(fd, "127.0.0.1", &hello, &secret, &wait, NULL);
}

/* The next word that comes, 0: none. */
static inline uint32_t word_from(int fd, struct jl_wire_message *ret)
{
	return jl_wire_receive(fd, &(struct jl_wire_wait){ .end_s = jl_clock_s() + 5 }, ret, NULL) ? 0 : ret->word;
}

/* Kinds of strangers; all of them together are a scan of the port by somebody who read our source. */
enum hostile { IDLE, BROWSER, HALF, GARBAGE, OLD, WRONG_WORD, NO_PROOF, BAD_PROOF, OTHER_PURPOSE, N_HOSTILE };

static inline void misbehave_as(int fd, enum hostile kind, const char *what)
{
	static const char http[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
	unsigned char bytes[JL_WIRE_MESSAGE_B];
	struct jl_wire_message m = { .word = JL_WIRE_HELLO, .n = { 1, 0, JL_WIRE_BYTE_ORDER, 7, 7 } };
	size_t n = sizeof(bytes);

	(void)snprintf(m.text, sizeof(m.text), "%s", kind == OTHER_PURPOSE ? "bench dancing" : what);
	if (kind == WRONG_WORD)
		m = (struct jl_wire_message){ .word = JL_WIRE_RATES, .n = { UINT64_MAX, UINT64_MAX } };
	jl_wire_pack(bytes, &m);
	if (kind == IDLE)
		return;
	if (kind == BROWSER)
		n = sizeof(http) - 1, memcpy(bytes, http, n);
	if (kind == HALF)
		n = 40;
	if (kind == GARBAGE)
		memset(bytes + 8, 0xff, sizeof(bytes) - 8);
	if (kind == OLD)
		bytes[11] = 99;
	(void)send(fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (kind == BAD_PROOF) {
		jl_wire_pack(bytes, &(struct jl_wire_message){ .word = JL_WIRE_PROVE, .n = { 1, 2, 3, 4 } });
		(void)send(fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
	}
}

#endif
