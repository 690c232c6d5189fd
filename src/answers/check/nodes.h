/* Compares machines of one kind: finds slow ones, with a correction for the number of comparisons. */
#pragma once

#include "base/arena.h"
#include "base/fields.h"
#include "record/record.h"

#define JL_NODES_LEAST  4    /* fewer give no verdict */
#define JL_NODES_KEPT   1024 /* most per answer */
#define JL_FIGURES_MAX  256
#define JL_NODES_ALARMS 0.05 /* largest share of healthy fleets with a false alarm */

struct jl_node_score {
	size_t n_figures;
	double score_ln; /* median over its figures of ln(rate / median of the nodes) */
	size_t worst;    /* worst figure: furthest below its threshold */
	double worst_ln;
	bool slow;    /* overall */
	bool slow_in; /* in its worst figure */
};

/* rates[figure * n_nodes + node], more is better, NAN if missing. Medians and robust spreads, so that slow nodes do not affect them; Student's
 * t with Bonferroni correction. `ret_least_ln`: threshold of a node's score. */
enum jl_status jl_nodes_weigh(struct jl_node_score *ret_scores, double *ret_least_ln, const double *rates,
			      size_t n_nodes, size_t n_figures, struct jl_arena *arena, struct jl_err *err);

/* A node in a store. */
struct jl_node {
	const char *name, *machine_name;
	size_t n_records, n_noisy;
	struct jl_node_score score;
	double least_ln;               /* NAN: too few of its kind */
	const struct jl_record *worst; /* example of its worst figure; NULL: none */
};
struct jl_nodes {
	const struct jl_node *nodes; /* slowest first */
	size_t n, n_slow, n_unknown; /* n_unknown: kinds with fewer than JL_NODES_LEAST */
};
/* Uses quiet records, grouped by equal hardware, then by node name or machine. Bimodal figures (small messages between processes) are
 * excluded. */
enum jl_status jl_nodes_of_records(struct jl_nodes *ret_nodes, const struct jl_record *const *records, size_t n_records,
				   struct jl_arena *arena, struct jl_err *err);

extern const struct jl_schema jl_nodes_fields;
