/* How right a set of predictions is: figures over ln(pred/meas) of its rows. Nothing is allocated or printed. */
#pragma once

#include <stddef.h>

struct jl_score_in {
	size_t n;
	const double *ln_ratio; /* ln(pred/meas) per row; NAN: the row was not scored */
	const double *lo_ln;    /* interval as ln(bound/pred), lo <= 0 <= hi; NULL: no coverage is computed */
	const double *hi_ln;
};

struct jl_score {
	size_t n_rows;   /* given */
	size_t n_scored; /* of which ln_ratio is a number */
	size_t n_groups; /* that have a scored row: 1 here; counted in validate_score.c */
	double median_abs_ln;
	double p90_abs_ln;
	double macro_median_abs_ln; /* mean over groups of each group's median: a large group counts once */
	double bias_ln;             /* median of ln(pred/meas): above 0 where predictions are too long or too fast */
	double coverage_frac;       /* rows whose measurement lies in the interval; NAN without intervals */
};

/* `scratch` has room for n doubles. Statistics of no rows are NAN. */
struct jl_score jl_score_rows(const struct jl_score_in *in, double *scratch);

/* Quantile q in [0,1] by linear interpolation between order statistics; sorts `x`. NAN where n is 0. */
double jl_score_quantile(double *x, size_t n, double q);

/* Half width w, in ln units, of the symmetric interval [pred*e^-w, pred*e^w] that holds `cover_frac` of the rows.
 * `scratch` has room for n doubles. */
double jl_score_interval_ln(const double *ln_ratio, size_t n, double cover_frac, double *scratch);
