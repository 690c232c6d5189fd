/* Which ranks are alive? A rank that waits inside an MPI call cannot answer: each rank answers by UDP from a separate thread. A rank that is
 * stopped or gone does not. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROLLCALL_ADDRESSES 4

/* What each rank announces once, through MPI. */
struct rollcall_card {
	uint32_t addresses[ROLLCALL_ADDRESSES]; /* IPv4, network order; 0: none */
	uint32_t port;
	uint32_t secret; /* strangers are not answered */
};

struct rollcall;

/* Opens the socket and fills the own card; NULL: this host has no network, no watch. */
struct rollcall *rollcall_open(struct rollcall_card *ret_card);
/* `cards` of all ranks (kept by the caller until close). Starts the thread. `stuck` is called from it, once. */
void rollcall_start(struct rollcall *roll, const struct rollcall_card *cards, int n, int own, void (*stuck)(int rank));
void rollcall_cross(struct rollcall *roll); /* before and after each call into MPI; NULL is fine */
void rollcall_close(struct rollcall *roll);
