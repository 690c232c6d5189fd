/* All-reduce against the number of nodes, and how a system is joined. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/section.h"

enum jl_mark jl_reduce_verdict(const struct jl_weighed_reduce *r)
{
	if (!r->known || isnan(r->measured_Bps))
		return JL_MARK_UNKNOWN;
	if (r->measured_Bps > r->expected.bound_Bps)
		return JL_MARK_BAD; /* cannot be an algbw of this system */
	return r->measured_Bps >= r->expected.algbw_Bps.lo ? JL_MARK_GOOD : JL_MARK_WARN;
}

static const char *verdict_word(const struct jl_weighed_reduce *r)
{
	if (!r->known || isnan(r->measured_Bps))
		return "—";
	if (r->measured_Bps > r->expected.bound_Bps)
		return JL_("above the bound: not an algbw");
	if (r->measured_Bps > r->expected.algbw_Bps.hi)
		return JL_("better than expected");
	if (r->measured_Bps >= r->expected.algbw_Bps.lo)
		return JL_("normal");
	return JL_("slow");
}

static void reduce_chart(struct jl_section *s)
{
	struct jl_chart *chart = jl_tell_chart(s->doc, JL_CHART_LINE,
					       JL_("All-reduce (algbw) against nodes, with the normal band"), 3);
	struct jl_chart_point *expected, *measured, *bound;

	if (!chart)
		return;
	chart->x = (struct jl_axis){
		.label = JL_("nodes"), .of = JL_C("unit", "nodes"), .log = true, .lo = NAN, .hi = NAN
	};
	chart->y = (struct jl_axis){ .label = "algbw", .kind = JL_K_BYTE_RATE, .lo = NAN, .hi = NAN };
	expected = jl_tell_series(s->doc, chart, 0, JL_("expected"), JL_ESTIMATED, s->w->n_reduce);
	measured = jl_tell_series(s->doc, chart, 1, JL_("measured"), JL_MEASURED, s->w->n_reduce);
	bound = jl_tell_series(s->doc, chart, 2, JL_("bound"), JL_LISTED, s->w->n_reduce);
	if (!expected || !measured || !bound)
		return;
	((struct jl_chart_series *)&chart->series[2])->dashed = true;
	for (size_t i = 0; i < s->w->n_reduce; i++) {
		const struct jl_weighed_reduce *r = &s->w->reduce[i];

		expected[i].x = measured[i].x = bound[i].x = r->n_nodes;
		if (!r->known)
			continue;
		expected[i].y = r->expected.algbw_Bps.value;
		expected[i].lo = r->expected.algbw_Bps.lo;
		expected[i].hi = r->expected.algbw_Bps.hi;
		measured[i].y = r->measured_Bps;
		jl_point_measured(&measured[i], r->measured);
		bound[i].y = r->expected.bound_Bps;
	}
	jl_doc_chart(s->doc, chart);
}

static void reduce_row(struct jl_section *s, const struct jl_weighed_reduce *r)
{
	struct jl_num expected = jl_num_estimate(r->expected.algbw_Bps, JL_K_BYTE_RATE, NULL),
		      seen = jl_num_measured(r->measured_Bps, JL_K_BYTE_RATE, NULL, r->measured), bus = seen;

	expected.n_digits = 3;
	expected.show_interval = true;
	bus.value = r->measured_Bps * r->expected.busbw_factor;
	jl_tell_cell(s->doc, jl_num_given(r->n_nodes, JL_K_NUMBER, NULL));
	if (!r->known) {
		jl_doc_cell(s->doc, JL_MARK_UNKNOWN);
		jl_doc_said(s->doc, r->why.text, JL_ORIGIN_NONE, NULL);
	} else {
		jl_tell_cell(s->doc, seen);
		jl_tell_cell(s->doc, expected);
		jl_tell_cell(s->doc, jl_num_plain(r->expected.bound_Bps, JL_K_BYTE_RATE, NULL, JL_LISTED, NULL));
		jl_tell_cell(s->doc, bus);
		jl_doc_cell(s->doc, isnan(r->measured_Bps) ? JL_MARK_NONE : jl_reduce_verdict(r));
		jl_doc_text(s->doc, verdict_word(r));
	}
	jl_doc_end_row(s->doc, !isnan(r->measured_Bps));
}

