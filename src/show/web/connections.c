/* Connection limits: time to send a request, and concurrent connections without one. libmicrohttpd limits only silence: a client sending a
 * byte now and then could hold a connection forever. Requests are not parsed here. */
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "web/inside.h"

#define CLIENTS      1024 /* counters, by hash of the address */
#define LOOK_EVERY_S 0.25
#define HEADS_EACH   64   /* per address, without a complete request within... */
#define HEADS_S      2.0  /* ... this time: above the limit, the oldest are closed */
#define FULL_FRAC    0.75 /* of all connections: above it, the oldest without a request are closed */

struct jl_web_connection {
	int fd;
	unsigned client; /* hash of its address */
	atomic_int phase;
	atomic_uint n_asked;
	_Atomic double since_s;
	struct jl_web_connection *prev, *next; /* ordered by age */
};

struct jl_web_connections {
	struct jl_web *web;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	struct jl_web_connection *first, *last;
	size_t n, n_max;
	bool ending;
	pthread_t thread;
};

void jl_web_client(unsigned char ret_client[16], struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = jl_mhd.get_connection_info(connection,
									  MHD_CONNECTION_INFO_CLIENT_ADDRESS);

	memset(ret_client, 0, 16);
	if (info && info->client_addr && info->client_addr->sa_family == AF_INET)
		memcpy(ret_client, &((const struct sockaddr_in *)(const void *)info->client_addr)->sin_addr, 4);
	else if (info && info->client_addr && info->client_addr->sa_family == AF_INET6)
		memcpy(ret_client, &((const struct sockaddr_in6 *)(const void *)info->client_addr)->sin6_addr, 16);
}

static void begin(struct jl_web_connections *all, struct MHD_Connection *connection, void **socket_context)
{
	const union MHD_ConnectionInfo *info = jl_mhd.get_connection_info(connection,
									  MHD_CONNECTION_INFO_CONNECTION_FD);
	struct jl_web_connection *c = jl_realloc(NULL, sizeof(*c));
	unsigned char client[16];

	if (!c)
		return;
	jl_web_client(client, connection);
	*c = (struct jl_web_connection){ .fd = info ? info->connect_fd : -1,
					 .client = (unsigned)(jl_hash_keyed(client, sizeof(client)) % CLIENTS),
					 .since_s = jl_clock_s() };
	pthread_mutex_lock(&all->lock);
	c->prev = all->last;
	*(c->prev ? &c->prev->next : &all->first) = c;
	all->last = c;
	all->n++;
	pthread_mutex_unlock(&all->lock);
	*socket_context = c;
}

/* Called before the library closes the socket: the descriptor is not reused while listed. */
static void end(struct jl_web_connections *all, void **socket_context)
{
	struct jl_web_connection *c = *socket_context;

	if (!c)
		return;
	pthread_mutex_lock(&all->lock);
	*(c->prev ? &c->prev->next : &all->first) = c->next;
	*(c->next ? &c->next->prev : &all->last) = c->prev;
	all->n--;
	pthread_mutex_unlock(&all->lock);
	jl_free(c);
	*socket_context = NULL;
}

void jl_web_connection_notify(void *ctx, struct MHD_Connection *connection, void **socket_context,
			      enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		begin(ctx, connection, socket_context);
	else
		end(ctx, socket_context);
}

