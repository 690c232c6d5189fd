#include "serve/policy.h"

#include <math.h>

/* Defaults of the engines as their servers start on a data-centre GPU: vLLM 0.8 to 0.19 (v1), SGLang 0.5, TensorRT-LLM
 * 1.0 (PyTorch flow, GUARANTEED_NO_EVICT); llama.cpp takes what it needs of the memory and no more. */
static const struct jl_policy policies[] = {
	[JL_ENGINE_GENERAL] = { "vLLM", true, 8192, 1024, 16, 512, 8, 0.90, JL_KV_AS_NEEDED, 0, true },
	[JL_ENGINE_VLLM] = { "vLLM", true, 8192, 1024, 16, 512, 8, 0.90, JL_KV_AS_NEEDED, 0, true },
	[JL_ENGINE_SGLANG] = { "SGLang", false, 8192, 2048, 1, 512, 8, 0.88, JL_KV_ESTIMATED, 0.3, false },
	[JL_ENGINE_TRTLLM] = { "TensorRT-LLM", true, 8192, 2048, 32, 2048, 8, 0.90, JL_KV_RESERVED, 0, true },
	[JL_ENGINE_LLAMACPP] = { "llama.cpp", true, 2048, 256, 1, 512, 1, 1.0, JL_KV_RESERVED, 0, true },
};

const struct jl_policy *jl_policy_of(enum jl_engine engine)
{
	const bool own = (size_t)engine < JL_LEN(policies) && policies[engine].name;

	return &policies[own ? engine : JL_ENGINE_VLLM];
}

double jl_policy_padded(const struct jl_policy *policy, double n)
{
	if (n > policy->graph_max || n <= 0.0)
		return n;
	if (n >= policy->graph_step)
		return policy->graph_step * ceil(n / policy->graph_step);
	double size = 1.0;

	while (size < n)
		size *= 2.0;
	return size;
}
