/* AMD's management library (librocm_smi64, or what JEOUL_ROCM_SMI names), opened when it is needed. */
#pragma once

#include "probe/nvml.h"

#define JL_AMD_DRIVER "amdgpu " /* and its version: what a snapshot's driver begins with */

/* JL_E_ABSENT with the reason where there is no such library or no driver under it. Clocks, links and throttling stay unknown. */
enum jl_status jl_rocm_smi_read(struct jl_arena *arena, struct jl_nvml_snapshot *ret_snapshot, struct jl_err *err);
bool jl_rocm_smi_wanted(void); /* AMD's driver is there, or the library is named by the environment */
bool jl_rocm_smi_said(const struct jl_nvml_snapshot *snapshot); /* not NVML */
