/* Connects the ranks. All connect to rank 0, which numbers them in order of arrival; each rank opens a listening socket and reports its address.
 * The first client that is ready gets the next rank, so that a silent client delays no other. When all are ready, rank 0 sends all addresses to
 * all ranks; each rank connects to lower ranks and accepts higher ones. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "comm/door.h"
#include "comm/tcp.h"

#define WAIT_S     600.0
#define CONNECT_S  5.0
#define READY_S    3.0 /* from WELCOME to READY */
#define STEP_S     8.0 /* per step once all ranks have joined; less than JL_COMM_STUCK_S */
#define TELL_S     1.0 /* interval of rank 0's "still waiting" messages */
#define PORT_TRIES 8
#define GUESTS_MAX 256 /* welcomed clients that are not ready yet */
#define PORT_MAX   65535
#define LINK       "link" /* purpose of a data connection */

struct member {
	struct jl_wire_line line; /* connection it joined by; rank 0 has one per rank, others only the one to rank 0 */
	union jl_wire_address address;
	uint64_t host_id;
	int rank;     /* guest: the rank it gets if it is ready in time */
	double end_s; /* guest: deadline */
};

struct join {
	struct tcp_comm *c;
	const struct jl_comm_tcp *how;
	struct member *members; /* by rank; on rank 0 followed by its guests */
	int n, own;
	uint64_t session;
	struct jl_door *door;
	int port; /* rank 0's port */
};

static bool stop_asked(const struct join *j)
{
	return j->how->stop && j->how->stop(j->how->ctx);
}

/* Equal for ranks that share CPUs. */
static uint64_t own_host_id(const char *name)
{
	const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	char boot[64] = "";

	if (fd >= 0) {
		const ssize_t n = read(fd, boot, sizeof(boot) - 1);

		boot[n > 0 ? n : 0] = '\0';
		(void)close(fd);
	}
	return jl_hash(jl_hash(JL_HASH_START, boot, strlen(boot)), name, strlen(name));
}

static enum jl_status members_of(struct join *j, int n, struct jl_err *err)
{
	j->members = jl_realloc(NULL, ((size_t)n + GUESTS_MAX) * sizeof(*j->members));
	j->c->fds = jl_realloc(NULL, (size_t)n * sizeof(*j->c->fds));
	JL_TRY(jl_got(j->members && j->c->fds, err));
	j->n = j->c->comm.n_ranks = n;
	for (int i = 0; i < n + GUESTS_MAX; i++)
		j->members[i] = (struct member){ .line = { .fd = -1 } };
	for (int r = 0; r < n; r++)
		j->c->fds[r] = -1;
	return JL_OK;
}

static enum jl_status of_rank(enum jl_status status, int rank, struct jl_err *err)
{
	const struct jl_err why = err ? *err : (struct jl_err){ 0 };

	return status ? jl_fail_from(err, status, NULL, &why, "rank %d: {}", rank) : JL_OK;
}

/* --- links: one connection per pair of ranks */

static enum jl_status link_down(struct join *j, int rank, struct jl_err *err)
{
	const union jl_wire_address *address = &j->members[rank].address;
	char name[JL_WIRE_NAME_MAX];
	const int fd = jl_wire_connect(&address->any, jl_wire_len(address), CONNECT_S);
	const struct jl_wire_wait wait = { .end_s = jl_clock_s() + STEP_S, .stop = j->how->stop, .ctx = j->how->ctx };
	struct jl_wire_message hello = { .n = { (uint64_t)j->own, j->session }, .text = LINK };

	if (fd < 0)
		return jl_fail(err, JL_E_IO, "rank %d at %s port %d cannot be reached from here: {%s}", rank,
			       jl_wire_name(name, address), jl_wire_port(address), strerror(errno));
	j->c->fds[rank] = fd;
	return of_rank(jl_wire_greet(fd, jl_wire_name(name, address), &hello, &j->how->secret, &wait, err), rank, err);
}

static enum jl_status missing(const struct join *j, struct jl_err *err)
{
	int rank = j->own + 1;

	while (rank < j->n - 1 && j->c->fds[rank] >= 0)
		rank++;
	return jl_fail(err, JL_E_IO, "rank %d did not connect to rank %d: it is stuck, or a firewall is in between",
		       rank, j->own);
}

/* Accepts the connections of higher ranks. */
static enum jl_status links_up(struct join *j, struct jl_err *err)
{
	const double end_s = jl_clock_s() + STEP_S;
	int n_left = j->n - 1 - j->own;

