/* TCP over loopback: the two ends agree; a listener survives peers that lie, stall or speak something else. */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../comm/hostile.h"
#include "bench/net.h"

struct server {
	struct jl_net_listener listener;
	pthread_t thread;
	_Atomic bool ending;
	_Atomic int n_fine, n_bad;
};

static bool ending(void *ctx)
{
	return atomic_load(&((struct server *)ctx)->ending);
}

static void seen(void *ctx, const char *peer, const struct jl_err *how)
{
	struct server *s = ctx;

	assert_int_equal(strncmp(peer, "127.0.0.", 8), 0);
	if (how)
		s->n_bad++;
	else
		s->n_fine++;
}

static void *serve(void *ctx)
{
	(void)jl_net_serve(&((struct server *)ctx)->listener, NULL);
	return NULL;
}

static int set_up(void **state)
{
	struct server *s = calloc(1, sizeof(*s));
	struct jl_err err = { 0 };

	s->listener = (struct jl_net_listener){ .door = { .fd = -1 }, .stop = ending, .seen = seen, .ctx = s };
	*state = s;
	return jl_net_listen(&s->listener, NULL, 0, &err) || pthread_create(&s->thread, NULL, serve, s);
}

static int tear_down(void **state)
{
	struct server *s = *state;

	atomic_store(&s->ending, true);
	(void)pthread_join(s->thread, NULL);
	jl_net_unlisten(&s->listener);
	free(s);
	return 0;
}

static enum jl_status dial(int port, struct jl_net_client **ret, struct jl_err *err)
{
	const struct jl_wire_peer peer = { .host = "127.0.0.1", .port = port, .what = JL_NET_WHAT };

	return jl_net_connect(ret, &peer, err);
}

static void both_ends_agree(void **state)
{
	struct server *s = *state;
	struct jl_net_client *client;
	static struct jl_net_latency latency;
	static struct jl_net_result result;
	struct jl_err err = { 0 };

	assert_int_equal(dial(s->listener.port, &client, &err), JL_OK);
	assert_int_equal(jl_net_ping(client, 50, &latency, &err), JL_OK);
	assert_int_equal(latency.n_samples, 50);
	assert_true(latency.round_s.median > 0);
	for (int direction = JL_NET_SEND; direction <= JL_NET_BOTH; direction++) {
		assert_int_equal(jl_net_transfer(client, (enum jl_net_direction)direction, 2, 0.5, &result, &err),
				 JL_OK);
		assert_true((result.send.n_samples > 0) == (direction != JL_NET_RECEIVE));
		assert_true((result.receive.n_samples > 0) == (direction != JL_NET_SEND));
		if (direction & JL_NET_SEND)
			assert_true(result.send.rate_Bps.max > 1e6);
		assert_true(jl_net_wire_Bps(&result, 1e9) > 1e9);
	}
	assert_int_equal(jl_net_transfer(client, JL_NET_SEND, 1000, 1, &result, &err), JL_E_RANGE);
	jl_net_close(client);
}

static void still_serves(struct server *s)
{
	struct jl_net_client *client;
	struct jl_err err = { 0 };
	static struct jl_net_latency latency;
	enum jl_status status = dial(s->listener.port, &client, &err);

	if (status)
		print_error("%s\n", err.en);
	assert_int_equal(status, JL_OK);
	assert_int_equal(jl_net_ping(client, 5, &latency, &err), JL_OK);
	jl_net_close(client);
}

static void ask(int fd, uint64_t direction, uint64_t n_streams, uint64_t ms)
{
	assert_int_equal(
		jl_wire_send(fd, &(struct jl_wire_message){ .word = JL_WIRE_TEST, .n = { direction, n_streams, ms } },
			     NULL),
		JL_OK);
}

