/* How accelerators are joined, as the model sees it: inside a host and between hosts. Pure data, SI units. */
#pragma once

enum jl_intra_kind {
	JL_INTRA_NONE,        /* one device per host */
	JL_INTRA_PCIE_HOST,   /* no peer-to-peer: every byte crosses host memory twice */
	JL_INTRA_PCIE_P2P,    /* peer-to-peer over PCIe */
	JL_INTRA_BRIDGE_PAIR, /* NVLink bridges between pairs, PCIe beyond */
	JL_INTRA_MESH,        /* point-to-point links: NVLink 1/2 cube mesh, xGMI, Gaudi RoCE */
	JL_INTRA_SWITCH       /* NVSwitch: all pairs at full rate */
};

/* One class of link: listed rate and fitted physics. A message goes by the cheapest of up to three protocols: low
 * latency (few bytes a store, each with its flag), middle (whole lines), and large (segments through a buffer).
 * The terms below `in_switch` may stay 0: that part of the physics is then left out. */
struct jl_link {
	double rate_Bps;   /* one way; intra: per device; inter: per host, all NICs together */
	double eff_frac;   /* reached by large collectives, fitted per link type */
	double alpha_s;    /* latency of one step, large protocol, fitted */
	double ll_frac;    /* bandwidth share of the low-latency protocol, fitted; 0: not offered */
	double ll_alpha_s; /* latency of one step with it, fitted */
	int in_switch;     /* can reduce in the network (NVLS, SHARP) */

	double mid_frac;  /* bandwidth share of the middle protocol; 0: not offered */
	double mid_s;     /* its set-up */
	double setup_s;   /* set-up of the large protocol */
	double segment_s; /* pipelining by segments adds 2 sqrt(segment_s * transfer time) */
	double copy_frac; /* time to place a rank's own share, as a share of sending it (all-gather, reduce-scatter) */
	double switch_frac;    /* rate of in-switch reduction, of eff_frac * rate_Bps; 0: 1 */
	double switch_alpha_s; /* its latency per rank */
	double tree_frac;      /* inter: rate that trees reach, of the ring's; 0: 1 */
	double alltoall_frac;  /* rate left when everybody sends to everybody; 0: 1 */
};

/* Sends that are not a ring: send-receive, all-to-all. All 0: a send costs what a step of a ring costs. */
struct jl_p2p {
	double start_s; /* beyond the launch */
	double peer_s;  /* per further peer */
	double setup_s; /* set-up of the large protocol */
	double ll_Bps;  /* one peer's rate with the low-latency protocol; 0: the link's */
	double copy_Bps; /* all-to-all: rate at which a device passes its whole buffer on, own share included; 0: no limit */
};

struct jl_fabric {
	enum jl_intra_kind intra_kind;
	int n_per_node; /* devices joined by `intra` */
	int n_numa;     /* sockets that share the devices of a host; 0: 1 */
	struct jl_link intra;
	struct jl_link pair; /* only for JL_INTRA_BRIDGE_PAIR: the bridge; `intra` is the PCIe path */
	int pairs_by_host;   /* likewise: from pair to pair there is no peer-to-peer, bytes cross host memory */
	int n_nodes;
	struct jl_link inter;
	double launch_s; /* fixed cost of starting a collective, fitted */

	int n_per_root;  /* PCIe: devices of one socket of the whole host; 0: n_per_node / n_numa */
	int n_shared;    /* PCIe: of them, how many go up through one switch; 1: a root port each; 0: not known, as 1 */
	int lanes_given; /* PCIe: the caller named the link: it has all lanes of that name */
	int half_lanes;  /* PCIe: a desktop's two cards, which are taken to have half of their lanes each */
	double root_Bps; /* PCIe: what one way up passes on; two peers below one switch do not need it; 0: no limit */
	double cross_frac;  /* PCIe: rate left where the ring crosses sockets; 0: 1 */
	double mesh_peers;  /* mesh: neighbours over which a device's rate is spread; 0: one pair gets all of it */
	int n_nics;         /* per host: one rank drives one of them; 0: any rank drives all */
	double net_start_s; /* added to the launch where hosts take part */
	struct jl_p2p p2p;
};
