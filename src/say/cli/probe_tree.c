/* The tree of a machine: NUMA nodes, the PCIe switches that branch, GPUs and network adapters. Bridges that only pass
 * on are left out. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "cli/probe_view.h"
#include "cli/view.h"

#define RIGHT_COLUMN 52
#define ITEMS_MAX    512
#define DEPTH_MAX    12

struct tree {
	struct jl_cli *cli;
	const struct jl_probe_machine *machine;
	bool *leads; /* for each PCI function: it, or something below it, is drawn */
};

static int gpu_at(const struct jl_probe_machine *machine, int pci)
{
	for (size_t i = 0; i < machine->n_gpus; i++)
		if (machine->gpus[i].pci == pci)
			return (int)i;
	return -1;
}

static int nic_at(const struct jl_probe_machine *machine, int pci)
{
	for (size_t i = 0; i < machine->n_nics; i++)
		if (machine->nics[i].pci == pci)
			return (int)i;
	return -1;
}

static int rdma_at(const struct jl_probe_machine *machine, int pci)
{
	for (size_t i = 0; i < machine->n_rdma; i++)
		if (machine->rdma[i].pci == pci)
			return (int)i;
	return -1;
}

static bool is_leaf(const struct tree *tree, int pci)
{
	return gpu_at(tree->machine, pci) >= 0 || nic_at(tree->machine, pci) >= 0 || rdma_at(tree->machine, pci) >= 0;
}

/* Functions of one device: "17:00.0" and "17:00.1" */
static bool one_device(const struct tree *tree, const int *items, size_t n)
{
	const char *first = tree->machine->pci[items[0]].bus;
	size_t len = strcspn(first, ".");

	for (size_t i = 0; i < n; i++)
		if (!is_leaf(tree, items[i]) || strncmp(tree->machine->pci[items[i]].bus, first, len) != 0)
			return false;
	return true;
}

static size_t collect(const struct tree *tree, int at, int *items, size_t max, int depth);

static size_t collect_children(const struct tree *tree, int at, int *items, size_t max, int depth)
{
	size_t n = 0;

	for (size_t i = 0; i < tree->machine->n_pci && n < max; i++)
		if (tree->machine->pci[i].parent == at && tree->leads[i])
			n += collect(tree, (int)i, items + n, max - n, depth + 1);
	return n;
}

/* What is drawn for this function: itself, or what is below it where it does not branch. */
static size_t collect(const struct tree *tree, int at, int *items, size_t max, int depth)
{
	size_t n;

	if (max == 0)
		return 0;
	if (!is_leaf(tree, at) && depth < 32) {
		n = collect_children(tree, at, items, max, depth);
		if (n == 1 || (n > 1 && one_device(tree, items, n)))
			return n;
	}
	items[0] = at;
	return 1;
}

/* Left part, then the right part at its column; a left part that is too long is cut. */
static void line(const struct tree *tree, const char *prefix, const char *left, const char *right)
{
	struct jl_buf *out = &tree->cli->out;
	size_t used = jl_utf8_width(prefix), room, width = jl_utf8_width(left);

	room = tree->cli->width - jl_utf8_width(right) - used - (*right ? 2 : 0);
	jl_buf_puts(out, prefix);
	if (width > room) {
		jl_buf_add(out, left, jl_utf8_fit(left, room - 1));
		jl_buf_puts(out, "…");
		width = room;
	} else {
		jl_buf_puts(out, left);
	}
	if (*right) {
		used += width;
		jl_buf_pad(out, ' ', used + 2 <= RIGHT_COLUMN ? RIGHT_COLUMN - used : 2);
		jl_buf_printf(out, "%s%s%s", jl_view_dim(tree->cli), right, jl_view_reset(tree->cli));
	}
	jl_buf_putc(out, '\n');
}

/* Most machines have one PCI domain: it is only shown where there are others. */
static const char *short_bus(const char *bus)
{
	return strncmp(bus, "0000:", 5) == 0 ? bus + 5 : bus;
}

static void draw_gpu(const struct tree *tree, size_t index, const char *prefix)
{
	const struct jl_probe_gpu *gpu = &tree->machine->gpus[index];
	const char *bus = gpu->nvml ? gpu->nvml->bus : gpu->pci >= 0 ? tree->machine->pci[gpu->pci].bus : "?";
	char left[192], right[128], link[48], memory[JL_UNITS_TEXT_MAX] = "";

	if (gpu->nvml && !isnan(gpu->nvml->mem_B))
		snprintf(memory, sizeof(memory), "  %.3g GiB", gpu->nvml->mem_B / 1073741824.0);
	snprintf(left, sizeof(left), "GPU%-2zu %.100s%s", index, jl_view_gpu_name(gpu->name), memory);
	snprintf(right, sizeof(right), "%s  %s", short_bus(bus), jl_view_pcie(link, gpu));
	line(tree, prefix, left, right);
}

