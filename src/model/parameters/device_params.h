/* Fitted parameters of one device (struct jl_device_fit): shared values, factors per architecture family, factors per GPU. Fitted to measurements
 * of single operators; names begin with "gemm.". */
#pragma once

#include <stddef.h>

#include "kernels/device.h"
#include "parameters/params.h"

#define JL_GEMM_MAX_PARAMS 256 /* at least jl_gemm_params(1) */

/* How a framework quantises 16-bit activations for a product in 8 or 4 bits. */
enum jl_gemm_quant { JL_QUANT_NONE, JL_QUANT_FUSED, JL_QUANT_UNFUSED };

/* Fitted values that belong to the measurements, not to a device. */
struct jl_gemm_shared {
	double best_frac;     /* gain of a search for the best shape over a plain shape */
	double copy_frac;     /* device-local copy: share of the stream rate */
	double quant_B[3];    /* bytes moved per activation element, by jl_gemm_quant */
	double quant_flop[3]; /* vector FLOP per activation element, not hidden behind the transfer */
	double quant_kernels[3];
	double block_frac, block_blackwell_frac; /* block scales: remaining share of the product rate */
	double block_kernels;                    /* quantising kernels with block scales / with one scale */
	double block_quant;                      /* bytes moved by quantising with block scales / with one scale */
	double narrow_frac; /* 8-bit kernels of serving frameworks on Blackwell / of the vendor library */
	double nvlink_frac, pcie_frac, cross_frac, via_host_frac, via_host_both_frac, host_frac, host_both_frac;
	double p2p_latency_s, host_latency_s;
};

/* gpu_ids: catalog ids of the n_gpu GPUs; NULL: names of GPU parameters are not needed. */
struct jl_param_list jl_gemm_params(size_t n_gpu, const char *const *gpu_ids);

/* Fitted parameters of one device from a vector; gpu < 0: not measured, the family's values. */
void jl_gemm_resolve(const double *x, int gpu, struct jl_device *dev);
void jl_gemm_shared_at(const double *x, struct jl_gemm_shared *ret_shared);

/* Catalog values, followed by one GPU's factors (jl_gemm_params(1) values). True if that GPU was measured. */
bool jl_gemm_read(const struct jl_catalog *cat, const char *gpu_id, double *ret_x);
/* Sets the fitted part of `dev` from the catalog; gpu_id NULL: the family's values. True if that GPU was measured. */
bool jl_gemm_shipped(const struct jl_catalog *cat, const char *gpu_id, struct jl_device *dev);
