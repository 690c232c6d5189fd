/* Findings on the links of GPUs: peer-to-peer, bridges, degraded links. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "catalog/find.h"
#include "check/machine_parts.h"

static const char *const p2p_reasons_en[JL_N_P2P] = {
	[JL_P2P_OK] = JL_N("ok"),
	[JL_P2P_CNS] = JL_N("chipset"),
	[JL_P2P_GNS] = JL_N("GPU"),
	[JL_P2P_TNS] = JL_N("topology"),
	[JL_P2P_DR] = JL_N("disabled by a registry key"),
	[JL_P2P_NS] = JL_N("not supported"),
	[JL_P2P_U] = JL_N("unknown"),
};

static void no_p2p(struct jl_finding_in *in)
{
	const struct jl_probe_machine *machine = in->machine;
	const unsigned char *cells = machine->nvml->p2p[JL_P2P_READ];
	size_t n = machine->nvml->n_gpus, bad = 0;
	bool marked[JL_NVML_GPUS_MAX] = { false };
	enum jl_p2p_state state = JL_P2P_OK;
	char list[JL_GPU_LIST_MAX];
	struct jl_finding *finding;

	for (size_t i = 0; cells && i < n * n; i++)
		if (cells[i] != JL_P2P_OK && cells[i] != JL_P2P_U) {
			state = (enum jl_p2p_state)cells[i];
			marked[i / n] = marked[i % n] = true;
			bad++;
		}
	if (!bad || !(finding = jl_finding_add(in, "no_p2p", JL_FINDING_BAD)))
		return;
	jl_finding_gpus(list, marked, n);
	jl_bitext_print(&finding->what, "%s: no P2P ({%s}, state %s), %zu of %zu pairs", list, p2p_reasons_en[state],
			jl_p2p_names[state], bad / 2, n * (n - 1) / 2);
	jl_bitext_print(&finding->why,
			"every transfer between GPUs crosses host memory, twice, and they share its bandwidth");
	jl_bitext_print(
		&finding->todo,
		"train on few GPUs or exchange less often (accumulation, ZeRO); run inference on each GPU alone");
}

static bool bridgeable(const struct jl_finding_in *in, const struct jl_probe_gpu *gpu)
{
	const struct jl_link_info *link = gpu->listed ? jl_link_by_id(in->cat, gpu->listed->link) : NULL;

	return link && link->kind && strcmp(link->kind, "nvlink-bridge") == 0 && gpu->nvml && gpu->nvml->n_links == 0;
}

/* Cards behind one switch are adjacent: pairs in bus order. */
static size_t bridge_pairs(const struct jl_finding_in *in, char *out, size_t size, size_t *ret_n_gpus)
{
	const struct jl_probe_machine *machine = in->machine;
	bool taken[JL_PROBE_GPUS_MAX] = { false };
	size_t n = 0, len = 0;

	*ret_n_gpus = 0;
	out[0] = '\0';
	for (size_t a = 0; a < machine->n_gpus; a++) {
		*ret_n_gpus += bridgeable(in, &machine->gpus[a]);
		for (size_t b = a + 1; b < machine->n_gpus && !taken[a]; b++) {
			if (taken[b] || !bridgeable(in, &machine->gpus[a]) || !bridgeable(in, &machine->gpus[b]) ||
			    machine->gpus[a].shares < 0 || machine->gpus[a].shares != machine->gpus[b].shares ||
			    jl_probe_path(machine, a, b) != JL_PATH_PIX)
				continue;
			taken[a] = taken[b] = true;
			n++;
			if (len + 24 < size)
				len += (size_t)snprintf(out + len, size - len, "%s%zu+%zu", len ? ", " : "", a, b);
		}
	}
	return n;
}

/* Predicts two GPUs with and without a bridge, relative to one. */
static void bridge_gain(const struct jl_finding_in *in, struct jl_finding *finding)
{
	const struct jl_gpu *gpu = in->machine->gpus[0].listed;
	const struct jl_link_info *bridge = jl_probe_join(in->cat, "bridge-pair", gpu ? gpu->link : NULL,
							  in->machine->join);

	if (!bridge || !in->machine->join || in->machine->mixed)
		return;
	double one = jl_finding_samples_per_s(in, gpu->id);
	double now = jl_finding_samples_per_s(in,
					      jl_arena_printf(in->arena, "2x %s via %s", gpu->id, in->machine->join));
	double then = jl_finding_samples_per_s(in, jl_arena_printf(in->arena, "2x %s via %s", gpu->id, bridge->id));
	if (!(then > now))
		return;
	finding->before = now / one;
	finding->after = then / one;
	finding->gain_gpus = 2;
}