static void hostile_peers_are_survived(void **state)
{
	struct server *s = *state;
	struct jl_wire_message m;
	int fds[N_HOSTILE], fd;

	for (int kind = 0; kind < N_HOSTILE; kind++) {
		fds[kind] = knock(s->listener.port);
		misbehave_as(fds[kind], (enum hostile)kind, JL_NET_WHAT);
	}
	still_serves(s);
	/* another version is numbers so, and so is somebody who came for something else */
	assert_int_equal(word_from(fds[OLD], &m), JL_WIRE_VERSION_IS);
	fd = knock(s->listener.port);
	assert_int_equal(pass(fd, "bench allreduce", 0, 0), JL_OK);
	assert_int_equal(word_from(fd, &m), JL_WIRE_OTHER);
	assert_string_equal(m.text, JL_NET_WHAT);
	(void)close(fd);
	for (int kind = 0; kind < N_HOSTILE; kind++)
		(void)close(fds[kind]);
	/* a session that does not exist */
	fd = knock(s->listener.port);
	assert_int_equal(pass(fd, JL_NET_WHAT, 0, 42), JL_OK);
	assert_int_equal(word_from(fd, &m), JL_WIRE_REFUSED);
	(void)close(fd);
	/* wants more than anybody should get */
	fd = knock_from(2, s->listener.port);
	assert_int_equal(pass(fd, JL_NET_WHAT, 0, 0), JL_OK);
	assert_int_equal(word_from(fd, &m), JL_WIRE_SESSION);
	ask(fd, 3, 1u << 31, UINT64_MAX);
	assert_int_equal(word_from(fd, &m), 0); /* closed */
	(void)close(fd);
	/* comes back at once */
	fd = knock_from(2, s->listener.port);
	assert_int_equal(pass(fd, JL_NET_WHAT, 0, 0), JL_E_LIMIT);
	(void)close(fd);
	/* asks for streams and never opens them */
	fd = knock_from(3, s->listener.port);
	assert_int_equal(pass(fd, JL_NET_WHAT, 0, 0), JL_OK);
	assert_int_equal(word_from(fd, &m), JL_WIRE_SESSION);
	ask(fd, 1, 4, 500);
	(void)close(fd);
	still_serves(s); /* it is numbers to wait, and does */
	assert_true(s->n_bad >= N_HOSTILE);
}

/* Nobody holds the listener by saying nothing, or a byte now and then; a client does not even notice ten of them. */
static void idlers_hold_nobody(void **state)
{
	struct server *s = *state;
	unsigned char bytes[JL_WIRE_MESSAGE_B];
	int idle[10], slow = knock_from(2, s->listener.port), member;
	struct jl_wire_message m;
	double start_s = jl_clock_s();

	for (int i = 0; i < 10; i++)
		idle[i] = knock_from(3, s->listener.port);
	jl_wire_pack(bytes, &(struct jl_wire_message){ .word = JL_WIRE_HELLO, .n = { 1, 0, JL_WIRE_BYTE_ORDER } });
	for (size_t i = 0; i < 3; i++) {
		(void)send(slow, bytes + i, 1, MSG_NOSIGNAL);
		still_serves(s);
		nap(0.85);
	}
	assert_true(jl_clock_s() - start_s < 10);
	assert_true(recv(slow, bytes, 1, 0) <= 0); /* sent away after a second */
	for (int i = 0; i < 10; i++) {
		assert_int_equal(recv(idle[i], bytes, 1, 0), 0);
		(void)close(idle[i]);
	}
	(void)close(slow);
	/* one that is let in and then says nothing has a second */
	member = knock_from(4, s->listener.port);
	start_s = jl_clock_s();
	assert_int_equal(pass(member, JL_NET_WHAT, 0, 0), JL_OK);
	assert_int_equal(word_from(member, &m), JL_WIRE_SESSION);
	still_serves(s);
	assert_true(jl_clock_s() - start_s < 5);
	(void)close(member);
}

/* One that says nothing, one that pings for ever, one that opens streams and moves nothing, from the address of the next client: that one
 * waits, and is served. */
static void *ping_for_ever(void *ctx)
{
	const int fd = *(const int *)ctx;
	struct jl_wire_message m;

	while (jl_wire_try_send(fd, &(struct jl_wire_message){ .word = JL_WIRE_PING }) && word_from(fd, &m))
		nap(1);
	return NULL;
}

static void a_place_is_for_who_uses_it(void **state)
{
	struct server *s = *state;

	for (int kind = 0; kind < 3; kind++) {
		int fd = knock(s->listener.port), stream = -1;
		struct jl_wire_message m;
		pthread_t thread;
		double start_s;

		while (pass(fd, JL_NET_WHAT, 0, 0)) { /* its address may still have to wait for the one before */
			(void)close(fd);
			nap(0.2);
			fd = knock(s->listener.port);
		}
		assert_int_equal(word_from(fd, &m), JL_WIRE_SESSION);
		start_s = jl_clock_s();
		if (kind == 1)
			assert_int_equal(pthread_create(&thread, NULL, ping_for_ever, (void *)(uintptr_t)&fd), 0);
		if (kind == 2) {
			ask(fd, JL_NET_SEND, 1, JL_WIRE_TIME_MAX_MS);
			stream = knock(s->listener.port);
			assert_int_equal(pass(stream, JL_NET_WHAT, 0, m.n[0]), JL_OK);
		}
		still_serves(s);
		print_message("%d: served after %.1f s\n", kind, jl_clock_s() - start_s);
		assert_true(jl_clock_s() - start_s < 12);
		if (kind == 1)
			(void)pthread_join(thread, NULL);
		(void)close(fd);
		(void)close(stream);
	}
	assert_true(s->n_bad <= 8); /* each of the three, and once that its address waits */
}

