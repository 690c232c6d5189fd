/* What ranks say to each other over TCP before and beside their data: messages of one size, numbers in network order,
 * every wait with an end. Sockets are non-blocking. A peer may be anybody: what it says is checked here and by whoever
 * asked. */
#ifndef JL_COMM_WIRE_H
#define JL_COMM_WIRE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/err.h"

#define JL_WIRE_VERSION   1
#define JL_WIRE_MESSAGE_B 96
#define JL_WIRE_NUMBERS   6
#define JL_WIRE_TEXT_B    32
#define JL_WIRE_NAME_MAX  64

enum jl_wire_word {
	JL_WIRE_JOIN = 1, /* host id, tag, byte order; text: what for -> WELCOME, VERSION_IS, OTHER */
	JL_WIRE_WELCOME,  /* secret, rank, number of ranks, first port -> READY */
	JL_WIRE_READY,    /* port -> PEER for each rank */
	JL_WIRE_PEER,     /* rank, family, address (2), port, host id */
	JL_WIRE_LINK,     /* secret, rank: this connection carries data */
	JL_WIRE_VERSION_IS,
	JL_WIRE_OTHER, /* text: what for; number 0: 1 when only the options differ */
	JL_WIRE_FULL,  /* all ranks are there */
	JL_WIRE_ASK,   /* -> HERE */
	JL_WIRE_HERE,
	JL_WIRE_GONE, /* rank, how */
	JL_WIRE_BYE
};

struct jl_wire_message {
	uint32_t word, version;
	uint64_t n[JL_WIRE_NUMBERS];
	char text[JL_WIRE_TEXT_B];
};

void jl_wire_pack(unsigned char ret_bytes[JL_WIRE_MESSAGE_B], const struct jl_wire_message *message);
/* Of the first `n` bytes of a message: can they be one at all? */
bool jl_wire_plausible(const unsigned char *bytes, size_t n);
void jl_wire_unpack(const unsigned char bytes[JL_WIRE_MESSAGE_B], struct jl_wire_message *ret_message);

/* Whoever waits looks at `stop` (may be NULL) ten times a second. */
struct jl_wire_wait {
	double end_s;
	bool (*stop)(void *ctx);
	void *ctx;
};
enum jl_status jl_wire_send(int fd, const struct jl_wire_message *message, struct jl_err *err);
enum jl_status jl_wire_receive(int fd, const struct jl_wire_wait *wait, struct jl_wire_message *ret_message,
			       struct jl_err *err);

/* -1 with errno. */
int jl_wire_connect(const struct sockaddr *peer, socklen_t len, double wait_s);
int jl_wire_listen(const struct sockaddr *own, socklen_t len);

union jl_wire_address {
	struct sockaddr any;
	struct sockaddr_storage room;
};
int jl_wire_port(const union jl_wire_address *address);
void jl_wire_set_port(union jl_wire_address *address, int port);
socklen_t jl_wire_len(const union jl_wire_address *address);
const char *jl_wire_name(char ret_name[JL_WIRE_NAME_MAX], const union jl_wire_address *address);

#endif
