/* Control messages between peers over TCP, for collectives and `bench net`: fixed size, network byte order, every wait with a deadline. Peers
 * are untrusted: a message is accepted only if every number is within its word's limits (table in wire.c); callers check limits that depend on
 * more than the message. Sockets are non-blocking. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "comm/comm.h"

#define JL_WIRE_VERSION   5
#define JL_WIRE_MESSAGE_B 96
#define JL_WIRE_NUMBERS   6
#define JL_WIRE_TEXT_B    32
#define JL_WIRE_NAME_MAX  64
#define JL_WIRE_PEER_MAX  280
/* 1: little-endian. Data is sent in memory order, so ranks with another byte order are refused. */
#define JL_WIRE_BYTE_ORDER ((uint64_t)(*(const unsigned char *)&(const uint16_t){ 1 }))

#define JL_WIRE_STREAMS_MAX 64
#define JL_WIRE_TIME_MAX_MS 60000
#define JL_WIRE_PINGS_MAX   10000
#define JL_WIRE_RATES_MAX   700                        /* ten per second */
#define JL_WIRE_RATE_MAX    UINT64_C(1000000000000000) /* bytes per second */

enum jl_wire_word {
	/* greeting, always the same; without a secret the HMAC key is empty */
	JL_WIRE_HELLO = 1, /* identity, tag, byte order, nonce (2); text: purpose -> CHALLENGE, VERSION_IS, BUSY */
	JL_WIRE_CHALLENGE, /* nonce (2), whether there is a secret -> PROVE */
	JL_WIRE_PROVE,     /* digest (4) -> PROVEN, SECRET */
	JL_WIRE_PROVEN,    /* digest (4) */
	/* answers of the listening side */
	JL_WIRE_VERSION_IS,
	JL_WIRE_SECRET, /* the secrets differ; number 0: 1 if the listener has one */
	JL_WIRE_OTHER,  /* purposes differ, text: the listener's; number 0: 1 if only options differ */
	JL_WIRE_BUSY,   /* all ranks have joined, or another client is being served */
	/* ranks of a collective */
	JL_WIRE_WELCOME, /* session, rank, number of ranks, first port -> READY */
	JL_WIRE_READY,   /* port -> WELCOME with another rank; WAIT until all are there, then PEER for each rank */
	JL_WIRE_WAIT,
	JL_WIRE_PEER, /* rank, family, address (2), port, host id */
	JL_WIRE_ASK,  /* -> HERE */
	JL_WIRE_HERE, /* calls begun + ended, CPU time in µs; current call: 1 + awaited rank, bytes in, out */
	JL_WIRE_GONE, /* rank, how */
	JL_WIRE_BYE,
	/* bench net */
	JL_WIRE_SESSION, /* its number -> PING, TEST, BYE */
	JL_WIRE_PING,    /* sequence number -> the same */
	JL_WIRE_TEST,    /* direction, streams, milliseconds -> GO and REPORT, or REFUSED */
	JL_WIRE_GO,
	JL_WIRE_REFUSED,
	JL_WIRE_REPORT, /* number of rates that follow in RATES */
	JL_WIRE_RATES,  /* bytes per second (6 numbers) */
	JL_N_WIRE_WORD
};

struct jl_wire_message {
	uint32_t word, version;
	uint64_t n[JL_WIRE_NUMBERS];
	char text[JL_WIRE_TEXT_B];
};

void jl_wire_pack(unsigned char ret_bytes[JL_WIRE_MESSAGE_B], const struct jl_wire_message *message);
/* JL_E_DATA: a number exceeds its limits, or not a message. With another version only word and version are read. */
enum jl_status jl_wire_unpack(const unsigned char bytes[JL_WIRE_MESSAGE_B], struct jl_wire_message *ret_message,
			      struct jl_err *err);

/* An incoming connection; a message may arrive in pieces. */
struct jl_wire_line {
	int fd;
	size_t n;
	unsigned char bytes[JL_WIRE_MESSAGE_B];
};
/* Reads available bytes without blocking. `ret_whole`: a message is complete. */
enum jl_status jl_wire_take(struct jl_wire_line *line, bool *ret_whole, struct jl_wire_message *ret_message,
			    struct jl_err *err);

