#include "topics/catalog.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/fields.h"
#include "catalog/find.h"
#include "predict/count.h"

/* --- where figures come from */

const char *jl_show_footnote(struct jl_doc *doc, struct jl_footnotes *notes, const struct jl_fact *fact)
{
	size_t i = 0;

	if (!jl_fact_known(fact))
		return "";
	while (i < notes->n && !(jl_same_text(notes->facts[i]->source, fact->source) &&
				 jl_same_text(notes->facts[i]->date, fact->date)))
		i++;
	if (i == notes->n && i < JL_FOOTNOTES_MAX)
		notes->facts[notes->n++] = fact;
	return jl_doc_format(doc, "%s [%zu]", jl_origin_mark(fact->origin), i + 1);
}

void jl_show_footnotes(struct jl_doc *doc, const struct jl_catalog *cat, const struct jl_footnotes *notes)
{
	for (size_t i = 0; i < notes->n; i++) {
		const struct jl_fact *fact = notes->facts[i];
		const struct jl_source *source = fact->source ? jl_source_by_id(cat, fact->source) : NULL;
		const char *who = jl_doc_format(doc, "%s, %s", fact->source ? fact->source : "?",
						fact->date ? fact->date : "?");

		if (i == 0)
			jl_doc_gap(doc);
		jl_doc_note(doc, JL_MARK_NONE, jl_doc_format(doc, "[%zu]", i + 1));
		if (source && source->url)
			jl_doc_link(doc, who, jl_msg(source->url));
		else
			jl_doc_name(doc, who);
	}
	if (notes->n)
		JL_NOTE(doc, NULL, JL_ORIGIN_NONE, "● measured here  ◆ published  ◇ listed  ○ estimated");
}

const char *jl_fact_label(enum jl_catalog_kind kind, const struct jl_field *field)
{
	const struct jl_fact_fields *tables[JL_N_RECORD] = {
		[JL_R_GPU] = &jl_gpu_fields, [JL_R_CPU] = &jl_cpu_fields, [JL_R_SYSTEM] = &jl_system_fields
	};
	static const struct {
		const char *key, *en;
	} others[] = {
		{ "oneway", JL_N("bandwidth, one way") },
		{ "bothway", JL_N("bandwidth, both ways") },
		{ "n_links", JL_N("links or ports") },
	};

	for (size_t i = 0; tables[kind] && i < tables[kind]->n; i++)
		if (strcmp(tables[kind]->rows[i].key, field->key) == 0)
			return jl_msg(tables[kind]->rows[i].en);
	for (size_t i = 0; i < JL_LEN(others); i++)
		if (strcmp(others[i].key, field->key) == 0)
			return jl_msg(others[i].en);
	return field->key;
}

/* --- lists */

#define LIST_COLUMNS_MAX 6

/* Fields of a list, by YAML key ("key:16" may be cut to 16 columns), and their column headings. */
static const struct {
	const char *fields, *heads;
} lists[JL_N_RECORD] = {
	[JL_R_GPU] = { "id:16 mem mem_rate bf16_dense fp32 tdp", JL_N("id|memory|bandwidth|BF16 dense|FP32|power") },
	[JL_R_CPU] = { "id cores fp32 mem_rate tdp", JL_N("id|cores|FP32|bandwidth|power") },
	[JL_R_LINK] = { "id role oneway bothway per name:4", JL_N("id|role|one way|both ways|per|name") },
	[JL_R_SYSTEM] = { "id:24 n_gpu gpu:10 join:10 net_rate ram", JL_N("id|GPUs|kind|joined via|network|RAM") },
	[JL_R_MODEL] = { "id params n_layers hidden heads vocab",
			 JL_N("id|parameters|layers|hidden|heads|vocabulary") },
	[JL_R_PARAM] = { "id:4 value unit n_rows", JL_N("id|value|unit|rows") },
	[JL_R_FAMILY] = { "id vendor name:4", JL_N("id|vendor|name") },
	[JL_R_TARIFF] = { "id:20 component:8 value date name:11", JL_N("id|component|value|date|name") },
	[JL_R_RULE] = { "id:4 kind value:4 date", JL_N("id|kind|value|date") },
	[JL_R_RELIABILITY] = { "id n_gpu failures date source:11", JL_N("id|GPUs|failures|date|source") },
	[JL_R_SOURCE] = { "id:4 origin date url:4", JL_N("id|origin|date|address") },
};

static bool is_right(enum jl_field_type type)
{
	return type == JL_F_FACT || type == JL_F_NUMBER || type == JL_F_INT;
}

