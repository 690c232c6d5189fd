/* Facts that would narrow an answer's interval, and by how much: recomputes the answer with fewer unknown inputs. */
#pragma once

#include "predict/compare.h"
#include "predict/predict.h"

/* A fact that the user could state or measure, and the resulting interval. */
struct jl_narrow {
	const char *en, *key;                /* a message; the scenario key or command that supplies the fact */
	struct jl_estimate before, after[2]; /* whole run or step, s; one entry per possible outcome */
	const char *is[2];                   /* names of the outcomes; NULLs: only one */
};
#define JL_NARROW_MAX  3
#define JL_NARROW_WIDE 2.0 /* ratio of an interval's ends from which advice is given */

/* Best first; none if the interval is narrower than JL_NARROW_WIDE. */
size_t jl_narrow_predicted(struct jl_narrow ret_narrow[JL_NARROW_MAX], const struct jl_prediction *p,
			   const struct jl_case *how);
size_t jl_narrow_observed(struct jl_narrow ret_narrow[JL_NARROW_MAX], const struct jl_compare *compare,
			  const struct jl_compare_row *row);
