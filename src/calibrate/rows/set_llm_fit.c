/* Predictions of the rows of train_llm and train_vtrain with a given vector of parameters. */
#include "rows/set_llm.h"

#include "catalog/find.h"
#include "catalog/sysdefault.h"
#include "parameters/power_params.h"
#include "parameters/device_params.h"
#include "system/resolve.h"

/* Of the hosts of published runs, which are older than those of the catalog. */
static const double host_mem_Bps = 150e9;

void jl_llm_gpu_of(struct jl_llm_gpu *ret_gpu, const struct jl_catalog *cat, const struct jl_gpu *gpu)
{
	*ret_gpu = (struct jl_llm_gpu){ .id = gpu->id, .index = -1, .p2p = jl_gpu_has_p2p(gpu) };
	jl_resolve_device(&ret_gpu->dev, cat, gpu);
	jl_gemm_shipped(cat, gpu->id, &ret_gpu->dev);
}

/* Kernels that scale by rows are slower, narrower formats faster. */
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

/* Everything that the source left open is in the row; nothing is chosen here. */
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
