/* The tree of a machine: NUMA nodes, PCIe switches with branches, GPUs and network adapters. Bridges without branches are omitted. */
#include <math.h>
#include <string.h>

#include "topics/probe.h"

#define ITEMS_MAX 512
#define DEPTH_MAX 12

struct tree {
	struct jl_doc *doc;
	const struct jl_probe_machine *machine;
	bool *leads; /* per PCI function: drawn, or above a drawn one */
};

/* Index of the device at a PCI function; -1: none. */
#define AT(TREE, LIST, PCI)                                                                                            \
	place_of((TREE)->machine->LIST, (TREE)->machine->n_##LIST, sizeof *(TREE)->machine->LIST,                      \
		 (size_t)((const char *)&(TREE)->machine->LIST->pci - (const char *)(TREE)->machine->LIST), PCI)

static int place_of(const void *list, size_t n, size_t size_B, size_t pci_offset, int pci)
{
	for (size_t i = 0; i < n; i++)
		if (*(const int *)(const void *)((const char *)list + i * size_B + pci_offset) == pci)
			return (int)i;
	return -1;
}

static bool is_leaf(const struct tree *t, int pci)
{
	return AT(t, gpus, pci) >= 0 || AT(t, nics, pci) >= 0 || AT(t, rdma, pci) >= 0;
}

/* Functions of one device: "17:00.0" and "17:00.1" */
static bool one_device(const struct tree *t, const int *items, size_t n)
{
	const char *first = t->machine->pci[items[0]].bus;
	const size_t len = strcspn(first, ".");

	for (size_t i = 0; i < n; i++)
		if (!is_leaf(t, items[i]) || strncmp(t->machine->pci[items[i]].bus, first, len) != 0)
			return false;
	return true;
}

static size_t collect(const struct tree *t, int at, int *items, size_t max, int depth);

static size_t collect_children(const struct tree *t, int at, int *items, size_t max, int depth)
{
	size_t n = 0;

	for (size_t i = 0; i < t->machine->n_pci && n < max; i++)
		if (t->machine->pci[i].parent == at && t->leads[i])
			n += collect(t, (int)i, items + n, max - n, depth + 1);
	return n;
}

/* Collects the drawn nodes of a PCI function: itself, or the functions below a bridge without branches. */
static size_t collect(const struct tree *t, int at, int *items, size_t max, int depth)
{
	size_t n;

	if (max == 0)
		return 0;
	if (!is_leaf(t, at) && depth < 32) {
		n = collect_children(t, at, items, max, depth);
		if (n == 1 || (n > 1 && one_device(t, items, n)))
			return n;
	}
	items[0] = at;
	return 1;
}

/* Most machines have one PCI domain: shown only if there are several. */
static const char *short_bus(const char *bus)
{
	return strncmp(bus, "0000:", 5) == 0 ? bus + 5 : bus;
}

const char *jl_show_bits(struct jl_doc *doc, double Bps)
{
	return isnan(Bps) ? JL_("speed unknown") : jl_doc_format(doc, "%.4g Gb/s", Bps * 8 / 1e9);
}

/* "gen4 x16", "gen3 x8 of gen4 x16"; "?": unknown. */
static const char *pcie(struct jl_doc *doc, const struct jl_probe_gpu *gpu)
{
	const struct jl_pci_link now = jl_probe_link(gpu), most = gpu->card.gen > 0 ? gpu->card : gpu->most;
	const bool idle = !gpu->under_load && gpu->now.gen > 0 && gpu->now.gen < now.gen;

	if (now.gen < 0)
		return "?";
	if (now.gen == most.gen && now.width == most.width)
		return jl_doc_format(doc, "gen%d x%d%s", now.gen, now.width, idle ? JL_(" (idle)") : "");
	return jl_doc_format(doc, JL_("gen%d x%d of gen%d x%d"), now.gen, now.width, most.gen, most.width);
}

/* A card name without the vendor. */
static const char *card_name(const char *name)
{
	static const char *const brands[] = { "NVIDIA ", "GeForce " };

	for (size_t i = 0; i < JL_LEN(brands); i++)
		name += strncmp(name, brands[i], strlen(brands[i])) == 0 ? strlen(brands[i]) : 0;
	return name;
}

static void gpu_node(const struct tree *t, struct jl_tree_node *node, size_t index)
{
	const struct jl_probe_gpu *gpu = &t->machine->gpus[index];
	const char *bus = gpu->nvml ? gpu->nvml->bus : gpu->pci >= 0 ? t->machine->pci[gpu->pci].bus : "?";

	node->name = jl_doc_format(t->doc, "GPU%zu  %s", index, card_name(gpu->name));
	if (gpu->nvml && !isnan(gpu->nvml->mem_B))
		jl_show_node_num(
			t->doc, node,
			jl_num_written(jl_num_plain(gpu->nvml->mem_B, JL_K_BYTES, NULL, JL_MEASURED, "jeoul probe"),
				       jl_doc_format(t->doc, "%.3g GiB", gpu->nvml->mem_B / 1073741824.0)));
	node->place = jl_doc_format(t->doc, "%s  %s", short_bus(bus), pcie(t->doc, gpu));
}

