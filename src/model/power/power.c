/* Board power from bytes moved and operations done. */
#include "power/power.h"

#include <math.h>

/* energy of a vector operation / a tensor operation: tensor cores share instruction and register energy among many */
#define VECTOR_GAIN 5.0

/* order of the mean that smooths the power limit */
#define CAP_ORDER 6.0

double jl_power_idle_W(const struct jl_device *dev, const struct jl_power_fit *fit)
{
	return fit->idle_frac * dev->tdp_W;
}

/* Power demand under a limit: near the limit clocks already fall. */
static double power_capped_W(double demand_W, double cap_W)
{
	/* divided by the smaller so that the powers cannot overflow */
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
	double byte_J = fit->byte_J * dev->priors->byte_gain;
	const double flop_J = fit->flop_J * dev->priors->flop_gain * (in->vector ? VECTOR_GAIN : 1);

	if (in->narrow)
		byte_J *= fit->narrow_gain;
	if (in->routed)
		byte_J *= fit->routed_gain;
	return power_capped_W(idle_W + byte_J * in->moved_Bps + flop_J * in->flopps, fit->cap_frac * limit_W);
}

double jl_power_active_W(const struct jl_device *dev, const struct jl_power_fit *fit, double activity_frac,
			 double limit_W)
{
	const double idle_W = jl_power_idle_W(dev, fit), cap_W = fit->cap_frac * dev->tdp_W;
	const double most_W = isnan(limit_W) ? dev->tdp_W : fmin(limit_W, dev->tdp_W);

	return power_capped_W(idle_W + activity_frac * (cap_W - idle_W), fit->cap_frac * most_W);
}
