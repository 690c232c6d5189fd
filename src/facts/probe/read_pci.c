/* Reads the PCI tree and finds GPUs in it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/read.h"
#include "probe/rocm_smi.h"

#define PCI_DIR "/sys/bus/pci/devices"

enum {
	CLASS_NETWORK = 0x02,
	CLASS_DISPLAY = 0x03,
	CLASS_ACCELERATOR = 0x12,
	CLASS_NVME = 0x0108,
	CLASS_PCI_BRIDGE = 0x0604,
	CLASS_OTHER_BRIDGE = 0x0680,
	NVIDIA = 0x10de,
	AMD = 0x1002,
	HABANA = 0x1da3
};

const char *const jl_probe_path_names[] = { "PIX", "PXB", "PHB", "NODE", "SYS" };

/* "16.0 GT/s PCIe" -> 4 */
static int link_gen(const char *text)
{
	static const double rates[] = { 2.5, 5, 8, 16, 32, 64, 128 };
	double rate = text ? strtod(text, NULL) : 0;

	for (size_t i = 0; i < JL_LEN(rates); i++)
		if (fabs(rate - rates[i]) < 0.1)
			return (int)i + 1;
	return -1;
}

static int link_width(const char *text)
{
	long long width = jl_text_whole(text, -1);

	return width >= 1 && width <= 32 ? (int)width : -1;
}

double jl_probe_pcie_Bps(struct jl_pci_link link)
{
	/* one lane, one way, after line coding: 8b/10b for the first two generations, then 128b/130b, then PAM4 with FLIT */
	static const double lane_Bps[] = { 0.25e9, 0.5e9, 0.985e9, 1.969e9, 3.938e9, 7.563e9 };

	if (link.gen < 1 || link.gen > 6 || link.width < 1)
		return NAN;
	return lane_Bps[link.gen - 1] * link.width;
}

struct jl_pci_link jl_probe_link(const struct jl_probe_gpu *gpu)
{
	struct jl_pci_link link = gpu->most;

	if (gpu->under_load)
		return gpu->now;
	if (link.gen < 0)
		link.gen = gpu->now.gen;
	if (gpu->now.width > 0 && (link.width < 0 || gpu->now.width < link.width))
		link.width = gpu->now.width;
	return link;
}

static void read_link(struct jl_probe_in *in, struct jl_probe_pci *device)
{
	device->now.gen = link_gen(jl_source_read(in->source, PCI_DIR "/%s/current_link_speed", device->bus));
	device->now.width = link_width(jl_source_read(in->source, PCI_DIR "/%s/current_link_width", device->bus));
	device->most.gen = link_gen(jl_source_read(in->source, PCI_DIR "/%s/max_link_speed", device->bus));
	device->most.width = link_width(jl_source_read(in->source, PCI_DIR "/%s/max_link_width", device->bus));
}

/* Root complex and parent bridge from "../../../devices/pci0000:4a/0000:4a:02.0/0000:52:00.0" */
static void read_place(struct jl_probe_in *in, struct jl_probe_pci *device, const char **ret_parent)
{
	const char *at = jl_source_link(in->source, PCI_DIR "/%s", device->bus);
	char part[64], before[64] = "";

	*ret_parent = NULL;
	while (at && *at) {
		size_t len = strcspn(at, "/");

		snprintf(part, sizeof(part), "%.*s", (int)(len < 63 ? len : 63), at);
		if (strncmp(part, "pci", 3) == 0 && strchr(part, ':')) {
			device->root = jl_arena_strdup(in->arena, part);
			before[0] = '\0';
		} else if (strcmp(part, device->bus) == 0) {
			*ret_parent = before[0] ? jl_arena_strdup(in->arena, before) : NULL;
			return;
		} else if (device->root) {
			memcpy(before, part, sizeof(before));
		}
		at += len + (at[len] == '/');
	}
}

