/* Published measurements similar to a prediction, and the JSON of `jeoul predict`. */
#include "goodput/goodput.h"
#include "topics/predict.h"

#include "predict/fields.h"

void jl_show_near(struct jl_doc *doc, const struct jl_show_predicted *in)
{
	jl_doc_subsection(doc, "near",
			  JL_("The published runs most similar to this one, and the error of the prediction"));
	jl_show_table(doc, NULL, "tkfk", JL_N("published run|GPU|off by|row"));
	for (size_t i = 0; i < in->n_near; i++) {
		const struct jl_set_row *row = in->near[i].row;
		const double off = row->pred / row->meas - 1.0;

		jl_doc_cell(doc, JL_MARK_NONE);
		jl_doc_name(doc, jl_doc_format(doc, "%s, %s%s%s", row->what, row->framework, row->format ? ", " : "",
					       row->format ? row->format : ""));
		JL_ROW(doc, false, JL_NAMED(row->gpu),
		       JL_FIG(jl_num_written(jl_num_share(off, JL_ESTIMATED),
					     jl_doc_format(doc, "%+.0f %%", 100 * off))),
		       JL_NAMED(jl_doc_format(doc, "%s:%zu", in->near[i].set, row->line)));
	}
}

static const struct jl_field near_row[] = {
	{ JL_FIELD(jl_set_row, SIZE, line) },
	{ JL_FIELD(jl_set_row, TEXT, source) },
	{ JL_FIELD(jl_set_row, TEXT, url) },
	{ JL_FIELD(jl_set_row, TEXT, gpu) },
	{ JL_FIELD(jl_set_row, TEXT, framework) },
	{ JL_FIELD(jl_set_row, TEXT, what) },
	{ JL_FIELD_AS(jl_set_row, TEXT, format, "precision") },
	{ JL_FIELD_AS(jl_set_row, NUMBER, meas, "measured_s") },
	{ JL_FIELD_AS(jl_set_row, NUMBER, pred, "predicted_s") },
};
static const struct jl_schema near_row_schema = JL_SCHEMA("near_row", jl_set_row, near_row);

static const struct jl_field near_run[] = {
	{ JL_FIELD(jl_near_run, TEXT, set) },
	{ JL_FIELD(jl_near_run, SEEN, row), .sub = &near_row_schema, .flags = JL_FF_FLAT },
	{ JL_FIELD(jl_near_run, NUMBER, ln_ratio) },
	{ JL_FIELD(jl_near_run, NUMBER, distance) },
};
static const struct jl_schema near_schema = JL_SCHEMA("near", jl_near_run, near_run);

JL_BOOL_OF(has_near, jl_show_predicted, r->near != NULL);
JL_BOOL_OF(is_run, jl_show_predicted, r->predicted->p.whole_run);
JL_BOOL_OF(has_goodput, jl_show_predicted, r->goodput != NULL);

static const struct jl_field fields[] = {
	{ JL_FIELD(jl_show_predicted, SEEN, predicted), .sub = &jl_predicted_fields, .flags = JL_FF_FLAT },
	{ JL_FIELD_MANY(jl_show_predicted, LIST, near, n_near, "near", &near_schema), .when = has_near },
	{ JL_FIELD(jl_show_predicted, SUB, elapsed), .sub = &jl_elapsed_fields, .when = is_run },
	{ JL_FIELD(jl_show_predicted, SEEN, goodput), .sub = &jl_goodput_fields, .when = has_goodput },
};
const struct jl_schema jl_show_predicted_fields = JL_SCHEMA("predict", jl_show_predicted, fields);
