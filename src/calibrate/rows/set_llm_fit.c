/* Predicts rows of train_llm and train_vtrain with given parameters. */
#include "rows/set_llm.h"

#include <math.h>

#include "catalog/find.h"
#include "catalog/sysdefault.h"
#include "parameters/power_params.h"
#include "parameters/device_params.h"
#include "system/resolve.h"

/* Plans for rows whose source gives none: tensor parallel inside a host, then pipeline stages, until the states fit. */

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

/* Step memory at the row's micro-batch, with default context and waste: sufficient for choosing a plan. */
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

/* Shards the row into tp * pp parts; 0: impossible. */
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

/* hosts of published runs are older than those of the catalog */
static const double host_mem_Bps = 150e9;

void jl_llm_gpu_of(struct jl_llm_gpu *ret_gpu, const struct jl_catalog *cat, const struct jl_gpu *gpu)
{
	*ret_gpu = (struct jl_llm_gpu){ .id = gpu->id, .index = -1, .p2p = jl_gpu_has_p2p(gpu) };
	jl_resolve_device(&ret_gpu->dev, cat, gpu);
	jl_gemm_shipped(cat, gpu->id, &ret_gpu->dev);
}

/* Row-wise scales slow the kernels, narrower formats speed them up. */
static void set_fp8(struct jl_device *dev, const struct jl_llm_row *row, const double *x)
{
	if (row->rowwise)
		dev->fit.gemm_frac[JL_FP8] *= jl_llm_rowwise_frac(x);
	if (row->fp8_gain > 0.0)
		dev->fit.gemm_frac[JL_FP8] *= row->fp8_gain;
}

static struct jl_profile profile_of(const struct jl_llm_row *row, const double *x)
{
	struct jl_profile profile = jl_llm_resolve_profile(x, row->framework, row->codebase);

	profile.portable_flash = row->portable_flash;
	if (row->graphs)
		profile.launch_s = profile.comm_launch_s = 0.0;
	return profile;
}

void jl_llm_predict(const struct jl_llm_row *row, const double *x, struct jl_train_prices *prices,
		    struct jl_llm_prediction *ret)
{
	struct jl_train_blocks blocks;

	ret->dev = row->gpu.dev;
	jl_llm_resolve_device(x, row->gpu.index, &ret->dev);
	set_fp8(&ret->dev, row, x);
	ret->fabric = row->fabric;
	jl_llm_resolve_fabric(x, row->intra, row->inter, &ret->fabric);
	ret->profile = profile_of(row, x);
	ret->train = (struct jl_train){
		.model = &row->model,
		.dev = &ret->dev,
		.fabric = &ret->fabric,
		.profile = &ret->profile,
		.plan = row->plan,
		.shard = row->shard,
		.chunked_loss = row->chunked_loss,
		.host_mem_Bps = host_mem_Bps,
		.memory = jl_llm_resolve_memory(x, row->scope),
		.fused_loss = row->loss,
		.prices = prices,
	};
	ret->train.memory.ragged = row->ragged;
	jl_train_blocks(&ret->train, &blocks);
	ret->memory = jl_train_memory(&ret->train, &blocks);
	if (row->run_seq > 0.0) {
		ret->train.shard.seq = row->run_seq;
		jl_train_blocks(&ret->train, &blocks);
	}
	ret->step = jl_train_step(&ret->train, &blocks);
	ret->step_s = ret->step.step_s;
	ret->mem_B = ret->memory.total_B;
}

/* Makes no choices: unstated values have been set in the row. */
void jl_llm_case(struct jl_case *ret_case, const struct jl_llm_row *row, const double *x, const struct jl_known *known)
{
	struct jl_machine m = {
		.cat = known->cat,
		.widths = known->widths,
		.sys = { .n_nodes = row->n_nodes,
			 .n_per_node = row->n_per_node,
			 .gpu = row->gpu.id ? jl_gpu_by_id(known->cat, row->gpu.id) : NULL },
		.host_mem_Bps = host_mem_Bps,
		.memory = jl_llm_resolve_memory(x, row->scope),
		.power = jl_power_shipped(known->cat),
	};

	m.dev = row->gpu.dev;
	jl_llm_resolve_device(x, row->gpu.index, &m.dev);
	set_fp8(&m.dev, row, x);
	m.fabric = m.alone = row->fabric;
	jl_llm_resolve_fabric(x, row->intra, row->inter, &m.fabric);
	jl_llm_wires(row, &m.intra, &m.inter);
	*ret_case = (struct jl_case){
		.subject = { .kind = &jl_kind_transformer, .model = row->model, .seq = row->shard.seq },
		.machine = m,
		.framework = row->framework,
		.code = row->codebase < 0 ? NULL : jl_codebases[row->codebase].id,
		.profile = profile_of(row, x),
		.plan = row->plan,
		.shard = row->shard,
		.n_gpus = row->n_gpus,
		.global_batch = row->global_batch,
		.loss = (int)row->loss,
		.chunked_loss = row->chunked_loss,
		.run_seq = row->run_seq,
		.launch_given = row->lean_host,
		.mean_seq = row->mean_seq,
		.n_assumed = __builtin_popcount(row->assumed),
		JL_CASE_STEP_ALONE,
	};
	ret_case->machine.memory.ragged = row->ragged;
}

int jl_llm_uses(const struct jl_llm_row *row, size_t i)
{
	return jl_llm_param_used(i, &(struct jl_llm_kind){ .framework = row->framework,
							   .arch = row->gpu.dev.arch,
							   .intra = row->intra,
							   .inter = row->inter,
							   .gpu_index = row->gpu.index,
							   .codebase = row->codebase });
}