/* It is asked to stop while a client says nothing, while streams run, while it is at the door. */
static void a_listener_stops_at_once(void **state)
{
	struct server *s = *state;
	struct jl_wire_message m;
	const int fd = knock(s->listener.port);
	int streams[2];
	double start_s;

	assert_int_equal(pass(fd, JL_NET_WHAT, 0, 0), JL_OK);
	assert_int_equal(word_from(fd, &m), JL_WIRE_SESSION);
	ask(fd, JL_NET_BOTH, 2, JL_WIRE_TIME_MAX_MS);
	for (int i = 0; i < 2; i++) {
		streams[i] = knock(s->listener.port);
		assert_int_equal(pass(streams[i], JL_NET_WHAT, (uint64_t)i, m.n[0]), JL_OK);
	}
	assert_int_equal(word_from(fd, &m), JL_WIRE_GO);
	nap(0.3);
	start_s = jl_clock_s();
	atomic_store(&s->ending, true);
	(void)pthread_join(s->thread, NULL);
	assert_true(jl_clock_s() - start_s < 2);
	(void)close(streams[0]);
	(void)close(streams[1]);
	(void)close(fd);
	atomic_store(&s->ending, false);
	assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

/* Both sides must know the same secret, and it is never sent. */
static void a_secret_keeps_strangers_out(void **state)
{
	struct server *s = *state;
	struct jl_wire_peer peer = { .host = "127.0.0.1", .port = s->listener.port, .what = JL_NET_WHAT };
	static const unsigned char key[JL_SHA256_B] = "the key of both";
	static struct jl_net_latency latency;
	struct jl_net_client *client;
	struct jl_err err = { 0 };

	s->listener.door.secret.given = true;
	memcpy(s->listener.door.secret.key, key, sizeof(key));
	assert_int_equal(jl_net_connect(&client, &peer, &err), JL_E_USAGE);
	assert_non_null(strstr(err.en, "--secret-file"));
	peer.secret.given = true;
	assert_int_equal(jl_net_connect(&client, &peer, &err), JL_E_USAGE);
	assert_non_null(strstr(err.en, "another secret"));
	memcpy(peer.secret.key, key, sizeof(key));
	assert_int_equal(jl_net_connect(&client, &peer, &err), JL_OK);
	assert_int_equal(jl_net_ping(client, 5, &latency, &err), JL_OK);
	jl_net_close(client);
	s->listener.door.secret = (struct jl_wire_secret){ .given = false };
	assert_int_equal(jl_net_connect(&client, &peer, &err), JL_E_USAGE);
	assert_non_null(strstr(err.en, "has no secret"));
}

/* A listener that lies: about the secret, about what it received. */
struct liar {
	int fd;
	bool about_secret;
	bool silent; /* after GO, and sends nothing */
	bool takes;  /* what is sent to it */
	uint64_t n_rates, rate;
};

static int open_to(int listening, const struct liar *liar)
{
	struct jl_wire_message hello, m, challenge = { .word = JL_WIRE_CHALLENGE }, proven = { .word = JL_WIRE_PROVEN };
	const struct jl_wire_secret secret = { .given = false };
	unsigned char said[JL_WIRE_MESSAGE_B];
	const int fd = accept(listening, NULL, NULL);

	(void)word_from(fd, &hello);
	jl_wire_pack(said, &hello);
	(void)jl_wire_try_send(fd, &challenge);
	(void)word_from(fd, &m);
	jl_wire_proof(proven.n, &secret, liar->about_secret ? JL_WIRE_CONNECTS : JL_WIRE_LISTENS, said, &challenge);
	(void)jl_wire_try_send(fd, &proven);
	return fd;
}

static void *lie(void *ctx)
{
	const struct liar *liar = ctx;
	struct jl_wire_message m;
	static char bytes[1 << 16];
	int fd = open_to(liar->fd, liar), data;

	(void)jl_wire_try_send(fd, &(struct jl_wire_message){ .word = JL_WIRE_SESSION, .n = { 7 } });
	if (!liar->about_secret) {
		(void)word_from(fd, &m);
		data = open_to(liar->fd, liar);
		(void)jl_wire_try_send(fd, &(struct jl_wire_message){ .word = JL_WIRE_GO });
		while (liar->takes && recv(data, bytes, sizeof(bytes), 0) > 0)
			;
		if (!liar->silent)
			(void)jl_wire_try_send(
				fd, &(struct jl_wire_message){ .word = JL_WIRE_REPORT, .n = { liar->n_rates } });
		for (uint64_t i = 0; i < liar->n_rates && i < JL_NET_SAMPLES_MAX; i += JL_WIRE_NUMBERS)
			(void)jl_wire_try_send(
				fd, &(struct jl_wire_message){ .word = JL_WIRE_RATES,
							       .n = { liar->rate, liar->rate, liar->rate, liar->rate,
								      liar->rate, liar->rate } });
		while (liar->silent && recv(fd, bytes, 1, 0) > 0)
			;
		(void)close(data);
		nap(0.5);
	}
	(void)close(fd);
	return NULL;
}

static void lying_listeners_are_refused(void **state)
{
	struct liar liars[] = { { .about_secret = true },
				{ .n_rates = UINT64_MAX },
				{ .n_rates = 1, .rate = UINT64_MAX },
				{ .n_rates = 0 },
				{ .n_rates = 0, .takes = true },
				{ .n_rates = 6, .rate = 0, .takes = true },
				{ .n_rates = 6, .rate = JL_WIRE_RATE_MAX, .takes = true },
				{ .n_rates = JL_NET_SAMPLES_MAX, .rate = 1, .takes = true },
				{ .silent = true },
				{ .silent = true, .takes = true } };

	(void)state;
	for (size_t i = 0; i < sizeof(liars) / sizeof(*liars); i++) {
		struct jl_net_listener l = { .door = { .fd = -1 } };
		static struct jl_net_result result;
		struct jl_net_client *client = NULL;
		struct jl_err err = { 0 };
		enum jl_status status;
		const double start_s = jl_clock_s();
		pthread_t thread;
		char where[64];

		assert_int_equal(jl_net_listen(&l, NULL, 0, &err), JL_OK);
		liars[i].fd = l.door.fd;
		assert_int_equal(fcntl(l.door.fd, F_SETFL, 0), 0);
		assert_int_equal(pthread_create(&thread, NULL, lie, &liars[i]), 0);
		status = dial(l.port, &client, &err);
		if (!status)
			status = jl_net_transfer(client,
						 liars[i].silent && !liars[i].takes ? JL_NET_RECEIVE : JL_NET_SEND, 1,
						 0.5, &result, &err);
		print_message("%zu: %.1f s: %s\n", i, jl_clock_s() - start_s, err.en);
		assert_int_equal(status, liars[i].silent ? JL_E_IO : JL_E_DATA);
		assert_true(jl_clock_s() - start_s < JL_COMM_STUCK_S);
		(void)snprintf(where, sizeof(where), "127.0.0.1:%d", l.port);
		assert_non_null(strstr(err.en, where));
		jl_net_close(client);
		(void)pthread_join(thread, NULL);
		jl_net_unlisten(&l);
	}
}

static void nobody_there(void **state)
{
	struct jl_net_listener l = { .door = { .fd = -1 } };
	struct jl_net_client *client;
	struct jl_err err = { 0 };

	(void)state;
	assert_int_equal(jl_net_listen(&l, NULL, 0, &err), JL_OK);
	jl_net_unlisten(&l);
	assert_int_equal(dial(l.port, &client, &err), JL_E_IO);
	assert_non_null(strstr(err.en, "--listen"));
	assert_int_equal(jl_net_listen(&l, "not-an-address", 0, &err), JL_E_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(both_ends_agree, set_up, tear_down),
		cmocka_unit_test_setup_teardown(hostile_peers_are_survived, set_up, tear_down),
		cmocka_unit_test_setup_teardown(idlers_hold_nobody, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_place_is_for_who_uses_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_listener_stops_at_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_secret_keeps_strangers_out, set_up, tear_down),
		cmocka_unit_test(lying_listeners_are_refused),
		cmocka_unit_test(nobody_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