void jl_web_connection_phase(struct MHD_Connection *connection, enum jl_web_phase phase)
{
	const union MHD_ConnectionInfo *info = jl_mhd.get_connection_info(connection,
									  MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct jl_web_connection *c = info ? info->socket_context : NULL;

	if (!c || atomic_load(&c->phase) == JL_WEB_CLOSING)
		return;
	atomic_fetch_add(&c->n_asked, phase == JL_WEB_ANSWERING);
	atomic_store(&c->since_s, jl_clock_s());
	atomic_store(&c->phase, (int)phase);
}

/* Requires the lock. */
static void close_slow(struct jl_web_connections *all, struct jl_web_connection *c)
{
	atomic_store(&c->phase, JL_WEB_CLOSING);
	(void)shutdown(c->fd, SHUT_RDWR); /* its thread detects the end and closes it */
	jl_web_log(all->web, JL_WEB_SLOW);
}

static double limit_s(const struct jl_web_connection *c)
{
	switch ((enum jl_web_phase)atomic_load(&c->phase)) {
	case JL_WEB_HEAD: return atomic_load(&c->n_asked) ? JL_WEB_IDLE_MAX_S : JL_WEB_HEAD_MAX_S;
	case JL_WEB_BODY: return JL_WEB_BODY_MAX_S;
	case JL_WEB_ANSWERING: return JL_WEB_SEND_MAX_S;
	case JL_WEB_CLOSING: break;
	}
	return 1e9;
}

/* Requires the lock: closes slow connections, excess connections of a client, and the oldest if room is short. */
static void look(struct jl_web_connections *all)
{
	const double now_s = jl_clock_s();
	unsigned n_heads[CLIENTS] = { 0 };
	size_t n_over = all->n > (size_t)(FULL_FRAC * (double)all->n_max)
				? all->n - (size_t)(FULL_FRAC * (double)all->n_max)
				: 0;

	for (const struct jl_web_connection *c = all->first; c; c = c->next)
		n_heads[c->client] += atomic_load(&c->phase) == JL_WEB_HEAD && !atomic_load(&c->n_asked) &&
				      now_s - atomic_load(&c->since_s) > HEADS_S;
	for (struct jl_web_connection *c = all->first; c; c = c->next) {
		const double age_s = now_s - atomic_load(&c->since_s);
		const bool head = atomic_load(&c->phase) == JL_WEB_HEAD, first = head && !atomic_load(&c->n_asked);
		const bool many = first && age_s > HEADS_S && n_heads[c->client] > HEADS_EACH;
		const bool crowds = head && n_over > 0 && age_s > (first ? LOOK_EVERY_S : HEADS_S);

		if (!many && !crowds && age_s <= limit_s(c))
			continue;
		n_heads[c->client] -= first && age_s > HEADS_S;
		n_over -= n_over > 0;
		close_slow(all, c);
	}
}

static void *watch(void *ctx)
{
	struct jl_web_connections *all = ctx;

	pthread_mutex_lock(&all->lock);
	while (!all->ending) {
		struct timespec next;

		look(all);
		(void)clock_gettime(CLOCK_REALTIME, &next);
		next.tv_nsec += (long)(1e9 * LOOK_EVERY_S);
		next.tv_sec += next.tv_nsec / 1000000000;
		next.tv_nsec %= 1000000000;
		(void)pthread_cond_timedwait(&all->ended, &all->lock, &next);
	}
	pthread_mutex_unlock(&all->lock);
	return NULL;
}

struct jl_web_connections *jl_web_connections_create(struct jl_web *web, size_t n_max)
{
	struct jl_web_connections *all = jl_realloc(NULL, sizeof(*all));

	if (!all)
		return NULL;
	*all = (struct jl_web_connections){ .web = web, .n_max = n_max };
	(void)pthread_mutex_init(&all->lock, NULL);
	(void)pthread_cond_init(&all->ended, NULL);
	if (pthread_create(&all->thread, NULL, watch, all) == 0)
		return all;
	jl_free(all);
	return NULL;
}

void jl_web_connections_destroy(struct jl_web_connections *all)
{
	if (!all)
		return;
	pthread_mutex_lock(&all->lock);
	all->ending = true;
	(void)pthread_cond_signal(&all->ended);
	pthread_mutex_unlock(&all->lock);
	(void)pthread_join(all->thread, NULL);
	(void)pthread_cond_destroy(&all->ended);
	(void)pthread_mutex_destroy(&all->lock);
	jl_free(all);
}
