/* One accelerator as the model sees it: listed facts and fitted physics, resolved from the catalog into plain
 * numbers. Pure data; SI units; NAN where unknown. */
#pragma once

#include "base/dtype.h"
#include "base/priors.h"

/* Kinds of arithmetic units, which differ in how near to the listed rate they come. */
enum jl_unit { JL_UNIT_VECTOR, JL_UNIT_TENSOR16, JL_UNIT_TENSOR8, JL_N_UNIT };

/* Fitted by `jeoul calibrate --fit`: per GPU model, from its architecture family where no row measures it. */
struct jl_device_fit {
	double gemm_frac[JL_N_DTYPE]; /* sustained / listed dense rate on large aligned products (power cap included) */
	double burst_frac[JL_N_DTYPE]; /* rate of short products before the power cap bites / sustained rate; >= 1 */
	double heat_s;                 /* a product as long as this is half way to the sustained rate */
	double mem_frac;               /* sustained / listed memory bandwidth for streams */
	double read_frac;              /* operands of products: memory rate / the streams' */
	double kernel_s;               /* shortest time one kernel occupies the device */
	double idle_W;
	double tail_frac[JL_N_UNIT];    /* share of an unfilled last wave that is lost (1: all of it) */
	double tile_elems[JL_N_UNIT];   /* cost of a tile's edges: rate falls by 1 + tile_elems (1/m + 1/n) */
	double fill_s[JL_N_UNIT];       /* start and end of one output tile: pipeline fill and write-back */
	double sm_Bps;                  /* operands into one SM out of L2: small tiles are bound by it */
	double sm_mem_Bps;              /* out of memory into one SM, by the bytes it can have in flight */
	double overlap_frac[JL_N_UNIT]; /* share of the shorter of arithmetic and operand reads that is not hidden */
	double write_frac[JL_N_UNIT];   /* share of writing the output that is not hidden */
	double align_frac;              /* rate left when rows start at odd elements */
	double turned_frac;             /* tf32 rate left where operands lie across; 0: all of it */
	double wide_B;       /* vector kernels: rows of B longer than this slow address translation; INFINITY: none */
	double wide_frac;    /* rate left where rows are five times as long as that */
	double dequant_frac; /* rate left when narrow weights are widened on the way */
	double l2_Bps;       /* out of L2 into the SMs, for streams that fit */
	double warm_frac;    /* share of L2 that a repeated product's operands may fill and stay there */
	double flash_frac;   /* fused attention forward, of the GEMM rate */
	double flash_vector_frac; /* the same on vector units: PyTorch's own kernels in fp32 */
	double flash_half_frac;   /* of that rate: heads of 64 instead of 128 */
	double flash_step;        /* heads up to 128 are computed as the next multiple of this */
	/* fused attention that drops scores, of each: clocks of an SM for its random number, forward and backward */
	double drop_clocks, drop_back_clocks;
	double portable_frac; /* fused attention of frameworks, of the vendor's own; 0: 1 */
};

#define JL_ARCH_OTHER 0 /* nothing is known of its family */

struct jl_device {
	double peak_flopps[JL_N_DTYPE]; /* dense, FP32 accumulate; NAN: format not supported */
	double mem_B;
	double mem_Bps;
	double l2_B;
	double n_sm;
	double boost_Hz;
	double tdp_W;
	double host_Bps;                /* PCIe or C2C, one way */
	double link_Bps;                /* NVLink or kin, all links of the device, one way; NAN: none */
	int arch;                       /* whose fitted factors it has: an index in physics/arch.h */
	const struct jl_priors *priors; /* what is known of its family beforehand */
	struct jl_device_fit fit;
};

enum jl_unit jl_unit_of(enum jl_dtype dtype);
