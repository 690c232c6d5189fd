/* Plans that a source does not give: what its authors would have taken. */
#include "rows/set_llm.h"

#include <math.h>

/* A plan that the source does not give: tensor parallel inside a host, then pipeline stages, until the states fit. */
void jl_llm_default_plan(struct jl_llm_row *row)
{
	const double params = jl_transformer_params(&row->model).total;
	struct jl_plan *plan = &row->plan;

	plan->tp = plan->pp = plan->cp = 1.0;
	while (plan->tp < 8.0 && plan->tp * 2.0 <= row->n_gpus &&
	       (params * 18.0 / (plan->tp * plan->pp) > 0.5 * row->gpu.dev.mem_B || row->shard.seq / plan->tp > 8192.0))
		plan->tp *= 2.0;
	while (params * 18.0 / (plan->tp * plan->pp) > 0.5 * row->gpu.dev.mem_B &&
	       plan->tp * plan->pp * 2.0 <= row->n_gpus && plan->pp * 2.0 <= row->model.n_layers)
		plan->pp *= 2.0;
	row->assumed |= JL_ASSUMED_PLAN;
}

/* Step memory at the row's micro-batch; the caller's defaults for context and waste are good enough to choose by. */
double jl_llm_rough_memory_B(const struct jl_llm_row *row, double micro_batch)
{
	const struct jl_profile profile = jl_profile_default(row->framework);
	const struct jl_fabric fabric = { .intra_kind = JL_INTRA_SWITCH,
					  .n_per_node = row->n_per_node,
					  .intra = { .rate_Bps = 1e11, .eff_frac = 1.0 },
					  .n_nodes = row->n_nodes,
					  .inter = { .rate_Bps = 1e11, .eff_frac = 1.0 } };
	struct jl_train train = { .model = &row->model,
				  .dev = &row->gpu.dev,
				  .fabric = &fabric,
				  .profile = &profile,
				  .plan = row->plan,
				  .shard = row->shard,
				  .memory = { .context_B = 1.5e9, .waste_frac = 0.1 } };
	struct jl_train_blocks blocks;

	train.shard.micro_batch = micro_batch;
	train.plan.n_micro = 1.0;
	jl_train_kept(&train, &blocks);
	return jl_train_memory(&train, &blocks).total_B;
}

/* The row cut in tp * pp parts; 0: that cannot be run. */
static int cut_row(struct jl_llm_row *row, double tp, double pp)
{
	struct jl_plan *plan = &row->plan;
	const double dp = row->n_gpus / (tp * pp * plan->cp);

	if (dp < 1.0 || dp != floor(dp) || fmod(row->global_batch, dp) != 0.0)
		return 0;
	plan->tp = row->shard.tp = tp;
	plan->pp = pp;
	plan->dp = dp;
	plan->sp = row->shard.sp = tp > 1.0 && row->shard.flash;
	plan->n_micro = fmax(1.0, round(row->global_batch / (row->shard.micro_batch * dp)));
	plan->recompute = JL_RECOMPUTE_NONE;
	if (jl_llm_rough_memory_B(row, row->shard.micro_batch) > row->gpu.dev.mem_B)
		plan->recompute = JL_RECOMPUTE_FULL;
	return jl_llm_rough_memory_B(row, row->shard.micro_batch) <= row->gpu.dev.mem_B;
}

void jl_llm_best_plan(struct jl_llm_row *row)
{
	double x[JL_LLM_MAX_PARAMS], best_s = INFINITY;
	struct jl_llm_row best = *row;

	jl_llm_start(0, x);
	for (double tp = 1.0; tp <= row->model.heads && tp <= row->n_gpus; tp *= 2.0) {
		for (double pp = 1.0; pp <= row->model.n_layers && tp * pp <= row->n_gpus; pp *= 2.0) {
			struct jl_llm_row one = *row;
			struct jl_llm_prediction p;

			if (fmod(row->model.heads, tp) != 0.0 || !cut_row(&one, tp, pp))
				continue;
			one.gpu.index = -1;
			jl_llm_predict(&one, x, NULL, &p);
			if (p.step_s >= best_s)
				continue;
			best_s = p.step_s;
			one.gpu.index = row->gpu.index;
			best = one;
		}
	}
	*row = best;
}
