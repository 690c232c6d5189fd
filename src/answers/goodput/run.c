/* One run of the process of cycle.h, failure by failure: the time between two failures is computed, not simulated step by step. */
#include <math.h>

#include "goodput/cycle.h"

/* --- random numbers (splitmix64: one state, no warm-up, the same sequence everywhere) */

static uint64_t next(struct jl_draws *draws)
{
	uint64_t z = draws->state += 0x9e3779b97f4a7c15U;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
	z = (z ^ z >> 27) * 0x94d049bb133111ebU;
	return z ^ z >> 31;
}

double jl_draw_uniform(struct jl_draws *draws)
{
	return ((double)(next(draws) >> 11) + 0.5) * 0x1p-53;
}

double jl_draw_normal(struct jl_draws *draws)
{
	const double radius = sqrt(-2 * log(jl_draw_uniform(draws)));

	return radius * cos(2 * 3.14159265358979323846 * jl_draw_uniform(draws));
}

/* Marsaglia and Tsang 2000; a shape below 1 by the usual power of a uniform value. */
double jl_draw_gamma(struct jl_draws *draws, double shape)
{
	const double d = fmax(shape, shape + (shape < 1)) - 1.0 / 3, c = 1 / sqrt(9 * d);
	const double boost = shape < 1 ? pow(jl_draw_uniform(draws), 1 / shape) : 1;

	for (;;) {
		const double z = jl_draw_normal(draws), v = pow(1 + c * z, 3);

		if (v > 0 && log(jl_draw_uniform(draws)) < 0.5 * z * z + d - d * v + d * log(v))
			return boost * d * v;
	}
}

/* --- a calendar */

static void mark_part(struct jl_calendar *cal, double *io_at_s, double time_s, const struct jl_spent *of)
{
	double at_s = *io_at_s;
	const double end_s = at_s + time_s, sum = jl_spent_sum(of);

	*io_at_s = end_s;
	while (sum > 0 && at_s < end_s && at_s / cal->slot_s < JL_CALENDAR_MAX) {
		const size_t k = (size_t)(at_s / cal->slot_s);
		const double next_s = fmin(end_s, (double)(k + 1) * cal->slot_s), share = (next_s - at_s) / sum;
		struct jl_spent *slot = &cal->slots[k];

		slot->useful += share * of->useful;
		slot->checkpoint += share * of->checkpoint;
		slot->lost += share * of->lost;
		slot->down += share * of->down;
		slot->restart += share * of->restart;
		slot->planned += share * of->planned;
		cal->n = k + 1;
		if (!(next_s > at_s)) /* the slot is smaller than the floating-point resolution */
			break;
		at_s = next_s;
	}
}

/* Adds `time_s` from `*io_at_s` on, split as `of`, with the planned stops inside it. */
static void mark(struct jl_calendar *cal, double *io_at_s, double time_s, struct jl_spent of)
{
	static const struct jl_spent stop = { .planned = 1 };

	if (!cal)
		return;
	while (cal->every_s > 0 && cal->since_s + time_s > cal->every_s) {
		const double until_s = cal->every_s - cal->since_s;

		mark_part(cal, io_at_s, until_s, &of);
		mark_part(cal, io_at_s, cal->planned_s, &stop);
		time_s -= until_s;
		cal->since_s = 0;
	}
	mark_part(cal, io_at_s, time_s, &of);
	cal->since_s += time_s;
}

/* Moves the last useful and stalled seconds before `at_s` to lost time. */
static void unmark(struct jl_calendar *cal, double at_s, double useful_s, double stalled_s)
{
	for (size_t k = cal && at_s > 0 ? (size_t)fmin(at_s / cal->slot_s, JL_CALENDAR_MAX - 1) + 1 : 0; k-- > 0;) {
		struct jl_spent *slot = &cal->slots[k];
		const double useful = fmin(slot->useful, useful_s), stalled = fmin(slot->checkpoint, stalled_s);

		slot->useful -= useful;
		slot->checkpoint -= stalled;
		slot->lost += useful + stalled;
		useful_s -= useful;
		stalled_s -= stalled;
	}
}

/* --- a run */

/* Positions count segments of the finer level: in-memory copies where they exist, else checkpoints in the store. */
struct state {
	const struct jl_cycle *c;
	double segment_s, work_s, stall_s; /* of one segment */
	double per_store;                  /* segments from one checkpoint of the store to the next */
	double lag_s, store_lag_s;
	double at, stored; /* progress of the job; progress in storage */
	double needed;     /* segments of the run; the last one may be partial */
};

