/* Names and sizes of number formats. */
#include "base/dtype.h"

#include <math.h>
#include <stddef.h>

static const struct {
	const char *name;
	double size_B;
} dtypes[JL_N_DTYPE] = {
	[JL_FP32] = { "fp32", 4 }, [JL_TF32] = { "tf32", 4 }, [JL_FP16] = { "fp16", 2 }, [JL_BF16] = { "bf16", 2 },
	[JL_FP8] = { "fp8", 1 },   [JL_FP4] = { "fp4", 0.5 }, [JL_INT8] = { "int8", 1 },
};

double jl_dtype_B(enum jl_dtype dtype)
{
	return (size_t)dtype < JL_N_DTYPE ? dtypes[dtype].size_B : (double)NAN;
}

const char *jl_dtype_name(enum jl_dtype dtype)
{
	return (size_t)dtype < JL_N_DTYPE ? dtypes[dtype].name : "?";
}
