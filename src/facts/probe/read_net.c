/* Reads networks, RDMA devices, disks. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/read.h"

#define NET_DIR    "/sys/class/net"
#define RDMA_DIR   "/sys/class/infiniband"
#define DISK_DIR   "/sys/block"
#define NAME_MAX_B 64

static int numa_of(struct jl_probe_in *in, const char *dir, const char *name)
{
	return (int)jl_source_whole(in->source, -1, "%s/%s/device/numa_node", dir, name);
}

static int pci_of(struct jl_probe_in *in, const char *dir, const char *name)
{
	return jl_pci_at(in->machine, jl_text_base(jl_source_link(in->source, "%s/%s/device", dir, name)));
}

/* Last PCI function in a path; -1: none. */
static int pci_in_path(const struct jl_probe_machine *machine, const char *path)
{
	char part[NAME_MAX_B];
	int found = -1;

	while (path && *path) {
		size_t len = strcspn(path, "/");

		snprintf(part, sizeof(part), "%.*s", (int)(len < sizeof(part) ? len : 0), path);
		int at = jl_pci_at(machine, part);
		if (at >= 0)
			found = at;
		path += len + (path[len] == '/');
	}
	return found;
}

/* "802.3ad 4" -> "802.3ad" */
static const char *first_word(struct jl_arena *arena, const char *text)
{
	return text ? jl_arena_strndup(arena, text, strcspn(text, " \n")) : NULL;
}

static void read_nic(struct jl_probe_in *in, const char *name)
{
	enum { TYPE_ETHERNET = 1, TYPE_INFINIBAND = 32 };
	struct jl_probe_machine *machine = in->machine;
	struct jl_probe_nic *nic = &machine->nics[machine->n_nics];
	long long type = jl_source_whole(in->source, 0, NET_DIR "/%s/type", name);
	const char *mode = jl_source_read(in->source, NET_DIR "/%s/bonding/mode", name);
	const char *device = jl_source_link(in->source, NET_DIR "/%s/device", name);

	/* skip virtual interfaces (bridges, tunnels, loopback), but keep bonds, which carry the traffic */
	if ((type != TYPE_ETHERNET && type != TYPE_INFINIBAND) || (!device && !mode))
		return;
	long long Mbps = jl_source_whole(in->source, -1, NET_DIR "/%s/speed", name);
	const char *state = jl_source_read(in->source, NET_DIR "/%s/operstate", name);
	*nic = (struct jl_probe_nic){
		.name = jl_arena_strdup(in->arena, name),
		.driver = jl_text_base(jl_source_link(in->source, NET_DIR "/%s/device/driver", name)),
		.Bps = Mbps > 0 && Mbps < 100000000 ? (double)Mbps * 1e6 / 8 : NAN,
		.up = state && strcmp(state, "up") == 0,
		.numa = mode ? -1 : numa_of(in, NET_DIR, name),
		.pci = mode ? -1 : pci_of(in, NET_DIR, name),
		.bond_mode = first_word(in->arena, mode),
		.slaves = mode ? jl_source_read(in->source, NET_DIR "/%s/bonding/slaves", name) : NULL,
		.master = jl_text_base(jl_source_link(in->source, NET_DIR "/%s/master", name)),
	};
	/* in a virtual machine an adapter is below its PCI function: .../0000:00:03.0/virtio2/net/eth0 */
	if (!mode && nic->pci < 0)
		nic->pci = pci_in_path(machine, jl_source_link(in->source, NET_DIR "/%s", name));
	if (nic->name)
		machine->n_nics++;
}

/* "400 Gb/sec (4X NDR)" */
static void read_rdma(struct jl_probe_in *in, const char *name)
{
	struct jl_probe_machine *machine = in->machine;
	struct jl_probe_rdma *rdma = &machine->rdma[machine->n_rdma];
	const char *rate = jl_source_read(in->source, RDMA_DIR "/%s/ports/1/rate", name);
	const char *state = jl_source_read(in->source, RDMA_DIR "/%s/ports/1/state", name);
	double Gbps = rate ? strtod(rate, NULL) : NAN;

	*rdma = (struct jl_probe_rdma){
		.name = jl_arena_strdup(in->arena, name),
		.layer = jl_source_read(in->source, RDMA_DIR "/%s/ports/1/link_layer", name),
		.rate = rate,
		.Bps = Gbps > 0 && Gbps < 1e6 ? Gbps * 1e9 / 8 : NAN,
		.active = state && strstr(state, "ACTIVE"),
		.numa = numa_of(in, RDMA_DIR, name),
		.pci = pci_of(in, RDMA_DIR, name),
	};
	if (rdma->name)
		machine->n_rdma++;
}

enum jl_status jl_read_net(struct jl_probe_in *in, struct jl_err *err)
{
	struct jl_probe_machine *machine = in->machine;
	const char *names = jl_source_list(in->source, NET_DIR);
	char name[NAME_MAX_B];

	machine->nics = jl_arena_array(in->arena, JL_PROBE_NICS_MAX, sizeof(*machine->nics));
	machine->rdma = jl_arena_array(in->arena, JL_PROBE_NICS_MAX, sizeof(*machine->rdma));
	JL_TRY(jl_got(machine->nics && machine->rdma, err));
	while (names && machine->n_nics < JL_PROBE_NICS_MAX && jl_text_line(&names, name, sizeof(name)))
		read_nic(in, name);
	names = jl_source_list(in->source, RDMA_DIR);
	while (names && machine->n_rdma < JL_PROBE_NICS_MAX && jl_text_line(&names, name, sizeof(name)))
		read_rdma(in, name);
	return JL_OK;
}

enum jl_status jl_read_disks(struct jl_probe_in *in, struct jl_err *err)
{
	static const char *const passed[] = { "loop", "ram", "zram", "dm-", "sr", "fd", "nbd" };
	const double sector_B = 512; /* unit of this file, independent of the disk's sectors */
	struct jl_probe_machine *machine = in->machine;
	const char *names = jl_source_list(in->source, DISK_DIR), *model;
	char name[NAME_MAX_B];

	machine->disks = jl_arena_array(in->arena, JL_PROBE_DISKS_MAX, sizeof(*machine->disks));
	JL_TRY(jl_got(machine->disks, err));
	while (names && machine->n_disks < JL_PROBE_DISKS_MAX && jl_text_line(&names, name, sizeof(name))) {
		struct jl_probe_disk *disk = &machine->disks[machine->n_disks];
		bool skip = false;

		for (size_t i = 0; i < JL_LEN(passed); i++)
			skip = skip || strncmp(name, passed[i], strlen(passed[i])) == 0;
		if (skip)
			continue;
		model = jl_source_read(in->source, DISK_DIR "/%s/device/model", name);
		*disk = (struct jl_probe_disk){
			.name = jl_arena_strdup(in->arena, name),
			.model = model ? jl_arena_strndup(in->arena, model, strcspn(model, "\n")) : NULL,
			.size_B = sector_B * (double)jl_source_whole(in->source, 0, DISK_DIR "/%s/size", name),
			.rotational = (int)jl_text_whole(
				jl_source_read(in->source, DISK_DIR "/%s/queue/rotational", name), -1),
		};
		if (strncmp(name, "vd", 2) == 0)
			disk->rotational = -1; /* virtual disks always report as rotational */
		if (disk->name && disk->size_B > 0)
			machine->n_disks++;
	}
	return JL_OK;
}
