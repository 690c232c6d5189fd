/* Parameters of links and collectives, and their mapping to struct jl_fabric. Knows no data set. */
#include "parameters/link_params.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Priors of step latencies: NCCL's tuning table (github.com/NVIDIA/nccl, src/graph/tuning.cc: ring steps of 0.6 us on NVLink; on PCIe 1.0, and 5.7
 * us with the large protocol; 2.7 to 5 us on a network; LL128 at 20 GB/s per channel before Hopper, 36.7 since). CROSS_HOST: four and eight RTX
 * 5090 without peer-to-peer on two sockets, 35 and 28 GB/s bus bandwidth (github.com/NVIDIA/nccl/issues/1639). */
/* clang-format off: one row per parameter: index; name, unit, lo, hi, prior, sd */
#define PARAMS(X)                                                                                                      \
	X(LAUNCH, "link.launch_s", "s", 2e-6, 15e-6, 4.2e-6, 0.3)                                                      \
	X(MANY_DIE, "link.many_die_gain", "1", 1.0, 2.5, 1.4, 0.2)                                                     \
	X(HOST_RANK, "link.host.nccl_tests_rank_s", "s", 3e-6, 8e-6, 5.3e-6, 0.4)                                      \
	X(HOST_TORCH, "link.host.torch_s", "s", 20e-6, 100e-6, 47e-6, 0.4)                                             \
	X(NV_EFF, "link.nvlink.eff_frac", "1", 0.5, 1.0, 0.8, 0.5)                                                     \
	X(NV3_EFF, "link.nvlink3.eff_frac", "1", 0.5, 1.3, 1.0, 0.05)                                                  \
	X(NV4_EFF, "link.nvlink4.eff_frac", "1", 0.5, 1.3, 1.0, 0.05)                                                  \
	X(NV5_EFF, "link.nvlink5.eff_frac", "1", 0.5, 1.3, 1.0, 0.05)                                                  \
	X(BRIDGE_MAX, "link.bridge.max_rate", "B/s", 50e9, 300e9, 150e9, 0.2)                                          \
	X(NV_LL_ALPHA, "link.nvlink.ll_alpha_s", "s", 0.3e-6, 4e-6, 0.6e-6, 0.3)                                       \
	X(NV_LL, "link.nvlink.ll_frac", "1", 0.05, 0.6, 0.3, 0.4)                                                      \
	X(NV_MID, "link.nvlink.mid_frac", "1", 0.2, 0.95, 0.85, 0.4)                                                   \
	X(NV_MID_S, "link.nvlink.mid_s", "s", 0.2e-6, 50e-6, 5e-6, 0.4)                                                \
	X(OLD_LL, "link.nvlink2-3.ll_frac", "1", 0.2, 1.3, 0.55, 0.2)                                                  \
	X(NV_ALPHA, "link.nvlink.alpha_more_s", "s", 0.05e-6, 5e-6, 0.5e-6, 0.4)                                       \
	X(NV_SETUP, "link.nvlink.setup_s", "s", 2e-6, 60e-6, 20e-6, 0.3)                                               \
	X(NV_SEGMENT, "link.nvlink.segment_s", "s", 0.1e-6, 30e-6, 3e-6, 0.7)                                          \
	X(OLD_SEGMENT, "link.nvlink2-3.segment_gain", "1", 0.3, 6.0, 1.0, 0.5)                                         \
	X(NV_COPY, "link.nvlink.copy_frac", "1", 0.05, 1.5, 0.4, 0.4)                                                  \
	X(SWITCH, "link.nvlink.switch_frac", "1", 0.5, 1.2, 0.8, 0.3)                                                  \
	X(SWITCH_NV5, "link.nvlink5.switch_frac", "1", 0.7, 1.2, 1.0, 0.1)                                             \
	X(SWITCH_NVL72, "link.nvl72.switch_frac", "1", 0.4, 1.2, 0.8, 0.1)                                             \
	X(SWITCH_ALPHA, "link.nvlink.switch_alpha_s", "s", 1e-6, 20e-6, 6e-6, 0.5)                                     \
	X(PC_EFF, "link.pcie.eff_frac", "1", 0.3, 0.95, 0.65, 0.3)                                                     \
	X(HOST_EFF, "link.pcie-host.eff_frac", "1", 0.2, 0.9, 0.5, 0.3)                                                \
	X(PC_LL_ALPHA, "link.pcie.ll_alpha_s", "s", 0.3e-6, 6e-6, 1e-6, 0.3)                                           \
	X(PC_LL, "link.pcie.ll_frac", "1", 0.02, 0.6, 0.3, 0.4)                                                        \
	X(PC_ALPHA, "link.pcie.alpha_more_s", "s", 0.05e-6, 10e-6, 4.7e-6, 0.3)                                        \
	X(PC_SETUP, "link.pcie.setup_s", "s", 2e-6, 80e-6, 8e-6, 0.5)                                                  \
	X(PC_SEGMENT, "link.pcie.segment_s", "s", 0.1e-6, 60e-6, 3e-6, 0.7)                                            \
	X(ROOT, "link.pcie.root_rate", "B/s", 15e9, 80e9, 30e9, 0.3)                                                   \
	X(CROSS_P2P, "link.pcie.cross_frac", "1", 0.5, 1.0, 0.85, 0.1)                                                 \
	X(CROSS_HOST, "link.pcie-host.cross_frac", "1", 0.5, 1.0, 0.8, 0.1)                                            \
	X(NET_EFF, "link.net.eff_frac", "1", 0.5, 0.98, 0.95, 0.03)                                                    \
	X(NET_TREE, "link.net.tree_frac", "1", 0.5, 1.0, 0.85, 0.05)                                                   \
	X(NET_START, "link.net.start_s", "s", 1e-6, 60e-6, 10e-6, 0.5)                                                 \
	X(RDMA_LL_ALPHA, "link.rdma.ll_alpha_s", "s", 2e-6, 40e-6, 5e-6, 0.2)                                          \
	X(EFA_LL_ALPHA, "link.efa.ll_alpha_s", "s", 5e-6, 80e-6, 25e-6, 0.4)                                           \
	X(ETH_LL_ALPHA, "link.ethernet.ll_alpha_s", "s", 2e-6, 80e-6, 15e-6, 0.4)                                      \
	X(NET_ALPHA, "link.net.alpha_gain", "1", 0.5, 10.0, 2.0, 0.4)                                                  \
	X(NET_LL, "link.net.ll_frac", "1", 0.02, 0.6, 0.3, 0.4)                                                        \
	X(NET_MID, "link.net.mid_frac", "1", 0.2, 0.95, 0.8, 0.4)                                                      \
	X(NET_SETUP, "link.net.setup_s", "s", 2e-6, 200e-6, 40e-6, 0.4)                                                \
	X(NET_SEGMENT, "link.net.segment_gain", "1", 0.02, 10.0, 1.0, 0.7)                                             \
	X(P2P_START, "link.p2p.start_s", "s", 0.3e-6, 6e-6, 2e-6, 0.4)                                                 \
	X(P2P_PEER, "link.p2p.peer_s", "s", 0.02e-6, 3e-6, 0.3e-6, 0.4)                                                \
	X(P2P_SETUP, "link.p2p.setup_s", "s", 1e-6, 40e-6, 10e-6, 0.4)                                                 \
	X(P2P_LL, "link.p2p.ll_rate", "B/s", 1e9, 40e9, 7e9, 0.4)                                                      \
	X(P2P_COPY, "link.p2p.copy_rate", "B/s", 200e9, 2000e9, 630e9, 0.5)                                            \
	X(NV_ALLTOALL, "link.nvlink.alltoall_frac", "1", 0.4, 1.3, 0.9, 0.1)                                           \
	X(PC_ALLTOALL, "link.pcie.alltoall_frac", "1", 0.3, 1.0, 0.8, 0.2)                                             \
	X(NET_ALLTOALL, "link.net.alltoall_frac", "1", 0.4, 1.0, 0.8, 0.2)
