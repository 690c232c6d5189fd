/* Robust statistics of samples. Knows no units. */
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define Z95       1.959963984540054
#define MAD_TO_SD 1.4826 /* 1 / 0.6745, for a normal distribution */

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void jl_stats_sort(double *values, size_t n)
{
	if (n > 1)
		qsort(values, n, sizeof(*values), by_value);
}

double jl_stats_quantile(const double *sorted, size_t n, double q)
{
	if (n == 0)
		return NAN;
	double at = q * (double)(n - 1);
	double below = floor(at);
	size_t i = (size_t)below;
	if (i + 1 >= n)
		return sorted[n - 1];
	return sorted[i] + (at - below) * (sorted[i + 1] - sorted[i]);
}

double jl_stats_median(double *values, size_t n)
{
	jl_stats_sort(values, n);
	return jl_stats_quantile(values, n, 0.5);
}

/* Lag-1 autocorrelation, clamped to 0 .. 1. */
static double autocorrelation(const double *samples, size_t n)
{
	double mean = 0, var = 0, lag = 0, r;

	if (n < 8)
		return 0;
	for (size_t i = 0; i < n; i++)
		mean += samples[i] / (double)n;
	for (size_t i = 0; i < n; i++) {
		var += (samples[i] - mean) * (samples[i] - mean);
		if (i)
			lag += (samples[i] - mean) * (samples[i - 1] - mean);
	}
	r = var > 0 ? lag / var : 0;
	return r > 0 ? r : 0;
}

/* Largest k such that the k-th smallest and the k-th largest of n samples enclose the median with 95 %; 0: not even the whole range does. */
static size_t median_rank(size_t n)
{
	double below = pow(0.5, (double)n), term = below;
	size_t k = 0;

	if (n > 1000) { /* normal approximation, within one rank above n = 1000 */
		double at = floor((double)n / 2 - Z95 / 2 * sqrt((double)n));

		return (size_t)at;
	}
	while (below <= 0.025 && k < n / 2) {
		k++;
		term *= (double)(n - k + 1) / (double)k;
		below += term;
	}
	return k;
}

void jl_stats_of(struct jl_stats *ret_stats, const double *samples, size_t n, double *scratch)
{
	struct jl_stats s = {
		.n = n, .median = NAN, .mean = NAN, .min = NAN, .max = NAN, .p95 = NAN, .lo95 = NAN, .hi95 = NAN
	};
	double r, half;

	if (n == 0) {
		*ret_stats = s;
		return;
	}
	memcpy(scratch, samples, n * sizeof(*scratch));
	jl_stats_sort(scratch, n);
	s.median = jl_stats_quantile(scratch, n, 0.5);
	s.p95 = jl_stats_quantile(scratch, n, 0.95);
	s.min = scratch[0];
	s.max = scratch[n - 1];
	s.mean = 0;
	for (size_t i = 0; i < n; i++)
		s.mean += samples[i] / (double)n;
	size_t k = median_rank(n);
	r = autocorrelation(samples, n);
	if (k == 0) {
		s.lo95 = s.min;
		s.hi95 = s.max;
	} else { /* effective sample size n(1-r)/(1+r) of autocorrelated samples */
		r = r < 0.98 ? r : 0.98;
		half = ((double)n / 2 - (double)k + 0.5) * sqrt((1 + r) / (1 - r)) / (double)n;
		half = half < 0.5 ? half : 0.5;
		s.lo95 = jl_stats_quantile(scratch, n, 0.5 - half);
		s.hi95 = jl_stats_quantile(scratch, n, 0.5 + half);
	}
	*ret_stats = s;
}

struct jl_stats jl_stats_one(double value)
{
	return (struct jl_stats){ 1, value, value, value, value, value, value, value };
}

struct jl_stats jl_stats_rate(const struct jl_stats *s, double work)
{
	return (struct jl_stats){ .n = s->n,
				  .median = work / s->median,
				  .mean = work / s->mean,
				  .min = work / s->max,
				  .max = work / s->min,
				  .p95 = work / s->min,
				  .lo95 = work / s->hi95,
				  .hi95 = work / s->lo95 };
}