	while (n_left > 0) {
		const struct jl_wire_message *hello;
		struct jl_guest guest;

		if (jl_clock_s() > end_s || stop_asked(j))
			return missing(j, err);
		if (jl_door_look(j->door, -1, &guest) != JL_HELLO)
			continue;
		hello = &guest.hello;
		if (strcmp(hello->text, LINK) != 0 || hello->n[1] != j->session || hello->n[0] <= (uint64_t)j->own ||
		    hello->n[0] >= (uint64_t)j->n || j->c->fds[hello->n[0]] >= 0) {
			jl_door_refuse(&guest, &(struct jl_wire_message){ .word = JL_WIRE_BUSY });
			continue;
		}
		j->c->fds[hello->n[0]] = guest.line.fd;
		n_left--;
	}
	return JL_OK;
}

static enum jl_status link_all(struct join *j, struct jl_err *err)
{
	enum jl_status status = JL_OK;

	for (int r = 0; r < j->own && !status; r++)
		status = link_down(j, r, err);
	JL_THEN(status, links_up(j, err));
	return status;
}

/* --- rank 0 */

static enum jl_status open_door(struct join *j, struct jl_err *err)
{
	const char *address = j->how->listen;

	j->port = j->how->port;
	enum jl_status status = jl_wire_open(&address, &j->port, &j->door->fd, err);
	if (!status && j->port + j->n - 1 > PORT_MAX)
		return jl_fail(err, JL_E_RANGE, "port %d leaves none for the last of %d ranks: take one up to %d",
			       j->port, j->n, PORT_MAX - j->n + 1);
	if (!status && j->how->listening)
		j->how->listening(j->how->ctx, address, j->port);
	return status;
}

static enum jl_status check_guest(const struct join *j, const struct jl_wire_message *hello,
				  struct jl_wire_message *ret_answer, struct jl_err *err)
{
	*ret_answer = (struct jl_wire_message){ .word = JL_WIRE_OTHER };
	(void)snprintf(ret_answer->text, sizeof(ret_answer->text), "%s", j->how->what);
	if (strcmp(hello->text, ret_answer->text) != 0)
		return jl_fail(err, JL_E_IO, "it came for '%s', not for '%s'", hello->text, ret_answer->text);
	if (hello->n[1] == j->how->tag)
		return JL_OK;
	ret_answer->n[0] = 1;
	return jl_fail(err, JL_E_IO, "it was started with other options");
}

static int count_ready(const struct join *j)
{
	int n = 1;

	for (int r = 1; r < j->n; r++)
		n += j->members[r].line.fd >= 0;
	return n;
}

static void seen(const struct join *j, const union jl_wire_address *address, const struct jl_err *refused)
{
	char name[JL_WIRE_NAME_MAX];

	if (j->how->seen)
		j->how->seen(j->how->ctx, jl_wire_name(name, address), count_ready(j), refused);
}

static void send_away(struct join *j, struct member *m, const struct jl_err *why)
{
	(void)close(m->line.fd);
	m->line.fd = -1;
	seen(j, &m->address, why);
}

static enum jl_status silent(struct jl_err *err)
{
	return jl_fail(err, JL_E_RANGE, "it joined and then said nothing");
}

/* Finds a free slot for a guest (a connection that has not yet said which rank it is); if none is free, drops the oldest guest. */
static struct member *place(struct join *j)
{
	struct member *guests = j->members + j->n, *oldest = guests;
	struct jl_err why;

	for (int i = 0; i < GUESTS_MAX; i++) {
		if (guests[i].line.fd < 0)
			return &guests[i];
		oldest = guests[i].end_s < oldest->end_s ? &guests[i] : oldest;
	}
	(void)silent(&why);
	send_away(j, oldest, &why);
	return oldest;
}

/* The free rank that the fewest guests could get; n: none is free. */
static int free_number(const struct join *j)
{
	int n_guests[JL_COMM_TCP_RANKS_MAX] = { 0 }, rank = j->n;

	for (int i = j->n; i < j->n + GUESTS_MAX; i++)
		n_guests[j->members[i].rank] += j->members[i].line.fd >= 0;
	for (int r = j->n - 1; r > 0; r--)
		if (j->members[r].line.fd < 0 && (rank == j->n || n_guests[r] <= n_guests[rank]))
			rank = r;
	return rank;
}

static bool say_welcome(const struct join *j, int fd, int rank)
{
	return jl_wire_try_send(fd, &(struct jl_wire_message){
					    .word = JL_WIRE_WELCOME,
					    .n = { j->session, (uint64_t)rank, (uint64_t)j->n, (uint64_t)j->port } });
}

