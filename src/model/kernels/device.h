/* One accelerator as the model uses it: listed facts and fitted parameters as plain numbers. Pure data in SI units; NAN: unknown. */
#pragma once

#include "base/dtype.h"
#include "base/priors.h"

/* Kinds of arithmetic units; each reaches a different share of its listed rate. */
enum jl_unit { JL_UNIT_VECTOR, JL_UNIT_TENSOR16, JL_UNIT_TENSOR8, JL_N_UNIT };

/* Fitted by `jeoul calibrate --fit` per GPU model; a GPU without measurements takes its family's values. */
struct jl_device_fit {
	double gemm_frac[JL_N_DTYPE]; /* sustained / listed dense rate for large aligned products, power cap included */
	double burst_frac[JL_N_DTYPE]; /* rate of short products before power throttling / sustained rate; >= 1 */
	double heat_s;                 /* duration at which a product is half way to the sustained rate */
	double mem_frac;               /* sustained / listed memory bandwidth of streams */
	double read_frac;              /* memory rate of products' operands / of streams */
	double kernel_s;               /* shortest time of a kernel on the device */
	double idle_W;
	double tail_frac[JL_N_UNIT];    /* lost share of an unfilled last wave; 1: all of it */
	double tile_elems[JL_N_UNIT];   /* cost of tile edges: the rate falls by 1 + tile_elems (1/m + 1/n) */
	double fill_s[JL_N_UNIT];       /* prologue and epilogue of one output tile */
	double sm_Bps;                  /* operand bandwidth from L2 into one SM; limits small tiles */
	double sm_mem_Bps;              /* bandwidth from memory into one SM; limited by loads in flight */
	double overlap_frac[JL_N_UNIT]; /* exposed share of the shorter of arithmetic and operand reads */
	double write_frac[JL_N_UNIT];   /* exposed share of writing the output */
	double align_frac;              /* share of the rate left if rows start at odd elements */
	double turned_frac;             /* share of the TF32 rate left for transposed operands; 0: 1 */
	double wide_B; /* vector kernels: row length of B in bytes above which TLB misses slow them; INFINITY: none */
	double wide_frac;         /* share of the rate left at five times wide_B */
	double dequant_frac;      /* share of the rate left if weights are dequantised in the kernel */
	double l2_Bps;            /* bandwidth from L2 for streams that fit in it */
	double warm_frac;         /* share of L2 that operands of a repeated product may fill and stay cached */
	double flash_frac;        /* fused attention forward / GEMM rate */
	double flash_vector_frac; /* the same on vector units: PyTorch's fp32 kernels */
	double flash_half_frac;   /* rate at head size 64 / at head size 128 */
	double flash_step;        /* head sizes up to 128 are padded to a multiple of this */
	/* attention dropout in fused kernels: SM clocks per score for random numbers, forward and backward */
	double drop_clocks, drop_back_clocks;
	double portable_frac; /* fused attention of frameworks / of the vendor; 0: 1 */
};

#define JL_ARCH_OTHER 0 /* unknown family */

struct jl_device {
	double peak_flopps[JL_N_DTYPE]; /* dense, FP32 accumulate; NAN: format not supported */
	double mem_B;
	double mem_Bps;
	double l2_B;
	double n_sm;
	double boost_Hz;
	double tdp_W;
	double host_Bps;                /* PCIe or C2C, one direction */
	double link_Bps;                /* NVLink or similar, all links of the device, one direction; NAN: none */
	int arch;                       /* architecture whose fitted parameters apply: index in parameters/arch.h */
	const struct jl_priors *priors; /* prior values of the family */
	struct jl_device_fit fit;
};

enum jl_unit jl_unit_of(enum jl_dtype dtype);
