/* Pipeline schedules: closed-form time, and turn-by-turn times for drawing. */
#include "timeline/step.h"

#include <math.h>

struct jl_pipeline_cost jl_pipeline_cost(const struct jl_pipeline *pipe)
{
	struct jl_pipeline_cost cost = { 0 };

	if (pipe->n_stages <= 1.0) {
		cost.busy_s = pipe->n_micro * pipe->first_s;
		return cost;
	}
	const double slowest_s = fmax(fmax(pipe->middle_s, pipe->fullest_s), fmax(pipe->first_s, pipe->last_s));
	const double all_s = pipe->first_s + pipe->last_s + (pipe->n_stages - 2.0) * pipe->middle_s;
	const double n_sends = 2.0 * pipe->n_chunks * pipe->n_micro + 2.0 * (pipe->n_stages - 1.0);

	/* the first micro-batch passes all stages, the others follow at the pace of the slowest; interleaving fills and drains in units of one
	 * chunk */
	cost.busy_s = pipe->n_micro * slowest_s;
	cost.bubble_s = (all_s - slowest_s) * (pipe->serial ? pipe->n_micro : 1.0 / pipe->n_chunks);
	cost.send_s = n_sends * pipe->send_s * (1.0 - pipe->send_overlap_frac);
	return cost;
}

struct jl_stage_layers jl_stage_layers(double n_layers, double n_stages)
{
	const double most = ceil(n_layers / n_stages - 1e-9), lacks = most * n_stages - n_layers;
	struct jl_stage_layers l = { most, most, most, most };

	if (n_stages <= 1.0)
		return l;
	l.last = most - (lacks >= 1.0);
	l.first = most - (lacks >= 2.0);
	if (n_stages > 2.0)
		l.middle = (n_layers - l.first - l.last) / (n_stages - 2.0);
	return l;
}

int jl_chunks_divide(double n_layers, double n_stages, double n_chunks)
{
	for (double ends = 0.0; ends <= 2.0; ends++)
		if (fmod(n_layers + ends, n_stages * n_chunks) == 0.0)
			return 1;
	return 0;
}

double jl_pipeline_in_flight(double n_stages, double n_micro, double n_chunks, double index)
{
	const double plain = fmin(n_micro, n_stages - index);

	if (n_chunks <= 1.0 || n_stages <= 1.0)
		return plain;
	/* interleaved warm-up: (p - 1 - i) * 2 + (v - 1) * p + 1 chunks, each 1/v of the stage */
	return fmin(n_micro, ((n_stages - 1.0 - index) * 2.0 + (n_chunks - 1.0) * n_stages + 1.0) / n_chunks);
}

size_t jl_turns_count(const struct jl_turns_in *in)
{
	const double n = 2.0 * in->n_stages * in->n_micro * in->n_chunks;

	return in->n_stages < 2 || in->n_micro < 1 || n > (double)JL_TURNS_MAX ? 0 : (size_t)n;
}

static int chunks_of(const struct jl_turns_in *in)
{
	return in->n_chunks > 1 && in->n_micro % in->n_stages == 0 ? in->n_chunks : 1;
}

/* Forward passes of a stage before its first backward pass. */
static int warm_up(const struct jl_turns_in *in, int stage)
{
	const int v = chunks_of(in), left = in->n_stages - 1 - stage,
		  warm = v > 1 ? 2 * left + (v - 1) * in->n_stages : left;

	return warm < in->n_micro * v ? warm : in->n_micro * v;
}

/* Micro-batch and virtual stage (of p * v) of the k-th pass of a kind. */
static void kth(const struct jl_turns_in *in, int stage, int k, bool back, int *ret_micro, int *ret_at)
{
	const int p = in->n_stages, v = chunks_of(in), chunk = v > 1 ? k / p % v : 0;

	*ret_micro = v > 1 ? k / (p * v) * p + k % p : k;
	*ret_at = (back ? v - 1 - chunk : chunk) * p + stage;
}

/* Kind and index of a stage's i-th turn: warm-up forward, then alternating, then the remaining backward passes. */
static int ith(const struct jl_turns_in *in, int stage, int i, bool *ret_back)
{
	const int n = in->n_micro * chunks_of(in), warm = warm_up(in, stage), steady = 2 * (n - warm);

	*ret_back = i >= warm && (i >= warm + steady || (i - warm) % 2 == 1);
	return i < warm ? i : i >= warm + steady ? i - n : *ret_back ? (i - warm) / 2 : warm + (i - warm) / 2;
}

void jl_pipeline_turns(const struct jl_turns_in *in, struct jl_turn *ret_turns, double *work)
{
	const int p = in->n_stages, v = chunks_of(in), n_virtual = p * v, n_each = 2 * in->n_micro * v;
	/* end times, forward and backward; negative: not computed yet */
	double *const done[] = { work, work + (size_t)n_virtual * (size_t)in->n_micro };

	for (int i = 0; i < 2 * n_virtual * in->n_micro; i++)
		work[i] = -1;
	for (int stage = 0; stage < p; stage++)
		ret_turns[stage * n_each].end_s = -1;
	for (int left = p * n_each, before = -1; left > 0 && left != before;) {
		before = left;
		for (int stage = 0; stage < p; stage++) {
			struct jl_turn *turns = &ret_turns[stage * n_each];
			const double time_s = (stage == p - 1 ? in->last_s : in->each_s) / v;
			int i = 0;

			while (i < n_each && turns[i].end_s >= 0)
				i++;
			for (; i < n_each; i++, left--) {
				bool back;
				int micro, at;
				const int k = ith(in, stage, i, &back);

				kth(in, stage, k, back, &micro, &at);
				const int first = back ? n_virtual - 1 : 0, from = back ? at + 1 : at - 1;
				const double *const of = at == first ? done[0] : done[back];
				const double ready_s = !back && at == first
							       ? 0
							       : of[micro * n_virtual + (at == first ? at : from)];

				if (ready_s < 0)
					break;
				turns[i].stage = stage;
				turns[i].back = back;
				turns[i].begin_s = fmax(ready_s, i ? turns[i - 1].end_s : 0);
				turns[i].end_s = turns[i].begin_s + time_s * (back ? 2.0 : 1.0) / 3.0;
				done[back][micro * n_virtual + at] = turns[i].end_s;
				if (i + 1 < n_each)
					turns[i + 1].end_s = -1;
			}
		}
	}
}
