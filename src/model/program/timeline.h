/* Host, device and collectives, call by call: how long a step takes once steps follow each other. Pure; the prices come from price.h.
 *
 * What happens in a step is made of sums and maxima, so that it is a matrix M over (max, +): times at the end of a step from those at its
 * beginning. Steps that follow each other take the largest mean of a cycle of M; one walk through the calls gives it exactly. */
#pragma once

#include "program/price.h"

enum jl_track { JL_TRACK_HOST, JL_TRACK_DEVICE, JL_TRACK_COMM, JL_N_TRACK };

struct jl_timeline_in {
	const struct jl_program *p;
	const struct jl_call_cost *costs;             /* of each kind of call */
	const double *collective_s;                   /* of each collective */
	double view_s[JL_N_ISSUER], module_s, wait_s; /* of the host */
	double comm_launch_s;                         /* of the host, a collective */
	double device_ratio;                          /* all device times: what the power limit gives back */
	double *scratch;                              /* JL_N_TRACK of each collective; NULL where there are none */
};

struct jl_timeline {
	double step_s;              /* from one step to the next */
	double track_s[JL_N_TRACK]; /* busy in a step */
	double latency_s;           /* of one step by itself: from the first call to the last end */
	double phase_s[JL_N_PHASE]; /* device time */
	double phase_host_s[JL_N_PHASE];
	double class_s[JL_N_OP_CLASS]; /* device time */
	double n_kernels, flop, moved_B;
	double class_B[JL_N_OP_CLASS];
	double class_kernels[JL_N_OP_CLASS];
};

/* Host time of one call, with the views and modules before it. */
double jl_event_host_s(const struct jl_timeline_in *in, const struct jl_event *e);

void jl_timeline(struct jl_timeline *ret_timeline, const struct jl_timeline_in *in);
