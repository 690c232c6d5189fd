/* From catalog records to the plain numbers that the model uses. Only what is listed; fitted physics is NAN and
 * filled by belief. */
#pragma once

#include "catalog/sysexpr.h"
#include "kernels/device.h"
#include "fabric/fabric.h"

/* Peaks are dense with FP32 accumulate: FP16 takes the FP32-accumulate rate, where that is not listed the BF16 rate
 * (which always accumulates in FP32), else the plain one. TF32 and FP16 fall back to FP32 on devices whose formats lack
 * them: the work is then done there. */
void jl_resolve_device(struct jl_device *ret_device, const struct jl_catalog *cat, const struct jl_gpu *gpu);

/* A CPU as a device: FP32 only, no link to a host. */
void jl_resolve_cpu(struct jl_device *ret_device, const struct jl_cpu *cpu);

/* The device of a system, accelerator or CPU. */
void jl_resolve_system_device(struct jl_device *ret_device, const struct jl_catalog *cat, const struct jl_sys *sys);

/* Refused (JL_E_DATA) when the catalog does not say how fast a join or network is, or how the join is laid out. */
enum jl_status jl_resolve_fabric(struct jl_fabric *ret_fabric, const struct jl_catalog *cat, const struct jl_sys *sys,
				 struct jl_err *err);
