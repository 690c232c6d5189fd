/* Failure rate of a job by size: a rate per node with its uncertainty, and one per job where given. */
#pragma once

#include "catalog/catalog.h"
#include "goodput/cycle.h"
#include "predict/predict.h"

/* Failure causes; shares are those of the one published run that lists causes. */
enum jl_failure_kind {
	JL_FAILURE_GPU,
	JL_FAILURE_HBM,
	JL_FAILURE_LINK,
	JL_FAILURE_HOST,
	JL_FAILURE_STORAGE,
	JL_FAILURE_SOFTWARE,
	JL_FAILURE_SILENT,
	JL_N_FAILURE
};
struct jl_failure_info {
	const char *key, *en;
	const char *figure; /* catalog figure: number of stops */
	const char *detect; /* catalog figure: detection time */
	bool of_gpus;       /* proportional to GPUs; else to nodes */
	bool takes_node;    /* the node is taken out */
	bool of_all;        /* stops every replica */
};
extern const struct jl_failure_info jl_failures[JL_N_FAILURE];

/* A failure rate and its uncertainty. */
struct jl_rate {
	double per_day;    /* median */
	double sd_ln;      /* scale of a Student t of `dof` degrees, as ln; 0: none */
	double dof;        /* 0: a normal one */
	double n_failures; /* counted in `window_days`: gamma posterior replaces the above; NAN: none counted */
	double window_days;
};

struct jl_rates {
	struct jl_rate node; /* of a node of 8 GPUs */
	struct jl_rate
		job;     /* independent of the size: 0 unless given; published jobs fail in proportion to their nodes */
	double gpu_frac; /* share of the node's rate that is proportional to its GPUs */
	double n_sites;  /* sites behind the node's rate; 0: given */
	const char *site; /* its site, or NULL */
};

/* Rate of an unknown site: pooled from all published ones except `leave_out` (NULL: none). */
enum jl_status jl_rates_pool(struct jl_rates *ret_rates, const struct jl_catalog *cat, const char *leave_out,
			     struct jl_err *err);
/* Rate of one published site. */
enum jl_status jl_rates_site(struct jl_rates *ret_rates, const struct jl_catalog *cat, const char *id,
			     struct jl_err *err);
/* Rate of a job from its own count: failures in a time on a number of nodes. */
void jl_rates_own(struct jl_rates *io_rates, double n_failures, double window_s, double n_nodes, double per_node);
/* Combines the own count with other sites: a gamma distribution of the combined width. */
void jl_rates_learn(struct jl_rates *io_rates, double n_failures, double window_s, double n_nodes, double per_node);
/* Given rate. The mean time to failure of a job of this size includes all failures: other sizes follow in proportion to their nodes. */
void jl_rates_given(struct jl_rates *io_rates, double node_per_day, double job_per_day);
void jl_rates_total(struct jl_rates *io_rates, double mttf_s, double n_nodes, double per_node);

/* Failures per node and day of a record, stated or derived from counts or from its jobs' mean time to failure; NAN: none. */
double jl_reliability_rate(const struct jl_reliability *record);

/* Draws one possible rate, failures of the job per second. */
double jl_rates_draw_hz(const struct jl_rates *rates, double n_nodes, double per_node, struct jl_draws *draws);
/* Sum of the medians: the rate used for planning. */
double jl_rates_median_hz(const struct jl_rates *rates, double n_nodes, double per_node);
/* The same with the interval that holds `share`. */
struct jl_estimate jl_rates_of(const struct jl_rates *rates, double n_nodes, double per_node, double share);

/* Sorts in place: median and the interval that holds `share` of the values. */
struct jl_estimate jl_quantiles(double *values, int n, double share);

/* Shares of the causes on nodes with this number of GPUs. */
void jl_failure_shares(double ret_shares[JL_N_FAILURE], const struct jl_catalog *cat, double per_node);