static bool matters(const struct jl_probe_pci *device)
{
	unsigned base = device->class_code >> 16;

	return base == CLASS_NETWORK || base == CLASS_DISPLAY || base == CLASS_ACCELERATOR ||
	       device->class_code >> 8 == CLASS_NVME;
}

static void read_driver(struct jl_probe_in *in, struct jl_probe_pci *device)
{
	const char *group = jl_source_link(in->source, PCI_DIR "/%s/iommu_group", device->bus);

	device->driver = jl_text_base(jl_source_link(in->source, PCI_DIR "/%s/driver", device->bus));
	if (!group)
		return;
	device->iommu_group = (int)jl_text_whole(jl_text_base(group), -1);
	if (device->iommu_group >= 0)
		device->iommu_type = jl_source_read(in->source, "/sys/kernel/iommu_groups/%d/type",
						    device->iommu_group);
}

/* Reads links and drivers only of relevant devices and of the bridges above them: servers have hundreds of other functions. */
static void read_details(struct jl_probe_in *in)
{
	struct jl_probe_machine *machine = in->machine;

	for (size_t i = 0; i < machine->n_pci; i++) {
		bool is_gpu = machine->pci[i].class_code >> 16 == CLASS_DISPLAY ||
			      machine->pci[i].class_code >> 16 == CLASS_ACCELERATOR;

		if (!matters(&machine->pci[i]))
			continue;
		read_driver(in, &machine->pci[i]);
		read_link(in, &machine->pci[i]);
		for (int at = machine->pci[i].parent, depth = 0; at >= 0 && depth < 32;
		     at = machine->pci[at].parent, depth++) {
			char path[128];

			read_link(in, &machine->pci[at]);
			snprintf(path, sizeof(path), PCI_DIR "/%s", machine->pci[at].bus);
			if (is_gpu && machine->pci[i].vendor == NVIDIA)
				machine->pci[at].acs = jl_source_acs(in->source, path);
		}
	}
}

/* Breaks cycles of parents in (captured) lists: such devices are attached to the root. */
static void cut_circles(struct jl_probe_machine *machine)
{
	for (size_t i = 0; i < machine->n_pci; i++) {
		int at = machine->pci[i].parent;
		int depth = 0;

		while (at >= 0 && depth++ < 32)
			at = machine->pci[at].parent;
		if (at >= 0)
			machine->pci[i].parent = -1;
	}
}

enum jl_status jl_read_pci(struct jl_probe_in *in, struct jl_err *err)
{
	struct jl_probe_machine *machine = in->machine;
	const char *names = jl_source_list(in->source, PCI_DIR);
	const char **parents = jl_arena_array(in->arena, JL_PROBE_PCI_MAX, sizeof(*parents));
	char bus[32];

	machine->pci = jl_arena_array(in->arena, JL_PROBE_PCI_MAX, sizeof(*machine->pci));
	JL_TRY(jl_got(machine->pci && parents, err));
	while (names && machine->n_pci < JL_PROBE_PCI_MAX && jl_text_line(&names, bus, sizeof(bus))) {
		struct jl_probe_pci *device = &machine->pci[machine->n_pci];

		*device = (struct jl_probe_pci){ .bus = jl_arena_strdup(in->arena, bus),
						 .parent = -1,
						 .now = { -1, -1 },
						 .most = { -1, -1 },
						 .iommu_group = -1 };
		JL_TRY(jl_got(device->bus, err));
		device->class_code = (unsigned)jl_source_whole(in->source, 0, PCI_DIR "/%s/class", bus);
		device->vendor = (unsigned)jl_source_whole(in->source, 0, PCI_DIR "/%s/vendor", bus);
		device->device = (unsigned)jl_source_whole(in->source, 0, PCI_DIR "/%s/device", bus);
		device->numa = (int)jl_source_whole(in->source, -1, PCI_DIR "/%s/numa_node", bus);
		read_place(in, device, &parents[machine->n_pci]);
		machine->n_nvswitches += device->vendor == NVIDIA && device->class_code >> 8 == CLASS_OTHER_BRIDGE;
		machine->n_pci++;
	}
	for (size_t i = 0; i < machine->n_pci; i++) {
		machine->pci[i].parent = jl_pci_at(machine, parents[i]);
		if (machine->pci[i].parent == (int)i)
			machine->pci[i].parent = -1;
	}
	cut_circles(machine);
	read_details(in);
	return JL_OK;
}