/* The text of a field; "" if unknown, NULL: no such field. */
static const char *text_of(struct jl_doc *doc, const struct jl_field *field, const void *record)
{
	const void *at = jl_field_at(field, record);
	double x;

	switch (field->type) {
	case JL_F_TEXT:
	case JL_F_DATE: return *(const char *const *)at ? *(const char *const *)at : "";
	case JL_F_CHOICE: return jl_choice_name(field->choices, *(const int *)at);
	case JL_F_INT: return *(const int *)at ? jl_doc_format(doc, "%d", *(const int *)at) : "";
	case JL_F_FACT:
		x = jl_fact_known(at) ? ((const struct jl_fact *)at)->value : NAN;
		return isnan(x) ? "" : jl_doc_format(doc, "%s", jl_value_text(JL_TXT, x, field->kind, true));
	case JL_F_NUMBER:
		x = *(const double *)at;
		return isnan(x)        ? ""
		       : x == floor(x) ? jl_doc_format(doc, "%s", jl_value_text(JL_TXT, x, JL_K_NUMBER, false))
				       : jl_doc_format(doc, "%.4g", x);
	default: return NULL;
	}
}

/* True for translated texts; ids are shown as written. */
static bool is_said(const struct jl_field *field)
{
	static const char *const keys[] = { "name", "per", "kind", "value", "component", "url" };
	bool said = field->type == JL_F_CHOICE;

	for (size_t i = 0; i < JL_LEN(keys); i++)
		said = said || (field->type == JL_F_TEXT && strcmp(field->key, keys[i]) == 0);
	return said;
}

void jl_show_list(struct jl_doc *doc, const struct jl_catalog *cat, enum jl_catalog_kind kind)
{
	const struct jl_schema *schema = jl_schema_of(kind);
	size_t fields[LIST_COLUMNS_MAX], n_columns = 0, n;
	const char *list = jl_catalog_list(cat, kind, &n), *at = lists[kind].fields, *how = "";

	for (char key[32]; at && sscanf(at, " %31[^ :]", key) == 1; at = strchr(at + 1, ' ')) {
		const size_t f = jl_schema_field(schema, key), len = strlen(key) + (*at == ' ');

		fields[n_columns++] = f;
		how = at[len] == ':' ? jl_doc_format(doc, "%st%d", how, atoi(at + len + 1))
				     : jl_doc_format(doc, "%s%c", how, is_right(schema->fields[f].type) ? 'f' : 'k');
	}
	doc->flush = true;
	jl_show_table(doc, NULL, how, lists[kind].heads);
	for (size_t i = 0; i < n; i++) {
		for (size_t c = 0; c < n_columns; c++) {
			const struct jl_field *field = &schema->fields[fields[c]];
			const char *text = text_of(doc, field, list + i * schema->size_B);

			/* context by record kind: "energy" of a tariff differs from that of a machine */
			if (text && is_said(field) && field->type == JL_F_TEXT)
				text = jl_msg(jl_doc_format(doc, "%s\004%s", schema->en, text));
			jl_doc_cell_name(doc, !text ? "" : is_said(field) ? jl_msg(text) : text);
		}
		jl_doc_end_row(doc, false);
	}
}

double jl_convnet_mac(const struct jl_convnet *net)
{
	struct jl_counts counts;

	jl_count_convnet(&counts, net, 1);
	return counts.total.fwd_flop / 2;
}

void jl_show_convnets(struct jl_doc *doc, const struct jl_convnet_list *list)
{
	jl_show_table(doc, NULL, "kfft", JL_N("other networks|parameters|GMAC|per"));
	for (size_t i = 0; i < list->n_nets; i++) {
		const struct jl_convnet *net = &list->nets[i];

		JL_ROW(doc, false, JL_NAMED(net->id),
		       JL_NAMED(jl_value_text(JL_TXT, net->n_params, JL_K_NUMBER, false)),
		       JL_NAMED(jl_doc_format(doc, "%.4g", jl_convnet_mac(net) / 1e9)), JL_NAMED(jl_msg(net->item)));
	}
}

static const char *name_of(const struct jl_schema *schema, const void *record)
{
	static const char *const keys[] = { "name", "title", "item" };

	for (size_t k = 0; k < JL_LEN(keys); k++) {
		const size_t i = jl_schema_field(schema, keys[k]);
		const char *text = i < schema->n_fields ? *(const char *const *)jl_field_at(&schema->fields[i], record)
							: NULL;

		if (text)
			return jl_msg(text);
	}
	return "";
}

void jl_show_found(struct jl_doc *doc, const struct jl_shown *found, size_t n)
{
	doc->flush = true;
	jl_show_table(doc, NULL, "kt24t", JL_N("kind|id|name"));
	for (const struct jl_shown *f = found; f < found + n; f++) {
		const struct jl_schema *schema = f->kind == JL_N_RECORD ? NULL : jl_schema_of(f->kind);
		const struct jl_convnet *net = f->record;

		JL_ROW(doc, false, JL_NAMED(schema ? jl_msg(schema->en) : JL_C("model", "network")),
		       JL_NAMED(schema ? jl_record_id(schema, f->record) : net->id),
		       JL_NAMED(schema ? name_of(schema, f->record) : jl_msg(net->name)));
	}
}

