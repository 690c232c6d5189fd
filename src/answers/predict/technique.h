/* Techniques to make a model fit, side by side with their memory and cost. */
#pragma once

#include "predict/predict.h"

#define JL_TECHNIQUES_MAX 24

struct jl_technique {
	const char *key;
	const char *en;
	bool possible; /* false: see `why` */
	struct jl_err why;
	bool rounds;        /* moments or weights with fewer bits: changes the training */
	struct jl_case how; /* as evaluated */
	struct jl_case_price weight;
	enum jl_room room;
	double cost_frac; /* step over the fastest step that fits, minus 1; NAN: none fits */
};

struct jl_fit { /* all techniques */
	size_t n;
	struct jl_technique rows[JL_TECHNIQUES_MAX];
};

/* Evaluates every technique at the same global batch: the request's, otherwise predict's or the next one that all devices can share. Row 0 is
 * predict's own plan. `ret_rows` has JL_TECHNIQUES_MAX entries. */
enum jl_status jl_techniques(struct jl_technique *ret_rows, size_t *ret_n, const struct jl_catalog *cat,
			     const struct jl_subject *subject, const struct jl_machine *machine,
			     const struct jl_request *req, struct jl_err *err);