void jl_section_allreduce(struct jl_section *s)
{
	static const struct jl_tell_head heads[] = { { JL_N("Nodes"), true },    { JL_N("Measured"), true },
						     { JL_N("Expected"), true }, { JL_N("Bound"), true },
						     { JL_N("busbw"), true },    { JL_N("Verdict"), false } };
	struct jl_num size;

	if (!s->w->n_reduce)
		return;
	size = jl_num_given(s->w->scenario->allreduce.size_B, JL_K_BYTES, NULL);
	jl_section_open(s, "allreduce", "All-reduce against nodes");
	jl_doc_para(s->doc);
	jl_doc_num(s->doc, &size);
	JL_SAY(s, " on ");
	jl_doc_name(s->doc, s->w->scenario->allreduce.on);
	JL_SAY(s,
	       ". algbw is size over time; busbw is algbw times (twice the ranks less two, over the ranks), and shows "
	       "how "
	       "busy the links are.");
	reduce_chart(s);
	jl_tell_table(s->doc, NULL, heads, 6);
	for (size_t i = 0; i < s->w->n_reduce; i++)
		reduce_row(s, &s->w->reduce[i]);
	for (size_t i = 0; i < s->w->n_reduce; i++)
		if (s->w->reduce[i].known && !isnan(s->w->reduce[i].measured_Bps)) {
			const struct jl_num nodes = jl_num_given(s->w->reduce[i].n_nodes, JL_K_NUMBER, NULL);

			jl_doc_item(s->doc);
			JL_SAY(s, "Bound at ");
			jl_doc_num(s->doc, &nodes);
			JL_SAY(s, " nodes: ");
			jl_doc_said(s->doc, s->w->reduce[i].expected.limit_text, JL_LISTED, NULL);
		}
}

/* --- topology */

#define DEVICES_SHOWN 16 /* in a matrix */
#define TREE_SHOWN    4  /* alike as they are, the others look the same */
#define HOSTS_SHOWN   2

/* A fact under a node's name, with its origin. */
static void node_fact(struct jl_section *s, struct jl_tree_node *node, const struct jl_fact *fact, enum jl_kind kind)
{
	struct jl_num *num = jl_arena_alloc(s->arena, sizeof *num);
	char text[JL_UNITS_TEXT_MAX];

	if (!num || !jl_fact_known(fact))
		return;
	*num = jl_num_fact(fact, kind);
	num->binary = kind == JL_K_BYTES;
	node->num = num;
	node->detail = jl_arena_strdup(s->arena, kind == JL_K_BYTES ? jl_memory_text(text, fact->value)
								    : jl_units_text(text, fact->value, kind, 3));
}

/* "… 16 in all" under the last one that is drawn. */
static void node_more(struct jl_section *s, struct jl_tree_node *node, int n_all)
{
	struct jl_num *num = jl_arena_alloc(s->arena, sizeof *num);

	if (!num)
		return;
	*num = jl_num_given(n_all, JL_K_NUMBER, NULL);
	node->num = num;
	node->detail = jl_arena_printf(s->arena, JL_("… %d in all"), n_all);
}

/* One host: its devices behind what joins them. */
static bool host_node(struct jl_section *s, const struct jl_sys *sys, struct jl_tree_node *ret_host)
{
	const int n = sys->n_per_node < TREE_SHOWN ? sys->n_per_node : TREE_SHOWN;
	struct jl_tree_node *join = jl_arena_alloc(s->arena, sizeof *join),
			    *devices = jl_arena_array(s->arena, (size_t)n + 1, sizeof *devices);

	if (!join || !devices)
		return false;
	for (int i = 0; i < n; i++) {
		devices[i].name = jl_arena_printf(s->arena, "GPU%d %s", i, sys->gpu->name);
		if (i == n - 1 && n < sys->n_per_node)
			node_more(s, &devices[i], sys->n_per_node);
		else
			node_fact(s, &devices[i], &sys->gpu->mem_B, JL_K_BYTES);
	}
	*join = (struct jl_tree_node){ .name = sys->join ? sys->join->name : "PCIe",
				       .mark = sys->join && sys->join->topology &&
							       strcmp(sys->join->topology, "host") == 0
						       ? JL_MARK_WARN
						       : JL_MARK_NONE,
				       .children = devices,
				       .n_children = (size_t)n };
	if (sys->join)
		node_fact(s, join, &sys->join_oneway_Bps, JL_K_BYTE_RATE);
	*ret_host = (struct jl_tree_node){ .name = JL_("host"), .children = join, .n_children = 1 };
	return true;
}