static struct state begin(const struct jl_run_in *in)
{
	const struct jl_cycle *c = &in->cycle;
	const bool copies = c->memory_frac > 0;
	const struct jl_level *fine = copies ? &c->memory : &c->store;
	const double per_store = copies ? fmax(1, round(c->store.work_s / fine->work_s)) : 1;
	struct state s = { .c = c,
			   .work_s = fine->work_s,
			   .stall_s = fine->stall_s + (copies ? c->store.stall_s / per_store : 0),
			   .per_store = per_store,
			   .lag_s = fine->lag_s,
			   .store_lag_s = c->store.lag_s };

	s.segment_s = s.work_s + s.stall_s;
	s.needed = in->work_s / s.work_s;
	return s;
}

/* Segments with a usable checkpoint `up_s` after the job resumed. */
static double usable(double up_s, double lag_s, double segment_s)
{
	return up_s >= lag_s ? floor((up_s - lag_s) / segment_s) : 0;
}

/* Progress kept when the job fails after `up_s`. A run that ends early keeps its completed segments. */
static void fail_after(struct state *s, double up_s, bool deep, struct jl_spent *spent, struct jl_calendar *cal,
		       double *io_at_s)
{
	const double kept = usable(up_s, s->lag_s, s->segment_s);
	double back = s->at + kept;

	if (s->c->memory_frac > 0) {
		const double written = s->at + usable(up_s, s->store_lag_s, s->segment_s);

		if (up_s >= s->store_lag_s)
			s->stored = fmax(s->stored, floor(written / s->per_store) * s->per_store);
		if (deep)
			back = s->stored;
	}
	const double gone = fmax(0, back - s->at);

	if (cal) {
		unmark(cal, *io_at_s, fmax(0, s->at - back) * s->work_s, fmax(0, s->at - back) * s->stall_s);
		mark(cal, io_at_s, gone * s->segment_s,
		     (struct jl_spent){ .useful = s->work_s, .checkpoint = s->stall_s });
		mark(cal, io_at_s, up_s - gone * s->segment_s, (struct jl_spent){ .lost = 1 });
	}
	/* useful and stalled time of repeated work was counted the first time */
	spent->useful += (back - s->at) * s->work_s;
	spent->checkpoint += (back - s->at) * s->stall_s;
	spent->lost += up_s - (back - s->at) * s->segment_s;
	s->at = back;
}

void jl_cycle_run(struct jl_run_out *ret_run, const struct jl_run_in *in, struct jl_draws *draws)
{
	const struct jl_cycle *c = &in->cycle;
	struct jl_run_out run = { .n_failures = 0 };
	struct state s = begin(in);
	double elapsed_s = 0, restart_s = 0, at_s = 0;
	bool deep = false; /* the last failure destroyed the in-memory copies */

	while (elapsed_s < in->most_s) {
		const double until_s = c->rate_hz > 0 ? -log(jl_draw_uniform(draws)) / c->rate_hz : INFINITY;
		const double rest_s = (s.needed - s.at) * s.segment_s;

		if (until_s >= restart_s + rest_s) {
			run.spent.restart += restart_s;
			run.spent.useful += (s.needed - s.at) * s.work_s;
			run.spent.checkpoint += (s.needed - s.at) * s.stall_s;
			mark(in->calendar, &at_s, restart_s, (struct jl_spent){ .restart = 1 });
			mark(in->calendar, &at_s, rest_s,
			     (struct jl_spent){ .useful = s.work_s, .checkpoint = s.stall_s });
			run.done = true;
			break;
		}
		deep = (deep && until_s < restart_s) || !(c->memory_frac > 0) ||
		       jl_draw_uniform(draws) >= c->memory_frac;
		run.spent.restart += fmin(until_s, restart_s);
		mark(in->calendar, &at_s, fmin(until_s, restart_s), (struct jl_spent){ .restart = 1 });
		fail_after(&s, fmax(0, until_s - restart_s), deep, &run.spent, in->calendar, &at_s);
		mark(in->calendar, &at_s, c->down_s, (struct jl_spent){ .down = 1 });
		run.spent.down += c->down_s;
		run.n_failures++;
		elapsed_s += until_s + c->down_s;
		restart_s = deep ? c->store.restart_s : c->memory.restart_s;
	}
	*ret_run = run;
}
