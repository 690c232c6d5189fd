/* Effect on the scorecard of removing one kind of parameter: fixed at the priors, the others re-optimised, each source left out in turn. Uses the
 * curvature at the shipped values instead of new fits, so the result is an approximation. */
#pragma once

#include "fit/fitting.h"

#define JL_PARAM_KIND_MAX 80

/* Kind of a parameter: "gemm.gpu.*.mem_frac" for gemm.gpu.h100-sxm5.mem_frac; family, GPU, link, engine, codebase and framework become '*'. */
void jl_param_kind(char out[JL_PARAM_KIND_MAX], const char *name);

struct jl_ablation {
	const struct fitting *f;
	struct jl_arena *arena;
	const double *slopes;  /* d ln prediction / d ln parameter, parameter-major */
	size_t n_free, *free;  /* fitted parameters: number, indices */
	size_t n_units, *unit; /* per row: unit that is left out with it */
	double *inverse;       /* per unit: n_free x n_free */
	double *moved;         /* per unit: parameter shifts without it */
	double *left;          /* per row: ln(pred/meas) without its unit */
	double *shift, *off;   /* scratch for n_free values and for the rows */
};

/* slopes: of all parameters of the set. */
enum jl_status jl_ablate_begin(struct jl_ablation *ret, const struct fitting *f, const double *slopes,
			       struct jl_arena *arena, struct jl_err *err);

struct jl_ablated {
	size_t n;        /* number of parameters of the kind */
	double change;   /* change of the median |ln| in the most affected set; above 0: worse without the parameters */
	const char *set; /* name of that set */
};
enum jl_status jl_ablate(struct jl_ablated *ret, struct jl_ablation *a, const char *kind, struct jl_err *err);

/* In place, by Gauss-Jordan elimination; the matrix must be positive definite. */
void jl_invert(double *a, size_t n);
