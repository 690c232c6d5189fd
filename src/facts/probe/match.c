/* Maps a probed machine to catalog records: accelerators, their interconnect, the network, the system. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "catalog/find.h"
#include "probe/read.h"

#define GIB 1073741824.0

static bool same_size(const struct jl_gpu *gpu, double mem_B)
{
	return isnan(mem_B) || !jl_fact_known(&gpu->mem_B) || fabs(gpu->mem_B.value / mem_B - 1) < 0.12;
}

/* Finds a card by the driver's name and its memory: an "A100" may be either of two cards, and some names omit the size. */
static const struct jl_gpu *find_gpu(const struct jl_catalog *cat, const char *name, double mem_B)
{
	static const char *const tails[] = { "", " Edition", " Generation", " AC", " Workstation Edition" };
	const struct jl_gpu *gpu, *fits[16];

	for (size_t i = 0; i < JL_LEN(tails); i++) {
		size_t len = strlen(name), tail = strlen(tails[i]);
		char text[160];

		if (len <= tail || strcasecmp(name + len - tail, tails[i]) != 0)
			continue;
		if (!isnan(mem_B)) {
			snprintf(text, sizeof(text), "%.*s %.0fGB", (int)(len - tail), name, mem_B / GIB);
			if (jl_find_gpu(&gpu, cat, text, NULL) == JL_OK && same_size(gpu, mem_B))
				return gpu;
		}
		snprintf(text, sizeof(text), "%.*s", (int)(len - tail), name);
		if (jl_find_gpu(&gpu, cat, text, NULL) == JL_OK && same_size(gpu, mem_B))
			return gpu;
		size_t n = jl_find_gpus(fits, JL_LEN(fits), cat, text);
		gpu = NULL;
		for (size_t k = 0; k < n && k < JL_LEN(fits); k++)
			if (same_size(fits[k], mem_B))
				gpu = gpu ? NULL : fits[k];
		if (gpu)
			return gpu;
	}
	return NULL;
}

const struct jl_link_info *jl_probe_join(const struct jl_catalog *cat, const char *topology, const char *wire,
					 const char *beyond)
{
	const struct jl_link_info *found = NULL;

	for (size_t i = 0; wire && i < cat->n_links; i++) {
		const struct jl_link_info *link = &cat->links[i];

		if (link->role != JL_ROLE_JOIN || !link->topology || strcmp(link->topology, topology) != 0 ||
		    !link->wire || strcmp(link->wire, wire) != 0)
			continue;
		if (!found || (beyond && link->fallback && strcmp(link->fallback, beyond) == 0))
			found = link;
	}
	return found;
}

/* 1: all pairs have peer-to-peer reads; 0: not all; -1: unknown. */
static int all_p2p(const struct jl_probe_machine *machine)
{
	const unsigned char *cells = machine->nvml->p2p[JL_P2P_READ];
	size_t n = machine->nvml->n_gpus;

	if (!cells || n < 2)
		return -1;
	for (size_t i = 0; i < n * n; i++)
		if (cells[i] == JL_P2P_U)
			return -1;
	for (size_t i = 0; i < n * n; i++)
		if (cells[i] != JL_P2P_OK)
			return 0;
	return 1;
}

/* Interconnect by the slowest PCIe link: its current rate if read under load, else its maximum. */
static const char *pcie_join(const struct jl_probe_in *in)
{
	static const char *const names[][3] = { { "pcie3-x4", "pcie3-x8", "pcie3" },
						{ "pcie4-x4", "pcie4-x8", "pcie4" },
						{ "pcie5-x4", "pcie5-x8", "pcie5" } };
	const struct jl_probe_machine *machine = in->machine;
	struct jl_pci_link least = { -1, -1 };
	int p2p = all_p2p(machine), row, column;
	char id[32];

	for (size_t i = 0; i < machine->n_gpus; i++) {
		struct jl_pci_link link = jl_probe_link(&machine->gpus[i]);
		double rate = jl_probe_pcie_Bps(link);

		if (!isnan(rate) && !(jl_probe_pcie_Bps(least) <= rate))
			least = link;
	}
	if (least.gen < 1)
		return NULL;
	while (least.gen < 3 && least.width > 4) { /* one generation lower at twice the lanes has the same rate */
		least.gen++;
		least.width /= 2;
	}
	if (p2p < 0)
		p2p = machine->gpus[0].listed && machine->gpus[0].listed->p2p == JL_P2P_YES;
	row = least.gen < 3 ? 0 : least.gen > 5 ? 2 : least.gen - 3;
	column = least.width >= 16 ? 2 : least.width >= 8 ? 1 : 0;
	snprintf(id, sizeof(id), "%s%s", names[row][column], p2p ? column < 2 ? "-p2p" : "" : "-no-p2p");
	return jl_link_by_id(in->cat, id) ? jl_link_by_id(in->cat, id)->id : NULL;
}

