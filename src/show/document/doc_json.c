/* The document as JSON: blocks in order, every number with its metadata. */
#include <math.h>

#include "base/json.h"
#include "document/chart.h"

static void num_json(struct jl_json *json, const struct jl_num *num)
{
	const bool ranged = !isnan(num->lo) && !isnan(num->hi) && num->hi > num->lo;

	jl_json_pack(json, "{value:f unit:s lo?f hi?f origin:s source?s date?s}", num->value,
		     num->kind != JL_K_NUMBER ? jl_kind_suffix(num->kind)
		     : num->unit              ? num->unit
					      : "1",
		     ranged ? num->lo : NAN, ranged ? num->hi : NAN,
		     num->origin == JL_ORIGIN_NONE ? "given" : jl_origin_name(num->origin), num->source, num->date);
}

static void runs_json(struct jl_json *json, const char *key, const struct jl_run *run)
{
	jl_json_put_array(json, key);
	for (; run; run = run->next) {
		if (run->kind == JL_RUN_NUM)
			num_json(json, &run->num);
		else if (run->kind == JL_RUN_BREAK)
			jl_json_string(json, "\n");
		else if (run->kind == JL_RUN_LINK)
			jl_json_pack(json, "{text:s url:s}", run->text, run->ref);
		else if (run->kind == JL_RUN_REF && *run->text)
			jl_json_pack(json, "{section:s title:s}", run->ref, run->text);
		else if (run->kind == JL_RUN_BAR || run->kind == JL_RUN_ANCHOR || run->kind == JL_RUN_REF)
			continue; /* its figure is adjacent; a page position; an unknown section */
		else
			jl_json_string(json, run->text);
	}
	jl_json_end_array(json);
}

static const char *const marks[] = { "none", "good", "warning", "bad", "unknown" };

static void table_json(struct jl_json *json, const struct jl_doc_block *b)
{
	jl_json_pack(json, "columns:[");
	for (size_t i = 0; i < b->n_columns; i++)
		jl_json_string(json, b->columns[i].key ? b->columns[i].key : b->columns[i].head);
	jl_json_pack(json, "] heads:["); /* display headings */
	for (size_t i = 0; i < b->n_columns; i++)
		jl_json_string(json, b->columns[i].head);
	jl_json_pack(json, "] rows:[");
	for (const struct jl_doc_row *row = b->rows; row; row = row->next) {
		jl_json_array(json);
		for (const struct jl_doc_cell *cell = row->cells; cell; cell = cell->next) {
			jl_json_object(json);
			runs_json(json, "runs", cell->runs);
			jl_json_pack(json, "mark?s}", cell->mark ? marks[cell->mark] : NULL);
		}
		jl_json_end_array(json);
	}
	jl_json_end_array(json);
}

static void block_json(struct jl_json *json, const struct jl_doc_block *b)
{
	static const char *const kinds[JL_N_DOC_BLOCK_KIND] = { "section", "paragraph", "item",  "table",
								"chart",   "finding",   "lead",  "entry",
								"note",    "code",      "ruler", "markup" };

	jl_json_pack(json, "{kind:s id?s title?s", kinds[b->kind], b->id, b->title);
	if (b->kind == JL_DOC_SECTION)
		jl_json_put_integer(json, "level", b->level);
	jl_json_pack(json, "label?s mark?s", b->label,
		     b->kind == JL_DOC_FINDING || (b->kind == JL_DOC_NOTE && b->mark) ? marks[b->mark] : NULL);
	if (b->runs)
		runs_json(json, "runs", b->runs);
	if (b->kind == JL_DOC_TABLE)
		table_json(json, b);
	if (b->kind == JL_DOC_RULER) {
		jl_json_key(json, "value");
		num_json(json, &b->ruler->value);
		jl_json_pack(json, "lo:f middle:f hi:f bound:", b->ruler->lo, b->ruler->middle, b->ruler->hi);
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
	jl_json_pack(&json, "{title:s subtitle:s date:s language:s blocks:[", doc->title, doc->subtitle, doc->date,
		     jl_lang()->code);
	for (const struct jl_doc_block *b = doc->blocks; b; b = b->next)
		if (b->kind != JL_DOC_MARKUP)
			block_json(&json, b);
	jl_json_pack(&json, "]}");
	jl_json_finish(&json);
	return out->failed ? jl_fail(err, JL_E_LIMIT, "the report is too large") : JL_OK;
}
