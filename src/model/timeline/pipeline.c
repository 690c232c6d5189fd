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

	/* One micro-batch passes through all stages; the others follow it at the pace of the slowest. Interleaving
	 * fills and drains the pipeline in pieces of one chunk. */
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
	/* Interleaved warm-up: (p - 1 - i) * 2 + (v - 1) * p + 1 chunks, each 1/v of the stage. */
	return fmin(n_micro, ((n_stages - 1.0 - index) * 2.0 + (n_chunks - 1.0) * n_stages + 1.0) / n_chunks);
}
