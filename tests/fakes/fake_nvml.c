/* A stand-in for NVIDIA's management library: the real names and layouts, GPUs from the environment.
 *
 *     FAKE_NVML_GPUS=2             how many (default 2)
 *     FAKE_NVML_NAME=...           their name
 *     FAKE_NVML_MEM_MIB=143771     their memory (default 24576)
 *     FAKE_NVML_P2P=1              state of every pair, as the library numbers them (default 0: ok)
 *     FAKE_NVML_NVLINK=4           active NVLinks between GPU i and i^1 (default 0); FAKE_NVML_SWITCH=1: to a switch instead
 *     FAKE_NVML_INIT=9             what nvmlInit returns (default 0)
 *     FAKE_NVML_LOST=1             the GPU of this number has no handle
 *     FAKE_NVML_UNSUPPORTED=1      everything optional answers "not supported" */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { OK = 0, INVALID = 2, NOT_SUPPORTED = 3, GPU_IS_LOST = 15, N_MAX = 64 };

struct device {
	unsigned index;
};
struct pci_info {
	char bus_legacy[16];
	unsigned domain, bus, device, id, subsystem;
	char bus_id[32];
};
struct field_value {
	unsigned id, scope;
	long long time, latency;
	int type, status;
	union {
		double real;
		unsigned u32;
		unsigned long long u64;
	} value;
};

static struct device devices[N_MAX];

static unsigned number(const char *name, unsigned otherwise)
{
	const char *text = getenv(name);

	return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

static int optional(void)
{
	return number("FAKE_NVML_UNSUPPORTED", 0) ? NOT_SUPPORTED : OK;
}

static void bus_id(char out[32], unsigned index)
{
	snprintf(out, 32, "00000000:%02X:00.0", 0x10 + index);
}

#define GET(name, type, value)                                                                                         \
	EXPORT int name(struct device *device, type *out);                                                             \
	int name(struct device *device, type *out)                                                                     \
	{                                                                                                              \
		(void)device;                                                                                          \
		*out = (value);                                                                                        \
		return optional();                                                                                     \
	}

EXPORT int nvmlInit_v2(void);
EXPORT int nvmlShutdown(void);
EXPORT const char *nvmlErrorString(int code);
EXPORT int nvmlSystemGetDriverVersion(char *out, unsigned len);
EXPORT int nvmlSystemGetCudaDriverVersion_v2(int *out);
EXPORT int nvmlDeviceGetCount_v2(unsigned *out);
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct device **out);
EXPORT int nvmlDeviceGetName(struct device *device, char *out, unsigned len);
EXPORT int nvmlDeviceGetUUID(struct device *device, char *out, unsigned len);
EXPORT int nvmlDeviceGetPciInfo_v3(struct device *device, struct pci_info *out);
EXPORT int nvmlDeviceGetMemoryInfo(struct device *device, unsigned long long out[3]);
EXPORT int nvmlDeviceGetClockInfo(struct device *device, int type, unsigned *out);
EXPORT int nvmlDeviceGetMaxClockInfo(struct device *device, int type, unsigned *out);
EXPORT int nvmlDeviceGetTemperature(struct device *device, int sensor, unsigned *out);
EXPORT int nvmlDeviceGetUtilizationRates(struct device *device, unsigned out[2]);
EXPORT int nvmlDeviceGetCudaComputeCapability(struct device *device, int *major, int *minor);
EXPORT int nvmlDeviceGetEccMode(struct device *device, int *now, int *pending);
/* One process beside the one that asks: FAKE_NVML_NEIGHBOUR is its number. */
struct process_info {
	unsigned id;
	unsigned long long mem_B;
	unsigned gpu_instance, compute_instance;
};
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(struct device *device, unsigned *n, struct process_info *out);
int nvmlDeviceGetComputeRunningProcesses_v3(struct device *device, unsigned *n, struct process_info *out)
{
	(void)device;
	out[0] = (struct process_info){ .id = (unsigned)getpid(), .mem_B = 30ull << 30 };
	out[1] = (struct process_info){ .id = (unsigned)number("FAKE_NVML_NEIGHBOUR", 0), .mem_B = 12ull << 30 };
	*n = out[1].id ? 2 : 1;
	return OK;
}

int nvmlDeviceGetP2PStatus(struct device *a, struct device *b, int what, int *out);
EXPORT int nvmlDeviceGetNvLinkState(struct device *device, unsigned link, int *out);
EXPORT int nvmlDeviceGetNvLinkVersion(struct device *device, unsigned link, unsigned *out);
EXPORT int nvmlDeviceGetNvLinkRemotePciInfo_v2(struct device *device, unsigned link, struct pci_info *out);
EXPORT int nvmlDeviceGetNvLinkRemoteDeviceType(struct device *device, unsigned link, int *out);
EXPORT int nvmlDeviceGetFieldValues(struct device *device, int n, struct field_value *values);
EXPORT int nvmlDeviceGetTotalEnergyConsumption(struct device *device, unsigned long long *out);

int nvmlInit_v2(void)
{
	return (int)number("FAKE_NVML_INIT", OK);
}

int nvmlShutdown(void)
{
	return OK;
}

const char *nvmlErrorString(int code)
{
	return code == 9 ? "Driver Not Loaded" : "Unknown Error";
}

int nvmlSystemGetDriverVersion(char *out, unsigned len)
{
	snprintf(out, len, "999.01");
	return OK;
}

