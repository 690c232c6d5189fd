/* Detects hung ranks: a thread per rank answers UDP pings while the rank is inside MPI. */
#include "comm/mpi/rollcall.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

#define QUIET_S  5.0 /* a call may take this long before ranks are asked */
#define ANSWER_S 3.0 /* silent this long after being asked: stuck. The sum is less than JL_COMM_STUCK_S */
#define ASK_S    0.5
#define LOOK_MS  200

enum word { ASK = 0x6a6c3f3f, HERE = 0x6a6c2121 };

struct packet {
	uint32_t word, secret;
	int32_t from;
};

struct rollcall {
	int fd;
	uint32_t secret;
	const struct rollcall_card *cards;
	int n, own;
	void (*stuck)(int rank);
	pthread_t thread;
	_Atomic bool ending;
	/* odd: inside MPI. A counter is the only bookkeeping cheap enough for a call of 0.4 µs */
	_Atomic uint64_t n_crossed;
	double *heard_s; /* last answer of each rank; 0: never answered, not judged */
};

static void fill_addresses(struct rollcall_card *card)
{
	struct ifaddrs *all = NULL;
	size_t n = 0;

	if (getifaddrs(&all) != 0)
		return;
	/* other interfaces first; loopback is for ranks on the same host */
	for (int loopback = 0; loopback < 2; loopback++)
		for (struct ifaddrs *a = all; a && n < ROLLCALL_ADDRESSES; a = a->ifa_next) {
			if (!a->ifa_addr || a->ifa_addr->sa_family != AF_INET || !(a->ifa_flags & IFF_UP) ||
			    !!(a->ifa_flags & IFF_LOOPBACK) != loopback)
				continue;
			card->addresses[n++] = ((struct sockaddr_in *)(void *)a->ifa_addr)->sin_addr.s_addr;
		}
	freeifaddrs(all);
}

struct rollcall *rollcall_open(struct rollcall_card *ret_card)
{
	struct rollcall *r = calloc(1, sizeof(*r));
	struct sockaddr_in any = { .sin_family = AF_INET };
	socklen_t len = sizeof(any);

	memset(ret_card, 0, sizeof(*ret_card));
	if (!r)
		return NULL;
	r->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (r->fd < 0 || bind(r->fd, (struct sockaddr *)&any, sizeof(any)) != 0 ||
	    getsockname(r->fd, (struct sockaddr *)&any, &len) != 0 ||
	    getrandom(&ret_card->secret, sizeof(ret_card->secret), 0) != (ssize_t)sizeof(ret_card->secret)) {
		if (r->fd >= 0)
			(void)close(r->fd);
		free(r);
		return NULL;
	}
	ret_card->port = any.sin_port;
	fill_addresses(ret_card);
	r->secret = ret_card->secret;
	return r;
}

static void say_to(const struct rollcall *r, int rank, enum word word)
{
	const struct rollcall_card *card = &r->cards[rank];
	const struct packet packet = { .word = word, .secret = card->secret, .from = r->own };

	for (size_t i = 0; i < ROLLCALL_ADDRESSES && card->addresses[i] && card->port; i++) {
		struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = (in_port_t)card->port };

		to.sin_addr.s_addr = card->addresses[i];
		(void)sendto(r->fd, &packet, sizeof(packet), MSG_NOSIGNAL, (struct sockaddr *)&to, sizeof(to));
	}
}

static void hear(struct rollcall *r, double now_s)
{
	struct packet packet;

	for (int i = 0; i < 4096; i++) {
		if (recv(r->fd, &packet, sizeof(packet), 0) != (ssize_t)sizeof(packet))
			return;
		if (packet.secret != r->secret || packet.from < 0 || packet.from >= r->n)
			continue;
		r->heard_s[packet.from] = now_s;
		if (packet.word == ASK)
			say_to(r, packet.from, HERE);
	}
}

/* Returns a rank that answered before and is silent now. */
static int silent_rank(const struct rollcall *r, double asked_s, double now_s)
{
	for (int rank = 0; rank < r->n; rank++)
		if (rank != r->own && r->heard_s[rank] > 0 && r->heard_s[rank] < asked_s && now_s - asked_s > ANSWER_S)
			return rank;
	return -1;
}

static void *watch(void *ctx)
{
	struct rollcall *r = ctx;
	double asked_s = 0, last_s = 0, moved_s = jl_clock_s();
	uint64_t seen = 0;
	bool known = false;

	while (!atomic_load(&r->ending)) {
		struct pollfd wait = { .fd = r->fd, .events = POLLIN };
		const uint64_t crossed = atomic_load(&r->n_crossed);
		const double now_s = jl_clock_s();
		int rank;

		if (crossed != seen) {
			seen = crossed;
			moved_s = now_s;
		}
		bool long_call = (seen & 1) && now_s - moved_s > QUIET_S;
		if (!long_call)
			asked_s = 0;
		/* ask once at the start to learn which ranks are reachable, then only during long calls */
		if ((!known || long_call) && now_s - last_s > ASK_S) {
			for (rank = 0; rank < r->n; rank++)
				if (rank != r->own)
					say_to(r, rank, ASK);
			asked_s = long_call && asked_s == 0 ? now_s : asked_s;
			last_s = now_s;
			known = true;
			for (rank = 0; rank < r->n; rank++)
				known &= rank == r->own || r->heard_s[rank] > 0;
		}
		(void)poll(&wait, 1, LOOK_MS);
		hear(r, jl_clock_s());
		rank = asked_s > 0 ? silent_rank(r, asked_s, jl_clock_s()) : -1;
		if (rank >= 0) {
			r->stuck(rank);
			return NULL;
		}
	}
	return NULL;
}

void rollcall_start(struct rollcall *r, const struct rollcall_card *cards, int n, int own, void (*stuck)(int rank))
{
	sigset_t all, before;

	r->cards = cards;
	r->n = n;
	r->own = own;
	r->stuck = stuck;
	r->heard_s = calloc((size_t)n, sizeof(*r->heard_s));
	atomic_store(&r->ending, r->heard_s == NULL);
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	if (r->heard_s && pthread_create(&r->thread, NULL, watch, r) != 0)
		atomic_store(&r->ending, true);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void rollcall_cross(struct rollcall *r)
{
	if (r)
		atomic_store_explicit(&r->n_crossed, atomic_load_explicit(&r->n_crossed, memory_order_relaxed) + 1,
				      memory_order_relaxed);
}

void rollcall_close(struct rollcall *r)
{
	if (!r)
		return;
	if (!atomic_exchange(&r->ending, true))
		(void)pthread_join(r->thread, NULL);
	(void)close(r->fd);
	free(r->heard_s);
	free(r);
}