static int lower(int a, int b)
{
	return a < 0 ? b : b < 0 ? a : a < b ? a : b;
}

static void place_gpu(const struct jl_probe_machine *machine, struct jl_probe_gpu *gpu)
{
	const struct jl_probe_pci *device = gpu->pci >= 0 ? &machine->pci[gpu->pci] : NULL;
	const struct jl_nvml_gpu *nvml = gpu->nvml;

	gpu->numa = device ? device->numa : -1;
	gpu->card = device ? device->most : (struct jl_pci_link){ -1, -1 };
	gpu->slot = device && device->parent >= 0 ? machine->pci[device->parent].most : (struct jl_pci_link){ -1, -1 };
	gpu->now = device ? device->now : (struct jl_pci_link){ -1, -1 };
	gpu->most.gen = lower(gpu->card.gen, gpu->slot.gen);
	gpu->most.width = lower(gpu->card.width, gpu->slot.width);
	if (!nvml)
		return;
	gpu->most.gen = lower(gpu->most.gen, nvml->pcie_gen_max);
	gpu->most.width = lower(gpu->most.width, nvml->pcie_width_max);
	if (gpu->card.gen < 0)
		gpu->card = gpu->most;
	gpu->under_load = nvml->pcie_gen_busy > 0;
	if (gpu->under_load)
		gpu->now = (struct jl_pci_link){ nvml->pcie_gen_busy, nvml->pcie_width_busy };
	else if (nvml->pcie_gen > 0)
		gpu->now = (struct jl_pci_link){ nvml->pcie_gen, nvml->pcie_width };
}

static bool is_above(const struct jl_probe_machine *machine, int bridge, int device)
{
	for (int at = device < 0 ? -1 : machine->pci[device].parent; at >= 0; at = machine->pci[at].parent)
		if (at == bridge)
			return true;
	return false;
}

static int gpus_under(const struct jl_probe_machine *machine, int bridge)
{
	int n = 0;

	for (size_t i = 0; i < machine->n_gpus; i++)
		n += is_above(machine, bridge, machine->gpus[i].pci);
	return n;
}

/* Name from vendor and device ids, for a GPU without a driver. */
static const char *bus_name(struct jl_arena *arena, const struct jl_probe_pci *device)
{
	const char *maker = device->vendor == NVIDIA   ? "NVIDIA"
			    : device->vendor == AMD    ? "AMD"
			    : device->vendor == HABANA ? "Habana"
						       : "Intel";

	return jl_arena_printf(arena, "%s GPU [%04x:%04x]", maker, device->vendor, device->device);
}

/* Excludes console display chips of servers and integrated graphics. */
static bool is_gpu(const struct jl_probe_pci *device)
{
	unsigned base = device->class_code >> 16;

	if (device->vendor == NVIDIA)
		return base == CLASS_DISPLAY;
	if (device->vendor == HABANA)
		return base == CLASS_ACCELERATOR;
	return device->vendor == AMD && (device->class_code >> 8 == 0x0380 || base == CLASS_ACCELERATOR);
}

enum jl_status jl_read_gpus(struct jl_probe_in *in, struct jl_err *err)
{
	struct jl_probe_machine *machine = in->machine;
	const struct jl_nvml_snapshot *nvml = jl_source_nvml(in->source, in->options->load);

