/* Which record of the catalog a row's GPU is. */
#include <math.h>
#include <string.h>

#include "belief/set_llm.h"
#include "catalog/find.h"
#include "physics/device_params.h"
#include "system/resolve.h"

/* Spellings that a plain search would find ambiguous; what is not here is searched. */
static const struct {
	const char *text, *id;
} spellings[] = {
	{ "A100 40GB", "a100-sxm4-40gb" },
	{ "A100 80GB", "a100-sxm4-80gb" },
	{ "A100 SXM 40GB", "a100-sxm4-40gb" },
	{ "A100 SXM 80GB", "a100-sxm4-80gb" },
	{ "A800 80GB", "a800-sxm4-80gb" },
	{ "B200 SXM", "b200" },
	{ "GH200", "gh200-96gb" },
	{ "H100 PCIe 80GB", "h100-pcie" },
	{ "H100 SXM 80GB", "h100-sxm5" },
	{ "H200 SXM 141GB", "h200-sxm" },
	{ "V100 32GB", "v100-pcie-32gb" },
	{ "RTX 3080", "rtx-3080" },
	{ "A10", "a10" },
	{ "L4", "l4" },
	{ "RTX A6000", "rtx-a6000" },
	{ "H100 SXM 96GB HBM2e 500W", "h100-sxm5-96gb-hbm2e" },
};

enum jl_status jl_llm_find_catalog(void *ctx, const char *text, struct jl_llm_gpu *ret_gpu, struct jl_err *err)
{
	const struct jl_catalog *cat = ctx;
	const struct jl_gpu *gpu = NULL;
	struct jl_llm_gpu found = { .index = -1 };

	for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++)
		if (strcmp(spellings[i].text, text) == 0)
			gpu = jl_gpu_by_id(cat, spellings[i].id);
	if (!gpu) {
		const enum jl_status status = jl_find_gpu(&gpu, cat, text, err);

		if (status != JL_OK)
			return status;
	}
	jl_resolve_device(&found.dev, cat, gpu);
	jl_gemm_shipped(cat, gpu->id, &found.dev);
	found.id = gpu->id;
	found.p2p = gpu->p2p != JL_P2P_NO && gpu->p2p != JL_P2P_DRIVER_DISABLED;
	*ret_gpu = found;
	return JL_OK;
}
