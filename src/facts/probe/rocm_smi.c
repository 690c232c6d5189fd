/* Reads AMD GPUs through ROCm SMI into a snapshot of NVML's form. Uses only functions with scalar arguments, because the library's larger structs
 * change between releases. Written from its header; not tested on an AMD GPU. */
#include "probe/rocm_smi.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/dynlib.h"
#include "base/utf8.h"

#define SUCCESS      0
#define VRAM         0 /* constants of the library */
#define TEMP_CURRENT 0
#define COMP_DRIVER  0

/* X(name here, name in the library, optional, arguments) */
/* clang-format off */
#define FUNCTIONS(X) \
	X(init, "rsmi_init", false, uint64_t) \
	X(shut_down, "rsmi_shut_down", false, void) \
	X(count, "rsmi_num_monitor_devices", false, uint32_t *) \
	X(error, "rsmi_status_string", true, int, const char **) \
	X(version, "rsmi_version_str_get", true, int, char *, uint32_t) \
	X(name, "rsmi_dev_name_get", true, uint32_t, char *, size_t) \
	X(pci, "rsmi_dev_pci_id_get", true, uint32_t, uint64_t *) \
	X(unique, "rsmi_dev_unique_id_get", true, uint32_t, uint64_t *) \
	X(memory, "rsmi_dev_memory_total_get", true, uint32_t, int, uint64_t *) \
	X(memory_used, "rsmi_dev_memory_usage_get", true, uint32_t, int, uint64_t *) \
	X(power, "rsmi_dev_power_ave_get", true, uint32_t, uint32_t, uint64_t *) /* power in µW, as the limits */ \
	X(power_now, "rsmi_dev_current_socket_power_get", true, uint32_t, uint64_t *) /* current power, if no average is available */ \
	X(limit, "rsmi_dev_power_cap_get", true, uint32_t, uint32_t, uint64_t *) \
	X(limit_default, "rsmi_dev_power_cap_default_get", true, uint32_t, uint64_t *) \
	X(limit_range, "rsmi_dev_power_cap_range_get", true, uint32_t, uint32_t, uint64_t *, uint64_t *) \
	X(temperature, "rsmi_dev_temp_metric_get", true, uint32_t, uint32_t, int, int64_t *) /* temperature in thousandths of a degree */ \
	X(busy, "rsmi_dev_busy_percent_get", true, uint32_t, uint32_t *)
/* clang-format on */
#define MEMBER(NAME, TEXT, OPTIONAL, ...) int (*NAME)(__VA_ARGS__);
struct functions {
	FUNCTIONS(MEMBER)
};
#define SYMBOL(NAME, TEXT, OPTIONAL, ...)                                                                              \
	{ .name = (TEXT), .offset = offsetof(struct functions, NAME), .optional = (OPTIONAL) },
static const struct jl_dynlib_symbol symbols[] = { FUNCTIONS(SYMBOL) };

static double watts(int (*get)(uint32_t, uint32_t, uint64_t *), uint32_t gpu)
{
	uint64_t value = 0;

	return get && get(gpu, 0, &value) == SUCCESS ? (double)value * 1e-6 : NAN;
}

static double bytes(int (*get)(uint32_t, int, uint64_t *), uint32_t gpu)
{
	uint64_t value = 0;

	return get && get(gpu, VRAM, &value) == SUCCESS ? (double)value : NAN;
}

