/* The streams of one transfer of `bench net`. */
#pragma once

#include "bench/net.h"

#define JL_NET_WAIT_S   5.0 /* timeout for data that the peer must send */
#define JL_NET_SAMPLE_S 0.1

struct jl_net_streams {
	int fds[JL_NET_STREAMS_MAX];
	int n;
	bool sends, receives;
	double time_s;
	size_t sent_B;           /* set by jl_net_run */
	bool (*stop)(void *ctx); /* may be NULL */
	void *ctx;
};
/* Runs the streams to their end. `ret_flow`: received data (n_samples 0 if nothing was to be received). JL_E_IO: the transfer stalled. */
enum jl_status jl_net_run(struct jl_net_streams *streams, struct jl_net_flow *ret_flow, struct jl_err *err);
void jl_net_close_streams(struct jl_net_streams *streams);
void jl_net_summarise(struct jl_net_flow *flow);
