/* Validation set "collectives": predictions of its rows, and the fit of link parameters (parameters/link_params.h). */
#pragma once

#include "rows/set.h"
#include "predict/collective_row.h"

/* The program's answer with the parameters `x`. */
struct jl_collective_answer jl_coll_answer(const double *x, const struct jl_coll_case *c, const struct jl_known *known);

/* Fits to the rows with use[i] != 0 (NULL: all). x: in: start; out: best. */
enum jl_status jl_coll_fit(const struct jl_coll_case *cases, size_t n, const unsigned char *use, double *x,
			   double *ret_cost, struct jl_err *err);