static const char *nvlink_join(const struct jl_probe_in *in, const char *pcie)
{
	const struct jl_probe_machine *machine = in->machine;
	const char *wire = machine->gpus[0].listed ? machine->gpus[0].listed->link : NULL;
	const struct jl_link_info *link = NULL;
	bool switched = true, paired = true, meshed = true;

	for (size_t a = 0; a < machine->n_gpus; a++) {
		int peers = 0;

		for (size_t b = 0; b < machine->n_gpus; b++)
			peers += a != b && jl_probe_nvlinks(machine, a, b) > 0;
		switched = switched && jl_probe_nvswitched(machine, a);
		paired = paired && peers == 1;
		meshed = meshed && peers >= 1;
	}
	if (switched)
		link = jl_probe_join(in->cat, "switch", wire, NULL);
	else if (paired)
		link = jl_probe_join(in->cat, "bridge-pair", wire, pcie);
	if (!link && meshed)
		link = jl_probe_join(in->cat, "mesh", wire, pcie);
	return link ? link->id : NULL;
}

/* Network with the kind and rate of one port. */
static const char *find_net(const struct jl_catalog *cat, const char *kind, double Bps)
{
	for (size_t i = 0; i < cat->n_links; i++) {
		const struct jl_link_info *link = &cat->links[i];

		if (link->role == JL_ROLE_NETWORK && link->kind && strcmp(link->kind, kind) == 0 && link->per &&
		    strcmp(link->per, "port") == 0 && jl_fact_known(&link->oneway_Bps) &&
		    fabs(link->oneway_Bps.value / Bps - 1) < 0.05)
			return link->id;
	}
	return NULL;
}

static const struct jl_probe_nic *nic_by_name(const struct jl_probe_machine *machine, const char *name, size_t len)
{
	for (size_t i = 0; i < machine->n_nics; i++)
		if (strncmp(machine->nics[i].name, name, len) == 0 && !machine->nics[i].name[len])
			return &machine->nics[i];
	return NULL;
}

/* Several adapters as one: balanced bonds have the sum of the rates (with many streams), others one adapter's rate. */
static const char *bond_net(const struct jl_probe_in *in, const struct jl_probe_nic *bond, int *ret_n)
{
	const char *at = bond->slaves ? bond->slaves : "";
	double Bps = NAN;
	int n = 0;

	while (*at) {
		size_t len = strcspn(at, " \n");
		const struct jl_probe_nic *slave = nic_by_name(in->machine, at, len);

		if (slave && slave->up && !isnan(slave->Bps)) {
			Bps = slave->Bps;
			n++;
		}
		at += len + strspn(at + len, " \n");
	}
	if (n == 0)
		return NULL;
	*ret_n = bond->bond_mode && strcmp(bond->bond_mode, "active-backup") == 0 ? 1 : n;
	for (size_t i = 0; *ret_n == 2 && i < in->cat->n_links; i++) {
		const struct jl_link_info *link = &in->cat->links[i];

		if (link->role == JL_ROLE_NETWORK && link->kind && strcmp(link->kind, "ethernet") == 0 &&
		    link->n_links.value == n && fabs(link->oneway_Bps.value / (n * Bps) - 1) < 0.05) {
			*ret_n = 1;
			return link->id;
		}
	}
	return find_net(in->cat, "ethernet", Bps);
}

