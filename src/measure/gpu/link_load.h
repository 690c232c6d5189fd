/* A moment of work for each GPU: idle PCIe links step down to save power, so what they can do is read while they copy. */
#pragma once

#include "probe/nvml.h"

/* Fills pcie_gen_busy and pcie_width_busy where the CUDA driver is there and the GPU lets itself be used; else they stay unknown. */
void jl_load_links(struct jl_nvml *nvml, struct jl_nvml_snapshot *snapshot);
