/* What a practitioner would have where a system expression does not say, and the bandwidths that follow. */
#pragma once

#include "catalog/sysexpr.h"

/* Does the stock driver move data between two of these cards over PCIe? Default: all but GeForce cards do. */
bool jl_gpu_has_p2p(const struct jl_gpu *gpu);

/* Fill sys->join for n_per_node > 1; refused when no usual host of this accelerator holds that many. */
enum jl_status jl_sysdefault_join(struct jl_sys *sys, const struct jl_catalog *cat, struct jl_err *err);

/* The same for "via nvlink": the accelerator's own; one that has none gets a bridge, which is not possible there. */
enum jl_status jl_sysdefault_nvlink(struct jl_sys *sys, const struct jl_catalog *cat, struct jl_err *err);

/* Fill sys->net and n_net for n_nodes > 1 from the catalog system or the generation's usual adapters. */
enum jl_status jl_sysdefault_net(struct jl_sys *sys, const struct jl_catalog *cat, struct jl_err *err);

/* Fill join_oneway_Bps and net_oneway_Bps. */
enum jl_status jl_sysdefault_rates(struct jl_sys *sys, const struct jl_catalog *cat, struct jl_arena *arena,
				   struct jl_err *err);
