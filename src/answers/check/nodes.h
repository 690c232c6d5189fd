/* Machines that should be alike, weighed against each other: which one is slow, and is that more than chance among so many? */
#pragma once

#include "base/arena.h"
#include "base/fields.h"
#include "record/record.h"

#define JL_NODES_LEAST  4    /* fewer say nothing about which one is odd */
#define JL_NODES_KEPT   1024 /* in one answer */
#define JL_FIGURES_MAX  256
#define JL_NODES_ALARMS 0.05 /* of fleets without a slow node, at most so many have one called slow */

struct jl_node_score {
	size_t n_figures;
	double score_ln; /* median over its figures of ln(rate / median of the nodes) */
	size_t worst;    /* its worst figure: the one furthest below what would count there */
	double worst_ln;
	bool slow;    /* all in all */
	bool slow_in; /* in its worst figure */
};

/* rates[figure * n_nodes + node], more is better, NAN where there is none. Medians and robust spreads, so that slow ones do not hide themselves;
 * thresholds by Student's t, divided among all that is asked (Bonferroni). `ret_least_ln`: how far below the score of a node must be. */
enum jl_status jl_nodes_weigh(struct jl_node_score *ret_scores, double *ret_least_ln, const double *rates,
			      size_t n_nodes, size_t n_figures, struct jl_arena *arena, struct jl_err *err);

/* A node of a store. */
struct jl_node {
	const char *name, *machine_name;
	size_t n_records, n_noisy;
	struct jl_node_score score;
	double least_ln;               /* NAN: too few alike */
	const struct jl_record *worst; /* an example of its worst figure; NULL: none */
};
struct jl_nodes {
	const struct jl_node *nodes; /* the slowest first */
	size_t n, n_slow, n_unknown; /* n_unknown: of a kind with fewer than JL_NODES_LEAST */
};
/* Of quiet records, those of machines that are built alike together: by the node that they name, else by their machine. Figures that jump by
 * themselves (small messages between processes) are left out. */
enum jl_status jl_nodes_of_records(struct jl_nodes *ret_nodes, const struct jl_record *const *records, size_t n_records,
				   struct jl_arena *arena, struct jl_err *err);

extern const struct jl_schema jl_nodes_fields;
