/* Measures a cluster (each rank alone, every pair, all together) and finds slow machines and bad links. */
#pragma once

#include "base/arena.h"
#include "check/nodes.h"
#include "comm/comm.h"

#define JL_CLUSTER_RANKS_MAX 128
#define JL_CLUSTER_HOST_MAX  64
#define JL_CLUSTER_SIZES     4

enum jl_cluster_figure {
	JL_CLUSTER_GEMM,
	JL_CLUSTER_MEMORY,
	JL_CLUSTER_GPU_GEMM,
	JL_CLUSTER_GPU_MEMORY,
	JL_CLUSTER_SEND, /* median of the rank's links */
	JL_CLUSTER_RECEIVE,
	JL_N_CLUSTER_FIGURE
};
extern const char *const jl_cluster_figures[JL_N_CLUSTER_FIGURE]; /* names, marked by JL_N for translation */

struct jl_cluster_link {
	int from, to;
	double Bps;
};

struct jl_cluster {
	int n;
	char hosts[JL_CLUSTER_RANKS_MAX][JL_CLUSTER_HOST_MAX];
	double rates[JL_N_CLUSTER_FIGURE][JL_CLUSTER_RANKS_MAX];       /* NAN: not measured */
	double pair_Bps[JL_CLUSTER_RANKS_MAX][JL_CLUSTER_RANKS_MAX];   /* [from][to] */
	double reduce_B[JL_CLUSTER_SIZES], reduce_s[JL_CLUSTER_SIZES]; /* all-reduce over all ranks */
	/* --- evaluation */
	double pair_median_Bps;
	double least_ln; /* ln of the smallest slowdown that can be detected; NAN: too few ranks */
	struct jl_node_score scores[JL_CLUSTER_RANKS_MAX];
	struct jl_cluster_link bad[JL_CLUSTER_RANKS_MAX]; /* sorted, worst first */
	size_t n_bad, n_slow;
};

/* Call on every rank. If a rank dies or hangs, the results measured before remain available. */
enum jl_status jl_cluster_measure(struct jl_cluster *cluster, struct jl_comm *comm, struct jl_err *err);
void jl_cluster_begin(struct jl_cluster *cluster); /* clears: nothing measured */
/* Evaluates the measurements: slow machines and bad links. */
enum jl_status jl_cluster_weigh(struct jl_cluster *cluster, struct jl_arena *arena, struct jl_err *err);
