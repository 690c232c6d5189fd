/* Number formats of accelerator arithmetic. */
#pragma once

enum jl_dtype {
	JL_FP32, /* on vector units, not tensor cores */
	JL_TF32,
	JL_FP16, /* with FP32 accumulation, as in training */
	JL_BF16,
	JL_FP8,
	JL_FP4,
	JL_INT8,
	JL_N_DTYPE
};

/* Bytes per element in memory (TF32 is stored as FP32, 4 bytes). */
double jl_dtype_B(enum jl_dtype dtype);
const char *jl_dtype_name(enum jl_dtype dtype);
