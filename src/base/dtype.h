/* Number formats that accelerators compute in. */
#pragma once

enum jl_dtype {
	JL_FP32, /* vector units, no tensor cores */
	JL_TF32,
	JL_FP16, /* FP32 accumulate, as training needs it */
	JL_BF16,
	JL_FP8,
	JL_FP4,
	JL_INT8,
	JL_N_DTYPE
};

/* Bytes of one element in memory (tf32 is stored as fp32). */
double jl_dtype_B(enum jl_dtype dtype);
const char *jl_dtype_name(enum jl_dtype dtype);
