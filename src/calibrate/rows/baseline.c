#include "rows/baseline.h"

#include <math.h>

double jl_baseline_peak_flopps(const struct jl_device *dev, enum jl_dtype dtype)
{
	return isnan(dev->peak_flopps[dtype]) ? dev->peak_flopps[JL_FP32] : dev->peak_flopps[dtype];
}

double jl_baseline_roofline_s(const struct jl_device *dev, enum jl_dtype dtype, double flop, double moved_B,
			      double frac)
{
	const double compute_s = flop / (frac * jl_baseline_peak_flopps(dev, dtype));
	const double memory_s = moved_B / (frac * dev->mem_Bps);

	return fmax(compute_s, moved_B > 0.0 ? memory_s : 0.0);
}

double jl_baseline_collective_s(const struct jl_fabric *listed, const struct jl_collective *coll, double frac,
				double start_s)
{
	const double per_rank = jl_busbw_factor(coll->kind, coll->n_ranks) * coll->size_B;
	const double intra_Bps = listed->intra_kind == JL_INTRA_BRIDGE_PAIR && coll->n_ranks == 2
					 ? listed->pair.rate_Bps
					 : listed->intra.rate_Bps;
	double rate_Bps = intra_Bps;

	/* A ring enters and leaves each host once: its share of the network is all of it. */
	if (listed->n_nodes > 1)
		rate_Bps = coll->n_ranks_per_node > 1 ? fmin(intra_Bps, listed->inter.rate_Bps)
						      : listed->inter.rate_Bps;
	return start_s + per_rank / (frac * rate_Bps);
}
