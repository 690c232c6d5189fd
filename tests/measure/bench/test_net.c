/* TCP over loopback: the two ends agree; a listener survives peers that lie, stall or speak something else. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "bench/net.h"
#include "bench/net_wire.h"

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

	assert_string_equal(peer, "127.0.0.1");
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

	s->listener = (struct jl_net_listener){ .fd = -1, .stop = ending, .seen = seen, .ctx = s };
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

static void both_ends_agree(void **state)
{
	struct server *s = *state;
	struct jl_net_client *client;
	static struct jl_net_latency latency;
	static struct jl_net_result result;
	struct jl_err err = { 0 };

	assert_int_equal(jl_net_connect(&client, "127.0.0.1", s->listener.port, &err), JL_OK);
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

static int dial(const struct server *s)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)s->listener.port) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	net_options(fd, 5);
	return fd;
}

static void still_serves(struct server *s)
{
	struct jl_net_client *client;
	struct jl_err err = { 0 };
	static struct jl_net_latency latency;
	enum jl_status status = jl_net_connect(&client, "127.0.0.1", s->listener.port, &err);

	if (status)
		print_error("%s\n", err.en);
	assert_int_equal(status, JL_OK);
	assert_int_equal(jl_net_ping(client, 5, &latency, &err), JL_OK);
	jl_net_close(client);
}

static void hostile_peers_are_survived(void **state)
{
	struct server *s = *state;
	static const char http[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
	struct net_message m = { .word = NET_OK, .version = 99 };
	int fd = dial(s);

	/* another protocol */
	assert_int_equal(net_write(fd, http, sizeof(http), NULL), JL_OK);
	(void)close(fd);
	/* half a message, then silence */
	fd = dial(s);
	assert_int_equal(net_write(fd, "jeouln", 6, NULL), JL_OK);
	still_serves(s);
	(void)close(fd);
	/* another version is told so */
	fd = dial(s);
	assert_int_equal(net_send(fd, &m, NULL), JL_OK);
	assert_int_equal(net_receive(fd, &m, NULL), JL_OK);
	assert_int_equal(m.word, NET_VERSION);
	(void)close(fd);
	/* a session that does not exist */
	fd = dial(s);
	assert_int_equal(
		net_send(fd, &(struct net_message){ .word = NET_OK, .version = JL_NET_VERSION, .a = 42 }, NULL), JL_OK);
	assert_int_equal(net_receive(fd, &m, NULL), JL_OK);
	assert_int_equal(m.word, NET_REFUSED);
	(void)close(fd);
	/* wants more than anybody should get */
	fd = dial(s);
	assert_int_equal(net_send(fd, &(struct net_message){ .word = NET_OK, .version = JL_NET_VERSION }, NULL), JL_OK);
	assert_int_equal(net_receive(fd, &m, NULL), JL_OK);
	assert_int_equal(m.word, NET_OK);
	assert_int_equal(
		net_send(fd,
			 &(struct net_message){
				 .word = NET_TEST, .version = JL_NET_VERSION, .a = 3, .b = 1u << 31, .c = UINT64_MAX },
			 NULL),
		JL_OK);
	assert_int_equal(net_receive(fd, &m, NULL), JL_OK);
	assert_int_equal(m.word, NET_REFUSED);
	(void)close(fd);
	/* asks for streams and never opens them */
	fd = dial(s);
	assert_int_equal(net_send(fd, &(struct net_message){ .word = NET_OK, .version = JL_NET_VERSION }, NULL), JL_OK);
	assert_int_equal(net_receive(fd, &m, NULL), JL_OK);
	assert_int_equal(
		net_send(fd,
			 &(struct net_message){ .word = NET_TEST, .version = JL_NET_VERSION, .a = 1, .b = 4, .c = 500 },
			 NULL),
		JL_OK);
	(void)close(fd);
	(void)sleep(6);
	still_serves(s);
	assert_true(s->n_bad >= 5);
}

/* A listener that lies about what it received. */
static void *lie(void *ctx)
{
	const int listening = *(int *)ctx;
	struct net_message m;
	int fd = accept(listening, NULL, NULL), data;

	net_options(fd, 5);
	(void)net_receive(fd, &m, NULL);
	(void)net_send(fd, &(struct net_message){ .word = NET_OK, .version = JL_NET_VERSION, .a = 7 }, NULL);
	(void)net_receive(fd, &m, NULL);
	data = accept(listening, NULL, NULL);
	(void)net_receive(data, &m, NULL);
	(void)net_send(data, &(struct net_message){ .word = NET_OK, .version = JL_NET_VERSION }, NULL);
	(void)net_send(fd, &(struct net_message){ .word = NET_GO, .version = JL_NET_VERSION }, NULL);
	(void)net_send(fd, &(struct net_message){ .word = NET_REPORT, .version = JL_NET_VERSION, .a = UINT64_MAX },
		       NULL);
	(void)close(data);
	(void)sleep(1);
	(void)close(fd);
	return NULL;
}

static void a_lying_listener_is_refused(void **state)
{
	struct jl_net_listener l = { .fd = -1 };
	struct jl_net_client *client;
	static struct jl_net_result result;
	struct jl_err err = { 0 };
	pthread_t thread;
	int fd;

	(void)state;
	assert_int_equal(jl_net_listen(&l, NULL, 0, &err), JL_OK);
	fd = dup(l.fd);
	assert_int_equal(fcntl(fd, F_SETFL, 0), 0);
	assert_int_equal(pthread_create(&thread, NULL, lie, &fd), 0);
	assert_int_equal(jl_net_connect(&client, "127.0.0.1", l.port, &err), JL_OK);
	assert_int_equal(jl_net_transfer(client, JL_NET_SEND, 1, 0.5, &result, &err), JL_E_DATA);
	jl_net_close(client);
	(void)pthread_join(thread, NULL);
	(void)close(fd);
	jl_net_unlisten(&l);
}

static void nobody_there(void **state)
{
	struct jl_net_listener l = { .fd = -1 };
	struct jl_net_client *client;
	struct jl_err err = { 0 };

	(void)state;
	assert_int_equal(jl_net_listen(&l, NULL, 0, &err), JL_OK);
	jl_net_unlisten(&l);
	assert_int_equal(jl_net_connect(&client, "127.0.0.1", l.port, &err), JL_E_IO);
	assert_non_null(strstr(err.en, "--listen"));
	assert_int_equal(jl_net_listen(&l, "not-an-address", 0, &err), JL_E_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(both_ends_agree, set_up, tear_down),
		cmocka_unit_test_setup_teardown(hostile_peers_are_survived, set_up, tear_down),
		cmocka_unit_test(a_lying_listener_is_refused),
		cmocka_unit_test(nobody_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
