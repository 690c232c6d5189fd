/* The listening side of `bench net`. Checks every message of a peer; no peer can stop the listener. */
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench/net_flow.h"

#define USE_S         6.0 /* a session without a test for this long is ended */
#define FIRST_S       3.0 /* limit for an admitted client's first request; a busy machine may delay it */
#define SESSION_MAX_S 600.0
#define TESTS_MAX     64

struct session {
	struct jl_net_listener *listener;
	struct jl_wire_line line;
	union jl_wire_address address;
	uint64_t id;
	int n_tests, n_pings;
};

static bool stop_asked(const struct jl_net_listener *l)
{
	return l->stop && l->stop(l->ctx);
}

enum jl_status jl_net_listen(struct jl_net_listener *l, const char *address, int port, struct jl_err *err)
{
	l->port = port;
	return jl_wire_open(&address, &l->port, &l->door.fd, err);
}

void jl_net_unlisten(struct jl_net_listener *l)
{
	jl_door_close(&l->door);
}

static void seen(const struct jl_net_listener *l, const union jl_wire_address *address, const struct jl_err *how)
{
	char name[JL_WIRE_NAME_MAX];

	if (l->seen)
		l->seen(l->ctx, jl_wire_name(name, address), how);
}

/* Waits until `also` is readable or a client with this tag arrives, which is returned (tag 0: a new client). Refuses other clients. */
static bool look(struct jl_net_listener *l, uint64_t tag, int also, struct jl_guest *ret_guest)
{
	struct jl_wire_message other = { .word = JL_WIRE_OTHER, .text = JL_NET_WHAT };
	struct jl_err why;

	switch (jl_door_look(&l->door, also, ret_guest)) {
	case JL_NOBODY: return false;
	case JL_REFUSED:
		(void)jl_door_why(ret_guest, &why);
		seen(l, &ret_guest->address, &why);
		return false;
	case JL_HELLO: break;
	}
	if (strcmp(ret_guest->hello.text, JL_NET_WHAT) == 0 && ret_guest->hello.n[1] == tag)
		return true;
	if (strcmp(ret_guest->hello.text, JL_NET_WHAT) == 0)
		other = (struct jl_wire_message){ .word = tag ? JL_WIRE_BUSY : JL_WIRE_REFUSED };
	jl_door_refuse(ret_guest, &other);
	if (other.word == JL_WIRE_BUSY) /* busy clients retry */
		return false;
	(void)jl_fail(&why, JL_E_IO, "it is not part of this session");
	seen(l, &ret_guest->address, &why);
	return false;
}

static enum jl_status answer(const struct session *s, uint32_t word, uint64_t number, struct jl_err *err)
{
	return jl_wire_send(s->line.fd, &(struct jl_wire_message){ .word = word, .n = { number } }, err);
}

static enum jl_status gather(struct session *s, struct jl_net_streams *streams, int n, struct jl_err *err)
{
	const double end_s = jl_clock_s() + JL_NET_WAIT_S;
	struct jl_guest guest;

	while (streams->n < n) {
		if (jl_clock_s() > end_s || stop_asked(s->listener))
			return jl_fail(err, JL_E_RANGE, "only %d of %d streams came", streams->n, n);
		if (look(s->listener, s->id, -1, &guest))
			streams->fds[streams->n++] = guest.line.fd;
	}
	return JL_OK;
}

static enum jl_status report(const struct session *s, const struct jl_net_flow *flow, struct jl_err *err)
{
	enum jl_status status = answer(s, JL_WIRE_REPORT, flow->n_samples, err);

	for (size_t i = 0; i < flow->n_samples && !status; i += JL_WIRE_NUMBERS) {
		struct jl_wire_message rates = { .word = JL_WIRE_RATES };

		for (size_t k = 0; k < JL_WIRE_NUMBERS && i + k < flow->n_samples; k++)
			rates.n[k] = (uint64_t)flow->samples_Bps[i + k];
		status = jl_wire_send(s->line.fd, &rates, err);
	}
	return status;
}

