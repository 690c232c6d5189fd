/* Naive guesses: the figures that the model must beat. Pure. */
#pragma once

#include "fabric/collective.h"
#include "kernels/device.h"

#define JL_BASELINE_MFU_FRAC      0.4
#define JL_BASELINE_ROOFLINE_FRAC 0.7

/* The listed rate of a format; of the vector units where the device does not have the format. */
double jl_baseline_peak_flopps(const struct jl_device *dev, enum jl_dtype dtype);

/* The longer of arithmetic and memory traffic, both at one share of the listed rate. moved_B 0: arithmetic alone. */
double jl_baseline_roofline_s(const struct jl_device *dev, enum jl_dtype dtype, double flop, double moved_B,
			      double frac);

/* Bytes of a collective over the listed rate of its narrowest link, at a share of it, and a fixed time. */
double jl_baseline_collective_s(const struct jl_fabric *listed, const struct jl_collective *coll, double frac,
				double start_s);
