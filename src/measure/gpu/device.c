/* Opens GPUs and runs the built-in kernels. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpu/cuda.h"

static enum jl_status describe(struct jl_gpu_dev *gpu, struct jl_err *err)
{
	const struct jl_cuda *cu = gpu->cuda;
	int l2_B = 0, shared_B = 0;
	const struct {
		int attribute;
		int *value;
	} wanted[] = {
		{ JL_CU_ATTR_N_SM, &gpu->n_sm },         { JL_CU_ATTR_L2_B, &l2_B },
		{ JL_CU_ATTR_CC_MAJOR, &gpu->cc_major }, { JL_CU_ATTR_CC_MINOR, &gpu->cc_minor },
		{ JL_CU_ATTR_SHARED_MAX_B, &shared_B },
	};
	for (size_t i = 0; !cu->amd && i < JL_LEN(wanted); i++) {
		JL_TRY(jl_cuda_check(cu, cu->DeviceGetAttribute(wanted[i].value, wanted[i].attribute, gpu->device),
				     "cuDeviceGetAttribute", err));
	}
	gpu->l2_B = (size_t)l2_B;
	gpu->shared_max_B = (size_t)shared_B;
	cu->DeviceGetName(gpu->name, (int)sizeof gpu->name, gpu->device);
	cu->DeviceGetPCIBusId(gpu->bus_id, (int)sizeof gpu->bus_id, gpu->device);
	return jl_cuda_check(cu, cu->DeviceTotalMem(&gpu->mem_B, gpu->device), "cuDeviceTotalMem", err);
}

/* A kernel file whose name ends in _sm90 is for that architecture only. */
static bool is_for(const struct jl_gpu_dev *gpu, const char *name)
{
	const char *at = strstr(name, "_sm");
	return !at || atoi(at + 3) == gpu->cc_major * 10 + gpu->cc_minor;
}

static enum jl_status load_modules(struct jl_gpu_dev *gpu, struct jl_err *err)
{
	enum jl_status status = JL_OK;
	for (const struct jl_fatbin *f = jl_fatbins; status == JL_OK && f->name; f++) {
		if (!is_for(gpu, f->name) || gpu->n_modules == JL_GPU_MODULES_MAX)
			continue;
		status = jl_cuda_check(gpu->cuda, gpu->cuda->ModuleLoadData(&gpu->modules[gpu->n_modules], f->data),
				       "cuModuleLoadData", err);
		if (status == JL_OK)
			gpu->module_names[gpu->n_modules++] = f->name;
	}
	return status;
}

static enum jl_status set_up(struct jl_gpu_dev *gpu, struct jl_err *err)
{
	const struct jl_cuda *cu = gpu->cuda;
	JL_TRY(jl_cuda_check(cu, cu->DeviceGet(&gpu->device, gpu->index), "cuDeviceGet", err));
	JL_TRY(describe(gpu, err));
	JL_TRY(jl_cuda_check(cu, cu->DevicePrimaryCtxRetain(&gpu->ctx, gpu->device), "cuDevicePrimaryCtxRetain", err));
	JL_TRY(jl_gpu_current(gpu, err));
	JL_TRY(jl_cuda_check(cu, cu->StreamCreate(&gpu->stream, JL_CU_STREAM_NON_BLOCKING), "cuStreamCreate", err));
	return cu->amd ? JL_OK : load_modules(gpu, err);
}

static enum jl_status open_on(const struct jl_cuda *cuda, int index, struct jl_gpu_dev **ret_gpu, struct jl_err *err)
{
	enum jl_status status = JL_OK;
	int n_gpus = jl_cuda_count(cuda);
	if (index < 0 || index >= n_gpus)
		return jl_fail(err, JL_E_RANGE, "there is no GPU %d; this machine has %d, counted from 0", index,
			       n_gpus);
	struct jl_gpu_dev *gpu = jl_realloc(NULL, sizeof *gpu);
	JL_TRY(jl_got(gpu, err));
	*gpu = (struct jl_gpu_dev){ .cuda = cuda, .index = index };
	status = set_up(gpu, err);
	if (status) {
		jl_gpu_close(gpu);
		return status;
	}
	*ret_gpu = gpu;
	return JL_OK;
}

enum jl_status jl_gpu_open(int index, struct jl_gpu_dev **ret_gpu, struct jl_err *err)
{
	const struct jl_cuda *cuda = NULL;
	JL_TRY(jl_gpu_has_kernels() ? jl_cuda_open(&cuda, err) : jl_gpu_present(err));
	return open_on(cuda, index, ret_gpu, err);
}

enum jl_status jl_gpu_open_amd(int index, struct jl_gpu_dev **ret_gpu, struct jl_err *err)
{
	const struct jl_cuda *hip = NULL;
	JL_TRY(jl_hip_open(&hip, err));
	return open_on(hip, index, ret_gpu, err);
}

void jl_gpu_close(struct jl_gpu_dev *gpu)
{
	if (!gpu)
		return;
	const struct jl_cuda *cu = gpu->cuda;
	if (gpu->ctx)
		cu->CtxSetCurrent(gpu->ctx);
	for (int i = 0; i < gpu->n_modules; i++)
		cu->ModuleUnload(gpu->modules[i]);
	if (gpu->stream)
		cu->StreamDestroy(gpu->stream);
	if (gpu->ctx)
		cu->DevicePrimaryCtxRelease(gpu->device);
	jl_free(gpu);
}

enum jl_status jl_gpu_current(const struct jl_gpu_dev *gpu, struct jl_err *err)
{
	return jl_cuda_check(gpu->cuda, gpu->cuda->CtxSetCurrent(gpu->ctx), "cuCtxSetCurrent", err);
}