/* Waiting functions check `stop` (may be NULL) ten times a second. */
struct jl_wire_wait {
	double end_s;
	bool (*stop)(void *ctx);
	void *ctx;
};
enum jl_status jl_wire_send(int fd, const struct jl_wire_message *message, struct jl_err *err);
/* Never blocks; false: not sent. For peers whose answer is optional. */
bool jl_wire_try_send(int fd, const struct jl_wire_message *message);
enum jl_status jl_wire_receive(int fd, const struct jl_wire_wait *wait, struct jl_wire_message *ret_message,
			       struct jl_err *err);
/* The error for a message that is not allowed in this state. */
enum jl_status jl_wire_nonsense(struct jl_err *err);
/* On failure adds the peer's name to `err`; returns `status`. */
enum jl_status jl_wire_from(enum jl_status status, const char *host, struct jl_err *err);
/* "10.0.0.5:5270", "[::1]:5270" */
const char *jl_wire_peer_name(char ret_name[JL_WIRE_PEER_MAX], const char *host, int port);

/* --- the secret (comm/secret.h). */
/* Computes the proof of side `who`. `hello`: the bytes as sent. */
enum jl_wire_side { JL_WIRE_CONNECTS, JL_WIRE_LISTENS };
void jl_wire_proof(uint64_t ret_proof[4], const struct jl_wire_secret *secret, enum jl_wire_side who,
		   const unsigned char hello[JL_WIRE_MESSAGE_B], const struct jl_wire_message *challenge);
bool jl_wire_proves(const struct jl_wire_message *message, const uint64_t proof[4]);
enum jl_status jl_wire_random(void *ret, size_t size_B, struct jl_err *err);
/* The connecting side's greeting: sends hello (word, byte order and nonce are set here) and answers the challenge. JL_E_LIMIT: the server is
 * busy. `host`: name for messages. */
enum jl_status jl_wire_greet(int fd, const char *host, struct jl_wire_message *hello,
			     const struct jl_wire_secret *secret, const struct jl_wire_wait *wait, struct jl_err *err);
/* The error for a message that came instead of `what`. */
enum jl_status jl_wire_refused(const struct jl_wire_message *message, const char *host, const char *what,
			       const struct jl_wire_secret *secret, struct jl_err *err);

/* A listening peer. */
struct jl_wire_peer {
	const char *host;
	int port;
	const char *what; /* command that starts it: "bench net" */
	bool patient;     /* retry a refused connection: the peer may start soon */
	struct jl_wire_secret secret;
	bool (*stop)(void *ctx); /* may be NULL; checked ten times a second */
	void *ctx;
};
/* Connects, greets and waits for the first answer `word`. Retries while the peer is busy, a few times when it closes the connection, and, if
 * `patient`, while the connection is refused. */
enum jl_status jl_wire_join(const struct jl_wire_peer *peer, struct jl_wire_message *hello, uint32_t word, int *ret_fd,
			    struct jl_wire_message *ret_answer, struct jl_err *err);

/* --- wire_socket.c: return -1 and set errno */
int jl_wire_connect(const struct sockaddr *peer, socklen_t len, double wait_s);
int jl_wire_listen(const struct sockaddr *own, socklen_t len);

union jl_wire_address {
	struct sockaddr any;
	struct sockaddr_storage room;
};
int jl_wire_port(const union jl_wire_address *address);
void jl_wire_set_port(union jl_wire_address *address, int port);
socklen_t jl_wire_len(const union jl_wire_address *address);
bool jl_wire_same_host(const union jl_wire_address *a, const union jl_wire_address *b);
const char *jl_wire_name(char ret_name[JL_WIRE_NAME_MAX], const union jl_wire_address *address);

/* Listens on `address` (NULL: loopback). `port` 0 selects a free port; both are updated. */
enum jl_status jl_wire_open(const char **address, int *port, int *ret_fd, struct jl_err *err);
