/* A stand-in for AMD's management library: the real names and arguments, GPUs from the environment.
 *
 *     FAKE_ROCM_GPUS=2             how many (default 2)
 *     FAKE_ROCM_INIT=8             what rsmi_init returns (default 0)
 *     FAKE_ROCM_UNSUPPORTED=1      everything optional answers "not supported" */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define FN(name, ...)                                                                                                  \
	__attribute__((visibility("default"))) int name(__VA_ARGS__);                                                  \
	int name(__VA_ARGS__)

enum { OK = 0, NOT_SUPPORTED = 2 };

static unsigned number(const char *name, unsigned otherwise)
{
	const char *text = getenv(name);

	return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

static int optional(void)
{
	return number("FAKE_ROCM_UNSUPPORTED", 0) ? NOT_SUPPORTED : OK;
}

FN(rsmi_init, uint64_t flags)
{
	(void)flags;
	return (int)number("FAKE_ROCM_INIT", 0);
}
FN(rsmi_shut_down, void)
{
	return OK;
}
FN(rsmi_num_monitor_devices, uint32_t *n)
{
	*n = number("FAKE_ROCM_GPUS", 2);
	return OK;
}
FN(rsmi_status_string, int status, const char **text)
{
	*text = status == 8 ? "init error" : "an error";
	return OK;
}
FN(rsmi_version_str_get, int component, char *out, uint32_t len)
{
	(void)component;
	snprintf(out, len, "6.8.5");
	return optional();
}
FN(rsmi_dev_name_get, uint32_t gpu, char *out, size_t len)
{
	(void)gpu;
	snprintf(out, len, "AMD Instinct MI300X");
	return optional();
}
FN(rsmi_dev_pci_id_get, uint32_t gpu, uint64_t *out)
{
	*out = (uint64_t)1 << 32 | (uint64_t)(0x43 + gpu) << 8 | 2 << 3 | 1;
	return optional();
}
FN(rsmi_dev_memory_total_get, uint32_t gpu, int type, uint64_t *out)
{
	(void)gpu;
	*out = (uint64_t)192 << 30;
	return type == 0 ? optional() : NOT_SUPPORTED;
}
FN(rsmi_dev_memory_usage_get, uint32_t gpu, int type, uint64_t *out)
{
	(void)gpu;
	*out = (uint64_t)3 << 30;
	return type == 0 ? optional() : NOT_SUPPORTED;
}
FN(rsmi_dev_power_ave_get, uint32_t gpu, uint32_t sensor, uint64_t *out)
{
	*out = 140500000 + gpu;
	return sensor == 0 ? optional() : NOT_SUPPORTED;
}
FN(rsmi_dev_power_cap_get, uint32_t gpu, uint32_t sensor, uint64_t *out)
{
	(void)gpu;
	*out = 600000000;
	return sensor == 0 ? optional() : NOT_SUPPORTED;
}
FN(rsmi_dev_power_cap_default_get, uint32_t gpu, uint64_t *out)
{
	(void)gpu;
	*out = 750000000;
	return optional();
}
FN(rsmi_dev_power_cap_range_get, uint32_t gpu, uint32_t sensor, uint64_t *most, uint64_t *least)
{
	(void)gpu;
	*most = 750000000;
	*least = 0;
	return sensor == 0 ? optional() : NOT_SUPPORTED;
}
FN(rsmi_dev_temp_metric_get, uint32_t gpu, uint32_t sensor, int metric, int64_t *out)
{
	(void)gpu;
	*out = 41500;
	return sensor == 1 && metric == 0 ? optional() : NOT_SUPPORTED; /* no sensor at the edge, as on an Instinct */
}
FN(rsmi_dev_busy_percent_get, uint32_t gpu, uint32_t *out)
{
	(void)gpu;
	*out = 7;
	return optional();
}