/* clang-format on */
enum { PARAMS(JL_PARAM_PLACE) N_PARAM };
static const struct jl_param params[N_PARAM] = { PARAMS(JL_PARAM_ROW) };

const struct jl_param_list jl_coll_params = { .n = N_PARAM, .table = params, .key = "" };

void jl_coll_read(const struct jl_catalog *cat, double *ret_x)
{
	jl_params_read(cat, &jl_coll_params, ret_x);
}

/* Parameters by which an NVLink generation differs from the family; -1: none. */
static const struct {
	int eff, in_switch;
	int old; /* older than NVLink 4: slower low-latency protocols and segments */
} nvlinks[JL_N_WIRE] = {
	[JL_WIRE_BRIDGE] = { -1, -1, 0 },
	[JL_WIRE_NVLINK2] = { -1, -1, 1 },
	[JL_WIRE_NVLINK3] = { NV3_EFF, -1, 1 },
	[JL_WIRE_NVLINK4] = { NV4_EFF, -1, 0 },
	[JL_WIRE_NVLINK5] = { NV5_EFF, SWITCH_NV5, 0 },
	[JL_WIRE_NVL72] = { NV5_EFF, SWITCH_NVL72, 0 },
	[JL_WIRE_XGMI] = { -1, -1, 0 },
};