enum jl_status jl_gpu_alloc(struct jl_gpu_dev *gpu, size_t size_B, uint64_t *ret_ptr, struct jl_err *err)
{
	uint64_t ptr = 0;
	int code = gpu->cuda->MemAlloc(&ptr, size_B ? size_B : 1);
	if (code == JL_CU_OUT_OF_MEMORY) {
		size_t free_B = 0, total_B = 0;
		gpu->cuda->MemGetInfo(&free_B, &total_B);
		return jl_fail(err, JL_E_NOMEM, "GPU %d (%s): %.2f GB needed, %.2f of %.2f GB free", gpu->index,
			       gpu->name, (double)size_B / 1e9, (double)free_B / 1e9, (double)total_B / 1e9);
	}
	JL_TRY(jl_cuda_check(gpu->cuda, code, "cuMemAlloc", err));
	gpu->held_B += size_B;
	if (gpu->held_B > gpu->peak_B)
		gpu->peak_B = gpu->held_B;
	*ret_ptr = ptr;
	return JL_OK;
}

void jl_gpu_free(struct jl_gpu_dev *gpu, uint64_t ptr, size_t size_B)
{
	if (!ptr)
		return;
	gpu->cuda->MemFree(ptr);
	gpu->held_B -= size_B;
}

bool jl_gpu_has_file(const struct jl_gpu_dev *gpu, const char *file)
{
	for (int i = 0; i < gpu->n_modules; i++)
		if (!strcmp(gpu->module_names[i], file))
			return true;
	return false;
}

enum jl_status jl_gpu_function(const struct jl_gpu_dev *gpu, const char *name, size_t shared_B,
			       struct CUfunc_st **ret_function, struct jl_err *err)
{
	const struct jl_cuda *cu = gpu->cuda;
	struct CUfunc_st *function = NULL;
	struct CUmod_st *module = NULL;
	for (int i = 0; i < gpu->n_modules; i++) {
		size_t len = strlen(gpu->module_names[i]);
		if (!strncmp(gpu->module_names[i], name, len) && name[len] == '/') {
			module = gpu->modules[i];
			name += len + 1;
			break;
		}
	}
	if (!module)
		return jl_fail(err, JL_E_ABSENT, "this program has no GPU kernel %s for %s", name, gpu->name);
	JL_TRY(jl_cuda_check(cu, cu->ModuleGetFunction(&function, module, name), name, err));
	if (shared_B > 49152)
		JL_TRY(jl_cuda_check(cu, cu->FuncSetAttribute(function, JL_CU_FUNC_MAX_DYNAMIC_SHARED_B, (int)shared_B),
				     name, err));
	*ret_function = function;
	return JL_OK;
}

enum jl_status jl_gpu_launch(const struct jl_gpu_dev *gpu, struct CUfunc_st *function, const struct jl_gpu_grid *grid,
			     struct CUstream_st *stream, void **args, struct jl_err *err)
{
	return jl_cuda_check(gpu->cuda,
			     gpu->cuda->LaunchKernel(function, grid->x, grid->y ? grid->y : 1, grid->z ? grid->z : 1,
						     grid->n_threads, 1, 1, grid->shared_B, stream, args, NULL),
			     "cuLaunchKernel", err);
}

enum jl_status jl_gpu_sync(const struct jl_gpu_dev *gpu, struct jl_err *err)
{
	return jl_cuda_check(gpu->cuda, gpu->cuda->StreamSynchronize(gpu->stream), "cuStreamSynchronize", err);
}

enum jl_status jl_gpu_run(const struct jl_gpu_dev *gpu, const char *name, void **args, struct jl_err *err)
{
	struct CUfunc_st *function = NULL;
	JL_TRY(jl_gpu_current(gpu, err));
	JL_TRY(jl_gpu_function(gpu, name, 0, &function, err));
	JL_TRY(jl_gpu_launch(gpu, function, &(struct jl_gpu_grid){ .x = 8 * (unsigned)gpu->n_sm, .n_threads = 256 },
			     gpu->stream, args, err));
	return jl_gpu_sync(gpu, err);
}

enum jl_status jl_gpu_counter(struct jl_gpu_dev *gpu, uint64_t *ret_counter, struct jl_err *err)
{
	const unsigned long long zero = 0;
	JL_TRY(jl_gpu_alloc(gpu, sizeof zero, ret_counter, err));
	return jl_cuda_check(gpu->cuda, gpu->cuda->MemcpyHtoD(*ret_counter, &zero, sizeof zero), "cuMemcpyHtoD", err);
}

enum jl_status jl_gpu_counted(const struct jl_gpu_dev *gpu, uint64_t counter, size_t *ret_n, struct jl_err *err)
{
	const struct jl_cuda *cu = gpu->cuda;
	unsigned long long n = 0, zero = 0;
	JL_TRY(jl_cuda_check(cu, cu->MemcpyDtoH(&n, counter, sizeof n), "cuMemcpyDtoH", err));
	JL_TRY(jl_cuda_check(cu, cu->MemcpyHtoD(counter, &zero, sizeof zero), "cuMemcpyHtoD", err));
	*ret_n = (size_t)n;
	return JL_OK;
}

enum jl_status jl_gpu_events(const struct jl_gpu_dev *gpu, struct CUevent_st **ret_from, struct CUevent_st **ret_to,
			     struct jl_err *err)
{
	JL_TRY(jl_cuda_check(gpu->cuda, gpu->cuda->EventCreate(ret_from, 0), "cuEventCreate", err));
	return jl_cuda_check(gpu->cuda, gpu->cuda->EventCreate(ret_to, 0), "cuEventCreate", err);
}

void jl_gpu_event_free(const struct jl_gpu_dev *gpu, struct CUevent_st *event)
{
	if (event)
		gpu->cuda->EventDestroy(event);
}
