/* One recipe for all sizes of a series: parallelism, memory techniques and batching that stay constant while the number of devices changes.
 * Never prints; must not know how a series is shown. */
#pragma once

#include "predict/predict.h"

/* Whether a size of a series runs the recipe; otherwise the reason. */
enum jl_recipe { JL_RECIPE_SAME, JL_RECIPE_INDIVISIBLE, JL_RECIPE_NO_ROOM };

/* The request with all choices of `c` fixed: degrees, ZeRO stage, recomputation, framework, micro-batch. Options in the request take precedence. */
struct jl_request jl_recipe_of(const struct jl_request *req, const struct jl_case *c);

/* Predicts `recipe` on the machine. If it does not divide, or does not fit while another plan does: predicts `req` and sets the reason in
 * *ret_recipe. */
enum jl_status jl_recipe_weigh(struct jl_case *ret_case, struct jl_prediction *ret_prediction,
			       enum jl_recipe *ret_recipe, const struct jl_catalog *cat,
			       const struct jl_subject *subject, const struct jl_machine *machine,
			       const struct jl_request *req, const struct jl_request *recipe, struct jl_err *err);

/* One size of a series. */
struct jl_scaled {
	const struct jl_step_cost *step;
	double n_gpus, global_batch;
};

/* Part of a step that shrinks more than the number of devices explains, and by how much: the cause of an efficiency above 1. */
struct jl_scaled_gain {
	size_t part; /* index of jl_parts */
	double less_s;
};
struct jl_scaled_gain jl_scaled_gain(const struct jl_scaled *base, const struct jl_scaled *row);

/* Efficiencies above this are shown with their reason. */
#define JL_EFFICIENCY_PLAIN 1.02
