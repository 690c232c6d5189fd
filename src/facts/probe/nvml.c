/* Reads the state of NVIDIA GPUs through NVML. */
#include "probe/nvml.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dynlib.h"
#include "base/mem.h"
#include "base/utf8.h"

const char *const jl_p2p_names[JL_N_P2P] = { "OK", "CNS", "GNS", "TNS", "DR", "NS", "U" };

/* NVML's ABI, declared here because the library is opened at run time and its header may be absent. */
#define MHZ                 1e6
#define FIELD_NVLINK_COMMON 90  /* rate of the active links, MB/s */
#define FIELD_NVLINK_SPEED  164 /* rate of link `scope`, MB/s */
#define SUCCESS             0
#define HELD_FRAC           0.93 /* of the maximum clock or default power limit: above it, not throttled */
#define NEIGHBOURS_MAX      64
#define UNKNOWN_B           (1ULL << 60) /* a driver without permission reports process memory as all ones */

struct pci_info {
	char bus_legacy[16];
	unsigned domain, bus, device, id, subsystem;
	char bus_id[32];
};
struct memory_info {
	unsigned long long total, free, used;
};
struct utilization {
	unsigned gpu, memory;
};
struct process_info {
	unsigned id;
	unsigned long long mem_B;
	unsigned gpu_instance, compute_instance;
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

typedef struct device *device_t;

/* X(return type, name here, name in the library, older name, optional, arguments) */
/* clang-format off */
#define FUNCTIONS(X) \
	X(int, init, "nvmlInit_v2", NULL, false, void) \
	X(int, shutdown, "nvmlShutdown", NULL, false, void) \
	X(const char *, error, "nvmlErrorString", NULL, true, int) \
	X(int, driver, "nvmlSystemGetDriverVersion", NULL, true, char *, unsigned) \
	X(int, cuda, "nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion", true, int *) \
	X(int, count, "nvmlDeviceGetCount_v2", NULL, false, unsigned *) \
	X(int, handle, "nvmlDeviceGetHandleByIndex_v2", NULL, false, unsigned, device_t *) \
	X(int, name, "nvmlDeviceGetName", NULL, true, device_t, char *, unsigned) \
	X(int, uuid, "nvmlDeviceGetUUID", NULL, true, device_t, char *, unsigned) \
	X(int, pci, "nvmlDeviceGetPciInfo_v3", NULL, true, device_t, struct pci_info *) /* older versions use another layout */ \
	X(int, memory, "nvmlDeviceGetMemoryInfo", NULL, true, device_t, struct memory_info *) \
	X(int, clock, "nvmlDeviceGetClockInfo", NULL, true, device_t, int, unsigned *) \
	X(int, clock_max, "nvmlDeviceGetMaxClockInfo", NULL, true, device_t, int, unsigned *) \
	X(int, power, "nvmlDeviceGetPowerUsage", NULL, true, device_t, unsigned *) \
	X(int, limit, "nvmlDeviceGetPowerManagementLimit", NULL, true, device_t, unsigned *) \
	X(int, limit_default, "nvmlDeviceGetPowerManagementDefaultLimit", NULL, true, device_t, unsigned *) \
	X(int, limit_range, "nvmlDeviceGetPowerManagementLimitConstraints", NULL, true, device_t, unsigned *, unsigned *) \
	X(int, temperature, "nvmlDeviceGetTemperature", NULL, true, device_t, int, unsigned *) \
	X(int, busy, "nvmlDeviceGetUtilizationRates", NULL, true, device_t, struct utilization *) \
	X(int, capability, "nvmlDeviceGetCudaComputeCapability", NULL, true, device_t, int *, int *) \
	X(int, ecc, "nvmlDeviceGetEccMode", NULL, true, device_t, int *, int *) \
	X(int, persistence, "nvmlDeviceGetPersistenceMode", NULL, true, device_t, int *) \
	X(int, mig, "nvmlDeviceGetMigMode", NULL, true, device_t, unsigned *, unsigned *) \
	X(int, pstate, "nvmlDeviceGetPerformanceState", NULL, true, device_t, int *) \
	X(int, gen, "nvmlDeviceGetCurrPcieLinkGeneration", NULL, true, device_t, unsigned *) \
	X(int, width, "nvmlDeviceGetCurrPcieLinkWidth", NULL, true, device_t, unsigned *) \
	X(int, gen_max, "nvmlDeviceGetMaxPcieLinkGeneration", NULL, true, device_t, unsigned *) \
	X(int, width_max, "nvmlDeviceGetMaxPcieLinkWidth", NULL, true, device_t, unsigned *) \
	X(int, throttle, "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons", true, device_t, unsigned long long *) \
	X(int, energy, "nvmlDeviceGetTotalEnergyConsumption", NULL, true, device_t, unsigned long long *) /* energy in mJ */ \
	X(int, ecc_errors, "nvmlDeviceGetTotalEccErrors", NULL, true, device_t, int, int, unsigned long long *) \
	X(int, p2p, "nvmlDeviceGetP2PStatus", NULL, true, device_t, device_t, int, int *) \
	X(int, link_state, "nvmlDeviceGetNvLinkState", NULL, true, device_t, unsigned, int *) \
	X(int, link_version, "nvmlDeviceGetNvLinkVersion", NULL, true, device_t, unsigned, unsigned *) \
	X(int, link_remote, "nvmlDeviceGetNvLinkRemotePciInfo_v2", NULL, true, device_t, unsigned, struct pci_info *) \
	X(int, link_type, "nvmlDeviceGetNvLinkRemoteDeviceType", NULL, true, device_t, unsigned, int *) \
	X(int, processes, "nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2", true, device_t, unsigned *, struct process_info *) \
	X(int, fields, "nvmlDeviceGetFieldValues", NULL, true, device_t, int, struct field_value *)
/* clang-format on */
#define MEMBER(RETURNS, NAME, TEXT, OLDER, OPTIONAL, ...) RETURNS (*NAME)(__VA_ARGS__);
struct functions {
	FUNCTIONS(MEMBER)
};
#define SYMBOL(RETURNS, NAME, TEXT, OLDER, OPTIONAL, ...)                                                              \
	{ .name = (TEXT), .offset = offsetof(struct functions, NAME), .instead = (OLDER), .optional = (OPTIONAL) },
static const struct jl_dynlib_symbol symbols[] = { FUNCTIONS(SYMBOL) };

struct jl_nvml {
	struct jl_dynlib lib;
	struct functions f;
	device_t devices[JL_NVML_GPUS_MAX];
	size_t n_devices;
};

enum jl_status jl_nvml_open(struct jl_nvml **ret_nvml, struct jl_err *err)
{
	static const char *const names[] = { "libnvidia-ml.so.1", "libnvidia-ml.so", NULL };
	struct jl_nvml *nvml = jl_realloc(NULL, sizeof(*nvml));
	unsigned n = 0;

