#include "check/next.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void add(struct jl_next *a, const char *en, ...) __attribute__((format(printf, 2, 3)));

static void add(struct jl_next *a, const char *en, ...)
{
	va_list args;

	if (a->n == JL_NEXT_MAX)
		return;
	va_start(args, en);
	jl_msg_vprint(a->items[a->n].en, a->items[a->n].text, sizeof(a->items[a->n].en), en, args);
	va_end(args);
	a->n++;
}

/* Networks: how to verify that the fast path is used. */
static void look_at_network(struct jl_next *a, enum jl_wire inter)
{
	switch (inter) {
	case JL_WIRE_EFA:
		add(a, JL_N("NCCL_DEBUG=INFO must say NET/OFI and efa (aws-ofi-nccl); NET/Socket is TCP"));
		break;
	case JL_WIRE_IB:
	case JL_WIRE_ROCE:
		add(a, JL_N("NCCL_DEBUG=INFO must say NET/IB with GDRDMA for every NIC (NCCL_IB_HCA, nvidia-peermem)"));
		break;
	default: add(a, JL_N("measure the network alone: jeoul bench net --to HOST --streams 4")); break;
	}
}

static void low_collective(struct jl_next *a, const struct jl_next_ask *ask)
{
	const struct jl_collective_case *c = &ask->coll->c;

	if (c->n_nodes > 1) {
		look_at_network(a, ask->inter);
		if (c->n_nodes > 3)
			add(a, JL_N("halve the hosts and measure again: the half that stays slow has the bad host or "
				    "NIC"));
		if (c->kind == JL_ALLREDUCE)
			add(a, JL_N("NCCL_ALGO=Ring, then Tree: the model has {%s} as the fastest here"),
			    jl_algorithm_name(c->algorithm));
		add(a, JL_N("on each host: all NICs up at full rate, and on the NUMA node of their GPU (jeoul probe)"));
		return;
	}
	if (ask->intra == JL_WIRE_PCIE_HOST || ask->intra == JL_WIRE_PCIE_P2P || ask->intra == JL_WIRE_BRIDGE)
		add(a,
		    JL_N("P2P and PCIe links: jeoul probe shows the matrix, narrow links and shared root complexes"));
	else
		add(a, JL_N("NVLinks: nvidia-smi nvlink -s must show every link up; fabric manager running"));
	add(a, JL_N("NCCL_DEBUG=INFO: the channels must say P2P, not SHM; NCCL_P2P_DISABLE must not be set"));
	add(a, JL_N("each GPU alone: jeoul bench link and jeoul bench memory show the one that is slow"));
}

static void impossible_collective(struct jl_next *a, const struct jl_next_ask *ask)
{
	const struct jl_coll_expect *e = ask->coll;
	const double as_alg = ask->value / e->c.busbw_factor;

	if (e->c.busbw_factor > 1.01 && as_alg >= e->range.low && as_alg <= e->c.bound_Bps)
		add(a, JL_N("is it a busbw? %.0f GB/s of busbw would be an algbw of %.0f, and that is in the range"),
		    ask->value / 1e9, as_alg / 1e9);
	if (ask->value / 8 >= e->range.low && ask->value / 8 <= e->c.bound_Bps)
		add(a, JL_N("bits instead of bytes? an eighth of it is in the range"));
	if (e->c.kind == JL_ALLREDUCE && !e->c.in_network && e->c.n_nodes > 1)
		add(a,
		    JL_N("the number of hosts, or a network that reduces in its switches (SHARP): name it with over"));
	add(a, JL_N("the size is one rank's whole buffer, and all ranks took part"));
}

