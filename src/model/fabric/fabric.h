/* Interconnect inside a host and between hosts, as the model uses it. Pure data in SI units. */
#pragma once

enum jl_intra_kind {
	JL_INTRA_NONE,        /* one device per host */
	JL_INTRA_PCIE_HOST,   /* no peer-to-peer: every transfer crosses host memory (two copies) */
	JL_INTRA_PCIE_P2P,    /* peer-to-peer over PCIe */
	JL_INTRA_BRIDGE_PAIR, /* NVLink bridges between pairs, PCIe beyond */
	JL_INTRA_MESH,        /* point-to-point links: NVLink 1/2 cube mesh, xGMI, Gaudi RoCE */
	JL_INTRA_SWITCH       /* NVSwitch: all pairs at full rate */
};

/* One class of link: listed rate and fitted parameters. A message uses the cheapest of up to three protocols: low latency (LL: small stores with a
 * flag each), middle (LL128: whole lines), large (Simple: segments through a buffer). Parameters below `in_switch` may be 0, which leaves their
 * effect out. */
struct jl_link {
	double rate_Bps;   /* one direction; intra: per device; inter: per host, all NICs */
	double eff_frac;   /* share of rate_Bps that large collectives reach; fitted per link type */
	double alpha_s;    /* latency of one step, large protocol; fitted */
	double ll_frac;    /* bandwidth share of the low-latency protocol; fitted; 0: not offered */
	double ll_alpha_s; /* latency of one step, low-latency protocol; fitted */
	int in_switch;     /* in-network reduction (NVLS, SHARP) */

	double mid_frac;  /* bandwidth share of the middle protocol; 0: not offered */
	double mid_s;     /* set-up of the middle protocol */
	double setup_s;   /* set-up of the large protocol */
	double segment_s; /* pipelining in segments adds 2 sqrt(segment_s * transfer time) */
	/* copying a rank's own share, as a share of the time to send it (all-gather, reduce-scatter) */
	double copy_frac;
	double switch_frac;    /* rate of in-switch reduction / (eff_frac * rate_Bps); 0: 1 */
	double switch_alpha_s; /* latency of in-switch reduction per rank */
	double tree_frac;      /* between hosts: tree bandwidth / ring bandwidth; 0: unset, 1 */
	double alltoall_frac;  /* share of the rate left in all-to-all; 0: 1 */
};

/* Point-to-point sends: send-receive, all-to-all. All 0: a send costs one ring step. */
struct jl_p2p {
	double start_s; /* start-up beyond the launch */
	double peer_s;  /* for each further peer */
	double setup_s; /* set-up of the large protocol */
	double ll_Bps;  /* rate to one peer with the low-latency protocol; 0: the link's */
	/* all-to-all: rate at which a device copies its whole buffer, own share included; 0: no limit */
	double copy_Bps;
};

struct jl_fabric {
	enum jl_intra_kind intra_kind;
	int n_per_node; /* devices joined by `intra` */
	int n_numa;     /* sockets among which a host's devices are divided; 0: 1 */
	struct jl_link intra;
	struct jl_link pair; /* JL_INTRA_BRIDGE_PAIR only: the bridge; `intra` is the PCIe path */
	int pairs_by_host;   /* JL_INTRA_BRIDGE_PAIR only: no peer-to-peer between pairs, transfers cross host memory */
	int n_nodes;
	struct jl_link inter;
	double launch_s; /* fixed cost of starting a collective; fitted */

	int n_per_root;    /* PCIe: devices per socket of a full host; 0: n_per_node / n_numa */
	int n_shared;      /* PCIe: devices per switch uplink; 1: one root port each; 0: unknown, same as 1 */
	int lanes_given;   /* PCIe: the user named the link, so it has all lanes of that name */
	int half_lanes;    /* PCIe: two cards in a desktop, assumed to have half of their lanes each */
	double root_Bps;   /* PCIe: rate of one uplink; not used by two peers below one switch; 0: no limit */
	double cross_frac; /* PCIe: share of the rate left if the ring crosses sockets; 0: 1 */
	/* mesh: number of neighbours among which a device's rate is divided; 0: one pair gets all of it */
	double mesh_peers;
	int n_nics;         /* NICs per host if each rank drives one; 0: any rank drives all */
	double net_start_s; /* added to launch_s for collectives between hosts */
	struct jl_p2p p2p;
};