static void read_gpu(const struct functions *f, uint32_t i, struct jl_nvml_gpu *gpu)
{
	uint64_t value = 0, most = 0, least = 0;
	int64_t milli = 0;
	uint32_t percent = 0;

	jl_nvml_gpu_clear(gpu);
	if (!f->name || f->name(i, gpu->name, sizeof(gpu->name)) != SUCCESS)
		gpu->name[0] = '\0';
	gpu->name[sizeof(gpu->name) - 1] = '\0';
	jl_utf8_sanitize(gpu->name);
	if (f->unique && f->unique(i, &value) == SUCCESS)
		(void)snprintf(gpu->uuid, sizeof(gpu->uuid), "0x%016llx", (unsigned long long)value);
	if (f->pci && f->pci(i, &value) == SUCCESS) /* domain, 16 bits unused here, bus, device, function */
		(void)snprintf(gpu->bus, sizeof(gpu->bus), "%04x:%02x:%02x.%x", (unsigned)(value >> 32),
			       (unsigned)(value >> 8 & 0xff), (unsigned)(value >> 3 & 0x1f), (unsigned)(value & 7));
	gpu->mem_B = bytes(f->memory, i);
	gpu->mem_used_B = bytes(f->memory_used, i);
	gpu->power_W = watts(f->power, i);
	if (isnan(gpu->power_W) && f->power_now && f->power_now(i, &value) == SUCCESS)
		gpu->power_W = (double)value * 1e-6;
	gpu->limit_W = watts(f->limit, i);
	if (f->limit_default && f->limit_default(i, &value) == SUCCESS)
		gpu->limit_default_W = (double)value * 1e-6;
	if (f->limit_range && f->limit_range(i, 0, &most, &least) == SUCCESS)
		gpu->limit_max_W = (double)most * 1e-6;
	/* edge sensor of the chip; without one, its hottest spot */
	for (uint32_t sensor = 0; sensor < 2 && isnan(gpu->temperature_C); sensor++)
		if (f->temperature && f->temperature(i, sensor, TEMP_CURRENT, &milli) == SUCCESS)
			gpu->temperature_C = (double)milli * 1e-3;
	if (f->busy && f->busy(i, &percent) == SUCCESS && percent <= 100)
		gpu->busy_frac = percent / 100.0;
}

enum jl_status jl_rocm_smi_read(struct jl_arena *arena, struct jl_nvml_snapshot *ret_snapshot, struct jl_err *err)
{
	static const char *const names[] = { "librocm_smi64.so.7", "librocm_smi64.so.6", "librocm_smi64.so.5",
					     "librocm_smi64.so.1", "librocm_smi64.so",   NULL };
	struct jl_nvml_snapshot snap = { .cuda = -1 };
	struct jl_dynlib lib = { 0 };
	struct functions f = { 0 };
	const char *why = NULL;
	uint32_t n = 0;

	/* without the driver the library prints to the terminal */
	if (!jl_rocm_smi_wanted())
		return jl_fail(err, JL_E_ABSENT, "no AMD driver: %s is not there", "/dev/kfd");
	JL_TRY(jl_dynlib_open(&lib, "JEOUL_ROCM_SMI", names, symbols, JL_LEN(symbols), &f, err));
	const int code = f.init(0);
	if (code != SUCCESS) {
		if (!f.error || f.error(code, &why) != SUCCESS || !why)
			why = "?";
		const enum jl_status status = jl_fail(err, JL_E_ABSENT, "the AMD driver does not answer: %s", why);

		jl_dynlib_close(&lib);
		return status;
	}
	if (f.count(&n) != SUCCESS)
		n = 0;
	snap.n_gpus = n < JL_NVML_GPUS_MAX ? n : JL_NVML_GPUS_MAX;
	snap.gpus = jl_arena_array(arena, snap.n_gpus ? snap.n_gpus : 1, sizeof(*snap.gpus));
	(void)snprintf(snap.driver, sizeof(snap.driver), "%s", JL_AMD_DRIVER);
	if (f.version)
		(void)f.version(COMP_DRIVER, snap.driver + strlen(JL_AMD_DRIVER),
				(uint32_t)(sizeof(snap.driver) - strlen(JL_AMD_DRIVER)));
	snap.driver[sizeof(snap.driver) - 1] = '\0';
	jl_utf8_sanitize(snap.driver);
	for (size_t i = 0; snap.gpus && i < snap.n_gpus; i++)
		read_gpu(&f, (uint32_t)i, &snap.gpus[i]);
	(void)f.shut_down();
	jl_dynlib_close(&lib);
	JL_TRY(jl_got(snap.gpus, err));
	*ret_snapshot = snap;
	return JL_OK;
}

bool jl_rocm_smi_wanted(void)
{
	return getenv("JEOUL_ROCM_SMI") || access("/dev/kfd", F_OK) == 0;
}

bool jl_rocm_smi_said(const struct jl_nvml_snapshot *snapshot)
{
	return strncmp(snapshot->driver, JL_AMD_DRIVER, strlen(JL_AMD_DRIVER)) == 0;
}
