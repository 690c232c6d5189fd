/* One recipe for all sizes of a series: how a case is cut, held, recomputed and batched, kept while the number of devices changes. Never
 * prints, and knows nothing of how a series is shown. */
#pragma once

#include "predict/predict.h"

/* Whether a size of a series runs the recipe, and if not, why. */
enum jl_recipe { JL_RECIPE_SAME, JL_RECIPE_INDIVISIBLE, JL_RECIPE_NO_ROOM };

/* The request with everything that was chosen for `c` given: degrees, ZeRO stage, recompute, framework, micro-batch. What the request itself
 * gives is kept. */
struct jl_request jl_recipe_of(const struct jl_request *req, const struct jl_case *c);

/* Weighs `recipe` on the machine. Where that cannot be cut so, or does not fit while another way does: `req`, and *ret_recipe says why. */
enum jl_status jl_recipe_weigh(struct jl_case *ret_case, struct jl_prediction *ret_prediction,
			       enum jl_recipe *ret_recipe, const struct jl_catalog *cat,
			       const struct jl_subject *subject, const struct jl_machine *machine,
			       const struct jl_request *req, const struct jl_request *recipe, struct jl_err *err);

/* One size of a series. */
struct jl_scaled {
	const struct jl_step_cost *step;
	double n_gpus, global_batch;
};

/* Which part of a step takes less than the number of devices explains, and how much less: what an efficiency above 1 comes from. */
struct jl_scaled_gain {
	size_t part; /* of jl_parts */
	double less_s;
};
struct jl_scaled_gain jl_scaled_gain(const struct jl_scaled *base, const struct jl_scaled *row);

/* An efficiency above this is shown only with its reason. */
#define JL_EFFICIENCY_PLAIN 1.02
