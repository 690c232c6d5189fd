/* A listening socket and its clients that are not authenticated yet. All greetings run concurrently, with one second per message. When all
 * places are taken, the address with the most clients loses one: preferably one that has not sent hello, then the oldest. */
#pragma once

#include "comm/wire.h"

#define JL_DOOR_GUESTS_MAX 256
#define JL_DOOR_BARRED_MAX 64

enum jl_visit { JL_NOBODY, JL_HELLO, JL_REFUSED };

struct jl_guest {
	struct jl_wire_line line;
	double came_s, end_s;
	union jl_wire_address address;
	struct jl_wire_message hello, challenge; /* challenge.word is 0 until it was sent */
	unsigned char said[JL_WIRE_MESSAGE_B];   /* the hello as received */
	enum jl_visit is;                        /* JL_NOBODY: the greeting continues */
	int why;                                 /* JL_REFUSED: reason for jl_door_why */
};

struct jl_door {
	int fd;
	struct jl_wire_secret secret;
	struct jl_guest guests[JL_DOOR_GUESTS_MAX]; /* in order of arrival */
	size_t n;
	struct {
		union jl_wire_address address;
		double until_s;
		bool said; /* the caller was notified */
	} barred[JL_DOOR_BARRED_MAX];
	size_t next_bar;
};

/* Waits up to 0.1 s, or until data arrives on `also` (-1: none). JL_HELLO: the caller now owns the guest's connection; the guest has sent hello
 * and proved the secret. JL_REFUSED: the connection is closed; `ret_guest` has the address and the reason. */
enum jl_visit jl_door_look(struct jl_door *door, int also, struct jl_guest *ret_guest);
enum jl_status jl_door_why(const struct jl_guest *guest, struct jl_err *err);
/* Sends the reason and closes the connection. */
void jl_door_refuse(struct jl_guest *guest, const struct jl_wire_message *why);
/* Answers "busy" to this address for a while, after it wasted time; notifies the caller once. */
void jl_door_bar(struct jl_door *door, const union jl_wire_address *address);
void jl_door_close(struct jl_door *door);
