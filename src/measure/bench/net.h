/* TCP between two hosts: bandwidth over parallel streams, in one or both directions, and latency.
 *
 * One side listens, the other connects and requests tests with messages of comm/wire.h. The listener trusts no client: greetings run
 * concurrently (comm/door.h), every field and every wait is limited, one client is measured at a time, and it never sends more than was
 * requested within the limits. Without a secret, any client that reaches the listener can request tests: listen on an address that only the
 * other host reaches, and only while needed. */
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
#define JL_NET_TAIL_S      0.3 /* the sender continues this long, so that the receiver's last sample is complete */
#define JL_NET_PINGS_MAX   JL_WIRE_PINGS_MAX
#define JL_NET_SAMPLES_MAX JL_WIRE_RATES_MAX

enum jl_net_direction { JL_NET_SEND = 1, JL_NET_RECEIVE = 2, JL_NET_BOTH = 3 };

struct jl_net_flow {
	struct jl_stats rate_Bps; /* payload in steady state; the receiver measures, in both directions */
	double samples_Bps[JL_NET_SAMPLES_MAX];
	size_t n_samples, n_unsteady;
};

struct jl_net_result {
	enum jl_net_direction direction;
	int n_streams;
	double time_s;
	struct jl_net_flow send, receive; /* from the client's view; n_samples 0: not measured */
	double mss_B;                     /* payload of a full segment; NAN: unknown */
	double header_B;                  /* Ethernet, IP and TCP headers per segment */
	struct jl_record_noise noise;
	char why[JL_NOISE_WHY_MAX];
};

struct jl_net_latency {
	struct jl_stats round_s; /* round trip of one byte */
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

/* Bandwidth used on the link for this payload, with Ethernet, IP and TCP headers. */
double jl_net_wire_Bps(const struct jl_net_result *result, double payload_Bps);

struct jl_net_listener {
	struct jl_door door; /* the caller sets its secret; fd -1 */
	int port;
	bool (*stop)(void *ctx); /* polled ten times a second; may be NULL */
	/* Optional: reports a client and how its session ended (NULL: success). */
	void (*seen)(void *ctx, const char *peer, const struct jl_err *how);
	void *ctx;
	bool once; /* end after serving one client */
};
/* `address` NULL: loopback. `port` 0: any free port. Starts listening and sets `port`. */
enum jl_status jl_net_listen(struct jl_net_listener *listener, const char *address, int port, struct jl_err *err);
enum jl_status jl_net_serve(struct jl_net_listener *listener, struct jl_err *err);
void jl_net_unlisten(struct jl_net_listener *listener);
