/* A system drawn as a tree with its bandwidths and where each figure comes from. */
#include <string.h>

#include "topics/catalog.h"

#define NODES_MAX 24 /* children of one node: a host has the most */

struct tree {
	struct jl_doc *doc;
	struct jl_footnotes notes;
};

static const char *value(struct tree *t, double x, enum jl_kind kind, bool memory)
{
	return jl_doc_format(t->doc, "%s", jl_value_text(JL_TXT, x, kind, memory));
}

/* Adds a node under `node`; NULL: out of memory. */
static struct jl_tree_node *add(struct tree *t, struct jl_tree_node *node, const char *name, const char *detail)
{
	struct jl_tree_node *list = (struct jl_tree_node *)node->children;

	if (!list)
		node->children = list = jl_arena_array(t->doc->arena, NODES_MAX, sizeof *list);
	if (!list || node->n_children == NODES_MAX) {
		t->doc->failed = JL_E_NOMEM;
		return NULL;
	}
	list[node->n_children] = (struct jl_tree_node){ .name = name, .detail = detail };
	return &list[node->n_children++];
}

static void add_fact(struct tree *t, struct jl_tree_node *node, const char *name, const struct jl_fact *fact,
		     enum jl_kind kind)
{
	struct jl_tree_node *leaf = jl_fact_known(fact) && node ? add(t, node, name, NULL) : NULL;

	if (!leaf)
		return;
	jl_show_node_num(t->doc, leaf, jl_num_written(jl_num_fact(fact, kind), value(t, fact->value, kind, true)));
	leaf->place = jl_show_footnote(t->doc, &t->notes, fact);
}

static void add_link(struct tree *t, struct jl_tree_node *node, const char *name, const struct jl_link_info *link,
		     int n, bool assumed, const struct jl_fact *rate, const char *per)
{
	const char *count = n > 1 ? jl_doc_format(t->doc, "%dx ", n) : "", *is = assumed ? JL_(" (assumed)") : "";
	struct jl_tree_node *leaf = add(t, node, name,
					jl_fact_known(rate)
						? jl_doc_format(t->doc, "%s%s%s, %s %s", count, link->id, is,
								value(t, rate->value, JL_K_BYTE_RATE, false), per)
						: jl_doc_format(t->doc, "%s%s%s", count, link->id, is));

	if (leaf)
		leaf->place = jl_show_footnote(t->doc, &t->notes, rate);
	if (leaf && rate->origin == JL_ESTIMATED && rate->note)
		add(t, leaf, jl_msg(rate->note), NULL);
}

/* The host's parts; a system of one host includes its network, as there are no peers. */
static void host_facts(struct tree *t, struct jl_tree_node *host, const struct jl_system *s, bool alone)
{
	const struct jl_schema *schema = jl_schema_of(JL_R_SYSTEM);
	const bool rate = jl_fact_known(&s->net_Bps);
	struct jl_tree_node *net;

	for (const struct jl_field *f = schema->fields; f < schema->fields + schema->n_fields; f++)
		/* link and network have their own lines */
		if (f->type == JL_F_FACT && strcmp(f->key, "link_bothway") != 0 && strcmp(f->key, "net_rate") != 0)
			add_fact(t, host, jl_fact_label(JL_R_SYSTEM, f), jl_field_at(f, s), f->kind);
	if (s->cpu)
		add(t, host, "CPU", s->cpu);
	if (!alone || (!s->net && !rate))
		return;
	net = add(t, host, JL_("network"),
		  jl_doc_format(
			  t->doc, "%s%s%s%s%s", s->net && s->n_net > 1 ? jl_doc_format(t->doc, "%dx ", s->n_net) : "",
			  s->net ? s->net : "", s->net && rate ? "  " : "",
			  rate ? value(t, s->net_Bps.value, JL_K_BYTE_RATE, false) : "", rate ? JL_(" one way") : ""));
	if (net)
		net->place = jl_show_footnote(t->doc, &t->notes, &s->net_Bps);
}

