/* Statistics over ln(pred/meas). */
#include "score/score.h"

#include <math.h>

#include "base/stats.h"

double jl_score_quantile(double *x, size_t n, double q)
{
	jl_stats_sort(x, n);
	return jl_stats_quantile(x, n, fmin(fmax(q, 0.0), 1.0));
}

/* Copies ln_ratio, or |ln_ratio|, of scored rows to `out`; returns their number. */
static size_t gather(const struct jl_score_in *in, int absolute, double *out)
{
	size_t n = 0;

	for (size_t i = 0; i < in->n; i++)
		if (!isnan(in->ln_ratio[i]))
			out[n++] = absolute ? fabs(in->ln_ratio[i]) : in->ln_ratio[i];
	return n;
}

/* ln(meas/pred) is -ln_ratio: it must lie between the bounds */
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

	s.n_scored = gather(in, 0, scratch);
	s.bias_ln = jl_score_quantile(scratch, s.n_scored, 0.5);
	(void)gather(in, 1, scratch);
	s.median_abs_ln = jl_score_quantile(scratch, s.n_scored, 0.5);
	s.p90_abs_ln = jl_score_quantile(scratch, s.n_scored, 0.9);
	s.coverage_frac = coverage(in);
	s.n_groups = s.n_scored > 0;
	s.macro_median_abs_ln = s.median_abs_ln;
	return s;
}

double jl_score_interval_ln(const double *ln_ratio, size_t n, double cover_frac, double *scratch)
{
	const struct jl_score_in in = { .n = n, .ln_ratio = ln_ratio };
	const size_t n_scored = gather(&in, 1, scratch);

	return jl_score_quantile(scratch, n_scored, cover_frac);
}
