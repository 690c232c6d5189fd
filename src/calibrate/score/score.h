/* Accuracy of predictions: statistics over ln(pred/meas). Allocates and prints nothing. */
#pragma once

#include <stddef.h>

struct jl_score_in {
	size_t n;
	const double *ln_ratio; /* ln(pred/meas) per row; NAN: not scored */
	const double *lo_ln;    /* interval as ln(bound/pred), lo <= 0 <= hi; NULL: coverage is not computed */
	const double *hi_ln;
};

struct jl_score {
	size_t n_rows;   /* number of rows given */
	size_t n_scored; /* rows with a numeric ln_ratio */
	size_t n_groups; /* groups with a scored row: 1 here; counted in validate_score.c */
	double median_abs_ln;
	double p90_abs_ln;
	double macro_median_abs_ln; /* mean of the groups' medians: a large group counts once */
	double bias_ln;             /* median of ln(pred/meas): above 0: predictions too high */
	double coverage_frac;       /* share of rows whose measurement is in the interval; NAN: no intervals */
};

/* `scratch` holds n doubles. Without rows all statistics are NAN. */
struct jl_score jl_score_rows(const struct jl_score_in *in, double *scratch);

/* Quantile q in [0,1] by linear interpolation between order statistics; sorts `x`. NAN if n is 0. */
double jl_score_quantile(double *x, size_t n, double q);

/* Half width w (ln) of the symmetric interval [pred*e^-w, pred*e^w] that contains `cover_frac` of the rows. `scratch` holds n doubles. */
double jl_score_interval_ln(const double *ln_ratio, size_t n, double cover_frac, double *scratch);
