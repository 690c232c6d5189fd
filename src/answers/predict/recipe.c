/* Keeps one recipe over all sizes of a series. */
#include "predict/recipe.h"

#include <math.h>

#include "predict/kind.h"

struct jl_request jl_recipe_of(const struct jl_request *req, const struct jl_case *c)
{
	struct jl_request r = *req;
	const struct jl_plan *p = &c->plan;

	if (c->subject.kind->is_cut) {
		r.framework = (int)c->framework;
		r.recompute = (int)p->recompute;
		r.plan = (struct jl_ask_plan){ .dp = NAN, /* derived from the number of devices */
					       .tp = p->tp,
					       .pp = p->pp,
					       .cp = p->cp,
					       .ep = p->ep,
					       .vpp = p->n_chunks,
					       .sp = p->sp,
					       .overlap = p->tp_async,
					       .zero = p->zero,
					       .shard = p->shard };
	}
	/* a captured program's batch is fixed */
	if (c->subject.kind->is_captured || !isnan(req->batch) || !isnan(req->micro_batch) || !isnan(req->accumulate))
		return r;
	r.micro_batch = c->shard.micro_batch;
	if (isnan(req->global_batch))
		r.accumulate = p->n_micro;
	return r;
}

enum jl_status jl_recipe_weigh(struct jl_case *ret_case, struct jl_prediction *ret_prediction,
			       enum jl_recipe *ret_recipe, const struct jl_catalog *cat,
			       const struct jl_subject *subject, const struct jl_machine *machine,
			       const struct jl_request *req, const struct jl_request *recipe, struct jl_err *err)
{
	enum jl_recipe kept = jl_case_choose(ret_case, cat, subject, machine, recipe, NULL) ? JL_RECIPE_INDIVISIBLE
											    : JL_RECIPE_SAME;
	struct jl_case other;

	if (kept == JL_RECIPE_SAME)
		jl_predict(ret_prediction, cat, ret_case);
	if (kept == JL_RECIPE_INDIVISIBLE || ret_prediction->room == JL_ROOM_NONE) {
		struct jl_prediction p;
		const enum jl_status status = jl_case_choose(&other, cat, subject, machine, req, err);

		if (status && kept == JL_RECIPE_INDIVISIBLE)
			return status;
		if (!status)
			jl_predict(&p, cat, &other);
		if (!status && (kept == JL_RECIPE_INDIVISIBLE || p.room != JL_ROOM_NONE)) {
			kept = kept == JL_RECIPE_INDIVISIBLE ? kept : JL_RECIPE_NO_ROOM;
			*ret_case = other;
			*ret_prediction = p;
		}
	}
	*ret_recipe = kept;
	return JL_OK;
}

struct jl_scaled_gain jl_scaled_gain(const struct jl_scaled *base, const struct jl_scaled *row)
{
	const double scale = row->global_batch / base->global_batch * base->n_gpus / row->n_gpus;
	struct jl_scaled_gain gain = { .less_s = 0 };

	for (size_t i = 0; i < JL_N_PART; i++) {
		const double less_s = jl_part_s(base->step, i) * scale - jl_part_s(row->step, i);

		if (less_s > gain.less_s)
			gain = (struct jl_scaled_gain){ i, less_s };
	}
	return gain;
}
