/* The CUDA driver, opened at run time. Declares only the functions in use, so that the program builds without a toolkit and runs without a
 * driver. Names and numbers are those of the driver's ABI. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct CUctx_st;
struct CUstream_st;
struct CUevent_st;
struct CUmod_st;
struct CUfunc_st;
struct CUgraph_st;
struct CUgraphExec_st;

#define JL_CU_OK                        0
#define JL_CU_OUT_OF_MEMORY             2
#define JL_CU_NOT_READY                 600
#define JL_CU_ATTR_N_SM                 16
#define JL_CU_ATTR_L2_B                 38
#define JL_CU_ATTR_CC_MAJOR             75
#define JL_CU_ATTR_CC_MINOR             76
#define JL_CU_ATTR_SHARED_MAX_B         97
#define JL_CU_FUNC_MAX_DYNAMIC_SHARED_B 8
#define JL_CU_STREAM_NON_BLOCKING       1
#define JL_CU_EVENT_NO_TIMING           2
#define JL_CU_EVENT_RECORD_EXTERNAL     1 /* in a capture: records a real event, which can be timed */
#define JL_CU_CAPTURE_RELAXED           2

/* One member per function, named as in the driver without its prefix: symbol, older symbol, arguments. All return 0 or an error code. */
/* clang-format off */
#define JL_CUDA_FUNCTIONS(X) \
	X(Init, "cuInit", NULL, unsigned flags) \
	X(DriverGetVersion, "cuDriverGetVersion", NULL, int *version) \
	X(GetErrorString, "cuGetErrorString", NULL, int error, const char **text) \
	X(DeviceGetCount, "cuDeviceGetCount", NULL, int *count) \
	X(DeviceGet, "cuDeviceGet", NULL, int *device, int ordinal) \
	X(DeviceGetName, "cuDeviceGetName", NULL, char *name, int len, int device) \
	X(DeviceTotalMem, "cuDeviceTotalMem_v2", "cuDeviceTotalMem", size_t *bytes, int device) \
	X(DeviceGetAttribute, "cuDeviceGetAttribute", NULL, int *value, int attribute, int device) \
	X(DeviceGetPCIBusId, "cuDeviceGetPCIBusId", NULL, char *id, int len, int device) \
	X(DeviceCanAccessPeer, "cuDeviceCanAccessPeer", NULL, int *can, int device, int peer) \
	X(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", NULL, struct CUctx_st **ctx, int device) \
	X(DevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", "cuDevicePrimaryCtxRelease", int device) \
	X(CtxSetCurrent, "cuCtxSetCurrent", NULL, struct CUctx_st *ctx) \
	X(CtxEnablePeerAccess, "cuCtxEnablePeerAccess", NULL, struct CUctx_st *peer, unsigned flags) \
	X(MemGetInfo, "cuMemGetInfo_v2", "cuMemGetInfo", size_t *free_B, size_t *total_B) \
	X(MemAlloc, "cuMemAlloc_v2", "cuMemAlloc", uint64_t *ptr, size_t bytes) \
	X(MemFree, "cuMemFree_v2", "cuMemFree", uint64_t ptr) \
	X(MemHostAlloc, "cuMemHostAlloc", NULL, void **ptr, size_t bytes, unsigned flags) \
	X(MemFreeHost, "cuMemFreeHost", NULL, void *ptr) \
	X(MemcpyHtoD, "cuMemcpyHtoD_v2", "cuMemcpyHtoD", uint64_t to, const void *from, size_t bytes) \
	X(MemcpyDtoH, "cuMemcpyDtoH_v2", "cuMemcpyDtoH", void *to, uint64_t from, size_t bytes) \
	X(MemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", "cuMemcpyHtoDAsync", uint64_t to, const void *from, size_t bytes, struct CUstream_st *stream) \
	X(MemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", "cuMemcpyDtoHAsync", void *to, uint64_t from, size_t bytes, struct CUstream_st *stream) \
	X(MemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2", "cuMemcpyDtoDAsync", uint64_t to, uint64_t from, size_t bytes, struct CUstream_st *stream) \
	X(MemcpyPeerAsync, "cuMemcpyPeerAsync", NULL, uint64_t to, struct CUctx_st *to_ctx, uint64_t from, struct CUctx_st *from_ctx, size_t bytes, struct CUstream_st *stream) \
	X(MemsetD8Async, "cuMemsetD8Async", NULL, uint64_t to, unsigned char value, size_t n, struct CUstream_st *stream) \
	X(StreamCreate, "cuStreamCreate", NULL, struct CUstream_st **stream, unsigned flags) \
	X(StreamDestroy, "cuStreamDestroy_v2", "cuStreamDestroy", struct CUstream_st *stream) \
	X(StreamSynchronize, "cuStreamSynchronize", NULL, struct CUstream_st *stream) \
	X(StreamWaitEvent, "cuStreamWaitEvent", NULL, struct CUstream_st *stream, struct CUevent_st *event, unsigned flags) \
	X(EventCreate, "cuEventCreate", NULL, struct CUevent_st **event, unsigned flags) \
	X(EventDestroy, "cuEventDestroy_v2", "cuEventDestroy", struct CUevent_st *event) \
	X(EventRecord, "cuEventRecord", NULL, struct CUevent_st *event, struct CUstream_st *stream) \
	X(EventRecordWithFlags, "cuEventRecordWithFlags", NULL, struct CUevent_st *event, struct CUstream_st *stream, unsigned flags) \
	X(EventQuery, "cuEventQuery", NULL, struct CUevent_st *event) \
	X(EventSynchronize, "cuEventSynchronize", NULL, struct CUevent_st *event) \
	X(EventElapsedTime, "cuEventElapsedTime", NULL, float *ms, struct CUevent_st *from, struct CUevent_st *to) \
	X(ModuleLoadData, "cuModuleLoadData", NULL, struct CUmod_st **module, const void *image) \
	X(ModuleUnload, "cuModuleUnload", NULL, struct CUmod_st *module) \
	X(ModuleGetFunction, "cuModuleGetFunction", NULL, struct CUfunc_st **function, struct CUmod_st *module, const char *name) \
	X(FuncSetAttribute, "cuFuncSetAttribute", NULL, struct CUfunc_st *function, int attribute, int value) \
	X(OccupancyMaxActiveBlocksPerMultiprocessor, "cuOccupancyMaxActiveBlocksPerMultiprocessor", NULL, int *n, struct CUfunc_st *function, int n_threads, size_t shared_B) \
	X(LaunchKernel, "cuLaunchKernel", NULL, struct CUfunc_st *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared_B, struct CUstream_st *stream, void **params, void **extra) \
	X(StreamBeginCapture, "cuStreamBeginCapture_v2", "cuStreamBeginCapture", struct CUstream_st *stream, int mode) \
	X(StreamEndCapture, "cuStreamEndCapture", NULL, struct CUstream_st *stream, struct CUgraph_st **graph) \
	X(GraphInstantiate, "cuGraphInstantiateWithFlags", NULL, struct CUgraphExec_st **exec, struct CUgraph_st *graph, unsigned long long flags) \
	X(GraphLaunch, "cuGraphLaunch", NULL, struct CUgraphExec_st *exec, struct CUstream_st *stream) \
	X(GraphExecDestroy, "cuGraphExecDestroy", NULL, struct CUgraphExec_st *exec) \
	X(GraphDestroy, "cuGraphDestroy", NULL, struct CUgraph_st *graph) \
	X(GraphGetNodes, "cuGraphGetNodes", NULL, struct CUgraph_st *graph, void **nodes, size_t *n_nodes)
/* clang-format on */
#define JL_CUDA_MEMBER(NAME, SYMBOL, OLDER, ...) int (*NAME)(__VA_ARGS__);
struct jl_cuda {
	JL_CUDA_FUNCTIONS(JL_CUDA_MEMBER)
	bool amd; /* hip.c: members for kernels, graphs and attributes are NULL */
};

/* Opens libcuda.so.1 (or the library named by JEOUL_CUDA) once and initialises it. JL_E_ABSENT with the reason: no driver or no GPU. A process
 * that forks afterwards cannot use CUDA in its children. */
enum jl_status jl_cuda_open(const struct jl_cuda **ret_cuda, struct jl_err *err);
/* The same for libamdhip64 (or the library named by JEOUL_HIP). */
enum jl_status jl_hip_open(const struct jl_cuda **ret_hip, struct jl_err *err);
int jl_cuda_count(const struct jl_cuda *cuda);
int jl_cuda_driver_version(const struct jl_cuda *cuda); /* 13000 = 13.0; 0: unknown */

/* Converts a driver's return code to a status; `what` is the function's name. */
enum jl_status jl_cuda_check(const struct jl_cuda *cuda, int code, const char *what, struct jl_err *err);

#define JL_GPU_MODULES_MAX 16

/* One GPU: primary context, current on this thread; a stream; the program's own kernels. */
struct jl_gpu_dev {
	const struct jl_cuda *cuda;
	int index, device;
	struct CUctx_st *ctx;
	struct CUstream_st *stream;
	struct CUmod_st *modules[JL_GPU_MODULES_MAX];
	const char *module_names[JL_GPU_MODULES_MAX];
	int n_modules;
	char name[96];
	char bus_id[32]; /* in NVML's format */
	int n_sm, cc_major, cc_minor;
	size_t mem_B, l2_B, shared_max_B;
	/* bytes allocated by jl_gpu_alloc: currently, maximum */
	size_t held_B, peak_B;
};

enum jl_status jl_gpu_open(int index, struct jl_gpu_dev **ret_gpu, struct jl_err *err);     /* NVIDIA */
enum jl_status jl_gpu_open_amd(int index, struct jl_gpu_dev **ret_gpu, struct jl_err *err); /* AMD; without kernels */
void jl_gpu_close(struct jl_gpu_dev *gpu);                                                  /* NULL is fine */
enum jl_status jl_gpu_current(const struct jl_gpu_dev *gpu, struct jl_err *err);

enum jl_status jl_gpu_alloc(struct jl_gpu_dev *gpu, size_t size_B, uint64_t *ret_ptr, struct jl_err *err);
void jl_gpu_free(struct jl_gpu_dev *gpu, uint64_t ptr, size_t size_B); /* 0 is fine */

/* Finds a kernel by "file/name" (file without .cu) and allows `shared_B` of dynamic shared memory. JL_E_ABSENT: not built in. */
enum jl_status jl_gpu_function(const struct jl_gpu_dev *gpu, const char *name, size_t shared_B,
			       struct CUfunc_st **ret_function, struct jl_err *err);

bool jl_gpu_has_file(const struct jl_gpu_dev *gpu, const char *file);

struct jl_gpu_grid {
	unsigned x, y, z, n_threads, shared_B;
};
enum jl_status jl_gpu_launch(const struct jl_gpu_dev *gpu, struct CUfunc_st *function, const struct jl_gpu_grid *grid,
			     struct CUstream_st *stream, void **args, struct jl_err *err);
enum jl_status jl_gpu_sync(const struct jl_gpu_dev *gpu, struct jl_err *err);
/* Runs a fill or check kernel with a default grid and waits for it. */
enum jl_status jl_gpu_run(const struct jl_gpu_dev *gpu, const char *name, void **args, struct jl_err *err);
/* A counter of wrong elements for check kernels (8 bytes); jl_gpu_counted returns its value and resets it. */
enum jl_status jl_gpu_counter(struct jl_gpu_dev *gpu, uint64_t *ret_counter, struct jl_err *err);
enum jl_status jl_gpu_counted(const struct jl_gpu_dev *gpu, uint64_t counter, size_t *ret_n, struct jl_err *err);
/* Creates two events to measure the time between. */
enum jl_status jl_gpu_events(const struct jl_gpu_dev *gpu, struct CUevent_st **ret_from, struct CUevent_st **ret_to,
			     struct jl_err *err);
void jl_gpu_event_free(const struct jl_gpu_dev *gpu, struct CUevent_st *event); /* NULL is fine */

/* Fatbins made by nvcc and embedded at build time (cmake/kernels.cmake). NULL-terminated; empty if there was no nvcc. */
struct jl_fatbin {
	const char *name;
	const unsigned char *data;
};
extern const struct jl_fatbin jl_fatbins[];
bool jl_gpu_has_kernels(void);
/* JL_OK, or JL_E_ABSENT with what to install: no kernels built in, no driver, or no GPU. Does not initialise CUDA in this process, which may
 * still fork workers that use it. */
enum jl_status jl_gpu_present(struct jl_err *err);
int jl_gpu_count(void); /* GPUs; 0: none */
