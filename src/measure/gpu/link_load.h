/* Loads each GPU's PCIe link briefly: idle links slow down to save power, so their capability is read during copies. */
#pragma once

#include "probe/nvml.h"

/* Sets pcie_gen_busy and pcie_width_busy if the CUDA driver exists and can use the GPU; otherwise they stay unknown. */
void jl_load_links(struct jl_nvml *nvml, struct jl_nvml_snapshot *snapshot);
