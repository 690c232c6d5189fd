#include "model/power.h"

#include <math.h>

/* Energy against 4 nm and HBM3, by process and memory: 16/12 nm, 8 nm, 7 nm; HBM2, GDDR5X/6/6X. Process steps as in the
 * vendors' own energy claims per generation; the order matters more than the second digit (docs/METHOD.md). */
static const struct {
	double flop, byte;
} arch_gain[JL_N_ARCH] = {
	[JL_ARCH_OTHER] = { 1.5, 1.3 },        [JL_ARCH_PASCAL] = { 3.0, 1.5 },
	[JL_ARCH_VOLTA] = { 2.6, 1.3 },        [JL_ARCH_TURING] = { 2.8, 1.9 },
	[JL_ARCH_AMPERE_DC] = { 1.6, 1.2 },    [JL_ARCH_AMPERE_RTX] = { 2.4, 2.0 },
	[JL_ARCH_ADA] = { 1.2, 1.7 },          [JL_ARCH_HOPPER] = { 1.0, 1.0 },
	[JL_ARCH_BLACKWELL_DC] = { 1.0, 1.0 }, [JL_ARCH_BLACKWELL_RTX] = { 1.1, 1.5 },
	[JL_ARCH_CDNA] = { 1.3, 1.1 },         [JL_ARCH_GAUDI] = { 1.3, 1.1 },
};

/* An operation on vector units pays for its instruction and registers, which tensor cores share among many. */
#define VECTOR_GAIN 5.0

/* How hard the cap is: as a mean of this order. */
#define CAP_ORDER 6.0

double jl_power_idle_W(const struct jl_device *dev, const struct jl_power_fit *fit)
{
	return fit->idle_frac * dev->tdp_W;
}

double jl_power_capped_W(double demand_W, double cap_W)
{
	/* scaled by the smaller so that the powers cannot overflow */
	const double least = fmin(demand_W, cap_W), most = fmax(demand_W, cap_W);

	if (!(least > 0))
		return least;
	return least / pow(1 + pow(least / most, CAP_ORDER), 1 / CAP_ORDER);
}

double jl_power_W(const struct jl_device *dev, const struct jl_power_fit *fit, const struct jl_power_in *in)
{
	const double limit_W = isnan(in->limit_W) ? dev->tdp_W
						  : fmin(in->limit_W, isnan(dev->tdp_W) ? in->limit_W : dev->tdp_W);
	const double idle_W = fit->idle_frac * (isnan(dev->tdp_W) ? limit_W : dev->tdp_W);
	double byte_J = fit->byte_J * arch_gain[dev->arch].byte;
	const double flop_J = fit->flop_J * arch_gain[dev->arch].flop * (in->vector ? VECTOR_GAIN : 1);

	if (in->narrow)
		byte_J *= fit->narrow_gain;
	if (in->routed)
		byte_J *= fit->routed_gain;
	return jl_power_capped_W(idle_W + byte_J * in->moved_Bps + flop_J * in->flopps, fit->cap_frac * limit_W);
}
