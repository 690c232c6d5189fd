/* Fitted parameters of training steps given as operator lists (struct jl_conv_fit): shared values, factors per architecture family, one factor per
 * GPU. Fitted to published runs; names begin with "conv.". */
#pragma once

#include <stddef.h>

#include "kernels/conv.h"
#include "parameters/params.h"

#define JL_CONV_MAX_PARAMS 208 /* at least jl_conv_params(JL_CONV_MAX_GPUS) */
#define JL_CONV_MAX_GPUS   64

/* gpu_ids: catalog ids of the n_gpu GPUs; NULL: names of GPU parameters are not needed. */
struct jl_param_list jl_conv_params(size_t n_gpu, const char *const *gpu_ids);

/* Catalog values, followed by one GPU's factor (jl_conv_params(1) values). True if that GPU was measured. */
bool jl_conv_read(const struct jl_catalog *cat, const char *gpu_id, double *ret_x);

/* True if parameter i affects a GPU of this architecture. */
bool jl_conv_param_used(size_t i, int arch, int gpu);
/* Parameters of one GPU from a vector; gpu < 0: not measured, the family's values. */
void jl_conv_resolve(const double *x, int gpu, const struct jl_device *device, struct jl_conv_fit *ret_fit);
/* Rate of the gradient all-reduce inside one host. nvlink: all devices are connected by NVLink. */
double jl_conv_bus_Bps(const double *x, const struct jl_device *device, bool nvlink);
