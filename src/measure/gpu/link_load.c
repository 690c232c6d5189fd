/* Loads PCIe links with copies while their state is read. */
#include "gpu/link_load.h"

#include <string.h>

#include "base/clock.h"
#include "gpu/cuda.h"

#define COPY_B   ((size_t)32 << 20)
#define COPIES_S 0.15 /* links reach full speed within tens of milliseconds */

/* Copies for COPIES_S and records the fastest link state. */
static void copy_and_look(const struct jl_cuda *cuda, struct jl_nvml *nvml, size_t index, struct jl_nvml_gpu *gpu)
{
	struct CUstream_st *stream = NULL;
	uint64_t to = 0;
	void *from = NULL;
	double until = jl_clock_s() + COPIES_S;

	if (cuda->MemAlloc(&to, COPY_B) != JL_CU_OK)
		return;
	if (cuda->MemHostAlloc(&from, COPY_B, 0) == JL_CU_OK &&
	    cuda->StreamCreate(&stream, JL_CU_STREAM_NON_BLOCKING) == JL_CU_OK) {
		memset(from, 0, COPY_B);
		while (jl_clock_s() < until) {
			struct jl_nvml_gpu seen;

			for (int i = 0; i < 4; i++)
				if (cuda->MemcpyHtoDAsync(to, from, COPY_B, stream) != JL_CU_OK)
					until = 0;
			jl_nvml_watch(nvml, index, &seen);
			if (seen.pcie_gen > gpu->pcie_gen_busy)
				gpu->pcie_gen_busy = seen.pcie_gen;
			if (seen.pcie_width > gpu->pcie_width_busy)
				gpu->pcie_width_busy = seen.pcie_width;
			if (cuda->StreamSynchronize(stream) != JL_CU_OK)
				until = 0;
		}
	}
	if (stream)
		cuda->StreamDestroy(stream);
	if (from)
		cuda->MemFreeHost(from);
	cuda->MemFree(to);
}

static void load_one(const struct jl_cuda *cuda, int ordinal, struct jl_nvml *nvml, struct jl_nvml_snapshot *snapshot)
{
	struct CUctx_st *ctx = NULL;
	char id[32] = "", bus[32];
	int device;

	if (cuda->DeviceGet(&device, ordinal) != JL_CU_OK ||
	    cuda->DeviceGetPCIBusId(id, (int)sizeof(id) - 1, device) != JL_CU_OK)
		return;
	jl_nvml_bus_id(bus, id);
	for (size_t i = 0; i < snapshot->n_gpus; i++) {
		/* CUDA and NVML number GPUs differently; the bus id identifies them. A busy GPU's link is already at full speed, so no load is
		 * added. */
		if (strcmp(bus, snapshot->gpus[i].bus) != 0)
			continue;
		if (snapshot->gpus[i].busy_frac > 0.05) {
			snapshot->gpus[i].pcie_gen_busy = snapshot->gpus[i].pcie_gen;
			snapshot->gpus[i].pcie_width_busy = snapshot->gpus[i].pcie_width;
			return;
		}
		if (cuda->DevicePrimaryCtxRetain(&ctx, device) != JL_CU_OK)
			return;
		if (cuda->CtxSetCurrent(ctx) == JL_CU_OK)
			copy_and_look(cuda, nvml, i, &snapshot->gpus[i]);
		cuda->CtxSetCurrent(NULL);
		cuda->DevicePrimaryCtxRelease(device);
		return;
	}
}

void jl_load_links(struct jl_nvml *nvml, struct jl_nvml_snapshot *snapshot)
{
	const struct jl_cuda *cuda = NULL;

	if (snapshot->n_gpus == 0 || jl_cuda_open(&cuda, NULL) != JL_OK)
		return;
	for (int i = 0; i < jl_cuda_count(cuda); i++)
		load_one(cuda, i, nvml, snapshot);
}
