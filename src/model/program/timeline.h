/* Steady-state step time of a program from its calls on host, device and collectives. Pure; prices come from price.h.
 *
 * A step consists of sums and maxima, so it is a matrix M over (max, +) that maps the tracks' times at its beginning to those at its end. The
 * steady-state step time is the largest mean of a cycle of M, which one walk over the calls gives exactly. */
#pragma once

#include "program/price.h"

enum jl_track { JL_TRACK_HOST, JL_TRACK_DEVICE, JL_TRACK_COMM, JL_N_TRACK };

struct jl_timeline_in {
	const struct jl_program *p;
	const struct jl_call_cost *costs;             /* cost per kind of call */
	const double *collective_s;                   /* seconds per collective */
	double view_s[JL_N_ISSUER], module_s, wait_s; /* host times */
	double comm_launch_s;                         /* host time per collective */
	double begin_s[JL_N_PHASE];                   /* host time per phase: call of a compiled graph */
	double device_ratio;                          /* factor on all device times: recovered throttling */
	double *scratch;                              /* JL_N_TRACK per collective; NULL if there are none */
};

struct jl_timeline {
	double step_s;              /* steady-state period */
	double track_s[JL_N_TRACK]; /* busy time per step */
	double latency_s;           /* single step: from the first call to the last end */
	double phase_s[JL_N_PHASE]; /* device time per phase */
	double phase_host_s[JL_N_PHASE];
	double class_s[JL_N_OP_CLASS]; /* device time per class of operators */
	double n_kernels, flop, moved_B;
	double class_B[JL_N_OP_CLASS];
	double class_kernels[JL_N_OP_CLASS];
};

/* Host time of one call, views and modules before it included. */
double jl_event_host_s(const struct jl_timeline_in *in, const struct jl_event *e);

void jl_timeline(struct jl_timeline *ret_timeline, const struct jl_timeline_in *in);
