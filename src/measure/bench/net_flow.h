/* What goes over the wire between the two ends of `bench net`: fixed-size messages, numbers in network order. */
#ifndef JL_BENCH_NET_WIRE_H
#define JL_BENCH_NET_WIRE_H

#include <stdint.h>

#include "bench/net.h"

#define NET_WAIT_S 5.0 /* for anything that the peer owes us */

enum net_word { NET_PING = 1, NET_TEST, NET_BYE, NET_OK, NET_BUSY, NET_VERSION, NET_REFUSED, NET_GO, NET_REPORT };

/* Every message: 40 bytes. Meaning of a to d:
 *   hello     session (0: a new client), stream       answer  NET_OK: session
 *   NET_TEST  direction, streams, milliseconds        NET_GO, then data, then NET_REPORT: number of samples, each two numbers
 *   NET_PING  sequence number                         the same */
struct net_message {
	uint32_t word, version;
	uint64_t a, b, c;
};

enum jl_status net_send(int fd, const struct net_message *message, struct jl_err *err);
enum jl_status net_receive(int fd, struct net_message *ret_message, struct jl_err *err);
enum jl_status net_write(int fd, const void *data, size_t size_B, struct jl_err *err);
enum jl_status net_read(int fd, void *ret_data, size_t size_B, struct jl_err *err);
void net_number(unsigned char ret[8], uint64_t value);
uint64_t net_value(const unsigned char bytes[8]);
void net_options(int fd, double wait_s); /* no delay, time-outs */

/* --- streams of one transfer */
struct net_streams {
	int fds[JL_NET_STREAMS_MAX];
	int n;
	bool sends, receives;
	double time_s;
};
/* Runs the streams to their end; `ret_flow` is what was received here (n_samples 0 when nothing was to be). */
enum jl_status net_run(struct net_streams *streams, struct jl_net_flow *ret_flow, struct jl_err *err);
void net_summarise(struct jl_net_flow *flow);

#endif