	JL_TRY(jl_got(nvml, err));
	memset(nvml, 0, sizeof(*nvml));
	enum jl_status status = jl_dynlib_open(&nvml->lib, "JEOUL_NVML", names, symbols, JL_LEN(symbols), &nvml->f,
					       err);
	if (status) {
		jl_free(nvml);
		return status;
	}
	int code = nvml->f.init();
	if (code != SUCCESS) {
		const char *why = nvml->f.error ? nvml->f.error(code) : "?";

		status = jl_fail(err, JL_E_ABSENT, "the NVIDIA driver does not answer: %s", why);
		jl_dynlib_close(&nvml->lib);
		jl_free(nvml);
		return status;
	}
	if (nvml->f.count(&n) != SUCCESS)
		n = 0;
	for (unsigned i = 0; i < n && nvml->n_devices < JL_NVML_GPUS_MAX; i++)
		if (nvml->f.handle(i, &nvml->devices[nvml->n_devices]) == SUCCESS)
			nvml->n_devices++; /* a GPU that has fallen off the bus has no handle */
	*ret_nvml = nvml;
	return JL_OK;
}

void jl_nvml_close(struct jl_nvml *nvml)
{
	if (!nvml)
		return;
	nvml->f.shutdown();
	jl_dynlib_close(&nvml->lib);
	jl_free(nvml);
}

void jl_nvml_bus_id(char out[32], const char *text)
{
	unsigned domain = 0, bus, device, function;

	out[0] = '\0';
	if (sscanf(text, "%8x:%2x:%2x.%1x", &domain, &bus, &device, &function) == 4 ||
	    (domain = 0, sscanf(text, "%2x:%2x.%1x", &bus, &device, &function) == 3))
		snprintf(out, 32, "%04x:%02x:%02x.%x", domain, bus, device, function);
}

static double number(int (*get)(device_t, unsigned *), device_t device, double scale)
{
	unsigned value = 0;

	return get && get(device, &value) == SUCCESS ? value * scale : NAN;
}

static int small(int (*get)(device_t, unsigned *), device_t device)
{
	unsigned value = 0;

	return get && get(device, &value) == SUCCESS && value < 1024 ? (int)value : -1;
}

static double clock_Hz(int (*get)(device_t, int, unsigned *), device_t device, int type)
{
	unsigned value = 0;

	return get && get(device, type, &value) == SUCCESS ? value * MHZ : NAN;
}

static void read_moving(const struct functions *f, device_t device, struct jl_nvml_gpu *gpu)
{
	enum { CLOCK_SM = 1, CLOCK_MEMORY = 2, SENSOR_GPU = 0 };
	struct utilization busy = { 0 };
	unsigned long long reasons = 0;
	unsigned value = 0;

	gpu->sm_Hz = clock_Hz(f->clock, device, CLOCK_SM);
	gpu->mem_Hz = clock_Hz(f->clock, device, CLOCK_MEMORY);
	gpu->sm_max_Hz = clock_Hz(f->clock_max, device, CLOCK_SM);
	gpu->limit_W = number(f->limit, device, 1e-3);
	gpu->limit_default_W = number(f->limit_default, device, 1e-3);
	gpu->power_W = number(f->power, device, 1e-3);
	if (f->temperature && f->temperature(device, SENSOR_GPU, &value) == SUCCESS)
		gpu->temperature_C = value;
	if (f->busy && f->busy(device, &busy) == SUCCESS)
		gpu->busy_frac = busy.gpu / 100.0;
	if (f->throttle && f->throttle(device, &reasons) == SUCCESS)
		gpu->throttle = (int)(reasons & 0x1ff);
	if (!f->pstate || f->pstate(device, &gpu->pstate) != SUCCESS || gpu->pstate < 0 || gpu->pstate > 15)
		gpu->pstate = -1;
	gpu->pcie_gen = small(f->gen, device);
	gpu->pcie_width = small(f->width, device);
}

static void read_fixed(const struct functions *f, device_t device, struct jl_nvml_gpu *gpu)
{
	enum { CLOCK_MEMORY = 2 };
	struct memory_info memory = { 0 };
	struct pci_info pci = { 0 };
	unsigned low = 0, high = 0, pending = 0;
	int a = -1, b = -1;

	if (f->name && f->name(device, gpu->name, sizeof(gpu->name)) != SUCCESS)
		gpu->name[0] = '\0';
	if (f->uuid && f->uuid(device, gpu->uuid, sizeof(gpu->uuid)) != SUCCESS)
		gpu->uuid[0] = '\0';
	gpu->name[sizeof(gpu->name) - 1] = gpu->uuid[sizeof(gpu->uuid) - 1] = '\0';
	jl_utf8_sanitize(gpu->name);
	jl_utf8_sanitize(gpu->uuid);
	if (f->pci && f->pci(device, &pci) == SUCCESS) {
		pci.bus_id[sizeof(pci.bus_id) - 1] = '\0';
		jl_nvml_bus_id(gpu->bus, pci.bus_id);
	}
	if (f->memory && f->memory(device, &memory) == SUCCESS) {
		gpu->mem_B = (double)memory.total;
		gpu->mem_used_B = (double)memory.used;
	}
	gpu->mem_max_Hz = clock_Hz(f->clock_max, device, CLOCK_MEMORY);
	if (f->limit_range && f->limit_range(device, &low, &high) == SUCCESS)
		gpu->limit_max_W = high * 1e-3;
	if (f->capability && f->capability(device, &a, &b) == SUCCESS) {
		gpu->cc_major = a;
		gpu->cc_minor = b;
	}
	if (f->ecc && f->ecc(device, &a, &b) == SUCCESS) {
		gpu->ecc = a != 0;
		gpu->ecc_pending = b != 0;
	}
	if (f->persistence && f->persistence(device, &a) == SUCCESS)
		gpu->persistence = a != 0;
	if (f->mig && f->mig(device, &low, &pending) == SUCCESS)
		gpu->mig = low != 0;
	gpu->pcie_gen_max = small(f->gen_max, device);
	gpu->pcie_width_max = small(f->width_max, device);
}

/* MB/s of one link; if the driver cannot tell, the common rate of all active links. */
static double link_rate(const struct functions *f, device_t device, unsigned link)
{
	const unsigned ids[] = { FIELD_NVLINK_SPEED, FIELD_NVLINK_COMMON };

	for (size_t i = 0; f->fields && i < JL_LEN(ids); i++) {
		struct field_value value = { .id = ids[i], .scope = ids[i] == FIELD_NVLINK_SPEED ? link : 0 };

		if (f->fields(device, 1, &value) == SUCCESS && value.status == SUCCESS && value.value.u32 > 0)
			return value.value.u32 * 1e6;
	}
	return NAN;
}

static void read_links(const struct functions *f, device_t device, struct jl_nvml_gpu *gpu)
{
	enum { TYPE_GPU = 0, TYPE_SWITCH = 2 };

	for (unsigned i = 0; f->link_state && i < JL_NVML_LINKS_MAX; i++) {
		struct jl_nvml_link *link = &gpu->links[gpu->n_links];
		struct pci_info remote = { 0 };
		unsigned version = 0;
		int active = 0, type = -1;

		if (f->link_state(device, i, &active) != SUCCESS || !active)
			continue;
		*link = (struct jl_nvml_link){ .version = -1, .end = JL_NVLINK_OTHER };
		if (f->link_version && f->link_version(device, i, &version) == SUCCESS && version < 100)
			link->version = (int)version;
		if (f->link_type && f->link_type(device, i, &type) == SUCCESS)
			link->end = type == TYPE_GPU      ? JL_NVLINK_GPU
				    : type == TYPE_SWITCH ? JL_NVLINK_SWITCH
							  : JL_NVLINK_OTHER;
		if (f->link_remote && f->link_remote(device, i, &remote) == SUCCESS) {
			remote.bus_id[sizeof(remote.bus_id) - 1] = '\0';
			jl_nvml_bus_id(link->remote, remote.bus_id);
		}
		link->oneway_Bps = link_rate(f, device, i);
		gpu->n_links++;
	}
}

static enum jl_status read_p2p(const struct jl_nvml *nvml, struct jl_arena *arena, struct jl_nvml_snapshot *snap,
			       struct jl_err *err)
{
	static const int caps[JL_N_P2P_WHAT] = { 0, 1, 3 }; /* NVML's numbers for read, write, atomics */
	size_t n = nvml->n_devices;

