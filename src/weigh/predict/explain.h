/* Two estimates that people make by hand, beside what the full model says, and where they part ways: memory bandwidth of one device over
 * that of another, and the cycles of a small product with and without tensor cores. Pure. */
#pragma once

#include "predict/predict.h"

/* The product of two n x n matrices on 8 SMs of 8 warps: what each kind of access and operation takes, one after the other. Of the
 * worked example (n 32); larger products do its rounds (n / 32)^3 times, its loads (n / 32)^2 times. */
struct jl_cycles {
	double n;
	double n_load, n_shared, n_ffma;                 /* without tensor cores */
	double n_tensor_load, n_tensor_shared, n_tensor; /* with them */
	double without_cycles, with_cycles;
};
#define JL_CYCLES_GLOBAL 200.0 /* one load from device memory */
#define JL_CYCLES_SHARED 20.0  /* one access of shared memory */
#define JL_CYCLES_FFMA   4.0   /* one fused multiply-add of a warp */
#define JL_CYCLES_TENSOR 1.0   /* one 4x4 product of a tensor core */
struct jl_cycles jl_explain_cycles(double n);

/* One n x n x n product on a device as the full model prices it. */
struct jl_product_time {
	double n;
	double vector_s, tensor_s;           /* fp32; 16-bit */
	double vector_cycles, tensor_cycles; /* at the boost clock */
};
struct jl_product_time jl_explain_product(const struct jl_device *dev, double n);

/* Where the time of a step goes, as far as different rates decide it; attention counts with the products. */
enum jl_explain_part { JL_EX_MATRIX, JL_EX_MEMORY, JL_EX_HOST, JL_EX_LINKS, JL_EX_OTHER, JL_N_EX };
extern const char *const jl_explain_parts[JL_N_EX]; /* as people read them */

struct jl_explain {
	double bandwidth_ratio;    /* listed memory bandwidth of one device / the baseline's */
	double device_ratio;       /* how many devices / the baseline's */
	double rate_ratio;         /* listed matrix rate of one device in its format / the baseline's */
	double model_ratio;        /* full model: samples a second / the baseline's */
	double model_device_ratio; /* the same for one device of each */
	double part_s[JL_N_EX], base_part_s[JL_N_EX]; /* of a step for one sample and device; each sums to its time */
	enum jl_explain_part largest;                 /* which part of the baseline's time is the longest */
};

/* Both cases weigh the same model. */
void jl_explain(struct jl_explain *ret_explain, const struct jl_case *c, const struct jl_case *base);