static void fill_nvlink(const double *x, enum jl_wire wire, int many_die, struct jl_link *link)
{
	const double old_ll = nvlinks[wire].old ? x[OLD_LL] : 1.0;

	link->eff_frac = fmin(1.0, x[NV_EFF] * (nvlinks[wire].eff >= 0 ? x[nvlinks[wire].eff] : 1.0));
	link->ll_alpha_s = x[NV_LL_ALPHA] * (many_die ? x[MANY_DIE] : 1.0);
	link->alpha_s = link->ll_alpha_s + x[NV_ALPHA];
	link->ll_frac = x[NV_LL] * old_ll;
	link->mid_frac = x[NV_MID] * old_ll;
	link->mid_s = x[NV_MID_S];
	link->setup_s = x[NV_SETUP];
	link->segment_s = x[NV_SEGMENT] * (nvlinks[wire].old ? x[OLD_SEGMENT] : 1.0);
	link->copy_frac = x[NV_COPY];
	link->switch_frac = x[SWITCH] * (nvlinks[wire].in_switch >= 0 ? x[nvlinks[wire].in_switch] : 1.0);
	link->switch_alpha_s = x[SWITCH_ALPHA];
	link->alltoall_frac = x[NV_ALLTOALL];
}

static void fill_pcie(const double *x, enum jl_wire wire, struct jl_link *link)
{
	link->eff_frac = x[wire == JL_WIRE_PCIE_HOST ? HOST_EFF : PC_EFF];
	link->ll_alpha_s = x[PC_LL_ALPHA];
	link->alpha_s = link->ll_alpha_s + x[PC_ALPHA];
	link->ll_frac = x[PC_LL];
	link->setup_s = x[PC_SETUP];
	link->segment_s = x[PC_SEGMENT];
	link->alltoall_frac = x[PC_ALLTOALL];
}

/* Cards per socket with lanes of their own; further cards share a switch. PCIe 3 processors had 40 or 48 lanes, later ones 64 to 128. */
static int own_ports(double rate_Bps)
{
	static const double pcie3_Bps = 16e9;

	return rate_Bps > pcie3_Bps ? 4 : 2;
}

/* Rates through the host: peer writes are limited by the root complex, and copies through host memory are not faster than peer writes. */
static void fill_roots(const double *x, int by_host, struct jl_fabric *fabric)
{
	fabric->root_Bps = fmin(x[PC_EFF] * fabric->intra.rate_Bps, x[ROOT]);
	fabric->cross_frac = by_host ? fmin(x[CROSS_HOST], x[CROSS_P2P]) : x[CROSS_P2P];
	if (fabric->n_numa <= 0) /* hosts with more than four cards have two sockets */
		fabric->n_numa = fabric->n_per_node > 4 ? 2 : 1;
	if (fabric->n_per_root <= 0) /* keep the full host's value if only a part of it is used */
		fabric->n_per_root = (fabric->n_per_node + fabric->n_numa - 1) / fabric->n_numa;
	if (fabric->n_shared <= 0 && fabric->n_per_root > own_ports(fabric->intra.rate_Bps))
		fabric->n_shared = fabric->n_per_root;
	/* two cards without peer-to-peer are taken for a desktop, whose processor has 16 lanes for cards */
	fabric->half_lanes = by_host && !fabric->lanes_given && fabric->n_shared != 1 && fabric->n_numa == 1 &&
			     fabric->n_per_root == 2;
	if (fabric->half_lanes)
		fabric->intra.eff_frac /= 2;
}

