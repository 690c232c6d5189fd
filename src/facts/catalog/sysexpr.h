/* A system as people write it:
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
 * A count before an accelerator counts cards in one host; before a catalog system or a parenthesis it counts hosts. The
 * sign of a count is x, X, * or ×. Names are found as in catalog/find.h: "4x GeForce RTX 3090" will do. Blanks are free.
 *
 * What is not written is assumed as a practitioner would have it, and marked:
 *   join  accelerators on boards (SXM, OAM): the join of that link generation's reference host; PCIe cards: their PCIe
 *         generation, with peer-to-peer only where the stock driver has it; no NVLink bridges.
 *   net   a catalog system's own; else the adapters of the reference hosts of that generation (sysdefault.c), 100 GbE
 *         for data-centre PCIe cards, 10 GbE for consumer and workstation cards and CPUs. */
#pragma once

#include "catalog/catalog.h"

#define JL_NODES_MAX    1000000
#define JL_PER_NODE_MAX 1024
#define JL_NET_MAX      128  /* ports of one host; a rack that is one host has many */
#define JL_SYSEXPR_MAX  1024 /* characters */
#define JL_HYPOTHETICAL "hypothetical"

struct jl_sys {
	const char *text;  /* canonical form: parses back to the same system; what was assumed is not in it */
	bool hypothetical; /* no such machine exists (catalog/possible.h); the text says so too */
	int n_nodes;
	int n_per_node;                  /* accelerators in each; 0 for a CPU-only host */
	const struct jl_gpu *gpu;        /* NULL for a CPU-only host */
	const struct jl_cpu *cpu;        /* only when written as cpu:... */
	const struct jl_system *system;  /* when a catalog system was named; else NULL */
	const struct jl_link_info *join; /* NULL when n_per_node is 0 or 1 */
	bool join_assumed;               /* not written: what a practitioner would have, and is said */
	const struct jl_link_info *net;  /* NULL when n_nodes is 1 */
	int n_net;                       /* how many of `net` each node has; 0 when n_nodes is 1 */
	bool net_assumed;
	/* resolved bandwidths, one way, with where they come from */
	struct jl_fact join_oneway_Bps; /* per device */
	struct jl_fact net_oneway_Bps;  /* per node, all ports */
};

/* Devices in a host; the host itself where it has no accelerator. */
static inline int jl_sys_per_node(const struct jl_sys *sys)
{
	return sys->n_per_node > 0 ? sys->n_per_node : 1;
}

static inline int jl_sys_n_devices(const struct jl_sys *sys)
{
	return jl_sys_per_node(sys) * sys->n_nodes;
}

/* Errors are one line with the column (from 1, in characters) and what would be right. */
enum jl_status jl_sys_parse(struct jl_sys *ret_sys, const struct jl_catalog *cat, const char *text,
			    struct jl_arena *arena, struct jl_err *err);
