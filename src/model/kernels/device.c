/* Maps number formats to arithmetic units. */
#include "kernels/device.h"

enum jl_unit jl_unit_of(enum jl_dtype dtype)
{
	static const enum jl_unit units[JL_N_DTYPE] = {
		[JL_FP32] = JL_UNIT_VECTOR,   [JL_TF32] = JL_UNIT_TENSOR16, [JL_FP16] = JL_UNIT_TENSOR16,
		[JL_BF16] = JL_UNIT_TENSOR16, [JL_FP8] = JL_UNIT_TENSOR8,   [JL_FP4] = JL_UNIT_TENSOR8,
		[JL_INT8] = JL_UNIT_TENSOR8,
	};
	return units[dtype];
}