static void welcome(struct join *j, struct jl_guest *guest)
{
	const int rank = free_number(j);
	struct jl_wire_message answer;
	struct jl_err why;

	if (check_guest(j, &guest->hello, &answer, &why)) {
		jl_door_refuse(guest, &answer);
		seen(j, &guest->address, &why);
		return;
	}
	if (rank == j->n) { /* the host retries, since a joined rank may leave */
		jl_door_refuse(guest, &(struct jl_wire_message){ .word = JL_WIRE_BUSY });
	} else if (!say_welcome(j, guest->line.fd, rank)) {
		(void)close(guest->line.fd);
	} else {
		*place(j) = (struct member){ .line = guest->line,
					     .address = guest->address,
					     .host_id = guest->hello.n[0],
					     .rank = rank,
					     .end_s = jl_clock_s() + READY_S };
	}
}

/* Handles "ready" of a member. A client that sends anything else or closes gets no rank; neither does one that sends before it is asked. */
static enum jl_status hear(struct join *j, struct member *m, struct jl_err *err)
{
	const bool guest = m >= j->members + j->n;
	struct jl_wire_message said;
	bool whole;

	JL_TRY(jl_wire_take(&m->line, &whole, &said, err));
	if (whole && (!guest || said.version != JL_WIRE_VERSION || said.word != JL_WIRE_READY))
		return jl_wire_nonsense(err);
	if (!whole && guest && jl_clock_s() > m->end_s)
		return silent(err);
	if (whole && j->members[m->rank].line.fd >= 0) { /* another client was ready first */
		m->rank = free_number(j);
		if (m->rank < j->n && say_welcome(j, m->line.fd, m->rank))
			return JL_OK;
		m->rank = 0;
		(void)jl_wire_try_send(m->line.fd, &(struct jl_wire_message){ .word = JL_WIRE_BUSY });
		return jl_fail(err, JL_E_RANGE, "all places are taken");
	}
	if (whole) {
		struct member *own = &j->members[m->rank];

		*own = *m;
		m->line.fd = -1;
		jl_wire_set_port(&own->address, (int)said.n[0]);
		seen(j, &own->address, NULL);
	}
	return JL_OK;
}

/* Returns a connection from which data is expected; -1: none. */
static int attend(struct join *j)
{
	int awaited = -1;

	for (int i = 1; i < j->n + GUESTS_MAX; i++) {
		struct member *m = &j->members[i];
		struct jl_err why;

		if (m->line.fd >= 0 && hear(j, m, &why))
			send_away(j, m, &why);
		if (m->line.fd >= 0 && i >= j->n)
			awaited = m->line.fd;
	}
	return awaited;
}

/* Notifies ranks (still waiting for others) or guests (all ranks have joined). */
static void tell(const struct join *j, int from, int to, uint32_t word)
{
	for (int i = from; i < to; i++)
		if (j->members[i].line.fd >= 0)
			(void)jl_wire_try_send(j->members[i].line.fd, &(struct jl_wire_message){ .word = word });
}

static enum jl_status gather(struct join *j, struct jl_err *err)
{
	const double end_s = jl_clock_s() + (j->how->wait_s > 0 ? j->how->wait_s : WAIT_S);
	double told_s = jl_clock_s();
	struct jl_guest guest;
	struct jl_err why;
	int awaited = -1;

	while (count_ready(j) < j->n) {
		if (jl_clock_s() - told_s > TELL_S) {
			tell(j, 1, j->n, JL_WIRE_WAIT);
			told_s = jl_clock_s();
		}
		if (stop_asked(j))
			return jl_fail(err, JL_E_IO, "stopped while %d of %d ranks were there", count_ready(j), j->n);
		if (jl_clock_s() > end_s)
			return jl_fail(err, JL_E_IO, "only %d of %d ranks came in time", count_ready(j), j->n);
		switch (jl_door_look(j->door, awaited, &guest)) {
		case JL_HELLO: welcome(j, &guest); break;
		case JL_REFUSED:
			(void)jl_door_why(&guest, &why);
			seen(j, &guest.address, &why);
			break;
		case JL_NOBODY: break;
		}
		awaited = attend(j);
	}
	tell(j, j->n, j->n + GUESTS_MAX, JL_WIRE_BUSY);
	return JL_OK;
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
	enum jl_status status = JL_OK;