/* --- one in full */

static void note(struct jl_doc *doc, const char *label, const char *text)
{
	if (!text || !*text)
		return;
	jl_doc_note(doc, JL_MARK_NONE, label);
	jl_doc_name(doc, jl_msg(text));
}

static void facts(struct jl_doc *doc, enum jl_catalog_kind kind, const void *record, struct jl_footnotes *notes)
{
	const struct jl_schema *schema = jl_schema_of(kind);
	bool any = false;

	for (const struct jl_field *field = schema->fields; field < schema->fields + schema->n_fields; field++) {
		const struct jl_fact *fact = field->type == JL_F_FACT ? jl_field_at(field, record) : NULL;

		if (!fact || !jl_fact_known(fact))
			continue;
		if (!any)
			jl_show_table(doc, NULL, "kfkt", "|||");
		any = true;
		JL_CELLS(doc, JL_NAMED(jl_fact_label(kind, field)),
			 JL_FIG(jl_num_written(jl_num_fact(fact, field->kind), text_of(doc, field, record))));
		JL_ROW(doc, false, JL_NAMED(jl_show_footnote(doc, notes, fact)),
		       JL_NAMED(fact->note ? jl_msg(fact->note) : ""));
	}
}

/* Text fields for readers; links to other records among them. */
static void texts(struct jl_doc *doc, enum jl_catalog_kind kind, const void *record)
{
	static const struct {
		const char *key, *en;
	} shown[] = {
		{ "vendor", JL_N("vendor") },
		{ "architecture", JL_N("architecture") },
		{ "compute_capability", JL_N("compute capability") },
		{ "memory_type", JL_N("memory type") },
		{ "form_factor", JL_N("form") },
		{ "pcie", JL_N("PCIe") },
		{ "link", JL_N("GPU link") },
		{ "p2p", JL_N("peer-to-peer over PCIe") },
		{ "p2p_note", JL_N("  because") },
		{ "power_connectors", JL_N("power connectors") },
		{ "kind", JL_N("kind") },
		{ "role", JL_N("role") },
		{ "topology", JL_N("topology") },
		{ "per", JL_N("rate belongs to") },
		{ "gpus", JL_N("used by") },
		{ "isa", JL_N("instruction set") },
		{ "region", JL_N("region") },
		{ "component", JL_N("component") },
		{ "season", JL_N("season") },
		{ "band", JL_N("time of day") },
		{ "value", JL_N("value") },
		{ "prior", JL_N("before any row") },
		{ "n_rows", JL_N("rows") },
		{ "url", JL_N("address") },
		{ "title", JL_N("title") },
		{ "origin", JL_N("origin") },
		{ "date", JL_N("date") },
		{ "note", JL_N("note") },
	};
	const struct jl_schema *schema = jl_schema_of(kind);

	jl_doc_gap(doc);
	for (size_t s = 0; s < JL_LEN(shown); s++) {
		const size_t i = jl_schema_field(schema, shown[s].key);

		if (i < schema->n_fields && (kind == JL_R_PARAM || !is_right(schema->fields[i].type)))
			note(doc, jl_msg(shown[s].en), text_of(doc, &schema->fields[i], record));
	}
}

static void conflicts(struct jl_doc *doc, const struct jl_conflict *list, size_t n)
{
	if (n)
		jl_doc_subsection(doc, "conflicts", JL_("Sources disagree:"));
	for (size_t i = 0; i < n; i++)
		note(doc, list[i].field,
		     jl_arena_printf(doc->arena, "%s (%s)%s%s", list[i].other, list[i].source, list[i].why ? " — " : "",
				     list[i].why ? jl_msg(list[i].why) : ""));
}

static void measured(struct jl_doc *doc, const struct jl_link_info *link)
{
	if (!link->n_measured)
		return;
	jl_show_table(doc, NULL, "t12kfft10", JL_N("measured|on|rate|of listed|conditions"));
	for (const struct jl_link_measured *m = link->measured; m < link->measured + link->n_measured; m++)
		JL_ROW(doc, false, JL_NAMED(m->what ? jl_msg(m->what) : ""), JL_NAMED(m->gpu ? m->gpu : ""),
		       JL_NAMED(jl_fact_known(&m->measured_Bps)
					? jl_units_text(JL_TXT, m->measured_Bps.value, JL_K_BYTE_RATE, 4)
					: ""),
		       JL_NAMED(jl_fact_known(&m->frac) ? jl_percent_text(doc, m->frac.value) : ""),
		       JL_NAMED(m->conditions ? jl_msg(m->conditions) : ""));
}

