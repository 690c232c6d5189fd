/* A listening socket and those who came and have not said yet who they are. Anybody may come: each has a second to say
 * a whole message. */
#ifndef JL_COMM_TCP_DOOR_H
#define JL_COMM_TCP_DOOR_H

#include "comm/wire.h"

#define TCP_GUESTS_MAX 32

struct tcp_guest {
	int fd;
	size_t n;
	unsigned char bytes[JL_WIRE_MESSAGE_B];
	double end_s;
	union jl_wire_address address;
};

struct tcp_door {
	int fd;
	struct tcp_guest guests[TCP_GUESTS_MAX];
	size_t n;
};

enum tcp_visit { TCP_NOBODY, TCP_HELLO, TCP_REFUSED };

/* Waits a tenth of a second at most. TCP_HELLO: the guest's connection belongs to the caller now. TCP_REFUSED: it is
 * closed, `err` says why, `ret_guest` has the address. */
enum tcp_visit jl_tcp_door_look(struct tcp_door *door, struct tcp_guest *ret_guest, struct jl_wire_message *ret_hello,
				struct jl_err *err);
void jl_tcp_door_close(struct tcp_door *door);

#endif
