/* Accepts connections and runs their greetings concurrently. */
#include "comm/door.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define MESSAGE_S 1.0
#define BARRED_S  3.0 /* an honest client at the same address retries for longer (BUSY_S) */
#define LOOK_MS   100
#define FULL_MS   10
#define GRACE_S   0.05
#define LET_IN    64 /* clients accepted per call */

static void take_out(struct jl_door *door, size_t i, struct jl_guest *ret_guest)
{
	*ret_guest = door->guests[i];
	door->n--;
	memmove(&door->guests[i], &door->guests[i + 1], (door->n - i) * sizeof(*door->guests));
}

static size_t n_from(const struct jl_door *door, const union jl_wire_address *address)
{
	size_t n = 0;

	for (size_t i = 0; i < door->n; i++)
		n += jl_wire_same_host(&door->guests[i].address, address);
	return n;
}

/* Disconnects a client to make room. Under a flood, every client still keeps its connection for a short time. */
static bool make_room(struct jl_door *door)
{
	const union jl_wire_address *address = NULL;
	struct jl_guest gone;
	size_t most = 0, out = 0;

	if (door->n < JL_DOOR_GUESTS_MAX)
		return true;
	if (jl_clock_s() - door->guests[0].came_s < GRACE_S)
		return false;
	for (size_t i = 0; i < door->n; i++) {
		const size_t n = n_from(door, &door->guests[i].address);

		if (n > most) {
			most = n;
			address = &door->guests[i].address;
			out = i;
		}
	}
	for (size_t i = door->n; i-- > 0;)
		if (jl_wire_same_host(&door->guests[i].address, address) &&
		    (!door->guests[i].challenge.word || door->guests[out].challenge.word))
			out = i;
	if (jl_clock_s() - door->guests[out].came_s < GRACE_S)
		return false;
	take_out(door, out, &gone);
	if (gone.line.fd >= 0)
		(void)close(gone.line.fd);
	return true;
}