/* Network of a cluster of such hosts: the fastest RDMA devices, else the fastest bond or adapter that is up. */
static void match_net(const struct jl_probe_in *in)
{
	struct jl_probe_machine *machine = in->machine;
	double best_Bps = 0;

	for (size_t i = 0; i < machine->n_rdma; i++) {
		const struct jl_probe_rdma *rdma = &machine->rdma[i];

		if (!rdma->active || isnan(rdma->Bps))
			continue;
		if (rdma->Bps > best_Bps) {
			best_Bps = rdma->Bps;
			machine->n_net = 0;
			machine->net = find_net(
				in->cat, rdma->layer && strcmp(rdma->layer, "Ethernet") == 0 ? "roce" : "infiniband",
				rdma->Bps);
		}
		machine->n_net += rdma->Bps == best_Bps;
	}
	for (size_t i = 0; machine->n_rdma == 0 && i < machine->n_nics; i++) {
		const struct jl_probe_nic *nic = &machine->nics[i];
		int n = 1;

		if (!nic->up || nic->master || isnan(nic->Bps) || nic->Bps <= best_Bps)
			continue;
		const char *net = nic->bond_mode ? bond_net(in, nic, &n) : find_net(in->cat, "ethernet", nic->Bps);
		if (!net)
			continue;
		best_Bps = nic->Bps;
		machine->net = net;
		machine->n_net = n;
	}
}

/* Clouds report their instance type, NVIDIA's machines say DGX, others have a baseboard. */
static void match_system(const struct jl_probe_in *in)
{
	struct jl_probe_machine *machine = in->machine;
	const char *product = machine->product ? machine->product : "";

	for (size_t i = 0; i < in->cat->n_systems; i++) {
		const struct jl_system *system = &in->cat->systems[i];
		const char *colon = strchr(system->id, ':');
		bool same = system->gpu && strcmp(system->gpu, machine->gpus[0].listed->id) == 0 &&
			    system->n_gpu == (int)machine->n_gpus && system->join && machine->join &&
			    strcmp(system->join, machine->join) == 0;

		if (colon && strcmp(colon + 1, product) == 0) {
			machine->listed_system = system;
			return;
		}
		if (!same || colon || !system->kind)
			continue;
		if (strstr(product, "DGX") ? strncmp(system->id, "dgx", 3) == 0
					   : strcmp(system->kind, "baseboard") == 0)
			machine->listed_system = system;
	}
}

static void no_system(struct jl_probe_machine *machine, const char *en)
{
	machine->system = NULL;
	machine->system_why_en = en;
}

static void describe(const struct jl_probe_in *in)
{
	struct jl_probe_machine *machine = in->machine;

	if (machine->n_gpus == 0)
		no_system(machine, JL_N("it has no GPU"));
	else if (machine->mixed)
		no_system(machine, JL_N("its GPUs are of several kinds"));
	else if (!machine->gpus[0].listed)
		no_system(machine, JL_N("its GPU is not in the catalog"));
	else if (machine->n_gpus == 1)
		machine->system = machine->gpus[0].listed->id;
	else if (machine->join)
		machine->system = jl_arena_printf(in->arena, "%zux %s via %s", machine->n_gpus,
						  machine->gpus[0].listed->id, machine->join);
	else
		machine->system = jl_arena_printf(in->arena, "%zux %s", machine->n_gpus, machine->gpus[0].listed->id);
}

enum jl_status jl_match_catalog(struct jl_probe_in *in, struct jl_err *err)
{
	struct jl_probe_machine *machine = in->machine;
	const char *pcie;

	(void)err;
	for (size_t i = 0; i < machine->n_gpus; i++) {
		struct jl_probe_gpu *gpu = &machine->gpus[i];

		if (in->cat && gpu->nvml)
			gpu->listed = find_gpu(in->cat, gpu->name, gpu->nvml->mem_B);
		machine->mixed = machine->mixed || strcmp(gpu->name, machine->gpus[0].name) != 0;
	}
	if (!in->cat) {
		no_system(machine, JL_N("no catalog to compare with"));
		return JL_OK;
	}
	if (machine->cpu.model)
		jl_find_cpu(&machine->listed_cpu, in->cat, machine->cpu.model, NULL);
	match_net(in);
	if (machine->n_gpus > 1 && !machine->mixed) {
		pcie = pcie_join(in);
		machine->join = nvlink_join(in, pcie);
		if (!machine->join)
			machine->join = pcie;
	}
	if (machine->n_gpus > 0 && !machine->mixed && machine->gpus[0].listed)
		match_system(in);
	describe(in);
	return JL_OK;
}
