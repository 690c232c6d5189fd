#include "model/profile.h"

static const char *const names[JL_N_FRAMEWORK] = {
	[JL_FW_EAGER] = "eager",   [JL_FW_COMPILED] = "compiled", [JL_FW_MEGATRON] = "megatron",
	[JL_FW_NATIVE] = "native", [JL_FW_GENERAL] = "general",
};

static const struct jl_profile defaults[JL_N_FRAMEWORK] = {
	[JL_FW_EAGER] = { .launch_s = 10e-6,
			  .comm_launch_s = 20e-6,
			  .stream_frac = 1.5,
			  .dp_overlap_frac = 0.7,
			  .fsdp_overlap_frac = 0.9,
			  .tp_overlap_frac = 0.0,
			  .contention_frac = 0.1,
			  .straggler_frac = 0.005,
			  .bucket_B = 25e6,
			  .step_s = 2e-3,
			  .optimizer_kernels = 12.0,
			  .optimizer_frac = 1.3 },
	[JL_FW_COMPILED] = { .launch_s = 5e-6,
			     .comm_launch_s = 20e-6,
			     .stream_frac = 1.0,
			     .dp_overlap_frac = 0.7,
			     .fsdp_overlap_frac = 0.9,
			     .tp_overlap_frac = 0.0,
			     .contention_frac = 0.1,
			     .straggler_frac = 0.005,
			     .bucket_B = 25e6,
			     .step_s = 10e-3,
			     .optimizer_kernels = 10.0,
			     .optimizer_frac = 1.0 },
	[JL_FW_MEGATRON] = { .launch_s = 20e-6,
			     .comm_launch_s = 20e-6,
			     .stream_frac = 1.1,
			     .dp_overlap_frac = 0.5,
			     .fsdp_overlap_frac = 0.8,
			     .tp_overlap_frac = 0.1,
			     .contention_frac = 0.1,
			     .straggler_frac = 0.005,
			     .bucket_B = 100e6,
			     .step_s = 10e-3,
			     .optimizer_kernels = 10.0,
			     .optimizer_frac = 1.2 },
	[JL_FW_NATIVE] = { .launch_s = 3e-6,
			   .comm_launch_s = 10e-6,
			   .stream_frac = 1.0,
			   .dp_overlap_frac = 0.7,
			   .fsdp_overlap_frac = 0.9,
			   .tp_overlap_frac = 0.1,
			   .contention_frac = 0.1,
			   .straggler_frac = 0.005,
			   .bucket_B = 25e6,
			   .step_s = 1e-3,
			   .optimizer_kernels = 4.0,
			   .optimizer_frac = 1.0 },
	[JL_FW_GENERAL] = { .launch_s = 7e-6,
			    .comm_launch_s = 20e-6,
			    .stream_frac = 2.0, /* between fused kernels and one for each operation */
			    .dp_overlap_frac = 0.6,
			    .fsdp_overlap_frac = 0.8,
			    .tp_overlap_frac = 0.0,
			    .contention_frac = 0.1,
			    .straggler_frac = 0.005,
			    .bucket_B = 50e6,
			    .step_s = 5e-3,
			    .optimizer_kernels = 10.0,
			    .optimizer_frac = 1.2 },
};

struct jl_profile jl_profile_default(enum jl_framework framework)
{
	return defaults[framework];
}

const char *jl_framework_name(enum jl_framework framework)
{
	return names[framework];
}
