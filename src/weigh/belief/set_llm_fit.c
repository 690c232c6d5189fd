/* Predictions of the rows of train_llm and train_vtrain with a given vector of parameters. */
#include "belief/set_llm.h"

#include <math.h>

void jl_llm_predict(const struct jl_llm_row *row, const double *x, struct jl_llm_prediction *ret)
{
	struct jl_train_blocks blocks;

	ret->dev = row->gpu.dev;
	jl_llm_resolve_device(x, row->gpu.index, &ret->dev);
	if (row->rowwise)
		ret->dev.fit.gemm_frac[JL_FP8] *= jl_llm_rowwise_frac(x);
	ret->fabric = row->fabric;
	jl_llm_resolve_fabric(x, row->intra, row->inter, &ret->fabric);
	ret->profile = jl_llm_resolve_profile(x, row->framework);
	ret->profile.portable_flash = row->portable_flash;
	ret->train = (struct jl_train){
		.model = &row->model,
		.dev = &ret->dev,
		.fabric = &ret->fabric,
		.profile = &ret->profile,
		.plan = row->plan,
		.shard = row->shard,
		.chunked_loss = row->chunked_loss,
		.frozen_param_B = row->frozen_param_B,
		.host_mem_Bps = 150e9,
		.memory = jl_llm_resolve_memory(x, row->scope),
		.fused_loss = row->loss,
	};
	jl_train_blocks(&ret->train, &blocks);
	ret->step = jl_train_step(&ret->train, &blocks);
	ret->memory = jl_train_memory(&ret->train, &blocks);
	ret->step_s = ret->step.step_s;
	ret->mem_B = ret->memory.total_B;
}

double jl_llm_ln_time(const struct jl_llm_row *row, const double *x)
{
	struct jl_llm_prediction p;

	if (row->unscored || isnan(row->meas_s))
		return NAN;
	jl_llm_predict(row, x, &p);
	return log(p.step_s / row->meas_s);
}

double jl_llm_ln_memory(const struct jl_llm_row *row, const double *x)
{
	struct jl_llm_prediction p;

	if (row->unscored || isnan(row->meas_mem_B))
		return NAN;
	jl_llm_predict(row, x, &p);
	return log(p.mem_B / row->meas_mem_B);
}

int jl_llm_uses(const struct jl_llm_row *row, size_t i)
{
	return jl_llm_param_used(i, &(struct jl_llm_kind){ .framework = row->framework,
							   .arch = row->gpu.dev.arch,
							   .intra = row->intra,
							   .inter = row->inter,
							   .gpu_index = row->gpu.index });
}
