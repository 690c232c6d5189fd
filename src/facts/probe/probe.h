/* Hardware of a machine: processors, memory, PCI tree, GPUs and their interconnect, networks, disks, and limits (kernel, container). Read from a
 * source (source.h), live or captured.
 *
 * Unknown values are NAN, -1 or NULL. Everything is allocated in the arena. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/fields.h"
#include "catalog/catalog.h"
#include "probe/nvml.h"
#include "probe/source.h"

#define JL_PROBE_GPUS_MAX   128 /* from NVML, and those only seen on the bus */
#define JL_PROBE_CPUS_MAX   4096
#define JL_PROBE_NODES_MAX  256
#define JL_PROBE_CACHES_MAX 16
#define JL_PROBE_PCI_MAX    4096
#define JL_PROBE_NICS_MAX   256
#define JL_PROBE_DISKS_MAX  256

struct jl_probe_cache {
	int level;
	const char *type; /* Data, Instruction, Unified */
	double size_B;
	int n; /* number of such caches if all processors are equal */
};

struct jl_probe_cpu {
	const char *model; /* "Xeon Gold 6330", "Neoverse-N1" */
	bool is_core_name; /* the model names a core, not a processor: arm64 */
	const char *vendor;
	int n_sockets, n_cores, n_threads;
	int n_allowed;      /* threads that this process may use */
	double load;        /* threads running or waiting for a CPU, one-minute mean; NAN: unknown */
	double clock_Hz;    /* base clock, else maximum, else current clock; NAN: unknown */
	const char *vector; /* widest vector unit: "AVX-512", "AVX2", "SVE", "NEON"; NULL: unknown */
	const char *bf16;   /* bfloat16 products: "AMX", "BF16"; NULL: none or unknown */
	const char *governor, *scaling_driver;
	struct jl_probe_cache caches[JL_PROBE_CACHES_MAX];
	size_t n_caches;
};

struct jl_probe_node { /* NUMA node */
	int id;
	double mem_B;
	const char *cpus; /* "0-31,64-95" */
	int n_threads;
};

struct jl_probe_memory {
	double total_B, available_B, swap_B, swap_used_B;
};

/* Limits by control groups, containers and virtual machines. */
struct jl_probe_limits {
	double cpu_quota; /* in processors; NAN: none */
	double memory_B;  /* NAN: none */
	const char *in;   /* docker, podman, kubernetes, lxc, ...; NULL: none detected */
	const char *vm;   /* kvm, xen, vmware, ...; NULL: none detected */
};

struct jl_pci_link {
	int gen, width; /* generation and lanes; -1: unknown */
};

struct jl_probe_pci {
	const char *bus; /* bus id: 0000:52:00.0 */
	unsigned class_code, vendor, device;
	int numa;
	int parent;                   /* index in the list; -1: directly below a root complex */
	const char *parent_bus;       /* bus id of the parent; NULL: none */
	const char *root;             /* root complex: pci0000:4a */
	struct jl_pci_link now, most; /* link of the device itself */
	const char *driver;
	int iommu_group;
	const char *iommu_type; /* IOMMU mode: identity, DMA, DMA-FQ */
	const char *acs;        /* bridges above GPUs: "0x001d", "none"; NULL: unknown */
};

struct jl_probe_gpu {
	const struct jl_nvml_gpu *nvml; /* NULL: only seen on the bus */
	int pci;                        /* index in the PCI list; -1: not found */
	int numa;
	const char *name;              /* NVML's name, or vendor and device ids */
	struct jl_pci_link now, most;  /* most: limit of GPU and slot together */
	struct jl_pci_link card, slot; /* limits of the card alone and of the slot alone */
	bool under_load;               /* `now` was read under load */
	int shares;                    /* nearest bridge above more than one GPU, index in the PCI list; -1: none */
	const char *shares_bus;
	const struct jl_gpu *listed; /* catalog record; NULL: not found */
};

enum jl_probe_path {               /* path between two GPUs, as in nvidia-smi topo -m */
		     JL_PATH_PIX,  /* one PCIe switch */
		     JL_PATH_PXB,  /* several switches */
		     JL_PATH_PHB,  /* through a host bridge */
		     JL_PATH_NODE, /* between host bridges of one NUMA node */
		     JL_PATH_SYS   /* between NUMA nodes */
};
extern const char *const jl_probe_path_names[];