static bool let_in(struct jl_door *door)
{
	struct jl_guest guest = { .came_s = jl_clock_s() };
	socklen_t len = sizeof(guest.address);
	const int on = 1;

	if (!make_room(door))
		return false;
	guest.line.fd = accept4(door->fd, &guest.address.any, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (guest.line.fd < 0)
		return false;
	guest.end_s = guest.came_s + MESSAGE_S;
	(void)setsockopt(guest.line.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	door->guests[door->n++] = guest;
	return true;
}

void jl_door_bar(struct jl_door *door, const union jl_wire_address *address)
{
	door->barred[door->next_bar].address = *address;
	door->barred[door->next_bar].until_s = jl_clock_s() + BARRED_S;
	door->barred[door->next_bar].said = false;
	door->next_bar = (door->next_bar + 1) % JL_DOOR_BARRED_MAX;
}

enum why { FINE, LEFT, STRANGE, SILENT, DEAF, VERSION, SECRET, BARRED, AGAIN, NO_NUMBERS };

enum jl_status jl_door_why(const struct jl_guest *guest, struct jl_err *err)
{
	static const struct {
		const char *en;
	} texts[] = {
		[FINE] = { JL_N("accepted") },
		[LEFT] = { JL_N("it closed the connection without an answer") },
		[STRANGE] = { JL_N("it is not jeoul, or sent an invalid message") },
		[SILENT] = { JL_N("it does not say who it is") },
		[DEAF] = { JL_N("it takes no answer") },
		[VERSION] = { JL_N("it is another version of jeoul: use the same on all hosts") },
		[SECRET] = { JL_N("it does not know the secret") },
		[BARRED] = { JL_N("it stalled an earlier connection") }, /* AGAIN has no text: it is not reported */
		[NO_NUMBERS] = { JL_N("no random numbers") },
	};

	return jl_fail(err, JL_E_IO, "{%s}", texts[guest->why].en);
}

static enum why is_barred(struct jl_door *door, const union jl_wire_address *address)
{
	for (size_t i = 0; i < JL_DOOR_BARRED_MAX; i++)
		if (door->barred[i].until_s > jl_clock_s() && jl_wire_same_host(&door->barred[i].address, address)) {
			const enum why why = door->barred[i].said ? AGAIN : BARRED;

			door->barred[i].said = true;
			return why;
		}
	return FINE;
}

static enum why turn_away(const struct jl_guest *guest, uint32_t word, uint64_t number, enum why why)
{
	(void)jl_wire_try_send(guest->line.fd, &(struct jl_wire_message){ .word = word, .n = { number } });
	return why;
}

static enum why challenge(struct jl_door *door, struct jl_guest *guest, const struct jl_wire_message *m)
{
	enum why barred;

	if (m->version != JL_WIRE_VERSION || (m->word == JL_WIRE_HELLO && m->n[2] != JL_WIRE_BYTE_ORDER))
		return turn_away(guest, JL_WIRE_VERSION_IS, 0, VERSION);
	if (m->word != JL_WIRE_HELLO)
		return STRANGE;
	barred = is_barred(door, &guest->address);
	if (barred)
		return turn_away(guest, JL_WIRE_BUSY, 0, barred);
	guest->hello = *m;
	memcpy(guest->said, guest->line.bytes, sizeof(guest->said));
	guest->challenge = (struct jl_wire_message){ .word = JL_WIRE_CHALLENGE, .n = { 0, 0, door->secret.given } };
	guest->end_s = jl_clock_s() + MESSAGE_S;
	if (jl_wire_random(guest->challenge.n, 2 * sizeof(*guest->challenge.n), NULL))
		return NO_NUMBERS;
	return jl_wire_try_send(guest->line.fd, &guest->challenge) ? FINE : DEAF;
}

static enum why prove(const struct jl_door *door, struct jl_guest *guest, const struct jl_wire_message *m)
{
	struct jl_wire_message proven = { .word = JL_WIRE_PROVEN };
	uint64_t theirs[4];

	if (m->version != JL_WIRE_VERSION || m->word != JL_WIRE_PROVE)
		return STRANGE;
	jl_wire_proof(theirs, &door->secret, JL_WIRE_CONNECTS, guest->said, &guest->challenge);
	if (!jl_wire_proves(m, theirs))
		return turn_away(guest, JL_WIRE_SECRET, door->secret.given, SECRET);
	jl_wire_proof(proven.n, &door->secret, JL_WIRE_LISTENS, guest->said, &guest->challenge);
	guest->is = JL_HELLO;
	return jl_wire_try_send(guest->line.fd, &proven) ? FINE : DEAF;
}

/* Advances one client's greeting by one message. */
static void step(struct jl_door *door, struct jl_guest *guest)
{
	struct jl_wire_message m;
	enum why why = FINE;
	bool whole;
	const enum jl_status status = jl_wire_take(&guest->line, &whole, &m, NULL);

	if (status)
		why = status == JL_E_DATA ? STRANGE : LEFT;
	else if (whole)
		why = guest->challenge.word ? prove(door, guest, &m) : challenge(door, guest, &m);
	else if (jl_clock_s() > guest->end_s)
		why = SILENT;
	if (!why)
		return;
	guest->is = JL_REFUSED;
	guest->why = (int)why;
	(void)close(guest->line.fd);
	guest->line.fd = -1;
}

static enum jl_visit first_settled(struct jl_door *door, struct jl_guest *ret_guest)
{
	size_t i = 0;

	while (i < door->n) {
		if (!door->guests[i].is) {
			i++;
			continue;
		}
		take_out(door, i, ret_guest);
		if (ret_guest->why != AGAIN)
			return ret_guest->is;
	}
	return JL_NOBODY;
}

enum jl_visit jl_door_look(struct jl_door *door, int also, struct jl_guest *ret_guest)
{
	struct pollfd fds[JL_DOOR_GUESTS_MAX + 2];
	const enum jl_visit left = first_settled(door, ret_guest); /* settled during the previous call */
	const bool full = door->n == JL_DOOR_GUESTS_MAX;

	if (left)
		return left;
	for (size_t i = 0; i < door->n; i++)
		fds[i] = (struct pollfd){ .fd = door->guests[i].line.fd, .events = POLLIN };
	/* further clients wait in the kernel's accept queue */
	fds[door->n] = (struct pollfd){ .fd = full ? -1 : door->fd, .events = POLLIN };
	fds[door->n + 1] = (struct pollfd){ .fd = also, .events = POLLIN };
	if ((poll(fds, (nfds_t)door->n + 2, full ? FULL_MS : LOOK_MS) > 0 && fds[door->n].revents) || full)
		for (int i = 0; i < LET_IN && let_in(door); i++)
			;
	for (size_t i = 0; i < door->n; i++)
		step(door, &door->guests[i]);
	return first_settled(door, ret_guest);
}

void jl_door_refuse(struct jl_guest *guest, const struct jl_wire_message *why)
{
	(void)jl_wire_try_send(guest->line.fd, why);
	(void)close(guest->line.fd);
}

void jl_door_close(struct jl_door *door)
{
	for (size_t i = 0; i < door->n; i++)
		if (door->guests[i].line.fd >= 0)
			(void)close(door->guests[i].line.fd);
	door->n = 0;
	if (door->fd >= 0)
		(void)close(door->fd);
	door->fd = -1;
}
