/* Packs, checks, sends and receives control messages. */
#include "comm/wire.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/clock.h"

#define LOOK_MS 100
#define SEND_S  5.0

static const unsigned char magic[8] = { 'j', 'e', 'o', 'u', 'l', 't', 'c', 'p' };

struct limit {
	uint64_t least, most;
};

#define ANY                                                                                                            \
	{                                                                                                              \
		0, UINT64_MAX                                                                                          \
	}
#define YES_OR_NO                                                                                                      \
	{                                                                                                              \
		0, 1                                                                                                   \
	}
#define PORT                                                                                                           \
	{                                                                                                              \
		1, 65535                                                                                               \
	}
#define RATE                                                                                                           \
	{                                                                                                              \
		0, JL_WIRE_RATE_MAX                                                                                    \
	}

/* Limits of each word's numbers; numbers not listed must be 0. */
static const struct limit limits[JL_N_WIRE_WORD][JL_WIRE_NUMBERS] = {
	[JL_WIRE_HELLO] = { ANY, ANY, YES_OR_NO, ANY, ANY },
	[JL_WIRE_CHALLENGE] = { ANY, ANY, YES_OR_NO },
	[JL_WIRE_PROVE] = { ANY, ANY, ANY, ANY },
	[JL_WIRE_PROVEN] = { ANY, ANY, ANY, ANY },
	[JL_WIRE_SECRET] = { YES_OR_NO },
	[JL_WIRE_OTHER] = { YES_OR_NO },
	[JL_WIRE_WELCOME] = { ANY, { 1, JL_COMM_TCP_RANKS_MAX - 1 }, { 2, JL_COMM_TCP_RANKS_MAX }, PORT },
	[JL_WIRE_READY] = { PORT },
	[JL_WIRE_PEER] = { { 0, JL_COMM_TCP_RANKS_MAX - 1 }, { 4, 6 }, ANY, ANY, { 0, 65535 }, ANY },
	[JL_WIRE_HERE] = { ANY, ANY, { 0, JL_COMM_TCP_RANKS_MAX }, ANY, ANY },
	[JL_WIRE_GONE] = { { 0, JL_COMM_TCP_RANKS_MAX - 1 }, { 1, 5 } },
	[JL_WIRE_SESSION] = { { 1, UINT64_MAX } },
	[JL_WIRE_PING] = { { 0, JL_WIRE_PINGS_MAX } },
	[JL_WIRE_TEST] = { { 1, 3 }, { 1, JL_WIRE_STREAMS_MAX }, { 100, JL_WIRE_TIME_MAX_MS } },
	[JL_WIRE_REPORT] = { { 0, JL_WIRE_RATES_MAX } },
	[JL_WIRE_RATES] = { RATE, RATE, RATE, RATE, RATE, RATE },
};

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

/* True if the first `n` bytes can start a valid message. */
static bool plausible(const unsigned char *bytes, size_t n)
{
	return memcmp(bytes, magic, n < sizeof(magic) ? n : sizeof(magic)) == 0;
}

static bool within_limits(const struct jl_wire_message *m)
{
	if (m->word < JL_WIRE_HELLO || m->word >= JL_N_WIRE_WORD)
		return false;
	for (size_t i = 0; i < JL_WIRE_NUMBERS; i++)
		if (m->n[i] < limits[m->word][i].least || m->n[i] > limits[m->word][i].most)
			return false;
	return true;
}

/* Replaces unprintable characters and clears the bytes after the end of the text. */
static void clean_text(char text[JL_WIRE_TEXT_B])
{
	bool over = false;

	text[JL_WIRE_TEXT_B - 1] = '\0';
	for (size_t i = 0; i < JL_WIRE_TEXT_B; i++) {
		over |= text[i] == '\0';
		if (over)
			text[i] = '\0';
		else if (text[i] < ' ' || text[i] > '~')
			text[i] = '?';
	}
}

enum jl_status jl_wire_nonsense(struct jl_err *err)
{
	return jl_fail(err, JL_E_DATA, "the other side sent an invalid message");
}

enum jl_status jl_wire_from(enum jl_status status, const char *host, struct jl_err *err)
{
	const struct jl_err why = err ? *err : (struct jl_err){ 0 };

	return status ? jl_fail_from(err, status, NULL, &why, "%s: {}", host) : JL_OK;
}

static enum jl_status stranger(struct jl_err *err)
{
	return jl_fail(err, JL_E_DATA, "the other side is not jeoul");
}

enum jl_status jl_wire_unpack(const unsigned char bytes[JL_WIRE_MESSAGE_B], struct jl_wire_message *ret,
			      struct jl_err *err)
{
	const uint64_t words = get(bytes + 8);
	struct jl_wire_message m = { .word = (uint32_t)words, .version = (uint32_t)(words >> 32) };

	if (!plausible(bytes, JL_WIRE_MESSAGE_B))
		return stranger(err);
	if (m.version == JL_WIRE_VERSION) {
		for (size_t i = 0; i < JL_WIRE_NUMBERS; i++)
			m.n[i] = get(bytes + 16 + 8 * i);
		memcpy(m.text, bytes + 16 + (size_t)8 * JL_WIRE_NUMBERS, JL_WIRE_TEXT_B);
		clean_text(m.text);
		if (!within_limits(&m))
			return jl_wire_nonsense(err);
	}
	*ret = m;
	return JL_OK;
}

static enum jl_status lost(int why, struct jl_err *err)
{
	if (why == 0)
		return jl_fail(err, JL_E_IO, "the other side closed the connection");
	return jl_fail(err, JL_E_IO, "connection lost: {%s}", strerror(why));
}

enum jl_status jl_wire_take(struct jl_wire_line *line, bool *ret_whole, struct jl_wire_message *ret, struct jl_err *err)
{
	const ssize_t n = recv(line->fd, line->bytes + line->n, sizeof(line->bytes) - line->n, MSG_DONTWAIT);

	*ret_whole = false;
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
		return JL_OK;
	if (n <= 0)
		return lost(n < 0 ? errno : 0, err);
	line->n += (size_t)n;
	/* another protocol's greeting may be shorter than a message: check the first bytes */
	if (!plausible(line->bytes, line->n))
		return stranger(err);
	if (line->n < sizeof(line->bytes))
		return JL_OK;
	line->n = 0;
	*ret_whole = true;
	return jl_wire_unpack(line->bytes, ret, err);
}

bool jl_wire_try_send(int fd, const struct jl_wire_message *m)
{
	unsigned char bytes[JL_WIRE_MESSAGE_B];

	jl_wire_pack(bytes, m);
	return send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof(bytes);
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

enum jl_status jl_wire_receive(int fd, const struct jl_wire_wait *wait, struct jl_wire_message *ret, struct jl_err *err)
{
	struct jl_wire_line line = { .fd = fd };

	for (;;) {
		/* polls first, which saves a system call per ping */
		const bool some = poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, LOOK_MS) > 0;
		bool whole = false;
		const enum jl_status status = some ? jl_wire_take(&line, &whole, ret, err) : JL_OK;

		if (status || whole)
			return status;
		if (wait->stop && wait->stop(wait->ctx))
			return jl_fail(err, JL_E_IO, "stopped");
		if (jl_clock_s() > wait->end_s)
			return jl_fail(err, JL_E_IO, "the other side does not answer");
	}
}