static void adapter_node(const struct tree *t, struct jl_tree_node *node, int pci)
{
	const int nic = AT(t, nics, pci), rdma = AT(t, rdma, pci);
	const struct jl_probe_nic *n = nic >= 0 ? &t->machine->nics[nic] : NULL;
	const struct jl_probe_rdma *r = rdma >= 0 ? &t->machine->rdma[rdma] : NULL;
	const char *driver = n ? n->driver : t->machine->pci[pci].driver;

	if (r)
		node->name = jl_doc_format(t->doc, "%s%s%s  %s %s", r->name, n ? " " : "", n ? n->name : "",
					   jl_show_bits(t->doc, r->Bps), r->layer ? r->layer : "RDMA");
	else
		node->name = !n ? ""
				: jl_doc_format(t->doc, "%s  %s%s%s", n->name,
						n->up || !isnan(n->Bps) ? jl_show_bits(t->doc, n->Bps) : JL_("down"),
						n->master ? " → " : "", n->master ? n->master : "");
	node->place = jl_doc_format(t->doc, "%s  %s", short_bus(t->machine->pci[pci].bus), driver ? driver : "");
}

static void pci_node(const struct tree *t, struct jl_tree_node *node, int at, int depth);

static void branches(const struct tree *t, struct jl_tree_node *node, const int *items, size_t n, size_t n_more,
		     int depth)
{
	struct jl_tree_node *children = jl_arena_array(t->doc->arena, n + n_more + 1, sizeof *children);

	for (size_t i = 0; children && i < n; i++)
		pci_node(t, &children[i], items[i], depth);
	node->children = children;
	node->n_children = children ? n + n_more : 0;
}

static void pci_node(const struct tree *t, struct jl_tree_node *node, int at, int depth)
{
	int items[ITEMS_MAX];

	if (AT(t, gpus, at) >= 0) {
		gpu_node(t, node, (size_t)AT(t, gpus, at));
	} else if (is_leaf(t, at) || depth > DEPTH_MAX) {
		adapter_node(t, node, at);
	} else {
		node->name = jl_doc_format(t->doc, JL_("PCIe switch %s"), short_bus(t->machine->pci[at].bus));
		branches(t, node, items, collect_children(t, at, items, ITEMS_MAX, depth), 0, depth + 1);
	}
}

/* Devices of one NUMA node; `numa` NULL: of unknown node, as often in containers. False: none. */
static bool numa_node(const struct tree *t, struct jl_tree_node *node, const struct jl_probe_node *numa)
{
	const struct jl_probe_machine *m = t->machine;
	const bool only = m->n_nodes <= 1 && (numa || m->n_nodes == 0);
	int items[ITEMS_MAX];
	size_t n = 0, n_lost = 0;

	for (size_t i = 0; i < m->n_pci; i++)
		if (m->pci[i].parent < 0 && t->leads[i] && (m->pci[i].numa == (numa ? numa->id : -1) || only))
			n += collect(t, (int)i, items + n, ITEMS_MAX - n, 0);
	for (size_t i = 0; !numa && i < m->n_gpus; i++)
		n_lost += m->gpus[i].pci < 0;
	node->name = numa ? jl_doc_format(t->doc, JL_("NUMA %d  %d threads · %s"), numa->id, numa->n_threads,
					  jl_value_text(JL_TXT, numa->mem_B, JL_K_BYTES, true))
			  : JL_("NUMA unknown");
	branches(t, node, items, n, n_lost, 0);
	for (size_t i = 0, k = n; n_lost && node->children && i < m->n_gpus; i++)
		if (m->gpus[i].pci < 0)
			gpu_node(t, (struct jl_tree_node *)&node->children[k++], i);
	return numa || n + n_lost;
}

const struct jl_tree_node *jl_show_machine_tree(struct jl_doc *doc, const struct jl_probe_machine *m)
{
	struct tree t = { .doc = doc,
			  .machine = m,
			  .leads = jl_arena_array(doc->arena, m->n_pci + 1, sizeof *t.leads) };
	struct jl_tree_node *root = jl_arena_alloc(doc->arena, sizeof *root),
			    *nodes = jl_arena_array(doc->arena, m->n_nodes + 1, sizeof *nodes);
	bool homeless = m->n_nodes == 0;

	if (!t.leads || !root || !nodes) {
		doc->failed = JL_E_NOMEM;
		return NULL;
	}
	for (size_t i = 0; i < m->n_pci; i++)
		for (int at = is_leaf(&t, (int)i) ? (int)i : -1; at >= 0; at = m->pci[at].parent)
			t.leads[at] = true;
	for (size_t i = 0; i < m->n_gpus; i++)
		homeless |= m->gpus[i].pci < 0;
	for (size_t i = 0; m->n_nodes > 1 && i < m->n_pci; i++)
		homeless |= m->pci[i].parent < 0 && t.leads[i] && m->pci[i].numa < 0;
	root->children = nodes;
	for (; root->n_children < m->n_nodes; root->n_children++)
		numa_node(&t, &nodes[root->n_children], &m->nodes[root->n_children]);
	root->n_children += homeless && numa_node(&t, &nodes[root->n_children], NULL);
	return root;
}
