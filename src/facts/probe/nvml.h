/* NVIDIA's management library, opened when it is needed: what it says of the GPUs of this machine.
 *
 * Everything is read into one plain snapshot, so that a captured machine can be replayed without the library. What a
 * driver or a GPU does not tell is unknown (NAN, -1 or an empty text), never an error. JEOUL_NVML names another library:
 * tests put a stand-in there. */
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
	int version; /* as the driver counts: 2 for V100, 4 for H100; -1 unknown */
	enum jl_nvlink_end end;
	double oneway_Bps; /* raw signalling rate of this link */
	char remote[32];   /* bus id of the other end, as sysfs writes it */
};

/* Why clocks are held down now. */
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
	char bus[32]; /* as sysfs writes it: 0000:52:00.0 */
	double mem_B, mem_used_B;
	double sm_Hz, sm_max_Hz, mem_Hz, mem_max_Hz;
	double power_W, limit_W, limit_default_W, limit_max_W;
	double temperature_C, busy_frac;
	int cc_major, cc_minor; /* -1: unknown, as of all integers here */
	int ecc, ecc_pending, persistence, mig, pstate;
	int pcie_gen, pcie_width;           /* now */
	int pcie_gen_max, pcie_width_max;   /* of this GPU in this slot */
	int pcie_gen_busy, pcie_width_busy; /* while copying: idle links step down; -1: could not be loaded */
	int throttle;                       /* enum jl_throttle, any of them */
	int n_links;                        /* active ones */
	struct jl_nvml_link links[JL_NVML_LINKS_MAX];
};

struct jl_nvml_snapshot {
	char driver[96];
	int cuda; /* 12040: CUDA 12.4 is the newest that the driver runs; -1: unknown */
	size_t n_gpus;
	struct jl_nvml_gpu *gpus;
	unsigned char *p2p[JL_N_P2P_WHAT];     /* enum jl_p2p_state, row by row; NULL: not known */
	char absent_en[256], absent_text[256]; /* why there is nothing; empty: there is */
};

struct jl_nvml;

/* JL_E_ABSENT with the reason where there is no such library or no driver under it. */
enum jl_status jl_nvml_open(struct jl_nvml **ret_nvml, struct jl_err *err);
void jl_nvml_close(struct jl_nvml *nvml);

enum jl_status jl_nvml_read(struct jl_nvml *nvml, struct jl_arena *arena, struct jl_nvml_snapshot *ret_snapshot,
			    struct jl_err *err);

/* Only what changes while something runs: clocks, power, temperature, throttling, link. */
void jl_nvml_watch(struct jl_nvml *nvml, size_t gpu, struct jl_nvml_gpu *ret_now);

/* Why a clock is held down, as records state it; NULL: it is not, or only by the power limit at full load, which is normal. */
#define JL_HELD_LOCKED      "locked"
#define JL_HELD_APP_CLOCKS  "app_clocks"
#define JL_HELD_POWER_LIMIT "power_limit" /* below the default one */
#define JL_HELD_POWER_BRAKE "power_brake"
#define JL_HELD_HEAT        "heat"
const char *jl_nvml_held_by(const struct jl_nvml_gpu *now);
/* The process other than this one that has most of the GPU's memory, as "python3 (4711)"; false: none is seen. */
bool jl_nvml_neighbour(struct jl_nvml *nvml, size_t gpu, char *ret_text, size_t size, double *ret_mem_B);

/* Opened, with the number of the GPU at this bus id, in any spelling: NVML counts GPUs by bus, CUDA by speed. NULL: there is none. */
struct jl_nvml *jl_nvml_open_at(const char *bus, size_t *ret_gpu);
/* Joule that the GPU has taken since the driver was loaded; NAN: it does not count (before Volta). The counter is
 * renewed some ten times a second. */
double jl_nvml_energy_J(struct jl_nvml *nvml, size_t gpu);
/* Memory errors since then, corrected and not; NAN: it does not count. */
void jl_nvml_ecc_errors(struct jl_nvml *nvml, size_t gpu, double *ret_corrected, double *ret_uncorrected);

/* A moment of work for each GPU while its link is read: idle links step down (gpu/link_load.h). */
typedef void jl_link_load(struct jl_nvml *nvml, struct jl_nvml_snapshot *snapshot);

/* All unknown (nvml_json.c has the list of members). */
void jl_nvml_gpu_clear(struct jl_nvml_gpu *gpu);

/* "00000000:52:00.0" and "52:00.0" as sysfs writes them; what is no bus id stays empty. */
void jl_nvml_bus_id(char out[32], const char *text);
