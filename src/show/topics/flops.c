#include "topics/flops.h"

#include <math.h>

/* --- JSON */

static const struct jl_field count[] = {
	{ JL_FIELD(jl_count, NUMBER, params) },
	{ JL_FIELD(jl_count, NUMBER, fwd_flop) },
	{ JL_FIELD_AS(jl_count, NUMBER, saved_B, "activations_B"), .about = "kept for the backward pass, 16 bits" },
};
static const struct jl_schema count_schema = JL_SCHEMA("count", jl_count, count);

static const struct jl_field layer[] = {
	{ JL_FIELD_AS(jl_count, TEXT, key, "kind") },
	{ JL_FIELD(jl_count, NUMBER, n) },
	{ JL_FIELD_GROUP("", &count_schema), .flags = JL_FF_FLAT },
};
static const struct jl_schema layer_schema = JL_SCHEMA("layer", jl_count, layer);

JL_NUMBER_OF(mac, jl_flops, r->counts.total.fwd_flop / 2);

static const struct jl_field fields[] = {
	{ JL_FIELD_AS(jl_flops, TEXT, id, "model") },
	{ JL_FIELD(jl_flops, TEXT, name) },
	{ JL_FIELD(jl_flops, NUMBER, batch) },
	{ JL_FIELD(jl_flops, NUMBER, seq) },
	{ JL_FIELD(jl_flops, SUB, counts.total), .sub = &count_schema, .flags = JL_FF_FLAT },
	{ JL_FIELD_AS(jl_flops, NUMBER, counts.active_params, "active_params") },
	{ JL_FIELD_NUMBER_OF("fwd_mac", mac) },
	{ JL_FIELD_AS(jl_flops, NUMBER, counts.train_flop, "train_flop") },
	{ JL_FIELD_AS(jl_flops, NUMBER, counts.still_params, "frozen_params"), .flags = JL_FF_OMIT,
	  .about = "frozen, or rows of tables" },
	{ JL_FIELD_MANY(jl_flops, ARRAY, counts.rows, counts.n, "layers", &layer_schema) },
};
const struct jl_schema jl_flops_fields = JL_SCHEMA("flops", jl_flops, fields);

/* --- the page */

static struct jl_num counted(double value, enum jl_kind kind, const char *text)
{
	return jl_num_about(value > 0 ? value : NAN, kind, text);
}

static void cell(struct jl_doc *doc, struct jl_num num)
{
	jl_doc_cell(doc, JL_MARK_NONE);
	if (!isnan(num.value))
		jl_show_num(doc, num);
}

static void row(struct jl_doc *doc, const struct jl_count *c, bool total)
{
	JL_CELLS(doc, JL_NAMED(jl_msg(c->en)), JL_WORD(total || !(c->n > 0) ? "" : jl_doc_format(doc, "%.0f", c->n)));
	cell(doc, counted(c->params, JL_K_NUMBER, jl_grouped_text(JL_TXT, c->params)));
	cell(doc, counted(c->fwd_flop, JL_K_FLOP, jl_units_localized(JL_TXT, c->fwd_flop, JL_K_FLOP, 4)));
	cell(doc, counted(c->saved_B, JL_K_BYTES, jl_units_localized(JL_TXT, c->saved_B, JL_K_BYTES, 3)));
	jl_doc_end_row(doc, total);
}

void jl_show_flops(struct jl_doc *doc, const struct jl_flops *f)
{
	const struct jl_counts *n = &f->counts;
	const double flop = n->total.fwd_flop, items = f->batch * (isnan(f->seq) ? 1 : f->seq);

	JL_LEAD(doc, f->name);
	jl_show_piece(doc, JL_ORIGIN_NONE, JL_("batch %g"), f->batch);
	if (!isnan(f->seq))
		jl_show_piece(doc, JL_ORIGIN_NONE, JL_("sequence %g"), f->seq);
	jl_show_table(doc, NULL, "t12ffff", JL_N("layers|number|parameters|FLOP forward|kept activations"));
	for (size_t i = 0; i < n->n; i++)
		row(doc, &n->rows[i], false);
	row(doc, &n->total, true);
	if (n->active_params < n->total.params)
		jl_show_entry(doc, JL_("Active"), JL_ESTIMATED, JL_("%s parameters a token"),
			      jl_grouped_text(JL_TXT, floor(n->active_params + 0.5)));
	if (!isnan(n->still_params))
		jl_show_entry(doc, JL_("Frozen"), JL_ESTIMATED, JL_("%s parameters that no step updates as a whole"),
			      jl_grouped_text(JL_TXT, n->still_params));
	jl_show_entry(doc, JL_("Forward"), JL_ESTIMATED, "%s = %.4g %s", jl_units_localized(JL_TXT, flop, JL_K_FLOP, 4),
		      flop / (flop < 2e12 ? 2e9 : 2e12), flop < 2e12 ? "GMAC" : "TMAC");
	jl_show_entry(doc, JL_("Training"), JL_ESTIMATED, JL_("%s forward and backward; %s per %s"),
		      jl_units_localized(JL_TXT, n->train_flop, JL_K_FLOP, 4),
		      jl_units_localized(JL_TXT, n->train_flop / items, JL_K_FLOP, 3),
		      isnan(f->seq) ? jl_msg(f->item) : JL_("token"));
	if (f->file_batch > 1)
		jl_show_note(doc, NULL, JL_ORIGIN_NONE,
			     JL_("The file's input holds %.0f samples (its first dimension); counts are of --batch."),
			     f->file_batch);
	jl_show_note(doc, NULL, JL_ORIGIN_NONE, "%s",
		     isnan(f->seq) ? JL_("A multiply-add is two FLOP; activations in 16 bits.")
				   : JL_("A multiply-add is two FLOP; masked attention counts half; 16 bits, flash."));
}