	for (size_t what = 0; nvml->f.p2p && what < JL_N_P2P_WHAT; what++) {
		unsigned char *cells = jl_arena_array(arena, n * n + 1, 1);

		JL_TRY(jl_got(cells, err));
		for (size_t a = 0; a < n; a++)
			for (size_t b = 0; b < n; b++) {
				int state = JL_P2P_U;

				if (a != b &&
				    nvml->f.p2p(nvml->devices[a], nvml->devices[b], caps[what], &state) != SUCCESS)
					state = JL_P2P_U;
				if (state < 0 || state >= JL_N_P2P)
					state = JL_P2P_U;
				cells[a * n + b] = (unsigned char)(a == b ? JL_P2P_OK : state);
			}
		snap->p2p[what] = cells;
	}
	return JL_OK;
}

enum jl_status jl_nvml_read(struct jl_nvml *nvml, struct jl_arena *arena, struct jl_nvml_snapshot *ret_snapshot,
			    struct jl_err *err)
{
	struct jl_nvml_snapshot snap = { .cuda = -1, .n_gpus = nvml->n_devices };
	int cuda = 0;

	snap.gpus = jl_arena_array(arena, snap.n_gpus ? snap.n_gpus : 1, sizeof(*snap.gpus));
	JL_TRY(jl_got(snap.gpus, err));
	if (nvml->f.driver && nvml->f.driver(snap.driver, sizeof(snap.driver)) != SUCCESS)
		snap.driver[0] = '\0';
	snap.driver[sizeof(snap.driver) - 1] = '\0';
	jl_utf8_sanitize(snap.driver);
	if (nvml->f.cuda && nvml->f.cuda(&cuda) == SUCCESS && cuda > 0)
		snap.cuda = cuda;
	for (size_t i = 0; i < snap.n_gpus; i++) {
		jl_nvml_gpu_clear(&snap.gpus[i]);
		read_fixed(&nvml->f, nvml->devices[i], &snap.gpus[i]);
		read_moving(&nvml->f, nvml->devices[i], &snap.gpus[i]);
		read_links(&nvml->f, nvml->devices[i], &snap.gpus[i]);
	}
	JL_TRY(read_p2p(nvml, arena, &snap, err));
	*ret_snapshot = snap;
	return JL_OK;
}

void jl_nvml_watch(struct jl_nvml *nvml, size_t gpu, struct jl_nvml_gpu *ret_now)
{
	jl_nvml_gpu_clear(ret_now);
	if (gpu < nvml->n_devices)
		read_moving(&nvml->f, nvml->devices[gpu], ret_now);
}

const char *jl_nvml_held_by(const struct jl_nvml_gpu *now)
{
	if (now->throttle < 0)
		return NULL;
	if (now->throttle & (JL_THROTTLE_SW_THERMAL | JL_THROTTLE_HW_THERMAL))
		return JL_HELD_HEAT;
	if (now->throttle & (JL_THROTTLE_HW_SLOWDOWN | JL_THROTTLE_POWER_BRAKE))
		return JL_HELD_POWER_BRAKE;
	if (now->throttle & JL_THROTTLE_POWER_CAP)
		return now->limit_W < HELD_FRAC * now->limit_default_W ? JL_HELD_POWER_LIMIT : NULL;
	if (now->throttle & JL_THROTTLE_APP_CLOCKS)
		return now->sm_Hz < HELD_FRAC * now->sm_max_Hz ? JL_HELD_APP_CLOCKS : NULL;
	return now->sm_Hz < HELD_FRAC * now->sm_max_Hz ? JL_HELD_LOCKED : NULL;
}

static bool runs(pid_t pid, struct stat *ret_program)
{
	char path[48];

	(void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return stat(path, ret_program) == 0;
}

/* True for worker processes of this run: same program, same process group. A shell's group contains other programs too. */
static bool is_own(pid_t pid)
{
	struct stat theirs, ours;

	if (getpgid(pid) != getpgrp())
		return false;
	return !runs(pid, &theirs) || !runs(getpid(), &ours) ||
	       (theirs.st_ino == ours.st_ino && theirs.st_dev == ours.st_dev);
}

bool jl_nvml_neighbour(struct jl_nvml *nvml, size_t gpu, char *ret_text, size_t size, double *ret_mem_B)
{
	struct process_info all[NEIGHBOURS_MAX];
	const struct process_info *most = NULL;
	unsigned n = NEIGHBOURS_MAX;
	char path[48], name[64] = "";

	if (gpu >= nvml->n_devices || !nvml->f.processes || nvml->f.processes(nvml->devices[gpu], &n, all) != SUCCESS)
		return false;
	for (unsigned i = 0; i < n && i < NEIGHBOURS_MAX; i++)
		if (!is_own((pid_t)all[i].id) && (!most || all[i].mem_B > most->mem_B))
			most = &all[i];
	if (!most)
		return false;
	(void)snprintf(path, sizeof(path), "/proc/%u/comm", most->id);
	FILE *file = fopen(path, "re"); /* in a container other processes may be invisible */

	if (file && fgets(name, sizeof(name), file))
		name[strcspn(name, "\n")] = '\0';
	if (file)
		(void)fclose(file);
	jl_utf8_sanitize(name);
	(void)snprintf(ret_text, size, "%s%s(%u)", name, *name ? " " : "", most->id);
	*ret_mem_B = most->mem_B < UNKNOWN_B ? (double)most->mem_B : NAN;
	return true;
}

struct jl_nvml *jl_nvml_open_at(const char *bus, size_t *ret_gpu)
{
	struct jl_nvml *nvml = NULL;
	char wanted[32], here[32];

	jl_nvml_bus_id(wanted, bus);
	if (jl_nvml_open(&nvml, NULL))
		return NULL;
	for (size_t i = 0; wanted[0] && nvml->f.pci && i < nvml->n_devices; i++) {
		struct pci_info pci = { 0 };

		if (nvml->f.pci(nvml->devices[i], &pci) != SUCCESS)
			continue;
		pci.bus_id[sizeof(pci.bus_id) - 1] = '\0';
		jl_nvml_bus_id(here, pci.bus_id);
		if (strcmp(here, wanted) == 0) {
			*ret_gpu = i;
			return nvml;
		}
	}
	jl_nvml_close(nvml);
	return NULL;
}

double jl_nvml_energy_J(struct jl_nvml *nvml, size_t gpu)
{
	unsigned long long mJ = 0;

	if (gpu >= nvml->n_devices || !nvml->f.energy || nvml->f.energy(nvml->devices[gpu], &mJ) != SUCCESS)
		return NAN;
	return (double)mJ * 1e-3;
}

void jl_nvml_ecc_errors(struct jl_nvml *nvml, size_t gpu, double *ret_corrected, double *ret_uncorrected)
{
	double *const rets[] = { ret_corrected,
				 ret_uncorrected }; /* NVML's numbering; counter 0: since the driver was loaded */
	unsigned long long n;

	for (int type = 0; type < 2; type++)
		*rets[type] = gpu < nvml->n_devices && nvml->f.ecc_errors &&
					      nvml->f.ecc_errors(nvml->devices[gpu], type, 0, &n) == SUCCESS
				      ? (double)n
				      : NAN;
}
