/* Ways to make a model fit, side by side: what each needs and what it costs. */
#pragma once

#include "predict/predict.h"

#define JL_TECHNIQUES_MAX 24

struct jl_technique {
	const char *key;
	const char *en;
	bool possible; /* false: `why` has the reason */
	struct jl_err why;
	bool rounds;        /* moments or weights in fewer bits: not the same training */
	struct jl_case how; /* as it was weighed */
	struct jl_case_price weight;
	enum jl_room room;
	double cost_frac; /* step / fastest step that fits, less 1; NAN: none fits */
};

struct jl_fit { /* all of them */
	size_t n;
	struct jl_technique rows[JL_TECHNIQUES_MAX];
};

/* Every technique at the same global batch (the request's; else predict's, or the next that all devices can share). The
 * first row is what predict runs. `ret_rows` has JL_TECHNIQUES_MAX. */
enum jl_status jl_techniques(struct jl_technique *ret_rows, size_t *ret_n, const struct jl_catalog *cat,
			     const struct jl_subject *subject, const struct jl_machine *machine,
			     const struct jl_request *req, struct jl_err *err);
