/* Expected range of a collective's performance on a system, measured in isolation, and an upper bound that no measurement can exceed. For "is
 * this value normal?" and series over host counts. Pure: no I/O, no state. */
#pragma once

#include "fabric/collective.h"
#include "predict/predict.h"

struct jl_collective_ask {
	enum jl_collective_kind kind;
	/* as "size" in nccl-tests: a rank's whole buffer (all-gather, reduce-scatter: the larger one) */
	double size_B;
	int n_ranks; /* first devices of the machine; 0: all. Whole hosts, or part of one. */
};

/* Origin of the bound. */
enum jl_collective_limit {
	JL_LIMIT_LINK,   /* links within a host */
	JL_LIMIT_NETWORK /* network of a host */
};

#define JL_LIMIT_TEXT_MAX 160

struct jl_collective_case {
	enum jl_collective_kind kind;
	double size_B;
	int n_ranks, n_nodes, n_per_node;
	double time_s;
	struct jl_estimate algbw_Bps;    /* size / time; 80 % interval whose upper end does not exceed the bound */
	double busbw_factor;             /* busbw = algbw * factor (nccl-tests) */
	double half_ln, fast_ln;         /* half-widths to the slow and the fast side, as ln */
	struct jl_estimate one_host_Bps; /* algbw within one host if that is the limit; NAN: not the limit */
	enum jl_algorithm algorithm;     /* the fastest */
	double n_steps; /* sequential steps between hosts (single host: between devices) with this algorithm */

	double bound_Bps; /* bound of algbw by listed bandwidths; a higher figure is not an algbw of this system */
	double bound_s;
	enum jl_collective_limit limit;
	double limit_Bps;  /* limiting listed rate: of a host's network, or of a device's links */
	double limit_frac; /* bound_Bps / limit_Bps: achievable share of it */
	bool in_network;   /* switches (in the network, or in a single host) may reduce */
	bool half_lanes;   /* two cards of a desktop have half of the PCIe lanes each, as in jl_fabric */
	bool seen;         /* published measurements include this pair of links */
	/* limit in words: "efa-v2 400 GB/s a host x 125/(2 x 124)" */
	char limit_en[JL_LIMIT_TEXT_MAX], limit_text[JL_LIMIT_TEXT_MAX];
};

/* A collective of any ranks on the links of a machine (its `alone`); jl_collective_case uses it for whole hosts. host_s: minimum host time per
 * call of the measuring tool, 0: none; n_assumed: number of unstated facts about the links. */
struct jl_collective_answer {
	struct jl_collective_cost cost;
	double time_s, half_ln, fast_ln; /* fast_ln: half-width to the fast side, where no host is worse than usual */
	struct jl_doubt doubt;
};
struct jl_collective_answer jl_collective_of(const struct jl_machine *machine, const struct jl_collective *coll,
					     double host_s, int n_assumed);

/* Errors: one rank, no size, a number of ranks that is not whole hosts (JL_E_RANGE). */
enum jl_status jl_collective_case(struct jl_collective_case *ret_case, const struct jl_machine *machine,
				  const struct jl_collective_ask *ask, struct jl_err *err);

/* The machine with another number of hosts ("125 of these"). For a single host the usual network of such hosts is assumed. */
enum jl_status jl_machine_hosts(struct jl_machine *ret_machine, const struct jl_catalog *cat, const struct jl_sys *sys,
				int n_nodes, struct jl_arena *arena, struct jl_err *err);

/* Recognises "allreduce", "all-reduce", "all_reduce_perf", ...; false: unknown. */
bool jl_collective_by_name(enum jl_collective_kind *ret_kind, const char *name);
const char *jl_collective_name(enum jl_collective_kind kind); /* "all-reduce" */
const char *jl_algorithm_name(enum jl_algorithm algorithm);   /* "ring" */
