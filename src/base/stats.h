/* Statistics of repeated measurements, made for samples that have outliers and a long tail: medians and order statistics. */
#pragma once

#include <stddef.h>

/* NAN where there are no samples. */
struct jl_stats {
	size_t n;
	double median, mean, min, max, p95;
	double lo95, hi95; /* 95 % interval of the median */
};

/* `samples` in the order they were taken; NAN and infinities are not allowed. `scratch` has room for n. The interval comes from order
 * statistics (binomial; no assumption on the distribution), widened where neighbours resemble each other: samples that drift together
 * tell less than their number. Below six samples it is the whole range. */
void jl_stats_of(struct jl_stats *ret_stats, const double *samples, size_t n, double *scratch);

/* Statistics of a single exact value. */
struct jl_stats jl_stats_one(double value);
/* Of work per second, from seconds; p95 is the largest of few. */
struct jl_stats jl_stats_rate(const struct jl_stats *seconds, double work);

void jl_stats_sort(double *values, size_t n);
double jl_stats_median(double *values, size_t n); /* sorts them */
/* Linear between neighbours; q from 0 to 1. */
double jl_stats_quantile(const double *sorted, size_t n, double q);

/* From which sample on the series is steady: what comes before is warm-up. At most half is given up. `scratch` as above. */
size_t jl_stats_steady_from(const double *samples, size_t n, double *scratch);

/* How many lie further from the median than 5 robust standard deviations. */
size_t jl_stats_outliers(const double *samples, size_t n, double *scratch);

/* Student's t: the value below which a share `p` (0.5 to 1) of the distribution with `dof` >= 1 degrees of freedom lies. */
double jl_stats_t_quantile(double p, size_t dof);

/* Two-sided probability that two sets of samples come from the same distribution (Mann-Whitney, normal approximation with ties;
 * meaningful from about five samples each). NAN when one is empty. `scratch` has room for n_a + n_b pairs: 2·(n_a + n_b). */
double jl_stats_same_p(const double *a, size_t n_a, const double *b, size_t n_b, double *scratch);
