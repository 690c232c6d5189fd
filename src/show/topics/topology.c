/* Topology of a system: a tree from the network down to groups of equal devices, each link with its rate, the narrowest one marked. */
#include <math.h>
#include <string.h>

#include "document/chart.h"
#include "topics/show.h"

struct joined {
	struct jl_doc *doc;
	const struct jl_sys *sys;
	const struct jl_fabric *f;          /* NULL: only listed facts of its links */
	double root_Bps, join_Bps, net_Bps; /* per device, one way; NAN: no such link */
	double least_Bps;
};

/* Adjacent equal devices share a line: "GPU 0–4: 5 x RTX 3090". */
static void devices_node(const struct joined *j, struct jl_tree_node *node, int first, int n)
{
	const struct jl_gpu *gpu = j->sys->gpu;

	node->name = n == 1 ? jl_doc_format(j->doc, "GPU %d: %s", first, gpu->name)
			    : jl_doc_format(j->doc, "GPU %d–%d: %d × %s", first, first + n - 1, n, gpu->name);
	jl_show_node_num(j->doc, node, jl_num_binary(jl_num_fact(&gpu->mem_B, JL_K_BYTES)));
}

/* Devices that share a bridge or a root complex; all of them without such groups. */
static int group_size(const struct jl_fabric *f, int n)
{
	const int roots = f && f->n_numa > 1 ? f->n_numa : 1,
		  per_root = f && f->n_per_root > 0 ? f->n_per_root : n / roots;

	if (f && f->intra_kind == JL_INTRA_BRIDGE_PAIR)
		return 2;
	return f && (f->intra_kind == JL_INTRA_PCIE_HOST || f->intra_kind == JL_INTRA_PCIE_P2P) && per_root > 0 &&
			       per_root < n
		       ? per_root
		       : n;
}

/* Link width below `node`; with several links of a device, the narrowest. */
static void link_of(const struct joined *j, struct jl_tree_node *node, double device_Bps)
{
	const int n_links = !isnan(j->root_Bps) + !isnan(j->join_Bps) + !isnan(j->net_Bps);

	if (isnan(device_Bps))
		return;
	node->link_Bps = device_Bps;
	if (n_links < 2 || device_Bps > j->least_Bps * (1 + 1e-9))
		return;
	node->narrowest = jl_doc_format(j->doc, JL_("narrowest link: %s a GPU"),
					jl_units_localized(JL_TXT, device_Bps, JL_K_BYTE_RATE, 2));
}

static void group_node(const struct joined *j, struct jl_tree_node *node, int first, int n)
{
	const bool pair = j->f->intra_kind == JL_INTRA_BRIDGE_PAIR;
	struct jl_tree_node *devices = jl_arena_alloc(j->doc->arena, sizeof *devices);

	if (!devices)
		return;
	devices_node(j, devices, first, n);
	node->children = devices;
	node->n_children = 1;
	node->name = pair ? JL_("NVLink bridge") : JL_("PCIe root complex");
	if (pair) {
		jl_show_node_num(j->doc, node, jl_num_about(j->f->pair.rate_Bps, JL_K_BYTE_RATE, NULL));
		node->link_Bps = j->f->pair.rate_Bps;
	} else if (!isnan(j->root_Bps)) {
		jl_show_node_num(j->doc, node, jl_num_about(j->f->root_Bps, JL_K_BYTE_RATE, NULL));
		link_of(j, node, j->root_Bps);
	}
}

/* The tree of one host: devices grouped by their common link. */
static void host_node(const struct joined *j, struct jl_tree_node *host)
{
	const struct jl_sys *sys = j->sys;
	const int n = sys->n_per_node, per = group_size(j->f, n);
	const size_t n_groups = per < n ? (size_t)((n + per - 1) / per) : 1;
	struct jl_tree_node *join = jl_arena_alloc(j->doc->arena, sizeof *join),
			    *groups = jl_arena_array(j->doc->arena, n_groups, sizeof *groups);

	if (!join || !groups)
		return;
	for (size_t i = 0; i < n_groups; i++) {
		const int first = (int)i * per, count = n - first < per ? n - first : per;

		if (n_groups == 1)
			devices_node(j, &groups[i], 0, n);
		else
			group_node(j, &groups[i], first, count);
	}
	join->name = sys->join ? jl_msg(sys->join->name) : "PCIe";
	join->mark = sys->join && sys->join->topology && strcmp(sys->join->topology, "host") == 0 ? JL_MARK_WARN
												  : JL_MARK_NONE;
	join->children = groups;
	join->n_children = n_groups;
	if (sys->join)
		jl_show_node_num(j->doc, join, jl_num_fact(&sys->join_oneway_Bps, JL_K_BYTE_RATE));
	link_of(j, join, j->join_Bps);
	host->children = join;
	host->n_children = 1;
}

static const struct jl_tree_node *tree_of(const struct joined *j)
{
	const struct jl_sys *sys = j->sys;
	struct jl_tree_node *host = jl_arena_alloc(j->doc->arena, sizeof *host),
			    *net = jl_arena_alloc(j->doc->arena, sizeof *net);

	if (!host || !net)
		return NULL;
	if (sys->n_per_node > 1)
		host_node(j, host);
	host->name = sys->n_nodes == 1 ? JL_C("tree", "host")
				       : jl_doc_format(j->doc, JL_("%d hosts, each"), sys->n_nodes);
	if (sys->n_nodes == 1)
		return host;
	net->name = sys->net ? jl_msg(sys->net->name) : JL_("network");
	net->children = host;
	net->n_children = 1;
	jl_show_node_num(j->doc, net, jl_num_fact(&sys->net_oneway_Bps, JL_K_BYTE_RATE));
	link_of(j, net, j->net_Bps);
	return net;
}

void jl_show_topology(struct jl_doc *doc, const char *title, const struct jl_sys *sys, const struct jl_fabric *f)
{
	const bool shared = f && f->intra_kind == JL_INTRA_PCIE_HOST && f->n_shared > 1 && f->root_Bps > 0 &&
			    group_size(f, sys->n_per_node) < sys->n_per_node;
	struct joined j = { .doc = doc,
			    .sys = sys,
			    .f = f,
			    .root_Bps = shared ? f->root_Bps / f->n_shared : NAN,
			    .join_Bps = sys->join ? sys->join_oneway_Bps.value : NAN,
			    .net_Bps = sys->n_nodes > 1 ? sys->net_oneway_Bps.value / sys->n_per_node : NAN };
	struct jl_chart *chart = jl_show_chart(doc, JL_CHART_TREE, title, 0);

	j.least_Bps = fmin(fmin(j.root_Bps, j.join_Bps), j.net_Bps); /* fmin ignores NAN */
	if (!chart || !(chart->tree = tree_of(&j)))
		return;
	chart->x.label = JL_("part");
	chart->tabled = true;
	jl_doc_chart(doc, chart);
}