static void model(struct jl_doc *doc, const struct jl_model_info *m)
{
	jl_show_note(doc, NULL, JL_LISTED,
		     JL_("%d layers · hidden %.0f · heads %.0f (kv %.0f) · ffn %.0f · vocabulary %.0f"), m->n_layers,
		     m->hidden, m->heads, m->kv_heads, m->ffn, m->vocab);
	if (m->moe.n_experts > 0)
		jl_show_note(doc, NULL, JL_LISTED, JL_("experts %d, %d per token"), (int)m->moe.n_experts,
			     (int)m->moe.top_k);
	if (!isnan(m->params))
		jl_show_note(doc, NULL, JL_PUBLISHED, JL_("parameters, published: %s (%s)"),
			     jl_value_text(JL_TXT, m->params, JL_K_NUMBER, false),
			     m->params_source ? m->params_source : m->source);
	if (m->context > 0)
		jl_show_note(doc, NULL, JL_LISTED, JL_("context: %s tokens at most"),
			     jl_grouped_text(JL_TXT, m->context));
	if (jl_model_hub(m))
		jl_show_note(doc, NULL, JL_LISTED, "https://huggingface.co/%s", jl_model_hub(m));
	if (m->weights)
		jl_show_note(doc, NULL, JL_LISTED, JL_("weights: %s, as it is published"), m->weights);
	jl_show_note(doc, NULL, JL_LISTED, "%s · %s", m->tied ? JL_("head tied to the embedding") : JL_("untied head"),
		     m->gated ? JL_("gated feed-forward") : JL_("plain feed-forward"));
}

/* Per-clock rates of a family's chips, and its members. */
static void family(struct jl_doc *doc, const struct jl_catalog *cat, const struct jl_family *f)
{
	const struct {
		const char *name;
		double rate;
	} rates[] = { { "FP32", f->fp32_per_sm_clock }, { "TF32", f->tf32_per_sm_clock },
		      { "FP16", f->fp16_per_sm_clock }, { "BF16", f->bf16_per_sm_clock },
		      { "FP8", f->fp8_per_sm_clock },   { "INT8", f->int8_per_sm_clock } };
	const char *text = "", *members = "";

	for (size_t i = 0; i < JL_LEN(rates); i++)
		if (!isnan(rates[i].rate))
			text = jl_doc_format(doc, "%s%s%s %.0f", text, *text ? ", " : "", rates[i].name, rates[i].rate);
	for (size_t i = 0; i < cat->n_gpus; i++)
		if (cat->gpus[i].family && strcmp(cat->gpus[i].family, f->id) == 0)
			members = jl_doc_format(doc, "%s%s%s", members, *members ? ", " : "", cat->gpus[i].id);
	note(doc, JL_("dense operations per clock and SM"), text);
	note(doc, JL_("accelerators"), members);
	note(doc, JL_("nearest family"), f->parent);
}

static void convnet(struct jl_doc *doc, const struct jl_convnet *net)
{
	jl_show_note(doc, NULL, JL_LISTED, JL_("parameters: %s"),
		     jl_value_text(JL_TXT, net->n_params, JL_K_NUMBER, false));
	jl_show_note(doc, NULL, JL_LISTED, JL_("forward: %.4g GMAC per %s"), jl_convnet_mac(net) / 1e9,
		     jl_msg(net->item));
	jl_show_note(doc, NULL, JL_LISTED, JL_("throughput counts: %s, %.4g per %s"), jl_msg(net->unit),
		     net->units_per_item, jl_msg(net->item));
	note(doc, JL_("source"), net->source);
}

void jl_show_shown(struct jl_doc *doc, const struct jl_catalog *cat, const struct jl_shown *shown)
{
	const struct jl_schema *schema = shown->kind == JL_N_RECORD ? NULL : jl_schema_of(shown->kind);
	const struct jl_convnet *net = shown->record;
	const char *id = schema ? jl_record_id(schema, shown->record) : net->id,
		   *name = schema ? name_of(schema, shown->record) : jl_msg(net->name);
	struct jl_footnotes notes = { .n = 0 };

	JL_LEAD(doc, *name ? name : id);
	jl_doc_name(doc, jl_doc_format(doc, "  (%s)", id));
	if (!schema) {
		convnet(doc, net);
		return;
	}
	if (shown->kind == JL_R_MODEL)
		model(doc, shown->record);
	if (shown->kind == JL_R_FAMILY)
		family(doc, cat, shown->record);
	facts(doc, shown->kind, shown->record, &notes);
	texts(doc, shown->kind, shown->record);
	if (shown->kind == JL_R_GPU)
		conflicts(doc, ((const struct jl_gpu *)shown->record)->conflicts,
			  ((const struct jl_gpu *)shown->record)->n_conflicts);
	if (shown->kind == JL_R_LINK)
		measured(doc, shown->record);
	jl_show_footnotes(doc, cat, &notes);
}
