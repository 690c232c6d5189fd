/* State of the GPUs as reported by NVML, opened at run time.
 *
 * All values go into one plain snapshot, so that a captured machine can be replayed without the library. Values that driver or GPU do not report
 * are unknown (NAN, -1 or an empty text), never an error. JEOUL_NVML names another library: tests use a fake. */
#pragma once

#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

#define JL_NVML_GPUS_MAX  64
#define JL_NVML_LINKS_MAX 36

/* As in `nvidia-smi topo -p2p`. */
enum jl_p2p_state {
	JL_P2P_OK,
	JL_P2P_CNS, /* chipset not supported */
	JL_P2P_GNS, /* GPU not supported */
	JL_P2P_TNS, /* topology not supported */
	JL_P2P_DR,  /* disabled by a registry key */
	JL_P2P_NS,  /* not supported */
	JL_P2P_U,   /* unknown */
	JL_N_P2P
};
extern const char *const jl_p2p_names[JL_N_P2P]; /* "OK", "CNS", ... */

enum jl_p2p_what { JL_P2P_READ, JL_P2P_WRITE, JL_P2P_ATOMICS, JL_N_P2P_WHAT };

enum jl_nvlink_end { JL_NVLINK_GPU, JL_NVLINK_SWITCH, JL_NVLINK_OTHER };

struct jl_nvml_link {
	int version; /* as the driver counts: 2 for V100, 4 for H100; -1: unknown */
	enum jl_nvlink_end end;
	double oneway_Bps; /* raw signalling rate of this link */
	char remote[32];   /* bus id of the other end, as in sysfs */
};

/* Reasons for reduced clocks (NVML bits). */
enum jl_throttle {
	JL_THROTTLE_IDLE = 0x1,
	JL_THROTTLE_APP_CLOCKS = 0x2,
	JL_THROTTLE_POWER_CAP = 0x4,
	JL_THROTTLE_HW_SLOWDOWN = 0x8,
	JL_THROTTLE_SYNC_BOOST = 0x10,
	JL_THROTTLE_SW_THERMAL = 0x20,
	JL_THROTTLE_HW_THERMAL = 0x40,
	JL_THROTTLE_POWER_BRAKE = 0x80,
	JL_THROTTLE_DISPLAY = 0x100
};

struct jl_nvml_gpu {
	char name[96], uuid[96];
	char bus[32]; /* as in sysfs: 0000:52:00.0 */
	double mem_B, mem_used_B;
	double sm_Hz, sm_max_Hz, mem_Hz, mem_max_Hz;
	double power_W, limit_W, limit_default_W, limit_max_W;
	double temperature_C, busy_frac;
	int cc_major, cc_minor; /* -1: unknown, as for all integers here */
	int ecc, ecc_pending, persistence, mig, pstate;
	int pcie_gen, pcie_width;           /* current generation and width */
	int pcie_gen_max, pcie_width_max;   /* maximum of this GPU in this slot */
	int pcie_gen_busy, pcie_width_busy; /* while copying, because idle links slow down; -1: no load could be run */
	int throttle;                       /* bits of enum jl_throttle */
	int n_links;                        /* number of active NVLinks */
	struct jl_nvml_link links[JL_NVML_LINKS_MAX];
};

struct jl_nvml_snapshot {
	char driver[96];
	int cuda; /* newest CUDA version that the driver supports, 12040: CUDA 12.4; -1: unknown */
	size_t n_gpus;
	struct jl_nvml_gpu *gpus;
	unsigned char *p2p[JL_N_P2P_WHAT];     /* enum jl_p2p_state, row-major; NULL: unknown */
	char absent_en[256], absent_text[256]; /* reason why there is no data; empty: there is */
};

struct jl_nvml;

/* JL_E_ABSENT with the reason: no library, or no driver. */
enum jl_status jl_nvml_open(struct jl_nvml **ret_nvml, struct jl_err *err);
void jl_nvml_close(struct jl_nvml *nvml);

enum jl_status jl_nvml_read(struct jl_nvml *nvml, struct jl_arena *arena, struct jl_nvml_snapshot *ret_snapshot,
			    struct jl_err *err);

/* Reads only changing values: clocks, power, temperature, throttling, link. */
void jl_nvml_watch(struct jl_nvml *nvml, size_t gpu, struct jl_nvml_gpu *ret_now);

/* Why a clock is reduced, as stored in records; NULL: not reduced, or only by the power limit at full load, which is normal. */
#define JL_HELD_LOCKED      "locked"
#define JL_HELD_APP_CLOCKS  "app_clocks"
#define JL_HELD_POWER_LIMIT "power_limit" /* set below the default limit */
#define JL_HELD_POWER_BRAKE "power_brake"
#define JL_HELD_HEAT        "heat"
const char *jl_nvml_held_by(const struct jl_nvml_gpu *now);
/* Other process with the most memory on the GPU, as "python3 (4711)"; false: none visible. */
bool jl_nvml_neighbour(struct jl_nvml *nvml, size_t gpu, char *ret_text, size_t size, double *ret_mem_B);

/* Opens NVML and returns the index of the GPU at this bus id, in any spelling: NVML orders GPUs by bus, CUDA by speed. NULL: no such GPU. */
struct jl_nvml *jl_nvml_open_at(const char *bus, size_t *ret_gpu);
/* Energy in joules since the driver was loaded; NAN: no counter (before Volta). Updated about ten times a second. */
double jl_nvml_energy_J(struct jl_nvml *nvml, size_t gpu);
/* Memory errors since the driver was loaded, corrected and uncorrected; NAN: no counter. */
void jl_nvml_ecc_errors(struct jl_nvml *nvml, size_t gpu, double *ret_corrected, double *ret_uncorrected);

/* Puts a short load on each GPU while its link is read, because idle links slow down (gpu/link_load.h). */
typedef void jl_link_load(struct jl_nvml *nvml, struct jl_nvml_snapshot *snapshot);

/* Sets all values to unknown (nvml_json.c lists the members). */
void jl_nvml_gpu_clear(struct jl_nvml_gpu *gpu);

/* "00000000:52:00.0" and "52:00.0" in the spelling of sysfs; empty if it is not a bus id. */
void jl_nvml_bus_id(char out[32], const char *text);
