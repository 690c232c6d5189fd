/* Default profiles of frameworks, before any fit. */
#include "timeline/profile.h"

static const char *const names[JL_N_FRAMEWORK] = {
	[JL_FW_EAGER] = "eager",   [JL_FW_COMPILED] = "compiled", [JL_FW_MEGATRON] = "megatron",
	[JL_FW_NATIVE] = "native", [JL_FW_APEX] = "apex",         [JL_FW_GENERAL] = "general",
	[JL_FW_FUSED] = "fused",
};

/* launch, collective launch, stream, overlaps (data parallel, FSDP, tensor parallel), contention, bucket, step, optimizer kernels, straggler,
 * optimizer */
static const struct jl_profile defaults[JL_N_FRAMEWORK] = {
	[JL_FW_EAGER] = { 20e-6, 20e-6, 1.15, 0.7, 0.9, 0.0, 0.1, 25e6, 2e-3, 4.0, 0.005, .optimizer_frac = 1.2 },
	[JL_FW_COMPILED] = { 15e-6, 20e-6, 1.1, 0.7, 0.9, 0.0, 0.1, 25e6, 3e-3, 4.0, 0.005, .optimizer_frac = 1.2 },
	[JL_FW_MEGATRON] = { 20e-6, 20e-6, 1.1, 0.5, 0.8, 0.1, 0.1, 100e6, 10e-3, 10.0, 0.005, .optimizer_frac = 1.2 },
	[JL_FW_NATIVE] = { 3e-6, 10e-6, 1.1, 0.7, 0.9, 0.1, 0.1, 25e6, 1e-3, 4.0, 0.005, .optimizer_frac = 1.0 },
	[JL_FW_APEX] = { 12e-6, 20e-6, 1.3, 0.6, 0.8, 0.0, 0.1, 25e6, 5e-3, 8.0, 0.005, .optimizer_frac = 1.2 },
	[JL_FW_GENERAL] = { 7e-6, 20e-6, 1.2, 0.6, 0.8, 0.0, 0.1, 50e6, 5e-3, 10.0, 0.005, .optimizer_frac = 1.2 },
};

struct jl_profile jl_profile_default(enum jl_framework framework)
{
	return defaults[framework == JL_FW_FUSED ? JL_FW_EAGER : framework];
}

enum jl_fusion jl_framework_fusion(enum jl_framework framework)
{
	return framework == JL_FW_COMPILED ? JL_FUSION_COMPILER
	       : framework == JL_FW_MEGATRON || framework == JL_FW_NATIVE || framework == JL_FW_FUSED ? JL_FUSION_HAND
												      : JL_FUSION_NONE;
}

const char *jl_framework_name(enum jl_framework framework)
{
	return names[framework];
}

const char *jl_framework_word(enum jl_framework framework)
{
	return framework == JL_FW_FUSED ? "unsloth" : names[framework];
}
