/* How ranks find each other. They connect to rank 0 and say what they came for; when all are there, rank 0 numbers them
 * and tells each where the others listen; every rank connects to those below it and lets in those above. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "comm/tcp.h"
#include "comm/tcp_door.h"

#define WAIT_S        600.0
#define CONNECT_S     5.0
#define RETRY_S       10.0 /* for a rank 0 that is about to be started */
#define STEP_S        15.0 /* for whatever a rank owes once all are there */
#define PORT_TRIES    8
#define BYTE_ORDER_IS ((uint64_t)(*(const unsigned char *)&(const uint16_t){ 1 }))

struct member {
	int fd; /* by which it joined; rank 0 has all of them, the others that to rank 0 */
	union jl_wire_address address;
	uint64_t host_id;
};

struct join {
	struct tcp_comm *c;
	const struct jl_comm_tcp *how;
	struct member *members; /* by rank */
	int n, own;
	uint64_t secret;
	struct tcp_door door;
	int port; /* of rank 0 */
};

static bool stop_asked(const struct join *j)
{
	return j->how->stop && j->how->stop(j->how->ctx);
}

/* Ranks with the same one share CPUs. */
static uint64_t own_host_id(const char *name)
{
	const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	char boot[64] = "";
	uint64_t hash = 0xcbf29ce484222325u;

	if (fd >= 0) {
		const ssize_t n = read(fd, boot, sizeof(boot) - 1);

		boot[n > 0 ? n : 0] = '\0';
		(void)close(fd);
	}
	for (const char *at = boot; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 0x100000001b3u;
	for (const char *at = name; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 0x100000001b3u;
	return hash;
}

static enum jl_status random_secret(struct join *j, struct jl_err *err)
{
	if (getrandom(&j->secret, sizeof(j->secret), 0) != (ssize_t)sizeof(j->secret))
		return jl_fail(err, JL_E_IO, "no random numbers: %s", "난수를 얻을 수 없습니다: %s", strerror(errno));
	return JL_OK;
}

static enum jl_status members_of(struct join *j, int n, struct jl_err *err)
{
	j->members = jl_realloc(NULL, (size_t)n * sizeof(*j->members));
	j->c->fds = jl_realloc(NULL, (size_t)n * sizeof(*j->c->fds));
	if (!j->members || !j->c->fds)
		return jl_fail_nomem(err);
	j->n = j->c->comm.n_ranks = n;
	for (int r = 0; r < n; r++) {
		j->members[r] = (struct member){ .fd = -1 };
		j->c->fds[r] = -1;
	}
	return JL_OK;
}

/* --- links: one connection for every two ranks */

static enum jl_status link_down(struct join *j, int rank, struct jl_err *err)
{
	const union jl_wire_address *address = &j->members[rank].address;
	char name[JL_WIRE_NAME_MAX];
	const int fd = jl_wire_connect(&address->any, jl_wire_len(address), CONNECT_S);

	if (fd < 0)
		return jl_fail(err, JL_E_IO, "rank %d at %s port %d cannot be reached from here: %s",
			       "랭크 %d(%s 포트 %d)에 연결할 수 없습니다: %s", rank, jl_wire_name(name, address),
			       jl_wire_port(address), strerror(errno));
	j->c->fds[rank] = fd;
	return jl_wire_send(fd, &(struct jl_wire_message){ .word = JL_WIRE_LINK, .n = { j->secret, (uint64_t)j->own } },
			    err);
}

/* Lets in the ranks above this one. */
static enum jl_status links_up(struct join *j, struct jl_err *err)
{
	const double end_s = jl_clock_s() + STEP_S;
	int n_left = j->n - 1 - j->own;

	while (n_left > 0) {
		struct jl_wire_message hello;
		struct tcp_guest guest;

		if (jl_clock_s() > end_s || stop_asked(j))
			return jl_fail(err, JL_E_IO, "%d ranks did not connect to rank %d: is a firewall in between?",
				       "랭크 %d개가 랭크 %d에 연결하지 않았습니다. 방화벽을 확인하세요", n_left,
				       j->own);
		if (jl_tcp_door_look(&j->door, &guest, &hello, NULL) != TCP_HELLO)
			continue;
		if (hello.version != JL_WIRE_VERSION || hello.word != JL_WIRE_LINK || hello.n[0] != j->secret ||
		    hello.n[1] <= (uint64_t)j->own || hello.n[1] >= (uint64_t)j->n || j->c->fds[hello.n[1]] >= 0) {
			(void)jl_wire_send(guest.fd, &(struct jl_wire_message){ .word = JL_WIRE_FULL }, NULL);
			(void)close(guest.fd);
			continue;
		}
		j->c->fds[hello.n[1]] = guest.fd;
		n_left--;
	}
	return JL_OK;
}

static enum jl_status link_all(struct join *j, struct jl_err *err)
{
	enum jl_status status = JL_OK;

	for (int r = 0; r < j->own && !status; r++)
		status = link_down(j, r, err);
	if (!status)
		status = links_up(j, err);
	return status;
}

/* --- rank 0 */

static enum jl_status open_door(struct join *j, struct jl_err *err)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC,
					.ai_socktype = SOCK_STREAM,
					.ai_flags = AI_PASSIVE | AI_NUMERICHOST };
	const char *address = j->how->listen ? j->how->listen : "127.0.0.1";
	struct addrinfo *found = NULL;
	union jl_wire_address bound;
	socklen_t len = sizeof(bound);
	char service[16];

	(void)snprintf(service, sizeof(service), "%d", j->how->port);
	if (getaddrinfo(address, service, &hints, &found) != 0)
		return jl_fail(err, JL_E_USAGE, "'%s' is no address of this host; write e.g. 127.0.0.1, 10.0.0.5 or ::",
			       "'%s'은(는) 이 호스트의 주소가 아닙니다. 예: 127.0.0.1, 10.0.0.5, ::", address);
	j->door.fd = jl_wire_listen(found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	if (j->door.fd < 0)
		return jl_fail(err, JL_E_IO, "cannot listen on %s port %d: %s", "%s 포트 %d에서 기다릴 수 없습니다: %s",
			       address, j->how->port, strerror(errno));
	if (getsockname(j->door.fd, &bound.any, &len) != 0)
		return jl_fail(err, JL_E_IO, "cannot listen on %s port %d: %s", "%s 포트 %d에서 기다릴 수 없습니다: %s",
			       address, j->how->port, strerror(errno));
	j->port = jl_wire_port(&bound);
	if (j->how->listening)
		j->how->listening(j->how->ctx, address, j->port);
	return JL_OK;
}

static enum jl_status check_guest(const struct join *j, int fd, const struct jl_wire_message *hello, struct jl_err *err)
{
	struct jl_wire_message answer = { .word = JL_WIRE_VERSION_IS };

	if (hello->version != JL_WIRE_VERSION || hello->n[2] != BYTE_ORDER_IS) {
		(void)jl_wire_send(fd, &answer, NULL);
		return jl_fail(err, JL_E_IO, "it is another version of jeoul: use the same on all hosts",
			       "다른 버전의 jeoul입니다. 모든 호스트에서 같은 것을 쓰세요");
	}
	answer.word = JL_WIRE_OTHER;
	(void)snprintf(answer.text, sizeof(answer.text), "%s", j->how->what);
	if (hello->word != JL_WIRE_JOIN || strcmp(hello->text, answer.text) != 0) {
		(void)jl_wire_send(fd, &answer, NULL);
		return jl_fail(err, JL_E_IO, "it came for '%s', not for '%s'", "'%s'을(를) 하러 왔습니다 ('%s' 아님)",
			       hello->text, answer.text);
	}
	if (hello->n[1] != j->how->tag) {
		answer.n[0] = 1;
		(void)jl_wire_send(fd, &answer, NULL);
		return jl_fail(err, JL_E_IO, "it was started with other options", "옵션이 다릅니다");
	}
	return JL_OK;
}

/* Who joined and left again before it began, is no member. */
static int drop_the_gone(struct join *j, int n_here)
{
	for (int r = 1; r < n_here; r++) {
		char byte;

		if (recv(j->members[r].fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0)
			continue;
		(void)close(j->members[r].fd);
		n_here--;
		memmove(&j->members[r], &j->members[r + 1], (size_t)(n_here - r) * sizeof(*j->members));
		j->members[n_here].fd = -1;
		r--;
	}
	return n_here;
}

static enum jl_status gather(struct join *j, struct jl_err *err)
{
	const double end_s = jl_clock_s() + (j->how->wait_s > 0 ? j->how->wait_s : WAIT_S);
	int n_here = 1;

	while (n_here < j->n) {
		struct jl_wire_message hello;
		struct tcp_guest guest;
		struct jl_err why = { 0 };
		char name[JL_WIRE_NAME_MAX];
		enum tcp_visit visit;
		bool good;

		if (stop_asked(j))
			return jl_fail(err, JL_E_IO, "stopped while %d of %d ranks were there",
				       "랭크 %d/%d개가 모였을 때 중단했습니다", n_here, j->n);
		if (jl_clock_s() > end_s)
			return jl_fail(err, JL_E_IO, "only %d of %d ranks came in time",
				       "시간 안에 랭크 %d/%d개만 모였습니다", n_here, j->n);
		visit = jl_tcp_door_look(&j->door, &guest, &hello, &why);
		n_here = drop_the_gone(j, n_here);
		if (visit == TCP_NOBODY)
			continue;
		good = visit == TCP_HELLO && check_guest(j, guest.fd, &hello, &why) == JL_OK;
		if (good)
			j->members[n_here++] =
				(struct member){ .fd = guest.fd, .address = guest.address, .host_id = hello.n[0] };
		else if (visit == TCP_HELLO)
			(void)close(guest.fd);
		if (j->how->seen)
			j->how->seen(j->how->ctx, jl_wire_name(name, &guest.address), n_here, good ? NULL : &why);
	}
	return JL_OK;
}

static enum jl_status of_rank(enum jl_status status, int rank, struct jl_err *err)
{
	const struct jl_err why = err ? *err : (struct jl_err){ 0 };

	return status ? jl_fail(err, status, "rank %d: %s%.0s", "랭크 %d: %.0s%s", rank, why.en, why.ko) : JL_OK;
}

static struct jl_wire_message peer_message(const struct join *j, int rank)
{
	const struct member *m = &j->members[rank];
	struct jl_wire_message message = { .word = JL_WIRE_PEER };
	uint64_t address[2] = { 0 };

	if (m->address.any.sa_family == AF_INET6)
		memcpy(address, &((const struct sockaddr_in6 *)(const void *)&m->address)->sin6_addr, 16);
	else
		memcpy(address, &((const struct sockaddr_in *)(const void *)&m->address)->sin_addr, 4);
	message.n[0] = (uint64_t)rank;
	message.n[1] = m->address.any.sa_family == AF_INET6 ? 6 : 4;
	message.n[2] = address[0];
	message.n[3] = address[1];
	message.n[4] = (uint64_t)jl_wire_port(&m->address);
	message.n[5] = m->host_id;
	return message;
}

static enum jl_status introduce(struct join *j, struct jl_err *err)
{
	const struct jl_wire_wait wait = { .end_s = jl_clock_s() + STEP_S, .stop = j->how->stop, .ctx = j->how->ctx };
	enum jl_status status = JL_OK;

	for (int r = 1; r < j->n && !status; r++)
		status = of_rank(jl_wire_send(j->members[r].fd,
					      &(struct jl_wire_message){ .word = JL_WIRE_WELCOME,
									 .n = { j->secret, (uint64_t)r, (uint64_t)j->n,
										(uint64_t)j->port } },
					      err),
				 r, err);
	for (int r = 1; r < j->n && !status; r++) {
		struct jl_wire_message ready;

		status = of_rank(jl_wire_receive(j->members[r].fd, &wait, &ready, err), r, err);
		if (!status && (ready.word != JL_WIRE_READY || ready.n[0] < 1 || ready.n[0] > 65535))
			status = jl_fail(err, JL_E_DATA, "rank %d says what makes no sense",
					 "랭크 %d의 말을 이해할 수 없습니다", r);
		if (!status)
			jl_wire_set_port(&j->members[r].address, (int)ready.n[0]);
	}
	for (int r = 1; r < j->n && !status; r++)
		for (int s = 0; s < j->n && !status; s++) {
			const struct jl_wire_message message = peer_message(j, s);

			status = of_rank(jl_wire_send(j->members[r].fd, &message, err), r, err);
		}
	return status;
}

static enum jl_status be_first(struct join *j, struct jl_err *err)
{
	enum jl_status status;

	if (j->how->n_ranks < 2 || j->how->n_ranks > JL_COMM_TCP_RANKS_MAX)
		return jl_fail(err, JL_E_RANGE, "%d ranks: write 2 to %d", "랭크 %d개: 2~%d개로 쓰세요",
			       j->how->n_ranks, JL_COMM_TCP_RANKS_MAX);
	status = members_of(j, j->how->n_ranks, err);
	if (!status)
		status = random_secret(j, err);
	if (!status)
		status = open_door(j, err);
	if (status)
		return status;
	j->members[0].host_id = own_host_id(j->c->host);
	j->members[0].address.any.sa_family = AF_INET; /* each rank knows better how it came here */
	status = gather(j, err);
	if (!status)
		status = introduce(j, err);
	return status ? status : link_all(j, err);
}

/* --- the others */

static int try_addresses(const struct addrinfo *found)
{
	int fd = -1;

	for (const struct addrinfo *a = found; a && fd < 0; a = a->ai_next)
		fd = jl_wire_connect(a->ai_addr, a->ai_addrlen, CONNECT_S);
	return fd;
}

static enum jl_status reach_first(struct join *j, int *ret_fd, struct jl_err *err)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
	const struct timespec nap = { .tv_nsec = 200000000 };
	const double end_s = jl_clock_s() + RETRY_S;
	struct addrinfo *found = NULL;
	char service[16];
	int why, fd;

	(void)snprintf(service, sizeof(service), "%d", j->how->port);
	why = getaddrinfo(j->how->to, service, &hints, &found);
	if (why)
		return jl_fail(err, JL_E_NOTFOUND, "host %s: %s", "호스트 %s: %s", j->how->to, gai_strerror(why));
	fd = try_addresses(found);
	while (fd < 0 && errno == ECONNREFUSED && jl_clock_s() < end_s && !stop_asked(j)) {
		(void)nanosleep(&nap, NULL);
		fd = try_addresses(found);
	}
	why = errno;
	freeaddrinfo(found);
	if (fd < 0)
		return jl_fail(err, JL_E_IO, "%s port %d: %s; is 'jeoul %s --listen' running there?",
			       "%s 포트 %d: %s. 상대에서 'jeoul %s --listen'을 실행했나요?", j->how->to, j->how->port,
			       strerror(why), j->how->what);
	*ret_fd = fd;
	return JL_OK;
}

static enum jl_status read_welcome(struct join *j, int fd, struct jl_wire_message *ret, struct jl_err *err)
{
	const double wait_s = j->how->wait_s > 0 ? j->how->wait_s : WAIT_S;
	const struct jl_wire_wait wait = { .end_s = jl_clock_s() + wait_s, .stop = j->how->stop, .ctx = j->how->ctx };
	enum jl_status status = jl_wire_receive(fd, &wait, ret, err);

	if (status)
		return status == JL_E_DATA
			       ? status
			       : jl_fail(err, status, "%s port %d: it gave up before all ranks were there",
					 "%s 포트 %d: 모든 랭크가 모이기 전에 끝났습니다", j->how->to, j->how->port);
	if (ret->version != JL_WIRE_VERSION || ret->word == JL_WIRE_VERSION_IS)
		return jl_fail(err, JL_E_IO, "%s runs another version of jeoul: use the same on all hosts",
			       "%s에서 다른 버전의 jeoul이 돌고 있습니다. 모든 호스트에서 같은 것을 "
			       "쓰세요",
			       j->how->to);
	if (ret->word == JL_WIRE_OTHER && ret->n[0] == 1)
		return jl_fail(err, JL_E_USAGE, "%s was started with other options: give the same on all hosts",
			       "%s의 옵션이 다릅니다. 모든 호스트에 같은 옵션을 주세요", j->how->to);
	if (ret->word == JL_WIRE_OTHER)
		return jl_fail(err, JL_E_USAGE, "%s waits for 'jeoul %s --to', not for '%s'",
			       "%s은(는) 'jeoul %s --to'를 기다립니다 ('%s' 아님)", j->how->to, ret->text,
			       j->how->what);
	if (ret->word == JL_WIRE_FULL)
		return jl_fail(err, JL_E_IO, "%s has all its ranks already", "%s에는 랭크가 이미 다 모였습니다",
			       j->how->to);
	if (ret->word != JL_WIRE_WELCOME || ret->n[2] < 2 || ret->n[2] > JL_COMM_TCP_RANKS_MAX || ret->n[1] < 1 ||
	    ret->n[1] >= ret->n[2] || ret->n[3] < 1 || ret->n[3] > 65535)
		return jl_fail(err, JL_E_DATA, "rank 0 says what makes no sense", "랭크 0의 말을 이해할 수 없습니다");
	return JL_OK;
}

/* Where the ranks above this one find it: the address by which it reached rank 0, a port near rank 0's. */
static enum jl_status open_own_door(struct join *j, struct jl_err *err)
{
	union jl_wire_address own;
	socklen_t len = sizeof(own);
	char name[JL_WIRE_NAME_MAX];

	if (getsockname(j->members[0].fd, &own.any, &len) != 0)
		return jl_fail(err, JL_E_IO, "no address: %s", "주소가 없습니다: %s", strerror(errno));
	for (int i = 0; i < PORT_TRIES && j->door.fd < 0; i++) {
		const int port = j->port + j->own + i * j->n;

		if (port > 65535)
			break;
		jl_wire_set_port(&own, port);
		j->door.fd = jl_wire_listen(&own.any, jl_wire_len(&own));
		if (j->door.fd >= 0)
			return jl_wire_send(j->members[0].fd,
					    &(struct jl_wire_message){ .word = JL_WIRE_READY, .n = { (uint64_t)port } },
					    err);
	}
	return jl_fail(err, JL_E_IO, "cannot listen on %s from port %d on: %s",
		       "%s 포트 %d부터 기다릴 수 있는 포트가 없습니다: %s", jl_wire_name(name, &own), j->port + j->own,
		       strerror(errno));
}

static enum jl_status read_peers(struct join *j, struct jl_err *err)
{
	const struct jl_wire_wait wait = { .end_s = jl_clock_s() + STEP_S, .stop = j->how->stop, .ctx = j->how->ctx };
	enum jl_status status = JL_OK;

	for (int r = 0; r < j->n && !status; r++) {
		struct jl_wire_message m;
		union jl_wire_address *to = &j->members[r].address;

		status = of_rank(jl_wire_receive(j->members[0].fd, &wait, &m, err), 0, err);
		if (status)
			break;
		if (m.word != JL_WIRE_PEER || m.n[0] != (uint64_t)r || (r && (m.n[4] < 1 || m.n[4] > 65535)))
			return jl_fail(err, JL_E_DATA, "rank 0 says what makes no sense",
				       "랭크 0의 말을 이해할 수 없습니다");
		j->members[r].host_id = m.n[5];
		if (r == 0) /* known already */
			continue;
		to->any.sa_family = m.n[1] == 6 ? AF_INET6 : AF_INET;
		if (m.n[1] == 6)
			memcpy(&((struct sockaddr_in6 *)(void *)to)->sin6_addr, &m.n[2], 16);
		else
			memcpy(&((struct sockaddr_in *)(void *)to)->sin_addr, &m.n[2], 4);
		jl_wire_set_port(to, (int)m.n[4]);
	}
	return status;
}

static enum jl_status be_other(struct join *j, struct jl_err *err)
{
	struct jl_wire_message hello = { .word = JL_WIRE_JOIN,
					 .n = { own_host_id(j->c->host), j->how->tag, BYTE_ORDER_IS } };
	struct jl_wire_message welcome;
	socklen_t len = sizeof(union jl_wire_address);
	int fd = -1;
	enum jl_status status = reach_first(j, &fd, err);

	if (status)
		return status;
	(void)snprintf(hello.text, sizeof(hello.text), "%s", j->how->what);
	status = jl_wire_send(fd, &hello, err);
	if (!status)
		status = read_welcome(j, fd, &welcome, err);
	if (!status)
		status = members_of(j, (int)welcome.n[2], err);
	if (status) {
		(void)close(fd);
		return status;
	}
	j->secret = welcome.n[0];
	j->own = (int)welcome.n[1];
	j->port = (int)welcome.n[3];
	j->members[0].fd = fd;
	(void)getpeername(fd, &j->members[0].address.any, &len);
	status = open_own_door(j, err);
	if (!status)
		status = read_peers(j, err);
	return status ? status : link_all(j, err);
}

/* --- */

static enum jl_status settle(struct join *j, int **ret_controls, struct jl_err *err)
{
	struct jl_comm *comm = &j->c->comm;
	int *controls = jl_realloc(NULL, (size_t)j->n * sizeof(*controls));

	if (!controls)
		return jl_fail_nomem(err);
	comm->rank = j->own;
	comm->local_rank = comm->n_local = 0;
	for (int r = 0; r < j->n; r++) {
		const bool here = j->members[r].host_id == j->members[j->own].host_id;

		comm->n_local += here;
		comm->local_rank += here && r < j->own;
		controls[r] = j->members[r].fd;
		j->members[r].fd = -1;
	}
	*ret_controls = controls;
	return JL_OK;
}

enum jl_status jl_tcp_join(struct tcp_comm *c, const struct jl_comm_tcp *how, int **ret_controls, struct jl_err *err)
{
	struct join j = { .c = c, .how = how, .door = { .fd = -1 } };
	enum jl_status status;

	if (gethostname(c->host, sizeof(c->host) - 1) != 0)
		(void)snprintf(c->host, sizeof(c->host), "localhost");
	status = how->to ? be_other(&j, err) : be_first(&j, err);
	if (!status)
		status = settle(&j, ret_controls, err);
	for (int r = 0; j.members && r < j.n; r++)
		if (j.members[r].fd >= 0)
			(void)close(j.members[r].fd);
	jl_tcp_door_close(&j.door);
	jl_free(j.members);
	return status;
}
