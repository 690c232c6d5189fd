/* Table of codebases and reads of their fitted ratios. The fit itself is in calibrate. */
#include "parameters/codebase.h"

#include <stdio.h>
#include <strings.h>

#include "catalog/find.h"

/* Order matters: a name comes before names that it contains. */
const struct jl_codebase jl_codebases[JL_N_CODEBASE] = {
	{ "own", "jeoul's own loops", JL_FW_EAGER, NULL },
	{ "deeplearningexamples", "DeepLearningExamples", JL_FW_APEX, NULL },
	{ "megatron-deepspeed", "Megatron-DeepSpeed", JL_FW_MEGATRON, NULL },
	{ "ms-swift-megatron", "Megatron-SWIFT", JL_FW_MEGATRON, NULL },
	{ "automodel", "Automodel", JL_FW_EAGER, NULL },
	{ "nemo", "NeMo", JL_FW_MEGATRON, "Megatron-Bridge" },
	{ "megatron-lm", "Megatron-LM", JL_FW_MEGATRON, "Megatron-Core" },
	{ "internevo", "InternEvo", JL_FW_MEGATRON, NULL },
	{ "hai-llm", "HAI-LLM", JL_FW_MEGATRON, NULL },
	{ "maxtext", "MaxText", JL_FW_COMPILED, NULL },
	{ "torchtitan", "torchtitan", JL_FW_COMPILED, NULL },
	{ "torchtune", "torchtune", JL_FW_EAGER, NULL },
	{ "colossalai", "ColossalAI", JL_FW_EAGER, NULL },
	{ "litgpt", "LitGPT", JL_FW_EAGER, "Lightning" },
	{ "fms-fsdp", "fms-fsdp", JL_FW_COMPILED, "FSDP+compile" },
	{ "fsdp-qlora", "fsdp_qlora", JL_FW_EAGER, NULL },
	{ "paddlenlp", "PaddleNLP", JL_FW_EAGER, NULL },
	{ "axolotl", "axolotl", JL_FW_EAGER, NULL },
	{ "llama-factory", "LLaMA-Factory", JL_FW_EAGER, NULL },
	{ "unsloth", "Unsloth", JL_FW_FUSED, NULL },
	{ "ms-swift", "ms-swift", JL_FW_EAGER, NULL },
	{ "torchao", "torchao", JL_FW_COMPILED, NULL },
	{ "optimum-habana", "optimum-habana", JL_FW_EAGER, NULL },
	{ "diffusers", "diffusers", JL_FW_EAGER, NULL },
	{ "composer", "Composer", JL_FW_EAGER, "llm-foundry" },
	{ "detectron2", "detectron2", JL_FW_EAGER, NULL },
	{ "timm", "timm", JL_FW_EAGER, NULL },
	{ "nanogpt", "nanoGPT", JL_FW_COMPILED, NULL },
	{ "transformers", "transformers", JL_FW_EAGER, "HF" },
};

int jl_codebase_by_id(const char *id)
{
	for (int i = 0; id && i < JL_N_CODEBASE; i++)
		if (strcasecmp(id, jl_codebases[i].id) == 0 || strcasecmp(id, jl_codebases[i].name) == 0)
			return i;
	return -1;
}

int jl_codebase_in(const char *text)
{
	for (int i = 1; i < JL_N_CODEBASE; i++)
		if (strcasestr(text, jl_codebases[i].name) ||
		    (jl_codebases[i].spelling && strcasestr(text, jl_codebases[i].spelling)))
			return i;
	return -1;
}

void jl_code_param(struct jl_param *ret_param, const char *head, size_t i)
{
	*ret_param = (struct jl_param){ .unit = "1", .lo = 0.5, .hi = 4.0, .prior = 1.0, .prior_sd_ln = JL_CODE_SD_LN };
	(void)snprintf(ret_param->name, sizeof(ret_param->name), "%s.code.%s", head, jl_codebases[i].id);
}

void jl_profile_scale(struct jl_profile *profile, double ratio)
{
	profile->more_frac = (1.0 + profile->more_frac) * ratio - 1.0;
	profile->launch_s *= ratio;
	profile->comm_launch_s *= ratio;
	profile->step_s *= ratio;
	profile->optimizer_frac *= ratio;
}

static double fitted(const struct jl_catalog *cat, const char *head, int codebase)
{
	struct jl_param param;

	jl_code_param(&param, head, (size_t)codebase);
	const struct jl_param_info *info = jl_param_by_id(cat, param.name);

	return info ? info->value : param.prior;
}

/* The training ratio is fitted on one of two data sets, the first that has rows of the codebase; the other's factor is 1. */
double jl_code_ratio(const struct jl_catalog *cat, int codebase, bool tuned)
{
	if (codebase < 0)
		return 1.0;
	return tuned ? fitted(cat, "tune", codebase) : fitted(cat, "train", codebase) * fitted(cat, "expert", codebase);
}