/* Median and robust standard deviation. */
static void centre(const double *samples, size_t n, double *scratch, double *ret_median, double *ret_sd)
{
	memcpy(scratch, samples, n * sizeof(*scratch));
	*ret_median = jl_stats_median(scratch, n);
	for (size_t i = 0; i < n; i++)
		scratch[i] = fabs(samples[i] - *ret_median);
	*ret_sd = MAD_TO_SD * jl_stats_median(scratch, n);
}

size_t jl_stats_outliers(const double *samples, size_t n, double *scratch)
{
	double median, sd;
	size_t n_out = 0;

	if (n < 5)
		return 0;
	centre(samples, n, scratch, &median, &sd);
	for (size_t i = 0; i < n; i++)
		n_out += fabs(samples[i] - median) > 5 * sd && sd > 0;
	return n_out;
}

/* MSER: drops the warm-up while that lowers the standard error of the mean of the rest. Outliers are clipped first. */
size_t jl_stats_steady_from(const double *samples, size_t n, double *scratch)
{
	double sum = 0, squares = 0, best = INFINITY, median, sd;
	size_t from = 0;

	if (n < 10)
		return 0;
	/* clip against the second half: a long warm-up must not define the normal range */
	centre(samples + n / 2, n - n / 2, scratch, &median, &sd);
	if (!(sd > 0))
		sd = 1e-3 * fabs(median);
	for (size_t i = n; i-- > 0;) {
		double x = samples[i], m = (double)(n - i), spread;

		x = x > median + 8 * sd ? median + 8 * sd : x < median - 8 * sd ? median - 8 * sd : x;
		x = (x - median) / sd;
		sum += x;
		squares += x * x;
		if (m < 5 || i > n / 2)
			continue;
		spread = (squares - sum * sum / m) / (m * m);
		if (spread <= best) {
			best = spread;
			from = i;
		}
	}
	return from;
}

struct ranked {
	double value, set;
};

double jl_stats_same_p(const double *a, size_t n_a, const double *b, size_t n_b, double *scratch)
{
	struct ranked *all = (struct ranked *)(void *)scratch;
	const size_t n = n_a + n_b;
	const double na = (double)n_a, nb = (double)n_b;
	double rank_sum = 0, ties = 0, u, mean, var, z;

	if (n_a == 0 || n_b == 0)
		return NAN;
	for (size_t i = 0; i < n; i++)
		all[i] = (struct ranked){ .value = i < n_a ? a[i] : b[i - n_a], .set = i < n_a };
	qsort(all, n, sizeof(*all), by_value);
	for (size_t i = 0; i < n;) {
		size_t j = i;
		double same, in_a = 0;

		for (; j < n && !(all[j].value > all[i].value); j++)
			in_a += all[j].set;
		same = (double)(j - i);
		rank_sum += in_a * ((double)i + 1 + (same - 1) / 2);
		ties += same * same * same - same;
		i = j;
	}
	u = rank_sum - na * (na + 1) / 2;
	mean = na * nb / 2;
	var = na * nb / 12 * ((na + nb + 1) - ties / ((na + nb) * (na + nb - 1)));
	if (!(var > 0))
		return 1;
	z = (fabs(u - mean) - 0.5) / sqrt(var);
	return z > 0 ? erfc(z / sqrt(2)) : 1;
}

/* P(-t < T < t), exact for integer degrees of freedom: with t = sqrt(dof)·tan(angle) the integral is a finite sum of powers of the cosine. */
static double t_inside(double t, size_t dof)
{
	const double angle = atan(t / sqrt((double)dof)), square = cos(angle) * cos(angle);
	double term = dof % 2 ? cos(angle) : 1, sum = dof == 1 ? 0 : term;

	for (size_t k = dof % 2 ? 3 : 2; k < dof; k += 2) {
		term *= square * (double)(k - 1) / (double)k;
		sum += term;
	}
	return dof % 2 ? 2 / M_PI * (angle + sin(angle) * sum) : sin(angle) * sum;
}

double jl_stats_t_quantile(double p, size_t dof)
{
	const double inside = 2 * p - 1;
	double lo = 0, hi = 1;

	if (!(p >= 0.5 && p < 1) || dof == 0)
		return NAN;
	while (t_inside(hi, dof) < inside && hi < 1e12)
		hi *= 2;
	for (int i = 0; i < 100; i++) {
		const double mid = (lo + hi) / 2;

		if (t_inside(mid, dof) < inside)
			lo = mid;
		else
			hi = mid;
	}
	return (lo + hi) / 2;
}
