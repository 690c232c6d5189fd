/* The validation set collectives: predictions of its rows and the fit of the physics of links (physics/link_params.h) on them. */
#pragma once

#include "rows/set.h"
#include "predict/collective_row.h"

/* The program's own answer with this vector's physics. */
struct jl_collective_answer jl_coll_answer(const double *x, const struct jl_coll_case *c, const struct jl_known *known);

/* Fits on the rows where use[i] is not 0 (NULL: all). x: start in, best out. */
enum jl_status jl_coll_fit(const struct jl_coll_case *cases, size_t n, const unsigned char *use, double *x,
			   double *ret_cost, struct jl_err *err);
