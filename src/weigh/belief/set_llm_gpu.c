/* Which record of the catalog a row's GPU is. */
#include "belief/set_llm.h"
#include "belief/set_rows.h"
#include "physics/device_params.h"
#include "system/resolve.h"

enum jl_status jl_llm_find_catalog(void *ctx, const char *text, struct jl_llm_gpu *ret_gpu, struct jl_err *err)
{
	const struct jl_catalog *cat = ctx;
	const struct jl_gpu *gpu = jl_set_find_gpu(cat, text, err);
	struct jl_llm_gpu found = { .index = -1 };

	if (!gpu)
		return JL_E_NOTFOUND;
	jl_resolve_device(&found.dev, cat, gpu);
	jl_gemm_shipped(cat, gpu->id, &found.dev);
	found.id = gpu->id;
	found.p2p = jl_set_p2p(gpu);
	*ret_gpu = found;
	return JL_OK;
}
