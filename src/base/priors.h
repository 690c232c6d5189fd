/* What is known of an architecture before any fit: `priors:` of a record in catalog/families.yaml. Plain numbers in base, so that the
 * model takes them without knowing the catalog. */
#pragma once

#include <stdbool.h>

struct jl_priors {
	double n_sm; /* of the family's large chip, where a GPU does not list its own; 0: no priors, the parent's hold */
	/* where the fit begins: the family's factors on the values that all families share */
	double vector_frac, tensor16_frac, tensor8_frac, mem_frac, sm_frac, tail_frac, read_frac;
	double train_tensor16_frac;                /* the same for products inside training runs */
	double vector_pJ, tensor16_pJ, tensor8_pJ; /* energy of one FLOP at the sustained clock, by unit */
	double flop_gain, byte_gain;               /* energy of a FLOP and of a byte against 4 nm and HBM3 */
	double align_frac;                         /* rate left when rows start at odd elements */
	double turned_frac;                        /* tf32 rate left where operands lie across; 0: all of it */
	double dequant_frac;                       /* rate left when narrow weights are widened on the way */
	double flash_frac;                         /* fused attention forward, of the GEMM rate */
	double wide_B;                             /* rows longer than this slow address translation; 0: none seen */
	double net_Gbps;                           /* of the reference host's network, per GPU; 0: not known */
	bool no_tensor;                            /* no tensor cores: 16-bit products run on the vector units */
	bool no_tf32;                              /* from before Ampere: neither TF32 nor fused attention */
	bool mixed16;                              /* 16-bit training is what people run */
	bool bf16;                                 /* ... in bf16, where the GPU lists a rate */
	bool flash;                                /* frameworks have fused attention for it */
	bool fp8;                                  /* ... and training in FP8 */
	bool warpgroup; /* products need instructions of their own (wgmma, tcgen05): portable kernels fall behind */
	bool slow_fp8;  /* FP8 products with scaled blocks or narrow outputs fall behind */
	bool slots_via_host; /* boards of its time send what goes between slots through the host */
	bool conv_rows;      /* has published runs of networks other than transformers to fit */
	bool serve_rows;     /* has published runs of served models */
};
