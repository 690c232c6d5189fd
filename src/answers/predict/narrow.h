/* What would make an answer narrower, and by how much: the same answer computed with fewer open inputs. */
#pragma once

#include "predict/compare.h"
#include "predict/predict.h"

/* What the user could state or measure, and how much narrower an answer would be. */
struct jl_narrow {
	const char *en, *key; /* a message; the word of the scenario that says it, or the command */
	struct jl_estimate before,
		after[2];  /* the whole run in seconds, or a step; by which of two it turns out to be */
	const char *is[2]; /* their names; NULLs: there is one */
};
#define JL_NARROW_MAX  3
#define JL_NARROW_WIDE 2.0 /* factor between the ends of an interval from which advice is given */

/* Best first; none where the answer is not that wide. */
size_t jl_narrow_predicted(struct jl_narrow ret_narrow[JL_NARROW_MAX], const struct jl_prediction *p,
			   const struct jl_case *how);
size_t jl_narrow_observed(struct jl_narrow ret_narrow[JL_NARROW_MAX], const struct jl_compare *compare,
			  const struct jl_compare_row *row);