struct jl_probe_nic {
	const char *name, *driver;
	double Bps; /* NAN: down or unknown */
	bool up;
	int numa, pci;
	const char *pci_bus;
	const char *bond_mode; /* "802.3ad", "active-backup"; NULL: not a bond */
	const char *slaves;    /* "eth0 eth1" */
	const char *master;    /* bond that it belongs to */
};

struct jl_probe_rdma {
	const char *name, *layer, *rate; /* "InfiniBand", "400 Gb/sec (4X NDR)" */
	double Bps;
	bool active;
	int numa, pci;
	const char *pci_bus;
};

struct jl_probe_disk {
	const char *name, *model;
	double size_B;
	int rotational;
};

struct jl_probe_machine {
	const char *arch, *kernel, *os;
	const char *vendor, *product, *board; /* vendor, product and board name of the computer */
	const char *hostname;                 /* only if names were requested */
	bool with_names;                      /* host name and names of single parts were requested */
	struct jl_probe_cpu cpu;
	struct jl_probe_memory memory;
	struct jl_probe_limits limits;
	struct jl_probe_node *nodes;
	size_t n_nodes;
	struct jl_probe_pci *pci;
	size_t n_pci;
	struct jl_probe_gpu *gpus;
	size_t n_gpus;
	int n_hidden_gpus; /* on the bus, but not accessible through the driver */
	struct jl_probe_nic *nics;
	size_t n_nics;
	struct jl_probe_rdma *rdma;
	size_t n_rdma;
	struct jl_probe_disk *disks;
	size_t n_disks;
	const struct jl_nvml_snapshot *nvml;
	int n_nvswitches;
	bool iommu_on;
	const char *boot_iommu; /* the kernel's command-line option for it; NULL: none */

	/* catalog matches: */
	const struct jl_cpu *listed_cpu;
	const struct jl_system *listed_system;
	const char *join; /* id of the GPUs' interconnect; NULL: none or unknown */
	const char *net;  /* id of the network for a cluster of such hosts; NULL: unknown */
	int n_net;
	const char *system; /* system expression of this host; NULL: see `system_why` */
	const char *system_why_en;
	bool mixed; /* GPUs of several kinds */
	char fingerprint[17];
	const char *short_name; /* "2x Neoverse-V1, 24 GiB, no GPU" */
	const char *short_name_text;
};

struct jl_probe_options {
	jl_link_load *load; /* puts a load on GPUs while their links are read; NULL: no load */
	bool with_names;    /* include the host name */
};

/* Reads everything; unreadable values are unknown. `cat` may be NULL: no matching. */
enum jl_status jl_probe_machine(struct jl_probe_source *source, const struct jl_catalog *cat,
				const struct jl_probe_options *options, struct jl_arena *arena,
				const struct jl_probe_machine **ret_machine, struct jl_err *err);

/* JSON of the whole machine (fields.c). */
extern const struct jl_schema jl_machine_fields;

/* Sixteen hexadecimal digits that identify the hardware: stable over reboots and driver updates, equal for identically built machines. */
const char *jl_probe_fingerprint(const struct jl_probe_machine *machine);

enum jl_probe_path jl_probe_path(const struct jl_probe_machine *machine, size_t gpu_a, size_t gpu_b);
/* Number of NVLinks between two GPUs, directly or through a common switch. */
int jl_probe_nvlinks(const struct jl_probe_machine *machine, size_t gpu_a, size_t gpu_b);
bool jl_probe_nvswitched(const struct jl_probe_machine *machine, size_t gpu);
/* Interconnect by topology and wire; if several match, the one with fallback `beyond`. NULL: none. */
const struct jl_link_info *jl_probe_join(const struct jl_catalog *cat, const char *topology, const char *wire,
					 const char *beyond);
/* A GPU's link under load, as far as known: idle links reduce speed, not width. */
struct jl_pci_link jl_probe_link(const struct jl_probe_gpu *gpu);
/* One-way bytes per second of a PCIe link; NAN: unknown. */
double jl_probe_pcie_Bps(struct jl_pci_link link);