static void fill_network(const double *x, enum jl_wire wire, struct jl_link *link)
{
	const int alpha = wire == JL_WIRE_EFA ? EFA_LL_ALPHA : wire == JL_WIRE_ETHERNET ? ETH_LL_ALPHA : RDMA_LL_ALPHA;

	link->eff_frac = x[NET_EFF];
	link->ll_alpha_s = x[alpha];
	link->alpha_s = x[alpha] * x[NET_ALPHA];
	link->ll_frac = x[NET_LL];
	link->mid_frac = x[NET_MID];
	link->mid_s = x[NV_MID_S];
	link->setup_s = x[NET_SETUP];
	link->segment_s = x[alpha] * x[NET_SEGMENT];
	link->tree_frac = x[NET_TREE];
	link->alltoall_frac = x[NET_ALLTOALL];
}

/* The first match applies: kind and topology as in links.yaml, and the start of the wire's id. */
static const struct {
	const char *kind, *topology, *wire;
	enum jl_wire type;
} wires[] = {
	{ "none", "", "", JL_WIRE_NONE },
	{ "pcie", "host", "", JL_WIRE_PCIE_HOST },
	{ "pcie", "", "", JL_WIRE_PCIE_P2P },
	{ "nvlink-bridge", "mesh", "", JL_WIRE_NVLINK4 }, /* four cards, fully connected */
	{ "nvlink-bridge", "", "", JL_WIRE_BRIDGE },
	{ "nvlink", "domain", "", JL_WIRE_NVL72 },
	{ "nvlink", "", "nvlink1", JL_WIRE_NVLINK2 },
	{ "nvlink", "", "nvlink2", JL_WIRE_NVLINK2 },
	{ "nvlink", "", "nvlink3", JL_WIRE_NVLINK3 },
	{ "nvlink", "", "nvlink4", JL_WIRE_NVLINK4 },
	{ "nvlink", "", "", JL_WIRE_NVLINK5 },
	{ "infinity-fabric", "", "", JL_WIRE_XGMI },
	{ "roce-mesh", "", "", JL_WIRE_XGMI },
	{ "ici", "", "", JL_WIRE_XGMI },
	{ "ethernet", "", "", JL_WIRE_ETHERNET },
	{ "efa", "", "", JL_WIRE_EFA },
	{ "roce", "", "", JL_WIRE_ROCE },
};

enum jl_wire jl_wire_of(const struct jl_link_info *link)
{
	if (!link)
		return JL_WIRE_NONE;
	const char *topology = link->topology ? link->topology : "", *wire = link->wire ? link->wire : link->id;

	for (size_t i = 0; link->kind && i < JL_LEN(wires); i++)
		if (strcmp(link->kind, wires[i].kind) == 0 &&
		    (!*wires[i].topology || strcmp(topology, wires[i].topology) == 0) &&
		    strncmp(wire, wires[i].wire, strlen(wires[i].wire)) == 0)
			return wires[i].type;
	return link->role == JL_ROLE_NETWORK ? JL_WIRE_IB : JL_WIRE_PCIE_P2P;
}

void jl_coll_fill(const double *x, enum jl_wire intra, enum jl_wire inter, int many_die, struct jl_fabric *fabric)
{
	const int pcie = intra == JL_WIRE_PCIE_HOST || intra == JL_WIRE_PCIE_P2P || intra == JL_WIRE_BRIDGE;
	const enum jl_wire path = intra == JL_WIRE_BRIDGE && fabric->pairs_by_host ? JL_WIRE_PCIE_HOST : intra;

	fabric->launch_s = x[LAUNCH] * (many_die ? x[MANY_DIE] : 1.0);
	fabric->net_start_s = x[NET_START];
	if (intra == JL_WIRE_BRIDGE) {
		fill_nvlink(x, intra, many_die, &fabric->pair);
		/* two cards open few channels, which do not fill a wide bridge */
		fabric->pair.eff_frac = fmin(fabric->pair.eff_frac, x[BRIDGE_MAX] / fabric->pair.rate_Bps);
	}
	if (pcie) {
		fill_pcie(x, path, &fabric->intra);
		fill_roots(x, path == JL_WIRE_PCIE_HOST, fabric);
	} else if (intra != JL_WIRE_NONE) {
		fill_nvlink(x, intra, many_die, &fabric->intra);
		if (fabric->intra_kind == JL_INTRA_MESH && !(fabric->mesh_peers > 0.0))
			fabric->mesh_peers = intra == JL_WIRE_XGMI
						     ? 7.0
						     : 3.0; /* six NVLinks: two to each of three neighbours */
	}
	if (inter != JL_WIRE_NONE)
		fill_network(x, inter, &fabric->inter);
	fabric->p2p = (struct jl_p2p){ .start_s = x[P2P_START],
				       .peer_s = x[P2P_PEER],
				       .setup_s = x[P2P_SETUP],
				       .ll_Bps = x[P2P_LL],
				       .copy_Bps = x[P2P_COPY] };
}

