/* TCP between two hosts: bandwidth over parallel streams in either direction or both, and latency.
 *
 * One side listens, the other connects and says what it wants, in messages of comm/wire.h. The listener trusts no client: greetings go on side
 * by side (comm/door.h), every field has a limit, every wait an end, one client is measured at a time, and it never sends more than was
 * asked for within its limits. Without a secret anybody who reaches it may ask: then listen on an address that only the other host
 * reaches, and no longer than needed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/stats.h"
#include "bench/noise.h"
#include "comm/door.h"

#define JL_NET_PORT        JL_COMM_TCP_PORT
#define JL_NET_WHAT        "bench net"
#define JL_NET_STREAMS_MAX JL_WIRE_STREAMS_MAX
#define JL_NET_TIME_MAX_S  (1e-3 * JL_WIRE_TIME_MAX_MS)
#define JL_NET_TAIL_S      0.3 /* the sender goes on a little: the receiver's last sample is a full one */
#define JL_NET_PINGS_MAX   JL_WIRE_PINGS_MAX
#define JL_NET_SAMPLES_MAX JL_WIRE_RATES_MAX

enum jl_net_direction { JL_NET_SEND = 1, JL_NET_RECEIVE = 2, JL_NET_BOTH = 3 };

struct jl_net_flow {
	struct jl_stats rate_Bps; /* of the payload, steady state; both directions are measured by the receiver */
	double samples_Bps[JL_NET_SAMPLES_MAX];
	size_t n_samples, n_unsteady;
};

struct jl_net_result {
	enum jl_net_direction direction;
	int n_streams;
	double time_s;
	struct jl_net_flow send, receive; /* as seen from the client; n_samples 0: not measured */
	double mss_B;                     /* payload of a full segment; NAN: not known */
	double header_B;                  /* what Ethernet, IP and TCP add to it */
	struct jl_record_noise noise;
	char why[JL_NOISE_WHY_MAX];
};

struct jl_net_latency {
	struct jl_stats round_s; /* there and back, one byte */
	double samples_s[JL_NET_PINGS_MAX];
	size_t n_samples;
};

struct jl_net_client;

enum jl_status jl_net_connect(struct jl_net_client **ret_client, const struct jl_wire_peer *peer, struct jl_err *err);
void jl_net_close(struct jl_net_client *client); /* NULL is fine */
enum jl_status jl_net_ping(struct jl_net_client *client, size_t n, struct jl_net_latency *ret_latency,
			   struct jl_err *err);
enum jl_status jl_net_transfer(struct jl_net_client *client, enum jl_net_direction direction, int n_streams,
			       double time_s, struct jl_net_result *ret_result, struct jl_err *err);

/* What the link carries for this payload: with the headers of Ethernet, IP and TCP. */
double jl_net_wire_Bps(const struct jl_net_result *result, double payload_Bps);

/* --- the listener */
struct jl_net_listener {
	struct jl_door door; /* its secret is set by the caller; fd -1 */
	int port;
	bool (*stop)(void *ctx); /* looked at ten times a second; may be NULL */
	/* Optional: who came, and how it ended (NULL: fine). */
	void (*seen)(void *ctx, const char *peer, const struct jl_err *how);
	void *ctx;
	bool once; /* end after one client that was served */
};
/* `address` NULL: loopback. `port` 0: any free one. Opens the door and fills port. */
enum jl_status jl_net_listen(struct jl_net_listener *listener, const char *address, int port, struct jl_err *err);
enum jl_status jl_net_serve(struct jl_net_listener *listener, struct jl_err *err);
void jl_net_unlisten(struct jl_net_listener *listener);
