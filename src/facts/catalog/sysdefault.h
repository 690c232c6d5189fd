/* Usual defaults for what a system expression leaves out, and the resulting bandwidths. */
#pragma once

#include "catalog/sysexpr.h"

/* True if the stock driver supports peer-to-peer over PCIe between two of these cards. Default: yes, except GeForce cards. */
bool jl_gpu_has_p2p(const struct jl_gpu *gpu);

/* Sets sys->join for n_per_node > 1; an error if no usual host of this accelerator holds that many. */
enum jl_status jl_sysdefault_join(struct jl_sys *sys, const struct jl_catalog *cat, struct jl_err *err);

/* The same for "via nvlink": the accelerator's own NVLink; without one, a bridge, which the later check refuses. */
enum jl_status jl_sysdefault_nvlink(struct jl_sys *sys, const struct jl_catalog *cat, struct jl_err *err);

/* Sets sys->net and n_net for n_nodes > 1: from the catalog system, or the generation's usual adapters. */
enum jl_status jl_sysdefault_net(struct jl_sys *sys, const struct jl_catalog *cat, struct jl_err *err);

/* Sets join_oneway_Bps and net_oneway_Bps. */
enum jl_status jl_sysdefault_rates(struct jl_sys *sys, const struct jl_catalog *cat, struct jl_arena *arena,
				   struct jl_err *err);
