/* How often a job of some size fails: a rate of each node, with what is not known of it, and one of the job where it is given. */
#pragma once

#include "catalog/catalog.h"
#include "goodput/cycle.h"
#include "predict/predict.h"

/* What stops a job; the shares are those of the one run that published them by kind. */
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
	const char *figure; /* in the catalog: how many of all stops */
	const char *detect; /* in the catalog: time until it is acted on */
	bool of_gpus;       /* as many as there are GPUs; else as there are nodes */
	bool takes_node;    /* the node is taken out */
	bool of_all;        /* stops every replica, however they are kept apart */
};
extern const struct jl_failure_info jl_failures[JL_N_FAILURE];

/* A failure rate and its uncertainty. */
struct jl_rate {
	double per_day;    /* median */
	double sd_ln;      /* scale of a Student t of `dof` degrees, as ln; 0: none */
	double dof;        /* 0: a normal one */
	double n_failures; /* counted in `window_days`: gamma posterior in place of the above; NAN: none counted */
	double window_days;
};

struct jl_rates {
	struct jl_rate node; /* of a node of 8 GPUs */
	struct jl_rate
		job;      /* whatever its size: 0 unless it is said; published jobs fail in proportion to their nodes */
	double gpu_frac;  /* of the node's rate: grows with its GPUs */
	double n_sites;   /* that the node's rate is estimated from; 0: given */
	const char *site; /* that it is from, or NULL */
};

/* A site that is not known: pooled from all published ones but `leave_out` (NULL: none). */
enum jl_status jl_rates_pool(struct jl_rates *ret_rates, const struct jl_catalog *cat, const char *leave_out,
			     struct jl_err *err);
/* One of them. */
enum jl_status jl_rates_site(struct jl_rates *ret_rates, const struct jl_catalog *cat, const char *id,
			     struct jl_err *err);
/* A job's own: so many failures in so long a time on so many nodes. */
void jl_rates_own(struct jl_rates *io_rates, double n_failures, double window_s, double n_nodes, double per_node);
/* The same beside what is known of other sites: a gamma distribution as wide as what both leave open. */
void jl_rates_learn(struct jl_rates *io_rates, double n_failures, double window_s, double n_nodes, double per_node);
/* Exactly so. The mean time to failure of a job of this size holds all of them: other sizes follow in proportion to their nodes. */
void jl_rates_given(struct jl_rates *io_rates, double node_per_day, double job_per_day);
void jl_rates_total(struct jl_rates *io_rates, double mttf_s, double n_nodes, double per_node);

/* Failures a node and day that a record says, or that follow from its counts or from its jobs' mean time to failure; NAN: none. */
double jl_reliability_rate(const struct jl_reliability *record);

/* One value of what may be true, failures of the job a second. */
double jl_rates_draw_hz(const struct jl_rates *rates, double n_nodes, double per_node, struct jl_draws *draws);
/* Sum of the terms' medians: the value that is planned for. */
double jl_rates_median_hz(const struct jl_rates *rates, double n_nodes, double per_node);
/* The same with the interval that holds `share`. */
struct jl_estimate jl_rates_of(const struct jl_rates *rates, double n_nodes, double per_node, double share);

/* Sorted in place: median and the interval that holds `share` of the values. */
struct jl_estimate jl_quantiles(double *values, int n, double share);

/* Shares of the kinds on nodes of so many GPUs. */
void jl_failure_shares(double ret_shares[JL_N_FAILURE], const struct jl_catalog *cat, double per_node);
