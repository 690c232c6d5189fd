/* System expressions:
 *     rtx-4090                                            one card
 *     4x v100-dgxs-32gb via nvlink2-mesh                  one host
 *     2x(10x rtx-3090 via pcie4-no-p2p) over 10gbe-lacp2  hosts over a network
 *     125x aws:p5.48xlarge                                catalog systems
 *     8x dgx-h100 over 8x ib-ndr
 *     cpu:neoverse-v1                                     no accelerator
 *
 *     system = [hypothetical] [COUNT x] host [over [COUNT x] NETWORK]
 *     host   = ACCELERATOR [via JOIN] | SYSTEM | cpu:CPU | "(" [COUNT x] host ")"
 *
 * A count before an accelerator counts cards per host; before a catalog system or a parenthesis it counts hosts. The sign of a count is x, X, * or
 * ×. Names are matched as in catalog/find.h: "4x GeForce RTX 3090" is valid. Blanks are free.
 *
 * Omitted parts get usual defaults and are marked as assumed:
 *   join  baseboard GPUs (SXM, OAM): the interconnect of that link generation's reference host; PCIe cards: their PCIe
 *         generation, with peer-to-peer only if the stock driver supports it; no NVLink bridges.
 *   net   the catalog system's own; else the adapters of the generation's reference hosts (sysdefault.c), 100 GbE
 *         for data-centre PCIe cards, 10 GbE for consumer and workstation cards and CPUs. */
#pragma once

#include "catalog/catalog.h"

#define JL_NODES_MAX    1000000
#define JL_PER_NODE_MAX 1024
#define JL_NET_MAX      128  /* maximum number of ports per host; a rack that is one host has many */
#define JL_SYSEXPR_MAX  1024 /* maximum length in characters */
#define JL_HYPOTHETICAL "hypothetical"

struct jl_sys {
	const char *text;  /* canonical form: parses to the same system; omits assumed parts */
	bool hypothetical; /* no such machine exists (catalog/possible.h); part of the text too */
	int n_nodes;
	int n_per_node;                  /* accelerators per host; 0: CPU-only host */
	const struct jl_gpu *gpu;        /* NULL: CPU-only host */
	const struct jl_cpu *cpu;        /* set only for cpu:... */
	const struct jl_system *system;  /* the named catalog system; NULL: none */
	const struct jl_link_info *join; /* NULL if n_per_node is 0 or 1 */
	bool join_assumed;               /* not written: usual default, stated in the answer */
	const struct jl_link_info *net;  /* NULL if n_nodes is 1 */
	int n_net;                       /* adapters of type `net` per node; 0 if n_nodes is 1 */
	bool net_assumed;
	/* resolved one-way bandwidths with their origin: */
	struct jl_fact join_oneway_Bps; /* bandwidth per device */
	struct jl_fact net_oneway_Bps;  /* bandwidth per node, all ports */
};

/* Devices per host; 1 for a CPU-only host. */
static inline int jl_sys_per_node(const struct jl_sys *sys)
{
	return sys->n_per_node > 0 ? sys->n_per_node : 1;
}

/* Devices lost when a host fails; in a rack or pod that is one domain, those of a tray. */
static inline int jl_sys_per_tray(const struct jl_sys *sys)
{
	const int tray = sys->join ? sys->join->tray : 0;

	return tray > 0 && tray < sys->n_per_node ? tray : jl_sys_per_node(sys);
}

static inline int jl_sys_n_devices(const struct jl_sys *sys)
{
	return jl_sys_per_node(sys) * sys->n_nodes;
}

/* Errors are one line with the column (from 1, in characters) and what would be right. */
enum jl_status jl_sys_parse(struct jl_sys *ret_sys, const struct jl_catalog *cat, const char *text,
			    struct jl_arena *arena, struct jl_err *err);
