/* A stand-in for libamdhip64.so: what the stand-in for NVIDIA's driver does, by AMD's names. FAKE_CUDA_* hold here too. */
#define cuInit                   hipInit
#define cuDriverGetVersion       cu_version_not_here
#define cuDeviceGetCount         hipGetDeviceCount
#define cuDeviceGet              hipDeviceGet
#define cuDeviceGetName          hipDeviceGetName
#define cuDeviceTotalMem_v2      hipDeviceTotalMem
#define cuDeviceGetPCIBusId      hipDeviceGetPCIBusId
#define cuDeviceCanAccessPeer    hipDeviceCanAccessPeer
#define cuMemGetInfo_v2          hipMemGetInfo
#define cuMemAlloc_v2            hipMalloc
#define cuMemFree_v2             hipFree
#define cuMemHostAlloc           hipHostMalloc
#define cuMemFreeHost            hipHostFree
#define cuMemcpyHtoD_v2          hipMemcpyHtoD
#define cuMemcpyDtoH_v2          hipMemcpyDtoH
#define cuMemcpyDtoD_v2          hipMemcpyDtoD
#define FAKE_ASYNC_hipMemcpyHtoD hipMemcpyHtoDAsync
#define FAKE_ASYNC_hipMemcpyDtoH hipMemcpyDtoHAsync
#define FAKE_ASYNC_hipMemcpyDtoD hipMemcpyDtoDAsync
#define cuStreamCreate           hipStreamCreateWithFlags
#define cuStreamDestroy_v2       hipStreamDestroy
#define cuStreamSynchronize      hipStreamSynchronize
#define cuEventCreate            hipEventCreateWithFlags
#define cuEventDestroy_v2        hipEventDestroy
#define cuEventRecord            hipEventRecord
#define cuEventQuery             hipEventQuery
#define cuEventSynchronize       hipEventSynchronize
#define cuEventElapsedTime       hipEventElapsedTime
#include "fake_cuda.c"

FN(hipDriverGetVersion, int *version)
{
	*version = 60342134;
	return OK;
}
FN(hipSetDevice, int device)
{
	MAY_FAIL();
	current = device;
	return device < n_gpus() ? OK : 101;
}
FN(hipDeviceEnablePeerAccess, int peer, unsigned flags)
{
	(void)flags;
	return peer < n_gpus() ? OK : 101;
}

API const char *hipGetErrorString(int error);
const char *hipGetErrorString(int error)
{
	return error == NO_MEMORY ? "out of memory" : "an error";
}
