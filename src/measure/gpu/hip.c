/* AMD's runtime (libamdhip64) behind the CUDA driver's function table: most functions differ in name only, the others are emulated here. Covers
 * memory, copies, streams and events; no kernels. Written from AMD's header and not tested on an AMD GPU. */
#include <pthread.h>
#include <stdlib.h>

#include "base/dynlib.h"
#include "gpu/cuda.h"

#define GPUS_MAX 64

struct hip {
	struct jl_cuda same;
	const char *(*GetErrorString)(int error);
	int (*SetDevice)(int device);
	int (*DeviceEnablePeerAccess)(int peer, unsigned flags);
};

#define SAME(MEMBER, NAME)                                                                                             \
	{                                                                                                              \
		.name = (NAME), .offset = offsetof(struct hip, same.MEMBER)                                            \
	}
#define OWN(MEMBER)                                                                                                    \
	{                                                                                                              \
		.name = "hip" #MEMBER, .offset = offsetof(struct hip, MEMBER)                                          \
	}
static const struct jl_dynlib_symbol symbols[] = {
	SAME(Init, "hipInit"),
	SAME(DriverGetVersion, "hipDriverGetVersion"),
	SAME(DeviceGetCount, "hipGetDeviceCount"),
	SAME(DeviceGet, "hipDeviceGet"),
	SAME(DeviceGetName, "hipDeviceGetName"),
	SAME(DeviceTotalMem, "hipDeviceTotalMem"),
	SAME(DeviceGetPCIBusId, "hipDeviceGetPCIBusId"),
	SAME(DeviceCanAccessPeer, "hipDeviceCanAccessPeer"),
	SAME(MemGetInfo, "hipMemGetInfo"),
	SAME(MemAlloc, "hipMalloc"),
	SAME(MemFree, "hipFree"),
	SAME(MemHostAlloc, "hipHostMalloc"),
	SAME(MemFreeHost, "hipHostFree"),
	SAME(MemcpyHtoD, "hipMemcpyHtoD"),
	SAME(MemcpyDtoH, "hipMemcpyDtoH"),
	SAME(MemcpyHtoDAsync, "hipMemcpyHtoDAsync"),
	SAME(MemcpyDtoHAsync, "hipMemcpyDtoHAsync"),
	SAME(MemcpyDtoDAsync, "hipMemcpyDtoDAsync"),
	SAME(StreamCreate, "hipStreamCreateWithFlags"),
	SAME(StreamDestroy, "hipStreamDestroy"),
	SAME(StreamSynchronize, "hipStreamSynchronize"),
	SAME(EventCreate, "hipEventCreateWithFlags"),
	SAME(EventDestroy, "hipEventDestroy"),
	SAME(EventRecord, "hipEventRecord"),
	SAME(EventQuery, "hipEventQuery"),
	SAME(EventSynchronize, "hipEventSynchronize"),
	SAME(EventElapsedTime, "hipEventElapsedTime"),
	OWN(GetErrorString),
	OWN(SetDevice),
	OWN(DeviceEnablePeerAccess),
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct hip hip;
static bool is_open;
/* HIP threads have a current device, no context: each element stands for one device's context */
static char contexts[GPUS_MAX];

static int error_string(int error, const char **text)
{
	*text = hip.GetErrorString(error);
	return JL_CU_OK;
}

static int retain(struct CUctx_st **ctx, int device)
{
	*ctx = (struct CUctx_st *)(void *)&contexts[device % GPUS_MAX];
	return JL_CU_OK;
}

static int release(int device)
{
	(void)device;
	return JL_CU_OK;
}

static int device_of(const struct CUctx_st *ctx)
{
	return (int)((const char *)ctx - contexts);
}

static int set_current(struct CUctx_st *ctx)
{
	return hip.SetDevice(device_of(ctx));
}

static int enable_peer(struct CUctx_st *peer, unsigned flags)
{
	return hip.DeviceEnablePeerAccess(device_of(peer), flags);
}

/* HIP has one address space, so the addresses identify the GPUs. */
static int copy_peer(uint64_t to, struct CUctx_st *to_ctx, uint64_t from, struct CUctx_st *from_ctx, size_t bytes,
		     struct CUstream_st *stream)
{
	(void)to_ctx;
	(void)from_ctx;
	return hip.same.MemcpyDtoDAsync(to, from, bytes, stream);
}

static enum jl_status open_locked(struct jl_err *err)
{
	static const char *const names[] = { "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
					     "libamdhip64.so", NULL };
	struct jl_dynlib lib = { 0 };
	int n_gpus = 0;

	hip = (struct hip){ .same = { .amd = true } };
	const enum jl_status status = jl_dynlib_open(&lib, "JEOUL_HIP", names, symbols, JL_LEN(symbols), &hip, err);
	if (status && getenv("JEOUL_HIP")) /* library named by the environment: report its error */
		return status;
	if (status)
		return jl_fail(err, JL_E_ABSENT, "no AMD runtime: %s cannot be opened; install ROCm", "libamdhip64.so");
	hip.same.GetErrorString = error_string;
	hip.same.DevicePrimaryCtxRetain = retain;
	hip.same.DevicePrimaryCtxRelease = release;
	hip.same.CtxSetCurrent = set_current;
	hip.same.CtxEnablePeerAccess = enable_peer;
	hip.same.MemcpyPeerAsync = copy_peer;
	int code = hip.same.Init(0);
	if (code == JL_CU_OK)
		code = hip.same.DeviceGetCount(&n_gpus);
	is_open = code == JL_CU_OK && n_gpus > 0;
	/* the library stays open, since it has threads */
	return is_open ? JL_OK
		       : jl_fail(err, JL_E_ABSENT, "the AMD runtime finds no usable GPU: %s",
				 code == JL_CU_OK ? "no device" : hip.GetErrorString(code));
}

enum jl_status jl_hip_open(const struct jl_cuda **ret_hip, struct jl_err *err)
{
	pthread_mutex_lock(&lock);
	const enum jl_status status = is_open ? JL_OK : open_locked(err);
	pthread_mutex_unlock(&lock);
	if (status == JL_OK)
		*ret_hip = &hip.same;
	return status;
}