static enum jl_status run_test(struct session *s, const struct jl_wire_message *wanted, struct jl_err *err)
{
	struct jl_net_streams streams = { .receives = wanted->n[0] & JL_NET_SEND, /* receives what the client sends */
					  .sends = wanted->n[0] & JL_NET_RECEIVE,
					  .time_s = 1e-3 * (double)wanted->n[2],
					  .stop = s->listener->stop,
					  .ctx = s->listener->ctx };
	struct jl_net_flow *flow = jl_realloc(NULL, sizeof(*flow));
	enum jl_status status = flow ? gather(s, &streams, (int)wanted->n[1], err) : jl_fail_nomem(err);

	JL_THEN(status, answer(s, JL_WIRE_GO, 0, err));
	JL_THEN(status, jl_net_run(&streams, flow, err) ? JL_E_RANGE : JL_OK);
	jl_net_close_streams(&streams);
	JL_THEN(status, report(s, flow, err));
	jl_free(flow);
	return status;
}

static enum jl_status obey(struct session *s, const struct jl_wire_message *m, struct jl_err *err)
{
	if (m->version != JL_WIRE_VERSION || (m->word != JL_WIRE_PING && m->word != JL_WIRE_TEST)) {
		(void)answer(s, JL_WIRE_REFUSED, 0, NULL);
		return jl_wire_nonsense(err);
	}
	if (m->word == JL_WIRE_PING ? ++s->n_pings > TESTS_MAX * JL_NET_PINGS_MAX : ++s->n_tests > TESTS_MAX) {
		(void)answer(s, JL_WIRE_REFUSED, 0, NULL);
		return jl_fail(err, JL_E_RANGE, "it asked for too much");
	}
	return m->word == JL_WIRE_PING ? jl_wire_send(s->line.fd, m, err) : run_test(s, m, err);
}

/* Serves one client. Each message has a deadline, even if it arrives in parts, and so has each test; pings alone do not extend the session.
 * Other clients get "busy" meanwhile. */
static enum jl_status converse(struct session *s, struct jl_err *err)
{
	const double end_s = jl_clock_s() + SESSION_MAX_S;
	double message_s = jl_clock_s() + FIRST_S, use_s = jl_clock_s() + USE_S;
	struct jl_guest guest;

	while (!stop_asked(s->listener)) {
		struct jl_wire_message m;
		bool whole;

		if (look(s->listener, s->id, s->line.fd, &guest)) /* a stream that was not requested */
			(void)close(guest.line.fd);
		enum jl_status status = jl_wire_take(&s->line, &whole, &m, err);
		if (!status && whole && m.version == JL_WIRE_VERSION && m.word == JL_WIRE_BYE)
			return JL_OK;
		if (!status && whole)
			status = obey(s, &m, err);
		if (status)
			return status;
		const double now_s = jl_clock_s();
		if (whole)
			message_s = now_s + JL_NET_WAIT_S;
		if (whole && m.word == JL_WIRE_TEST)
			use_s = now_s + USE_S;
		if (now_s > message_s || now_s > end_s)
			return jl_fail(err, JL_E_RANGE, "it stopped answering");
		if (now_s > use_s)
			return jl_fail(err, JL_E_RANGE, "it measures nothing and keeps others waiting");
	}
	return jl_fail(err, JL_E_IO, "stopped");
}

static enum jl_status serve_one(struct session *s, struct jl_err *err)
{
	enum jl_status status = JL_OK;

	while (s->id == 0 && !status) /* random, so that other clients cannot guess it */
		status = jl_wire_random(&s->id, sizeof(s->id), err);
	JL_THEN(status, answer(s, JL_WIRE_SESSION, s->id, err));
	JL_THEN(status, converse(s, err));
	(void)close(s->line.fd);
	if (status && status != JL_E_IO) /* report unless the client just left */
		jl_door_bar(&s->listener->door, &s->address);
	return status;
}

enum jl_status jl_net_serve(struct jl_net_listener *l, struct jl_err *err)
{
	(void)err;
	while (!stop_asked(l)) {
		struct jl_err why = { 0 };
		struct jl_guest guest;

		if (!look(l, 0, -1, &guest))
			continue;
		struct session s = (struct session){ .listener = l, .line = guest.line, .address = guest.address };
		enum jl_status status = serve_one(&s, &why);
		seen(l, &s.address, status ? &why : NULL);
		if (l->once && !status)
			break;
	}
	return JL_OK;
}