static void draw_adapter(const struct tree *tree, int pci, const char *prefix)
{
	const struct jl_probe_machine *machine = tree->machine;
	int nic = nic_at(machine, pci), rdma = rdma_at(machine, pci);
	char left[256] = "", right[128], rate[JL_UNITS_TEXT_MAX];
	const struct jl_probe_nic *n = nic >= 0 ? &machine->nics[nic] : NULL;
	const char *driver = n ? n->driver : machine->pci[pci].driver;

	if (rdma >= 0) {
		const struct jl_probe_rdma *r = &machine->rdma[rdma];

		snprintf(left, sizeof(left), "%s%s%s  %s %s", r->name, n ? " " : "", n ? n->name : "",
			 jl_view_bits(rate, r->Bps), r->layer ? r->layer : "RDMA");
	} else if (n) {
		jl_format(left, sizeof(left), "%s  %s%s%s", n->name,
			  n->up || !isnan(n->Bps) ? jl_view_bits(rate, n->Bps) : JL_("down"), n->master ? " → " : "",
			  n->master ? n->master : "");
	}
	snprintf(right, sizeof(right), "%s  %s", short_bus(machine->pci[pci].bus), driver ? driver : "");
	line(tree, prefix, left, right);
}

static void draw(const struct tree *tree, int at, const char *bar, bool last, int depth)
{
	char prefix[160], below[160], left[96];
	int *items;
	size_t n;
	int gpu = gpu_at(tree->machine, at);

	snprintf(prefix, sizeof(prefix), "%s%s", bar, last ? "└─ " : "├─ ");
	snprintf(below, sizeof(below), "%s%s", bar, last ? "   " : "│  ");
	if (gpu >= 0) {
		draw_gpu(tree, (size_t)gpu, prefix);
		return;
	}
	if (is_leaf(tree, at) || depth > DEPTH_MAX) {
		draw_adapter(tree, at, prefix);
		return;
	}
	jl_format(left, sizeof(left), JL_("PCIe switch %s"), short_bus(tree->machine->pci[at].bus));
	line(tree, prefix, left, "");
	items = jl_arena_array(&tree->cli->arena, ITEMS_MAX, sizeof(*items));
	n = items ? collect_children(tree, at, items, ITEMS_MAX, depth) : 0;
	for (size_t i = 0; i < n; i++)
		draw(tree, items[i], below, i + 1 == n, depth + 1);
}

static void draw_node(const struct tree *tree, const struct jl_probe_node *node, int numa, bool last)
{
	const struct jl_probe_machine *machine = tree->machine;
	int *items = jl_arena_array(&tree->cli->arena, ITEMS_MAX, sizeof(*items));
	char left[160], memory[JL_UNITS_TEXT_MAX];
	size_t n = 0;
	size_t n_lost = 0; /* containers often have GPUs without their place on the bus */
	bool only = machine->n_nodes <= 1 && (node || machine->n_nodes == 0);

	for (size_t i = 0; items && i < machine->n_pci; i++)
		if (machine->pci[i].parent < 0 && tree->leads[i] && (machine->pci[i].numa == numa || only))
			n += collect(tree, (int)i, items + n, ITEMS_MAX - n, 0);
	for (size_t i = 0; !node && i < machine->n_gpus; i++)
		n_lost += machine->gpus[i].pci < 0;
	if (!node && n + n_lost == 0)
		return;
	if (node)
		jl_format(left, sizeof(left), JL_("NUMA %d  %d threads · %s"), node->id, node->n_threads,
			  jl_view_value(memory, node->mem_B, JL_K_BYTES, true));
	else
		jl_format(left, sizeof(left), "%s", JL_("NUMA unknown"));
	line(tree, last ? "└─ " : "├─ ", left, "");
	for (size_t i = 0; i < n; i++)
		draw(tree, items[i], last ? "   " : "│  ", i + 1 == n + n_lost, 0);
	for (size_t i = 0; !node && i < machine->n_gpus; i++)
		if (machine->gpus[i].pci < 0)
			draw_gpu(tree, i, --n_lost ? "   ├─ " : "   └─ ");
}

static bool any_homeless(const struct tree *tree)
{
	for (size_t i = 0; i < tree->machine->n_gpus; i++)
		if (tree->machine->gpus[i].pci < 0)
			return true;
	for (size_t i = 0; tree->machine->n_nodes > 1 && i < tree->machine->n_pci; i++)
		if (tree->machine->pci[i].parent < 0 && tree->leads[i] && tree->machine->pci[i].numa < 0)
			return true;
	return false;
}

void jl_view_machine_tree(struct jl_cli *cli, const struct jl_probe_machine *machine)
{
	struct tree tree = { .cli = cli, .machine = machine };
	bool homeless;
	int *items = jl_arena_array(&cli->arena, ITEMS_MAX, sizeof(*items));

	tree.leads = jl_arena_array(&cli->arena, machine->n_pci + 1, sizeof(*tree.leads));
	if (!tree.leads || !items)
		return;
	for (size_t i = 0; i < machine->n_pci; i++)
		for (int at = is_leaf(&tree, (int)i) ? (int)i : -1; at >= 0; at = machine->pci[at].parent)
			tree.leads[at] = true;
	homeless = any_homeless(&tree) || machine->n_nodes == 0;
	for (size_t i = 0; i < machine->n_nodes; i++)
		draw_node(&tree, &machine->nodes[i], machine->nodes[i].id, i + 1 == machine->n_nodes && !homeless);
	if (homeless)
		draw_node(&tree, NULL, -1, true);
}
