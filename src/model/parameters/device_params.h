/* The physics of one device (struct jl_device_fit) as parameters that are fitted on single operators: shared ones,
 * deviations of each architecture family, deviations of each GPU. Names begin with "gemm.". */
#pragma once

#include <stddef.h>

#include "kernels/device.h"
#include "parameters/params.h"

#define JL_GEMM_MAX_PARAMS 256 /* at least jl_gemm_params(1) */

/* How a framework brings 16-bit activations into a narrow product. */
enum jl_gemm_quant { JL_QUANT_NONE, JL_QUANT_FUSED, JL_QUANT_UNFUSED };

/* What the fit finds beside the devices' own figures. */
struct jl_gemm_shared {
	double best_frac;     /* a search over shapes finds this much more than a plain shape gives */
	double copy_frac;     /* device-local copy, of a stream's rate */
	double quant_B[3];    /* bytes moved per activation element, by jl_gemm_quant */
	double quant_flop[3]; /* vector work per activation element, not hidden behind the bytes */
	double quant_kernels[3];
	double block_frac, block_blackwell_frac; /* rate left with block scales */
	double block_kernels; /* kernels of the activations' way with block scales, of those with one scale */
	double block_quant;   /* bytes moved with block scales, of those with one scale */
	double narrow_frac;   /* serving frameworks' 8-bit kernels on Blackwell, of the vendor library's */
	double nvlink_frac, pcie_frac, cross_frac, via_host_frac, via_host_both_frac, host_frac, host_both_frac;
	double p2p_latency_s, host_latency_s;
};

/* gpu_ids: of the n_gpu, by the catalog; NULL: the names of their parameters are not asked for. */
struct jl_param_list jl_gemm_params(size_t n_gpu, const char *const *gpu_ids);

/* Fitted physics of one device from a parameter vector; gpu < 0: not measured, the family's values. */
void jl_gemm_resolve(const double *x, int gpu, struct jl_device *dev);
void jl_gemm_shared_at(const double *x, struct jl_gemm_shared *ret_shared);

/* The catalog's values with the deviations of one GPU behind them (jl_gemm_params(1) values). True where rows measure that GPU. */
bool jl_gemm_read(const struct jl_catalog *cat, const char *gpu_id, double *ret_x);
/* The device with them; gpu_id NULL: the family's. True as above. */
bool jl_gemm_shipped(const struct jl_catalog *cat, const char *gpu_id, struct jl_device *dev);
