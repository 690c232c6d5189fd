/* Average power of a device under load: idle power, energy per byte and per operation, and a limit. Pure. */
#pragma once

#include "kernels/device.h"

/* Fitted to published board power of H100 and B200; other process nodes and memories by the factors in power.c. */
struct jl_power_fit {
	double idle_frac;   /* share of the TDP: full clocks, no work */
	double byte_J;      /* one byte of 16-bit data from memory through the SMs; 4 nm and HBM3 */
	double flop_J;      /* one 16-bit tensor operation; 4 nm */
	double cap_frac;    /* average power at the limit / limit */
	double narrow_gain; /* energy of a byte of 8-bit weights / of 16-bit weights: it holds two elements */
	/* energy of a byte in mixtures of experts / dense: gathered reads, less efficient kernels */
	double routed_gain;
};

struct jl_power_in {
	double moved_Bps;
	double flopps;  /* in the compute format; fp8 counts half, fp32 on vector units with its own energy */
	int vector;     /* runs on vector units instead of tensor cores */
	int narrow;     /* weights of 8 bits or fewer that are dequantised or scaled in the kernel */
	int routed;     /* mixture of experts */
	double limit_W; /* power limit below the TDP; NAN: the TDP */
};

/* Average board power in watts; NAN: neither TDP nor limit is known. */
double jl_power_W(const struct jl_device *dev, const struct jl_power_fit *fit, const struct jl_power_in *in);

/* The same from activity_frac, the share of the range between idle and limit that the work uses. */
double jl_power_active_W(const struct jl_device *dev, const struct jl_power_fit *fit, double activity_frac,
			 double limit_W);

/* Power with full clocks and no work. */
double jl_power_idle_W(const struct jl_device *dev, const struct jl_power_fit *fit);
