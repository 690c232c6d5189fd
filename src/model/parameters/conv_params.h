/* The physics of training steps that are a list of operators (struct jl_conv_fit) as parameters that are fitted on published runs: shared
 * ones, deviations of each architecture family, one deviation of each GPU. Names begin with "conv.". */
#pragma once

#include <stddef.h>

#include "kernels/conv.h"
#include "parameters/params.h"

#define JL_CONV_MAX_PARAMS 208 /* at least jl_conv_params(JL_CONV_MAX_GPUS) */
#define JL_CONV_MAX_GPUS   64

/* gpu_ids: of the n_gpu, by the catalog; NULL: the names of their parameters are not asked for. */
struct jl_param_list jl_conv_params(size_t n_gpu, const char *const *gpu_ids);

/* The catalog's values with the deviation of one GPU behind them (jl_conv_params(1) values). True where rows measure that GPU. */
bool jl_conv_read(const struct jl_catalog *cat, const char *gpu_id, double *ret_x);

/* Does the physics of a GPU of this architecture know parameter i? */
bool jl_conv_param_used(size_t i, int arch, int gpu);
/* Physics of one GPU from a parameter vector; gpu < 0: not measured, the family's values. */
void jl_conv_resolve(const double *x, int gpu, const struct jl_device *device, struct jl_conv_fit *ret_fit);
/* The rate at which gradients are reduced in one host. nvlink: all its devices are joined by it. */
double jl_conv_bus_Bps(const double *x, const struct jl_device *device, bool nvlink);
