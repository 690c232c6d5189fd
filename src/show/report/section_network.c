/* All-reduce by number of nodes, and interconnect topology. */
#include <math.h>

#include "report/section.h"

enum jl_mark jl_reduce_verdict(const struct jl_reduce_result *r)
{
	if (!r->known || isnan(r->measured_Bps))
		return JL_MARK_UNKNOWN;
	return r->verdict == JL_VERDICT_IMPOSSIBLE ? JL_MARK_BAD
	       : jl_verdict_is_bad(r->verdict)     ? JL_MARK_WARN
						   : JL_MARK_GOOD;
}

void jl_chart_allreduce(struct jl_section *s, const struct jl_scenario_question *q)
{
	struct jl_chart *chart = jl_show_chart(s->doc, JL_CHART_LINE,
					       JL_("All-reduce (algbw) against nodes, with the normal band"), 3);
	struct jl_chart_point *expected, *measured, *bound;

	(void)q;
	if (!chart || !s->w->n_reduce)
		return;
	chart->x = (struct jl_axis){
		.label = JL_("nodes"), .of = JL_C("unit", "nodes"), .log = true, .lo = NAN, .hi = NAN
	};
	chart->y = JL_AXIS(.label = "algbw", .kind = JL_K_BYTE_RATE);
	expected = jl_show_series(s->doc, chart, 0, JL_("expected"), JL_ESTIMATED, s->w->n_reduce);
	measured = jl_show_series(s->doc, chart, 1, JL_("measured"), JL_MEASURED, s->w->n_reduce);
	bound = jl_show_series(s->doc, chart, 2, JL_("bound"), JL_LISTED, s->w->n_reduce);
	if (!expected || !measured || !bound)
		return;
	chart->series[2].dashed = true;
	chart->series[1].only_points = true;
	for (size_t i = 0; i < s->w->n_reduce; i++) {
		const struct jl_reduce_result *r = &s->w->reduce[i];

		expected[i].x = measured[i].x = bound[i].x = r->n_nodes;
		if (!r->known)
			continue;
		expected[i].y = r->expect.range.value;
		expected[i].lo = r->expect.range.lo;
		expected[i].hi = r->expect.range.hi;
		measured[i].y = r->measured_Bps;
		jl_point_measured(&measured[i], r->measured);
		bound[i].y = r->expect.c.bound_Bps;
	}
	jl_doc_chart(s->doc, chart);
}

static void reduce_row(struct jl_section *s, const struct jl_reduce_result *r)
{
	struct jl_num expected = jl_num_estimate(r->expect.c.algbw_Bps, JL_K_BYTE_RATE, NULL),
		      seen = jl_num_measured(r->measured_Bps, JL_K_BYTE_RATE, NULL, r->measured), bus = seen;

	expected.n_digits = 3;
	expected.show_interval = true;
	bus.value = r->measured_Bps * r->expect.c.busbw_factor;
	jl_show_cell(s->doc, jl_num_count(r->n_nodes));
	if (!r->known) {
		jl_doc_cell(s->doc, JL_MARK_UNKNOWN);
		jl_doc_sourced(s->doc, r->why.text, JL_ORIGIN_NONE, NULL);
	} else {
		JL_CELLS(s->doc, JL_FIG(seen), JL_FIG(expected),
			 JL_FIG(jl_num_plain(r->expect.c.bound_Bps, JL_K_BYTE_RATE, NULL, JL_LISTED, NULL)),
			 JL_FIG(bus),
			 JL_MARKED(isnan(r->measured_Bps) ? JL_MARK_NONE : jl_reduce_verdict(r),
				   isnan(r->measured_Bps) ? "—" : jl_verdict_word(r->verdict)));
	}
	jl_doc_end_row(s->doc, !isnan(r->measured_Bps));
}

void jl_section_allreduce(struct jl_section *s)
{
	if (!s->w->n_reduce)
		return;
	jl_section_open(s, "allreduce", "All-reduce against nodes");
	jl_doc_para(s->doc);
	JL_SENTENCE(s->doc, JL_("|1 on |2"), JL_FIG(jl_num_given(s->w->scenario->allreduce.size_B, JL_K_BYTES, NULL)),
		    JL_NAMED(s->w->scenario->allreduce.on));
	JL_SHOW(s->doc,
		". algbw is size over time; busbw is algbw x 2(n-1)/n for n ranks, and shows how busy the links are.");
	if (!jl_section_is_charted(s, "allreduce"))
		jl_chart_allreduce(s, NULL);
	jl_show_table(s->doc, NULL, "ffffft", JL_N("Nodes|Measured|Expected|Bound|busbw|Verdict"));
	for (size_t i = 0; i < s->w->n_reduce; i++)
		reduce_row(s, &s->w->reduce[i]);
	for (size_t i = 0; i < s->w->n_reduce; i++)
		if (s->w->reduce[i].known && !isnan(s->w->reduce[i].measured_Bps)) {
			jl_doc_item(s->doc);
			JL_SENTENCE(s->doc, JL_("Bound at |1 nodes: |2"), JL_COUNT(s->w->reduce[i].n_nodes),
				    JL_FIGURE_TEXT(s->w->reduce[i].expect.c.limit_text, JL_LISTED));
		}
}

/* --- topology */

#define TREES_SHOWN 4

void jl_section_topology(struct jl_section *s)
{
	size_t shown = 0;

	for (size_t i = 0; i < s->w->n_systems && shown < TREES_SHOWN; i++) {
		const struct jl_sys *sys = &s->w->systems[i].said->sys;

		if (!sys->gpu || sys->n_per_node * sys->n_nodes < 2)
			continue;
		if (!shown++)
			jl_section_open(s, "topology", "Topology");
		jl_show_topology(s->doc, jl_system_name(&s->w->systems[i]), sys,
				 s->w->systems[i].usable ? &s->w->systems[i].machine.alone : NULL);
	}
}
