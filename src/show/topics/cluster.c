#include "bench/cluster.h"
#include "topics/show.h"

#include <math.h>

#define MAP_MOST 10 /* ranks: larger maps do not fit a page */

static const char *rank_name(struct jl_doc *doc, const struct jl_cluster *c, int rank)
{
	return jl_doc_format(doc, "%s (%d)", c->hosts[rank][0] ? c->hosts[rank] : "?", rank);
}

static const char *rate(struct jl_doc *doc, double value, enum jl_kind kind)
{
	return isnan(value) ? "" : jl_doc_format(doc, "%s", jl_units_text(JL_TXT, value, kind, 3));
}

static bool is_slow(const struct jl_node_score *s)
{
	return s->slow || s->slow_in;
}

static void verdict(struct jl_doc *doc, const struct jl_cluster *c, const char *over)
{
	const bool few = isnan(c->least_ln);

	JL_LEAD(doc, !c->n                   ? JL_("nothing was measured")
		     : c->n_slow && c->n_bad ? JL_("a slow machine and a bad link")
		     : c->n_slow             ? JL_("a slow machine")
		     : c->n_bad              ? JL_("a bad link")
		     : few                   ? JL_("too few ranks to say who is slow")
					     : JL_("all ranks and links are equally fast"));
	jl_show_piece(doc, JL_ORIGIN_NONE, JL_("%d ranks over %s"), c->n, over);
	for (int r = 0; r < c->n; r++)
		if (is_slow(&c->scores[r]))
			jl_show_entry(doc, JL_("Slow"), JL_MEASURED, JL_("%s: %+.0f %% overall, worst in %s: %+.0f %%"),
				      rank_name(doc, c, r), 100 * expm1(c->scores[r].score_ln),
				      jl_msg(jl_cluster_figures[c->scores[r].worst]),
				      100 * expm1(c->scores[r].worst_ln));
	for (size_t i = 0; i < c->n_bad && i < 5; i++)
		jl_show_entry(doc, JL_("Bad link"), JL_MEASURED,
			      JL_("%s to %s: %s, typical is %s; both ends are faster with others"),
			      rank_name(doc, c, c->bad[i].from), rank_name(doc, c, c->bad[i].to),
			      rate(doc, c->bad[i].Bps, JL_K_BYTE_RATE), rate(doc, c->pair_median_Bps, JL_K_BYTE_RATE));
}

static void ranks(struct jl_doc *doc, const struct jl_cluster *c)
{
	struct jl_show_head heads[JL_N_CLUSTER_FIGURE + 1] = { { JL_N("rank"), JL_COLUMN_KEEP } };
	size_t columns[JL_N_CLUSTER_FIGURE], n = 0;

	for (size_t f = 0; f < JL_N_CLUSTER_FIGURE; f++)
		if (!isnan(c->rates[f][0])) {
			heads[n + 1] = (struct jl_show_head){ jl_cluster_figures[f], JL_COLUMN_FIGURE };
			columns[n++] = f;
		}
	jl_show_columns(doc, NULL, heads, n + 1);
	for (int r = 0; r < c->n; r++) {
		jl_doc_cell_name(doc, rank_name(doc, c, r));
		for (size_t k = 0; k < n; k++) {
			const bool flop = columns[k] == JL_CLUSTER_GEMM || columns[k] == JL_CLUSTER_GPU_GEMM;

			JL_CELLS(doc, JL_FIGURE_TEXT(rate(doc, c->rates[columns[k]][r],
							  flop ? JL_K_FLOP_RATE : JL_K_BYTE_RATE),
						     JL_MEASURED));
		}
		jl_doc_end_row(doc, is_slow(&c->scores[r]));
	}
}

/* Rows send, columns receive, GB/s. */
static void map(struct jl_doc *doc, const struct jl_cluster *c)
{
	struct jl_show_head heads[MAP_MOST + 1] = { { JL_N("GB/s from \\ to"), JL_COLUMN_KEEP } };

	if (c->n > MAP_MOST || isnan(c->pair_median_Bps))
		return;
	for (int r = 0; r < c->n; r++)
		heads[r + 1] = (struct jl_show_head){ jl_doc_format(doc, "%d", r), JL_COLUMN_FIGURE };
	jl_show_columns(doc, NULL, heads, (size_t)c->n + 1);
	for (int r = 0; r < c->n; r++) {
		jl_doc_cell_name(doc, rank_name(doc, c, r));
		for (int to = 0; to < c->n; to++) {
			const double Bps = c->pair_Bps[r][to];

			JL_CELLS(doc,
				 JL_FIGURE_TEXT(isnan(Bps) ? "" : jl_doc_format(doc, "%.3g", Bps / 1e9), JL_MEASURED));
		}
		jl_doc_end_row(doc, false);
	}
}

void jl_show_cluster(struct jl_doc *doc, const struct jl_cluster *c, const char *over, const char *ended)
{
	verdict(doc, c, over);
	if (ended)
		jl_show_entry(doc, JL_("Ended"), JL_MEASURED, JL_("early: %s; what was measured until then is kept"),
			      ended);
	if (c->n)
		ranks(doc, c);
	map(doc, c);
	for (size_t i = 0; i < JL_CLUSTER_SIZES; i++)
		if (!isnan(c->reduce_s[i]))
			jl_show_entry(doc, i ? "" : JL_("All-reduce"), JL_MEASURED, JL_("%s in %s: %s"),
				      jl_units_text(JL_TXT, c->reduce_B[i], JL_K_BYTES, 3),
				      jl_units_text(JL_TXT, c->reduce_s[i], JL_K_TIME, 3),
				      rate(doc, c->reduce_B[i] / c->reduce_s[i], JL_K_BYTE_RATE));
}