static void bridges(struct jl_finding_in *in)
{
	char pairs[160];
	size_t n_gpus, n = bridge_pairs(in, pairs, sizeof(pairs), &n_gpus);
	struct jl_finding *finding;

	if (n_gpus < 2 || !(finding = jl_finding_add(in, "nvlink_bridge", JL_FINDING_WARN)))
		return;
	bridge_gain(in, finding);
	if (finding->after < 1.05 * finding->before)
		finding->severity = JL_FINDING_NOTE;
	if (n > 1)
		jl_bitext_print(&finding->what, "GPU %s: each pair shares a PCIe switch and can take an NVLink bridge",
				pairs);
	else if (n == 1)
		jl_bitext_print(&finding->what, "GPU %s share a PCIe switch and can take an NVLink bridge", pairs);
	else
		jl_bitext_print(&finding->what,
				"GPUs that stand side by side can take an NVLink bridge; none is there");
	jl_bitext_print(&finding->why,
			"the bridge carries the traffic that goes through PCIe now; it joins two cards only");
	if (!isnan(finding->before))
		jl_bitext_print(&finding->todo,
				"bridges that fit the slot spacing; predicted on 2 GPUs (gpt-305m): %.2fx → %.2fx",
				finding->before, finding->after);
	else
		jl_bitext_print(&finding->todo, "bridges that fit the slot spacing");
}

/* Predicted gain if the slowest link ran at its card's capability. */
static void link_gain(const struct jl_finding_in *in, struct jl_finding *finding)
{
	const struct jl_probe_machine *machine = in->machine;
	const struct jl_gpu *gpu = machine->gpus[0].listed;
	const struct jl_link_info *join = jl_link_by_id(in->cat, machine->join);
	bool is_pcie = join && join->kind && strcmp(join->kind, "pcie") == 0;
	int gen = gpu && gpu->pcie ? gpu->pcie[4] - '0' : 0;

	if (!machine->system || !is_pcie || gen < 3 || gen > 5)
		return;
	double one = jl_finding_samples_per_s(in, gpu->id);
	double now = jl_finding_samples_per_s(in, machine->system);
	double then = jl_finding_samples_per_s(in, jl_arena_printf(in->arena, "%zux %s via pcie%d%s", machine->n_gpus,
								   gpu->id, gen,
								   strstr(join->id, "no-p2p") ? "-no-p2p" : ""));
	if (!(then > now * 1.02))
		return;
	finding->before = now / one;
	finding->after = then / one;
	finding->gain_gpus = (int)machine->n_gpus;
}

enum narrow { NARROW_NO, NARROW_SLOT, NARROW_TRAINED, NARROW_IDLE };

/* Link width does not drop at idle, link speed does: a low speed counts only under load. */
static enum narrow narrow(const struct jl_probe_gpu *gpu)
{
	double most = jl_probe_pcie_Bps(gpu->most), card = jl_probe_pcie_Bps(gpu->card);

	if (gpu->now.width > 0 && gpu->now.width < gpu->most.width)
		return NARROW_TRAINED;
	if (gpu->now.gen > 0 && gpu->now.gen < gpu->most.gen)
		return gpu->under_load ? NARROW_TRAINED : NARROW_IDLE;
	return most < card * 0.99 ? NARROW_SLOT : NARROW_NO;
}

static void link_text(char out[64], const struct jl_probe_gpu *gpu)
{
	struct jl_pci_link now = jl_probe_link(gpu);

	snprintf(out, 64, "gen%d x%d of gen%d x%d", now.gen, now.width, gpu->card.gen, gpu->card.width);
}

static void slow_links(struct jl_finding_in *in)
{
	const struct jl_probe_machine *machine = in->machine;
	bool done[JL_PROBE_GPUS_MAX] = { false };

	for (size_t a = 0; a < machine->n_gpus; a++) {
		enum narrow how = narrow(&machine->gpus[a]);
		bool marked[JL_PROBE_GPUS_MAX] = { false };
		char text[64], other[64], list[JL_GPU_LIST_MAX];
		struct jl_pci_link now = jl_probe_link(&machine->gpus[a]), card = machine->gpus[a].card;

		if (done[a] || (how != NARROW_SLOT && how != NARROW_TRAINED))
			continue;
		link_text(text, &machine->gpus[a]);
		for (size_t b = a; b < machine->n_gpus; b++) {
			link_text(other, &machine->gpus[b]);
			marked[b] = narrow(&machine->gpus[b]) == how && strcmp(text, other) == 0;
			done[b] = done[b] || marked[b];
		}
		jl_finding_gpus(list, marked, machine->n_gpus);
		struct jl_finding *finding = jl_finding_add(in, "slow_link",
							    how == NARROW_TRAINED ? JL_FINDING_BAD : JL_FINDING_WARN);
		if (!finding)
			return;
		jl_bitext_print(&finding->what, "%s: link runs at gen%d x%d of gen%d x%d", list, now.gen, now.width,
				card.gen, card.width);
		link_gain(in, finding);
		if (how == NARROW_SLOT)
			jl_bitext_print(&finding->why, "the slot or riser above it has no more than that");
		else
			jl_bitext_print(&finding->why,
					"card and slot can do gen%d x%d; the link was trained below that",
					machine->gpus[a].most.gen, machine->gpus[a].most.width);
		jl_bitext_print(&finding->todo,
				how == NARROW_SLOT
					? JL_N("move it to a wider slot, or look at bifurcation in the BIOS")
					: JL_N("reseat card and riser, look at the slot's setting in the BIOS"));
		if (!isnan(finding->before)) {
			struct jl_bitext more;

			jl_bitext_print(&more, "; predicted on %d GPUs with full links: %.2fx → %.2fx",
					finding->gain_gpus, finding->before, finding->after);
			jl_finding_join(&finding->todo, &more);
		}
	}
}

