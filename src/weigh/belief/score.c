#include "belief/score.h"

#include <math.h>
#include <stdlib.h>

static int compare_double(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double jl_score_quantile(double *x, size_t n, double q)
{
	if (n == 0)
		return NAN;
	qsort(x, n, sizeof *x, compare_double);
	const double at = fmin(fmax(q, 0.0), 1.0) * (double)(n - 1);
	const size_t below = (size_t)at;

	if (below + 1 >= n)
		return x[n - 1];
	return x[below] + (at - (double)below) * (x[below + 1] - x[below]);
}

/* Copies |ln_ratio| (or ln_ratio itself) of the scored rows of one group (or of all) to `out`; returns how many. */
static size_t gather(const struct jl_score_in *in, const int *group, int absolute, double *out)
{
	size_t n = 0;

	for (size_t i = 0; i < in->n; i++) {
		if (isnan(in->ln_ratio[i]) || (group && in->group[i] != *group))
			continue;
		out[n++] = absolute ? fabs(in->ln_ratio[i]) : in->ln_ratio[i];
	}
	return n;
}

/* Has a scored row before `i` the same group? Groups are few: the quadratic walk needs no memory. */
static int seen_before(const struct jl_score_in *in, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (in->group[j] == in->group[i] && !isnan(in->ln_ratio[j]))
			return 1;
	return 0;
}

static void score_groups(const struct jl_score_in *in, double *scratch, struct jl_score *ret)
{
	double sum = 0.0;
	size_t n_groups = 0;

	for (size_t i = 0; i < in->n; i++) {
		if (isnan(in->ln_ratio[i]) || seen_before(in, i))
			continue;
		const size_t n = gather(in, &in->group[i], 1, scratch);

		sum += jl_score_quantile(scratch, n, 0.5);
		n_groups++;
	}
	ret->n_groups = n_groups;
	ret->macro_median_abs_ln = n_groups > 0 ? sum / (double)n_groups : NAN;
}

/* ln(meas/pred) is -ln_ratio: it must lie between the interval's bounds. */
static double coverage(const struct jl_score_in *in)
{
	size_t n = 0, n_in = 0;

	if (!in->lo_ln || !in->hi_ln)
		return NAN;
	for (size_t i = 0; i < in->n; i++) {
		if (isnan(in->ln_ratio[i]))
			continue;
		n++;
		n_in += -in->ln_ratio[i] >= in->lo_ln[i] && -in->ln_ratio[i] <= in->hi_ln[i];
	}
	return n > 0 ? (double)n_in / (double)n : NAN;
}

struct jl_score jl_score_rows(const struct jl_score_in *in, double *scratch)
{
	struct jl_score s = { .n_rows = in->n };

	s.n_scored = gather(in, NULL, 0, scratch);
	s.bias_ln = jl_score_quantile(scratch, s.n_scored, 0.5);
	(void)gather(in, NULL, 1, scratch);
	s.median_abs_ln = jl_score_quantile(scratch, s.n_scored, 0.5);
	s.p90_abs_ln = jl_score_quantile(scratch, s.n_scored, 0.9);
	s.coverage_frac = coverage(in);
	if (in->group) {
		score_groups(in, scratch, &s);
	} else {
		s.n_groups = s.n_scored > 0;
		s.macro_median_abs_ln = s.median_abs_ln;
	}
	return s;
}

double jl_score_interval_ln(const double *ln_ratio, size_t n, double cover_frac, double *scratch)
{
	const struct jl_score_in in = { .n = n, .ln_ratio = ln_ratio };
	const size_t n_scored = gather(&in, NULL, 1, scratch);

	return jl_score_quantile(scratch, n_scored, cover_frac);
}
