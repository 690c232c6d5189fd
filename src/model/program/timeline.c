/* Step time of a program in steady state. */
#include "program/timeline.h"

#include <math.h>

/* Columns of the (max, +) matrix: time of each track if the column's track starts at 0 and all others at minus infinity. */
struct columns {
	double t[JL_N_TRACK][JL_N_TRACK]; /* [track][column] */
};

static double later(double a, double b)
{
	return a > b ? a : b;
}

double jl_event_host_s(const struct jl_timeline_in *in, const struct jl_event *e)
{
	const struct jl_call_cost *cost = &in->costs[e->kind];
	const enum jl_issuer host = jl_issuer_of(in->p, e->phase);

	return cost->host_s[host] + e->host * in->view_s[host] + e->entered * in->module_s;
}

static void collective(struct columns *m, const struct jl_timeline_in *in, size_t i)
{
	for (int c = 0; c < JL_N_TRACK; c++) {
		double *comm = &m->t[JL_TRACK_COMM][c], *device = &m->t[JL_TRACK_DEVICE][c];

		*comm = later(later(*comm, *device), m->t[JL_TRACK_HOST][c]) + in->collective_s[i];
		in->scratch[i * JL_N_TRACK + (size_t)c] = *comm;
		if (!in->p->collectives[i].async)
			*device = later(*device, *comm);
	}
}

/* Events other than calls, which are rare. */
static void other(struct columns *m, const struct jl_timeline_in *in, const struct jl_event *e)
{
	double *host = m->t[JL_TRACK_HOST], *device = m->t[JL_TRACK_DEVICE];

	for (int c = 0; c < JL_N_TRACK; c++) {
		if (e->what == JL_EVENT_WAIT)
			host[c] = later(host[c], device[c]) + in->wait_s;
		else if (e->what == JL_EVENT_COLLECTIVE)
			host[c] += in->p->graph ? 0 : in->comm_launch_s;
		else
			device[c] = later(device[c], in->scratch[(size_t)e->kind * JL_N_TRACK + (size_t)c]);
	}
	if (e->what == JL_EVENT_COLLECTIVE)
		collective(m, in, e->kind);
}

/* One walk over the events for all columns; the collectives' column only if there are any. */
static void walk(struct columns *m, const struct jl_timeline_in *in)
{
	const struct jl_program *p = in->p;
	const double paced = p->graph ? 0 : 1;
	double *host = m->t[JL_TRACK_HOST], *device = m->t[JL_TRACK_DEVICE], begin_s = 0;

	for (int phase = 0; phase < JL_N_PHASE; phase++)
		begin_s += paced * in->begin_s[phase];
	for (int c = 0; c < JL_N_TRACK; c++)
		host[c] += begin_s;
	for (size_t i = 0; i < p->n_events; i++) {
		const struct jl_event *e = &p->events[i];

		if (e->what != JL_EVENT_CALL) {
			other(m, in, e);
			continue;
		}
		const struct jl_call_cost *cost = &in->costs[e->kind];
		const double call_s = paced * jl_event_host_s(in, e), device_s = cost->device_s * in->device_ratio;

		host[0] += call_s;
		host[1] += call_s;
		host[2] += call_s;
		if (device_s > 0) {
			device[0] = later(device[0], host[0]) + device_s;
			device[1] = later(device[1], host[1]) + device_s;
			device[2] = later(device[2], host[2]) + device_s;
		}
	}
}

/* Largest mean of a cycle over one, two or three tracks. */
static double period(const struct columns *m)
{
	double best = 0;

	for (int a = 0; a < JL_N_TRACK; a++) {
		best = later(best, m->t[a][a]);
		for (int b = 0; b < JL_N_TRACK; b++) {
			best = later(best, (m->t[b][a] + m->t[a][b]) / 2);
			for (int c = 0; c < JL_N_TRACK; c++)
				best = later(best, (m->t[b][a] + m->t[c][b] + m->t[a][c]) / 3);
		}
	}
	return best;
}

/* Sums over all calls, independent of waits: cost of each kind times its number of calls. */
static void add_up(struct jl_timeline *t, const struct jl_timeline_in *in)
{
	const struct jl_program *p = in->p;

	for (size_t k = 0; k < p->n_kinds; k++) {
		const struct jl_call_cost *cost = &in->costs[k];
		double n_calls = 0;

		for (int phase = 0; phase < JL_N_PHASE; phase++) {
			const double n = p->uses[k].n[phase];

			n_calls += n;
			t->phase_s[phase] += n * cost->device_s * in->device_ratio;
			t->phase_host_s[phase] += n * cost->host_s[jl_issuer_of(p, (enum jl_step_phase)phase)];
		}
		t->class_s[cost->class] += n_calls * cost->device_s * in->device_ratio;
		t->class_B[cost->class] += n_calls * cost->moved_B;
		t->class_kernels[cost->class] += n_calls * cost->n_kernels;
		t->n_kernels += n_calls * cost->n_kernels;
		t->flop += n_calls * cost->flop;
		t->moved_B += n_calls * cost->moved_B;
	}
	for (int phase = 0; phase < JL_N_PHASE; phase++) {
		t->phase_host_s[phase] += p->n_views[phase] * in->view_s[jl_issuer_of(p, (enum jl_step_phase)phase)] +
					  (phase == JL_PHASE_FORWARD ? p->n_entered * in->module_s : 0) +
					  in->begin_s[phase];
		t->phase_host_s[phase] = p->graph ? 0 : t->phase_host_s[phase];
		t->track_s[JL_TRACK_HOST] += t->phase_host_s[phase];
		t->track_s[JL_TRACK_DEVICE] += t->phase_s[phase];
	}
	for (size_t i = 0; i < p->n_collectives; i++) {
		t->track_s[JL_TRACK_COMM] += in->collective_s[i];
		t->track_s[JL_TRACK_HOST] += p->graph ? 0 : in->comm_launch_s;
	}
}

void jl_timeline(struct jl_timeline *ret_timeline, const struct jl_timeline_in *in)
{
	const int n_track = in->p->n_collectives ? JL_N_TRACK : JL_TRACK_COMM;
	struct columns m;
	struct jl_timeline t = { .step_s = 0 };

	for (int a = 0; a < JL_N_TRACK; a++)
		for (int b = 0; b < JL_N_TRACK; b++)
			m.t[a][b] = a == b && a < n_track ? 0 : -INFINITY;
	walk(&m, in);
	add_up(&t, in);
	t.step_s = period(&m);
	for (int a = 0; a < JL_N_TRACK; a++)
		for (int b = 0; b < JL_N_TRACK; b++)
			t.latency_s = later(t.latency_s, m.t[a][b]);
	*ret_timeline = t;
}
