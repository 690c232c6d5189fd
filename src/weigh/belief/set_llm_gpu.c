/* Which record of the catalog a row's GPU is. */
#include "belief/set_llm.h"
#include "belief/set_rows.h"
#include "physics/device_params.h"
#include "system/resolve.h"

void jl_llm_gpu_of(struct jl_llm_gpu *ret_gpu, const struct jl_catalog *cat, const struct jl_gpu *gpu)
{
	*ret_gpu = (struct jl_llm_gpu){ .id = gpu->id, .index = -1, .p2p = jl_set_p2p(gpu) };
	jl_resolve_device(&ret_gpu->dev, cat, gpu);
	jl_gemm_shipped(cat, gpu->id, &ret_gpu->dev);
}

enum jl_status jl_llm_find_catalog(void *ctx, const char *text, struct jl_llm_gpu *ret_gpu, struct jl_err *err)
{
	const struct jl_catalog *cat = ctx;
	const struct jl_gpu *gpu = jl_set_find_gpu(cat, text, err);

	if (!gpu)
		return JL_E_NOTFOUND;
	jl_llm_gpu_of(ret_gpu, cat, gpu);
	return JL_OK;
}
