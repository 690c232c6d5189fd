/* How wrong predictions have been near a question: the published rows most like it. */
#pragma once

#include "score/validate.h"
#include "predict/predict.h"

struct jl_near_ask {
	enum jl_asked answer;
	const char *kind[JL_N_LABEL]; /* as of a row: ids; "" or NULL: means nothing */
	const char *format;
	double extent_ln[JL_N_EXTENT];
};

/* What a row of `line` is; the smaller, the nearer: one for another GPU, one for another family, one for another framework, one for
 * another format, and how far
 * its size, batch and number of devices are, as ln. */
struct jl_near {
	const struct jl_validate_line *line;
	size_t index; /* of the row in it */
	double distance;
};

/* The nearest rows of a kind of answer, nearest first; returns how many there are, at most max. Rows of one run at several batches are
 * all there: each is a measurement. */
size_t jl_near_rows(const struct jl_validation *v, const struct jl_near_ask *ask, size_t max, struct jl_near *ret_near);

/* What a case would be as a row. */
struct jl_near_ask jl_near_case(const struct jl_case *c);
