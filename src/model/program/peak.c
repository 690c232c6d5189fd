/* Peak memory of a program from its allocations. */
#include "program/peak.h"

#include <math.h>

static double block_B(const struct jl_storage *s)
{
	return ceil(s->size_B / JL_PROGRAM_BLOCK_B) * JL_PROGRAM_BLOCK_B;
}

static double initial_B(const struct jl_program *p)
{
	double live_B = 0;

	for (size_t i = 0; i < p->n_initial; i++)
		live_B += block_B(&p->storages[i]);
	return live_B;
}

/* Peak during an event: a call allocates before it frees. */
static double most_at(const struct jl_program *p, size_t i, double *io_live_B, const double *brief_B)
{
	double most_B = *io_live_B;

	for (uint32_t a = p->events[i].first_alloc; a < p->events[i + 1].first_alloc; a++) {
		const struct jl_alloc *alloc = &p->allocs[a];
		const double size_B = block_B(&p->storages[alloc->storage]);

		*io_live_B += alloc->freed ? -size_B : size_B;
		most_B = fmax(most_B, *io_live_B);
	}
	return most_B + (brief_B && p->events[i].what == JL_EVENT_CALL ? brief_B[p->events[i].kind] : 0);
}

static void find_peak(struct jl_program_peak *peak, const struct jl_program *p, const double *brief_B)
{
	double live_B = initial_B(p);

	peak->begin_B = peak->peak_B = live_B;
	peak->event = 0;
	for (size_t i = 0; i < p->n_events; i++) {
		const double most_B = most_at(p, i, &live_B, brief_B);

		if (most_B > peak->peak_B) {
			peak->peak_B = most_B;
			peak->event = i;
		}
	}
	peak->end_B = live_B;
}

void jl_program_live(double *ret_live_B, size_t n, const struct jl_program *p, const double *brief_B)
{
	double live_B = initial_B(p);

	for (size_t k = 0; k < n; k++)
		ret_live_B[k] = k ? 0 : live_B;
	for (size_t i = 0; i < p->n_events; i++) {
		double *at = &ret_live_B[i * n / p->n_events];

		*at = fmax(*at, most_at(p, i, &live_B, brief_B));
	}
	for (size_t k = 1; k < n; k++) /* fewer events than shares */
		ret_live_B[k] = ret_live_B[k] > 0 ? ret_live_B[k] : ret_live_B[k - 1];
}

static enum jl_peak_part part_of(const struct jl_program *p, const struct jl_storage *s, uint32_t freed_at)
{
	static const enum jl_peak_part parts[JL_STORAGE_STEP] = {
		[JL_STORAGE_PARAM] = JL_PEAK_PARAMS, [JL_STORAGE_GRAD] = JL_PEAK_GRADS,
		[JL_STORAGE_STATE] = JL_PEAK_STATES, [JL_STORAGE_BUFFER] = JL_PEAK_PARAMS,
		[JL_STORAGE_INPUT] = JL_PEAK_INPUTS, [JL_STORAGE_OTHER] = JL_PEAK_BRIEF,
	};

	if (s->kind < JL_STORAGE_STEP)
		return parts[s->kind];
	const uint8_t made = p->events[s->event].phase;

	if (made == JL_PHASE_BACKWARD && (freed_at >= p->n_events || p->events[freed_at].phase != JL_PHASE_BACKWARD))
		return JL_PEAK_GRADS;
	if (made == JL_PHASE_UPDATE && freed_at >= p->n_events) /* the first step creates the optimizer states */
		return JL_PEAK_STATES;
	return made == JL_PHASE_FORWARD ? JL_PEAK_KEPT : JL_PEAK_BRIEF;
}

/* Splits the memory alive at the peak by kind. `freed_at`: event that frees each storage; n_events: never. */
static void sum_parts(struct jl_program_peak *peak, const struct jl_program *p, const uint32_t *freed_at)
{
	for (size_t i = 0; i < p->n_storages; i++) {
		const struct jl_storage *s = &p->storages[i];
		const bool step = s->kind == JL_STORAGE_STEP;
		const enum jl_peak_part part = part_of(p, s, freed_at[i]);

		if (part == JL_PEAK_GRADS)
			peak->grads_B += s->size_B;
		if ((step && s->event > peak->event) || freed_at[i] < peak->event)
			continue;
		peak->part_B[part] += block_B(s);
		if (step)
			peak->module_B[p->events[s->event].module] += block_B(s);
	}
}

enum jl_status jl_program_peak(struct jl_program_peak *ret_peak, const struct jl_program *p, const double *brief_B,
			       struct jl_arena *arena, struct jl_err *err)
{
	struct jl_program_peak peak = { .module_B = jl_arena_array(arena, p->n_modules, sizeof(*peak.module_B)) };
	uint32_t *freed_at = jl_arena_array(arena, p->n_storages + 1, sizeof(*freed_at));

	JL_TRY(jl_got(peak.module_B && freed_at, err));
	for (size_t i = 0; i < p->n_storages; i++)
		freed_at[i] = (uint32_t)p->n_events;
	for (size_t i = 0; i < p->n_events; i++)
		for (uint32_t a = p->events[i].first_alloc; a < p->events[i + 1].first_alloc; a++)
			if (p->allocs[a].freed)
				freed_at[p->allocs[a].storage] = (uint32_t)i;
	find_peak(&peak, p, brief_B);
	sum_parts(&peak, p, freed_at);
	if (brief_B && p->n_events && p->events[peak.event].what == JL_EVENT_CALL)
		peak.part_B[JL_PEAK_BRIEF] += brief_B[p->events[peak.event].kind];
	*ret_peak = peak;
	return JL_OK;
}
