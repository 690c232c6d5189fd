/* Catalog records to the plain numbers of the model. Listed facts only; fitted parameters are NAN until jl_machine_make fills them. */
#pragma once

#include "catalog/sysexpr.h"
#include "kernels/device.h"
#include "fabric/fabric.h"

/* Peak rates are dense with FP32 accumulation. FP16: the FP32-accumulate rate, else the BF16 rate (always FP32 accumulate), else the plain one.
 * TF32 and FP16 fall back to FP32 on devices without them. */
void jl_resolve_device(struct jl_device *ret_device, const struct jl_catalog *cat, const struct jl_gpu *gpu);

/* A CPU as a device: FP32 only, no host link. */
void jl_resolve_cpu(struct jl_device *ret_device, const struct jl_cpu *cpu);

/* The accelerator of a system, or its CPU. */
void jl_resolve_system_device(struct jl_device *ret_device, const struct jl_catalog *cat, const struct jl_sys *sys);

/* JL_E_DATA if the catalog lacks the rate of an interconnect or network, or its topology. */
enum jl_status jl_resolve_fabric(struct jl_fabric *ret_fabric, const struct jl_catalog *cat, const struct jl_sys *sys,
				 struct jl_err *err);
