/* Time of a collective: the cheapest of the algorithms and protocols that the fabric offers. Pure. */
#pragma once

#include <stddef.h>

#include "fabric/fabric.h"

enum jl_collective_kind {
	JL_ALLREDUCE,
	JL_ALLGATHER,
	JL_REDUCESCATTER,
	JL_BROADCAST,
	JL_REDUCE,
	JL_ALLTOALL,
	JL_SENDRECV,
	JL_N_COLLECTIVE
};

/* Ring: flat over all ranks. Tree: a chain inside a host, a double binary tree between hosts. Switch: reduction in the switch of one NVLink domain.
 * Hierarchical: reduction in the host's switch (if forced without a switch: reduce-scatter and all-gather), then between hosts by a tree or in the
 * network's switches. All-to-all and send-receive have one algorithm each. */
enum jl_algorithm { JL_ALGO_BEST, JL_ALGO_RING, JL_ALGO_TREE, JL_ALGO_SWITCH, JL_ALGO_HIERARCHICAL, JL_N_ALGORITHM };

struct jl_collective {
	enum jl_collective_kind kind;
	/* "size" of nccl-tests: the whole buffer of one rank (all-gather, reduce-scatter: the larger one) */
	double size_B;
	int n_ranks;
	int n_ranks_per_node;        /* ranks per host; 0: as many as fit */
	int n_groups_per_node;       /* concurrent groups of the same kind per host, which share its NICs; usually 1 */
	enum jl_algorithm algorithm; /* JL_ALGO_BEST or a forced algorithm */
};

struct jl_collective_cost {
	double time_s;               /* INFINITY: the fabric does not support the forced algorithm */
	enum jl_algorithm algorithm; /* the algorithm chosen */
	double bound_s;              /* lower bound from listed bandwidth */
};

/* One rank or 0 bytes take no time. The result does not depend on rank numbering, and the work is constant in the number of ranks. */
struct jl_collective_cost jl_collective_cost(const struct jl_fabric *fabric, const struct jl_collective *coll);

/* Only time_s of n collectives over the same ranks (n_ranks, n_ranks_per_node and n_groups_per_node of the first apply to all). Faster, for
 * searches over millions of plans: the mapping onto the fabric is done once. */
void jl_collective_times(const struct jl_fabric *fabric, const struct jl_collective *coll, size_t n, double *ret_s);

/* Bus bandwidth factor of nccl-tests: busbw = algbw * factor. */
double jl_busbw_factor(enum jl_collective_kind kind, int n_ranks);