static void devices(struct tree *t, struct jl_tree_node *host, const struct jl_sys *sys)
{
	const struct jl_gpu *gpu = sys->gpu;
	const struct jl_cpu *cpu = sys->cpu;
	struct jl_tree_node *node;

	if (cpu) {
		node = add(t, host, cpu->name, NULL);
		add_fact(t, node, JL_("cores"), &cpu->n_core, JL_K_NUMBER);
		add_fact(t, node, "FP32", &cpu->fp32_flopps, JL_K_FLOP_RATE);
		add_fact(t, node, JL_C("of memory", "bandwidth"), &cpu->mem_Bps, JL_K_BYTE_RATE);
		add_fact(t, node, JL_("power"), &cpu->tdp_W, JL_K_POWER);
	}
	if (!gpu)
		return;
	node = add(t, host, jl_doc_format(t->doc, "%d x %s", sys->n_per_node, jl_msg(gpu->name)), NULL);
	add_fact(t, node, JL_("memory"), &gpu->mem_B, JL_K_BYTES);
	add_fact(t, node, JL_C("of memory", "bandwidth"), &gpu->mem_Bps, JL_K_BYTE_RATE);
	if (jl_fact_known(&gpu->bf16_dense_flopps))
		add_fact(t, node, "BF16 dense", &gpu->bf16_dense_flopps, JL_K_FLOP_RATE);
	else if (jl_fact_known(&gpu->fp16_fp32acc_dense_flopps))
		add_fact(t, node, "FP16 dense", &gpu->fp16_fp32acc_dense_flopps, JL_K_FLOP_RATE);
	else
		add_fact(t, node, "FP32", &gpu->fp32_flopps, JL_K_FLOP_RATE);
	add_fact(t, node, JL_("power"), &gpu->tdp_W, JL_K_POWER);
	if (sys->join)
		add_link(t, host, JL_("joined via"), sys->join, 1, sys->join_assumed, &sys->join_oneway_Bps,
			 JL_("one way, per GPU"));
}

static void lead(struct tree *t, const struct jl_sys *sys)
{
	const double n = (double)sys->n_nodes * sys->n_per_node;

	JL_LEAD(t->doc, sys->text);
	if (!sys->gpu)
		return;
	jl_doc_lead(t->doc);
	jl_show_piece(t->doc, JL_ORIGIN_NONE, JL_("%.0f GPU{/s}"), n);
	if (jl_fact_known(&sys->gpu->mem_B))
		jl_show_piece(t->doc, JL_LISTED, JL_("%s of GPU memory"),
			      value(t, n * sys->gpu->mem_B.value, JL_K_BYTES, true));
	if (jl_fact_known(&sys->gpu->tdp_W))
		jl_show_piece(t->doc, JL_LISTED, JL_("GPUs up to %s"),
			      value(t, n * sys->gpu->tdp_W.value, JL_K_POWER, false));
}

void jl_show_system(struct jl_doc *doc, const struct jl_catalog *cat, const struct jl_sys *sys)
{
	struct tree t = { .doc = doc };
	struct jl_chart *chart = jl_show_chart(doc, JL_CHART_TREE, NULL, 0);
	struct jl_tree_node *root = jl_arena_alloc(doc->arena, sizeof *root), *host;
	const char *count = sys->n_nodes > 1 ? jl_doc_format(doc, " x %d", sys->n_nodes) : "";

	lead(&t, sys);
	host = root ? add(&t, root,
			  sys->system ? jl_doc_format(doc, "%s%s  %s (%s)", JL_C("tree", "host"), count,
						      sys->system->id, jl_msg(sys->system->kind))
				      : jl_doc_format(doc, "%s%s", JL_C("tree", "host"), count),
			  NULL)
		    : NULL;
	if (!chart || !host)
		return;
	if (sys->system)
		host_facts(&t, host, sys->system, !sys->net);
	devices(&t, host, sys);
	if (sys->net)
		add_link(&t, root, JL_("network"), sys->net, sys->n_net, sys->net_assumed, &sys->net_oneway_Bps,
			 JL_("one way, per host"));
	chart->tree = root;
	jl_doc_chart(doc, chart);
	jl_show_footnotes(doc, cat, &t.notes);
}
