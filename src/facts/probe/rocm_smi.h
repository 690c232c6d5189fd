/* AMD's management library (librocm_smi64, or the one named by JEOUL_ROCM_SMI), opened at run time. */
#pragma once

#include "probe/nvml.h"

#define JL_AMD_DRIVER "amdgpu " /* prefix of the driver version in a snapshot */

/* JL_E_ABSENT with the reason: no library, or no driver. Clocks, links and throttling stay unknown. */
enum jl_status jl_rocm_smi_read(struct jl_arena *arena, struct jl_nvml_snapshot *ret_snapshot, struct jl_err *err);
bool jl_rocm_smi_wanted(void); /* true if AMD's driver is loaded, or the environment names the library */
/* true: the snapshot is from this library, not from NVML */
bool jl_rocm_smi_said(const struct jl_nvml_snapshot *snapshot);
