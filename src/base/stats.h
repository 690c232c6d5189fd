/* Statistics of repeated measurements with outliers and a long tail: medians and order statistics. */
#pragma once

#include <stddef.h>

/* All NAN if there are no samples. */
struct jl_stats {
	size_t n;
	double median, mean, min, max, p95;
	double lo95, hi95; /* 95 % interval of the median */
};

/* `samples` in the order they were taken, all finite; `scratch` holds n values. The interval uses order statistics (binomial, distribution-free)
 * and the effective sample size of autocorrelated samples. Below six samples it is the whole range. */
void jl_stats_of(struct jl_stats *ret_stats, const double *samples, size_t n, double *scratch);

struct jl_stats jl_stats_one(double value);
/* Statistics of work / seconds. p95 of few samples is the largest. */
struct jl_stats jl_stats_rate(const struct jl_stats *seconds, double work);

void jl_stats_sort(double *values, size_t n);
double jl_stats_median(double *values, size_t n); /* sorts `values` */
/* Linear interpolation; q from 0 to 1. */
double jl_stats_quantile(const double *sorted, size_t n, double q);

/* Index of the first steady sample; those before it are warm-up, at most half. `scratch` holds n values. */
size_t jl_stats_steady_from(const double *samples, size_t n, double *scratch);

/* Number of samples more than 5 robust standard deviations from the median. */
size_t jl_stats_outliers(const double *samples, size_t n, double *scratch);

/* Quantile of Student's t: p from 0.5 to 1, dof >= 1. */
double jl_stats_t_quantile(double p, size_t dof);

/* Mann-Whitney U test: two-sided p-value that both sets have the same distribution (normal approximation with ties, usable from about five samples
 * each). NAN if a set is empty. `scratch` holds 2·(n_a + n_b) values. */
double jl_stats_same_p(const double *a, size_t n_a, const double *b, size_t n_b, double *scratch);