int nvmlSystemGetCudaDriverVersion_v2(int *out)
{
	*out = 13010;
	return OK;
}

int nvmlDeviceGetCount_v2(unsigned *out)
{
	*out = number("FAKE_NVML_GPUS", 2);
	return OK;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct device **out)
{
	if (index >= N_MAX)
		return INVALID;
	if (index == number("FAKE_NVML_LOST", N_MAX))
		return GPU_IS_LOST;
	devices[index].index = index;
	*out = &devices[index];
	return OK;
}

int nvmlDeviceGetName(struct device *device, char *out, unsigned len)
{
	const char *name = getenv("FAKE_NVML_NAME");

	(void)device;
	snprintf(out, len, "%s", name ? name : "NVIDIA GeForce RTX 3090");
	return OK;
}

int nvmlDeviceGetUUID(struct device *device, char *out, unsigned len)
{
	snprintf(out, len, "GPU-01234567-89ab-cdef-0123-45678901%04u", device->index);
	return OK;
}

int nvmlDeviceGetPciInfo_v3(struct device *device, struct pci_info *out)
{
	*out = (struct pci_info){ .bus = 0x10 + device->index, .id = 0x220410deu };
	bus_id(out->bus_id, device->index);
	return OK;
}

int nvmlDeviceGetMemoryInfo(struct device *device, unsigned long long out[3])
{
	(void)device;
	unsigned long long total_MiB = number("FAKE_NVML_MEM_MIB", 24576);

	out[0] = total_MiB << 20; /* total, free, used */
	out[1] = (total_MiB - 576) << 20;
	out[2] = 576ull << 20;
	return OK;
}

int nvmlDeviceGetClockInfo(struct device *device, int type, unsigned *out)
{
	(void)device;
	*out = type == 1 ? 210 : 405;
	return optional();
}

int nvmlDeviceGetMaxClockInfo(struct device *device, int type, unsigned *out)
{
	(void)device;
	*out = type == 1 ? 2100 : 9751;
	return optional();
}

GET(nvmlDeviceGetPowerUsage, unsigned, 24500)
GET(nvmlDeviceGetPowerManagementLimit, unsigned, 300000)
GET(nvmlDeviceGetPowerManagementDefaultLimit, unsigned, 350000)
GET(nvmlDeviceGetPersistenceMode, int, 1)
GET(nvmlDeviceGetPerformanceState, int, 8)
GET(nvmlDeviceGetCurrPcieLinkGeneration, unsigned, 1)
GET(nvmlDeviceGetCurrPcieLinkWidth, unsigned, 8)
GET(nvmlDeviceGetMaxPcieLinkGeneration, unsigned, 4)
GET(nvmlDeviceGetMaxPcieLinkWidth, unsigned, 16)
/* the older name of the same function */
GET(nvmlDeviceGetCurrentClocksThrottleReasons, unsigned long long, 0x4)

int nvmlDeviceGetTemperature(struct device *device, int sensor, unsigned *out)
{
	(void)sensor;
	*out = 30 + device->index;
	return optional();
}

int nvmlDeviceGetUtilizationRates(struct device *device, unsigned out[2])
{
	(void)device;
	out[0] = 3;
	out[1] = 0;
	return optional();
}

int nvmlDeviceGetCudaComputeCapability(struct device *device, int *major, int *minor)
{
	(void)device;
	*major = 8;
	*minor = 6;
	return optional();
}

int nvmlDeviceGetEccMode(struct device *device, int *now, int *pending)
{
	(void)device;
	*now = *pending = 0;
	return NOT_SUPPORTED; /* as of GeForce cards */
}

int nvmlDeviceGetP2PStatus(struct device *a, struct device *b, int what, int *out)
{
	(void)what;
	*out = a == b ? OK : (int)number("FAKE_NVML_P2P", 0);
	return optional();
}

int nvmlDeviceGetNvLinkState(struct device *device, unsigned link, int *out)
{
	(void)device;
	*out = link < number("FAKE_NVML_NVLINK", 0);
	return link < 18 ? optional() : INVALID;
}

int nvmlDeviceGetNvLinkVersion(struct device *device, unsigned link, unsigned *out)
{
	(void)device;
	(void)link;
	*out = 3;
	return OK;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(struct device *device, unsigned link, struct pci_info *out)
{
	(void)link;
	memset(out, 0, sizeof(*out));
	bus_id(out->bus_id, device->index ^ 1);
	return OK;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(struct device *device, unsigned link, int *out)
{
	(void)device;
	(void)link;
	*out = number("FAKE_NVML_SWITCH", 0) ? 2 : 0;
	return OK;
}

/* 1000 J, and each time it is asked 25 J more, 26 J of GPU 1 and so on. */
int nvmlDeviceGetTotalEnergyConsumption(struct device *device, unsigned long long *out)
{
	static unsigned long long taken_mJ[N_MAX];

	taken_mJ[device->index] += 25000ull + 1000ull * device->index;
	*out = 1000000ull + taken_mJ[device->index];
	return optional();
}

int nvmlDeviceGetFieldValues(struct device *device, int n, struct field_value *values)
{
	(void)device;
	for (int i = 0; i < n; i++) {
		/* only what all links have in common, as older drivers */
		values[i].status = values[i].id == 90 ? OK : NOT_SUPPORTED;
		values[i].value.u32 = 14062;
	}
	return OK;
}