	machine->nvml = nvml;
	machine->gpus = jl_arena_array(in->arena, JL_PROBE_GPUS_MAX, sizeof(*machine->gpus));
	JL_TRY(jl_got(machine->gpus, err));
	for (size_t i = 0; i < nvml->n_gpus; i++)
		machine->gpus[machine->n_gpus++] = (struct jl_probe_gpu){
			.nvml = &nvml->gpus[i],
			.pci = jl_pci_at(machine, nvml->gpus[i].bus),
			.name = nvml->gpus[i].name[0] ? nvml->gpus[i].name : "?",
		};
	for (size_t i = 0; i < machine->n_pci; i++) {
		bool known = false;

		for (size_t g = 0; g < machine->n_gpus; g++)
			known = known || machine->gpus[g].pci == (int)i;
		if (!is_gpu(&machine->pci[i]) || known)
			continue;
		if (nvml->n_gpus > 0 && machine->pci[i].vendor == (jl_rocm_smi_said(nvml) ? AMD : NVIDIA))
			machine->n_hidden_gpus++;
		else if (machine->n_gpus < JL_PROBE_GPUS_MAX)
			machine->gpus[machine->n_gpus++] =
				(struct jl_probe_gpu){ .pci = (int)i, .name = bus_name(in->arena, &machine->pci[i]) };
	}
	for (size_t i = 0; i < machine->n_gpus; i++) {
		struct jl_probe_gpu *gpu = &machine->gpus[i];

		place_gpu(machine, gpu);
		gpu->shares = gpu->pci >= 0 ? machine->pci[gpu->pci].parent : -1;
		while (gpu->shares >= 0 && gpus_under(machine, gpu->shares) < 2)
			gpu->shares = machine->pci[gpu->shares].parent;
	}
	return JL_OK;
}

/* Number of bridges between a device and a bridge above it. */
static int height(const struct jl_probe_machine *machine, int device, int bridge)
{
	int n = 0;

	for (int at = machine->pci[device].parent; at >= 0 && at != bridge; at = machine->pci[at].parent)
		n++;
	return n;
}

enum jl_probe_path jl_probe_path(const struct jl_probe_machine *machine, size_t gpu_a, size_t gpu_b)
{
	const struct jl_probe_gpu *a = &machine->gpus[gpu_a], *b = &machine->gpus[gpu_b];

	if (a->pci < 0 || b->pci < 0)
		return JL_PATH_SYS;
	int common = machine->pci[a->pci].parent;
	while (common >= 0 && !is_above(machine, common, b->pci))
		common = machine->pci[common].parent;
	if (common >= 0) /* one switch: an upstream port, and a downstream port per side */
		return height(machine, a->pci, common) <= 1 && height(machine, b->pci, common) <= 1 ? JL_PATH_PIX
												    : JL_PATH_PXB;
	if (machine->pci[a->pci].root && machine->pci[b->pci].root &&
	    strcmp(machine->pci[a->pci].root, machine->pci[b->pci].root) == 0)
		return JL_PATH_PHB;
	return a->numa == b->numa ? JL_PATH_NODE : JL_PATH_SYS;
}

int jl_probe_nvlinks(const struct jl_probe_machine *machine, size_t gpu_a, size_t gpu_b)
{
	const struct jl_nvml_gpu *a = machine->gpus[gpu_a].nvml, *b = machine->gpus[gpu_b].nvml;
	int n = 0;

	for (int i = 0; a && b && b->bus[0] && i < a->n_links; i++)
		n += a->links[i].end == JL_NVLINK_GPU && strcmp(a->links[i].remote, b->bus) == 0;
	return n;
}

bool jl_probe_nvswitched(const struct jl_probe_machine *machine, size_t gpu)
{
	const struct jl_nvml_gpu *nvml = machine->gpus[gpu].nvml;

	for (int i = 0; nvml && i < nvml->n_links; i++)
		if (nvml->links[i].end == JL_NVLINK_SWITCH)
			return true;
	return false;
}
