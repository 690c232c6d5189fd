/* Fitted parameters of links, and the fabric computed from them. Fitted to collectives; names begin with "link.". */
#pragma once

#include "fabric/fabric.h"
#include "parameters/params.h"

/* Link types: each has its own parameters, with the family's as priors. */
enum jl_wire {
	JL_WIRE_NONE,
	JL_WIRE_PCIE_HOST, /* no peer-to-peer */
	JL_WIRE_PCIE_P2P,
	JL_WIRE_BRIDGE,  /* NVLink bridge between two cards */
	JL_WIRE_NVLINK2, /* NVLink 2 as a mesh */
	JL_WIRE_NVLINK3, /* NVLink 3 with a switch, like the following */
	JL_WIRE_NVLINK4,
	JL_WIRE_NVLINK5,
	JL_WIRE_NVL72, /* one NVLink 5 domain across 18 hosts */
	JL_WIRE_XGMI,
	JL_WIRE_IB,
	JL_WIRE_ROCE,
	JL_WIRE_EFA,
	JL_WIRE_ETHERNET,
	JL_N_WIRE
};

/* Link types in training runs; each has an efficiency and a latency. */
enum jl_llm_link {
	JL_LLM_PCIE_HOST, /* no peer-to-peer */
	JL_LLM_PCIE_P2P,
	JL_LLM_BRIDGE,
	JL_LLM_NVLINK_MESH, /* NVLink mesh of V100 hosts */
	JL_LLM_NVLINK3,
	JL_LLM_NVLINK4,
	JL_LLM_NVLINK5,
	JL_LLM_RDMA,   /* InfiniBand, RoCE, EFA */
	JL_LLM_ONLOAD, /* Omni-Path: CPU cores copy the data */
	JL_LLM_ETHERNET,
	JL_N_LLM_LINK
};

/* Names and relatives of a link type. */
struct jl_wire_kind {
	const char *id,
		/* `id` in records of what was measured; `alike`: common id of types reached by the same means */
		*alike;
	const char *label;    /* name for display */
	enum jl_llm_link run; /* type in training runs; a type without runs takes that of its generation */
	enum jl_intra_kind intra;
	const char *eff; /* name of its efficiency parameter; NULL: that of networks */
};
extern const struct jl_wire_kind jl_wires[JL_N_WIRE];

/* How a collective was timed, which decides the host time included. */
enum jl_coll_tool {
	JL_TOOL_DEVICE, /* device time: profiler, or launches are hidden */
	JL_TOOL_NCCL,   /* nccl-tests in one process: starts the ranks of a host one after another */
	JL_TOOL_TORCH,  /* PyTorch loop */
	JL_N_TOOL
};

#define JL_COLL_MAX_PARAMS 128
extern const struct jl_param_list jl_coll_params;               /* n <= JL_COLL_MAX_PARAMS */
void jl_coll_read(const struct jl_catalog *cat, double *ret_x); /* reads the catalog's values */

/* Link type of a catalog record, from its kind, topology and wire generation. JL_WIRE_NONE: NULL, or it connects nothing. */
enum jl_wire jl_wire_of(const struct jl_link_info *link);

/* Sets the fitted part of a fabric whose rates and counts are already set. */
void jl_coll_fill(const double *x, enum jl_wire intra, enum jl_wire inter, int many_die, struct jl_fabric *fabric);

/* Minimum host time per collective of a tool that times them in sequence. */
double jl_coll_host_s(const double *x, enum jl_coll_tool tool, int n_on_host);

/* Id of a pair of link types in records of what was measured: "nvlink4.ib". alike: types reached by the same means share an id, because reports of
 * training runs seldom name the network. */
#define JL_PAIR_ID_MAX 32
const char *jl_wire_pair(char out[JL_PAIR_ID_MAX], enum jl_wire intra, enum jl_wire inter, bool alike);
