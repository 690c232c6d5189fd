/* A listening socket and its clients that are not authenticated yet. Greetings of all clients run side by side, with a second for each message.
 * When all places are taken, the address with most clients loses one: first a client that has not sent hello, among equals the oldest. */
#pragma once

#include "comm/wire.h"

#define JL_DOOR_GUESTS_MAX 256
#define JL_DOOR_BARRED_MAX 64

enum jl_visit { JL_NOBODY, JL_HELLO, JL_REFUSED };

struct jl_guest {
	struct jl_wire_line line;
	double came_s, end_s;
	union jl_wire_address address;
	struct jl_wire_message hello, challenge; /* challenge: word 0 until it was sent */
	unsigned char said[JL_WIRE_MESSAGE_B];   /* the hello as it came */
	enum jl_visit is;                        /* JL_NOBODY: the greeting goes on */
	int why;                                 /* JL_REFUSED: see jl_door_why */
};

struct jl_door {
	int fd;
	struct jl_wire_secret secret;
	struct jl_guest guests[JL_DOOR_GUESTS_MAX]; /* who came first is first */
	size_t n;
	struct {
		union jl_wire_address address;
		double until_s;
		bool said; /* that it is */
	} barred[JL_DOOR_BARRED_MAX];
	size_t next_bar;
};

/* Waits a tenth of a second at most, or until something comes on `also` (-1: none). JL_HELLO: the guest's connection belongs to the caller
 * now; it has said hello and proved that it knows the secret. JL_REFUSED: it is closed; `ret_guest` has address and reason. */
enum jl_visit jl_door_look(struct jl_door *door, int also, struct jl_guest *ret_guest);
enum jl_status jl_door_why(const struct jl_guest *guest, struct jl_err *err);
/* Says why and closes. */
void jl_door_refuse(struct jl_guest *guest, const struct jl_wire_message *why);
/* A client that wasted time gets "busy" for a while; the caller is notified once. */
void jl_door_bar(struct jl_door *door, const union jl_wire_address *address);
void jl_door_close(struct jl_door *door);
