#include "model/device.h"

#include <string.h>

static const char *const arch_ids[JL_N_ARCH] = {
	[JL_ARCH_OTHER] = "other",
	[JL_ARCH_PASCAL] = "pascal",
	[JL_ARCH_VOLTA] = "volta",
	[JL_ARCH_TURING] = "turing",
	[JL_ARCH_AMPERE_DC] = "ampere-dc",
	[JL_ARCH_AMPERE_RTX] = "ampere-rtx",
	[JL_ARCH_ADA] = "ada",
	[JL_ARCH_HOPPER] = "hopper",
	[JL_ARCH_BLACKWELL_DC] = "blackwell-dc",
	[JL_ARCH_BLACKWELL_RTX] = "blackwell-rtx",
	[JL_ARCH_CDNA] = "cdna",
	[JL_ARCH_GAUDI] = "gaudi",
};

enum jl_unit jl_unit_of(enum jl_dtype dtype)
{
	static const enum jl_unit units[JL_N_DTYPE] = {
		[JL_FP32] = JL_UNIT_VECTOR,   [JL_TF32] = JL_UNIT_TENSOR16, [JL_FP16] = JL_UNIT_TENSOR16,
		[JL_BF16] = JL_UNIT_TENSOR16, [JL_FP8] = JL_UNIT_TENSOR8,   [JL_FP4] = JL_UNIT_TENSOR8,
		[JL_INT8] = JL_UNIT_TENSOR8,
	};
	return units[dtype];
}

enum jl_arch jl_arch_by_id(const char *id)
{
	for (int a = 0; id && a < JL_N_ARCH; a++)
		if (strcmp(id, arch_ids[a]) == 0)
			return (enum jl_arch)a;
	return JL_ARCH_OTHER;
}

const char *jl_arch_id(enum jl_arch arch)
{
	return arch_ids[arch];
}
