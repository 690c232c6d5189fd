/* The site of a run: racks, power, carbon, rent in blocks, and the step on other networks. */
#include <math.h>

#include "goodput/goodput.h"
#include "topics/show.h"

/* "31 billion", "310억" */
static const char *many(struct jl_doc *doc, double value)
{
	if (jl_lang_is("ko"))
		return jl_krw_number_text(doc, value);
	return value >= 1e12  ? jl_doc_format(doc, "%s trillion", jl_about_text(JL_TXT, value / 1e12))
	       : value >= 1e9 ? jl_doc_format(doc, "%s billion", jl_about_text(JL_TXT, value / 1e9))
	       : value >= 1e6 ? jl_doc_format(doc, "%s million", jl_about_text(JL_TXT, value / 1e6))
			      : jl_doc_format(doc, "%s", jl_about_text(JL_TXT, value));
}

static void power(struct jl_doc *doc, const struct jl_goodput *g)
{
	const struct jl_campus *c = &g->campus;

	jl_doc_entry(doc, JL_("Power"));
	JL_SENTENCE(doc,
		    c->site_W > c->machines_W ? JL_("|1 with cooling, |2 without, while it computes")
					      : JL_("|1 while it computes, without cooling"),
		    JL_ABOUT(c->site_W, JL_K_POWER), JL_ABOUT(c->machines_W, JL_K_POWER));
	if (c->standing_W > 0)
		jl_show_piece(doc, JL_ESTIMATED, JL_("%s while it waits"),
			      jl_units_localized(JL_TXT, c->standing_W, JL_K_POWER, 2));
	if (c->n_racks > 1)
		jl_show_piece(doc, JL_ESTIMATED, JL_("%.0f racks of up to %s"), c->n_racks,
			      jl_units_localized(JL_TXT, c->rack_W, JL_K_POWER, 2));
	if (c->slow_frac > 0)
		jl_show_piece(doc, JL_ESTIMATED,
			      JL_("under the cap GPUs run at %.0f %% of their power and steps take %.0f %% longer"),
			      100 * c->gpu_frac, 100 * c->slow_frac);
	else if (!isnan(c->cap_W))
		jl_show_piece(doc, JL_ESTIMATED, JL_("the cap of %s is not reached"),
			      jl_units_localized(JL_TXT, c->cap_W, JL_K_POWER, 2));
	if (c->tokens_per_MWh > 0)
		jl_show_entry(doc, "", JL_ESTIMATED, JL_("%s tokens a MWh; %s in all"), many(doc, c->tokens_per_MWh),
			      jl_units_localized(JL_TXT, c->energy_J, JL_K_ENERGY, 2));
	for (size_t i = 0; i < c->n_grids; i++)
		jl_show_piece(doc, JL_ESTIMATED, JL_("%s t CO2 (%s, %.0f g/kWh)"),
			      jl_about_text(JL_TXT, c->grids[i].co2_g / 1e6), jl_msg(c->grids[i].grid),
			      c->grids[i].g_per_kWh);
}

static void rent(struct jl_doc *doc, const struct jl_goodput *g)
{
	const struct jl_campus *c = &g->campus;

	if (isnan(c->paid_gpus))
		return;
	jl_doc_entry(doc, JL_("Rent"));
	JL_SENTENCE(doc, JL_("|1 GPUs for |2 are paid"), JL_COUNT(c->paid_gpus), JL_ABOUT(c->paid_s, JL_K_TIME));
	if (!isnan(c->paid_usd))
		jl_show_piece(doc, JL_ESTIMATED, JL_("%s; %s of it unused"), jl_goodput_money(doc, g, c->paid_usd).text,
			      jl_goodput_money(doc, g, c->unused_usd).text);
}

static void fabrics(struct jl_doc *doc, const struct jl_campus *c)
{
	if (!c->n_rows)
		return;
	jl_show_table(
		doc,
		jl_doc_format(doc, JL_("Step time on other networks (%.3g:1 between pods, the same samples a GPU)"),
			      c->oversub),
		"ffffff",
		JL_N("GPUs|rail-optimised|oversubscribed|oversubscribed, scattered|dragonfly|dragonfly, scattered"));
	for (size_t i = 0; i < c->n_rows; i++) {
		jl_show_cell(doc, jl_num_written(jl_num_count(c->rows[i].n_gpus),
						 jl_grouped_text(JL_TXT, c->rows[i].n_gpus)));
		for (int k = 0; k < JL_N_FABRIC_KIND; k++)
			jl_show_cell(doc, jl_num_digits(jl_num_about(c->rows[i].step_s[k], JL_K_TIME, NULL), 3));
		jl_doc_end_row(doc, false);
	}
}

void jl_show_campus(struct jl_doc *doc, const struct jl_goodput *g, bool after)
{
	if (after) {
		fabrics(doc, &g->campus);
		return;
	}
	power(doc, g);
	rent(doc, g);
}
