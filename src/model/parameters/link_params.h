/* The physics of links as parameters that are fitted on collectives, and the fabric that follows from them. Names begin with "link.". */
#pragma once

#include "fabric/fabric.h"
#include "parameters/params.h"

/* Link types: each has its own physics, deviating from its family's. */
enum jl_wire {
	JL_WIRE_NONE,
	JL_WIRE_PCIE_HOST, /* no peer-to-peer */
	JL_WIRE_PCIE_P2P,
	JL_WIRE_BRIDGE,  /* NVLink bridge between two cards */
	JL_WIRE_NVLINK2, /* mesh */
	JL_WIRE_NVLINK3, /* switch, as the following */
	JL_WIRE_NVLINK4,
	JL_WIRE_NVLINK5,
	JL_WIRE_NVL72, /* one NVLink 5 domain over 18 hosts */
	JL_WIRE_XGMI,
	JL_WIRE_IB,
	JL_WIRE_ROCE,
	JL_WIRE_EFA,
	JL_WIRE_ETHERNET,
	JL_N_WIRE
};

/* Links that runs are joined by; the fit knows each by its efficiency and latency. */
enum jl_llm_link {
	JL_LLM_PCIE_HOST, /* no peer-to-peer */
	JL_LLM_PCIE_P2P,
	JL_LLM_BRIDGE,
	JL_LLM_NVLINK_MESH, /* V100 */
	JL_LLM_NVLINK3,
	JL_LLM_NVLINK4,
	JL_LLM_NVLINK5,
	JL_LLM_RDMA,   /* InfiniBand, RoCE, EFA */
	JL_LLM_ONLOAD, /* Omni-Path: the host's cores move the data */
	JL_LLM_ETHERNET,
	JL_N_LLM_LINK
};

/* What a type of links is called, and what it is to others. */
struct jl_wire_kind {
	const char *id,
		*alike; /* where it is said what has been measured; `alike`: those reached by the same means have one */
	const char *label;    /* as people read it */
	enum jl_llm_link run; /* in training runs; what was never in one is as the links of its time */
	enum jl_intra_kind intra;
	const char *eff; /* the parameter of its efficiency; NULL: that of networks */
};
extern const struct jl_wire_kind jl_wires[JL_N_WIRE];

/* How it was timed: what the host adds. */
enum jl_coll_tool {
	JL_TOOL_DEVICE, /* device time: profiler, or launches that do not show */
	JL_TOOL_NCCL,   /* nccl-tests, one process: it starts the ranks of a host one after the other */
	JL_TOOL_TORCH,  /* a loop in PyTorch */
	JL_N_TOOL
};

#define JL_COLL_MAX_PARAMS 128
extern const struct jl_param_list jl_coll_params;               /* at most JL_COLL_MAX_PARAMS */
void jl_coll_read(const struct jl_catalog *cat, double *ret_x); /* the catalog's values */

/* The link type of a catalog record: by its kind, how it joins devices, and the generation of its wire. NULL or one
 * that joins nothing: JL_WIRE_NONE. */
enum jl_wire jl_wire_of(const struct jl_link_info *link);

/* Fills the fitted part of a fabric whose rates and counts are known. */
void jl_coll_fill(const double *x, enum jl_wire intra, enum jl_wire inter, int many_die, struct jl_fabric *fabric);

/* What the host of a tool that times one collective after the other needs for each, at least. */
double jl_coll_host_s(const double *x, enum jl_coll_tool tool, int n_on_host);

/* "nvlink4.ib": how a pair of links is named where it is said what has been measured. Training runs seldom say which network it
 * was: `alike` gives those that are reached by the same means one name. */
#define JL_PAIR_ID_MAX 32
const char *jl_wire_pair(char out[JL_PAIR_ID_MAX], enum jl_wire intra, enum jl_wire inter, bool alike);