	for (int r = 1; r < j->n && !status; r++)
		for (int s = 0; s < j->n && !status; s++) {
			const struct jl_wire_message message = peer_message(j, s);

			status = of_rank(jl_wire_send(j->members[r].line.fd, &message, err), r, err);
		}
	return status;
}

static enum jl_status be_first(struct join *j, struct jl_err *err)
{
	if (j->how->n_ranks < 2 || j->how->n_ranks > JL_COMM_TCP_RANKS_MAX)
		return jl_fail(err, JL_E_RANGE, "%d ranks: write 2 to %d", j->how->n_ranks, JL_COMM_TCP_RANKS_MAX);
	JL_TRY(members_of(j, j->how->n_ranks, err));
	JL_TRY(jl_wire_random(&j->session, sizeof(j->session), err));
	JL_TRY(open_door(j, err));
	j->members[0].host_id = own_host_id(j->c->host);
	j->members[0].address.any.sa_family = AF_INET; /* each rank knows the address by which it reached rank 0 */
	JL_TRY(gather(j, err));
	JL_TRY(introduce(j, err));
	return link_all(j, err);
}

/* --- other ranks */

static enum jl_status say_ready(const struct join *j, struct jl_err *err)
{
	union jl_wire_address own;
	socklen_t len = sizeof(own);

	if (getsockname(j->door->fd, &own.any, &len) != 0)
		return jl_fail(err, JL_E_IO, "no address: {%s}", strerror(errno));
	return jl_wire_send(j->members[0].line.fd,
			    &(struct jl_wire_message){ .word = JL_WIRE_READY, .n = { (uint64_t)jl_wire_port(&own) } },
			    err);
}

/* Opens the socket for higher ranks: on the address by which this rank reached rank 0, at a port near rank 0's. */
static enum jl_status open_own_door(struct join *j, struct jl_err *err)
{
	union jl_wire_address own;
	socklen_t len = sizeof(own);
	char name[JL_WIRE_NAME_MAX];

	if (getsockname(j->members[0].line.fd, &own.any, &len) != 0)
		return jl_fail(err, JL_E_IO, "no address: {%s}", strerror(errno));
	for (int i = 0; i < PORT_TRIES && j->door->fd < 0; i++) {
		const int port = j->port + j->own + i * j->n;

		if (port > PORT_MAX)
			break;
		jl_wire_set_port(&own, port);
		j->door->fd = jl_wire_listen(&own.any, jl_wire_len(&own));
		if (j->door->fd >= 0)
			return say_ready(j, err);
	}
	return jl_fail(err, JL_E_IO, "cannot listen on %s from port %d on: {%s}", jl_wire_name(name, &own),
		       j->port + j->own, strerror(errno));
}

/* Waits for the first PEER message, which rank 0 sends when all ranks have joined. Until then rank 0 may report that it still waits, or assign
 * another rank. */
static enum jl_status await_all(struct join *j, double wait_s, struct jl_wire_message *ret, struct jl_err *err)
{
	const double end_s = jl_clock_s() + wait_s;

	do {
		const struct jl_wire_wait wait = { .end_s = jl_clock_s() + STEP_S,
						   .stop = j->how->stop,
						   .ctx = j->how->ctx };
		enum jl_status status = jl_wire_receive(j->members[0].line.fd, &wait, ret, err);

		if (status == JL_E_IO && !stop_asked(j) && jl_clock_s() < wait.end_s)
			return jl_fail(err, status, "it gave up before all ranks were there");
		if (!status && ret->word == JL_WIRE_WELCOME && ret->n[0] == j->session && ret->n[1] < (uint64_t)j->n) {
			j->own = (int)ret->n[1];
			status = say_ready(j, err);
		} else if (ret->word != JL_WIRE_WAIT) {
			return status;
		}
		if (status)
			return status;
	} while (jl_clock_s() < end_s);
	return jl_fail(err, JL_E_IO, "not all ranks came in time");
}

static enum jl_status read_peer(struct join *j, int rank, struct jl_err *err)
{
	const struct jl_wire_wait wait = { .end_s = jl_clock_s() + STEP_S, .stop = j->how->stop, .ctx = j->how->ctx };
	union jl_wire_address *to = &j->members[rank].address;
	char name[JL_WIRE_PEER_MAX];
	struct jl_wire_message m;
	enum jl_status status = rank ? jl_wire_receive(j->members[0].line.fd, &wait, &m, err)
				     : await_all(j, j->how->wait_s > 0 ? j->how->wait_s : WAIT_S, &m, err);

