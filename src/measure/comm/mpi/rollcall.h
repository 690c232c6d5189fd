/* Detects ranks that are suspended or gone. A rank inside an MPI call cannot answer, so a separate thread answers by UDP. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROLLCALL_ADDRESSES 4

/* Announced once by each rank, through MPI. */
struct rollcall_card {
	uint32_t addresses[ROLLCALL_ADDRESSES]; /* IPv4, network order; 0: none */
	uint32_t port;
	uint32_t secret; /* datagrams without it are ignored */
};

struct rollcall;

/* Opens the socket and fills this rank's card. NULL: the host has no network, so there is no watch. */
struct rollcall *rollcall_open(struct rollcall_card *ret_card);
/* Starts the thread. `cards` of all ranks must stay valid until close. The thread calls `stuck` at most once. */
void rollcall_start(struct rollcall *roll, const struct rollcall_card *cards, int n, int own, void (*stuck)(int rank));
void rollcall_cross(struct rollcall *roll); /* call before and after each MPI call; accepts NULL */
void rollcall_close(struct rollcall *roll);
