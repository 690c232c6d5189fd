/* How long a collective takes: the cheapest of the algorithms and protocols that the fabric allows. Pure. */
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

/* Ring: flat over all ranks. Tree: a chain inside a host, a double binary tree between hosts. Switch: reduced in the
 * switch of one NVLink domain. Hierarchical: reduced in the host's switch (forced on a fabric without: reduce-scatter,
 * all-gather), then between hosts by a tree or in their switches. All-to-all and send-receive have but one way. */
enum jl_algorithm { JL_ALGO_BEST, JL_ALGO_RING, JL_ALGO_TREE, JL_ALGO_SWITCH, JL_ALGO_HIERARCHICAL, JL_N_ALGORITHM };

struct jl_collective {
	enum jl_collective_kind kind;
	double size_B; /* nccl-tests' "size": one rank's whole buffer (all-gather, reduce-scatter: the large one) */
	int n_ranks;
	int n_ranks_per_node;        /* how many of them share a host; 0: as many as fit */
	int n_groups_per_node;       /* groups of the same kind at once on a host, sharing its NICs; usually 1 */
	enum jl_algorithm algorithm; /* JL_ALGO_BEST, or forced */
};

struct jl_collective_cost {
	double time_s;               /* INFINITY: the forced algorithm cannot do this on this fabric */
	enum jl_algorithm algorithm; /* which one won */
	double bound_s;              /* what bandwidth alone would need: no algorithm of this class can be faster */
};

/* One rank or no bytes cost nothing. The time does not depend on how ranks are numbered, and does not grow with them to compute. */
struct jl_collective_cost jl_collective_cost(const struct jl_fabric *fabric, const struct jl_collective *coll);

/* Only time_s, of several collectives of the same ranks (n_ranks, n_ranks_per_node and n_groups_per_node are those of
 * the first): these are laid onto the fabric once. For those who price plans by the million. */
void jl_collective_times(const struct jl_fabric *fabric, const struct jl_collective *coll, size_t n, double *ret_s);

/* Bus bandwidth factor of nccl-tests: busbw = algbw * factor. */
double jl_busbw_factor(enum jl_collective_kind kind, int n_ranks);
