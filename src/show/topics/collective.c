/* Collectives on one system, or on increasing numbers of hosts. */
#include <math.h>
#include <stdio.h>

#include "topics/predict.h"

/* One unit for all rates of a table: GB/s would show zeros for small messages. */
struct rate_unit {
	double Bps;
	const char *name;
};

static struct rate_unit rate_unit_of(const struct jl_collective_series *series)
{
	static const struct rate_unit units[] = { { 1e9, "GB/s" }, { 1e6, "MB/s" }, { 1e3, "kB/s" } };
	double most_Bps = 0;
	size_t i = 0;

	for (size_t k = 0; k < series->n; k++)
		most_Bps = fmax(most_Bps, series->cases[k].algbw_Bps.value);
	while (i + 1 < JL_LEN(units) && most_Bps < 0.1 * units[i].Bps)
		i++;
	return units[i];
}

/* Below 10, one decimal is shown. */
static const char *rate_text(char out[JL_UNITS_TEXT_MAX], double value_Bps, const struct rate_unit *unit)
{
	const double value = value_Bps / unit->Bps;

	snprintf(out, JL_UNITS_TEXT_MAX, value < 9.95 ? "%.2g" : "%.0f", value);
	return out;
}

static void rate_cell(struct jl_doc *doc, struct jl_estimate e, const struct rate_unit *unit)
{
	const char *text = rate_text(JL_TXT, e.value, unit);

	if (!isnan(e.lo))
		text = jl_doc_format(doc, "%s (%s–%s)", text, rate_text(JL_TXT, e.lo, unit),
				     rate_text(JL_TXT, e.hi, unit));
	jl_show_cell(doc, jl_num_written(jl_num_estimate(e, JL_K_BYTE_RATE, NULL), text));
}

static void table(struct jl_doc *doc, const struct jl_collective_series *series)
{
	const struct rate_unit unit = rate_unit_of(series), large = { 1e9, "GB/s" };
	const struct jl_show_head heads[] = {
		{ JL_N("hosts"), JL_COLUMN_FIGURE },
		{ "GPU", JL_COLUMN_FIGURE },
		{ jl_doc_format(doc, "algbw %s", unit.name), JL_COLUMN_KEEP },
		{ "busbw", JL_COLUMN_FIGURE },
		{ unit.Bps < large.Bps ? jl_doc_format(doc, "bound GB/s" JL_HEAD_BOTH "%s GB/s", JL_("bound"))
				       : JL_N("bound"),
		  JL_COLUMN_FIGURE },
		{ JL_N("of it"), JL_COLUMN_FIGURE },
		{ JL_N("time"), JL_COLUMN_FIGURE },
		{ JL_N("way, steps"), JL_COLUMN_KEEP },
	};

	jl_show_columns(doc, NULL, heads, 8);
	for (size_t i = 0; i < series->n; i++) {
		const struct jl_collective_case *c = &series->cases[i];
		const double share = c->algbw_Bps.value / c->bound_Bps;

		JL_CELLS(doc, JL_COUNT(c->n_nodes), JL_COUNT(c->n_ranks));
		rate_cell(doc, c->algbw_Bps, &unit);
		rate_cell(doc, (struct jl_estimate){ c->algbw_Bps.value * c->busbw_factor, NAN, NAN }, &unit);
		rate_cell(doc, (struct jl_estimate){ c->bound_Bps, NAN, NAN }, &large);
		JL_ROW(doc, false, JL_FIG(jl_show_share(doc, share)),
		       JL_FIG(jl_num_about(c->time_s, JL_K_TIME, jl_units_localized(JL_TXT, c->time_s, JL_K_TIME, 2))),
		       JL_NAMED(jl_doc_format(doc, "%s, %.0f", jl_msg(jl_algorithm_name(c->algorithm)), c->n_steps)));
	}
}

void jl_show_lanes(struct jl_doc *doc)
{
	JL_ENTRY(doc, JL_("Assumed"), JL_ESTIMATED,
		 "half of the PCIe lanes for each of two cards, as desktops have; the interval reaches to all of them. "
		 "nvidia-smi -q (Link Width) and lspci -vv (LnkSta) show yours");
}

/* Explains the decrease with more hosts, from the first and the last row. */
static void why(struct jl_doc *doc, const struct jl_collective_series *series)
{
	const struct jl_collective_case *first = &series->cases[0], *last = &series->cases[series->n - 1];

	jl_show_entry(doc, JL_("Bound by"), JL_LISTED, "%s", last->limit_text);
	if (series->n > 1 && last->n_nodes > first->n_nodes && last->bound_Bps < 0.98 * first->bound_Bps)
		jl_show_entry(doc, JL_("Why"), JL_ESTIMATED,
			      JL_("with more hosts every byte crosses the network more often, up to twice: the bound "
				  "falls from %.0f to %.0f GB/s; %.0f sequential steps instead of %.0f"),
			      first->bound_Bps / 1e9, last->bound_Bps / 1e9, last->n_steps, first->n_steps);
	if (last->kind == JL_ALLREDUCE)
		jl_show_entry(doc, JL_("Note"), JL_ORIGIN_NONE, "%s",
			      last->in_network
				      ? JL_("assumes that the switches reduce in the network")
				      : JL_("an algbw above the bound is impossible without reduction in the network"));
	if (last->half_lanes)
		jl_show_lanes(doc);
	jl_show_confidence(doc, &(struct jl_notes){ 0 });
	if (!last->seen)
		JL_NOTE(doc, NULL, JL_ESTIMATED,
			"No published measurement uses this combination of links: the interval is wider.");
}

void jl_show_collective(struct jl_doc *doc, const struct jl_collective_series *series)
{
	JL_LEAD(doc, jl_doc_format(doc, JL_("%s of %s"), jl_collective_name(series->ask.kind),
				   jl_units_localized(JL_TXT, series->ask.size_B, JL_K_BYTES, 4)));
	jl_show_piece(doc, JL_ORIGIN_NONE, "%s", series->sys.text);
	table(doc, series);
	why(doc, series);
}
