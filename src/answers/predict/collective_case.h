/* What a collective should reach on a system when it is measured by itself: an expected range, and a bound that nothing measured
 * can be above. For "is this value normal?" and for series over node counts. Pure: no I/O, nothing kept. */
#pragma once

#include "fabric/collective.h"
#include "predict/predict.h"

struct jl_collective_ask {
	enum jl_collective_kind kind;
	double size_B; /* nccl-tests' "size": one rank's whole buffer (all-gather, reduce-scatter: the large one) */
	int n_ranks;   /* of the machine's first devices; 0: all of them. Whole hosts, or a part of one. */
};

/* Which listed rate the bound comes from. */
enum jl_collective_limit {
	JL_LIMIT_LINK,   /* the links inside a host */
	JL_LIMIT_NETWORK /* one host's network */
};

#define JL_LIMIT_TEXT_MAX 160

struct jl_collective_case {
	enum jl_collective_kind kind;
	double size_B;
	int n_ranks, n_nodes, n_per_node;
	double time_s;
	struct jl_estimate algbw_Bps; /* size / time; 80 % interval, its upper end never above the bound */
	double busbw_factor;          /* busbw = algbw * factor (nccl-tests) */
	double half_ln, fast_ln;      /* how far the interval goes to the slow and to the fast side, as ln */
	struct jl_estimate
		one_host_Bps; /* what one of the hosts reaches by itself, where that is a limit; NAN: it is none */
	enum jl_algorithm algorithm; /* the cheapest */
	double n_steps;              /* that follow each other between hosts (one host: between devices) with it */

	double bound_Bps; /* algbw that bandwidth alone allows at listed rates: above it, a figure is not an algbw of this system */
	double bound_s;
	enum jl_collective_limit limit;
	double limit_Bps;  /* the listed rate that bounds: of one host's network, or of one device's links */
	double limit_frac; /* bound_Bps / limit_Bps: which share of it an algbw can reach */
	bool in_network;   /* the switches (of the network, or of the host where there is one host) may reduce */
	bool half_lanes;   /* a desktop's two cards: half of the PCIe lanes each, as in jl_fabric */
	bool seen;         /* such a pair of links is among the published measurements */
	/* "efa-v2 400 GB/s a host x 125/248": what bounds it, in words */
	char limit_en[JL_LIMIT_TEXT_MAX], limit_text[JL_LIMIT_TEXT_MAX];
};

/* One collective of any ranks on the links of a machine (its `alone`): what jl_collective_case asks for whole hosts. host_s: what a tool's
 * host needs for each at least, 0: nothing; n_assumed: facts about the links that are not stated. */
struct jl_collective_answer {
	struct jl_collective_cost cost;
	double time_s, half_ln, fast_ln; /* fast_ln: on the side where no host is worse than the usual one */
	struct jl_doubt doubt;
};
struct jl_collective_answer jl_collective_of(const struct jl_machine *machine, const struct jl_collective *coll,
					     double host_s, int n_assumed);

/* Refused: one rank, no size, a number of ranks that is not whole hosts (JL_E_RANGE). */
enum jl_status jl_collective_case(struct jl_collective_case *ret_case, const struct jl_machine *machine,
				  const struct jl_collective_ask *ask, struct jl_err *err);

/* The machine with another number of hosts: "125 of these". The network of a single host is what such hosts have. */
enum jl_status jl_machine_hosts(struct jl_machine *ret_machine, const struct jl_catalog *cat, const struct jl_sys *sys,
				int n_nodes, struct jl_arena *arena, struct jl_err *err);

/* "allreduce", "all-reduce", "all_reduce_perf", ...: false where it is none. */
bool jl_collective_by_name(enum jl_collective_kind *ret_kind, const char *name);
const char *jl_collective_name(enum jl_collective_kind kind); /* "all-reduce" */
const char *jl_algorithm_name(enum jl_algorithm algorithm);   /* "ring" */
