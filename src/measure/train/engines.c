/* The table of training engines. */
#include "train/engine.h"

const char *const jl_train_precision_names[JL_N_TRAIN_PRECISION + 1] = { "fp32", "tf32", "bf16", "fp8", NULL };

const struct jl_engine_kernels *const jl_engines[] = { &jl_engine_cuda, &jl_engine_cpu, NULL };

enum jl_status jl_engine_check(const struct jl_engine_kernels *kernels, enum jl_train_precision precision,
			       struct jl_err *err)
{
	if (kernels == &jl_engine_cpu && (precision == JL_TRAIN_TF32 || precision == JL_TRAIN_FP8))
		return jl_fail(err, JL_E_ABSENT,
			       "%s needs a GPU; a CPU has fp32, and bf16 where it has AMX, AVX512-BF16 or arm64's BF16",
			       jl_train_precision_names[precision]);
	return JL_OK;
}