	(void)jl_wire_peer_name(name, j->how->to, j->how->port);
	if (!status && rank == 0 && m.word == JL_WIRE_BUSY)
		return jl_wire_refused(&m, name, j->how->what, &j->how->secret, err);
	if (!status && (m.version != JL_WIRE_VERSION || m.word != JL_WIRE_PEER || m.n[0] != (uint64_t)rank ||
			m.n[1] == 5 || (rank && !m.n[4])))
		status = jl_wire_nonsense(err);
	if (status)
		return jl_wire_from(status, name, err);
	j->members[rank].host_id = m.n[5];
	if (rank == 0) /* its address is known */
		return JL_OK;
	to->any.sa_family = m.n[1] == 6 ? AF_INET6 : AF_INET;
	if (m.n[1] == 6)
		memcpy(&((struct sockaddr_in6 *)(void *)to)->sin6_addr, &m.n[2], 16);
	else
		memcpy(&((struct sockaddr_in *)(void *)to)->sin_addr, &m.n[2], 4);
	jl_wire_set_port(to, (int)m.n[4]);
	return JL_OK;
}

static enum jl_status read_peers(struct join *j, struct jl_err *err)
{
	enum jl_status status = JL_OK;

	for (int r = 0; r < j->n && !status; r++)
		status = read_peer(j, r, err);
	return status;
}

static enum jl_status be_other(struct join *j, struct jl_err *err)
{
	const struct jl_wire_peer first = { .host = j->how->to,
					    .port = j->how->port,
					    .what = j->how->what,
					    .patient = true,
					    .secret = j->how->secret,
					    .stop = j->how->stop,
					    .ctx = j->how->ctx };
	struct jl_wire_message hello = { .n = { own_host_id(j->c->host), j->how->tag } }, answer;
	socklen_t len = sizeof(union jl_wire_address);
	char name[JL_WIRE_PEER_MAX];
	int fd = -1;

	JL_TRY(jl_wire_join(&first, &hello, JL_WIRE_WELCOME, &fd, &answer, err));
	enum jl_status status = JL_OK;
	if (answer.n[1] >= answer.n[2] || answer.n[3] + answer.n[1] > PORT_MAX)
		status = jl_wire_from(jl_wire_nonsense(err), jl_wire_peer_name(name, first.host, first.port), err);
	JL_THEN(status, members_of(j, (int)answer.n[2], err));
	if (status) {
		(void)close(fd);
		return status;
	}
	j->session = answer.n[0];
	j->own = (int)answer.n[1];
	j->port = (int)answer.n[3];
	j->members[0].line.fd = fd;
	(void)getpeername(fd, &j->members[0].address.any, &len);
	status = open_own_door(j, err);
	JL_THEN(status, read_peers(j, err));
	return status ? status : link_all(j, err);
}

static enum jl_status settle(struct join *j, int **ret_controls, struct jl_err *err)
{
	struct jl_comm *comm = &j->c->comm;
	int *controls = jl_realloc(NULL, (size_t)j->n * sizeof(*controls));

	JL_TRY(jl_got(controls, err));
	comm->rank = j->own;
	comm->local_rank = comm->n_local = 0;
	for (int r = 0; r < j->n; r++) {
		const bool here = j->members[r].host_id == j->members[j->own].host_id;

		comm->n_local += here;
		comm->local_rank += here && r < j->own;
		controls[r] = j->members[r].line.fd;
		j->members[r].line.fd = -1;
	}
	*ret_controls = controls;
	return JL_OK;
}

enum jl_status jl_tcp_join(struct tcp_comm *c, const struct jl_comm_tcp *how, int **ret_controls, struct jl_err *err)
{
	struct join j = { .c = c, .how = how, .door = jl_realloc(NULL, sizeof(*j.door)) };

	JL_TRY(jl_got(j.door, err));
	*j.door = (struct jl_door){ .fd = -1, .secret = how->secret };
	if (gethostname(c->host, sizeof(c->host) - 1) != 0)
		(void)snprintf(c->host, sizeof(c->host), "localhost");
	enum jl_status status = how->to ? be_other(&j, err) : be_first(&j, err);
	JL_THEN(status, settle(&j, ret_controls, err));
	for (int i = 0; j.members && i < j.n + GUESTS_MAX; i++)
		if (j.members[i].line.fd >= 0)
			(void)close(j.members[i].line.fd);
	jl_door_close(j.door);
	jl_free(j.door);
	jl_free(j.members);
	return status;
}