/* Causes of slow results of other kinds, most frequent first. */
static const struct {
	const char *kind;
	int on_gpu;
	const char *en;
} looks[] = {
	{ "gemm", 1,
	  JL_N("clocks and power under load: nvidia-smi -q -d CLOCK,PERFORMANCE (throttling, a low power limit)") },
	{ "gemm", 1, JL_N("sizes divisible by 64, and the format that was meant (TF32 is off by default for fp32)") },
	{ "gemm", 0, JL_N("other processes, the governor (performance), fewer threads than cores: jeoul probe") },
	{ "memory", 1, JL_N("memory clock and ECC: nvidia-smi -q -d CLOCK,ECC; remapped rows") },
	{ "memory", 0, JL_N("other processes; memory channels that are empty; threads on another NUMA node") },
	{ "link", 1, JL_N("PCIe generation and width under load, pinned memory, the NUMA node: jeoul probe") },
	{ "storage", 0, JL_N("other I/O, free space and temperature (smartctl -a), the rated speed of the volume") },
	{ "train", 1,
	  JL_N("clocks and power while it trains: nvidia-smi -q -d CLOCK,PERFORMANCE; other processes on the GPU") },
	{ "train", 0,
	  JL_N("other processes and the governor; then jeoul bench gemm and jeoul bench memory by themselves") },
	{ "train", -1, JL_N("jeoul bench train --workers 1: is one worker alone as fast as predicted?") },
	{ "train", -1,
	  JL_N("jeoul bench allreduce: is communication slow by itself? --accumulate 4 communicates less often") },
	{ "net", -1, JL_N("several streams (--streams 4): one TCP stream fills neither 100 Gb/s nor a bond") },
	{ "net", -1,
	  JL_N("InfiniBand, RoCE, EFA: their full rate is for RDMA (ib_write_bw, fi_pingpong), not for TCP") },
	{ "net", -1, JL_N("frames of 9,000 bytes on both ends and the switch; interrupts on the NIC's NUMA node") },
};

/* Steps that would allow a verdict. */
static void unjudged(struct jl_next *a, const struct jl_next_ask *ask)
{
	if (!ask->is_here) {
		add(a, JL_N("compare with results of the same system from when it was healthy: jeoul import LOG, then "
			    "jeoul check"));
		if (ask->coll)
			low_collective(a, ask);
	} else if (ask->n_history < JL_HISTORY_TRUSTED) {
		add(a, JL_N("three quiet runs on this machine make it judgeable (%zu so far): jeoul bench all --quick"),
		    ask->n_history);
		add(a, JL_N("or another machine of the kind, measured into the same store: jeoul check --fleet"));
	} else {
		add(a, JL_N("its runs differ too much to detect a slow-down: stop other processes, fix the clocks, "
			    "bind threads to cores"));
	}
}

void jl_check_next(struct jl_next *ret_next, const struct jl_next_ask *ask)
{
	struct jl_next a = { .n = 0 };

	if (ask->verdict == JL_VERDICT_UNJUDGED)
		unjudged(&a, ask);
	if (ask->verdict == JL_VERDICT_WRONG)
		add(&a, JL_N("repeat the test with fewer GPUs at a time until the bad one is found"));
	else if ((ask->verdict == JL_VERDICT_IMPOSSIBLE || ask->verdict == JL_VERDICT_HIGH) && ask->coll)
		impossible_collective(&a, ask);
	else if (ask->verdict == JL_VERDICT_IMPOSSIBLE || ask->verdict == JL_VERDICT_HIGH)
		add(&a, JL_N("the unit (bits, bytes; sparse rates), and whether a cache served it"));
	else if (ask->verdict == JL_VERDICT_LOW && ask->coll)
		low_collective(&a, ask);
	if (ask->verdict == JL_VERDICT_HIGH && !ask->coll)
		add(&a, JL_N("which card and format; random input, not zeros (which draw less power); time taken after "
			     "the GPU has finished"));
	for (size_t i = 0; ask->verdict == JL_VERDICT_LOW && i < JL_LEN(looks); i++)
		if (strcmp(looks[i].kind, ask->kind) == 0 && !(ask->n_workers == 1 && looks[i].on_gpu < 0) &&
		    (looks[i].on_gpu < 0 || looks[i].on_gpu == ask->on_gpu))
			add(&a, JL_N("{%s}"), looks[i].en);
	*ret_next = a;
}