static const struct jl_tree_node *tree_of(struct jl_section *s, const struct jl_sys *sys)
{
	const int n = sys->n_nodes < HOSTS_SHOWN ? sys->n_nodes : HOSTS_SHOWN;
	struct jl_tree_node *hosts = jl_arena_array(s->arena, (size_t)n + 1, sizeof *hosts),
			    *net = jl_arena_alloc(s->arena, sizeof *net);

	if (!hosts || !net)
		return NULL;
	for (int i = 0; i < n; i++) {
		if (!host_node(s, sys, &hosts[i]))
			return NULL;
		if (n > 1)
			hosts[i].name = jl_arena_printf(s->arena, JL_("host %d"), i);
		if (i == n - 1 && n < sys->n_nodes)
			node_more(s, &hosts[i], sys->n_nodes);
	}
	if (n == 1)
		return hosts;
	*net = (struct jl_tree_node){ .name = sys->net ? sys->net->name : JL_("network"),
				      .children = hosts,
				      .n_children = (size_t)n };
	node_fact(s, net, &sys->net_oneway_Bps, JL_K_BYTE_RATE);
	return net;
}

/* How two devices reach each other, in a word that fits a cell. */
static const char *path_word(enum jl_intra_kind kind, bool pair)
{
	switch (kind) {
	case JL_INTRA_PCIE_HOST: return JL_("host");
	case JL_INTRA_PCIE_P2P: return "P2P";
	case JL_INTRA_BRIDGE_PAIR: return pair ? "NVLink" : JL_("host");
	case JL_INTRA_MESH:
	case JL_INTRA_SWITCH: return "NVLink";
	case JL_INTRA_NONE: break;
	}
	return "";
}

/* Which devices reach each other how fast: bridges join pairs, everything else all alike. */
static void matrix(struct jl_section *s, const struct jl_weighed_system *system)
{
	const struct jl_sys *sys = &system->said->sys;
	const size_t n = (size_t)sys->n_per_node;
	const struct jl_fabric *f = &system->machine.alone;
	const bool pairs = f->intra_kind == JL_INTRA_BRIDGE_PAIR;
	struct jl_chart *chart;
	const char **names;
	double *cells;
	const char **words;

	if (n < 2 || n > DEVICES_SHOWN)
		return;
	chart = jl_tell_chart(
		s->doc, JL_CHART_HEAT,
		jl_arena_printf(s->arena, JL_("%s: how two devices reach each other"), jl_system_name(system)), 0);
	names = jl_arena_array(s->arena, n, sizeof *names);
	cells = jl_arena_array(s->arena, n * n, sizeof *cells);
	words = jl_arena_array(s->arena, n * n, sizeof *words);
	if (!chart || !names || !cells || !words)
		return;
	for (size_t i = 0; i < n; i++) {
		names[i] = jl_arena_printf(s->arena, "GPU%zu", i);
		for (size_t k = 0; k < n; k++)
			cells[i * n + k] = i == k                    ? NAN
					   : pairs && i / 2 == k / 2 ? f->pair.rate_Bps
								     : f->intra.rate_Bps;
		for (size_t k = 0; k < n; k++)
			words[i * n + k] = i == k ? NULL : path_word(f->intra_kind, i / 2 == k / 2);
	}
	chart->cell_words = words;
	chart->cell_origin = sys->join_oneway_Bps.origin;
	chart->cell_source = sys->join_oneway_Bps.source;
	chart->names = names;
	chart->n_names = n;
	chart->cells = cells;
	chart->y = (struct jl_axis){ .label = JL_("one way"), .kind = JL_K_BYTE_RATE, .lo = NAN, .hi = NAN };
	jl_doc_chart(s->doc, chart);
}

void jl_section_topology(struct jl_section *s)
{
	size_t shown = 0;

	for (size_t i = 0; i < s->w->n_systems && shown < 4; i++) {
		const struct jl_sys *sys = &s->w->systems[i].said->sys;
		struct jl_chart *chart;

		if (!sys->gpu || sys->n_per_node * sys->n_nodes < 2)
			continue;
		if (!shown++)
			jl_section_open(s, "topology", "Topology");
		chart = jl_tell_chart(s->doc, JL_CHART_TREE, jl_system_name(&s->w->systems[i]), 0);
		if (!chart || !(chart->tree = tree_of(s, sys)))
			return;
		jl_doc_chart(s->doc, chart);
		if (s->w->systems[i].usable && shown <= 2)
			matrix(s, &s->w->systems[i]);
	}
}
