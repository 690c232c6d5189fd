#include "check/nodes.h"
#include "topics/show.h"

#include <math.h>

#define ROWS_SHOWN 40

static bool is_slow(const struct jl_node *n)
{
	return n->score.slow || n->score.slow_in;
}

static const char *percent(struct jl_doc *doc, double ln)
{
	return isnan(ln) ? "" : jl_doc_format(doc, "%+.1f %%", 100 * expm1(ln));
}

static const char *figure(struct jl_doc *doc, const struct jl_node *n)
{
	return n->worst ? jl_doc_format(doc, "%s %s", n->worst->kind, jl_record_what(JL_TXT, n->worst)) : "";
}

static void lead(struct jl_doc *doc, const struct jl_nodes *nodes)
{
	jl_doc_lead(doc);
	if (!nodes->n_slow)
		jl_doc_strong(
			doc,
			nodes->n_unknown == nodes->n
				? jl_doc_format(doc, JL_("no verdict: fewer than %d machines have the same parts"),
						JL_NODES_LEAST)
				: jl_doc_format(doc, JL_("none of %zu machines is slow"), nodes->n - nodes->n_unknown));
	for (size_t i = 0; i < nodes->n_slow; i++) {
		const struct jl_node *n = &nodes->nodes[i];

		if (i)
			jl_doc_lead(doc);
		jl_doc_strong(doc, jl_doc_format(doc, JL_("%s is slow"), n->name));
		if (n->score.slow)
			jl_show_piece(doc, JL_MEASURED, JL_("%s over %zu figures"), percent(doc, n->score.score_ln),
				      n->score.n_figures);
		if (n->score.slow_in)
			jl_show_piece(doc, JL_MEASURED, "%s %s", figure(doc, n), percent(doc, n->score.worst_ln));
	}
}

static void row(struct jl_doc *doc, const struct jl_node *n)
{
	const char *texts[] = { percent(doc, n->score.score_ln), figure(doc, n), percent(doc, n->score.worst_ln),
				is_slow(n)           ? JL_("slow")
				: isnan(n->least_ln) ? JL_("too few of the same kind")
						     : JL_("like the others") };

	jl_doc_cell_name(doc, n->name);
	for (size_t i = 0; i < JL_LEN(texts); i++) {
		JL_CELLS(doc, JL_FIGURE_TEXT(texts[i], JL_MEASURED));
	}
	jl_doc_end_row(doc, is_slow(n));
}

void jl_show_nodes(struct jl_doc *doc, const struct jl_nodes *nodes)
{
	double least_ln = NAN;

	lead(doc, nodes);
	jl_show_table(doc, NULL, "kftfk", JL_N("machine|overall|worst in|by|verdict"));
	for (size_t i = 0; i < nodes->n; i++) {
		if (i < ROWS_SHOWN)
			row(doc, &nodes->nodes[i]);
		least_ln = fmax(least_ln, nodes->nodes[i].least_ln);
	}
	if (nodes->n > ROWS_SHOWN)
		jl_show_note(doc, NULL, JL_ORIGIN_NONE, JL_("... and %zu more (--json has all)"),
			     nodes->n - ROWS_SHOWN);
	if (!isnan(least_ln))
		jl_show_note(
			doc, NULL, JL_ORIGIN_NONE,
			JL_("Compared with the median of machines with the same parts; a machine counts as slow from "
			    "%s overall. At most %.0f %% of fleets without a slow machine get a false alarm."),
			percent(doc, -least_ln), 100 * JL_NODES_ALARMS);
}
