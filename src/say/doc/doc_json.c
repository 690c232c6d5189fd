/* The document as JSON: blocks in order, every number with all that is known of it. */
#include <math.h>

#include "base/json.h"
#include "doc/chart.h"

static void num_json(struct jl_json *json, const struct jl_num *num)
{
	jl_json_object(json);
	jl_json_put_number(json, "value", num->value);
	jl_json_put_string(json, "unit",
			   num->kind == JL_K_NUMBER ? (num->unit ? num->unit : "1") : jl_kind_suffix(num->kind));
	if (!isnan(num->lo) && !isnan(num->hi) && num->hi > num->lo) {
		jl_json_put_number(json, "lo", num->lo);
		jl_json_put_number(json, "hi", num->hi);
	}
	jl_json_put_string(json, "origin", num->origin == JL_ORIGIN_NONE ? "given" : jl_origin_name(num->origin));
	if (num->source)
		jl_json_put_string(json, "source", num->source);
	if (num->date)
		jl_json_put_string(json, "date", num->date);
	jl_json_end_object(json);
}

static void ref_json(struct jl_json *json, const struct jl_run *run)
{
	if (!*run->text)
		return;
	jl_json_object(json);
	jl_json_put_string(json, "section", run->ref);
	jl_json_put_string(json, "title", run->text);
	jl_json_end_object(json);
}

static void link_json(struct jl_json *json, const struct jl_run *run)
{
	jl_json_object(json);
	jl_json_put_string(json, "text", run->text);
	jl_json_put_string(json, "url", run->ref);
	jl_json_end_object(json);
}

static void runs_json(struct jl_json *json, const char *key, const struct jl_run *run)
{
	jl_json_put_array(json, key);
	for (; run; run = run->next) {
		if (run->kind == JL_RUN_NUM)
			num_json(json, &run->num);
		else if (run->kind == JL_RUN_BREAK)
			jl_json_string(json, "\n");
		else if (run->kind == JL_RUN_REF)
			ref_json(json, run);
		else if (run->kind == JL_RUN_LINK)
			link_json(json, run);
		else if (run->kind == JL_RUN_BAR || run->kind == JL_RUN_ANCHOR)
			continue; /* its figure stands beside it; a place in a page */
		else
			jl_json_string(json, run->text);
	}
	jl_json_end_array(json);
}

static const char *mark_word(enum jl_mark mark)
{
	static const char *const words[] = { "none", "good", "warning", "bad", "unknown" };

	return words[mark];
}

static void table_json(struct jl_json *json, const struct jl_doc_block *b)
{
	jl_json_put_array(json, "columns");
	for (size_t i = 0; i < b->n_columns; i++)
		jl_json_string(json, b->columns[i].key ? b->columns[i].key : b->columns[i].head);
	jl_json_end_array(json);
	jl_json_put_array(json, "heads"); /* as people read them */
	for (size_t i = 0; i < b->n_columns; i++)
		jl_json_string(json, b->columns[i].head);
	jl_json_end_array(json);
	jl_json_put_array(json, "rows");
	for (const struct jl_doc_row *row = b->rows; row; row = row->next) {
		jl_json_array(json);
		for (const struct jl_doc_cell *cell = row->cells; cell; cell = cell->next) {
			jl_json_object(json);
			runs_json(json, "runs", cell->runs);
			if (cell->mark)
				jl_json_put_string(json, "mark", mark_word(cell->mark));
			jl_json_end_object(json);
		}
		jl_json_end_array(json);
	}
	jl_json_end_array(json);
}

static void block_json(struct jl_json *json, const struct jl_doc_block *b)
{
	static const char *const kinds[JL_N_DOC_BLOCK_KIND] = { "section", "paragraph", "item", "table",
								"chart",   "finding",   "lead", "entry",
								"note",    "code",      "ruler" };

	jl_json_object(json);
	jl_json_put_string(json, "kind", kinds[b->kind]);
	if (b->id)
		jl_json_put_string(json, "id", b->id);
	if (b->title)
		jl_json_put_string(json, "title", b->title);
	if (b->kind == JL_DOC_SECTION)
		jl_json_put_integer(json, "level", b->level);
	if (b->label)
		jl_json_put_string(json, "label", b->label);
	if (b->kind == JL_DOC_FINDING || (b->kind == JL_DOC_NOTE && b->mark))
		jl_json_put_string(json, "mark", mark_word(b->mark));
	if (b->runs)
		runs_json(json, "runs", b->runs);
	if (b->kind == JL_DOC_TABLE)
		table_json(json, b);
	if (b->kind == JL_DOC_RULER) {
		jl_json_key(json, "value");
		num_json(json, &b->ruler->value);
		jl_json_put_number(json, "lo", b->ruler->lo);
		jl_json_put_number(json, "hi", b->ruler->hi);
		jl_json_key(json, "bound");
		num_json(json, &b->ruler->bound);
	}
	if (b->kind == JL_DOC_CHART) {
		jl_json_key(json, "chart");
		jl_chart_to_json(b->chart, json);
	}
	jl_json_end_object(json);
}

enum jl_status jl_doc_to_json(const struct jl_doc *doc, struct jl_buf *out, struct jl_err *err)
{
	struct jl_json json;

	if (doc->failed)
		return jl_fail(err, doc->failed, "the report is too large");
	jl_json_init(&json, out, true);
	jl_json_object(&json);
	jl_json_put_string(&json, "title", doc->title);
	jl_json_put_string(&json, "subtitle", doc->subtitle);
	jl_json_put_string(&json, "date", doc->date);
	jl_json_put_string(&json, "language", jl_lang()->code);
	jl_json_put_array(&json, "blocks");
	for (const struct jl_doc_block *b = doc->blocks; b; b = b->next)
		block_json(&json, b);
	jl_json_end_array(&json);
	jl_json_end_object(&json);
	jl_json_finish(&json);
	return out->failed ? jl_fail(err, JL_E_LIMIT, "the report is too large") : JL_OK;
}