double jl_coll_host_s(const double *x, enum jl_coll_tool tool, int n_on_host)
{
	if (tool == JL_TOOL_NCCL)
		return x[HOST_RANK] * n_on_host;
	return tool == JL_TOOL_TORCH ? x[HOST_TORCH] : 0.0;
}

const struct jl_wire_kind jl_wires[JL_N_WIRE] = {
#define EFF(name) "link." name ".eff_frac"
	[JL_WIRE_NONE] = { "none", "none", "", JL_LLM_RDMA, JL_INTRA_NONE, NULL },
	[JL_WIRE_PCIE_HOST] = { "pcie-host", "pcie-host", "PCIe, via the host", JL_LLM_PCIE_HOST, JL_INTRA_PCIE_HOST,
				EFF("pcie-host") },
	[JL_WIRE_PCIE_P2P] = { "pcie", "pcie", "PCIe, peer to peer", JL_LLM_PCIE_P2P, JL_INTRA_PCIE_P2P, EFF("pcie") },
	[JL_WIRE_BRIDGE] = { "bridge", "bridge", "NVLink bridge", JL_LLM_BRIDGE, JL_INTRA_BRIDGE_PAIR, EFF("nvlink") },
	[JL_WIRE_NVLINK2] = { "nvlink2", "nvlink2", "NVLink 2", JL_LLM_NVLINK_MESH, JL_INTRA_MESH, EFF("nvlink") },
	[JL_WIRE_NVLINK3] = { "nvlink3", "nvlink3", "NVLink 3", JL_LLM_NVLINK3, JL_INTRA_SWITCH, EFF("nvlink3") },
	[JL_WIRE_NVLINK4] = { "nvlink4", "nvlink4", "NVLink 4", JL_LLM_NVLINK4, JL_INTRA_SWITCH, EFF("nvlink4") },
	[JL_WIRE_NVLINK5] = { "nvlink5", "nvlink5", "NVLink 5", JL_LLM_NVLINK5, JL_INTRA_SWITCH, EFF("nvlink5") },
	[JL_WIRE_NVL72] = { "nvl72", "nvlink5", "NVL72", JL_LLM_NVLINK5, JL_INTRA_SWITCH, EFF("nvlink5") },
	[JL_WIRE_XGMI] = { "xgmi", "xgmi", "xGMI", JL_LLM_NVLINK4, JL_INTRA_MESH, EFF("nvlink") },
	[JL_WIRE_IB] = { "ib", "rdma", "InfiniBand", JL_LLM_RDMA, JL_INTRA_NONE, NULL },
	[JL_WIRE_ROCE] = { "roce", "rdma", "RoCE", JL_LLM_RDMA, JL_INTRA_NONE, NULL },
	[JL_WIRE_EFA] = { "efa", "rdma", "EFA", JL_LLM_RDMA, JL_INTRA_NONE, NULL },
	[JL_WIRE_ETHERNET] = { "ethernet", "ethernet", "Ethernet", JL_LLM_ETHERNET, JL_INTRA_NONE, NULL },
};

const char *jl_wire_pair(char out[JL_PAIR_ID_MAX], enum jl_wire intra, enum jl_wire inter, bool alike)
{
	const struct jl_wire_kind *a = &jl_wires[intra], *b = &jl_wires[inter];

	(void)snprintf(out, JL_PAIR_ID_MAX, "%s.%s", alike ? a->alike : a->id, alike ? b->alike : b->id);
	return out;
}
