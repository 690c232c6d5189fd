/* Prior values of a GPU architecture: `priors:` of a record in catalog/families.yaml. Plain numbers in base, so that the model needs no catalog. */
#pragma once

#include <stdbool.h>

struct jl_priors {
	/* SMs of the family's large chip, used for GPUs that do not list their own; 0: no priors, the parent family's apply */
	double n_sm;
	/* start of the fit: factors on the values shared by all families */
	double vector_frac, tensor16_frac, tensor8_frac, mem_frac, sm_frac, tail_frac, read_frac;
	double train_tensor16_frac;                /* as tensor16_frac, for training */
	double vector_pJ, tensor16_pJ, tensor8_pJ; /* energy per FLOP at the sustained clock, by unit */
	double flop_gain, byte_gain;               /* energy per FLOP and per byte, relative to 4 nm and HBM3 */
	double align_frac;                         /* remaining share of the rate if rows start at odd elements */
	double turned_frac;  /* remaining share of the TF32 rate for transposed operands; 0: all of it */
	double dequant_frac; /* remaining share of the rate if weights are dequantised in the kernel */
	double flash_frac;   /* fused attention forward, share of the GEMM rate */
	double wide_B;       /* row length in bytes above which TLB misses slow the access; 0: none observed */
	double net_Gbps;     /* network of the reference host per GPU, Gb/s; 0: unknown */
	bool no_tensor;      /* no tensor cores: 16-bit products run on the vector units */
	bool no_tf32;        /* older than Ampere: no TF32, no fused attention */
	bool mixed16;        /* training in 16 bits is usual */
	bool bf16;           /* in bf16, if the GPU lists a bf16 rate */
	bool flash;          /* frameworks support fused attention on it */
	bool fp8;            /* frameworks support FP8 training on it */
	bool warpgroup;      /* full rate needs special instructions (wgmma, tcgen05): portable kernels are slower */
	bool slow_fp8;       /* FP8 products with block scales or few output columns are slower */
	bool slots_via_host; /* usual boards route traffic between PCIe slots through host memory */
	bool conv_rows;      /* published runs of non-transformer networks exist for the fit */
	bool serve_rows;     /* published serving runs exist for the fit */
};
