/* What is in a machine: processors, memory, the PCI tree, GPUs and how they are joined, networks, disks, and what
 * stands between
 * them and a program (kernel, container, limits). Read from a source (source.h), live or captured.
 *
 * Unknown is NAN, -1 or NULL. Everything points into the arena. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/fields.h"
#include "catalog/catalog.h"
#include "probe/nvml.h"
#include "probe/source.h"

#define JL_PROBE_GPUS_MAX   128 /* NVML's and those that are only on the bus */
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
	int n; /* how many of them, where all processors are alike */
};

struct jl_probe_cpu {
	const char *model; /* as a person reads it: "Xeon Gold 6330", "Neoverse-N1" */
	bool is_core_name; /* the model names a core, not a processor: arm64 */
	const char *vendor;
	int n_sockets, n_cores, n_threads;
	int n_allowed;      /* threads that this process may run on */
	double clock_Hz;    /* base clock where it says one, else the highest, else the present one; NAN: unknown */
	const char *vector; /* its widest vector unit: "AVX-512", "AVX2", "SVE", "NEON"; NULL: unknown */
	const char *bf16;   /* its products of bfloat16: "AMX", "BF16"; NULL: none, or unknown */
	const char *governor, *scaling_driver;
	struct jl_probe_cache caches[JL_PROBE_CACHES_MAX];
	size_t n_caches;
};

struct jl_probe_node { /* of NUMA */
	int id;
	double mem_B;
	const char *cpus; /* "0-31,64-95" */
	int n_threads;
};

struct jl_probe_memory {
	double total_B, available_B, swap_B, swap_used_B;
};

/* What the surroundings take away. */
struct jl_probe_limits {
	double cpu_quota; /* processors' worth of time; NAN: none */
	double memory_B;  /* NAN: none */
	const char *in;   /* docker, podman, kubernetes, lxc, ...; NULL: no container seen */
	const char *vm;   /* kvm, xen, vmware, ...; NULL: none seen */
};

struct jl_pci_link {
	int gen, width; /* -1: unknown */
};

struct jl_probe_pci {
	const char *bus; /* 0000:52:00.0 */
	unsigned class_code, vendor, device;
	int numa;
	int parent;                   /* place in the list; -1: hangs on a root complex */
	const char *parent_bus;       /* NULL: none, here and below */
	const char *root;             /* the root complex: pci0000:4a */
	struct jl_pci_link now, most; /* of the device itself */
	const char *driver;
	int iommu_group;
	const char *iommu_type; /* identity, DMA, DMA-FQ */
	const char *acs;        /* of bridges above GPUs: "0x001d", "none"; NULL: not known */
};

struct jl_probe_gpu {
	const struct jl_nvml_gpu *nvml; /* NULL: only seen on the bus */
	int pci;                        /* place in the list; -1: not found */
	int numa;
	const char *name;              /* NVML's, or vendor and device of the bus */
	struct jl_pci_link now, most;  /* most: of GPU and slot together */
	struct jl_pci_link card, slot; /* what each could do alone */
	bool under_load;               /* `now` was read while it copied */
	int shares; /* the nearest bridge with more than one GPU under it, a place in the PCI list; -1: none */
	const char *shares_bus;
	const struct jl_gpu *listed; /* in the catalog; NULL: not found */
};

enum jl_probe_path {               /* between two GPUs, as nvidia-smi topo -m says it */
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
	const char *bond_mode; /* not NULL: this is a bond: "802.3ad", "active-backup" */
	const char *slaves;    /* "eth0 eth1" */
	const char *master;    /* the bond that it is part of */
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
	const char *vendor, *product, *board; /* of the computer */
	const char *hostname;                 /* only where it was asked for */
	bool with_names;                      /* ... and what names a single part */
	struct jl_probe_cpu cpu;
	struct jl_probe_memory memory;
	struct jl_probe_limits limits;
	struct jl_probe_node *nodes;
	size_t n_nodes;
	struct jl_probe_pci *pci;
	size_t n_pci;
	struct jl_probe_gpu *gpus;
	size_t n_gpus;
	int n_hidden_gpus; /* on the bus, but not given to us by the driver */
	struct jl_probe_nic *nics;
	size_t n_nics;
	struct jl_probe_rdma *rdma;
	size_t n_rdma;
	struct jl_probe_disk *disks;
	size_t n_disks;
	const struct jl_nvml_snapshot *nvml;
	int n_nvswitches;
	bool iommu_on;
	const char *boot_iommu; /* the kernel's command line option for it, or NULL */

	/* what the catalog knows of it */
	const struct jl_cpu *listed_cpu;
	const struct jl_system *listed_system;
	const char *join; /* id of the link between the GPUs; NULL: none or unknown */
	const char *net;  /* id of the network that a cluster of these would use; NULL: unknown */
	int n_net;
	const char *system; /* system expression of this host; NULL: with `system_why` */
	const char *system_why_en;
	bool mixed; /* GPUs of several kinds */
	char fingerprint[17];
	const char *short_name; /* "2x Neoverse-V1, 24 GiB, no GPU" */
	const char *short_name_text;
};

struct jl_probe_options {
	jl_link_load *load; /* makes GPUs copy while their links are read; NULL: they are read as they are */
	bool with_names;    /* host name too */
};

/* Reads everything; what cannot be read is unknown. `cat` may be NULL: nothing is matched. */
enum jl_status jl_probe_machine(struct jl_probe_source *source, const struct jl_catalog *cat,
				const struct jl_probe_options *options, struct jl_arena *arena,
				const struct jl_probe_machine **ret_machine, struct jl_err *err);

/* All of it as JSON (fields.c). */
extern const struct jl_schema jl_machine_fields;

/* Sixteen hexadecimal digits that stay over reboots and driver updates and change with the hardware. Machines that are
 * built alike have the same one. */
const char *jl_probe_fingerprint(const struct jl_probe_machine *machine);

enum jl_probe_path jl_probe_path(const struct jl_probe_machine *machine, size_t gpu_a, size_t gpu_b);
/* NVLinks between two GPUs, and whether both are on a switch. */
int jl_probe_nvlinks(const struct jl_probe_machine *machine, size_t gpu_a, size_t gpu_b);
bool jl_probe_nvswitched(const struct jl_probe_machine *machine, size_t gpu);
/* A join by how it is laid out and what it is made of; where several fit, the one whose cards go on as `beyond` says. NULL: none. */
const struct jl_link_info *jl_probe_join(const struct jl_catalog *cat, const char *topology, const char *wire,
					 const char *beyond);
/* What a GPU's link does under load, as far as is known: idle ones step down in speed, not in width. */
struct jl_pci_link jl_probe_link(const struct jl_probe_gpu *gpu);
/* Bytes per second one way of a PCIe link; NAN: unknown. */
double jl_probe_pcie_Bps(struct jl_pci_link link);
