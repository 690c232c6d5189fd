/* What a device draws while it works: an idle share, an energy for every byte moved and every operation done, and a cap. Pure functions. */
#pragma once

#include "kernels/device.h"

/* Fitted on published board power of H100 and B200; other processes and memories by the factors in power.c. */
struct jl_power_fit {
	double idle_frac;   /* of the TDP: clocks up, nothing moving */
	double byte_J;      /* one byte of 16-bit data from memory through the SMs, 4 nm and HBM3 */
	double flop_J;      /* one 16-bit tensor operation, 4 nm */
	double cap_frac;    /* average draw of a board that runs into its limit */
	double narrow_gain; /* a byte of 8-bit weights against one of 16-bit ones: it is two elements */
	double routed_gain; /* a byte of a mixture of experts: gathered, and its kernels are less efficient */
};

struct jl_power_in {
	double moved_Bps;
	double flopps;  /* in the format that is computed in; fp8 counts half, fp32 on vector units by its own energy */
	int vector;     /* operations on vector units instead of tensor cores */
	int narrow;     /* weights of 8 bits or fewer that are widened or scaled on the way */
	int routed;     /* mixture of experts */
	double limit_W; /* a limit below the TDP; NAN: the TDP */
};

/* Average board power. NAN where the device's TDP is unknown and no limit is given. */
double jl_power_W(const struct jl_device *dev, const struct jl_power_fit *fit, const struct jl_power_in *in);

/* The same where only the share of what lies between idle and the cap is known that the work asks for. */
double jl_power_active_W(const struct jl_device *dev, const struct jl_power_fit *fit, double activity_frac,
			 double limit_W);

/* Idle with clocks up. */
double jl_power_idle_W(const struct jl_device *dev, const struct jl_power_fit *fit);