/* A switch link that is down is easy to miss: everything works, only slower. */
static void missing_nvlinks(struct jl_finding_in *in)
{
	const struct jl_probe_machine *machine = in->machine;
	bool marked[JL_PROBE_GPUS_MAX] = { false };
	int most = 0, least = JL_NVML_LINKS_MAX;
	char list[JL_GPU_LIST_MAX];
	struct jl_finding *finding;

	for (size_t i = 0; i < machine->n_gpus; i++)
		if (machine->gpus[i].nvml && machine->gpus[i].nvml->n_links > most)
			most = machine->gpus[i].nvml->n_links;
	for (size_t i = 0; i < machine->n_gpus; i++) {
		int n = machine->gpus[i].nvml ? machine->gpus[i].nvml->n_links : most;
		const struct jl_link_info *wire = machine->gpus[i].listed
							  ? jl_link_by_id(in->cat, machine->gpus[i].listed->link)
							  : NULL;

		if (wire && jl_fact_known(&wire->n_links) && jl_probe_nvswitched(machine, i) &&
		    wire->n_links.value > most)
			most = (int)wire->n_links.value;
		marked[i] = n > 0 && n < most && jl_probe_nvswitched(machine, i);
		if (marked[i] && n < least)
			least = n;
	}
	if (!(finding = jl_finding_on(in, "nvlink_down", JL_FINDING_BAD, marked, list)))
		return;
	jl_bitext_print(&finding->what, "%s: %d of %d NVLinks are up", list, least, most);
	jl_bitext_print(&finding->why, "collectives run at the pace of the GPU with the fewest links");
	jl_bitext_print(&finding->todo, "look at nvidia-smi nvlink -s -e and the fabric manager's log");
}

/* ACS routes traffic between two ports of a switch through the root, where it may also be translated. */
static bool controlled(const struct jl_probe_machine *machine, const struct jl_probe_gpu *gpu)
{
	enum { REDIRECT = 0x001c };
	bool on = false;

	for (int at = gpu->pci < 0 || machine->n_gpus < 2 ? -1 : machine->pci[gpu->pci].parent; at >= 0;
	     at = machine->pci[at].parent) {
		unsigned control = 0;

		if (machine->pci[at].acs && sscanf(machine->pci[at].acs, "0x%x", &control) == 1)
			on = on || (control & REDIRECT);
	}
	return on;
}

static bool translated(const struct jl_probe_machine *machine, const struct jl_probe_gpu *gpu)
{
	const char *type = gpu->pci < 0 ? NULL : machine->pci[gpu->pci].iommu_type;

	return type && strcmp(type, "identity") != 0;
}

static bool idle(const struct jl_probe_machine *machine, const struct jl_probe_gpu *gpu)
{
	(void)machine;
	return narrow(gpu) == NARROW_IDLE;
}

static const struct jl_gpu_look looks[] = {
	{ "acs", JL_FINDING_WARN, controlled, JL_N("%s: PCIe access control (ACS) is on above them"),
	  JL_N("peer traffic goes up to the processor instead of straight through the switch"),
	  JL_N("switch ACS off in the BIOS, or with setpci on those bridges, unless VMs need it") },
	{ "iommu", JL_FINDING_WARN, translated, JL_N("%s: the IOMMU translates their memory accesses"),
	  JL_N("each transfer needs an address translation; P2P is slower and fails on some boards"),
	  JL_N("boot with iommu=pt, or switch it off in the BIOS where no VM needs it") },
	{ "idle_link", JL_FINDING_NOTE, idle, JL_N("%s: links were read at idle"),
	  JL_N("idle links slow down to save power: their speed cannot be judged"),
	  JL_N("run jeoul probe while something uses the GPUs, or as a user who may use CUDA") },
};

void jl_findings_links(struct jl_finding_in *in)
{
	no_p2p(in);
	bridges(in);
	slow_links(in);
	missing_nvlinks(in);
	jl_finding_look(in, looks, JL_LEN(looks));
}
