/* Errors of predictions near a request: the most similar published rows. */
#pragma once

#include "score/validate.h"
#include "predict/predict.h"

struct jl_near_ask {
	enum jl_asked answer;
	const char *kind[JL_N_LABEL]; /* as in a row: ids; "" or NULL: not applicable */
	const char *format;
	double extent_ln[JL_N_EXTENT];
};

/* A row of `line` and its distance: one each for another GPU, family, framework and format, plus the distance in size, batch and device count as
 * ln. */
struct jl_near {
	const struct jl_validate_line *line;
	size_t index; /* index of the row in `line` */
	double distance;
};

/* The nearest rows for a kind of answer, nearest first; returns their number, at most max. Rows of one run with several batches all count: each is
 * a measurement. */
size_t jl_near_rows(const struct jl_validation *v, const struct jl_near_ask *ask, size_t max, struct jl_near *ret_near);

struct jl_near_ask jl_near_case(const struct jl_case *c);
